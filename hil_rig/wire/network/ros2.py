"""A joint state publisher of ROS 2 over DDS, on this machine only: one stamped message for each sample."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hil_rig.messages import Message
from hil_rig.plants.base import RigError
from hil_rig.ports import free_domain
from hil_rig.wire.network.joint_states import JointStateWire

XML: Final = (
    "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name='lo'/></Interfaces>"
    "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
    "<MaxAutoParticipantIndex>99</MaxAutoParticipantIndex><Peers><Peer Address='127.0.0.1'/></Peers></Discovery>"
    "</Domain></CycloneDDS>"
)


def publisher(domain: int, topic: str) -> tuple[Any, Any, Any]:
    """Make a writer that keeps all joint states; returns it, its type and the header's type. Raises RigError."""
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
        kept = None  # this process has already joined it for another bus
    participant = DomainParticipant(domain)
    qos = Qos(Policy.Reliability.Reliable(duration(milliseconds=100)), Policy.History.KeepLast(1000))
    writer = DataWriter(participant, Topic(participant, f"rt{topic}", State), qos=qos)
    vars(writer)["kept"] = kept
    return writer, State, lambda seconds, nanoseconds: Head(Stamp(seconds, nanoseconds), "")


class Ros2Wire(JointStateWire):
    """A publisher in its own DDS domain."""

    kind = "ros2"

    def __init__(self, link: Path | None, messages: Sequence[Message], rate: float) -> None:
        super().__init__(link, messages, rate)
        self.domain = free_domain()
        self._writer, self._state, self._header = publisher(self.domain, self.device)

    def listening(self) -> bool:
        """Whether a reader has been discovered."""
        return bool(self._writer.get_matched_subscriptions())

    def state(self, stamp: int, names: list[str], columns: NDArray[np.float64]) -> None:
        """Publish a joint state."""
        self._writer.write(self._state(self._header(*divmod(stamp, 10**9)), names, *columns.tolist()))

    def close(self) -> None:
        """Leave the domain."""
        self._writer = None

    def place(self) -> list[str]:
        """Return the configuration of the domain on this machine."""
        return [f"domain = {self.domain}", 'interface = "lo"', 'peers = ["127.0.0.1"]']
