"""A tap on a servo bus: Robotis' own SDK as master, the rig's servos, and packets of the two older protocols."""

import os
import threading
import time
import tomllib
import tty
from collections.abc import Iterator

import numpy as np
import pytest

from drivers.base import Wanted
from drivers.serial.servo_bus import ServoBusSettings
from drivers.serial.servo_packets import PacketSplitter, crc16
from drivers.testing import collect
from hil_rig.wire.servo import ServoBank, fast_status, status, sync_read

SERVOS = [{"name": f"servo{one}", "id": one, "model": "xl330"} for one in range(1, 8)]


@pytest.fixture
def line() -> Iterator[tuple[int, str]]:
    """The far end of a tap, and the tap's port."""
    master, slave = os.openpty()
    tty.setraw(master)
    yield master, os.ttyname(slave)
    os.close(master)
    os.close(slave)


def settings(port: str, **more: object) -> ServoBusSettings:
    return ServoBusSettings.model_validate({"kind": "servo_bus", "port": port, "servos": SERVOS} | more)


@pytest.mark.parametrize("fast", [False, True])
def test_what_robotis_sdk_reads_the_tap_reads_too(
    line: tuple[int, str], fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sdk = pytest.importorskip("dynamixel_sdk", reason="dynamixel-sdk is not installed")
    # ms that a USB adapter takes; the line below is a thread, which a busy machine holds up for longer than 16 ms
    monkeypatch.setattr(sdk.port_handler, "LATENCY_TIMER", 60_000)
    far, port = line
    bus, master_port = os.openpty()
    tty.setraw(bus)
    bank = ServoBank(range(1, 8))
    over = threading.Event()

    def wire() -> None:
        """The half-duplex line: the servos hear the master, the master hears the servos, the tap hears both."""
        os.set_blocking(bus, False)
        while not over.wait(0.0002):
            try:
                data = os.read(bus, 4096)
            except BlockingIOError:
                continue
            for request, answers in bank.hear(data):
                os.write(bus, b"".join(answers))
                os.write(far, request + b"".join(answers))

    thread = threading.Thread(target=wire)
    thread.start()
    rng = np.random.default_rng(5)
    counts = rng.integers(-(1 << 31), 1 << 31, (100, 7))
    counts[:10] = 0x00FDFFFF  # bytes that look like a header, and are stuffed
    read = []
    try:
        handler = sdk.PortHandler(os.ttyname(master_port))
        assert handler.openPort()
        group = sdk.GroupSyncRead(handler, sdk.PacketHandler(2.0), 126, 10)
        for one in range(1, 8):
            group.addParam(one)
        with settings(port).open([Wanted(k, f"servo{k + 1}.position") for k in range(7)]) as tap:
            parts = []
            for row in counts:
                for ident, value in enumerate(row.tolist(), 1):
                    bank.registers[ident][132:136] = value.to_bytes(4, "little", signed=True)
                assert (group.fastSyncRead() if fast else group.txRxPacket()) == sdk.COMM_SUCCESS
                read.append([np.int32(np.uint32(group.getData(one, 132, 4) & 0xFFFFFFFF)) for one in range(1, 8)])
                parts.append(tap.read(0.0))
            parts.append(collect(tap, 700 - sum(map(len, parts))))
            counters = tap.counters()
        handler.closePort()
    finally:
        over.set()
        thread.join()
        os.close(bus)
        os.close(master_port)
    assert np.array_equal(read, counts), "the rig's servos speak as the SDK understands"
    readings = np.concatenate(parts)
    got = np.stack([readings["value"][readings["channel"] == k] for k in range(7)], 1)
    assert np.array_equal(got, 2 * np.pi / 4096 * counts - np.pi)
    assert {name: one for name, one in counters.items() if one} == {"frames": 700}
    times = readings["time"].reshape(100, 7)
    assert (times == times[:, :1]).all(), "one instant for all answers to one request"


def test_an_answer_has_the_time_at_which_the_request_before_it_arrived(line: tuple[int, str]) -> None:
    """However late it is; and the next request's answers the next request's."""
    far, port = line
    with settings(port).open([Wanted(0, "servo1.position"), Wanted(1, "servo2.position")]) as tap:
        for _ in range(2):
            before = time.monotonic_ns()
            os.write(far, sync_read(126, 10, [1, 2]))
            assert len(tap.read(0.5)) == 0
            heard = time.monotonic_ns()
            time.sleep(0.05)
            os.write(far, status(1, bytes(10)))
            first = collect(tap, 1)
            time.sleep(0.05)
            os.write(far, status(2, bytes(10)))
            both = np.concatenate([first, collect(tap, 1)])
            assert both["channel"].tolist() == [0, 1]
            assert both["time"][0] == both["time"][1]
            assert before <= both["time"][0] <= heard


def test_a_channel_is_scaled_and_set_off_as_it_was_wanted(line: tuple[int, str]) -> None:
    far, port = line
    wanted = [
        Wanted(0, "servo1.current", scale=0.3, offset=1.25),
        Wanted(4, "servo1.position", scale=-2.0, offset=-0.5),
    ]
    current, position = (-700).to_bytes(2, "little", signed=True), (1024).to_bytes(4, "little")
    with settings(port).open(wanted) as tap:
        os.write(far, sync_read(126, 10, [1]) + status(1, current + bytes(4) + position))
        told = collect(tap, 2)
    by_channel = dict(zip(told["channel"].tolist(), told["value"].tolist(), strict=True))
    assert by_channel == pytest.approx({0: 0.3 * -0.7 + 1.25, 4: -2.0 * (-np.pi / 2) - 0.5})


def test_an_answer_of_another_length_than_was_asked_for_is_none(line: tuple[int, str]) -> None:
    """Its registers would be read from the wrong places; the right one may come yet."""
    far, port = line
    with settings(port).open([Wanted(0, "servo1.position"), Wanted(1, "servo2.position")]) as tap:
        os.write(far, sync_read(126, 10, [1, 2]) + status(1, bytes(9)) + status(1, bytes(12)) + status(2, bytes(10)))
        told = [*collect(tap, 1)["channel"].tolist()]
        os.write(far, status(1, bytes(10)))
        told += collect(tap, 1)["channel"].tolist()
        counters = tap.counters()
    assert told == [1, 0]
    assert (counters["unmatched"], counters["frames"], counters["unanswered"]) == (2, 2, 0)


def test_what_is_read_of_a_servo_reaches_from_its_first_wanted_register_to_the_end_of_its_last() -> None:
    wanted = [Wanted(0, "servo2.position"), Wanted(1, "servo2.current"), Wanted(2, "servo5.temperature")]
    found = settings("/dev/ttyX").ranges(wanted)
    assert [tuple(one) for one in found] == [(2, 126, 10), (5, 146, 1)]
    assert [tuple(one) for one in settings("/dev/ttyX").ranges(wanted[::-1])] == [(2, 126, 10), (5, 146, 1)]


def test_losses_have_their_names(line: tuple[int, str]) -> None:
    far, port = line
    good = status(1, bytes(10))
    broken = bytearray(status(2, bytes(10)))
    broken[9] ^= 1
    with settings(port).open([Wanted(0, "servo1.position"), Wanted(1, "servo2.position")]) as tap:
        os.write(far, b"\x01\x02" + good)  # without a request before it
        os.write(far, sync_read(126, 10, [1, 2]) + good + bytes(broken))  # the second one is disturbed
        os.write(far, sync_read(126, 10, [1, 2]) + status(1, bytes(10), error=0x80) + status(2, bytes(10)))
        values = collect(tap, 3)
        counters = tap.counters()
    assert values["channel"].tolist() == [0, 0, 1]
    assert counters["unmatched"] == 1
    assert counters["bad_crc"] == 1
    assert counters["unanswered"] == 1
    assert counters["device_errors"] == 1
    assert counters["frames"] == 3
    assert counters["garbage_bytes"] == 2 + len(broken) - 4


def test_a_fast_answer_is_used_whole_or_not_at_all(line: tuple[int, str]) -> None:
    far, port = line
    answer = fast_status([(1, bytes(10)), (2, bytes(10))])
    with settings(port).open([Wanted(0, "servo1.position"), Wanted(1, "servo2.position")]) as tap:
        os.write(far, answer)  # without a request before it
        os.write(far, sync_read(126, 10, [1, 2], fast=True) + answer + answer)
        first = collect(tap, 2)
        os.write(far, sync_read(126, 10, [2, 1], fast=True) + answer)  # in another order
        os.write(far, sync_read(126, 10, [1, 2], fast=True) + fast_status([(1, bytes(10)), (2, bytes(10))], error=0x80))
        second = collect(tap, 2)
        counters = {name: one for name, one in tap.counters().items() if one}
    assert [one["channel"].tolist() for one in (first, second)] == [[0, 1], [0, 1]]
    assert counters == {"frames": 4, "unmatched": 3, "unanswered": 2, "device_errors": 2}


def old(ident: int, code: int, body: bytes) -> bytes:
    """A packet of protocol 1.0, by the makers' manual: FF FF ID LENGTH CODE … and the complement of the sum."""
    inside = bytes([ident, len(body) + 2, code]) + body
    return b"\xff\xff" + inside + bytes([~sum(inside) & 0xFF])


def test_a_packet_of_the_manual_of_protocol_1() -> None:
    assert old(1, 0x02, b"\x2b\x01") == bytes.fromhex("FFFF0104022B01CC"), "Robotis' example: read the temperature"
    assert crc16(bytes.fromhex("FFFFFD00010700022B010400")[:0] + b"123456789") == 0xFEE8, "CRC-16/UMTS"


@pytest.mark.parametrize(
    ("protocol", "model", "address", "data", "signal", "value"),
    [
        ("dynamixel1", "mx", 36, (3000).to_bytes(2, "little"), "position", 3000 * 2 * np.pi / 4096 - np.pi),
        ("feetech", "sts", 56, (100 | 1 << 15).to_bytes(2, "little"), "position", -100 * 2 * np.pi / 4096 - np.pi),
        ("feetech", "sts", 69, (200 | 1 << 15).to_bytes(2, "little"), "current", -200 * 6.5e-3),
    ],
)
def test_older_protocols(
    line: tuple[int, str], protocol: str, model: str, address: int, data: bytes, signal: str, value: float
) -> None:
    far, port = line
    servos = [{"name": "s", "id": 4, "model": model}]
    request = old(4, 0x02, bytes([address, len(data)]))
    with settings(port, protocol=protocol, servos=servos).open([Wanted(0, f"s.{signal}")]) as tap:
        os.write(far, request)  # not answered
        os.write(far, request + old(4, 0, data))
        readings = collect(tap, 1)
        assert (tap.counters()["frames"], tap.counters()["unanswered"]) == (1, 1)
    assert readings["value"].tolist() == [pytest.approx(value, abs=1e-12)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_packets_may_be_cut_anywhere(size: int) -> None:
    stream = b"\xff" + sync_read(126, 10, [1, 2]) + b"\xff\xff" + status(1, b"\xff\xff\xfd\x00" * 2) + b"\xff\xfd"
    splitter = PacketSplitter("dynamixel2")
    found = [one for at in range(0, len(stream), size) for one in splitter.feed(stream[at : at + size])]
    assert [(one.id, one.code) for one in found] == [(0xFE, 0x82), (1, 0x55)]
    assert found[1].body == b"\0" + b"\xff\xff\xfd\x00" * 2


def test_nothing_is_ever_sent(line: tuple[int, str]) -> None:
    far, port = line
    with settings(port).open([Wanted(0, "servo1.position")]) as tap:
        os.write(far, sync_read(126, 10, [1]) + status(1, bytes(10)))
        collect(tap, 1)
        os.set_blocking(far, False)
        with pytest.raises(BlockingIOError):
            os.read(far, 100)


def test_a_probe_says_what_each_servo_is_asked_for_and_proposes_it(line: tuple[int, str]) -> None:
    far, port = line
    over, asked = threading.Event(), [0]

    def master() -> None:
        while not over.wait(0.01):
            os.write(far, sync_read(126, 10, [2, 7]))
            asked[0] += 1

    thread = threading.Thread(target=master)
    thread.start()
    try:
        times = list[int]()
        while len(times) != 2 or min(times) < 5:  # a master that got no processor: once more
            found = ServoBusSettings.probe(port, 0.4, {"baudrate": "57600"})
            times = [int(said.split(", ")[1].split()[0]) for said in found.said if "times a second" in said]
    finally:
        over.set()
        thread.join()
    assert found.said == tuple(f"servo {one}: registers 126 to 135, {times[0]} times a second" for one in (2, 7))
    assert 1 <= times[0] * 0.4 <= asked[0] + 1
    told = tomllib.loads(found.proposal)
    servos = [{"name": f"servo{one}", "id": one, "model": "xl330"} for one in (2, 7)]
    assert told["drivers"]["servos"] == {
        "kind": "servo_bus", "port": port, "baudrate": 57600, "protocol": "dynamixel2", "servos": servos,
    }  # fmt: skip
    assert told["joints"].keys() == {"servo2", "servo7"}
    assert told["joints"]["servo7"]["rate"] == times[0]
    assert told["joints"]["servo7"]["channels"]["position"] == {"signal": "servos.servo7.position"}


def test_a_probe_of_a_quiet_line_says_so_and_proposes_nothing(line: tuple[int, str]) -> None:
    found = ServoBusSettings.probe(line[1], 0.05, {})
    assert found.said == ("no request for registers within 0.05 s: is the baud rate right, the master on?",)
    assert not found.proposal
