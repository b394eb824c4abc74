"""Reads the complete records of an MCAP file that may be growing while it is read. Format: mcap.dev/spec.

Each write of a recorder overwrites the end (DataEnd, summary, footer) of the previous write with data and a new end, so
a reader may see a mixture of both. Data before an end with a valid checksum are final. This end is therefore searched
first, and nothing after it is read. A file without such an end broke off; it is read up to its last complete record.
"""

import os
import struct
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Attachment, Channel, Chunk, McapRecord, Message, Metadata, Schema

from drivers.files.bytes_read import note
from drivers.files.decompression import decompressed

MAGIC: Final = b"\x89MCAP0\r\n"
HEAD: Final = struct.Struct("<BQ")  # opcode, length of what follows
FOOTER: Final = struct.Struct("<BQQQI")  # opcode, length, start of the summary, of its offsets, checksum
MESSAGE: Final = struct.Struct("<HIQQ")  # before its data: channel, sequence, logged, published
CHECKSUM: Final = 4  # bytes
DATA_END: Final = HEAD.size + CHECKSUM  # bytes
OWN: Final = 0x80  # opcodes from here on are free for applications
LONGEST: Final = 1 << 32  # largest plausible size of a record, bytes
LIVE: Final = 1.0  # s since the last write during which a file without an end is assumed to be in the middle of a write
STALLED: Final = 0.25  # s for which that write may pause, as when its process waits for a processor or the disk
LOOK_EVERY: Final = 0.005  # s
PARSERS: Final[Mapping[int, Callable[[ReadDataStream], McapRecord]]] = {
    Opcode.ATTACHMENT: Attachment.read,
    Opcode.METADATA: Metadata.read,
    Opcode.SCHEMA: Schema.read,
    Opcode.CHANNEL: Channel.read,
    Opcode.CHUNK: Chunk.read,
}


def records(path: Path, messages: bool = True, strict: bool = False) -> Iterator[McapRecord]:
    """Yield attachments, metadata and (with messages) schemas, channels and messages, in the order of the file.

    Raises OSError, and ValueError if the file is not MCAP or is damaged; with `strict` also if it breaks off.
    """
    return (record for group in groups(path, messages, strict) for record in group)


def groups(path: Path, messages: bool = True, strict: bool = False) -> Iterator[Sequence[McapRecord]]:
    """Yield the same records as `records`, with those of one chunk together."""
    try:
        with path.open("rb") as stream:
            for opcode, body in _bodies(stream, strict):
                if opcode == Opcode.MESSAGE and messages:  # outside of a chunk, as other recorders write them
                    yield (Message.read(ReadDataStream(BytesIO(body)), len(body)),)
                parser = PARSERS.get(opcode)
                if parser is None or (opcode == Opcode.CHUNK and not messages):
                    continue
                if opcode == Opcode.ATTACHMENT and zlib.crc32(body[:-CHECKSUM]) != _checksum(body):
                    raise ValueError("the checksum of an attachment is wrong")
                record = parser(ReadDataStream(BytesIO(body)))
                yield _contents(record) if isinstance(record, Chunk) else (record,)
    except (McapError, KeyError, OverflowError, MemoryError, struct.error) as error:
        raise ValueError(str(error) or type(error).__name__) from error


def _contents(chunk: Chunk) -> list[McapRecord]:
    """Return the records of a chunk after checking its checksum. Raises ValueError and McapError."""
    raw = decompressed(chunk.data, chunk.compression)
    if chunk.uncompressed_crc not in (0, zlib.crc32(raw)):
        raise ValueError("the checksum (CRC) of a chunk is wrong")
    found: list[McapRecord] = []
    place = 0
    while place < len(raw):
        opcode, length = HEAD.unpack_from(raw, place)
        begin = place + HEAD.size
        place = begin + length
        if place > len(raw) or (opcode == Opcode.MESSAGE and length < MESSAGE.size):
            raise ValueError(f"a record of kind {opcode} and {length} bytes does not fit into its chunk")
        if opcode == Opcode.MESSAGE:  # by far the most frequent record
            channel, sequence, logged, published = MESSAGE.unpack_from(raw, begin)
            found.append(Message(channel, logged, raw[begin + MESSAGE.size : place], published, sequence))
        elif opcode in (Opcode.CHANNEL, Opcode.SCHEMA):
            found.append(PARSERS[opcode](ReadDataStream(BytesIO(raw[begin:place]))))
    return found


def _checksum(attachment: bytes) -> int:
    """Return the stored checksum of an attachment; 0: its writer computed none, so it is not compared."""
    return int.from_bytes(attachment[-CHECKSUM:], "little") or zlib.crc32(attachment[:-CHECKSUM])


def _bodies(stream: BinaryIO, strict: bool) -> Iterator[tuple[int, bytes]]:
    """Yield every record before the end of the data: opcode and content."""
    end = settled(stream.fileno())
    limit = os.fstat(stream.fileno()).st_size if end is None else end
    begin = stream.read(min(len(MAGIC), limit))
    if not MAGIC.startswith(begin):
        raise ValueError(f"it does not begin as an MCAP file, but with {begin.decode('latin-1')!r}")
    place = len(MAGIC)
    while place + HEAD.size <= limit:
        opcode, length = HEAD.unpack(stream.read(HEAD.size))
        place += HEAD.size + length
        if end is None and opcode in (0, Opcode.DATA_END):  # zeros: the disk lost power
            break
        if not _known(opcode) or length > LONGEST or (place > limit and end is not None):
            raise ValueError(f"a record of kind {opcode} and {length} bytes stands at {place - length - HEAD.size}")
        if place > limit:
            break
        note(HEAD.size + length)
        yield opcode, stream.read(length)
    if strict and end is None:
        raise ValueError(f"it breaks off within its {limit} bytes")


def _known(opcode: int) -> bool:
    """Whether a record belongs to this version of the format, or to an application."""
    return 0 < opcode <= Opcode.DATA_END or opcode >= OWN


def settled(file: int) -> int | None:
    """Return the final end of the data; None if the file broke off and the end is unknown."""
    seen, since = None, time.monotonic()
    while (end := _end(file)) is None:
        state = os.fstat(file)
        if (state.st_size, state.st_mtime_ns) != seen:
            seen, since = (state.st_size, state.st_mtime_ns), time.monotonic()
        if time.time() - state.st_mtime > LIVE or time.monotonic() - since > STALLED:
            return None
        time.sleep(LOOK_EVERY)
    return end


def _end(file: int) -> int | None:
    """Return the end of the data according to the present end of the file; None if that is incomplete."""
    size = os.fstat(file).st_size
    tail = os.pread(file, FOOTER.size + len(MAGIC), max(0, size - FOOTER.size - len(MAGIC)))
    if len(tail) < FOOTER.size + len(MAGIC) or not tail.endswith(MAGIC):
        return None
    opcode, length, summary, _, checksum = FOOTER.unpack(tail[: FOOTER.size])
    begin, stop = summary - DATA_END, size - len(MAGIC) - CHECKSUM
    if (opcode, length) != (Opcode.FOOTER, FOOTER.size - HEAD.size) or not len(MAGIC) <= begin < stop:
        return None
    last = os.pread(file, stop - begin, begin)
    if HEAD.unpack(last[: HEAD.size]) != (Opcode.DATA_END, CHECKSUM) or zlib.crc32(last[DATA_END:]) != checksum:
        return None
    return int(begin)
