"""Messages of ROS 2 by the definition that a bag brings along: its text → types, and CDR → values by field.

The text is the .msg file, then each type that it uses after a line of `=` and a line `MSG: PACKAGE/NAME`. In CDR a
number stands on a multiple of its size, counted from the end of the encapsulation (4 bytes, the second of which says
which end comes first); a string is its length with a final zero and its bytes, a sequence its length and its elements.
"""

import re
import struct
from typing import Any, Final, NamedTuple

_NUMBERS: Final = {
    "bool": "?", "byte": "B", "char": "b", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i",
    "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f", "float64": "d",
}  # fmt: skip
_FIELD: Final = re.compile(r"([\w/]+)(?:<=\d+)?(\[(?:<=)?\d*\])?\s+(\w+)(\s*=)?")
_MOST: Final = 100_000  # elements of a sequence, above which a message is damaged
_DEEPEST: Final = 16  # types within types
_PLAIN: Final = (0, 1)  # encapsulations: CDR, big and little end first


class _Field(NamedTuple):
    """One field: its type, how many of it (0: one, −1: as its length says)."""

    name: str
    kind: str
    many: int


class Definition:
    """A message's type, and those that it uses."""

    def __init__(self, text: str) -> None:
        """Raises ValueError where a type is used that the text does not have."""
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
        """Field → its value; of a type, the same again. Raises ValueError or struct.error where it is damaged."""
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
    """A place in a message's body."""

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
    """Of one type; constants hold no place in a message."""
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
    """Of std_msgs/msg/Header and std_msgs/Header, Header: no two of one message's types share it."""
    return name.strip().rpartition("/")[2]
