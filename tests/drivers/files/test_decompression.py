"""What a file claims to hold is believed up to a size, and what breaks off or is damaged is said."""

import resource
from collections.abc import Callable
from pathlib import Path

import lz4.frame  # type: ignore[import-untyped]
import pytest
import zstandard
from mcap.writer import CompressionType, Writer

from drivers.files.decompression import LARGEST, decompressed
from drivers.files.mcap_records import records
from drivers.files.reading_block import unpack

GIGABYTES = 3


def zstd_bomb(sized: bool) -> bytes:
    """Three gigabytes of zeros; sized: the frame says so."""
    compressor = zstandard.ZstdCompressor()
    size = GIGABYTES << 30
    with_size = compressor.compressobj(size=size) if sized else compressor.compressobj()
    part = bytes(1 << 24)
    return b"".join(with_size.compress(part) for _ in range(size // len(part))) + with_size.flush()


def lz4_bomb(_: bool = True) -> bytes:
    part = lz4.frame.LZ4FrameCompressor()
    zeros = bytes(1 << 24)
    return part.begin() + b"".join(part.compress(zeros) for _ in range((LARGEST >> 24) + 1)) + part.flush()


def peak() -> int:
    """Bytes of memory that this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize(("bomb", "sized"), [(zstd_bomb, True), (zstd_bomb, False), (lz4_bomb, False)])
def test_a_bomb_is_an_error_that_says_its_limit_and_takes_no_memory(bomb: Callable[[bool], bytes], sized: bool) -> None:
    data, compression = bomb(sized), "zstd" if bomb is zstd_bomb else "lz4"
    before = peak()
    with pytest.raises(ValueError, match=rf"{len(data)} bytes decompress to more than 256 MiB"):
        decompressed(data, compression)
    assert peak() - before < 3 * LARGEST


@pytest.mark.parametrize(("compress", "name"), [(zstandard.compress, "zstd"), (lz4.frame.compress, "lz4"), (bytes, "")])
def test_what_was_compressed_comes_back(compress: Callable[[bytes], bytes], name: str) -> None:
    for raw in (b"", b"one", bytes(range(256)) * 5000):
        assert decompressed(compress(raw), name) == raw


@pytest.mark.parametrize(("compress", "name"), [(zstandard.compress, "zstd"), (lz4.frame.compress, "lz4")])
@pytest.mark.parametrize("keep", [0, 3, -4, -100])
def test_what_breaks_off_is_damaged(compress: Callable[[bytes], bytes], name: str, keep: int) -> None:
    with pytest.raises(ValueError, match=f"damaged {name} data"):
        decompressed(compress(bytes(range(256)) * 5000)[:keep], name)


def test_a_compression_that_nobody_knows_is_named() -> None:
    with pytest.raises(ValueError, match="unknown compression 'brotli', expected one of: none, zstd, lz4"):
        decompressed(b"", "brotli")


def test_blocks_and_recordings_are_read_within_the_limit(tmp_path: Path) -> None:
    bomb = zstd_bomb(sized=True)
    with pytest.raises(ValueError, match="decompress to more than 256 MiB"):
        unpack(bomb)
    path = tmp_path / "x.mcap"
    with path.open("wb") as stream:
        writer = Writer(stream, compression=CompressionType.ZSTD, chunk_size=LARGEST * 2)
        writer.start()
        channel = writer.register_channel("t", "json", writer.register_schema("s", "jsonschema", b"{}"))
        for _ in range(LARGEST // (1 << 24) + 1):
            writer.add_message(channel, 5, bytes(1 << 24), 6)
        writer.finish()
    assert path.stat().st_size < 1_000_000
    with pytest.raises(ValueError, match="decompress to more than 256 MiB"):
        list(records(path))
