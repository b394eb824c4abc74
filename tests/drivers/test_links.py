"""The wire itself: what is said of one that cannot be opened, whose time a reading carries, what adapters are told."""

import errno
import os
import socket
import struct
import time
import tty
from collections.abc import Iterator
from pathlib import Path

import can
import numpy as np
import pytest
import serial
from pydantic import TypeAdapter

from drivers import AnyDriver
from drivers.base import DriverSettings, LinkBusyError, LinkError, Wanted
from drivers.drain import link_error
from drivers.serial.packets import encode
from drivers.testing import collect

FRAMES = [{"name": "AXIS", "id": 0x181, "signals": {"count": {"start": 0, "bits": 32}}}]
PACKETS = [{"name": "AXIS", "id": 1, "fields": [{"name": "count", "type": "u32"}]}]
WANTED = [Wanted(0, "AXIS.count")]


def settings(**given: object) -> DriverSettings:
    found: DriverSettings = TypeAdapter(AnyDriver).validate_python(given)
    return found


def slcan(port: str, **changes: object) -> DriverSettings:
    return settings(**({"kind": "can", "interface": "slcan", "channel": port, "frames": FRAMES} | changes))


def line(port: str) -> DriverSettings:
    return settings(kind="serial", port=port, packets=PACKETS)


@pytest.fixture
def pty() -> Iterator[tuple[int, str]]:
    master, slave = os.openpty()
    tty.setraw(master)
    yield master, os.ttyname(slave)
    os.close(master)
    os.close(slave)


@pytest.mark.parametrize("made", [slcan, line])
def test_a_missing_port_is_named_with_the_remedy(made: object) -> None:
    driver = made("/dev/ttyNONE7").open(WANTED)
    with pytest.raises(LinkError, match=r"^/dev/ttyNONE7: there is no such port: is the device plugged in\?"):
        driver.__enter__()
    with pytest.raises(LinkError, match="not open"):
        driver.read(0.0)


@pytest.mark.parametrize("made", [slcan, line])
def test_what_is_no_port_is_called_so(made: object, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")
    with pytest.raises(LinkError, match=rf"^{file}: this is no serial port"), made(str(file)).open(WANTED):
        pass


@pytest.mark.parametrize("made", [slcan, line])
def test_a_port_that_another_program_has_is_left_alone(made: object, pty: tuple[int, str]) -> None:
    master, port = pty
    with serial.Serial(port, exclusive=True):
        with pytest.raises(LinkBusyError, match=rf"^{port}: another program has it"), made(port).open(WANTED):
            pass
        os.set_blocking(master, False)
        with pytest.raises(BlockingIOError):
            os.read(master, 100)  # not a single command was sent
    with made(port).open(WANTED) as driver:
        assert len(driver.read(0.0)) == 0


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (errno.EACCES, "no permission: `sudo usermod -aG dialout"),
        (errno.ENODEV, "no such interface: `ip -br link show type can`"),
        (errno.ENETDOWN, "the interface is down: `sudo ip link set X up type can"),
        (errno.EAFNOSUPPORT, "no SocketCAN"),
        (errno.ERANGE, "Numerical result out of range"),
    ],
)
def test_errors_of_the_system_in_plain_words(code: int, said: str) -> None:
    try:
        raise can.CanInitializationError("could not") from OSError(code, os.strerror(code))
    except can.CanInitializationError as error:
        sentence = str(link_error("X", error if code != errno.ERANGE else error.__cause__))
    assert sentence.startswith("X: ")
    assert said in sentence


def test_a_missing_interface_is_said_in_one_sentence() -> None:
    driver = settings(kind="can", interface="socketcan", channel="can77", frames=FRAMES).open(WANTED)
    with pytest.raises(LinkError, match=r"^can77: (there is no such interface|this kernel has no SocketCAN)"):
        driver.__enter__()


def test_an_unknown_option_of_an_adapter_is_said_in_one_sentence(pty: tuple[int, str]) -> None:
    with pytest.raises(LinkError, match=rf"^{pty[1]}: .*Invalid bitrate"), slcan(pty[1], bitrate=123).open(WANTED):
        pass


def test_an_slcan_adapter_is_told_its_bitrate_and_to_open_and_to_close(pty: tuple[int, str]) -> None:
    master, port = pty
    said = b""
    with slcan(port, bitrate=500_000).open(WANTED):
        while b"O\r" not in said:  # a terminal passes on what it has, when it has it
            said += os.read(master, 100)
        assert said.replace(b"\r\r", b"\r").startswith(b"C\rS6\rO\r")
        said = b""
    while b"C\r" not in said:
        said += os.read(master, 100)
    assert said in (b"C\r", b"O\rC\r")


def test_an_slcan_adapter_can_be_kept_silent(pty: tuple[int, str]) -> None:
    master, port = pty
    with slcan(port, listen_only=True).open(WANTED):
        assert os.read(master, 100) == b"L\r"


def test_what_came_before_the_wire_was_lost_is_delivered() -> None:
    master, slave = os.openpty()
    tty.setraw(master)
    with line(os.ttyname(slave)).open(WANTED) as driver:
        reader = driver.read
        for sequence in range(3):
            os.write(master, encode(1, sequence, sequence.to_bytes(4, "little")))
        values: list[float] = []
        values += collect(driver, 3)["value"].tolist()
        assert values == [0, 1, 2]
        os.close(master)
        with pytest.raises(LinkError):
            reader(1.0)
    os.close(slave)


def test_what_an_adapter_handed_over_before_its_wire_was_lost_is_delivered() -> None:
    """One that python-can reads frame by frame, at the other end of a connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        channel = f"socket://127.0.0.1:{server.getsockname()[1]}"
        driver = settings(kind="can", interface="serial", channel=channel, frames=FRAMES).open(WANTED)
        with driver:
            node, _ = server.accept()
            for count in range(3):  # begin, stamp, length, id, data, end: as python-can's serial interface has it
                node.sendall(struct.pack("<BIBIIB", 0xAA, 0, 4, 0x181, count, 0xBB))
            node.close()
            values: list[float] = []
            for _ in range(1000):
                if len(values) == 3:
                    break
                values += driver.read(1.0)["value"].tolist()
            assert values == [0, 1, 2]
            for _ in range(2):
                with pytest.raises(LinkError, match=f"^{channel}: "):
                    driver.read(0.0)


def test_the_same_port_comes_back_after_a_loss(tmp_path: Path) -> None:
    """As a lasting name under /dev/serial/by-id does: the same link, another device behind it."""
    name = tmp_path / "by-id"
    driver = line(str(name)).open(WANTED)
    for count in (11, 12):
        master, slave = os.openpty()
        tty.setraw(master)
        name.unlink(missing_ok=True)
        name.symlink_to(os.ttyname(slave))
        with driver:
            os.write(master, encode(1, 0, count.to_bytes(4, "little")))
            assert collect(driver, 1)["value"].tolist() == [count]
            os.close(master)
            with pytest.raises(LinkError, match="went away"):
                driver.read(1.0)
        os.close(slave)


def test_stamps_of_a_stepped_clock_are_not_believed() -> None:
    channel = f"steps-{time.monotonic_ns()}"
    node = can.Bus(interface="virtual", channel=channel, preserve_timestamps=True, ignore_config=True)
    with settings(kind="can", interface="virtual", channel=channel, frames=FRAMES).open(WANTED) as driver:
        sent = []
        for number, step in enumerate((0.0, 100.0, -100.0, 0.0)):
            before = time.monotonic_ns()
            stamp = time.time() + step
            data = [number, 0, 0, 0]
            node.send(can.Message(arbitration_id=0x181, is_extended_id=False, data=data, timestamp=stamp))
            sent.append((before - 1_000_000, time.monotonic_ns() + 1_000_000))
            time.sleep(0.02)  # so that an order by arrival and one by stamp differ
        asked = time.monotonic_ns()
        readings = driver.read(1.0)
        end = time.monotonic_ns()
    node.shutdown()
    stamps = dict(zip(readings["value"], readings["time"].tolist(), strict=True))
    assert sorted(stamps) == [0, 1, 2, 3]
    for number in (0, 3):  # when it was sent
        assert sent[number][0] <= stamps[number] <= sent[number][1]
    for number in (1, 2):  # when it was read
        assert asked <= stamps[number] <= end
    assert (np.diff(readings["time"]) >= 0).all()


def test_a_flooded_bus_is_taken_in_bounded_pieces_and_nothing_is_lost() -> None:
    channel = f"flood-{time.monotonic_ns()}"
    node = can.Bus(interface="virtual", channel=channel, ignore_config=True)
    with settings(kind="can", interface="virtual", channel=channel, frames=FRAMES).open(WANTED) as driver:
        for number in range(5000):
            node.send(can.Message(arbitration_id=0x181, is_extended_id=False, data=number.to_bytes(4, "little")))
        first, second = driver.read(1.0), driver.read(1.0)
    node.shutdown()
    assert len(first) == 4096
    assert np.concatenate([first, second])["value"].tolist() == list(range(5000))
