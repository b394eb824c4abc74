"""Disturbances of a whole robot while it is watched: one kind per row, with random sizes."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import numpy as np

from hil_rig.plants.base import Floats, Jump
from hil_rig.plants.robots.dynamics import body
from hil_rig.truth.robots.random_arm import DrawnArm

CHANGE: Final = 40.0  # s after the first sample at which the disturbance happens
SECONDS: Final = 100  # for which the robot is watched
FRICTION_OFF: Final = 0.3  # of each coefficient, at most
MORE_FRICTION: Final = 1.4
MORE_TORQUE: Final = 1.1
SLIP: Final = 0.02  # rad
OFFSET: Final = 1.5  # N·m
LINKS_OFF: Final = 0.15  # relative standard deviation of each link's mass
LESS_VISCOUS: Final = 0.6
WARMING: Final = 40  # s that the fall of viscous friction takes
PUSH: Final = 4.0  # times a joint's Coulomb friction
PUSHED: Final = 1.0  # s
PAYLOAD: Final = 2.0  # kg
CARRIED: Final = 25.0  # s
GRIPPED: Final = 0.06  # m from the last link's frame to the payload's centre
TIPPED: Final = 4.0  # degrees
TIPPING: Final = 1.0  # s that tipping takes
HOSE: Final = (1.0, 3.0)  # times a joint's Coulomb friction per rad
AT_REST: Final = 1.0  # rad from the joint's zero, at most, to the angle at which a hose does not pull
CREEPING: Final = 3.0  # s in which a zero creeps by OFFSET
STEPS: Final = 20  # steps of a gradual change
WEIGHED: Final = 0.5  # N·m of gravity torque, above which a joint's angle and its torque constant are identifiable


class Disturbance(NamedTuple):
    """The disturbance of one trial."""

    causes: tuple[str, ...]  # names of right findings, the best one first
    joint: int | None = None  # number of the disturbed joint, from 0
    live: DrawnArm | None = None  # the arm that is watched, if it differs from the one that was identified
    jumps: tuple[Jump, ...] = ()
    slip: float = 0.0  # rad, error of that joint's encoder from CHANGE on
    scale: float = 1.0  # factor of that joint's measured torque from CHANGE on
    carried: tuple[float, float] | None = None  # s, begin and end of carrying a payload
    from_start: bool = False  # whether the disturbance exists from the first sample on

    def distorted(self, first: float, q: Floats, torque: Floats, rate: float) -> None:
        """Apply the sensors' faults to positions and torques (samples, joints) that begin at `first` (s)."""
        if self.joint is None:
            return
        after = first + np.arange(len(q)) / rate >= CHANGE
        q[after, self.joint] += self.slip
        torque[after, self.joint] *= self.scale


def nothing(_arm: DrawnArm, _rng: np.random.Generator) -> Disturbance:
    """Nothing happens; the motion differs from the one that was identified from."""
    return Disturbance(())


def friction_off(arm: DrawnArm, rng: np.random.Generator) -> Disturbance:
    """Each friction coefficient differs by up to 30 % from its model from the beginning."""
    factors = {name: 1.0 + FRICTION_OFF * rng.uniform(-1.0, 1.0, arm.axes) for name in ("coulomb", "viscous")}
    changed = arm.friction | {name: arm.friction[name] * one for name, one in factors.items()}
    return Disturbance(("friction",), live=arm._replace(friction=changed), from_start=True)


def more_friction(arm: DrawnArm, _rng: np.random.Generator) -> Disturbance:
    """The friction of all joints grows at once, as in the cold."""
    jumps = [Jump(CHANGE, f"joint{j + 1}.friction", MORE_FRICTION) for j in range(arm.axes)]
    return Disturbance(("friction",), jumps=tuple(jumps))


def torque_constant(arm: DrawnArm, rng: np.random.Generator) -> Disturbance:
    """A joint's torque is measured 10 % too large."""
    return Disturbance(("torque_constant",), joint=_weighed(arm, rng), scale=MORE_TORQUE)


def encoder_slip(arm: DrawnArm, rng: np.random.Generator) -> Disturbance:
    """The encoder of a joint that is loaded by gravity slips on its shaft."""
    return Disturbance(("encoder_slip",), joint=_weighed(arm, rng), slip=SLIP)


def offset(arm: DrawnArm, rng: np.random.Generator) -> Disturbance:
    """The zero of a joint's torque jumps."""
    joint = int(rng.integers(arm.axes))
    jump = Jump(CHANGE, f"joint{joint + 1}.offset", float(arm.friction["offset"][joint]) + OFFSET, True)
    return Disturbance(("offset",), joint=joint, jumps=(jump,))


def links_off(arm: DrawnArm, rng: np.random.Generator) -> Disturbance:
    """The masses of all links differ by some 15 % from their model from the beginning."""
    factors = 1.0 + LINKS_OFF * rng.standard_normal((arm.axes, 1))
    return Disturbance(("links",), live=arm._replace(links=arm.links * factors), from_start=True)


def warming(arm: DrawnArm, _rng: np.random.Generator) -> Disturbance:
    """All viscous friction falls by 40 % within 40 s."""
    step = LESS_VISCOUS ** (1.0 / WARMING)
    jumps = [Jump(CHANGE + k, f"joint{j + 1}.viscous", step) for k in range(WARMING) for j in range(arm.axes)]
    return Disturbance(("friction",), jumps=tuple(jumps))


def push(arm: DrawnArm, rng: np.random.Generator) -> Disturbance:
    """Somebody pushes on a joint for a second."""
    joint = int(rng.integers(arm.axes))
    torque = PUSH * float(rng.choice((-1.0, 1.0))) * float(arm.friction["coulomb"][joint])
    name = f"joint{joint + 1}.push"
    return Disturbance(
        ("contact",), joint=joint, jumps=(Jump(CHANGE, name, torque, True), Jump(CHANGE + PUSHED, name, 0.0, True))
    )


def payload(_arm: DrawnArm, _rng: np.random.Generator) -> Disturbance:
    """A body of 2 kg is picked up and released."""
    jumps = (Jump(0.0, "payload.z", GRIPPED, True), Jump(CHANGE, "payload.mass", PAYLOAD, True))
    released = Jump(CHANGE + CARRIED, "payload.mass", 0.0, True)
    return Disturbance(("payload",), jumps=(*jumps, released), carried=(CHANGE, CHANGE + CARRIED))


def payload_from_start(arm: DrawnArm, _rng: np.random.Generator) -> Disturbance:
    """A body of 2 kg is carried from the first sample on."""
    links = arm.links.copy()
    links[-1] += body(PAYLOAD, np.array([0.0, 0.0, GRIPPED]), PAYLOAD * GRIPPED**2 * np.eye(3))
    return Disturbance(("payload",), live=arm._replace(links=links), carried=(0.0, float(SECONDS)), from_start=True)


def base_tips(_arm: DrawnArm, rng: np.random.Generator) -> Disturbance:
    """The base tips by 4° within a second, like that of a robot that drives onto a ramp."""
    about, size = float(rng.uniform(-np.pi, np.pi)), np.radians(TIPPED) / STEPS
    begun, step = CHANGE + TIPPING / STEPS * np.arange(STEPS), size * np.arange(1, STEPS + 1)
    jumps = [Jump(float(at), "base.tilt", float(one), True) for at, one in zip(begun, step, strict=True)]
    return Disturbance(("base_tilt",), jumps=(Jump(0.0, "base.about", about, True), *jumps))


def hose(arm: DrawnArm, rng: np.random.Generator) -> Disturbance:
    """A hose is attached that pulls on one axis like a spring."""
    joint = int(rng.integers(arm.axes))
    stiffness, rest = float(rng.uniform(*HOSE)) * float(arm.friction["coulomb"][joint]), float(rng.uniform(-1.0, 1.0))
    jumps = (
        Jump(0.0, f"joint{joint + 1}.rest", AT_REST * rest, True),
        Jump(CHANGE, f"joint{joint + 1}.spring", stiffness, True),
    )
    return Disturbance(("spring",), joint=joint, jumps=jumps)


def creeping_zero(arm: DrawnArm, rng: np.random.Generator) -> Disturbance:
    """The zero of a joint's torque moves within three seconds and stays there."""
    joint = int(rng.integers(arm.axes))
    before, way = float(arm.friction["offset"][joint]), OFFSET * float(rng.choice((-1.0, 1.0)))
    begun, done = CHANGE + CREEPING / STEPS * np.arange(STEPS), np.arange(1, STEPS + 1) / STEPS
    name = f"joint{joint + 1}.offset"
    jumps = [Jump(float(at), name, before + way * float(one), True) for at, one in zip(begun, done, strict=True)]
    return Disturbance(("offset",), joint=joint, jumps=tuple(jumps))


def _weighed(arm: DrawnArm, rng: np.random.Generator) -> int:
    """Choose a joint with gravity torque, without which neither its angle nor its torque constant is identifiable."""
    masses = np.cumsum(arm.links[::-1, 9])[::-1]
    levers = np.array(
        [np.abs(arm.rows[j + 1 :, 2]).sum() + np.linalg.norm(arm.links[j, 6:8]) / masses[j] for j in range(arm.axes)]
    )
    moved = [j for j in range(1, arm.axes) if 9.81 * masses[j] * levers[j] > WEIGHED]
    return int(rng.choice(moved[:2]))


DISTURBANCES: Final[Mapping[str, Callable[[DrawnArm, np.random.Generator], Disturbance]]] = {
    "nothing": nothing,
    "friction 30 % off": friction_off,
    "all friction x 1.4": more_friction,
    "torque constant": torque_constant,
    "encoder slip": encoder_slip,
    "offset": offset,
    "creeping zero": creeping_zero,
    "links 15 % off": links_off,
    "viscous -40 % in 40 s": warming,
    "push": push,
    "base tips": base_tips,
    "hose": hose,
    "payload": payload,
    "payload from the start": payload_from_start,
}
