"""Finds the line of each key of a TOML text (path → line), so that messages can point at the mistake.

tomllib does not report positions. The text given here has already been read by tomllib, so it is valid TOML, and this
scanner need not check it.
"""

import re
from collections.abc import Iterable

Path = tuple[str | int, ...]

_KEY = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*""")
_STRING = re.compile(r'"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL)
_SPACE = re.compile(r"(?:\s|#[^\n]*)*")
_BARE = re.compile(r"[^,\]}\n#]+")


class Lines:
    """The line (from 1) on which every key and array element of a TOML text begins."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._lines: dict[Path, int] = {(): 1}
        self._tables: dict[Path, int] = {}
        self._document()

    def of(self, path: Iterable[str | int]) -> int:
        """The line of a path, or of its nearest ancestor that is in the text."""
        where = tuple(path)
        while where not in self._lines:
            where = where[:-1]
        return self._lines[where]

    def _document(self) -> None:
        table: Path = ()
        self._skip()
        while self._at < len(self._text):
            if self._text.startswith("[[", self._at):
                table = self._header(2)
            elif self._text[self._at] == "[":
                table = self._header(1)
            else:
                self._pair(table)
            self._skip()

    def _header(self, brackets: int) -> Path:
        line = self._line()
        self._at += brackets
        table = self._resolve(self._key())
        self._at += brackets
        if brackets == 2:
            index = self._tables.get(table, 0)
            self._tables[table] = index + 1
            self._lines.setdefault(table, line)
            table = (*table, index)
        self._lines[table] = line
        return table

    def _resolve(self, key: list[str]) -> Path:
        """A header's dotted key names the last element of any array of tables on its way."""
        path: Path = ()
        for depth, part in enumerate(key):
            path = (*path, part)
            if depth < len(key) - 1 and path in self._tables:
                path = (*path, self._tables[path] - 1)
        return path

    def _key(self) -> list[str]:
        parts: list[str] = []
        while found := _KEY.match(self._text, self._at):
            parts.append(next(part for part in found.groups() if part is not None))
            self._at = found.end()
            if self._text[self._at] != ".":
                break
            self._at += 1
        return parts

    def _pair(self, table: Path) -> None:
        line = self._line()
        path = table
        for part in self._key():
            path = (*path, part)
            self._lines.setdefault(path, line)
        self._at += 1  # the equals sign
        self._value(path)

    def _value(self, path: Path) -> None:
        self._skip()
        opening = self._text[self._at]
        if opening == "[":
            self._members(path, "]")
        elif opening == "{":
            self._members(path, "}")
        else:
            found = (_STRING if opening in "\"'" else _BARE).match(self._text, self._at)
            self._at = found.end() if found else len(self._text)

    def _members(self, path: Path, closing: str) -> None:
        self._at += 1
        self._skip()
        index = 0
        while self._text[self._at] != closing:
            if closing == "]":
                self._lines[(*path, index)] = self._line()
                self._value((*path, index))
                index += 1
            else:
                self._pair(path)
            self._skip()
            if self._text[self._at] == ",":
                self._at += 1
                self._skip()
        self._at += 1

    def _skip(self) -> None:
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _line(self) -> int:
        return self._text.count("\n", 0, self._at) + 1
