"""A robot from its Denavit–Hartenberg table, as TOML says it.

standard:  T = Rz(q + offset) Tz(d) Tx(a) Rx(alpha)     the link's frame is behind the joint: inertia is given in it
modified:  T = Rx(alpha) Tx(a) Rz(q + offset) Tz(d)     (Craig) the link's frame is the joint's
"""

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, FiniteFloat, model_validator

from estimators.models.robots.description import (
    Coupling,
    JointLimits,
    LinkFrame,
    RobotDescription,
    RobotJoint,
    moved,
    pose,
)
from estimators.models.robots.inertia import rod, standard
from estimators.models.robots.springs import CounterbalanceSettings
from estimators.quantities import Axis, Floats, Settings

Triple = tuple[FiniteFloat, FiniteFloat, FiniteFloat]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]

HEAVIEST, LIGHTEST = 1.5, 0.5  # masses of a guess fall along the chain in this ratio
LONGER, RADIUS = 0.1, 0.06  # m: a guessed rod is this much longer than the way to the next joint, and so thick


class Pose(Settings):
    """Where something sits: roll, pitch, yaw in the file's unit of angles, position in m."""

    rotation: Triple = (0.0, 0.0, 0.0)
    position: Triple = (0.0, 0.0, 0.0)

    def matrix(self, angle: float) -> Floats:
        """(4, 4); angle: rad per unit."""
        return pose(np.array(self.rotation) * angle, np.array(self.position))


class DhRow(Settings):
    """One joint of the table, and what is known of the link that it moves."""

    kind: Literal["revolute", "prismatic"] = "revolute"
    parent: str | None = None  # the joint before, in the file's order; "base"
    d: FiniteFloat = 0.0  # m
    a: FiniteFloat = 0.0  # m
    alpha: FiniteFloat = 0.0
    offset: FiniteFloat = 0.0  # added to q (prismatic: m)
    theta: FiniteFloat = 0.0  # the fixed angle of a prismatic joint
    mass: Positive | None = None  # kg
    centre: Triple = (0.0, 0.0, 0.0)  # of mass, m, in the link's frame
    inertia: tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat] | None = Field(
        default=None, description="Ixx, Iyy, Izz, Ixy, Iyz, Ixz about the centre of mass, kg·m²"
    )
    lower: FiniteFloat | None = None
    upper: FiniteFloat | None = None
    velocity: Positive | None = None
    effort: Positive | None = None  # N·m (N)
    rotor: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0  # kg·m², of the rotor itself
    gear: Positive = 1.0  # rotor turns per turn of the joint
    counterbalance: CounterbalanceSettings | None = None

    @model_validator(mode="after")
    def _body(self) -> Self:
        if self.inertia is not None:
            if self.mass is None:
                raise ValueError("expected mass together with inertia, found none")
            xx, yy, zz, xy, yz, xz = self.inertia
            values = np.linalg.eigvalsh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
            if not values[0] > 0:
                raise ValueError(
                    f"expected a positive definite inertia, found the principal value {values[0]:.3g} kg·m²"
                )
        elif self.mass is not None:
            raise ValueError("expected inertia together with mass, found none")
        return self


class DhTable(Settings):
    """The whole file."""

    name: str = "robot"
    convention: Literal["standard", "modified"]
    angles: Literal["rad", "deg"]  # unit of every angle in this file
    gravity: Triple = Field(default=(0.0, 0.0, -9.81), description="m/s², in the frame that carries the base")
    base: Pose = Pose()
    tools: dict[str, Pose] = Field(default_factory=dict)  # in the last joint's link frame
    total_mass: Positive | None = Field(default=None, description="kg, of the data sheet, where no link's is known")
    joints: dict[str, DhRow] = Field(min_length=1)
    couplings: tuple[Coupling, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        known = [name for name, row in self.joints.items() if row.mass is not None]
        unknown = [name for name in self.joints if name not in known]
        if known and unknown:
            raise ValueError(f"expected mass and inertia of every joint or of none, found none of {', '.join(unknown)}")
        if not known and self.total_mass is None:
            raise ValueError("expected mass and inertia of every joint, or the data sheet's total_mass; found neither")
        before = {"base"}
        for name, row in self.joints.items():
            if row.parent is not None and row.parent not in before:
                raise ValueError(f'expected the parent "{row.parent}" of {name} to stand before it, found it nowhere')
            before.add(name)
        for one in self.couplings:
            for name in (one.first, one.second):
                if name not in self.joints:
                    raise ValueError(f'found a coupling of the unknown joint "{name}"')
        return self

    def robot(self) -> RobotDescription:
        """The robot."""
        angle = np.pi / 180.0 if self.angles == "deg" else 1.0
        names = list(self.joints)
        joints: list[RobotJoint] = []
        behind: list[Floats] = []  # pose of a link's DH frame in its joint's frame
        for name, row in self.joints.items():
            parent = len(joints) - 1 if row.parent is None else names.index(row.parent) if row.parent != "base" else -1
            before = behind[parent] if parent >= 0 else self.base.matrix(angle)
            across = pose((row.alpha * angle, 0.0, 0.0), (row.a, 0.0, 0.0))
            turn = (row.offset if row.kind == "revolute" else row.theta) * angle
            slide = row.d + (row.offset if row.kind == "prismatic" else 0.0)
            along = pose((0.0, 0.0, turn), (0.0, 0.0, slide))
            if self.convention == "modified":
                placement, after = before @ across @ along, np.eye(4)
            else:
                placement = before @ pose((0.0, 0.0, turn), (0.0, 0.0, 0.0))
                after = pose((0.0, 0.0, 0.0), (0.0, 0.0, slide)) @ across
            behind.append(after)
            axis = Axis.ROTARY if row.kind == "revolute" else Axis.PRISMATIC
            joints.append(
                RobotJoint(
                    name,
                    axis,
                    parent,
                    placement,
                    np.array([0.0, 0.0, 1.0]),
                    _limits(row, angle),
                    row.rotor * row.gear**2,
                )
            )
        parameters = (
            self._guess(joints)
            if self.total_mass is not None and all(row.mass is None for row in self.joints.values())
            else np.array([moved(_body(row), after) for row, after in zip(self.joints.values(), behind, strict=True)])
        )
        frames = {"base": LinkFrame(-1, np.eye(4))} | {
            name: LinkFrame(len(joints) - 1, behind[-1] @ tool.matrix(angle)) for name, tool in self.tools.items()
        }
        springs = {
            name: row.counterbalance.model_copy(update={"angle": row.counterbalance.angle * angle})
            for name, row in self.joints.items()
            if row.counterbalance is not None
        }
        guessed = all(row.mass is None for row in self.joints.values())
        return RobotDescription(
            self.name,
            tuple(joints),
            parameters,
            np.array(self.gravity),
            guessed,
            frames,
            self.couplings,
            springs,
        )

    def _guess(self, joints: list[RobotJoint]) -> Floats:
        """Rods to the next joint, their masses falling along the chain: (n, 10)."""
        share = np.linspace(HEAVIEST, LIGHTEST, len(joints))
        masses = share / share.sum() * float(self.total_mass or 0.0)
        bodies = []
        for i, mass in enumerate(masses):
            child = next((joint for joint in joints if joint.parent == i), None)
            way = child.placement[:3, 3] if child is not None else np.zeros(3)
            length = float(np.linalg.norm(way))
            bodies.append(
                rod(float(mass), way if length > 1e-6 else np.array([0.0, 0.0, 1.0]), length + LONGER, RADIUS)
            )
        return np.array(bodies)


def _body(row: DhRow) -> Floats:
    xx, yy, zz, xy, yz, xz = row.inertia or (0.0,) * 6
    return standard(row.mass or 0.0, np.array(row.centre), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _limits(row: DhRow, angle: float) -> JointLimits:
    unit = angle if row.kind == "revolute" else 1.0
    given = {
        "lower": None if row.lower is None else row.lower * unit,
        "upper": None if row.upper is None else row.upper * unit,
        "velocity": None if row.velocity is None else row.velocity * unit,
        "effort": row.effort,
    }
    return JointLimits(**{key: value for key, value in given.items() if value is not None})
