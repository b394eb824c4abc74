"""The checksum of every file from which a later process continues: a damaged file is refused, never partly used.

Binary files (checkpoint, ledger of readings, next block of the recorder) begin with a head that states the length of
the content, so bytes of an older, longer content after it are ignored. JSON files end with a line `"checksum"`; a file
that was written by hand has no such line.
"""

import os
import re
import struct
import zlib
from pathlib import Path
from typing import Final

# magic, length of the content (bytes), CRC-32 of length and content
HEAD: Final = struct.Struct("<4sII")
MAGIC: Final = b"JWS1"
LENGTH: Final = struct.Struct("<I")
LAST_LINE: Final = re.compile(rb',\n "checksum": "([0-9a-f]{8})"\n}\s*\Z')
NO_SUM: Final = b"00000000"


class DamagedError(ValueError):
    """The content of a file is damaged; the text is the reason, which the user sees after the file's name."""


def seal(content: bytes) -> bytes:
    """Return the content with a head before it."""
    return HEAD.pack(MAGIC, len(content), _sum(content)) + content


def unseal(data: bytes) -> bytes:
    """Return the content after a head, without bytes beyond its length. Raises DamagedError."""
    if len(data) < HEAD.size:
        raise DamagedError(f"it is damaged: {len(data)} bytes are too few for a checksum")
    magic, length, expected = HEAD.unpack_from(data)
    if magic != MAGIC:
        raise DamagedError("it is damaged, or an earlier version wrote it: it does not begin with a checksum")
    content = data[HEAD.size : HEAD.size + length]
    if len(content) != length:
        raise DamagedError(f"it is damaged: expected {length} bytes, found {len(content)}")
    if _sum(content) != expected:
        raise DamagedError("it is damaged: its checksum does not match")
    return content


def seal_text(text: bytes) -> bytes:
    """Add the line with the checksum to a JSON object whose lines are indented by one."""
    sealed = text.removesuffix(b"\n}") + b',\n "checksum": "' + NO_SUM + b'"\n}'
    return sealed.replace(NO_SUM + b'"\n}', b'%08x"\n}' % zlib.crc32(sealed))


def unseal_text(data: bytes) -> bytes:
    """Return a JSON object without the line with the checksum, if it has one. Raises DamagedError."""
    found = LAST_LINE.search(data)
    if found is None:
        return data
    begin, end = found.span(1)
    if zlib.crc32(data[:begin] + NO_SUM + data[end:]) != int(found[1], 16):
        raise DamagedError(
            "its checksum does not match: it is damaged, or was edited (without its last line, checksum, it is used)"
        )
    return data[: found.start()] + b"\n}"


def _sum(content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(LENGTH.pack(len(content))))


class SealedFile:
    """A file with a small content that stays open and is overwritten in place; the next process continues from it.

    One system call writes the content, so a killed process leaves either the old content or the new one.
    """

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises OSError."""
        self._file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)

    def read(self) -> bytes:
        """Return the content; empty if nothing has been written yet. Raises DamagedError."""
        data = os.pread(self._file, os.fstat(self._file).st_size, 0)
        return unseal(data) if data else b""

    def write(self, content: bytes) -> None:
        """Replace the content. Raises OSError."""
        os.pwrite(self._file, seal(content), 0)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
