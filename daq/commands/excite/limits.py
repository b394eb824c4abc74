"""The limits of an excitation: a .toml with a table for each joint, and limits of the whole robot.

A joint has limits of position, velocity and acceleration, and `effort`, the largest torque that the robot's model may
need; [workspace] is a box (m, base frame) for a link's origin or a named frame.
"""

from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from daq.config.toml_file import read_toml, validate
from daq.config.toml_lines import Lines
from daq.config.words import ConfigError, ConfigurationProblem
from estimators.models.robots.description import RobotDescription, RobotJoint
from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.excitation.shared_limits import SharedLimits, Torque, Workspace
from estimators.offline.excitation.trajectory import TrajectoryLimits
from estimators.quantities import Axis, Floats

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Point = tuple[FiniteFloat, FiniteFloat, FiniteFloat]


class LimitsRow(BaseModel):
    """The limits of one joint; missing limits are taken from the robot's file."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    lower: FiniteFloat | None = None
    upper: FiniteFloat | None = None
    velocity: Positive | None = None
    acceleration: Positive
    effort: Positive | None = None  # N·m (N), largest torque that the robot's model may need
    home: FiniteFloat | None = None  # where the trajectory begins and ends at rest; 0, or the middle
    noise: Positive = (
        1.0  # N·m (N), standard deviation of the torque: rows of a joint with little noise have more weight
    )


class WorkspaceBox(BaseModel):
    """Limits of the position of a point on the robot, m in the base frame."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    frame: str | None = None  # a frame of the robot's file; the origin of the last link's frame
    lower: Point
    upper: Point

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not all(low < high for low, high in zip(self.lower, self.upper, strict=True)):
            raise ValueError(f"expected lower < upper in x, y and z; found {self.lower} and {self.upper}")
        return self


class LimitsFile(BaseModel):
    """The file of limits."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    angles: Literal["rad", "deg"]
    joints: dict[str, LimitsRow]
    workspace: WorkspaceBox | None = None


class Limited(NamedTuple):
    """A robot within its limits."""

    limits: TrajectoryLimits
    home: Floats  # (n,)
    noise: Floats  # (n,)
    shared: SharedLimits | None  # torques and workspace


def load_limits(file: Path, robot: RobotDescription, torque: Torque | None) -> Limited:
    """Read and check the file. torque: of an identified model; without it the robot's file must give the links' masses.

    Raises ConfigError with every mistake, and ValueError if home exceeds a limit of torque or workspace.
    """
    data, lines = read_toml(file)
    table = validate(LimitsFile, data, file, lines)
    problems = []
    for name in table.joints:
        if name not in robot.names:
            text = f'found no joint "{name}" in the robot, it has {", ".join(robot.names)}'
            problems.append(ConfigurationProblem(lines.of(("joints", name)), f"joints.{name}", text))
    rows: list[tuple[float, ...]] = []
    for joint in robot.joints:
        row = table.joints.get(joint.name)
        if row is None:
            text = "expected limits, found none"
            problems.append(ConfigurationProblem(lines.of(("joints",)), f"joints.{joint.name}", text))
        else:
            unit = np.pi / 180 if table.angles == "deg" and joint.axis is Axis.ROTARY else 1.0
            rows.append(_row(joint, row, unit, lines, problems))
    if any(np.isfinite(row[6]) for row in rows) and torque is None and robot.guessed:
        text = "expected --model MODEL for limits of torque: the robot's file does not give the masses of its links"
        problems.append(ConfigurationProblem(lines.of(("joints",)), "joints", text))
    place = None if table.workspace is None else _place(table.workspace, robot, lines, problems)
    if problems:
        raise ConfigError(file, problems)
    columns = np.array(rows).T
    most, home = columns[6], columns[4]
    shared = None
    if place is not None or np.isfinite(most).any():
        torque = torque if torque is not None else _by_description(robot)
        shared = SharedLimits(robot.tree(), home, torque if np.isfinite(most).any() else None, most, place)
    return Limited(TrajectoryLimits(*columns[:4]), home, columns[5], shared)


def _row(
    joint: RobotJoint, row: LimitsRow, unit: float, lines: Lines, problems: list[ConfigurationProblem]
) -> tuple[float, ...]:
    """Lower, upper, velocity, acceleration, home, noise, effort of one joint in SI."""
    own = joint.limits
    lower = own.lower if row.lower is None else row.lower * unit
    upper = own.upper if row.upper is None else row.upper * unit
    velocity = own.velocity if row.velocity is None else row.velocity * unit
    home = row.home * unit if row.home is not None else 0.0 if lower < 0.0 < upper else (lower + upper) / 2
    where = lines.of(("joints", joint.name))
    if not (np.isfinite([lower, upper, velocity]).all() and lower < upper):
        text = "expected lower < upper and a velocity, here or in the robot's file"
        text = f"{text}; found {lower:g}, {upper:g}, {velocity:g}"
        problems.append(ConfigurationProblem(where, f"joints.{joint.name}", text))
    elif not lower < home < upper:
        text = f"expected home between {lower / unit:g} and {upper / unit:g}, found {home / unit:g}"
        problems.append(ConfigurationProblem(where, f"joints.{joint.name}.home", text))
    effort = np.inf if row.effort is None else row.effort
    return (lower, upper, velocity, row.acceleration * unit, home, row.noise, effort)


def _place(
    box: WorkspaceBox, robot: RobotDescription, lines: Lines, problems: list[ConfigurationProblem]
) -> Workspace | None:
    link, place = len(robot.joints) - 1, np.zeros(3)
    if box.frame is not None:
        frame = robot.frames.get(box.frame)
        if frame is None or frame.link < 0:
            text = f'found no moving frame "{box.frame}" in the robot, it has {", ".join(robot.frames) or "none"}'
            problems.append(ConfigurationProblem(lines.of(("workspace", "frame")), "workspace.frame", text))
            return None
        link, place = frame.link, frame.placement[:3, 3]
    return Workspace(link, place, np.array(box.lower), np.array(box.upper))


def _by_description(robot: RobotDescription) -> Torque:
    """Torque of the rigid bodies that the robot's file describes."""
    model = WholeRobot(robot)
    return lambda q, dq, ddq: model.torque(robot.parameters, q, dq, ddq)
