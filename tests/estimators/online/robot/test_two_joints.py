"""A slide that carries a pendulum, live: its torque by the textbook, and what is published of pushes, loads, frictions."""

from functools import cache
from typing import NamedTuple

import numpy as np

from estimators.base import Event
from estimators.models.robots.description import Joint, Robot
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.inertia import standard
from estimators.models.robots.whole_robot import WholeRobot
from estimators.online.robot.estimate import RobotEstimate
from estimators.online.robot.estimator import RobotEstimator
from estimators.quantities import Axis, Floats

RATE, GRAVITY = 200.0, 9.81
SLIDE, BOB, CENTRE, INERTIA = 5.0, 2.0, np.array([0.3, 0.0, 0.05]), 0.02  # kg, kg, m, kg·m² about the bob's centre
VISCOUS, COULOMB, OFFSET = np.array([8.0, 0.6]), np.array([4.0, 0.8]), np.array([0.5, -0.2])
NOISE = np.array([0.3, 0.05])  # N, N·m of a sample


def arm() -> Robot:
    joints = (
        Joint("slide", Axis.PRISMATIC, -1, np.eye(4), np.array([1.0, 0.0, 0.0])),
        Joint("swing", Axis.ROTARY, 0, np.eye(4), np.array([0.0, 1.0, 0.0])),
    )
    bodies = [standard(SLIDE, np.zeros(3), 0.1 * np.eye(3)), standard(BOB, CENTRE, INERTIA * np.eye(3))]
    return Robot("crane", joints, np.array(bodies))


class Motion(NamedTuple):
    """Of both joints, (rows, 2)."""

    t: Floats
    q: Floats
    dq: Floats
    ddq: Floats


def motion(seconds: float) -> Motion:
    t = np.arange(round(seconds * RATE)) / RATE
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


def taught() -> IdentifiedRobot:
    model = WholeRobot(arm())
    friction = {f"{name}.{joint}": value[j] for name, value in (("viscous", VISCOUS), ("coulomb", COULOMB), ("offset", OFFSET)) for j, joint in enumerate(("slide", "swing"))}
    theta = np.append(model.projection.G @ arm().parameters.ravel(), [friction[one.name] for one in model.terms])
    size = 0.5 * np.abs(theta)
    behind = 0.02 * NOISE  # variance
    return IdentifiedRobot(
        arm(), model.laws, theta, np.diag((0.02 * size) ** 2), theta, np.diag(size**2), (0.4 * NOISE) ** 2, np.full(2, 4.0),
        np.array([1.2, 3.5]), np.full(2, -1.0), np.full(2, 1.0), arm().parameters, arm().parameters, arm().parameters, {},
        peaks=4.0 * NOISE,
        deviations=0.4 * NOISE,
    )


if __name__ == "__main__":
    import time
    moves = motion(20.0)
    tau = torque(moves)
    model = WholeRobot(arm())
    print(model.names, [ (t.name, t.unit) for t in model.terms], model.meanings)
    print(np.abs(model.torque(arm().parameters, moves.q, moves.dq, moves.ddq) - (carried(moves, BOB, CENTRE, INERTIA) + np.outer(SLIDE*moves.ddq[:,0],[1,0]))).max())
    rng = np.random.default_rng(1)
    one = RobotEstimator(taught(), 1/RATE, start=4.0)
    a = time.time()
    res = []
    ticks = np.round(moves.t*1e9).astype(np.int64)
    tau = tau + NOISE*rng.standard_normal(tau.shape)
    for i in range(0, len(ticks), 2):
        one.absorb(ticks[i:i+2], moves.q[i:i+2], tau[i:i+2])
        e = one.estimate()
        res.append(np.concatenate([e.measured - e.predicted, e.thresholds]))
    print(time.time() - a, one.events(), one.learnt)
    res = np.array(res)
    print(res.std(axis=0), np.nanmax(np.abs(res), axis=0), one.friction())
    e = one.estimate(); print(e)
