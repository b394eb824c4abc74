"""Packets framed otherwise: SLIP, HDLC and fixed ones, with rubbish around, cut anywhere, against plain receivers."""

import struct
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from crccheck.crc import Crc16CcittFalse, Crc16Modbus
from pydantic import TypeAdapter, ValidationError

from drivers import AnyDriver
from drivers.base import Wanted
from drivers.decode.decoder import Decoder
from drivers.layout.frame import Frames
from drivers.serial.deframer import Deframer
from drivers.serial.packets import Framing, PacketSettings, encode, layout

PACKET = PacketSettings.model_validate(
    {"name": "P", "id": 5, "fields": [{"name": "a", "type": "i32"}, {"name": "b", "type": "f32"}]}
)
OTHER = PacketSettings.model_validate({"name": "Q", "id": 0xC0, "fields": [{"name": "c", "type": "u8"}]})
FRAMINGS = [
    Framing.model_validate(given)
    for given in (
        {"kind": "slip"},
        {"kind": "hdlc", "sequence": "u8", "checksum": "crc8-maxim"},
        {"kind": "hdlc", "order": "big", "checksum": "crc16-modbus"},
        {"kind": "cobs", "sequence": "none"},
        {"kind": "fixed", "start": [0xAA, 0x55]},
        {"kind": "fixed", "start": [0x41, 0x54], "end": [13, 10], "sequence": "u8", "checksum": "sum8"},
        {"kind": "fixed", "start": [0xAA], "sequence": "none", "checksum": "xor8", "end": [0x55]},
    )
]


def packets(framing: Framing, count: int, random: np.random.Generator) -> list[tuple[int, bytes]]:
    """(id, fields), with many of the bytes that framings are made of."""
    special = np.frombuffer(bytes([0x00, 0x7D, 0x7E, 0xC0, 0xDB, 0xDC, 0xDD, 0xAA, 0x55, 0x41, 0x54, 13, 10]), np.uint8)
    return [
        (5, random.choice(special, 8).tobytes()) if random.integers(3) else (0xC0, random.choice(special, 1).tobytes())
        for _ in range(count)
    ]


def unpacked(framing: Framing, parts: list[Frames]) -> list[tuple[int, bytes]]:
    return [
        (int(ident), row[framing.head : size].tobytes())
        for part in parts
        for ident, row, size in zip(part.ids, part.payload, part.lengths, strict=True)
    ]


@pytest.mark.parametrize(("framing", "seed"), list(product(FRAMINGS, range(3))), ids=str)
def test_packets_come_through_however_the_stream_is_cut(framing: Framing, seed: int) -> None:
    random = np.random.default_rng(seed)
    sent = packets(framing, 60, random)
    counters = {5: 0, 0xC0: 0}
    stream = b""
    for ident, fields in sent:
        stream += encode(ident, counters[ident], fields, framing)
        counters[ident] += 1
    cuts = [0, *sorted(random.integers(0, len(stream), 20).tolist()), len(stream)]
    cut = [stream[a:b] for a, b in pairwise(cuts)]
    for pieces in ([stream], [bytes([byte]) for byte in stream], cut):
        deframer = Deframer(layout([PACKET, OTHER], framing).lengths, framing)
        assert unpacked(framing, [deframer.feed(piece, 0) for piece in pieces]) == sent
        assert not any(deframer.counts.values())


@pytest.mark.parametrize(("sequence", "turn"), [("u8", 256), ("u16", 65536)])
def test_long_losses_are_counted_up_to_half_a_turn_of_the_sequence(sequence: str, turn: int) -> None:
    framing = Framing.model_validate({"kind": "slip", "sequence": sequence})
    deframer = Deframer(layout([PACKET, OTHER], framing).lengths, framing)
    lost = 0
    for step in (1, turn // 2, 1, turn // 3):  # the longest that is a loss and no restart, and so on over the turn
        deframer.feed(encode(0xC0, lost % turn, b"x", framing), 0)
        deframer.feed(encode(0xC0, (lost + step) % turn, b"y", framing), 0)
        lost += step
    steps_back = 4 - 1  # each first packet of a pair says again what the last one said
    assert deframer.counts["lost"] == lost - 4
    assert deframer.counts["restarted"] == steps_back
    deframer.feed(encode(0xC0, (lost + turn // 2 + 1) % turn, b"z", framing), 0)
    assert deframer.counts["restarted"] == steps_back + 1, "one more than half a turn is a step back"


@pytest.mark.parametrize("framing", FRAMINGS, ids=str)
def test_rubbish_between_costs_at_most_the_next_packet_and_is_counted(framing: Framing) -> None:
    random = np.random.default_rng(9)
    deframer = Deframer(layout([PACKET, OTHER], framing).lengths, framing)
    good = 0
    for sequence in range(200):
        rubbish = random.bytes(int(random.integers(1, 30)))
        first, second = (encode(5, 2 * sequence + one, struct.pack("<if", 7, 0.5), framing) for one in (0, 1))
        found = unpacked(framing, [deframer.feed(rubbish + first + second, 0)])
        good += found[-1:] == [(5, struct.pack("<if", 7, 0.5))]
    # a fixed packet may begin inside rubbish and swallow the next two; never for long
    assert good >= 195 if framing.kind == "fixed" else good == 200
    assert sum(count for cause, count in deframer.counts.items() if cause not in ("lost", "restarted")) > 100


@pytest.mark.parametrize("framing", [one for one in FRAMINGS if one.checksum.startswith("crc16")], ids=str)
def test_no_flipped_bit_gets_through_a_crc(framing: Framing) -> None:
    packet = encode(5, 3, bytes(range(8)), framing)
    for bit in range(8 * (len(packet) - (framing.kind != "fixed"))):
        wrong = bytearray(packet)
        wrong[bit // 8] ^= 1 << bit % 8
        deframer = Deframer(layout([PACKET, OTHER], framing).lengths, framing)
        found = unpacked(framing, [deframer.feed(bytes(wrong) + b"\x00\x7e\xc0" * 10, 0)])
        assert [one for one in found if one[0] == 5 and len(one[1]) == 8] == [], bit


def test_a_fixed_packet_without_its_last_bytes_is_none() -> None:
    """Nothing else tells that it is damaged."""
    framing = Framing(kind="fixed", start=(0xAA, 0x55), end=(13, 10), sequence="none", checksum="none")
    deframer = Deframer(layout([OTHER], framing).lengths, framing)
    good, wrong = encode(0xC0, 0, b"x", framing), encode(0xC0, 0, b"y", framing)[:-1] + b"\x0b"
    assert unpacked(framing, [deframer.feed(wrong + good, 0)]) == [(0xC0, b"x")]
    assert {cause: count for cause, count in deframer.counts.items() if count} == {
        "truncated": 1,
        "garbage_bytes": len(wrong),
    }


@pytest.mark.parametrize(
    ("kind", "wrong"), [("slip", b"\x41\xdb\x42"), ("slip", b"\x41\x42\xdb"), ("hdlc", b"\x41\x42\x7d")]
)
def test_an_escape_that_escapes_nothing_is_refused(kind: str, wrong: bytes) -> None:
    framing = Framing.model_validate({"kind": kind, "sequence": "none", "checksum": "none", "id": False})
    packet = PacketSettings.model_validate(
        {"name": "P", "id": 0, "fields": [{"name": "a", "type": "u8"}, {"name": "b", "type": "u8"}]}
    )
    deframer = Deframer(layout([packet], framing).lengths, framing)
    end = bytes([{"slip": 0xC0, "hdlc": 0x7E}[kind]])
    found = unpacked(framing, [deframer.feed(wrong + end + b"\x01\x02" + end, 0)])
    assert found == [(0, b"\x01\x02")]
    assert deframer.counts["bad_cobs"] == 1


@pytest.mark.parametrize(("kind", "byte"), [("slip", b"\xc0"), ("hdlc", b"\x7e"), ("cobs", b"\x00"), ("cobs", b"\x01")])
def test_the_longest_packet_comes_through_whatever_is_in_it(kind: str, byte: bytes) -> None:
    framing = Framing.model_validate({"kind": kind})
    fields = [{"name": f"f{i}", "type": "u64"} for i in range(31)]
    packet = PacketSettings.model_validate({"name": "P", "id": byte[0], "fields": fields})
    deframer = Deframer(layout([packet], framing).lengths, framing)
    sent = [encode(byte[0], sequence, byte * 248, framing) for sequence in (0xC0C0, 0xC0C1)]
    assert unpacked(framing, [deframer.feed(b"".join(sent), 0)]) == [(byte[0], byte * 248)] * 2
    assert not any(deframer.counts.values())


@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("ident", [True, False])
def test_a_sequence_is_read_in_the_order_that_it_has(order: str, ident: bool) -> None:
    framing = Framing.model_validate({"kind": "slip", "order": order, "id": ident})
    known = layout([PACKET], framing)
    readings = Decoder(known, [Wanted(0, "P.sequence"), Wanted(1, "P.a")]).decode(
        Deframer(known.lengths, framing).feed(encode(5, 0x1234, struct.pack("<if", -7, 0.5), framing), 0)
    )
    assert readings["value"].tolist() == [0x1234, -7]


def test_the_wire_is_as_documented() -> None:
    checked = bytes([5, 0x34, 0x12, 0xC0, 0xDB])
    crc = Crc16CcittFalse.calc(checked).to_bytes(2, "little")
    slip = b"\x05\x34\x12\xdb\xdc\xdb\xdd" + crc + b"\xc0"
    assert encode(5, 0x1234, b"\xc0\xdb", Framing(kind="slip")) == slip
    crc = Crc16Modbus.calc(b"\x05\x12\x34\x7e").to_bytes(2, "big")
    framing = Framing(kind="hdlc", order="big", checksum="crc16-modbus")
    assert encode(5, 0x1234, b"\x7e", framing) == b"\x05\x12\x34\x7d\x5e" + crc + b"\x7e"
    framing = Framing(kind="fixed", start=(0xAA, 0x55), id=False, sequence="u8", checksum="sum8", end=(13,))
    assert encode(5, 0x102, b"\x03\x04", framing) == b"\xaa\x55\x02\x03\x04\x09\x0d"


def test_without_an_id_there_is_one_kind_of_packet() -> None:
    framing = Framing(kind="fixed", start=(0xAA,), id=False, sequence="u8", checksum="sum8")
    known = layout([PACKET], framing)
    deframer, decoder = Deframer(known.lengths, framing), Decoder(known, [Wanted(0, "P.a"), Wanted(1, "P.sequence")])
    stream = b"".join(encode(5, n, struct.pack("<if", -n, 0), framing) for n in (0, 1, 4, 255, 256))
    readings = decoder.decode(deframer.feed(stream, 0))
    assert readings["value"][readings["channel"] == 0].tolist() == [0, -1, -4, -255, -256]
    assert readings["value"][readings["channel"] == 1].tolist() == [0, 1, 4, 255, 0]
    assert deframer.counts["lost"] == 2
    assert deframer.counts["restarted"] == 1  # from 4 to 255 is backwards


@pytest.mark.parametrize(
    ("framing", "said"),
    [
        ({"kind": "fixed"}, "expected start, found none"),
        ({"kind": "slip", "start": [1]}, "start and end go with fixed packets, found them with slip"),
        ({"kind": "fixed", "start": [256]}, "less than or equal to 255"),
        ({"kind": "fixed", "start": [1], "id": False}, "one kind of packet where they carry no id, found 2"),
        ({"kind": "cobs", "checksum": "crc32"}, "Input should be"),
    ],
)
def test_a_framing_that_cannot_be_is_refused(framing: dict[str, Any], said: str) -> None:
    given = {"kind": "serial", "port": "x", "packets": [PACKET.model_dump(), OTHER.model_dump()], "framing": framing}
    with pytest.raises(ValidationError, match=said):
        TypeAdapter(AnyDriver).validate_python(given)


def test_packets_of_one_byte_fill_a_read() -> None:
    """With its delimiter a packet has two bytes at least: so many must find room."""
    framing = Framing.model_validate({"kind": "slip", "sequence": "none", "checksum": "none", "id": False})
    sent = bytes(range(1, 120))
    frames = Deframer({0: 1}, framing).feed(b"".join(bytes([one, 0xC0]) for one in sent), 7)
    assert frames.payload[:, 0].tobytes() == sent
    assert set(frames.lengths.tolist()) == {1}
