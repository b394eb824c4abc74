"""Decodes messages of ROS 2 with the definitions in a bag: text of a definition → types, CDR → values by field.

The text is the .msg file, followed by each type that it uses after a line of `=` and a line `MSG: PACKAGE/NAME`. In CDR
a number is aligned to its size, counted from the end of the encapsulation (4 bytes, the second gives the byte order); a
string is its length with a final zero and its bytes, a sequence its length and its elements.
"""

import re
import struct
from typing import Any, Final, NamedTuple

_NUMBERS: Final = {
    "bool": "?", "byte": "B", "char": "b", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i",
    "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f", "float64": "d",
}  # fmt: skip
_FIELD: Final = re.compile(r"([\w/]+)(?:<=\d+)?(\[(?:<=)?\d*\])?\s+(\w+)(\s*=)?")
_MOST: Final = 100_000  # largest number of elements in a sequence; a larger number means that the message is damaged
_DEEPEST: Final = 16  # largest depth of nested types
_PLAIN: Final = (0, 1)  # encapsulations: CDR, big-endian and little-endian


class _Field(NamedTuple):
    """One field: its type and its number of values (0: one value, −1: a sequence with a length)."""

    name: str
    kind: str
    many: int


class Definition:
    """The type of a message, together with the types that it uses."""

    def __init__(self, text: str) -> None:
        """Raises ValueError if the text lacks a type that is used."""
        parts = re.split(r"^=+\s*$", text, flags=re.MULTILINE)
        self._types: dict[str, list[_Field]] = {"": _fields(parts[0])}
        for part in parts[1:]:
            head, _, rest = part.strip().partition("\n")
            self._types[_short(head.removeprefix("MSG:"))] = _fields(rest)
        for fields in self._types.values():
            for one in fields:
                if one.kind not in _NUMBERS and one.kind not in ("string", "wstring") and one.kind not in self._types:
                    raise ValueError(f"a definition without its type {one.kind}")

    def decode(self, data: bytes) -> dict[str, Any]:
        """Decode a message to field → value (nested types: a map). Raises ValueError or struct.error."""
        if len(data) < 4 or data[0] or data[1] not in _PLAIN:
            raise ValueError("a message that is not in plain CDR")
        return self._decode("", _Cursor(data[4:], "<" if data[1] else ">"), 0)

    def _decode(self, kind: str, cursor: "_Cursor", depth: int) -> dict[str, Any]:
        if depth > _DEEPEST:
            raise ValueError("a message with types within types without end")
        found: dict[str, Any] = {}
        for one in self._types[kind]:
            count = cursor.count() if one.many < 0 else one.many or 1
            values: Any
            if one.kind in _NUMBERS:
                values = cursor.numbers(_NUMBERS[one.kind], count)
            elif one.kind == "string":
                values = tuple(cursor.string() for _ in range(count))
            elif one.kind == "wstring":
                raise ValueError("a message with wide strings")
            else:
                values = tuple(self._decode(one.kind, cursor, depth + 1) for _ in range(count))
            found[one.name] = values if one.many else values[0]
        return found


class _Cursor:
    """A reading position in the body of a message."""

    def __init__(self, body: bytes, end: str) -> None:
        self._body, self._end, self._at = body, end, 0

    def numbers(self, kind: str, count: int) -> tuple[Any, ...]:
        size = struct.calcsize(f"={kind}")
        if count:  # an empty sequence is not padded
            self._at += -self._at % size
        found = struct.unpack_from(f"{self._end}{count}{kind}", self._body, self._at)
        self._at += size * count
        return found

    def count(self) -> int:
        (found,) = self.numbers("I", 1)
        if found > _MOST:
            raise ValueError(f"a message with a sequence of {found}")
        return int(found)

    def string(self) -> str:
        length = self.count()
        begin, self._at = self._at, self._at + length
        return self._body[begin : self._at].rstrip(b"\0").decode("utf-8", "replace")


def _fields(text: str) -> list[_Field]:
    """Return the fields of one type, without constants, which take no space in a message."""
    found = []
    for line in text.splitlines():
        match = _FIELD.match(line.partition("#")[0].strip())
        if match is None or match[4]:
            continue
        bounds = match[2]
        count = 0 if bounds is None else int(bounds[1:-1]) if bounds[1:-1].isdigit() else -1
        kind = match[1] if match[1] in _NUMBERS else _short(match[1])
        found.append(_Field(match[3], kind, count))
    return found


def _short(name: str) -> str:
    """Return the short name of a type: Header for std_msgs/msg/Header. No two types of one message share it."""
    return name.strip().rpartition("/")[2]
