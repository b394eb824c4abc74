"""Decompresses data of files up to a size limit, since a few kilobytes may claim to be a terabyte."""

from collections.abc import Callable, Mapping
from typing import Final

import lz4.frame  # type: ignore[import-untyped]
import zstandard

#: bytes, argued: Largest size of a decompressed chunk or block; ours have less than 10 MB, others a few MB.
LARGEST: Final = 1 << 28


def decompressed(data: bytes, compression: str = "zstd") -> bytes:
    """Return the content of a chunk. compression: "zstd", "lz4" or "". Raises ValueError."""
    if compression not in WAYS:
        known = ", ".join(one or "none" for one in WAYS)
        raise ValueError(f"unknown compression {compression!r}, expected one of: {known}")
    found = WAYS[compression](data)
    if len(found) > LARGEST:
        raise ValueError(
            f"{len(data)} bytes decompress to more than {LARGEST >> 20} MiB, which no recorder writes at once"
        )
    return found


def _zstd(data: bytes) -> bytes:
    try:
        promised = zstandard.frame_content_size(data)  # -1: the frame does not state its size
        most = LARGEST if promised < 0 else min(promised, LARGEST)  # a buffer of this size is allocated for it
        with zstandard.ZstdDecompressor().stream_reader(data) as stream:
            found = stream.read(most + 1)
    except zstandard.ZstdError as error:
        raise ValueError(f"damaged zstd data: {error}") from error
    if len(found) < min(promised, LARGEST):
        raise ValueError(f"damaged zstd data: {len(found)} of {promised} bytes")
    return found


def _lz4(data: bytes) -> bytes:
    decompressor = lz4.frame.LZ4FrameDecompressor()
    try:
        found = bytes(decompressor.decompress(data, max_length=LARGEST + 1))
    except RuntimeError as error:
        raise ValueError(f"damaged lz4 data: {error}") from error
    if not decompressor.eof and len(found) <= LARGEST:
        raise ValueError(f"damaged lz4 data: they break off after {len(found)} bytes")
    return found


WAYS: Final[Mapping[str, Callable[[bytes], bytes]]] = {"": bytes, "zstd": _zstd, "lz4": _lz4}
