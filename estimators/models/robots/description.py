"""A robot: joints in a tree, masses of its links, places of its tools, and torques besides those of the rigid body."""

from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from estimators.models.robots.springs import CounterbalanceSettings
from estimators.models.robots.tree import PARAMETERS, PRISMATIC, REVOLUTE, Tree, tree
from estimators.quantities import Axis, Floats, Settings

GRAVITY: Final = (0.0, 0.0, -9.81)  # m/s², z upwards


class RobotError(Exception):
    """The description cannot be used; `problems` holds every mistake, one sentence each."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


class JointLimits(Settings):
    """Limits of a joint by its data sheet; infinite where it states none."""

    lower: float = -np.inf  # rad (m)
    upper: float = np.inf
    velocity: float = np.inf  # rad/s (m/s)
    effort: float = np.inf  # N·m (N)


@dataclass(frozen=True, slots=True)
class RobotJoint:
    """What moves one link against its parent."""

    name: str
    axis: Axis
    parent: int  # number of the joint that moves the parent link; −1: the base
    placement: Floats  # (4, 4) pose of the joint's frame in the parent link's, at q = 0
    direction: Floats  # (3,) unit vector in the joint's own frame
    limits: JointLimits = field(default_factory=JointLimits)
    rotor: float = 0.0  # inertia of the rotor on the joint's side J·N², kg·m² (kg); 0: torque is measured behind it
    by_current: bool = False  # the torque is a motor current's
    unknown_rotor: float = 0.0  # as `rotor`, one deviation of an inertia that is not given; 0: it is not learnt

    @property
    def motor_side(self) -> bool:
        """Whether the torque is the motor's."""
        return self.rotor > 0 or self.by_current


@dataclass(frozen=True, slots=True)
class LinkFrame:
    """A place on a link: a tool, a sensor, the base."""

    link: int  # −1: the base
    placement: Floats  # (4, 4) in the link's frame


class Coupling(Settings):
    """Two joints that one drive moves together: friction of dq_first + ratio·dq_second, on the rows of both."""

    first: str
    second: str
    ratio: float = 1.0


@dataclass(frozen=True, slots=True)
class RobotDescription:
    """See the package for frames, order and units."""

    name: str
    joints: tuple[RobotJoint, ...]
    parameters: Floats  # (n, 10) standard parameters, of CAD or guessed
    gravity: Floats = field(default_factory=lambda: np.array(GRAVITY))  # (3,) in the base frame
    guessed: bool = False  # the links' inertia is not given: they are rods of a data sheet's mass
    frames: dict[str, LinkFrame] = field(default_factory=dict)
    couplings: tuple[Coupling, ...] = ()
    counterbalances: dict[str, CounterbalanceSettings] = field(default_factory=dict)  # joint → spring

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the joints."""
        return tuple(joint.name for joint in self.joints)

    def tree(self) -> Tree:
        """The links and joints as the kernels' tree."""
        kinds = [PRISMATIC if joint.axis is Axis.PRISMATIC else REVOLUTE for joint in self.joints]
        return tree(
            [joint.parent for joint in self.joints],
            kinds,
            np.array([joint.placement for joint in self.joints]).reshape(-1, 4, 4),
            np.array([joint.direction for joint in self.joints]).reshape(-1, 3),
            self.gravity,
        )

    def selected(self, names: tuple[str, ...]) -> "RobotDescription":
        """Only these joints turn; the others stand at zero, their links are one with what carries them."""
        keep = [i for i, joint in enumerate(self.joints) if joint.name in names]
        carrier = {-1: (-1, np.eye(4))}  # link → (new number, pose of its frame there)
        joints: list[RobotJoint] = []
        parameters = np.zeros((len(keep), PARAMETERS))
        for i, joint in enumerate(self.joints):
            above, pose = carrier[joint.parent]
            pose = pose @ joint.placement
            if i in keep:
                carrier[i] = (len(joints), np.eye(4))
                joints.append(replace(joint, parent=above, placement=pose))
            else:
                carrier[i] = (above, pose)
            link, at = carrier[i]
            if link >= 0:
                parameters[link] += moved(self.parameters[i], at)
        frames = {
            name: LinkFrame(carrier[frame.link][0], carrier[frame.link][1] @ frame.placement)
            for name, frame in self.frames.items()
        }
        return RobotDescription(
            self.name,
            tuple(joints),
            parameters,
            self.gravity,
            self.guessed,
            frames,
            tuple(one for one in self.couplings if one.first in names and one.second in names),
            {name: one for name, one in self.counterbalances.items() if name in names},
        )


def moved(parameters: Floats, pose: Floats) -> Floats:
    """Ten parameters of a body given in a frame that sits at `pose` (4, 4), in the frame that it sits in: T P Tᵀ."""
    from estimators.models.robots.inertia import parameters_of, pseudo_inertia

    return parameters_of(pose @ pseudo_inertia(parameters) @ pose.T)


def rotation(roll: float, pitch: float, yaw: float) -> Floats:
    """Rz(yaw) Ry(pitch) Rx(roll), rad: (3, 3)."""
    (cr, sr), (cp, sp), (cy, sy) = ((np.cos(a), np.sin(a)) for a in (roll, pitch, yaw))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def pose(rpy: tuple[float, float, float] | Floats, xyz: tuple[float, float, float] | Floats) -> Floats:
    """A pose (4, 4) from roll, pitch, yaw in rad and a position in m."""
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = rotation(*rpy), xyz
    return found
