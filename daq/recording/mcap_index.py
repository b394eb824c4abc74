"""Adds the missing index to a recording whose recorder was killed, so that readers find everything in it."""

import os
import struct
from pathlib import Path

from mcap.opcode import Opcode
from mcap.records import AttachmentIndex, ChunkIndex

from daq.recording.mcap_file import closing, packed, write_at
from drivers.files.mcap_records import DATA_END, FOOTER, HEAD, MAGIC, settled


def index_again(path: Path) -> int:
    """Add the index to a file whose writer was killed; returns the number of indexed records.

    Returns 0 if the file has an index already, or has no complete end. Raises OSError, and ValueError if it is damaged.
    No other process may write the file.
    """
    file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        end = settled(file)
        if end is None or _has_index(file, end):
            return 0
        chunks, attachments = bytearray(), bytearray()
        count, place = 0, len(MAGIC)
        waiting: ChunkIndex | None = None
        while place < end:
            opcode, length = HEAD.unpack(os.pread(file, HEAD.size, place))
            begin, place = place, place + HEAD.size + length
            if opcode == Opcode.MESSAGE_INDEX and waiting is not None:
                channel = int.from_bytes(os.pread(file, 2, begin + HEAD.size), "little")
                waiting.message_index_offsets[channel] = begin
                waiting.message_index_length += place - begin
                continue
            if waiting is not None:
                chunks += packed(waiting)
                waiting = None
            if opcode == Opcode.CHUNK:
                waiting, count = _index_of_chunk(file, begin, place - begin), count + 1
            elif opcode == Opcode.ATTACHMENT:
                attachments += packed(_index_of_attachment(file, begin, place - begin))
                count += 1
        chunks += packed(waiting) if waiting is not None else b""
        begin = end + DATA_END
        summary = os.pread(file, os.fstat(file).st_size - FOOTER.size - len(MAGIC) - begin, begin)
        write_at(file, closing(end, summary + chunks + attachments), end)
        os.fdatasync(file)
        return count
    except (struct.error, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from error
    finally:
        os.close(file)


def _has_index(file: int, end: int) -> bool:
    """Whether the summary after the data has an index of chunks or attachments."""
    place, size = end + DATA_END, os.fstat(file).st_size
    while place + HEAD.size <= size:
        opcode, length = HEAD.unpack(os.pread(file, HEAD.size, place))
        if opcode in (Opcode.CHUNK_INDEX, Opcode.ATTACHMENT_INDEX):
            return True
        if opcode == Opcode.FOOTER:
            return False
        place += HEAD.size + length
    return False


def _index_of_chunk(file: int, begin: int, length: int) -> ChunkIndex:
    head = os.pread(file, HEAD.size + 128, begin)[HEAD.size :]
    first, last, raw, _, name = struct.unpack_from("<QQQII", head)
    compression = head[32 : 32 + name].decode()
    (small,) = struct.unpack_from("<Q", head, 32 + name)
    return ChunkIndex(
        chunk_length=length,
        chunk_start_offset=begin,
        compression=compression,
        compressed_size=small,
        message_end_time=last,
        message_index_length=0,
        message_index_offsets={},
        message_start_time=first,
        uncompressed_size=raw,
    )


def _index_of_attachment(file: int, begin: int, length: int) -> AttachmentIndex:
    head = os.pread(file, HEAD.size + 1024, begin)[HEAD.size :]
    log_time, create_time, name = struct.unpack_from("<QQI", head)
    (kind,) = struct.unpack_from("<I", head, 20 + name)
    (size,) = struct.unpack_from("<Q", head, 24 + name + kind)
    words = head[20 : 20 + name].decode(), head[24 + name : 24 + name + kind].decode()
    return AttachmentIndex(begin, length, create_time, log_time, size, *words)
