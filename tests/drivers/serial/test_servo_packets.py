"""Packets of servo buses: what a request asks for, what can be no request or no packet, by the makers' manuals."""

import struct

import pytest

from drivers.serial.servo_packets import (
    BROADCAST,
    BULK_READ,
    FAST_BULK_READ,
    FAST_SYNC_READ,
    LONGEST,
    READ,
    STATUS,
    SYNC_READ,
    PacketSplitter,
    Protocol,
    Range,
    ServoPacket,
    asked,
    read_packet,
    separated,
)  # fmt: skip
from hil_rig.wire.servo import fast_status, old_packet, packet

WRITE, PING, ALL = 0x03, 0x01, BROADCAST


@pytest.mark.parametrize(
    ("protocol", "ident", "code", "body", "wanted"),
    [
        ("dynamixel2", 3, READ, struct.pack("<HH", 132, 4), [Range(3, 132, 4)]),
        ("dynamixel2", 3, READ, struct.pack("<HHB", 132, 4, 0), []),
        ("dynamixel2", ALL, SYNC_READ, struct.pack("<HHBB", 300, 10, 1, 7), [Range(1, 300, 10), Range(7, 300, 10)]),
        ("dynamixel2", ALL, SYNC_READ, struct.pack("<HH", 300, 10), []),
        ("dynamixel2", ALL, BULK_READ, b"\x01\x2c\x01\x02\0\x07\x92\0\x01\0", [Range(1, 300, 2), Range(7, 146, 1)]),
        ("dynamixel2", ALL, BULK_READ, struct.pack("<BHHB", 1, 300, 2, 7), []),
        ("dynamixel2", ALL, FAST_SYNC_READ, struct.pack("<HHB", 300, 10, 7), [Range(7, 300, 10)]),
        ("dynamixel2", ALL, FAST_BULK_READ, b"\x01\x2c\x01\x02\0", [Range(1, 300, 2)]),
        ("dynamixel1", ALL, FAST_SYNC_READ, struct.pack("<HHB", 300, 10, 7), []),
        ("dynamixel2", 3, STATUS, struct.pack("<HH", 132, 4), None),
        ("dynamixel2", 3, WRITE, struct.pack("<HH", 132, 4), []),
        ("dynamixel2", 3, PING, b"", []),
        ("dynamixel1", 3, READ, b"\x24\x02", [Range(3, 0x24, 2)]),
        ("dynamixel1", 3, READ, b"\x24", None),
        ("dynamixel1", ALL, BULK_READ, b"\0\x02\x01\x1e\x03\x05\x24", [Range(1, 30, 2), Range(5, 36, 3)]),
        ("dynamixel1", ALL, BULK_READ, b"\0\x02\x01\x1e\x03", []),
        ("dynamixel1", 3, BULK_READ, b"\0\x02\x01\x1e", None),
        ("dynamixel1", 3, 0, b"\x10\x20", None),
        ("feetech", ALL, SYNC_READ, b"\x38\x02\x01\x04", [Range(1, 0x38, 2), Range(4, 0x38, 2)]),
        ("feetech", ALL, SYNC_READ, b"\x38\x02", []),
        ("feetech", 4, SYNC_READ, b"\x38\x02\x01", None),
    ],
)  # fmt: skip
def test_what_a_request_asks_for_and_what_may_be_an_answer(
    protocol: Protocol, ident: int, code: int, body: bytes, wanted: list[Range] | None
) -> None:
    """[]: it reads nothing; None: it may be an answer, which has no instruction in the older protocols."""
    assert asked(ServoPacket(ident, code, body), protocol) == wanted


@pytest.mark.parametrize("protocol", ["dynamixel2", "dynamixel1", "feetech"])
def test_what_is_read_together_has_the_same_registers(protocol: Protocol) -> None:
    for ranges in ([], [Range(1, 36, 2), Range(2, 36, 4)], [Range(1, 36, 2), Range(2, 38, 2)]):
        with pytest.raises(ValueError, match="expected the same registers of all servos that are asked together"):
            read_packet(protocol, ranges)
    two = [Range(1, 36, 2), Range(2, 36, 2)]
    if protocol == "dynamixel1":  # it has no sync read
        with pytest.raises(ValueError, match="expected the same registers"):
            read_packet(protocol, two)
        two = two[:1]
    for ranges in (two[:1], two):
        [request] = PacketSplitter(protocol).feed(read_packet(protocol, ranges))
        assert asked(request, protocol) == ranges
        assert request.id == (1 if len(ranges) == 1 else BROADCAST)


# the examples of Robotis' e-Manual (dxl/protocol2): present position of 3, 7 and 4; position, PWM and temperature
FAST_SYNC = bytes.fromhex("FFFFFD00FE1900550003A6000000840800071F08000016CA0004FF030000D19E")
FAST_BULK = bytes.fromhex("FFFFFD00FE1400550003A600000067A40007A501247400041FD9C1")


def test_fast_reads_of_the_manual() -> None:
    ranges = [Range(one, 132, 4) for one in (3, 7, 4)]
    assert read_packet("dynamixel2", ranges, fast=True) == bytes.fromhex("FFFFFD00FE0A008A8400040003070420F2")
    [whole] = PacketSplitter("dynamixel2").feed(FAST_SYNC)
    numbers = [struct.pack("<xi", number) for number in (166, 2079, 1023)]
    assert separated(whole, ranges) == [
        ServoPacket(one, STATUS, data) for one, data in zip((3, 7, 4), numbers, strict=True)
    ]
    [whole] = PacketSplitter("dynamixel2").feed(FAST_BULK)
    ranges = [Range(3, 132, 4), Range(7, 124, 2), Range(4, 146, 1)]
    bodies = [b"\0\xa6\0\0\0", b"\0\xa5\x01", b"\0\x1f"]
    assert separated(whole, ranges) == [
        ServoPacket(one, STATUS, body) for one, body in zip((3, 7, 4), bodies, strict=True)
    ]


@pytest.mark.parametrize(
    "ranges",
    [
        [],
        [Range(3, 132, 4), Range(7, 132, 4)],
        [Range(3, 132, 4), Range(7, 132, 4), Range(4, 132, 4), Range(5, 132, 4)],
        [Range(3, 132, 4), Range(4, 132, 4), Range(7, 132, 4)],
        [Range(3, 132, 4), Range(7, 132, 4), Range(4, 132, 3)],
        [Range(3, 132, 4), Range(7, 132, 3), Range(4, 132, 5)],
    ],
)
def test_a_fast_answer_that_does_not_fit_its_request_is_none(ranges: list[Range]) -> None:
    [whole] = PacketSplitter("dynamixel2").feed(FAST_SYNC)
    assert separated(whole, ranges) is None


def test_only_fast_answers_are_not_stuffed() -> None:
    data = b"\xff\xff\xfd\xfd\x01"
    [mine, fast] = PacketSplitter("dynamixel2").feed(packet(3, STATUS, b"\0" + data) + fast_status([(3, data)]))
    assert mine == ServoPacket(3, STATUS, b"\0" + data)
    assert separated(fast, [Range(3, 0, 5)]) == [mine]


def test_a_head_inside_a_request_is_stuffed() -> None:
    """Registers FF FF FD are no head, and three bytes become four, in the length, too."""
    request = read_packet("dynamixel2", [Range(1, 0xFFFF, 0x00FD)])
    assert request[5:12] == b"\x08\0\x02\xff\xff\xfd\xfd"
    assert request == packet(1, READ, b"\xff\xff\xfd\0")


@pytest.mark.parametrize(("body", "counts"), [(LONGEST - 10, (1, 0, 0)), (LONGEST - 9, (0, LONGEST + 1, 0))])
def test_a_packet_that_is_too_long_is_none(body: int, counts: tuple[int, int, int]) -> None:
    splitter = PacketSplitter("dynamixel2")
    found = list(splitter.feed(packet(1, STATUS, bytes(body))))
    assert (len(found), splitter.counts["garbage_bytes"], splitter.counts["bad_crc"]) == counts


@pytest.mark.parametrize("protocol", ["dynamixel2", "dynamixel1"])
def test_rubbish_and_wrong_checksums_are_counted_and_what_follows_is_found(protocol: Protocol) -> None:
    made = packet if protocol == "dynamixel2" else old_packet
    good, head = made(7, 0x55, b"\x01\x02"), 4 if protocol == "dynamixel2" else 2
    wrong = bytearray(made(7, 0x55, b"\x01\x03"))
    wrong[-2] ^= 0x40
    none = good[:head] + b"\x07\x01" + b"\0" * (protocol == "dynamixel2")  # shorter than any packet
    stream = b"\x09\x08" + good + bytes(wrong) + none + good + b"\xff"
    for cut in (len(stream), 1, 5):
        splitter = PacketSplitter(protocol)
        found = [one for at in range(0, len(stream), cut) for one in splitter.feed(stream[at : at + cut])]
        assert found == [ServoPacket(7, 0x55, b"\x01\x02")] * 2
        assert splitter.counts == {"bad_crc": 1, "garbage_bytes": 2 + len(wrong) - head + len(none)}


def test_three_ff_are_no_head_of_protocol_1() -> None:
    """An id FF is none: the head begins a byte later."""
    splitter = PacketSplitter("dynamixel1")
    assert list(splitter.feed(b"\xff" + old_packet(1, 0, b"\x05"))) == [ServoPacket(1, 0, b"\x05")]
    assert splitter.counts == {"bad_crc": 0, "garbage_bytes": 1}
