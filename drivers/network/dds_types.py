"""The types of ROS 2 messages with their names in DDS; imported only when a topic is opened, since it needs Cyclone
DDS."""

from dataclasses import dataclass
from typing import Any, Final

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float64, int32, sequence, uint32


@dataclass
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    """A stamp."""

    sec: int32
    nanosec: uint32


@dataclass
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    """Stamp and frame."""

    stamp: Time
    frame_id: str


class RawMessage:
    """A message as encoded on the wire (CDR); `sample_info` contains Cyclone's information on it."""

    sample_info: Any = None

    def __init__(self, data: bytes) -> None:
        self.data = data


@dataclass
class JointState(IdlStruct, typename="sensor_msgs::msg::dds_::JointState_"):
    """Positions, velocities and efforts of joints by name."""

    header: Header
    name: sequence[str]
    position: sequence[float64]
    velocity: sequence[float64]
    effort: sequence[float64]

    @classmethod
    def deserialize(cls, data: bytes, *_: Any, **__: Any) -> RawMessage:
        """The bytes themselves: `take()` of a reader asks the type to decode them."""
        return RawMessage(data)


@dataclass
class InterfaceValue(IdlStruct, typename="control_msgs::msg::dds_::InterfaceValue_"):
    """Values of one joint by the names of its interfaces."""

    interface_names: sequence[str]
    values: sequence[float64]


@dataclass
class DynamicJointState(IdlStruct, typename="control_msgs::msg::dds_::DynamicJointState_"):
    """Whatever each joint's drive measures."""

    header: Header
    joint_names: sequence[str]
    interface_values: sequence[InterfaceValue]

    @classmethod
    def deserialize(cls, data: bytes, *_: Any, **__: Any) -> RawMessage:
        """The bytes themselves: `take()` of a reader asks the type to decode them."""
        return RawMessage(data)


TYPES: Final[dict[str, Any]] = {
    "sensor_msgs/JointState": JointState,
    "control_msgs/DynamicJointState": DynamicJointState,
}
