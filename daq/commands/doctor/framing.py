"""Finds the framing of packets on an unknown serial line: tries every byte stuffing with every checksum."""

from itertools import product
from typing import Final

import numpy as np

from drivers.layout.checksum import CHECKSUMS, compute
from drivers.serial.packets import COBS, DELIMITERS, Framing

LEAST: Final = 8  # packets at least, for a pattern
SOME: Final = 200  # packets that are examined
MOST: Final = 0.8  # share of them that must agree
IDS: Final = 16  # largest number of ids; a byte with more values is not an id


def framing_of(text: bytes) -> tuple[Framing, dict[int, int]] | None:
    """The framing of a stream, and the number of bytes (id, sequence, fields) by id; None if nothing fits."""
    for kind, delimiter in DELIMITERS.items():
        pieces = text.split(bytes([delimiter]))[1:-1]
        packets = [packet for piece in pieces if piece and len(packet := _unstuffed(kind, piece)) > 2]
        packets = packets[:SOME]
        if len(packets) < LEAST:
            continue
        names = sorted(CHECKSUMS, key=lambda name: (name != COBS.checksum, -CHECKSUMS[name].bits))
        for checksum, order in product(names, ("little", "big")):
            tail = CHECKSUMS[checksum].bits // 8
            good = [one[:-tail] for one in packets if _is_intact(one, checksum, tail, order)]
            if len(good) >= max(LEAST, MOST * len(packets)):
                return _described(good, kind, checksum, order)
    return None


def _is_intact(packet: bytes, checksum: str, tail: int, order: str) -> bool:
    return compute(checksum, packet[:-tail]) == int.from_bytes(packet[-tail:], "big" if order == "big" else "little")


def _described(packets: list[bytes], kind: str, checksum: str, order: str) -> tuple[Framing, dict[int, int]]:
    """The framing of valid packets: with an id, if each value has one length; with a sequence, if it counts up."""
    sizes: dict[int, set[int]] = {}
    for packet in packets:
        sizes.setdefault(packet[0], set()).add(len(packet))
    has_id = len(sizes) <= IDS and all(len(one) == 1 for one in sizes.values())
    sequence = next((name for name, size in (("u16", 2), ("u8", 1)) if _counts(packets, has_id, size, order)), "none")
    framing = Framing.model_validate(
        {"kind": kind, "id": has_id, "sequence": sequence, "checksum": checksum, "order": order}
    )
    lengths = {one: min(found) for one, found in sizes.items()} if has_id else {0: len(packets[0])}
    return framing, {one: length for one, length in lengths.items() if length > framing.head}


def _counts(packets: list[bytes], has_id: bool, size: int, order: str) -> bool:
    """Whether the bytes after the id count up by one between packets of the same id."""
    steps: list[int] = []
    last: dict[int, int] = {}
    for packet in packets:
        ident, at = packet[0] if has_id else 0, int(has_id)
        if len(packet) < at + size:
            return False
        value = int.from_bytes(packet[at : at + size], "big" if order == "big" else "little")
        if ident in last:
            steps.append((value - last[ident]) % (1 << 8 * size))
        last[ident] = value
    return bool(steps) and float(np.mean(np.array(steps) == 1)) > MOST


def _unstuffed(kind: str, piece: bytes) -> bytes:
    """A packet without its stuffing; empty if the bytes are not a packet."""
    if kind == "cobs":
        parts, at = [], 0
        while at < len(piece):
            if at + piece[at] > len(piece):
                return b""
            parts.append(piece[at + 1 : at + piece[at]])
            at += piece[at]
        return b"\0".join(parts)
    if kind == "slip":
        return piece.replace(b"\xdb\xdc", b"\xc0").replace(b"\xdb\xdd", b"\xdb")
    out, flipped = bytearray(), 0
    for byte in piece:
        if byte == 0x7D and not flipped:
            flipped = 0x20
        else:
            out.append(byte ^ flipped)
            flipped = 0
    return bytes(out)
