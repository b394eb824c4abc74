"""What an encoder's steps add to the products of a robot's columns, against rows of readings with such noise."""

from functools import cache

import numpy as np
import pytest

from estimators.conditioning.finer_rows import FinerRows
from estimators.models.robots.description import RobotDescription, RobotJoint, pose
from estimators.models.robots.inertia import standard
from estimators.models.robots.tree import PARAMETERS
from estimators.models.robots.whole_robot import WholeRobot
from estimators.numerics.causal_low_pass import CausalLowPass
from estimators.online.robot.motion import QUICK, SLOW, RobotMotion
from estimators.quantisation.robot_errors_in_variables import SPARSE, Encoders, shares
from estimators.quantities import Axis, Floats
from estimators.recursive.prior_bounded import PriorBounded

RATE = 500.0
SECONDS, ROW, SETTLED, STEP = 30, 10, 25, 2.0 * np.pi / 2**16  # several a sample: at one it is no white noise
WEIGHTS = np.array([1.0, 4.0, 0.25])


def _arm() -> RobotDescription:
    places = np.eye(4), pose((-np.pi / 2, 0.0, 0.0), (0.0, 0.0, 0.4)), pose((0.0, 0.0, 0.0), (0.5, 0.0, 0.0))
    z, body = np.array([0.0, 0.0, 1.0]), standard(5.0, np.array([0.25, 0.02, 0.03]), np.diag([0.05, 0.15, 0.15]))
    joints = (RobotJoint(f"joint{i}", Axis.ROTARY, i - 1, place, z, rotor=0.1 * i) for i, place in enumerate(places))
    return RobotDescription("arm", tuple(joints), np.array([body, body, body]))


def _motion() -> tuple[Floats, Floats]:
    """Time, and five sines a joint."""
    rng, t = np.random.default_rng(4), np.arange(0.0, SECONDS, 1.0 / RATE)
    phases = 2.0 * np.pi * (np.arange(1, 6) * 0.1 * t[:, None, None] + rng.random((3, 5)))
    return t, np.asarray((0.2 * np.sin(phases)).sum(axis=2))


@cache
def _read(stepped: bool) -> tuple[Floats, Floats]:
    """Rows of the motion, and their poses."""
    _, q = _motion()
    return _rows(WholeRobot(_arm()), np.round(q / STEP) * STEP if stepped else q)


def _rows(model: WholeRobot, q: Floats) -> tuple[Floats, Floats]:
    moves = RobotMotion(model, np.full(3, np.inf), model.robot.parameters, 1.0 / RATE)
    found, poses = [], []
    for first in range(0, len(q), ROW):
        chunk = moves.absorb(np.stack((q[first : first + ROW], np.zeros((ROW, 3))), axis=1))
        X = np.empty((3, model.size + 3))
        moves.row(chunk, 0, X, np.empty((3, PARAMETERS)))
        found.append(X)
        poses.append(chunk.q[0])
    return np.array(found)[SETTLED:, :, : model.size], np.array(poses)[SETTLED:]


def test_it_is_what_steps_add_to_the_products_of_the_columns() -> None:
    model = WholeRobot(_arm())
    t, q = _motion()
    stepped = np.round(q / STEP) * STEP
    (exact, poses), (noisy, _) = _read(stepped=False), _read(stepped=True)
    poses, off = poses[: len(poses) // SPARSE * SPARSE], (noisy - exact)[: len(poses) // SPARSE * SPARSE]
    encoders = Encoders(model, (QUICK, SLOW), 1.0 / RATE)
    encoders.absorb(np.round(1e9 * t).astype(np.int64), stepped)
    assert encoders.known
    N = encoders.noise(encoders.slopes(poses), np.ones((len(poses) // SPARSE, 3)), WEIGHTS)
    added = np.einsum("tjp,j,tjq->pq", off, WEIGHTS, off)
    # 1,450 rows tell a variance to √(2/1450) = 4 % and, as neighbouring rows share noise, a little less
    large = np.diag(N) > 0.1 * np.diag(N).max()
    assert large.sum() > 5
    assert np.diag(added)[large] == pytest.approx(np.diag(N)[large], rel=0.15)


def test_between_the_rows_of_a_slow_bus_steps_make_the_noise_of_its_own_samples() -> None:
    """Half of the rows were interpolated: what white noise of the others has in the second derivative."""
    period, noise = 0.02, np.random.default_rng(8).standard_normal((60_000, 1))
    finer = FinerRows(1, period, 2.0 * QUICK)
    ticks = np.round(1e9 * period * np.arange(len(noise))).astype(np.int64)
    _, between = finer.absorb(ticks, noise)
    assert finer.factor == 2
    passed = CausalLowPass(1, QUICK, finer.period).absorb(between)[0]
    second = CausalLowPass(1, SLOW, finer.period).absorb(passed)[2]
    encoders = Encoders(WholeRobot(_arm()), (QUICK, SLOW), finer.period, finer.made, np.full(3, np.sqrt(12.0)))
    t, q = _motion()
    encoders.absorb(np.round(1e9 * t).astype(np.int64), q)  # show no steps: those of the recordings hold
    assert encoders.steps == pytest.approx(np.full(3, np.sqrt(12.0)))
    # of one row and joint with weight 1: the variance itself
    assert encoders.noise(np.ones((1, 3, 3, 1)), np.full((1, 3), 1.0 / (SPARSE * 9.0)), np.ones(3))[0, 0] == (
        pytest.approx(second[50:].var(), rel=0.03)
    )


def test_readings_without_steps_are_not_corrected() -> None:
    model = WholeRobot(_arm())
    t, q = _motion()
    encoders = Encoders(model, (QUICK, SLOW), 1.0 / RATE)
    encoders.absorb(np.round(1e9 * t).astype(np.int64), q)
    assert not encoders.known


def test_it_is_settled_once_every_joint_has_moved() -> None:
    encoders, (t, q) = Encoders(WholeRobot(_arm()), (QUICK, SLOW), 1.0 / RATE), _motion()
    time, stepped = np.round(1e9 * t).astype(np.int64), np.round(q / STEP) * STEP
    half = len(t) // 2
    stepped[:half, 1] = stepped[half, 1]
    encoders.absorb(time[:half], stepped[:half])
    assert encoders.known
    assert not encoders.settled
    encoders.absorb(time[half:], stepped[half:])
    assert encoders.settled
    assert encoders.steps == pytest.approx(np.full(3, STEP))


def test_what_noise_in_columns_does_is_taken_off() -> None:
    """y = 2 x₁ + x₂, x₁ read with noise of half its variance: least squares find 4/3."""
    rng = np.random.default_rng(6)
    learner, noise, blocks = PriorBounded(np.zeros(2), 100.0 * np.eye(2), np.ones(2)), 0.5, 200
    plain = PriorBounded(np.zeros(2), 100.0 * np.eye(2), np.ones(2))
    for _ in range(blocks):
        x = rng.standard_normal((50, 1, 2))
        y = x @ np.array([2.0, 1.0])
        x[:, 0, 0] += np.sqrt(noise) * rng.standard_normal(50)
        for one in (learner, plain):
            one.absorb(x, y, np.ones(1))
        learner.unbias(np.diag([50 * noise, 0.0]))
    assert plain.theta[0] == pytest.approx(2.0 / (1.0 + noise), rel=0.03)
    assert learner.theta == pytest.approx([2.0, 1.0], rel=0.1)


def test_it_is_what_steps_make_columns_explain_of_the_residual() -> None:
    """Σ XᵀWr of rows whose r is nothing but what the steps did to the model's torque."""
    model = WholeRobot(_arm())
    t, q = _motion()
    stepped = np.round(q / STEP) * STEP
    (exact, poses), (noisy, _) = _read(stepped=False), _read(stepped=True)
    poses = poses[: len(poses) // SPARSE * SPARSE]
    exact, noisy = exact[: len(poses)], noisy[: len(poses)]
    encoders = Encoders(model, (QUICK, SLOW), 1.0 / RATE)
    encoders.absorb(np.round(1e9 * t).astype(np.int64), stepped)
    theta = np.concatenate([model.projection.G @ model.robot.parameters.ravel(), np.ones(len(model.terms))])
    r = (exact - noisy) @ theta
    found = np.einsum("tjp,j,tj->jp", noisy - exact, WEIGHTS, r)
    known = np.concatenate([theta, np.zeros(PARAMETERS)])
    pulls = encoders.pulls(encoders.slopes(poses), shares(np.ones((len(poses), 3))), WEIGHTS, known)
    large = np.abs(found) > 0.1 * np.abs(found).max()
    assert large.sum() > 5
    assert pulls[:, : model.size][large] == pytest.approx(found[large], rel=0.2)  # 4 %, and rows share noise


@pytest.mark.parametrize(
    "beat", [1.0, 8.0, *(pytest.param(beat, marks=pytest.mark.compiled) for beat in (4.0, 13.0, 20.0))]
)
def test_what_comes_back_at_a_whole_number_of_steps_a_sample_is_within_what_they_pass_for(beat: float) -> None:
    """Joint 2 at one step a sample and `beat` Hz: torque of its steps that lasts from row to row, and its speed."""
    model = WholeRobot(_arm())
    t = np.arange(0.0, 5.0, 1.0 / RATE)
    q = np.array([0.3, 0.0, 0.7]) + np.outer(t, [0.0, STEP * (RATE + beat), 0.0])
    stepped = np.round(q / STEP) * STEP
    (exact, poses), (noisy, _) = _rows(model, q), _rows(model, stepped)
    encoders = Encoders(model, (QUICK, SLOW), 1.0 / RATE)
    encoders.absorb(np.round(1e9 * t).astype(np.int64), stepped)
    theta = np.concatenate([model.projection.G @ model.robot.parameters.ravel(), np.ones(len(model.terms))])
    r = np.abs((noisy - exact) @ theta)
    lasting = np.minimum(r[1:], r[:-1]).max(axis=0)
    most = encoders.most(encoders.slopes(np.repeat(poses, SPARSE, axis=0)), np.append(theta, np.zeros(PARAMETERS)))
    assert (lasting < most).all()
    assert (lasting > 0.5 * most).all()  # and no more than it must be
    assert encoders.speeds == pytest.approx(
        STEP / np.pi * 2.0 * np.pi * QUICK / np.sqrt(2.0) * np.array([0, 1, 0]), rel=0.05
    )
