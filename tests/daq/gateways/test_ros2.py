"""Diagnostics for ROS 2, read in the same DDS domain: bytes from a reader of its own, decoded by rosbags."""

import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cyclonedds", reason="cyclonedds is not installed (pip install jointwatch[ros2])")

from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import byte, float64, int32, sequence, uint32
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from estimators.base import Phase
from hil_rig.ports import free_domain
from tests.support.processes.latencies import all_are_late

STALE = 3  # level of diagnostic_msgs/DiagnosticStatus
STORE = get_typestore(Stores.ROS2_HUMBLE)
STORE.register(get_types_from_msg("string[] interface_names\nfloat64[] values", "control_msgs/msg/InterfaceValue"))
DYNAMIC = "std_msgs/Header header\nstring[] joint_names\ncontrol_msgs/InterfaceValue[] interface_values"
STORE.register(get_types_from_msg(DYNAMIC, "control_msgs/msg/DynamicJointState"))
XML = (
    "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name='lo'/></Interfaces>"
    "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
    "<MaxAutoParticipantIndex>99</MaxAutoParticipantIndex><Peers><Peer Address='127.0.0.1'/></Peers></Discovery>"
    "</Domain></CycloneDDS>"
)


class Raw:
    """A message as it lay on the wire."""

    sample_info: Any = None

    def __init__(self, data: bytes) -> None:
        self.data = data


@dataclass
class Instant(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32
    nanosec: uint32


@dataclass
class Head(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Instant
    frame_id: str


@dataclass
class Line(IdlStruct, typename="diagnostic_msgs::msg::dds_::KeyValue_"):
    key: str
    value: str


@dataclass
class One(IdlStruct, typename="diagnostic_msgs::msg::dds_::DiagnosticStatus_"):
    level: byte
    name: str
    message: str
    hardware_id: str
    values: sequence[Line]


@dataclass
class Diagnostics(IdlStruct, typename="diagnostic_msgs::msg::dds_::DiagnosticArray_"):
    header: Head
    status: sequence[One]

    @classmethod
    def deserialize(cls, data: bytes, *_: Any, **__: Any) -> Raw:
        return Raw(data)


@dataclass
class Named(IdlStruct, typename="control_msgs::msg::dds_::InterfaceValue_"):
    interface_names: sequence[str]
    values: sequence[float64]


@dataclass
class Joints(IdlStruct, typename="control_msgs::msg::dds_::DynamicJointState_"):
    header: Head
    joint_names: sequence[str]
    interface_values: sequence[Named]

    @classmethod
    def deserialize(cls, data: bytes, *_: Any, **__: Any) -> Raw:
        return Raw(data)


def reader(participant: Any, topic: str, kind: Any) -> Any:
    """A reliable reader, as `ros2 topic echo` asks for one."""
    qos = Qos(Policy.Reliability.Reliable(duration(milliseconds=100)), Policy.History.KeepLast(10))
    return DataReader(participant, Topic(participant, topic, kind), qos=qos)


def newest(one: Any, kind: str, wait: Any) -> Any:
    """The newest message that has come, decoded."""
    found: list[Any] = []
    wait(lambda: found.extend(one.take(10)) or found)
    return STORE.deserialize_cdr(found[-1].data, f"{kind.split('/')[0]}/msg/{kind.split('/')[1]}")


def test_each_joint_is_a_status_and_has_its_numbers(scene: Any, wait: Any, make_estimate: Any, metric: Any) -> None:
    number = free_domain()
    domain = Domain(number, XML)
    participant = DomainParticipant(number)
    diagnostics = reader(participant, "rt/diagnostics", Diagnostics)
    numbers = reader(participant, "rt/health", Joints)
    scene.introduce(time.time())
    scene.core.estimate("elbow", make_estimate(inertia=0.25))
    scene.core.estimate("base", make_estimate(phase=Phase.FAULTED))
    scene.start(
        "ros", 'kind = "ros2"', f"domain = {number}", 'interface = "lo"', 'peers = ["127.0.0.1"]', "rate = 10",
        'topic = "/health"',
    )  # fmt: skip
    found: dict[str, Any] = {}

    def both() -> bool:
        scene.core.estimate("elbow", make_estimate(inertia=0.25))  # one that has been silent for five seconds is stale
        scene.core.estimate("base", make_estimate(phase=Phase.FAULTED))
        told = newest(diagnostics, "diagnostic_msgs/DiagnosticArray", wait)
        found.clear()
        found.update({one.name: one for one in told.status})
        stale = [one for one in told.status if one.level == STALE]
        return {"jointwatch: elbow", "jointwatch: base"} <= found.keys() and not stale

    wait(both)
    elbow, base = found["jointwatch: elbow"], found["jointwatch: base"]
    assert (elbow.level, elbow.hardware_id, elbow.message) == (0, "robot", "valid")
    values = {one.key: one.value for one in elbow.values}
    assert values["inertia [kg·m²]"] == "0.25 ± 0.002 (not known)"
    assert (base.level, {one.key: one.value for one in base.values}["health"]) == (2, "faulted")
    named: dict[str, float] = {}

    def valid() -> bool:
        scene.core.estimate("elbow", make_estimate(inertia=0.25))
        told = newest(numbers, "control_msgs/DynamicJointState", wait)
        assert abs(told.header.stamp.sec - time.time()) < 60
        of = dict(zip(told.joint_names, told.interface_values, strict=True))
        named.update(zip(of["elbow"].interface_names, of["elbow"].values, strict=True))
        return named["valid"] == 1.0

    wait(valid)
    assert named == {
        "valid": 1.0, "error": 0.011, "inertia": 0.25, "inertia_deviation": 0.002, "viscous": 1.25,
        "viscous_deviation": 0.03,
    }  # fmt: skip
    wait(lambda: metric(scene.outlet.page, "gateway_clients", "ros") == 2)
    silent = time.monotonic() + 60
    while newest(diagnostics, "diagnostic_msgs/DiagnosticArray", wait).status[0].level != STALE:
        assert time.monotonic() < silent, "five seconds without an estimate"
    assert domain is not None


READER = """
import sys, time
from tests.daq.gateways.test_ros2 import XML, Diagnostics, Joints, Domain, DomainParticipant, Policy, Qos, DataReader
from tests.daq.gateways.test_ros2 import Topic, duration

number = int(sys.argv[1])
domain = Domain(number, XML)
participant = DomainParticipant(number)
qos = Qos(Policy.Reliability.Reliable(duration(seconds=100)), Policy.History.KeepAll)
readers = [DataReader(participant, Topic(participant, name, kind), qos=qos)
           for name, kind in (("rt/diagnostics", Diagnostics), ("rt/health", Joints))]
while not all([reader.take(100) for reader in readers]):
    time.sleep(0.01)
print("reading", flush=True)
time.sleep(600)
"""


def test_a_reader_that_stops_moves_nothing(
    scene: Any, wait: Any, make_estimate: Any, latencies: Any, metric: Any
) -> None:
    """It is reliable and would keep everything; another reader beside it gets the newest numbers all the same."""
    scene.last = make_estimate(inertia=9.0)
    number = free_domain()
    domain = Domain(number, XML)
    numbers = reader(DomainParticipant(number), "rt/health", Joints)
    scene.introduce(time.time())
    place = (f"domain = {number}", 'interface = "lo"', 'peers = ["127.0.0.1"]', "rate = 50", 'topic = "/health"')
    scene.start("halt_ros", 'kind = "ros2"', *place)
    scene.core.estimate("elbow", make_estimate(inertia=1.0))
    before = latencies(scene, 200, 1000)

    def inertia() -> float:
        told = newest(numbers, "control_msgs/DynamicJointState", wait)
        values = dict(zip(told.joint_names, told.interface_values, strict=True))["elbow"]
        return float(dict(zip(values.interface_names, values.values, strict=True))["inertia"])

    words = [sys.executable, "-c", READER, str(number)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]) as stopped:
        assert stopped.stdout is not None
        try:
            assert stopped.stdout.readline() == "reading\n"
            wait(lambda: metric(scene.outlet.page, "gateway_clients", "halt_ros") == 3)
            stopped.send_signal(signal.SIGSTOP)
            wait(lambda: scene.core.estimate("elbow", make_estimate(inertia=1.5)) or inertia() == 1.5)
            after = latencies(scene, 1200, 1200)
            sent = metric(scene.outlet.page, "gateway_sent_total", "halt_ros")
            wait(lambda: inertia() == 9.0 or scene.core.estimate("elbow", scene.last))  # said again: it grows stale
            wait(lambda: metric(scene.outlet.page, "gateway_sent_total", "halt_ros") > sent)
        finally:
            stopped.kill()
    assert not all_are_late(after, before)
    assert metric(scene.outlet.page, "gateway_missed_total", "halt_ros") == 0
    assert metric(scene.outlet.page, "page_skipped_total") == 0
    assert domain is not None
