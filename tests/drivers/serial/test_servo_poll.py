"""Polling of a servo bus: the rig's servos answer on a pseudo-terminal; no instruction but reads ever leaves."""

import ast
import os
import struct
import threading
import time
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drivers.serial
from daq.config.load import load
from daq.config.words import ConfigError
from drivers.base import LayoutError, Wanted
from drivers.serial.servo_bus import ServoBus, ServoBusSettings
from drivers.serial.servo_packets import Protocol, Range, read_packet
from drivers.serial.servo_poll import LISTEN_FIRST
from drivers.testing import collect
from hil_rig.wire.servo import ServoBank, old_packet, status, sync_read

PING, READ, SYNC_READ, FAST_SYNC_READ = 0x01, 0x02, 0x82, 0x8A
READS = {PING, READ, SYNC_READ, FAST_SYNC_READ}
MODEL = {"dynamixel2": "xl330", "dynamixel1": "mx", "feetech": "sts"}
PLACE = {"dynamixel2": (132, 4, "<i"), "dynamixel1": (36, 2, "<H"), "feetech": (56, 2, "<H")}  # of positions
TURN = 2 * np.pi / 4096
LATE = {"skipped", "unanswered", "unmatched"}  # what a busy machine makes of servos that answer late
Change = Callable[[bytes, list[bytes]], bytes]


class Line:
    """A bus on a pseudo-terminal with servos 1 to 3. `sent`: every byte that the driver has sent."""

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol
        self.bank = ServoBank(range(1, 4), old=protocol != "dynamixel2")
        self.change: Change = lambda _request, answers: b"".join(answers)
        self.sent = b""
        self.master, self.slave = os.openpty()
        tty.setraw(self.master)
        os.set_blocking(self.master, False)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._answer)
        self._thread.start()

    def _answer(self) -> None:
        while not self._over.wait(0.0002):
            try:
                data = os.read(self.master, 4096)
            except BlockingIOError:
                continue
            self.sent += data
            for request, answers in self.bank.hear(data):
                os.write(self.master, self.change(request, answers))

    def set(self, servo: int, counts: int) -> None:
        address, size, form = PLACE[self.protocol]
        self.bank.registers[servo][address : address + size] = struct.pack(form, counts)

    def settings(self, **more: object) -> ServoBusSettings:
        servos = [{"name": f"servo{one}", "id": one, "model": MODEL[self.protocol]} for one in range(1, 4)]
        given = {"kind": "servo_bus", "port": os.ttyname(self.slave), "servos": servos, "protocol": self.protocol}
        return ServoBusSettings.model_validate(given | {"poll": True} | more)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture(params=["dynamixel2", "dynamixel1", "feetech"])
def line(request: pytest.FixtureRequest) -> Iterator[Line]:
    made = Line(request.param)
    yield made
    made.close()


@pytest.fixture
def new_line() -> Iterator[Line]:
    made = Line("dynamixel2")
    yield made
    made.close()


POSITIONS = [Wanted(one, f"servo{one}.position") for one in range(1, 4)]


def instructions(sent: bytes, protocol: str) -> set[int]:
    """Instructions of packets that stand after each other without a byte between them, by the makers' manuals."""
    found, at = set(), 0
    while at < len(sent):
        if protocol == "dynamixel2":
            assert sent[at : at + 4] == b"\xff\xff\xfd\x00", f"a byte that belongs to no packet, at {at}"
            found.add(sent[at + 7])
            at += 7 + int.from_bytes(sent[at + 5 : at + 7], "little")
        else:
            assert sent[at : at + 2] == b"\xff\xff", f"a byte that belongs to no packet, at {at}"
            found.add(sent[at + 4])
            at += 4 + sent[at + 3]
    assert at == len(sent), "the last packet breaks off"
    return found


def nonzero(bus: ServoBus) -> dict[str, int]:
    return {cause: count for cause, count in bus.counters().items() if count}


def test_registers_come_out_at_the_rate_that_was_asked_for(line: Line) -> None:
    with line.settings(poll_rate=50.0).open(POSITIONS) as bus:
        for servo in (1, 2, 3):
            line.set(servo, 1000 * servo)
        readings = collect(bus, 60)
        collect(bus, 3)  # turns that were left out before the last one are counted at the next
        counters = bus.counters()
        assert {"frames"} | LATE >= nonzero(bus).keys()
    assert len(readings) == 60
    left_out = counters["skipped"] + counters["unanswered"]  # turns, on a busy machine
    for servo in (1, 2, 3):
        mine = readings[readings["channel"] == servo]
        assert set(mine["value"]) == {1000 * servo * TURN - np.pi}
        steps = np.diff(mine["time"]) * 1e-9
        assert steps.sum() < 0.02 * (len(steps) + left_out + 2), "nor more seldom, but for the turns that it left out"
        assert steps.mean() > 0.019, "it never asks more often than it was told"
    if line.protocol != "dynamixel1":  # which is read servo by servo
        _, answers = np.unique(readings["time"], return_counts=True)
        assert answers.max() == 3
        assert np.median(answers) == 3, "one instant for all answers to one request"
    assert line.bank.refused == []


def test_nothing_but_reads_ever_leaves_whatever_the_line_answers(line: Line) -> None:
    """Silence, errors, answers of others, cut and disturbed packets, rubbish, echoes: the driver only reads on."""
    rng = np.random.default_rng(7)
    old = line.protocol != "dynamixel2"

    def disturbed(request: bytes, answers: list[bytes]) -> bytes:
        whole = b"".join(answers)
        error = old_packet(1, 0x20, b"\0\0") if old else status(1, bytes(10), error=0x84)
        choices = [whole, b"", whole[:-3], rng.bytes(40), error, request + whole, whole + whole]
        return choices[rng.integers(len(choices))]

    line.change = disturbed
    wanted = [Wanted(k, name) for k, name in enumerate(line.settings().signals())]
    with line.settings(poll_rate=200.0, baudrate=4_000_000).open(wanted) as bus:
        end = time.monotonic() + 60.0
        while min(bus.counters()["frames"], bus.counters()["unanswered"]) < 30 and time.monotonic() < end:
            bus.read(0.05)
        counters = bus.counters()
    time.sleep(0.01)
    assert min(counters["frames"], counters["unanswered"]) >= 30
    assert line.bank.refused == [], "instructions that are no reads"
    assert instructions(line.sent, line.protocol) <= READS


registers = st.tuples(st.integers(0, 200), st.integers(1, 50))
idents = st.lists(st.integers(0, 253), min_size=1, max_size=20, unique=True)


@settings(deadline=None)
@given(registers, idents, st.sampled_from(["dynamixel2", "dynamixel1", "feetech"]), st.booleans())
def test_the_one_function_that_makes_a_packet_makes_reads(
    place: tuple[int, int], servos: list[int], protocol: Protocol, fast: bool
) -> None:
    ranges = [Range(one, *place) for one in (servos[:1] if protocol == "dynamixel1" else servos)]
    if fast and protocol != "dynamixel2":
        with pytest.raises(ValueError, match="expected a fast read in protocol dynamixel2 only"):
            read_packet(protocol, ranges, fast)
        return
    of_several = FAST_SYNC_READ if fast else SYNC_READ
    assert instructions(read_packet(protocol, ranges, fast), protocol) == {of_several if len(ranges) > 1 else READ}


def test_it_makes_the_packets_of_robotis_sdk() -> None:
    sdk = pytest.importorskip("dynamixel_sdk", reason="dynamixel-sdk is not installed")
    master, slave = os.openpty()
    tty.setraw(master)
    port = sdk.PortHandler(os.ttyname(slave))
    try:
        assert port.openPort()
        sdk.PacketHandler(2.0).syncReadTx(port, 126, 10, [1, 2, 7], 3, False)
        assert os.read(master, 100) == read_packet("dynamixel2", [Range(one, 126, 10) for one in (1, 2, 7)])
        port.is_using = False
        sdk.PacketHandler(2.0).syncReadTx(port, 126, 10, [1, 2, 7], 3, True)
        assert os.read(master, 100) == read_packet("dynamixel2", [Range(one, 126, 10) for one in (1, 2, 7)], fast=True)
        port.is_using = False
        sdk.PacketHandler(2.0).readTx(port, 5, 132, 4)
        assert os.read(master, 100) == read_packet("dynamixel2", [Range(5, 132, 4)])
        port.is_using = False
        sdk.PacketHandler(1.0).readTx(port, 5, 36, 2)
        assert os.read(master, 100) == read_packet("dynamixel1", [Range(5, 36, 2)])
    finally:
        port.closePort()
        os.close(master)
        os.close(slave)


def test_only_one_line_of_the_code_writes_on_a_serial_line_and_it_writes_such_a_packet() -> None:
    assert drivers.serial.__file__ is not None
    calls = [
        (file.name, ast.unparse(node))
        for file in sorted(Path(drivers.serial.__file__).parent.glob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if (isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("write", "writelines", "send"))
        or (isinstance(node, ast.Call) and ast.unparse(node.func) == "ReadRequest")
    ]  # fmt: skip
    made = ("servo_poll.py", "ReadRequest(read_packet(protocol, group, fast), tuple(group), fast and len(group) > 1)")
    assert calls == [("servo_bus.py", "line.write(request.packet)"), made]


def read_packet_of_a_turn(line: Line) -> bytes:
    """What is sent in a turn that asks servos 1 to 3 for their positions."""
    address, size, _ = PLACE[line.protocol]
    asked = [Range(one, address, size) for one in (1, 2, 3)]
    if line.protocol == "dynamixel1":
        return b"".join(read_packet(line.protocol, [one]) for one in asked)
    return read_packet(line.protocol, asked)


def test_a_servo_that_does_not_answer_is_counted_and_the_others_go_on(line: Line) -> None:
    del line.bank.registers[2]
    with line.settings().open(POSITIONS) as bus:
        readings = collect(bus, 20)
        counters = nonzero(bus)
    sent = -1
    while sent != len(line.sent):  # what was asked last may still be on its way
        sent = len(line.sent)
        time.sleep(0.2)
    turns = sent / len(read_packet_of_a_turn(line))
    assert set(readings["channel"]) == {1, 3}
    assert counters.keys() - LATE == {"frames"}
    assert counters["frames"] / 2 - 1 <= counters["unanswered"]
    # each of the three is one or the other in each turn, but in those that are not over yet
    assert 3 * turns - 9 <= counters["frames"] + counters["unanswered"] <= 3 * turns


def test_what_the_bus_echoes_is_no_other_master(line: Line) -> None:
    line.change = lambda request, answers: request + b"".join(answers)
    with line.settings().open(POSITIONS) as bus:
        assert len(collect(bus, 30)) >= 30
        assert nonzero(bus).keys() - LATE == {"frames"}


def test_an_echo_that_comes_behind_the_next_request_is_no_other_master(line: Line) -> None:
    """What an adapter hands over late: of every third request the echo and the answers come with those of the next."""
    kept, number = b"", 0

    def late(request: bytes, answers: list[bytes]) -> bytes:
        nonlocal kept, number
        number += 1
        whole = kept + request + b"".join(answers)
        kept = whole if number % 3 == 0 else b""
        return b"" if kept else whole

    line.change = late
    with line.settings().open(POSITIONS) as bus:
        assert len(collect(bus, 60)) >= 60
        counters = nonzero(bus)
    assert counters.keys() - LATE == {"frames"}
    assert counters["unanswered"] > 0


def test_a_request_like_its_own_is_another_master_where_the_line_has_no_echo(line: Line) -> None:
    with line.settings(poll_rate=20.0).open(POSITIONS) as bus:
        collect(bus, 15)
        assert not bus.counters()["other_master"]
        size = {"dynamixel2": 17, "feetech": 11}.get(line.protocol, 8)
        os.write(line.master, line.sent[:size])
        end = time.monotonic() + 60
        while not bus.counters()["other_master"] and time.monotonic() < end:
            bus.read(0.01)
        assert bus.counters()["other_master"] == 1


def test_polling_ends_as_soon_as_another_master_is_heard(new_line: Line) -> None:
    with new_line.settings().open(POSITIONS) as bus:
        collect(bus, 9)
        os.write(new_line.master, sync_read(132, 4, [1]) + status(1, struct.pack("<i", 2048)))
        end = time.monotonic() + 60
        while not bus.counters()["other_master"] and time.monotonic() < end:
            bus.read(0.01)
        sent = -1
        while sent != len(new_line.sent):  # what was asked before may still be on its way
            sent = len(new_line.sent)
            time.sleep(0.2)
        os.write(new_line.master, sync_read(132, 4, [1, 2]) + status(1, bytes(4)) + status(2, bytes(4)))
        readings = collect(bus, 2)
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            bus.read(0.05)
        assert bus.counters()["other_master"] >= 1
    assert set(readings["value"]) <= {0.0, -np.pi}, "it goes on as a tap"
    assert len(new_line.sent) == sent, "it has sent nothing since"


def test_a_master_that_was_there_before_is_left_alone(new_line: Line) -> None:
    with new_line.settings().open(POSITIONS) as bus:
        end, patience = time.monotonic() + 3 * LISTEN_FIRST, time.monotonic() + 60
        while time.monotonic() < end or min(bus.counters()[one] for one in ("other_master", "frames")) <= 5:
            assert time.monotonic() < patience
            os.write(new_line.master, sync_read(132, 4, [1]) + status(1, bytes(4)))
            bus.read(0.02)
    assert new_line.sent == b""


def test_signals_of_one_servo_are_read_together_and_only_those_that_are_wanted(new_line: Line) -> None:
    wanted = [Wanted(0, "servo1.current"), Wanted(1, "servo1.position"), Wanted(2, "servo3.temperature")]
    new_line.bank.registers[3][146] = 41
    with new_line.settings().open(wanted) as bus:
        readings = collect(bus, 9)
    assert set(readings["value"][readings["channel"] == 2]) == {41.0}
    assert {read_packet("dynamixel2", [Range(1, 126, 10)]), read_packet("dynamixel2", [Range(3, 146, 1)])} == {
        new_line.sent[:14], new_line.sent[14:28]
    }  # fmt: skip


def test_a_rate_that_the_bus_cannot_carry_is_refused(new_line: Line, tmp_path: Path) -> None:
    """7 servos × 10 bytes: 164 bytes or so of 10 bits; the makers' arithmetic gives 595 Hz at 1 Mbaud."""
    servos = [{"name": f"s{one}", "id": one, "model": "xl330"} for one in range(1, 8)]
    wanted = [Wanted(k, f"s{1 + k // 2}.{('position', 'current')[k % 2]}") for k in range(14)]
    fast = new_line.settings(servos=servos, baudrate=1_000_000, poll_rate=1000.0)
    with pytest.raises(LayoutError, match=r"poll_rate = 1000 Hz is too fast: .* ms at 1000000 bit/s: expected at most"):
        fast.check(wanted)
    with pytest.raises(LayoutError, match="expected at most"):
        fast.open(wanted)
    bits = 10 * (14 + 7 + 7 * (11 + 10))  # request with seven ids, and seven answers
    limit = 1_000_000 / bits
    new_line.settings(servos=servos, poll_rate=0.99 * limit).check(wanted)
    with pytest.raises(LayoutError):
        new_line.settings(servos=servos, poll_rate=1.01 * limit).check(wanted)
    config = tmp_path / "servo.toml"
    config.write_text(ServoBusSettings.example.replace("# poll = true", "poll = true\npoll_rate = 9000.0"))
    with pytest.raises(ConfigError, match="poll_rate = 9000 Hz is too fast"):
        load(config)


def test_fast_polls_are_one_request_and_one_answer(new_line: Line) -> None:
    for servo, count in ((1, 0x00FDFFFF), (2, -5), (3, 4095)):  # the first looks like a head, and is not stuffed
        new_line.set(servo, count)
    with new_line.settings(poll_rate=50.0, poll_fast=True).open(POSITIONS) as bus:
        readings = collect(bus, 30)
        assert {"frames"} | LATE >= nonzero(bus).keys()
    assert instructions(new_line.sent, "dynamixel2") == {FAST_SYNC_READ}
    assert new_line.bank.refused == []
    together = readings[:30].reshape(10, 3)
    assert (together["time"] == together["time"][:, :1]).all()
    wanted = [count * TURN - np.pi for count in (0x00FDFFFF, -5, 4095)]
    assert (together["value"] == wanted).all()


def test_a_fast_answer_that_breaks_off_is_counted_and_the_next_is_read(new_line: Line) -> None:
    """A servo that is not there takes the answers of all behind it along; nothing of such an answer is used."""
    kept = new_line.bank.registers.pop(2)
    with new_line.settings(poll_rate=50.0, poll_fast=True).open(POSITIONS) as bus:
        end = time.monotonic() + 60
        while bus.counters()["unanswered"] < 9 and time.monotonic() < end:
            assert len(bus.read(0.05)) == 0
        lost = bus.counters()["unanswered"]
        new_line.bank.registers[2] = kept
        assert len(collect(bus, 30)) >= 30
        counters = bus.counters()
    assert lost >= 9
    assert lost % 3 == 0, "all three of each answer"
    assert counters["other_master"] == 0
    assert instructions(new_line.sent, "dynamixel2") == {FAST_SYNC_READ}


def test_servos_that_do_not_know_fast_reads_are_unanswered(new_line: Line) -> None:
    new_line.bank.fast = False
    with new_line.settings(poll_fast=True).open(POSITIONS) as bus:
        end = time.monotonic() + 60
        while bus.counters()["unanswered"] < 9 and time.monotonic() < end:
            assert len(bus.read(0.05)) == 0
        assert nonzero(bus).keys() - {"skipped"} == {"unanswered"}
    assert instructions(new_line.sent, "dynamixel2") == {FAST_SYNC_READ}


def test_fast_polls_are_of_protocol_2_and_may_be_faster(new_line: Line) -> None:
    """7 servos × 10 bytes: one answer of 8 bytes and 14 a servo, in the place of 21 a servo."""
    with pytest.raises(ValueError, match="poll_fast = true needs protocol"):
        new_line.settings(protocol="feetech", poll_fast=True)
    servos = [{"name": f"s{one}", "id": one, "model": "xl330"} for one in range(1, 8)]
    wanted = [Wanted(k, f"s{1 + k // 2}.{('position', 'current')[k % 2]}") for k in range(14)]
    limit = 1_000_000 / (10 * (14 + 7 + 8 + 7 * (10 + 4)))
    new_line.settings(servos=servos, poll_fast=True, poll_rate=0.99 * limit).check(wanted)
    with pytest.raises(LayoutError):
        new_line.settings(servos=servos, poll_fast=True, poll_rate=1.01 * limit).check(wanted)


def test_what_it_sends_is_said(new_line: Line) -> None:
    assert new_line.settings(poll=False).sends() == ""
    assert new_line.settings(poll_rate=50.0).sends() == "reads of registers, 50 times a second (poll = true)"
    defaults = {"kind": "servo_bus", "port": "/dev/x", "servos": [{"name": "a", "id": 1, "model": "mx"}]}
    assert not ServoBusSettings.model_validate(defaults).poll, "a tap is the default"
