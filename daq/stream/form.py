"""Packs messages that differ in numbers only: the form is packed once, then the numbers are filled in.

The bytes are those that msgpack gives for the same map; packing the map again would take three times as long.
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgpack

SIZES: Final = ((0x80, b"", "B"), (1 << 8, b"\xcc", "B"), (1 << 16, b"\xcd", "H"), (1 << 32, b"\xce", "I"))
LARGE: Final = (1 << 64, b"\xcf", "Q")  # of a count: below which number, msgpack's mark, struct's code
FLOAT: Final = b"\xcb"
# one for all messages of a process: a packer has a buffer of 256 kB, and a joint with three of its own held as much in
# them as in all that it has learnt
PACKER: Final = msgpack.Packer()


class Form:
    """A packed map whose floats, and the counter `seq`, can be replaced; it may hold maps."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        """body: one message of this form; everything that is neither a float nor `seq` stays as it is."""
        self.room, self._parts, self._format = 0, list[Any](), ">"
        self._last = b""
        self._map(body)
        self._part(f"{len(self._last)}s", self._last)
        self._pack = struct.Struct(self._format).pack

    def fill(self, numbers: Sequence[float]) -> bytes:
        """The message with these numbers in order; seq has to be below `room`.

        Raises ValueError if the numbers are more or fewer than the form has.
        """
        self._parts[1::2] = numbers
        return self._pack(*self._parts)

    def _map(self, body: Mapping[str, Any]) -> None:
        self._last += PACKER.pack_map_header(len(body))
        for key, value in body.items():
            self._last += PACKER.pack(key)
            if key == "seq":
                self.room, mark, code = next((one for one in SIZES if value < one[0]), LARGE)
                self._number(mark, code)
            elif isinstance(value, float):
                self._number(FLOAT, "d")
            elif isinstance(value, Mapping):
                self._map(value)
            else:
                self._last += PACKER.pack(value)

    def _number(self, mark: bytes, code: str) -> None:
        self._last += mark
        self._part(f"{len(self._last)}s", self._last)
        self._part(code, 0)
        self._last = b""

    def _part(self, code: str, value: Any) -> None:
        self._format += code
        self._parts.append(value)
