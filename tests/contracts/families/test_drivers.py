"""Every driver keeps every rule, on a real wire: a pty, a multicast socket, python-can's own virtual bus, SocketCAN.

SocketCAN wherever there is a vcan0: tests/end_to_end/guests/test_socketcan_uml.py runs this file in a guest with one.
"""

import gc
import math
import os
import socket
import struct
import time
import tty
from importlib.util import find_spec
from pathlib import Path

import can
import pytest

from drivers.catalogue import OURS
from drivers.network.dds import DdsTopic
from drivers.serial.packets import encode
from drivers.testing import DriverRules, DriverWire
from hil_rig.ports import free_domain
from hil_rig.wire.network.ros2 import publisher
from hil_rig.wire.network.ros2_zenoh import ZenohPublisher, joint_state
from hil_rig.wire.network.rtde import RtdeController, message
from hil_rig.wire.servo import status, sync_read
from tests.support.processes.answering import Answering
from tests.support.processes.waiting import wait_until

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


class Pty(DriverWire):
    """A pseudo-terminal, the device being on the master's side."""

    lost_words = "went away"

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


class ServoTap(Pty):
    """A servo bus as a tap hears it: the master asks, the servo answers."""

    position, torque = "elbow.position", "elbow.current"
    position_step, torque_step = 2 * math.pi / 4096, 1e-3

    def __init__(self) -> None:
        super().__init__()
        servos = [{"name": "elbow", "id": 3, "model": "xl330"}]
        self.settings = {"kind": "servo_bus", "port": self.port, "servos": servos}

    def send(self, count: int) -> None:
        answer = status(3, struct.pack("<hii", count, 0, 2048 + count))
        os.write(self.master, sync_read(126, 10, [3]) + answer)

    def rubbish(self) -> set[str]:
        answer = bytearray(status(3, bytes(10)))
        answer[10] ^= 0x10
        os.write(self.master, b"noise" + status(3, bytes(10)) + sync_read(126, 10, [3]) + bytes(answer))
        os.write(self.master, sync_read(126, 10, [9]))
        return {"garbage_bytes", "unmatched", "bad_crc", "unanswered"}


class Bus(DriverWire):
    """Another node on a bus that python-can serves."""

    early = 1_000_000  # python-can's stamps resolve microseconds

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
    keeps_order = False  # datagrams overtake each other where their sender is moved to another processor under load

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


class UrController(DriverWire):
    """The rig's controller, which answers in a thread of its own, as a driver waits for it while it opens."""

    position, torque = "elbow.actual_q", "elbow.actual_current"
    lost_words = "went away"

    def __init__(self) -> None:
        self.controller = RtdeController()
        self.settings = {"kind": "ur_rtde", "host": "127.0.0.1", "port": self.controller.port, "rate": 500}
        self.sent = 0
        self.answering = Answering(self.controller.poll)

    def send(self, count: int) -> None:
        q, i = ([k + s * count if k != 2 else s * count for k in range(6)] for s in (0.001, 0.01))
        values = {"timestamp": [self.sent / 500], "actual_q": q, "actual_current": i}
        self.sent += 1
        with self.answering.lock:
            self.controller.send(values)

    def rubbish(self) -> set[str]:
        with self.answering.lock:
            self.controller.raw(message("protective stop") + struct.pack(">HBB8s", 12, ord("U"), 99, b""))
            self.controller.raw(struct.pack(">HBB8s", 12, ord("U"), 1, b"") + struct.pack(">HB", 3, ord("?")))
        return {"texts", "unmatched", "truncated"}

    def lose(self) -> None:
        with self.answering.lock:
            self.controller.hang_up()

    def close(self) -> None:
        self.answering.close()
        self.controller.close()


class JointStates(DriverWire):
    """A publisher of ROS 2 joint states on loopback; it waits for the reader before its first message."""

    position, torque = "elbow.position", "elbow.effort"

    def __init__(self) -> None:
        self.domain = free_domain()
        self.writer, self.state, self.head = publisher(self.domain, "/joint_states")
        self.settings = {
            "kind": "ros2",
            "domain": self.domain,
            "interface": "lo",
            "peers": ["127.0.0.1"],
            "joints": ["shoulder", "elbow"],
        }

    def write(self, names: list[str], positions: list[float], efforts: list[float]) -> None:
        wait_until(self.writer.get_matched_subscriptions, look=0.005)
        if not self.settled:
            wait_until(self.reader_has_found_the_writer, look=0.02)
            self.settled = True
        self.writer.write(self.state(self.head(1, 0), names, positions, [], efforts))

    settled = False

    def reader_has_found_the_writer(self) -> bool:
        """Asked of the open driver itself, which the rules have: what is sent before would be lost."""
        topics = (one for one in gc.get_objects() if type(one) is DdsTopic and one._domain == self.domain)
        return any(one._open["reader"].get_matched_publications() for one in topics if "reader" in one._open)

    def send(self, count: int) -> None:
        self.write(["elbow"], [0.001 * count], [0.01 * count])

    def rubbish(self) -> set[str]:
        self.write(["finger"], [1.0], [])
        self.write(["shoulder", "elbow"], [1.0], [])
        return {"unmatched", "malformed"}

    def driver_closed(self) -> None:
        self.settled = False
        wait_until(lambda: not self.writer.get_matched_subscriptions(), look=0.005)

    def close(self) -> None:
        self.writer = None


class ZenohJointStates(DriverWire):
    """A publisher as rmw_zenoh's with a router of its own; it waits for the reader before its first message."""

    position, torque = "elbow.position", "elbow.effort"
    lost_words = "the connection to the router was lost"

    def __init__(self) -> None:
        self.publisher = ZenohPublisher(0, "/joint_states")
        joints = ["shoulder", "elbow"]
        self.settings = {"kind": "zenoh", "router": self.publisher.endpoint, "joints": joints}

    def write(self, names: list[str], positions: list[float], efforts: list[float]) -> None:
        wait_until(self.publisher.matched, look=0.001)
        self.publisher.put(joint_state(1_000_000_000, names, (positions, [], efforts)))

    def send(self, count: int) -> None:
        self.write(["elbow"], [0.001 * count], [0.01 * count])

    def rubbish(self) -> set[str]:
        self.write(["finger"], [1.0], [])
        self.write(["shoulder", "elbow"], [1.0], [])
        self.publisher.number -= 1  # the last number again
        self.write(["elbow"], [9.0], [9.0])
        return {"unmatched", "malformed", "stale"}

    def driver_closed(self) -> None:
        wait_until(lambda: not self.publisher.matched(), look=0.001)

    def lose(self) -> None:
        self.publisher.close()

    def close(self) -> None:
        self.publisher.close()


class TestSlcan(DriverRules):
    wire_type = Slcan


class TestSerial(DriverRules):
    wire_type = Serial


class TestServoTap(DriverRules):
    wire_type = ServoTap


class TestVirtual(DriverRules):
    wire_type = Virtual


class TestMulticast(DriverRules):
    wire_type = Multicast


if Path("/sys/class/net", SocketCan.CHANNEL).exists():

    class TestSocketCan(DriverRules):
        wire_type = SocketCan


class TestUrController(DriverRules):
    wire_type = UrController


@pytest.mark.skipif(find_spec("cyclonedds") is None, reason="cyclonedds is not installed (jointwatch[ros2])")
class TestJointStates(DriverRules):
    wire_type = JointStates


@pytest.mark.skipif(find_spec("zenoh") is None, reason="eclipse-zenoh is not installed (jointwatch[zenoh])")
class TestZenohJointStates(DriverRules):
    wire_type = ZenohJointStates


RULES = (
    TestSlcan,
    TestSerial,
    TestServoTap,
    TestVirtual,
    TestMulticast,
    TestUrController,
    TestJointStates,
    TestZenohJointStates,
)


def test_every_kind_of_the_catalogue_is_here() -> None:
    made = [rules.wire_type() for rules in RULES]
    for wire in made:
        wire.close()
    # a recording has no far end that could send: tests/drivers/files/test_player.py has its rules
    assert {wire.settings["kind"] for wire in made} == OURS.keys() - {"file"}
