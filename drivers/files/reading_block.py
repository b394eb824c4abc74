"""The form of readings in a recording: compressed columns of differences, with a head from the writing program.

zstd of: magic, bytes of the head, readings (u4 each); the head; then the columns, little-endian, in order of arrival:
channel (u2), time (i8, differences), the bits of value (i8, differences between neighbours after a stable sort by
channel), flags (u4). Quantised signals then repeat, which needs a third of the space of rows.
"""

import struct
from typing import Final

import numpy as np
import zstandard
from numpy.typing import NDArray

from drivers.files.decompression import decompressed
from drivers.reading import READING

HEAD: Final = struct.Struct("<4sII")
MAGIC: Final = b"JWB1"
ROW: Final = 22  # bytes of one reading


def pack(head: bytes, readings: NDArray[np.void]) -> bytes:
    """Pack these READINGs as a block."""
    order = np.argsort(readings["channel"], kind="stable")
    columns = (
        readings["channel"].astype("<u2"),
        np.diff(readings["time"], prepend=0),
        np.diff(readings["value"][order].view("<i8"), prepend=0),
        readings["flags"],
    )
    body = b"".join(column.tobytes() for column in columns)
    return zstandard.compress(HEAD.pack(MAGIC, len(head), len(readings)) + head + body)


def unpack(data: bytes) -> tuple[bytes, NDArray[np.void]]:
    """The inverse of pack: the head and the READINGs. Raises ValueError."""
    try:
        raw = decompressed(data)
        magic, length, count = HEAD.unpack_from(raw)
    except (struct.error, ValueError) as error:
        raise ValueError(f"not a block of readings: {error}") from error
    head, body = raw[HEAD.size : HEAD.size + length], raw[HEAD.size + length :]
    if magic != MAGIC or len(body) != ROW * count:
        raise ValueError(
            f"not a block of readings: expected {MAGIC!r} and {ROW * count} bytes, found {magic!r} and {len(body)}"
        )
    rows = np.zeros(count, READING)
    rows["channel"] = np.frombuffer(body, "<u2", count)
    rows["time"] = np.cumsum(np.frombuffer(body, "<i8", count, 2 * count))
    order = np.argsort(rows["channel"], kind="stable")
    rows["value"][order] = np.cumsum(np.frombuffer(body, "<i8", count, 10 * count)).view("<f8")
    rows["flags"] = np.frombuffer(body, "<u4", count, 18 * count)
    return head, rows
