"""The device's end of real wires, listened to by other programs' libraries: python-can, pyserial."""

import os
import struct
import termios
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import can
import numpy as np
import pytest
import serial
from crccheck.crc import Crc16Ibm3740

from hil_rig.messages import Message, MessageField, MessageFrame, frames
from hil_rig.plants.base import RigError
from hil_rig.wire.base import Wire
from hil_rig.wire.can import SlcanWire
from hil_rig.wire.network.multicast import MulticastWire
from hil_rig.wire.pty import Pty
from hil_rig.wire.serial import Serial

STATE = Message("STATE", (MessageField("position", 32, "rad", 1e-6), MessageField("torque", 16, "N·m", 1e-2)))
VALUES = np.column_stack((np.linspace(-2, 2, 300), np.linspace(100, -100, 300)))
EXPECTED = [(round(q * 1e6), round(tau * 100), n) for n, (q, tau) in enumerate(VALUES)]
FRAMES = frames(STATE, VALUES, 0)


@pytest.fixture
def slcan() -> Iterator[SlcanWire]:
    with closing(SlcanWire(None)) as wire:
        yield wire


@pytest.fixture
def port() -> Iterator[Serial]:
    with closing(Serial(None)) as wire:
        yield wire


def listening(wire: Wire, wanted: bool = True, patience: float = 60.0) -> None:
    deadline = time.monotonic() + patience
    while wire.listening() is not wanted:
        assert time.monotonic() < deadline
        time.sleep(0.001)  # between two looks


def unstuffed(piece: bytes) -> bytes:
    """COBS decoded the plain way, byte by byte."""
    out = bytearray()
    at = 0
    while at < len(piece):
        code = piece[at]
        assert at + code <= len(piece)
        out += piece[at + 1 : at + code]
        at += code
        if code < 0xFF and at < len(piece):
            out.append(0)
    return bytes(out)


def packets(data: bytes) -> list[tuple[int, int, bytes]]:
    """Id, sequence and fields of whole, correct packets."""
    found = []
    for piece in data.split(b"\0")[:-1]:
        packet = unstuffed(piece)
        assert Crc16Ibm3740.calc(packet[:-2]) == struct.unpack("<H", packet[-2:])[0]
        found.append((*struct.unpack("<BH", packet[:3]), packet[3:-2]))
    return found


def can_values(messages: list[can.Message]) -> list[tuple[int, int, int]]:
    assert {message.arbitration_id for message in messages} == {STATE.can_id}
    return [struct.unpack("<ihH", message.data) for message in messages]


def test_slcan_is_what_python_can_expects(slcan: SlcanWire) -> None:
    with can.Bus(interface="slcan", channel=slcan.device, bitrate=1_000_000, sleep_after_open=0) as bus:
        listening(slcan)
        slcan.send([slcan.form(frame) for frame in FRAMES[:100]])
        received: list[can.Message] = []
        deadline = time.monotonic() + 60
        while len(received) < 100 and time.monotonic() < deadline:
            message = bus.recv(0.05)  # None for the adapter's answers, too
            received += [message] if message else []
        assert can_values(received) == EXPECTED[:100]
        assert (slcan.sent, slcan.refused) == (100, 0)
        bus.send(can.Message(arbitration_id=5, data=b"command", is_extended_id=False))
        slcan.listening()
        assert bus.recv(0.2) is None
    listening(slcan, False)


def test_slcan_answers_and_is_silent_until_opened(slcan: SlcanWire) -> None:
    with serial.Serial(slcan.device, timeout=60) as host:

        def ask(command: bytes, ending: bytes = b"\r") -> bytes:
            host.write(command)
            deadline = time.monotonic() + 60  # the kernel hands it over when it likes; an answer always comes
            while not host.in_waiting and time.monotonic() < deadline:
                slcan.listening()
                time.sleep(1e-3)  # between two looks
            return host.read_until(ending)

        assert ask(b"V\r") == b"V1013\r"
        assert ask(b"N\r") == b"NRIG0\r"
        host.write(b"S")
        slcan.listening()
        assert not host.in_waiting
        assert ask(b"8\r") == b"\r", "a command may come in pieces"
        assert not slcan.listening()
        assert ask(b"O\r") == b"\r"
        assert slcan.listening()
        assert ask(b"t1230\r") == b"z\r", "accepted, and going nowhere"
        assert ask(b"!\r", b"\a") == b"\a"
        slcan.send([slcan.form(FRAMES[0])])
        assert host.read_until(b"\r").startswith(b"t1818")
        assert ask(b"C\r") == b"\r"
        assert not slcan.listening()


def test_serial_packets_read_by_the_book(port: Serial) -> None:
    assert not port.listening()
    with serial.Serial(port.device, 3_000_000, timeout=0.2) as host:
        listening(port)
        port.send([port.form(frame) for frame in FRAMES])
        data = b""
        deadline = time.monotonic() + 60
        while (port.full() or data.count(b"\0") < 300) and time.monotonic() < deadline:
            data += host.read(max(1, host.in_waiting))
        found = packets(data)
    assert [(*struct.unpack("<ih", fields), sequence) for _, sequence, fields in found] == EXPECTED
    assert {identifier for identifier, _, _ in found} == {STATE.packet_id}
    assert (port.sent, port.refused) == (300, 0)


def test_multicast_is_what_python_can_expects() -> None:
    with closing(MulticastWire(None)) as wire:
        assert not wire.listening()
        with can.Bus(interface="udp_multicast", channel=wire.device, port=wire.port) as bus:
            listening(wire)
            wire.send([wire.form(frame) for frame in FRAMES[:50]])
            received = [message for _ in range(50) if (message := bus.recv(60.0)) is not None]
        assert can_values(received) == EXPECTED[:50]
        assert (wire.sent, wire.refused) == (50, 0)


def test_two_rigs_on_multicast_do_not_hear_each_other() -> None:
    with closing(MulticastWire(None)) as one, closing(MulticastWire(None)) as other:
        assert one.port != other.port


@pytest.mark.parametrize("kind", [SlcanWire, Serial])
def test_a_reader_that_does_not_read_blocks_nothing_and_gets_whole_frames_later(kind: type[Pty]) -> None:
    with closing(kind(None)) as wire, serial.Serial(wire.device, 3_000_000, timeout=0) as host:
        host.write(b"O\r")
        listening(wire)
        host.read(100)
        unit, total = wire.form(FRAMES[0]), 40_000
        for _ in range(total // 100):
            wire.send([unit] * 100)  # one that waited for its reader would wait for ever
        assert wire.refused > 0, "more than the kernel and the backlog hold"
        data = b""
        deadline = time.monotonic() + 60
        while wire.full() or len(data) < wire.sent * len(unit):
            data += host.read(1 << 16)
            assert time.monotonic() < deadline
        assert wire.sent + wire.refused == total
        assert data == unit * wire.sent


@pytest.mark.parametrize("kind", [SlcanWire, Serial])
def test_a_reader_may_vanish_and_come_back(kind: type[Pty]) -> None:
    with closing(kind(None)) as wire:
        unit = wire.form(FRAMES[0])
        for _ in range(3):
            descriptor = os.open(wire.device, os.O_RDWR | os.O_NOCTTY)
            os.write(descriptor, b"O\r")
            listening(wire)
            wire.send([unit] * 20_000)  # more than fits: some of it still waits when the reader dies
            assert wire.full()
            os.close(descriptor)
            listening(wire, False)
            assert not wire.full(), "nothing waits for somebody who is gone"
        assert wire.sent + wire.refused == 60_000
        with serial.Serial(wire.device, 3_000_000, timeout=60) as host:
            host.write(b"O\r")
            listening(wire)
            host.reset_input_buffer()
            wire.send([wire.form(FRAMES[1])])
            assert host.read_until(unit[-1:]) == wire.form(FRAMES[1]), "and nothing old"


def test_the_terminal_is_raw(port: Serial) -> None:
    descriptor = os.open(port.device, os.O_RDWR | os.O_NOCTTY)
    flags = termios.tcgetattr(descriptor)
    os.close(descriptor)
    assert not flags[3] & (termios.ECHO | termios.ICANON | termios.ISIG)
    assert not flags[1] & termios.OPOST


def test_the_link_is_made_replaced_and_removed(tmp_path: Path) -> None:
    link = tmp_path / "robot"
    link.symlink_to("/dev/nowhere")  # left there by another program
    with closing(SlcanWire(link)) as wire:
        assert wire.device == str(link)
        assert link.resolve().parent == Path("/dev/pts")
    assert not link.is_symlink()


def test_a_file_in_the_way_stays_and_is_named(tmp_path: Path) -> None:
    link = tmp_path / "robot"
    link.write_text("precious")
    with pytest.raises(RigError, match=r"--link .*robot: File exists"):
        SlcanWire(link)
    assert link.read_text() == "precious"
    with pytest.raises(RigError, match="No such file or directory"):
        Serial(tmp_path / "missing" / "robot")


def test_a_link_that_is_no_longer_ours_stays(tmp_path: Path) -> None:
    link = tmp_path / "robot"
    with closing(SlcanWire(link)), closing(SlcanWire(link)) as second:
        pass
    assert second.device == str(link)
    assert not link.is_symlink()
    with closing(SlcanWire(link)):
        link.unlink()
        link.symlink_to("/dev/elsewhere")
    assert link.readlink() == Path("/dev/elsewhere")


def test_multicast_has_no_link(tmp_path: Path) -> None:
    with pytest.raises(RigError, match="--link is for terminals only"):
        MulticastWire(tmp_path / "robot")


def test_damaged_serial_packets_are_damaged_and_nothing_else(port: Serial) -> None:
    rng = np.random.default_rng(1)
    for frame in FRAMES[:100]:
        wrong = port.miscounted(frame)
        packet = unstuffed(wrong[:-1])
        assert wrong.count(b"\0") == 1
        assert packet[:-2] == unstuffed(port.form(frame)[:-1])[:-2]
        assert Crc16Ibm3740.calc(packet[:-2]) != struct.unpack("<H", packet[-2:])[0]
        cut = port.cut(frame, rng)
        assert cut.count(b"\0") == 1
        assert 2 <= len(cut) < len(port.form(frame))
        rubbish = port.rubbish(rng)
        assert rubbish.endswith(b"\0")
        with suppress(AssertionError):
            unstuffed(rubbish[:-1])
            pytest.fail("rubbish that decodes")


def test_only_a_packet_has_a_checksum_of_its_own(slcan: SlcanWire) -> None:
    with pytest.raises(RigError, match="crc on serial only"):
        slcan.miscounted(MessageFrame(STATE, 0, b""))
