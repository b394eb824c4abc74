"""Packets on a serial line: against an independent receiver, fed three ways, with rubbish around."""

import struct
from itertools import pairwise

import numpy as np
import pytest
from crccheck.crc import Crc16CcittFalse
from pydantic import TypeAdapter, ValidationError

from drivers import AnyDriver
from drivers.base import LayoutError, Wanted
from drivers.decode.decoder import Decoder
from drivers.layout.frame import Frames
from drivers.serial.deframer import Deframer
from drivers.serial.packets import LIMIT, Framing, PacketSettings, encode, layout

JOINT = PacketSettings.model_validate(
    {
        "name": "JOINT",
        "id": 7,
        "fields": [
            {"name": "position", "type": "i32", "unit": "counts", "counts_per_rev": 65536},
            {"name": "torque", "type": "i16", "scale": 0.5, "unit": "mNm", "invalid": -32768},
            {"name": "speed", "type": "f32", "unit": "rpm"},
            {"name": "status", "type": "u64"},
        ],
    }
)
BIG = PacketSettings.model_validate(
    {"name": "BIG", "id": 0, "order": "big", "fields": [{"name": "a", "type": "i16"}, {"name": "b", "type": "f64"}]}
)
LENGTHS = layout([JOINT, BIG]).lengths


def receive_byte_by_byte(stream: bytes) -> list[bytes]:
    """The other end as firmware would have it: COBS as a state machine, the CRC from another library."""
    found, packet, left, code = [], bytearray(), 0, 0xFF
    for byte in stream:
        if byte == 0:
            whole = left == 0 and len(packet) > 2
            if whole and Crc16CcittFalse.calc(packet[:-2]) == int.from_bytes(packet[-2:], "little"):
                found.append(bytes(packet[:-2]))
            packet, left, code = bytearray(), 0, 0xFF
        elif left:
            packet.append(byte)
            left -= 1
        else:
            if code != 0xFF:
                packet.append(0)
            code = byte
            left = code - 1
    return found


def joint(sequence: int) -> bytes:
    return encode(7, sequence, struct.pack(JOINT.format, sequence * 300, -sequence, 0.25 * sequence, 1 << 63))


def packets_of(frames: Frames) -> list[bytes]:
    return [row[:n].tobytes() for row, n in zip(frames.payload, frames.lengths, strict=True)]


def joined(parts: list[Frames]) -> list[bytes]:
    return [packet for part in parts for packet in packets_of(part)]


def test_the_wire_format_is_the_documented_one() -> None:
    assert Crc16CcittFalse.calc(b"123456789") == 0x29B1
    assert encode(0x11, 0x2200, b"\x00\x33") == bytes.fromhex("02 11 02 22 04 33 91 51 00")
    assert Crc16CcittFalse.calc(bytes.fromhex("11 00 22 00 33")) == 0x5191
    random = np.random.default_rng(0)
    for size in range(LIMIT - 4):
        fields = random.bytes(size) if size % 2 else bytes(random.integers(0, 2, size).tolist())
        packet = encode(5, size, fields)
        assert packet.count(0) == 1
        assert receive_byte_by_byte(packet) == [struct.pack("<BH", 5, size) + fields]
    with pytest.raises(ValueError, match="at most 253 bytes, found 254"):
        encode(1, 0, bytes(LIMIT - 4))


def test_fields_and_sequence_come_out_in_si() -> None:
    stream = joint(0) + joint(1) + encode(0, 65535, struct.pack(">hd", -2, 0.5)) + joint(2)
    known = layout([JOINT, BIG])
    assert known.units() == {
        "JOINT.sequence": "1",
        "JOINT.position": "rad",
        "JOINT.torque": "N·m",
        "JOINT.speed": "rad/s",
        "JOINT.status": "1",
        "BIG.sequence": "1",
        "BIG.a": "1",
        "BIG.b": "1",
    }
    decoder = Decoder(known, [Wanted(channel, name) for channel, name in enumerate(known.signals)])
    readings = decoder.decode(Deframer(known.lengths).feed(stream, 99))
    assert set(readings["time"]) == {99}
    rpm = np.pi / 30
    expected = [
        *((0, k, 1, k * 300 * 2 * np.pi / 65536, 2, -k * 0.5e-3, 3, k * 0.25 * rpm, 4, 2.0**63) for k in (0, 1)),
        (5, 65535, 6, -2, 7, 0.5),
        (0, 2, 1, 600 * 2 * np.pi / 65536, 2, -1e-3, 3, 0.5 * rpm, 4, 2.0**63),
    ]
    flat = np.array([value for row in expected for value in row]).reshape(-1, 2)
    np.testing.assert_array_equal(readings["channel"], flat[:, 0])
    np.testing.assert_allclose(readings["value"], flat[:, 1], rtol=1e-15)


def noisy(seed: int) -> tuple[bytes, list[bytes]]:
    """A stream with rubbish in it, and the packets an independent receiver finds there."""
    random = np.random.default_rng(seed)
    stream = bytearray()
    for sequence in range(60):
        packet = bytearray(joint(sequence) if random.integers(2) else encode(0, sequence, random.bytes(10)))
        kind = random.integers(8)
        if kind == 0:
            packet[random.integers(len(packet))] ^= 1 << random.integers(8)  # a bit flipped, perhaps of the delimiter
        elif kind == 1:
            del packet[random.integers(len(packet)) :]
        elif kind == 2:
            packet += random.bytes(random.integers(1, 40))
        elif kind == 3:
            packet = bytearray(bytes(random.integers(1, 256, random.integers(250, 700), dtype=np.uint8)))
        stream += packet
    stream += b"\0"
    return bytes(stream), [p for p in receive_byte_by_byte(stream) if p[0] in LENGTHS and len(p) == LENGTHS[p[0]]]


@pytest.mark.parametrize("seed", range(40))
def test_whole_byte_by_byte_or_in_pieces_the_same_packets_and_counts(seed: int) -> None:
    stream, expected = noisy(seed)
    random = np.random.default_rng(seed)
    cuts = [0, *sorted(random.integers(0, len(stream), 20).tolist()), len(stream)]
    cut = [stream[a:b] for a, b in pairwise(cuts)]
    results = []
    for pieces in ([stream], [bytes([byte]) for byte in stream], cut):
        deframer = Deframer(LENGTHS)
        found = joined([deframer.feed(piece, 0) for piece in pieces])
        assert [p for p in found if p[0] in LENGTHS and len(p) == LENGTHS[p[0]]] == expected
        results.append((found, deframer.counts))
    assert results[0] == results[1] == results[2]
    assert sum(results[0][1].values()) > 0


@pytest.mark.parametrize(
    ("rubbish", "counted"),
    [
        (b"\x05\x01\x00", {"bad_cobs": 1}),
        (b"\x03\x01\x02\x00", {"truncated": 1}),
        (b"\x05\x07\x01\x02\x03\x00", {"truncated": 1}),  # id, sequence and half a checksum
        (joint(5)[:9] + b"\x01" + joint(5)[10:], {"bad_crc": 1}),
        (b"\x01" * 600 + b"\x00", {"oversized": 1}),
        (encode(7, 0, bytes(19)), {"oversized": 1}),
        (b"\x00" * 5, {}),  # idle delimiters
    ],
)
def test_garbage_is_counted_by_cause_and_the_next_packet_is_read(rubbish: bytes, counted: dict[str, int]) -> None:
    deframer = Deframer(LENGTHS)
    found = joined([deframer.feed(joint(1), 0), deframer.feed(rubbish, 0), deframer.feed(joint(2), 0)])
    assert found == receive_byte_by_byte(joint(1) + joint(2))
    assert {cause: count for cause, count in deframer.counts.items() if count} == counted


def test_unknown_ids_and_short_packets_are_counted_by_the_decoder() -> None:
    known = layout([JOINT, BIG])
    decoder, deframer = Decoder(known, [Wanted(0, "JOINT.sequence")]), Deframer(known.lengths)
    odd = [encode(9, 0, b"abc"), encode(9, 5, bytes(200)), encode(9, 9, b""), encode(7, 0, b"\1\2"), encode(7, 77, b"")]
    stream = joint(40) + b"".join(odd) + joint(41)  # what stands where a sequence would is none of theirs
    found = decoder.decode(deframer.feed(stream, 0))
    assert (decoder.counts["frames"], decoder.counts["unmatched"], decoder.counts["truncated"]) == (7, 3, 2)
    assert found["value"].tolist() == [40, 41]
    assert sum(deframer.counts.values()) == 0


@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("counted", ["u8", "u16"])
@pytest.mark.parametrize("kind", ["cobs", "slip", "hdlc"])
def test_the_sequence_is_read_in_its_own_order_whatever_that_of_the_fields(kind: str, order: str, counted: str) -> None:
    framing = Framing.model_validate({"kind": kind, "order": order, "sequence": counted})
    known = layout([JOINT, BIG], framing)
    wanted = [Wanted(0, "JOINT.sequence"), Wanted(1, "JOINT.speed"), Wanted(2, "BIG.sequence"), Wanted(3, "BIG.b")]
    decoder, deframer = Decoder(known, wanted), Deframer(known.lengths, framing)
    number = 0x1234 if counted == "u16" else 0x34
    stream = encode(7, number, struct.pack(JOINT.format, 1, 2, 60.0, 3), framing)
    stream += encode(0, number + 1, struct.pack(BIG.format, -5, 0.125), framing)
    told = decoder.decode(deframer.feed(stream, 1))
    values = dict(zip(told["channel"].tolist(), told["value"].tolist(), strict=True))
    assert values == pytest.approx({0: number, 1: 2.0 * np.pi, 2: number + 1, 3: 0.125})


def test_gaps_in_each_sequence_are_counted_as_lost() -> None:
    deframer = Deframer(LENGTHS)
    sequences = [65530, 65531, 65535, 0, 2, 5, 5, 2, 3]  # 3, 1 and 2 lost; said twice, and once back
    packets = [encode(7, sequence, bytes(18)) for sequence in sequences]
    deframer.feed(b"".join(packets[:4]), 0)
    deframer.feed(encode(0, 1000, bytes(10)) + b"".join(packets[4:]), 0)
    deframer.feed(encode(0, 1002, bytes(10)), 0)
    assert deframer.counts["lost"] == 3 + 3 + 1
    assert deframer.counts["restarted"] == 2


def test_no_flipped_bit_gets_through() -> None:
    """CRC-16 finds all single and double bit errors in so short a packet; COBS must not undo that."""
    packet = joint(77)
    for bit in range(8 * (len(packet) - 1)):
        bad = bytearray(packet)
        bad[bit // 8] ^= 1 << bit % 8
        assert joined([Deframer(LENGTHS).feed(bytes(bad), 0)]) == [], bit


def field(name: str = "a", kind: str = "i16", **changes: object) -> dict[str, object]:
    return {"name": name, "type": kind} | changes


@pytest.mark.parametrize(
    ("packets", "said"),
    [
        ([], "at least 1 item"),
        ([{"name": "P", "id": 256, "fields": [field()]}], "less than or equal to 255"),
        ([{"name": "P", "id": 1, "fields": [field(), field()]}], "every field once, found a more than once"),
        ([{"name": "P", "id": 1, "fields": [field("sequence")]}], 'named "sequence": every packet has one'),
        ([{"name": "P", "id": 1, "fields": [field(kind="i24")]}], "Input should be"),
        ([{"name": "P", "id": 1, "fields": [field(unit="mAq")]}], 'unknown unit "mAq", did you mean "mA"'),
        ([{"name": "P", "id": 1, "fields": [field(invalid=1 << 16)]}], "an invalid marker of 16 bits, found 65536"),
        (
            [{"name": "P", "id": 1, "fields": [field(f"f{i}", "f64") for i in range(32)]}],
            "248 bytes of fields, found 256",
        ),
        ([{"name": n, "id": 1, "fields": [field()]} for n in "PQ"], r"id and name once, found 1 \(Q\) twice"),
        ([{"name": "P", "id": i, "fields": [field()]} for i in (1, 2)], r"id and name once, found 2 \(P\) twice"),
    ],
)
def test_a_bad_table_is_refused(packets: list[dict[str, object]], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        TypeAdapter(AnyDriver).validate_python({"kind": "serial", "port": "/dev/null", "packets": packets})


def test_an_unknown_field_gets_the_nearest_name() -> None:
    driver = TypeAdapter(AnyDriver).validate_python(
        {"kind": "serial", "port": "/dev/null", "packets": [{"name": "P", "id": 1, "fields": [field("position")]}]}
    )
    with pytest.raises(LayoutError, match=r'unknown signal "P\.positon", did you mean "P\.position"\?'):
        driver.open([Wanted(0, "P.positon")])
