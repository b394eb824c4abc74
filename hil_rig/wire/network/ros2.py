"""A joint state publisher of ROS 2 over DDS, on this machine alone: one message a sample, with its stamp."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from hil_rig.messages import Message
from hil_rig.plants.base import RigError
from hil_rig.wire.samples import SampleWire, unit_of

# SI unit → the field that carries it
CARRIERS: Final = {"rad": 0, "m": 0, "rad/s": 1, "m/s": 1, "N·m": 2, "N": 2, "A": 2, "V": 2}
NAMES: Final = ("position", "velocity", "effort")
XML: Final = (
    "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name='lo'/></Interfaces>"
    "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
    "<MaxAutoParticipantIndex>99</MaxAutoParticipantIndex><Peers><Peer Address='127.0.0.1'/></Peers></Discovery>"
    "</Domain></CycloneDDS>"
)


def publisher(domain: int, topic: str) -> tuple[Any, Any, Any]:
    """A writer of joint states that keeps all, its type and the type of its header. Raises RigError."""
    try:
        from cyclonedds.core import DDSException
        from cyclonedds.domain import Domain, DomainParticipant
        from cyclonedds.idl import IdlStruct
        from cyclonedds.idl.types import float64, int32, sequence, uint32
        from cyclonedds.pub import DataWriter
        from cyclonedds.qos import Policy, Qos
        from cyclonedds.topic import Topic
        from cyclonedds.util import duration
    except ImportError as error:
        raise RigError("ROS 2 needs Cyclone DDS: pip install 'jointwatch[ros2]'") from error

    @dataclass
    class Stamp(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
        sec: int32
        nanosec: uint32

    @dataclass
    class Head(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
        stamp: Stamp
        frame_id: str

    @dataclass
    class State(IdlStruct, typename="sensor_msgs::msg::dds_::JointState_"):
        header: Head
        name: sequence[str]
        position: sequence[float64]
        velocity: sequence[float64]
        effort: sequence[float64]

    try:
        kept = Domain(domain, XML)
    except DDSException as error:
        if error.code != DDSException.DDS_RETCODE_PRECONDITION_NOT_MET:
            raise RigError(f"DDS domain {domain}: {error}") from error
        kept = None  # this process has joined it already, for another bus
    participant = DomainParticipant(domain)
    qos = Qos(Policy.Reliability.Reliable(duration(milliseconds=100)), Policy.History.KeepLast(1000))
    writer = DataWriter(participant, Topic(participant, f"rt{topic}", State), qos=qos)
    vars(writer)["kept"] = kept
    return writer, State, lambda seconds, nanoseconds: Head(Stamp(seconds, nanoseconds), "")


class Ros2Wire(SampleWire):
    """A publisher that plays the rig: each of the rig's messages is a joint of the joint state."""

    settle = 0.2  # s: the reader's end of discovery

    def __init__(self, link: Path | None, messages: Sequence[Message], rate: float) -> None:
        super().__init__(link, messages, rate)
        for one in messages:
            units = [unit_of(field) for field in one.fields]
            wrong = [unit for unit in units if unit not in CARRIERS]
            if wrong or len({CARRIERS[unit] for unit in units}) < len(units):
                raise RigError(f"expected a position, a velocity and an effort of {one.name} on ros2, found {units}")
        self.domain = 1 + os.getpid() % 100
        self.device = f"/joint_states{messages[0].bus or ''}"
        self._writer, self._state, self._header = publisher(self.domain, self.device)
        self._names = [one.name for one in messages]
        self._began = 0

    def listening(self) -> bool:
        """Whether a reader is matched."""
        return bool(self._writer.get_matched_subscriptions())

    def publish(self, number: int, values: Sequence[tuple[float, ...]]) -> None:
        """One joint state, stamped with the instant at which the sample was due."""
        self._began = self._began or time.time_ns()
        now = self._began + round(number * 1e9 / self.rate)
        columns = np.full((3, len(values)), np.nan)
        for place, (one, mine) in enumerate(zip(self.messages, values, strict=True)):
            for field, value in zip(one.fields, mine, strict=True):
                columns[CARRIERS[unit_of(field)], place] = value
        self._writer.write(
            self._state(self._header(*divmod(now, 10**9)), self._names, *(column.tolist() for column in columns))
        )

    def stranger(self, _rng: np.random.Generator) -> bytes:
        """Not possible here. Raises RigError."""
        raise RigError("expected no fault unknown on ros2: a reader gets its own topic only")

    def rubbish(self, _rng: np.random.Generator) -> bytes:
        """Not possible here. Raises RigError."""
        raise RigError("expected no fault garbage on ros2: DDS delivers what was sent")

    def close(self) -> None:
        """Leave the domain."""
        self._writer = None

    def table(self) -> list[str]:
        """Lines of [drivers.NAME]."""
        quoted = ", ".join(f'"{name}"' for name in self._names)
        slid = ", ".join(f'"{m.name}"' for m in self.messages if {"m", "N"} & {unit_of(f) for f in m.fields})
        return [
            'kind = "ros2"',
            f"domain = {self.domain}",
            'interface = "lo"',
            'peers = ["127.0.0.1"]',
            f'topic = "{self.device}"',
            f"joints = [{quoted}]",
            *([f"prismatic = [{slid}]"] if slid else []),
        ]

    def signal(self, message: Message, field: str) -> str:
        """JOINT.FIELD of the joint state."""
        found = next(one for one in message.fields if one.name == field)
        return f"{message.name}.{NAMES[CARRIERS[unit_of(found)]]}"

    def clock(self, message: Message) -> dict[str, Any]:
        """The header's stamp."""
        return {"device_time": {"signal": f"{message.name}.stamp"}}
