"""A slide that carries a pendulum: its motion, its torque by the textbook, and the robot as it was taught."""

from functools import cache
from typing import NamedTuple

import numpy as np

from estimators.models.robots.description import RobotDescription, RobotJoint
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.inertia import standard
from estimators.models.robots.whole_robot import WholeRobot
from estimators.quantities import Axis, Floats

RATE, GRAVITY = 200.0, 9.81
SLIDE, BOB, CENTRE, INERTIA = 5.0, 2.0, np.array([0.3, 0.0, 0.05]), 0.02  # kg, kg, m, kg·m² about the bob's centre
VISCOUS, COULOMB, OFFSET = np.array([8.0, 0.6]), np.array([4.0, 0.8]), np.array([0.5, -0.2])
NOISE = np.array([0.3, 0.05])  # N, N·m of a sample


def arm() -> RobotDescription:
    joints = (
        RobotJoint("slide", Axis.PRISMATIC, -1, np.eye(4), np.array([1.0, 0.0, 0.0])),
        RobotJoint("swing", Axis.ROTARY, 0, np.eye(4), np.array([0.0, 1.0, 0.0])),
    )
    bodies = [standard(SLIDE, np.zeros(3), 0.1 * np.eye(3)), standard(BOB, CENTRE, INERTIA * np.eye(3))]
    return RobotDescription("crane", joints, np.array(bodies))


class Motion(NamedTuple):
    """Motion of both joints, (rows, 2)."""

    t: Floats
    q: Floats
    dq: Floats
    ddq: Floats


def motion(seconds: float) -> Motion:
    return motion_at(np.arange(round(seconds * RATE)) / RATE)


def motion_at(t: Floats) -> Motion:
    sines = (((0.2, 0.5, 0.0), (0.05, 1.3, 1.0)), ((0.8, 0.4, 0.5), (0.2, 1.1, 2.0)))
    parts = np.zeros((3, len(t), 2))
    for j, those in enumerate(sines):
        for size, frequency, phase in those:
            w, at = 2.0 * np.pi * frequency, 2.0 * np.pi * frequency * t + phase
            parts[:, :, j] += size * np.sin(at), size * w * np.cos(at), -size * w**2 * np.sin(at)
    return Motion(t, *parts)


def carried(moves: Motion, mass: float, centre: Floats, inertia: float) -> Floats:
    """Force and torque of a body on the pendulum (rows, 2), by Lagrange; inertia: about its own centre."""
    (x, _, z), angle, rate = centre, moves.q[:, 1], moves.dq[:, 1]
    slide, swing = moves.ddq.T
    along, down = -x * np.sin(angle) + z * np.cos(angle), -x * np.cos(angle) - z * np.sin(angle)
    force = mass * (slide + along * swing + down * rate**2)
    torque = (inertia + mass * (x**2 + z**2)) * swing + mass * along * slide + mass * GRAVITY * down
    return np.stack([force, torque], axis=1)


def torque(moves: Motion) -> Floats:
    """Without noise."""
    found = carried(moves, BOB, CENTRE, INERTIA) + VISCOUS * moves.dq + COULOMB * np.sign(moves.dq) + OFFSET
    found[:, 0] += SLIDE * moves.ddq[:, 0]
    return found


@cache
def taught() -> IdentifiedRobot:
    """As it is, known to 1 %."""
    model = WholeRobot(arm())
    known = {"viscous": VISCOUS, "coulomb": COULOMB, "offset": OFFSET}
    terms = [known[one.name.split(".")[0]][one.joints[0]] for one in model.terms]
    theta = np.append(model.projection.G @ arm().parameters.ravel(), terms)
    rms, reach, bodies = 0.4 * NOISE, np.array([1.0, 3.0]), arm().parameters
    return IdentifiedRobot(
        arm(), model.laws, theta, np.diag((0.01 * theta) ** 2), theta, np.diag((0.5 * theta) ** 2), rms**2,
        np.full(2, 4.0), reach, -reach, reach, bodies, bodies, bodies, {}, peaks=10.0 * rms, deviations=rms,
    )  # fmt: skip
