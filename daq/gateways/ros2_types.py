"""Messages of ROS 2's diagnostics as DDS names them; imported only by the gateway, since it needs Cyclone DDS."""

from dataclasses import dataclass

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import byte, sequence

from drivers.network.dds_types import Header


@dataclass
class KeyValue(IdlStruct, typename="diagnostic_msgs::msg::dds_::KeyValue_"):
    """One line of a status."""

    key: str
    value: str


@dataclass
class DiagnosticStatus(IdlStruct, typename="diagnostic_msgs::msg::dds_::DiagnosticStatus_"):
    """How one part of a robot is: level 0 OK, 1 warning, 2 error, 3 stale."""

    level: byte
    name: str
    message: str
    hardware_id: str
    values: sequence[KeyValue]


@dataclass
class DiagnosticArray(IdlStruct, typename="diagnostic_msgs::msg::dds_::DiagnosticArray_"):
    """All of them at one instant."""

    header: Header
    status: sequence[DiagnosticStatus]
