"""An arm of three joints that Pinocchio moves: its torque with friction and noise, and what identifies it."""

from functools import cache

import numpy as np
import pytest

from estimators.models.robots.description import RobotDescription, RobotJoint, pose
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.inertia import standard
from estimators.offline.robot.identification import identify
from estimators.offline.robot.live_residuals import Recorded, with_live_residuals
from estimators.offline.robot.motion import pieces
from estimators.quantities import Axis, Floats

RATE, NOISE = 500.0, 0.2
COULOMB, VISCOUS = np.array([4.0, 5.0, 3.0]), np.array([2.0, 3.0, 1.0])


def arm() -> RobotDescription:
    turned = pose((-np.pi / 2, 0.0, 0.0), (0.0, 0.0, 0.4))
    along = pose((0.0, 0.0, 0.0), (0.5, 0.0, 0.0))
    z = np.array([0.0, 0.0, 1.0])
    joints = tuple(
        RobotJoint(f"joint{i + 1}", Axis.ROTARY, i - 1, place, z) for i, place in enumerate((np.eye(4), turned, along))
    )
    bodies = [
        standard(m, np.array(c), np.diag(one))
        for m, c, one in (
            (8.0, (0.0, 0.0, 0.2), (0.2, 0.2, 0.05)),
            (6.0, (0.25, 0.0, 0.0), (0.02, 0.15, 0.15)),
            (3.0, (0.2, 0.02, 0.0), (0.01, 0.04, 0.04)),
        )
    ]
    return RobotDescription("arm", joints, np.array(bodies))


@cache
def motion(seed: int, seconds: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Time, and a smooth random motion of sines: q, dq, ddq."""
    random = np.random.default_rng(seed)
    t = np.arange(0.0, seconds, 1.0 / RATE)
    parts = np.zeros((3, len(t), 3))
    for j in range(3):
        for frequency, phase in zip(random.uniform(0.1, 0.5, 4), random.uniform(0, 6.28, 4), strict=True):
            w = 2 * np.pi * frequency
            parts[0, :, j] += 0.3 * np.sin(w * t + phase)
            parts[1, :, j] += 0.3 * w * np.cos(w * t + phase)
            parts[2, :, j] -= 0.3 * w**2 * np.sin(w * t + phase)
    return t, parts[0], parts[1], parts[2]


def torque(parameters: Floats, q: Floats, dq: Floats, ddq: Floats, gravity: Floats | None = None) -> Floats:
    """Torque of the rigid body, by Pinocchio; gravity: (3,) m/s², by default downwards."""
    pin = pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install pin")
    model = pin.Model()
    for i, joint in enumerate(arm().joints):
        place = pin.SE3(joint.placement[:3, :3], joint.placement[:3, 3])
        index = model.addJoint(i, pin.JointModelRZ(), place, joint.name)
        model.appendBodyToJoint(index, pin.Inertia.FromDynamicParameters(parameters[i]), pin.SE3.Identity())
    if gravity is not None:
        model.gravity.linear = gravity
    data = model.createData()
    return np.array([pin.rnea(model, data, *row) for row in zip(q, dq, ddq, strict=True)])


def measured(seed: int, seconds: float, parameters: Floats | None = None) -> tuple[Floats, Floats, Floats, Floats]:
    """Time, positions, torque with friction and noise, and the speed."""
    t, q, dq, ddq = motion(seed, seconds)
    tau = torque(arm().parameters if parameters is None else parameters, q, dq, ddq)
    random = np.random.default_rng(seed + 1000)
    tau = tau + COULOMB * np.tanh(dq / 0.01) + VISCOUS * dq + NOISE * random.normal(size=tau.shape)
    return t, q + 2e-6 * random.normal(size=q.shape), tau, dq


@cache
def taught() -> IdentifiedRobot:
    t, q, tau, _ = measured(1, 40.0)
    found = identify(arm(), pieces(t, q, tau), [], ()).found
    return with_live_residuals(found, [Recorded(t, q, tau)])
