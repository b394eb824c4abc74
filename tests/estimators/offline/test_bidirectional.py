"""Friction from both directions: on an arm whose dynamics Pinocchio plays, with friction that differs by direction."""

import numpy as np
import pytest

from estimators.models.robots.files.dh_table import DhRow, DhTable
from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.robot.bidirectional import extract
from estimators.offline.robot.cubic_friction import cubic_friction
from estimators.offline.robot.motion import MotionError, Piece, pieces
from estimators.quantities import Axis, Floats

pinocchio = pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install 'jointwatch[test]'")
pytestmark = pytest.mark.compiled
RATE = 200.0
DRY, SLOPE = (np.array([[6.0, 9.0], [4.0, 5.0]]), np.array([[3.0, 4.0], [2.0, 2.5]]))  # joint × (forward, backward)


@pytest.fixture(scope="module")
def model() -> WholeRobot:
    rows = {"a": DhRow(alpha=np.pi / 2), "b": DhRow(alpha=0.0, a=0.5)}
    return WholeRobot(DhTable(convention="modified", angles="rad", total_mass=12.0, joints=rows).robot())


def friction(dq: Floats) -> Floats:
    forward = dq >= 0
    dry = np.where(forward, DRY[:, 0], DRY[:, 1]) * np.tanh(dq / 1e-3)
    return dry + np.where(forward, SLOPE[:, 0], SLOPE[:, 1]) * dq


def run(sign: float, noise: float, delay: float = 0.0) -> tuple[Piece, Floats]:
    """A path of 20 s, forwards or backwards, and its true friction."""
    robot, parent = pinocchio.Model(), 0
    for place, (mass, centre) in enumerate(((8.0, (0.25, 0.02, 0.01)), (4.0, (0.2, -0.03, 0.02)))):
        turn = pinocchio.rpy.rpyToMatrix(np.pi / 2 if place == 0 else 0.0, 0.0, 0.0)
        frame = pinocchio.SE3(turn, np.array([0.5 * place, 0.0, 0.0]))
        parent = robot.addJoint(parent, pinocchio.JointModelRZ(), frame, f"joint{place}")
        inertia = pinocchio.Inertia(mass, np.array(centre), np.diag([0.05, 0.2, 0.2]))
        robot.appendBodyToJoint(parent, inertia, pinocchio.SE3.Identity())
    data = robot.createData()
    time = np.arange(0.0, 40.0, 1 / RATE)
    t = sign * (time - delay)
    w = 2 * np.pi / 20.0 * np.array([[1, 2, 3], [1, 2, 4]])
    a = np.array([[0.6, 0.3, -0.2], [0.5, -0.3, 0.15]])
    phase = w * t[:, np.newaxis, np.newaxis]
    q, dq, ddq = (a * np.sin(phase)).sum(2), sign * (a * w * np.cos(phase)).sum(2), -(a * w**2 * np.sin(phase)).sum(2)
    tau = np.array([pinocchio.rnea(robot, data, *one) for one in zip(q, dq, ddq, strict=True)])
    rubbing = friction(dq)
    random = np.random.default_rng(int(sign) + 2)
    (found,) = pieces(time, q, tau + rubbing + noise * random.normal(size=q.shape))
    return found, rubbing


def test_friction_of_either_direction_is_found(model: WholeRobot) -> None:
    (forward, truth), (backward, _) = run(1.0, 0.5), run(-1.0, 0.5)
    found = extract(model, forward, backward)
    at = np.rint(found.time * RATE).astype(int)
    for j in range(2):
        fast = np.abs(found.dq[:, j]) > 0.05
        rms = np.sqrt(np.mean(truth[at][fast, j] ** 2))
        error = np.sqrt(np.mean((found.friction - truth[at])[fast, j] ** 2))
        odd = np.sqrt(np.mean((found.odd - truth[at])[fast, j] ** 2))
        assert error < 0.05 * rms
        assert odd > 2 * error, "the even part is what the model gives"
        even = (DRY[j, 0] - DRY[j, 1] + (SLOPE[j, 0] - SLOPE[j, 1]) * found.speeds[j]) / 2
        assert np.abs(found.curve[j] - even)[2:].max() < 0.1 * DRY[j].mean()


def test_a_cubic_of_each_direction_fits_it_and_says_nothing_beyond_what_was_seen(model: WholeRobot) -> None:
    (forward, _), (backward, _) = run(1.0, 0.5), run(-1.0, 0.5)
    found = extract(model, forward, backward)
    for j in range(2):
        known = np.isfinite(found.friction[:, j])
        cubic = cubic_friction(found.dq[known, j], found.friction[known, j], Axis.ROTARY)
        assert cubic is not None
        fastest = np.abs(found.dq[:, j]).max()
        assert cubic.reach == pytest.approx(1.1 * fastest, rel=0.01)
        speed = np.linspace(-fastest, fastest, 41)
        speed = speed[np.abs(speed) > 0.05]
        wanted = friction(np.column_stack([speed] * 2))[:, j]
        assert np.sqrt(np.mean((cubic.at(speed) - wanted) ** 2)) < 0.05 * np.sqrt(np.mean(wanted**2))
        assert np.isfinite(cubic.at(np.array([1.09, -1.09]) * fastest)).all()
        assert np.isnan(cubic.at(np.array([1.12, -1.12]) * fastest)).all()
    assert cubic_friction(speed[:5], wanted[:5], Axis.ROTARY) is None


def test_the_runs_need_not_begin_together(model: WholeRobot) -> None:
    (forward, truth), (backward, _) = run(1.0, 0.0), run(-1.0, 0.0, delay=1.3)
    found = extract(model, forward, backward)
    fast = np.abs(found.dq[:, 0]) > 0.05
    at = np.rint(found.time * RATE).astype(int)
    assert found.differ < 0.01
    assert np.sqrt(np.mean((found.friction - truth[at])[fast, 0] ** 2)) < 0.05 * np.sqrt(np.mean(truth[:, 0] ** 2))


def test_two_different_paths_are_refused(model: WholeRobot) -> None:
    (forward, _), (other, _) = run(1.0, 0.0), run(-1.0, 0.0)
    other = other._replace(q=other.q * np.array([1.0, 0.5]))
    with pytest.raises(MotionError, match="expected one path forwards and backwards, found paths that differ by"):
        extract(model, forward, other)
    with pytest.raises(MotionError, match="expected both runs at one rate, found 200 and 100 Hz"):
        extract(model, forward, replace_rate(other))


def replace_rate(piece: Piece) -> Piece:
    return piece._replace(rate=100.0)
