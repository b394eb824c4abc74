"""Packets and every count against a plain receiver that has the whole stream: what is found, and why the rest is not.

The streams hold packets that are whole, lost, repeated, cut, too long, of no known kind or disturbed, and rubbish.
"""

import functools
import operator
from collections import Counter
from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest
from crccheck.crc import Crc8Maxim, Crc16CcittFalse, Crc16Modbus

from drivers.serial.deframer import Deframer
from drivers.serial.packets import DELIMITERS, LIMIT, Framing, encode

LENGTHS = {5: 8, 0xC0: 1, 9: 3}  # bytes of fields by id; the first is that of packets without one
CHECKSUMS: dict[str, Callable[[bytes], int]] = {
    "none": lambda _: 0,
    "sum8": lambda data: sum(data) & 0xFF,
    "xor8": lambda data: functools.reduce(operator.xor, data, 0),
    "crc8-maxim": Crc8Maxim.calc,
    "crc16-ccitt": Crc16CcittFalse.calc,
    "crc16-modbus": Crc16Modbus.calc,
}
FRAMINGS = [
    Framing.model_validate(given)
    for given in (
        {"kind": "cobs"},
        {"kind": "slip", "sequence": "u8"},
        {"kind": "slip", "id": False, "checksum": "none"},
        {"kind": "hdlc", "order": "big", "checksum": "crc16-modbus"},
        {"kind": "hdlc", "sequence": "none", "checksum": "crc8-maxim"},
        {"kind": "fixed", "start": [0xAA, 0x55]},
        {"kind": "fixed", "start": [0xAA], "end": [13, 10], "sequence": "u8", "checksum": "sum8", "order": "big"},
        {"kind": "fixed", "start": [0x41], "end": [10], "id": False, "sequence": "u8", "checksum": "xor8"},
    )
]
Packet = tuple[int, bytes]


class PlainReceiver:
    """Reads a whole stream, byte by byte. `found`: (id, id, sequence and fields); `counts`: by cause."""

    def __init__(self, framing: Framing, stream: bytes) -> None:
        self._framing = framing
        self.lengths = {
            ident: framing.head + size
            for ident, size in (LENGTHS.items() if framing.id else [next(iter(LENGTHS.items()))])
        }
        self.found: list[Packet] = []
        self.counts = Counter[str]()
        self._last: dict[int, int] = {}
        if framing.kind == "fixed":
            self._fixed(stream)
        else:
            for piece in stream.split(bytes([DELIMITERS[framing.kind]]))[:-1]:
                self._piece(piece)

    def _piece(self, piece: bytes) -> None:
        most = LIMIT + 1 if self._framing.kind == "cobs" else 2 * LIMIT
        if len(piece) > most:
            self.counts["oversized"] += 1
        elif piece:
            packet = self._unstuffed(piece)
            if packet is None:
                self.counts["bad_cobs"] += 1
            else:
                self._checked(packet)

    def _unstuffed(self, piece: bytes) -> bytes | None:
        if self._framing.kind == "cobs":
            groups = []
            while piece:
                if piece[0] > len(piece):
                    return None
                groups.append(piece[1 : piece[0]])
                piece = piece[piece[0] :]
            return b"\0".join(groups)
        escape, meant = (0xDB, {0xDC: 0xC0, 0xDD: 0xDB}) if self._framing.kind == "slip" else (0x7D, {})
        packet, bytes_left = bytearray(), iter(piece)
        for byte in bytes_left:
            if byte != escape:
                packet.append(byte)
                continue
            after = next(bytes_left, None)
            if after is None or (meant and after not in meant):
                return None
            packet.append(meant[after] if meant else after ^ 0x20)
        return bytes(packet)

    def _checked(self, packet: bytes) -> bool:
        framing = self._framing
        if len(packet) < framing.head + framing.tail:
            self.counts["truncated"] += 1
            return False
        body, tail = packet[: len(packet) - framing.tail], packet[len(packet) - framing.tail :]
        if CHECKSUMS[framing.checksum](body) != int.from_bytes(tail, framing.order):
            self.counts["bad_crc"] += 1
            return False
        ident = body[0] if framing.id else next(iter(self.lengths))
        known = self.lengths.get(ident)
        if known is not None and len(body) > known:
            self.counts["oversized"] += 1
            return False
        if len(body) == known:
            self._follow(ident, body)
        self.found.append((ident, body))
        return True

    def _follow(self, ident: int, body: bytes) -> None:
        size = {"none": 0, "u8": 1, "u16": 2}[self._framing.sequence]
        sequence, turn = int.from_bytes(body[self._framing.id :][:size], self._framing.order), 256**size
        missing = (sequence - self._last.get(ident, sequence - 1) - 1) % turn
        self._last[ident] = sequence
        if missing < turn / 2:
            self.counts["lost"] += missing
        else:
            self.counts["restarted"] += 1

    def _fixed(self, stream: bytes) -> None:
        start, end, at = bytes(self._framing.start), bytes(self._framing.end), 0
        while at + len(start) < len(stream):
            ident = stream[at + len(start)] if self._framing.id else next(iter(self.lengths))
            size = self.lengths.get(ident, -1) + self._framing.tail
            whole = len(start) + size + len(end)
            if stream.startswith(start, at) and ident in self.lengths:
                if at + whole > len(stream):
                    return
                right = stream.startswith(end, at + len(start) + size)
                self.counts["truncated"] += not right
                if right and self._checked(stream[at + len(start) :][:size]):
                    at += whole
                    continue
            self.counts["garbage_bytes"] += 1
            at += 1


def streamed(framing: Framing, random: np.random.Generator) -> bytes:
    """Packets of all sorts, and what is none."""
    counters, stream, first = Counter[int](), b"", next(iter(LENGTHS))
    for _ in range(150):
        ident = int(random.choice(list(LENGTHS))) if framing.id else first
        counters[ident] += 1
        kind = int(random.integers(12))
        if kind == 0:
            counters[ident] += int(random.choice([-3, -1, 1, 2, 100, 200]))
        size = max(0, LENGTHS[ident] + (int(random.integers(-9, 10)) if kind == 1 else 0))
        fields = bytes(
            random.choice([0, 0x7D, 0x7E, 0xC0, 0xDB, 0xDC, 0xDD, 0xAA, 0x55, 0x41, 10, 13, 77], size).tolist()
        )
        wire = bytearray(encode(77 if kind == 2 and framing.id else ident, counters[ident], fields, framing))
        if kind == 3:
            wire[int(random.integers(len(wire)))] ^= 1 << int(random.integers(8))
        elif kind == 4:
            del wire[int(random.integers(len(wire))) :]
        elif kind == 5:
            wire += random.bytes(int(random.integers(1, 30)))
        elif kind == 6 and framing.kind != "fixed":
            wire += bytes([DELIMITERS[framing.kind]]) * int(random.integers(1, 3)) + bytes(
                [1, DELIMITERS[framing.kind]]
            )
        elif kind == 7 and random.integers(4) == 0:
            wire += bytes([1]) * int(random.choice([LIMIT, LIMIT + 1, LIMIT + 2, 2 * LIMIT, 2 * LIMIT + 1, 1500]))
        stream += wire
    return stream


@pytest.mark.parametrize(("framing", "seed"), list(product(FRAMINGS, range(2))), ids=str)
def test_what_is_found_and_counted_is_what_a_plain_receiver_finds_and_counts(framing: Framing, seed: int) -> None:
    random = np.random.default_rng([seed, 7])
    stream = streamed(framing, random)
    plain = PlainReceiver(framing, stream)
    most = max(1, *random.choice([3, 40, 2000], 1).tolist())
    cuts = [0]
    while cuts[-1] < len(stream):
        cuts.append(min(len(stream), cuts[-1] + int(random.integers(1, most + 1))))
    deframer, found = Deframer(plain.lengths, framing), list[Packet]()
    for time, (a, b) in enumerate(pairwise(cuts)):
        frames = deframer.feed(stream[a:b], time)
        assert set(frames.times.tolist()) <= {time}
        rows = zip(frames.ids.tolist(), frames.payload, frames.lengths.tolist(), strict=True)
        found += [(ident, bytes(row[:size].tolist()) + b"?" * (size - len(row))) for ident, row, size in rows]
    width = frames.payload.shape[1]
    assert found == [(ident, body[:width] + b"?" * (len(body) - width)) for ident, body in plain.found]
    assert {cause: count for cause, count in deframer.counts.items() if count} == dict(+plain.counts)
    assert len(plain.found) > 60
    assert plain.counts.keys() >= {"lost", "truncated", "garbage_bytes" if framing.kind == "fixed" else "oversized"}
