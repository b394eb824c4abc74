"""Output fields of a Universal Robots controller (RTDE): types on the wire, places in a package, and units.

Types and units are those of Universal Robots' guide to RTDE. A vector of the six joints becomes one signal for each
joint, "JOINT.FIELD"; a field of the whole robot is "robot.FIELD", and a vector at the tool is "tool.FIELD_x" and so on.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from drivers.base import LayoutError, nearest
from drivers.layout.frame import FrameLayout, Signal

TIME: Final = "timestamp"  # s since the controller started; in every recipe, and in every joint's message
PACKAGE: Final = 0x100  # id of our data package in the layout: recipes have 1 to 255
RECIPE: Final = 1  # bytes before the fields of a data package
LONGEST_NAMES: Final = 2048  # bytes of all names in a recipe
_POSE: Final = ("m", "m", "m", "rad", "rad", "rad")
_TWIST: Final = ("m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s")
_WRENCH: Final = ("N", "N", "N", "N·m", "N·m", "N·m")
_AXES: Final = ("x", "y", "z", "rx", "ry", "rz")


class OutputField(NamedTuple):
    """One output field."""

    type: str  # DOUBLE, VECTOR3D or VECTOR6D, as the controller names it
    units: tuple[str, ...]  # SI unit of each number; a single unit: of all numbers
    of_joints: bool = False  # whether its six numbers belong to the joints

    @property
    def numbers(self) -> int:
        """How many doubles it has."""
        return {"DOUBLE": 1, "VECTOR3D": 3, "VECTOR6D": 6}[self.type]


def _of_joints(unit: str) -> OutputField:
    return OutputField("VECTOR6D", (unit,), True)


FIELDS: Final = {
    "target_q": _of_joints("rad"),
    "target_qd": _of_joints("rad/s"),
    "target_qdd": _of_joints("rad/s²"),
    "target_current": _of_joints("A"),
    "target_moment": _of_joints("N·m"),  # by the controller's own model, not measured
    "actual_q": _of_joints("rad"),
    "actual_qd": _of_joints("rad/s"),
    "actual_current": _of_joints("A"),
    "actual_current_window": _of_joints("A"),
    "actual_current_as_torque": _of_joints("N·m"),  # from PolyScope 5.23 and 10.11 on
    "joint_control_output": _of_joints("A"),
    "joint_temperatures": _of_joints("°C"),
    "actual_joint_voltage": _of_joints("V"),
    "actual_TCP_pose": OutputField("VECTOR6D", _POSE),
    "actual_TCP_speed": OutputField("VECTOR6D", _TWIST),
    "actual_TCP_force": OutputField("VECTOR6D", _WRENCH),
    "target_TCP_pose": OutputField("VECTOR6D", _POSE),
    "target_TCP_speed": OutputField("VECTOR6D", _TWIST),
    "actual_tool_accelerometer": OutputField("VECTOR3D", ("m/s²",)),
    "actual_execution_time": OutputField("DOUBLE", ("1",)),  # ms
    "actual_main_voltage": OutputField("DOUBLE", ("V",)),
    "actual_robot_voltage": OutputField("DOUBLE", ("V",)),
    "actual_robot_current": OutputField("DOUBLE", ("A",)),
    "actual_momentum": OutputField("DOUBLE", ("1",)),
    "speed_scaling": OutputField("DOUBLE", ("1",)),
    "target_speed_fraction": OutputField("DOUBLE", ("1",)),
    "payload": OutputField("DOUBLE", ("kg",)),
}


def layout(fields: Sequence[str], joints: Sequence[str]) -> FrameLayout:
    """Return the layout of a data package with these fields after the time. Raises LayoutError."""
    unknown = [name for name in fields if name not in FIELDS]
    if unknown:
        raise LayoutError("; ".join(f'unknown output field "{name}", {nearest(name, FIELDS)}' for name in unknown))
    signals = {f"{message}.{TIME}": _double(0, "s") for message in (*joints, "robot", "tool")}
    place = 1
    for name in fields:
        for message, signal, unit in _named(name, FIELDS[name], joints):
            signals[f"{message}.{signal}"] = _double(place, unit)
            place += 1
    return FrameLayout({PACKAGE: RECIPE + 8 * place}, signals)


def _named(name: str, field: OutputField, joints: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Return message, signal and unit of each number of a field."""
    units = field.units * (field.numbers if len(field.units) == 1 else 1)
    if field.of_joints:
        yield from ((joint, name, unit) for joint, unit in zip(joints, units, strict=True))
    elif field.numbers == 1:
        yield "robot", name, units[0]
    else:
        yield from (("tool", f"{name}_{axis}", unit) for axis, unit in zip(_AXES, units, strict=False))


def _double(place: int, unit: str) -> Signal:
    return Signal(PACKAGE, 8 * (RECIPE + 8 * place) + 7, 64, motorola=True, kind="float", unit=unit)
