"""Every driver keeps every rule, on a real wire: a pty, a multicast socket, python-can's own virtual bus, SocketCAN.

SocketCAN wherever there is a vcan0: tests/end_to_end/test_socketcan_uml.py runs this file in a guest that has one.
"""

import os
import socket
import struct
import time
import tty
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import can
import numpy as np
import pytest
from pydantic import TypeAdapter

from drivers import AnyDriver
from drivers.base import Driver, DriverSettings, LayoutError, LinkError, Wanted
from drivers.reading import READING
from drivers.serial.packets import encode

# one frame or packet: position (count / 1000 rad), torque (count / 100 N·m)
POSITION = {"scale": 0.001, "unit": "rad"}
TORQUE = {"scale": 0.01, "unit": "Nm"}
FRAME = {
    "name": "AXIS",
    "id": 0x181,
    "signals": {
        "position": {"start": 0, "bits": 32, "type": "signed"} | POSITION,
        "torque": {"start": 32, "bits": 16, "type": "signed"} | TORQUE,
    },
}
WANTED = [Wanted(7, "AXIS.torque", 2.0), Wanted(3, "AXIS.position", 1.0, 5.0)]


class Wire:
    """The far end of a driver's wire."""

    settings: dict[str, object]
    early = 1_000_000  # ns by which a stamp may be before the frame was sent: python-can's resolve microseconds

    def send(self, count: int) -> None:
        """One frame: position count / 1000 rad, torque count / 100 N·m."""
        raise NotImplementedError

    def rubbish(self) -> set[str]:
        """Send what is no frame of ours; the causes under which it must be counted."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class Pty(Wire):
    """A pseudo-terminal, the device being on the master's side."""

    def __init__(self) -> None:
        self.master, self.slave = os.openpty()
        tty.setraw(self.master)
        self.port = os.ttyname(self.slave)

    def lose(self) -> None:
        """Take the device away."""
        os.close(self.master)
        self.master = -1

    def close(self) -> None:
        for descriptor in (self.master, self.slave):
            if descriptor >= 0:
                os.close(descriptor)


class Slcan(Pty):
    def __init__(self) -> None:
        super().__init__()
        self.settings = {
            "kind": "can",
            "interface": "slcan",
            "channel": self.port,
            "bitrate": 1_000_000,
            "frames": [FRAME],
        }

    def send(self, count: int) -> None:
        os.write(self.master, b"t1816" + struct.pack("<ih", count, count).hex().encode() + b"\r")

    def rubbish(self) -> set[str]:
        os.write(self.master, b"\x00\xff garbage\rt1819\rT00000181600\r" + b"x" * 1000 + b"\r")
        os.write(self.master, b"t18220102\rt18120102\rr1816\r")
        return {"malformed", "unmatched", "truncated", "remote_frames"}


class Serial(Pty):
    def __init__(self) -> None:
        super().__init__()
        fields = [{"name": "position", "type": "i32"} | POSITION, {"name": "torque", "type": "i16"} | TORQUE]
        self.settings = {
            "kind": "serial",
            "port": self.port,
            "baudrate": 3_000_000,
            "packets": [{"name": "AXIS", "id": 1, "fields": fields}],
        }
        self.sequence = 0

    def send(self, count: int) -> None:
        os.write(self.master, encode(1, self.sequence, struct.pack("<ih", count, count)))
        self.sequence += 1

    def rubbish(self) -> set[str]:
        good = encode(1, 0, b"\1\1\1\1\1\1")
        os.write(self.master, b"\xff\x01\x00" + good[:6] + b"\2" + good[7:] + b"\x02\x01\x00" + b"\x01" * 1000 + b"\0")
        os.write(self.master, encode(2, 0, bytes(6)) + encode(1, self.sequence - 1, bytes(3)))
        self.sequence += 1  # one packet never sent
        return {"bad_cobs", "bad_crc", "truncated", "oversized", "unmatched"}


class Bus(Wire):
    """Another node on a bus that python-can serves."""

    def __init__(self, interface: str, channel: str, **options: int) -> None:
        self.settings = {
            "kind": "can",
            "interface": interface,
            "channel": channel,
            "frames": [FRAME],
            "options": options,
        }
        self.node = can.Bus(interface=interface, channel=channel, ignore_config=True, **options)

    def put(self, ident: int, data: bytes, **flags: bool) -> None:
        self.node.send(can.Message(arbitration_id=ident, data=data, **({"is_extended_id": False} | flags)))

    def send(self, count: int) -> None:
        self.put(0x181, struct.pack("<ih", count, count))

    def rubbish(self) -> set[str]:
        self.put(0x182, b"\1\2")
        self.put(0x181, b"\1\2\3\4\5\6", is_extended_id=True)
        self.put(0x181, b"\1\2")
        self.put(0x181, b"", is_remote_frame=True)
        self.put(0x4, bytes(8), is_error_frame=True)
        return {"unmatched", "truncated", "remote_frames", "error_frames"}

    def close(self) -> None:
        self.node.shutdown()


class Virtual(Bus):
    def __init__(self) -> None:
        super().__init__("virtual", f"contract-{time.monotonic_ns()}")


class Multicast(Bus):
    """UDP multicast that does not leave the machine (hop_limit 0)."""

    GROUP = "239.74.163.9"

    def __init__(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("", 0))
            self.port = free.getsockname()[1]
        super().__init__("udp_multicast", self.GROUP, port=self.port, hop_limit=0)

    def rubbish(self) -> set[str]:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            stranger.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0)
            stranger.sendto(b"not a frame", (self.GROUP, self.port))
        return super().rubbish() | {"malformed"}


class SocketCan(Bus):
    """Another socket of this host on vcan0: what it sends is this host's own."""

    CHANNEL = "vcan0"
    early = 10_000_000  # the guest's clocks tick coarsely

    def __init__(self) -> None:
        super().__init__("socketcan", self.CHANNEL)

    def rubbish(self) -> set[str]:
        return super().rubbish() | {"own_frames"}


WIRES: list[Callable[[], Wire]] = [Slcan, Serial, Virtual, Multicast]
if Path("/sys/class/net", SocketCan.CHANNEL).exists():
    WIRES.append(SocketCan)


@pytest.fixture(params=WIRES, ids=lambda made: made.__name__.lower())
def wire(request: pytest.FixtureRequest) -> Iterator[Wire]:
    made = request.param()
    yield made
    made.close()


def configured(wire: Wire) -> DriverSettings:
    settings: DriverSettings = TypeAdapter(AnyDriver).validate_python(wire.settings)
    return settings


def collect(driver: Driver, count: int) -> np.ndarray:
    """Read until this many readings are there, or five seconds are over."""
    parts = [np.zeros(0, READING)]
    end = time.monotonic() + 5
    while sum(map(len, parts)) < count and time.monotonic() < end:
        parts.append(driver.read(0.05))
    return np.concatenate(parts)


def test_every_kind_of_the_catalogue_is_here() -> None:
    kinds = TypeAdapter(AnyDriver).json_schema()["discriminator"]["mapping"].keys()
    made = [wire() for wire in WIRES]
    for wire in made:
        wire.close()
    # a recording has no far end that could send: tests/drivers/files/test_player.py has its rules
    assert {wire.settings["kind"] for wire in made} == kinds - {"file"}


def test_the_wanted_channels_come_out_in_si_scaled_and_in_order_of_time(wire: Wire) -> None:
    with configured(wire).open(WANTED) as driver:
        before = time.monotonic_ns()
        for count in range(-50, 50):
            wire.send(count)
        readings = collect(driver, 200)
        after = time.monotonic_ns()
    assert readings.dtype == READING
    assert readings["channel"].tolist() == [7, 3] * 100
    counts = np.arange(-50, 50)
    np.testing.assert_allclose(readings["value"][0::2], 2 * 0.01 * counts, atol=1e-12)
    np.testing.assert_allclose(readings["value"][1::2], 5 + 0.001 * counts, atol=1e-12)
    assert (np.diff(readings["time"]) >= 0).all()
    assert readings["time"][0] >= before - wire.early
    assert readings["time"][-1] <= after


def test_a_quiet_wire_gives_nothing_within_the_timeout(wire: Wire) -> None:
    with configured(wire).open(WANTED) as driver:
        for timeout in (0.0, 0.05):
            start = time.monotonic()
            readings = driver.read(timeout)
            took = time.monotonic() - start
            assert readings.dtype == READING
            assert len(readings) == 0
            assert timeout * 0.9 <= took < timeout + 2.0
        assert set(driver.counters().values()) == {0}


def test_rubbish_is_counted_by_cause_and_nothing_else_happens(wire: Wire) -> None:
    with configured(wire).open(WANTED) as driver:
        wire.send(1)
        causes = wire.rubbish()
        wire.send(2)
        readings = collect(driver, 4)
        counters = driver.counters()
    assert readings["value"].tolist() == pytest.approx([0.02, 5.001, 0.04, 5.002])
    assert {cause for cause, count in counters.items() if count} - {"frames", "lost", "busy_us"} == causes
    assert counters["frames"] >= 2


def test_counters_only_grow_and_keep_their_names(wire: Wire) -> None:
    with configured(wire).open(WANTED) as driver:
        seen = [dict(driver.counters())]
        for round_ in range(5):
            wire.send(round_)
            wire.rubbish()
            collect(driver, 2)
            seen.append(dict(driver.counters()))
    for earlier, later in pairwise(seen):
        assert earlier.keys() == later.keys()
        assert all(later[name] >= earlier[name] for name in later)
        assert later["frames"] > earlier["frames"]


def test_only_what_is_wanted_is_delivered(wire: Wire) -> None:
    with configured(wire).open([Wanted(0, "AXIS.position")]) as driver:
        wire.send(9)
        assert collect(driver, 1)[["channel", "value"]].tolist() == [(0, pytest.approx(0.009))]
    with configured(wire).open([]) as driver:
        wire.send(9)
        assert len(driver.read(0.2)) == 0


def test_signals_are_listed_with_si_units_and_unknown_ones_refused(wire: Wire) -> None:
    settings = configured(wire)
    assert settings.signals()["AXIS.position"] == "rad"
    assert settings.signals()["AXIS.torque"] == "N·m"
    settings.check(WANTED)
    for refuse in (settings.check, settings.open):
        with pytest.raises(LayoutError, match=r'"AXIS.positions", did you mean "AXIS.position"\?'):
            refuse([Wanted(0, "AXIS.positions")])


def test_closing_twice_is_harmless_and_a_closed_driver_says_so(wire: Wire) -> None:
    driver = configured(wire).open(WANTED)
    with pytest.raises(LinkError, match="not open"):
        driver.read(0.0)
    driver.__enter__()
    driver.__exit__(None, None, None)
    driver.__exit__(None, None, None)
    with pytest.raises(LinkError, match="not open"):
        driver.read(0.0)
    assert driver.counters()["frames"] == 0


def test_a_driver_can_be_opened_again(wire: Wire) -> None:
    driver = configured(wire).open(WANTED)
    for count in (1, 2):
        with driver:
            wire.send(count)
            assert collect(driver, 2)["value"][0] == pytest.approx(0.02 * count)
            assert driver.counters()["frames"] == 1  # totals are since opening


@pytest.mark.parametrize("made", [Slcan, Serial])  # the others have no end that could be pulled
def test_a_lost_wire_is_said_every_time_and_can_be_closed(made: Callable[[], Pty]) -> None:
    wire = made()
    with configured(wire).open(WANTED) as driver:
        wire.send(1)
        collect(driver, 2)
        wire.lose()
        for _ in range(2):
            with pytest.raises(LinkError, match="went away"):
                driver.read(1.0)
        assert driver.counters()["frames"] == 1
    wire.close()


def test_settings_survive_the_way_to_another_process(wire: Wire) -> None:
    settings = configured(wire)
    adapter: TypeAdapter[DriverSettings] = TypeAdapter(AnyDriver)
    revived = adapter.validate_json(adapter.dump_json(settings))
    with revived.open(WANTED) as driver:
        wire.send(4)
        assert len(collect(driver, 2)) == 2
