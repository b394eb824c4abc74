"""Writes MCAP files that are complete after every write: a killed process leaves a file that can be opened.

One system call writes data together with an end, which the next write overwrites: DataEnd, a summary (schemas,
channels, metadata, statistics), and a footer. A closed file also has the index of chunks and attachments. Format:
mcap.dev/spec. After a kill, the file contains everything that was written; after a loss of power, everything that was
synced.
"""

import contextlib
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import zstandard
from mcap.data_stream import RecordBuilder
from mcap.records import (
    Attachment,
    AttachmentIndex,
    Channel,
    Chunk,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    McapRecord,
    Message,
    MessageIndex,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
)

from drivers.files.mcap_records import MAGIC


class McapFile:
    """One file; records are added first and written by the next `write`. Opening and writing raise OSError."""

    def __init__(self, path: Path, library: str) -> None:
        self.path = path
        self._file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644)
        self._end = 0  # end of the data, where the next write begins
        self._closing = b""  # the bytes that follow the data
        self._pending = bytearray(MAGIC)  # records outside of chunks
        self._pending += packed(Header(profile="", library=library))
        self._chunk = bytearray()
        self._places: dict[int, list[tuple[int, int]]] = {}  # channel → (log time, offset in the chunk)
        self._times: list[int] = []  # log times in the chunk
        self._schemas: list[Schema] = []
        self._channels: dict[str, Channel] = {}
        self._chunks, self._chunk_index = 0, bytearray()  # packed, since an hour has 90,000 of each
        self._counts: dict[int, int] = {}
        self._first, self._last = 0, 0
        self._attachments, self._attachment_index = 0, bytearray()
        self._metadata: list[MetadataIndex] = []
        try:
            self.write()
        except OSError:
            path.unlink()  # the disk has no space even for a header
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def size(self) -> int:
        """Number of bytes of data written so far."""
        return self._end

    @property
    def _next(self) -> int:
        """Return the offset of the next record outside of chunks."""
        return self._end + len(self._pending)

    def metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Add a record about the whole file."""
        record = packed(Metadata(name=name, metadata=dict(values)))
        self._metadata.append(MetadataIndex(offset=self._next, length=len(record), name=name))
        self._pending += record

    def schema(self, name: str, text: bytes) -> int:
        """Add a JSON Schema; returns its id."""
        schema = Schema(id=len(self._schemas) + 1, name=name, encoding="jsonschema", data=text)
        self._schemas.append(schema)
        self._pending += packed(schema)
        return schema.id

    def channel(self, topic: str, schema: int) -> int:
        """Return the id of a topic's channel of JSON messages; a new channel is added."""
        known = self._channels.get(topic)
        if known is None:
            known = Channel(
                id=len(self._channels) + 1, topic=topic, message_encoding="json", metadata={}, schema_id=schema
            )
            self._channels[topic] = known
            self._pending += packed(known)
        return known.id

    def message(self, channel: int, sequence: int, log_time: int, publish_time: int, data: bytes) -> None:
        """Add a message to a channel; times: Unix ns."""
        self._places.setdefault(channel, []).append((log_time, len(self._chunk)))
        self._times.append(log_time)
        self._chunk += packed(Message(channel, log_time, data, publish_time, sequence & 0xFFFFFFFF))

    def attachment(self, name: str, kind: str, time: int, data: bytes) -> None:
        """Add an attachment, which viewers do not show as a message; kind: media type; time: Unix ns."""
        record = packed(Attachment(create_time=time, log_time=time, name=name, media_type=kind, data=data))
        index = AttachmentIndex(self._next, len(record), time, time, len(data), name, kind)
        self._attachments += 1
        self._attachment_index += packed(index)
        self._pending += record

    def write(self) -> None:
        """Write all records that were added.

        Raises OSError; the file is then closed and contains everything up to the previous write.
        """
        data = bytes(self._pending)
        self._pending.clear()
        chunk, index = self._packed(self._end + len(data))
        if index is not None:
            self._chunks += 1
            self._chunk_index += packed(index)
        self._put(data + chunk, indexed=False)

    def sync(self) -> None:
        """Wait until all written data are on the disk. Raises OSError; the file is then closed."""
        try:
            os.fdatasync(self._file)
        except OSError:
            self._release()
            raise

    def close(self) -> None:
        """Write the remaining records and the index, and wait for the disk; idempotent. Raises OSError."""
        if self._file < 0:
            return
        self.write()
        self._put(b"", indexed=True)
        self.sync()
        self._release()

    def altered(self) -> str:
        """Return what another program has done to the file: "", "moved", "deleted", "replaced" or "changed". Raises
        OSError.

        Moved means that all written data are there under another name.
        """
        ours = os.fstat(self._file)
        if ours.st_size != self._end + len(self._closing):
            return "changed"
        try:
            there = self.path.stat()
        except FileNotFoundError:
            there = None
        if there is not None and (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino):
            return ""
        if ours.st_nlink > 0:
            return "moved"
        return "deleted" if there is None else "replaced"

    def leave(self) -> None:
        """Close the file as another program has left it, without writing."""
        self._release()

    def _put(self, data: bytes, indexed: bool) -> None:
        before, self._end = self._end, self._end + len(data)
        behind = self._summary(indexed)
        try:
            write_at(self._file, data + behind, before)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, before)
                write_at(self._file, self._closing, before)  # the disk had space for it
            self._release()
            raise
        self._closing = behind

    def _release(self) -> None:
        os.close(self._file)
        self._file = -1

    def _packed(self, start: int) -> tuple[bytes, ChunkIndex | None]:
        """Return the chunk with its message indexes, for the offset `start`, and the index of the chunk."""
        if not self._chunk:
            return b"", None
        raw, small = bytes(self._chunk), zstandard.compress(bytes(self._chunk))
        first, last = min(self._times), max(self._times)
        chunk = packed(
            Chunk(
                compression="zstd",
                data=small,
                message_start_time=first,
                message_end_time=last,
                uncompressed_crc=zlib.crc32(raw),
                uncompressed_size=len(raw),
            )
        )
        indexes, offsets = b"", {}
        for channel, places in self._places.items():
            offsets[channel] = start + len(chunk) + len(indexes)
            indexes += packed(MessageIndex(channel_id=channel, records=places))
            self._counts[channel] = self._counts.get(channel, 0) + len(places)
        self._first, self._last = min(self._first or first, first), max(self._last, last)
        self._chunk.clear()
        self._places, self._times = {}, []
        index = ChunkIndex(
            chunk_length=len(chunk),
            chunk_start_offset=start,
            compression="zstd",
            compressed_size=len(small),
            message_end_time=last,
            message_index_length=len(indexes),
            message_index_offsets=offsets,
            message_start_time=first,
            uncompressed_size=len(raw),
        )
        return chunk + indexes, index

    def _summary(self, indexed: bool) -> bytes:
        """Return the end of the file after the data; indexed: with the index of all chunks and attachments."""
        statistics = Statistics(
            attachment_count=self._attachments,
            channel_count=len(self._channels),
            channel_message_counts=self._counts,
            chunk_count=self._chunks,
            message_count=sum(self._counts.values()),
            message_end_time=self._last,
            message_start_time=self._first,
            metadata_count=len(self._metadata),
            schema_count=len(self._schemas),
        )
        records: list[McapRecord] = [*self._schemas, *self._channels.values(), *self._metadata, statistics]
        summary = b"".join(map(packed, records))
        if indexed:
            summary += self._chunk_index + self._attachment_index
        return closing(self._end, summary)


def closing(end: int, summary: bytes) -> bytes:
    """Return the bytes that follow data ending at `end`: DataEnd, summary, footer."""
    finish = packed(DataEnd(data_section_crc=0))
    # the checksum covers the footer up to itself
    footer = packed(Footer(summary_start=end + len(finish), summary_offset_start=0, summary_crc=0))[:-4]
    footer += zlib.crc32(summary + footer).to_bytes(4, "little")
    return finish + summary + footer + MAGIC


def packed(record: McapRecord) -> bytes:
    """Return a record as bytes."""
    builder = RecordBuilder()
    record.write(builder)
    return bytes(builder.end())  # type: ignore[no-untyped-call]


def write_at(file: int, data: bytes, offset: int) -> None:
    """Write all data at this offset. Raises OSError."""
    view = memoryview(data)
    while view:
        written = os.pwrite(file, view, offset)
        view, offset = view[written:], offset + written
