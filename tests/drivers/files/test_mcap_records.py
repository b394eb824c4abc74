"""Records of MCAP files of any writer: which are given, in which order, and where a file is said to be damaged."""

import os
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from mcap.opcode import Opcode
from mcap.records import Attachment, Channel, McapRecord, Message, Metadata, Schema
from mcap.writer import CompressionType, Writer

from drivers.files.mcap_records import MAGIC, records, settled


def written(path: Path, compression: CompressionType = CompressionType.ZSTD, chunked: bool = True, **more: Any) -> Path:
    """By the official library: two messages, an attachment, metadata."""
    with path.open("wb") as stream:
        writer = Writer(stream, compression=compression, use_chunking=chunked, **more)
        writer.start()
        schema = writer.register_schema("s", "jsonschema", b"{}")
        channel = writer.register_channel("t", "json", schema)
        writer.add_message(channel, 5, b"one", 6)
        writer.add_attachment(7, 8, "a", "text/plain", b"attached")
        writer.add_message(channel, 9, b"two", 10)
        writer.add_metadata("m", {"k": "v"})
        writer.finish()
    return path


def kinds(found: list[McapRecord]) -> list[str]:
    return sorted(type(one).__name__ for one in found)


@pytest.mark.parametrize("compression", [CompressionType.ZSTD, CompressionType.LZ4, CompressionType.NONE])
@pytest.mark.parametrize("chunked", [True, False])
def test_files_of_the_official_writer_are_read(tmp_path: Path, compression: CompressionType, chunked: bool) -> None:
    path = written(tmp_path / "x.mcap", compression, chunked)
    found = list(records(path, strict=True))
    assert [(one.data, one.log_time, one.publish_time) for one in found if isinstance(one, Message)] == [
        (b"one", 5, 6),
        (b"two", 9, 10),
    ]
    assert kinds(found) == ["Attachment", "Channel", "Message", "Message", "Metadata", "Schema"]
    [attached] = [one for one in found if isinstance(one, Attachment)]
    assert (attached.name, attached.data) == ("a", b"attached")
    order = [type(one) for one in found if isinstance(one, Schema | Channel | Message)]
    assert order == [Schema, Channel, Message, Message], "what a message needs stands before it"


@pytest.mark.parametrize("chunked", [True, False])
def test_without_messages_chunks_are_passed_over(tmp_path: Path, chunked: bool) -> None:
    found = list(records(written(tmp_path / "x.mcap", chunked=chunked), messages=False))
    assert not [one for one in found if isinstance(one, Message)]
    assert [one.metadata for one in found if isinstance(one, Metadata)] == [{"k": "v"}]
    assert [one.data for one in found if isinstance(one, Attachment)] == [b"attached"]


def with_record(path: Path, opcode: int, body: bytes) -> None:
    """Put one more record in front of the others; the end says where everything is then."""
    data = bytearray(path.read_bytes())
    more = struct.pack("<BQ", opcode, len(body)) + body
    data[len(MAGIC) : len(MAGIC)] = more
    place = len(data) - len(MAGIC) - 20
    summary, offsets, _ = struct.unpack_from("<QQI", data, place)
    struct.pack_into("<QQ", data, place, summary + len(more), offsets + len(more) if offsets else 0)
    struct.pack_into("<I", data, place + 16, zlib.crc32(data[summary + len(more) : place + 16]))
    path.write_bytes(data)
    os.utime(path, (1e9, 1e9))


def test_records_of_an_applications_own_are_passed_over_and_unknown_ones_are_damage(tmp_path: Path) -> None:
    whole = kinds(list(records(written(tmp_path / "x.mcap"))))
    for opcode in (0x80, 0xFF):
        path = written(tmp_path / "x.mcap")
        with_record(path, opcode, b"ours")
        assert kinds(list(records(path, strict=True))) == whole
    for opcode in (0, 0x10, 0x7F):
        path = written(tmp_path / "x.mcap")
        with_record(path, opcode, b"what")
        with pytest.raises(ValueError, match=f"a record of kind {opcode} and 4 bytes stands at 8"):
            list(records(path))


def attachment(data: bytes, checksum: int | None) -> bytes:
    """The body of a record; checksum: None for the right one."""
    body = struct.pack("<QQ", 1, 2)
    for text in (b"n", b"m"):
        body += struct.pack("<I", len(text)) + text
    body += struct.pack("<Q", len(data)) + data
    return body + struct.pack("<I", zlib.crc32(body) if checksum is None else checksum)


def test_an_attachments_checksum_counts_where_its_writer_made_one(tmp_path: Path) -> None:
    for checksum in (None, 0):
        path = written(tmp_path / "x.mcap")
        with_record(path, Opcode.ATTACHMENT, attachment(b"first", checksum))
        assert [one.data for one in records(path) if isinstance(one, Attachment)] == [b"first", b"attached"]
    path = written(tmp_path / "x.mcap")
    with_record(path, Opcode.ATTACHMENT, attachment(b"first", 1))
    with pytest.raises(ValueError, match="the checksum of an attachment is wrong"):
        list(records(path))


def test_where_the_data_end_is_known_from_an_end_that_is_whole(tmp_path: Path) -> None:
    path = written(tmp_path / "x.mcap")
    whole = path.read_bytes()
    with path.open("rb") as stream:
        end = settled(stream.fileno())
    assert end is not None
    assert whole[end] == Opcode.DATA_END
    for damage in (end, end + 14, len(whole) - 40, len(whole) - 15, len(whole) - 1):
        path.write_bytes(whole[:damage] + bytes([whole[damage] ^ 1]) + whole[damage + 1 :])
        os.utime(path, (1e9, 1e9))
        with path.open("rb") as stream:
            assert settled(stream.fileno()) is None, damage
        with pytest.raises(ValueError, match=r"breaks off within its|stands at"):
            list(records(path, strict=True))


@pytest.mark.parametrize("content", [b"", MAGIC[:3], MAGIC])
def test_a_file_that_has_hardly_begun_has_no_records(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.mcap"
    path.write_bytes(content)
    os.utime(path, (1e9, 1e9))
    assert list(records(path)) == []
    with pytest.raises(ValueError, match=f"it breaks off within its {len(content)} bytes"):
        list(records(path, strict=True))


def test_a_file_of_another_kind_is_recognised_by_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    path.write_bytes(b"PK\3\4" + bytes(100))
    os.utime(path, (1e9, 1e9))
    with pytest.raises(ValueError, match=r"it does not begin as an MCAP file, but with 'PK"):
        list(records(path))


def test_a_chunk_that_is_damaged_is_said(tmp_path: Path) -> None:
    path = written(tmp_path / "x.mcap", CompressionType.NONE)
    data = bytearray(path.read_bytes())
    data[data.index(b"one")] ^= 1
    path.write_bytes(data)
    os.utime(path, (1e9, 1e9))
    with pytest.raises(ValueError, match=r"(?i)crc"):
        list(records(path))


def test_a_file_that_breaks_off_within_a_record_gives_those_before(tmp_path: Path) -> None:
    path = written(tmp_path / "x.mcap", chunked=False)
    whole = path.read_bytes()
    place = whole.index(b"two")
    path.write_bytes(whole[:place])
    os.utime(path, (1e9, 1e9))
    assert [one.data for one in records(path) if isinstance(one, Message)] == [b"one"]


def test_nothing_is_read_behind_the_data(tmp_path: Path) -> None:
    """The summary repeats schemas and channels."""
    path = written(tmp_path / "x.mcap", CompressionType.NONE)
    assert path.read_bytes().count(b"jsonschema") == 2
    assert kinds(list(records(path))).count("Schema") == 1
