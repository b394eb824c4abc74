"""Joints with two encoders: what their gears' twist tells, and a learnt compensation that is used while it helps."""

from dataclasses import asdict
from functools import cache

import numpy as np
import pytest

from estimators.base import Event
from estimators.models.robots.description import RobotDescription, RobotJoint, pose
from estimators.models.robots.files.identified import IdentifiedRobot, read
from estimators.models.robots.inertia import standard
from estimators.models.robots.newton_euler import newton_euler
from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.robot.gear_twists import gear_twists
from estimators.offline.robot.identification import RobotIdentification, identify
from estimators.offline.robot.motion import MotionError, Piece, pieces
from estimators.online.robot.estimator import RobotEstimator
from estimators.online.robot.motion import RobotMotion
from estimators.quantities import Axis, Floats

pytestmark = pytest.mark.compiled

RATE = 200.0  # Hz
STIFFNESS, ZERO, LAG = np.array([2e4, 8e3]), np.array([3e-3, -2e-3]), np.array([2e-3, 0.5e-3])
LOADED = np.array([0.15, 0.1])  # of the torque that the gear carries
CURVED = 2.0  # N·m, of the elbow's load, over which what is learnt bends
TURN = 200.0  # s at which what is learnt turns around


def arm() -> RobotDescription:
    turned = pose((-np.pi / 2, 0.0, 0.0), (0.0, 0.0, 0.4))
    z = np.array([0.0, 0.0, 1.0])
    joints = tuple(
        RobotJoint(name, Axis.ROTARY, i - 1, place, z)
        for i, (name, place) in enumerate((("lift", turned), ("elbow", turned)))
    )
    bodies = [standard(8.0, np.array([0.3, 0, 0.1]), np.diag([0.2, 0.2, 0.1]))]
    bodies.append(standard(3.0, np.array([0.2, 0.02, 0.0]), np.diag([0.01, 0.04, 0.04])))
    return RobotDescription("arm", joints, np.array(bodies))


def measured(seed: int, seconds: float, hidden: float = 0.0, turns: float = np.inf) -> tuple[Floats, ...]:
    """Time, motor, torque, link; hidden: N·m at the elbow the twist tells of, after `turns` s the other way around."""
    random = np.random.default_rng(seed)
    t = np.arange(0.0, seconds, 1.0 / RATE)
    q, dq, ddq = np.zeros((3, len(t), 2))
    for j in range(2):
        for frequency, phase in zip(random.uniform(0.1, 0.5, 4), random.uniform(0, 6.28, 4), strict=True):
            w = 2 * np.pi * frequency
            q[:, j] += 0.4 * np.sin(w * t + phase)
            dq[:, j] += 0.4 * w * np.cos(w * t + phase)
            ddq[:, j] -= 0.4 * w**2 * np.sin(w * t + phase)
    load, wrench = np.empty((len(t), 2)), np.empty((len(t), 2, 6))
    newton_euler(*arm().tree(), q, dq, ddq, arm().parameters, np.zeros((0, 2, 6)), load, wrench)
    twist = load / STIFFNESS
    friction = (1.0 + LOADED * np.abs(load)) * np.tanh(dq / 0.01) + 2.0 * dq
    friction[:, 1] += hidden * np.where(t < turns, 1.0, -1.0) * np.sin(load[:, 1] / CURVED)
    tau = load + friction + 0.1 * random.normal(size=q.shape)
    return t, q, tau, q - twist - ZERO - LAG * dq


def recorded(seed: int, seconds: float = 20.0, hidden: float = 0.0) -> list[Piece]:
    time, q, tau, link = measured(seed, seconds, hidden)
    return pieces(time, q, tau, link=link)


@cache
def taught() -> RobotIdentification:
    runs = [piece for seed in (1, 2, 3) for piece in recorded(seed, hidden=3.0)]
    return identify(arm(), runs, [recorded(4, hidden=3.0)], (), compensation="bases")


def test_stiffness_zero_and_lag_are_found_and_friction_by_load_is_explained() -> None:
    (first, second), words = gear_twists(WholeRobot(arm()), recorded(1))
    assert not words
    for j, gear in enumerate((first, second)):
        assert gear is not None
        assert gear.stiffness == pytest.approx(STIFFNESS[j], rel=0.05)
        assert gear.zero == pytest.approx(ZERO[j], abs=0.05 * 30.0 / STIFFNESS[j])
        assert gear.lag == pytest.approx(LAG[j], abs=2e-4)
    with_it = identify(arm(), recorded(1), [recorded(4)], ())
    found = dict(zip(with_it.found.model().names, with_it.found.theta, strict=True))
    for name, slope in zip(("twist.lift", "twist.elbow"), LOADED * STIFFNESS, strict=True):
        assert found[name] == pytest.approx(slope, rel=0.1)
    without = [pieces(*measured(seed, 20.0)[:3]) for seed in (1, 4)]
    plain = identify(arm(), without[0], [without[1]], ())
    assert with_it.tests[0].error < 0.7 * plain.tests[0].error


def test_a_second_encoder_that_is_none_is_named_and_not_used() -> None:
    time, q, tau, link = measured(1, 20.0)
    link[:, 0] = 3.0 * q[:, 0]
    link[:, 1] = q[:, 1] + 1e-4 * np.sin(40.0 * q[:, 1])
    found, (far, unloaded) = gear_twists(WholeRobot(arm()), pieces(time, q, tau, link=link))
    assert found == (None, None)
    assert "lift" in far
    assert "does not follow its first" in far
    assert "elbow" in unloaded
    assert "load" in unloaded
    with pytest.raises(MotionError, match="found none"):
        identify(arm(), pieces(time, q, tau), [], (), compensation="bases")


def test_what_is_learnt_helps_on_another_motion_and_is_in_the_model() -> None:
    found = taught()
    assert found.test_compensated is not None
    assert found.test is not None
    assert found.test_compensated.rmse[1] < 0.5 * found.test.rmse[1]
    assert found.test_compensated.rmse[0] < 1.1 * found.test.rmse[0]
    again = read(found.found.document())
    assert again.twists == found.found.twists
    u = np.array([[1e-3, 2e-2, 1.0]])
    for one, other in zip(again.learned, found.found.learned, strict=True):
        assert one is not None
        assert other is not None
        assert one.predict(u).tolist() == other.predict(u).tolist()


@pytest.mark.parametrize("asked", [{}, {"follow_twist": False}, {"follow_twist": True}])
def test_chunks_tell_the_difference_of_the_encoders_where_that_is_asked_for(asked: dict[str, bool]) -> None:
    """The joints come to rest, so what the low-passes tell at the end is the difference as it stands."""
    learnt = taught().found
    moves = RobotMotion(learnt.model(), learnt.reach(), learnt.loading, 1.0 / RATE, **asked)
    q, tau = np.tile([0.3, -0.2], (1000, 1)), np.zeros((1000, 2))
    chunk = moves.absorb(np.stack((q, tau, q - [1e-3, -2e-3]), axis=1))
    assert chunk.usable[-1]
    filtered = (chunk.q, chunk.dq, chunk.quick, chunk.place, chunk.ddq, chunk.tau, chunk.rate)
    assert {one.shape for one in filtered} == {(1000, 2)}, "a number for each joint"
    assert chunk.columns.shape == (1000, len(moves.places))
    if not asked.get("follow_twist"):
        assert chunk.twist.shape == chunk.twist_rate.shape == (0, 2)
        return
    assert chunk.twist[-1] == pytest.approx([1e-3, -2e-3], abs=1e-6)
    assert chunk.twist_rate[-1] == pytest.approx(0.0, abs=1e-6)


Live = tuple[RobotEstimator, list[Event], Floats]


def live(learnt: IdentifiedRobot, cut: int, first: float, last: float, state: dict[str, object] | None = None) -> Live:
    """The events, and residual and compensation after each cut; first, last: s of the motion."""
    estimator = RobotEstimator(learnt, 1.0 / RATE, start=4.0)
    if state is not None:
        estimator.resume(state)
    time, q, tau, link = measured(7, last, 3.0, TURN)
    ticks = np.round(time * 1e9).astype(np.int64)
    told, left = [], []
    for begin in range(round(first * RATE), len(ticks), cut):
        part = slice(begin, begin + cut)
        estimator.absorb(ticks[part], q[part], tau[part], link[part])
        told += estimator.events()
        now = estimator.estimate()
        left.append(np.concatenate([now.measured - now.predicted, now.compensation]))
    return estimator, told, np.array(left)


def test_it_is_used_while_it_helps_and_put_out_when_it_does_worse() -> None:
    """What it learnt turns around after 200 s."""
    estimator, events, left = live(taught().found, 4, 170.0, 235.0)
    switched = [(one.time / 1e9, one.text) for one in events if one.kind == "compensation"]
    [(on, _), (off, text)] = [one for one in switched if one[1].startswith("elbow")]
    assert "no longer" in text
    assert 179.0 < on < TURN < off < TURN + 12.0
    at = 170.0 + 4 * np.arange(len(left)) / RATE
    before, then = (float(np.sqrt(np.mean(left[(at > a) & (at < b), 1] ** 2))) for a, b in ((172, on), (on, TURN)))
    assert then < 0.75 * before
    assert np.isnan(left[(at < on - 0.1) | (at > off + 0.1), 3]).all()
    assert np.isfinite(left[(at > on + 0.1) & (at < off - 0.1), 3]).all()
    assert estimator.compensations()["elbow"][0] is False


def test_results_do_not_depend_on_how_rows_are_cut_and_go_on_after_a_restart() -> None:
    one, events, _ = live(taught().found, 4, 170.0, 195.0)
    other, told, _ = live(taught().found, 31, 170.0, 195.0)
    assert [(event.time, event.text) for event in events] == [(event.time, event.text) for event in told]
    assert (one.parameters()[0] == other.parameters()[0]).all()
    assert one.compensations() == other.compensations()
    assert one.compensations()["elbow"][0]
    kept = one.keep()
    assert kept is not None
    state = {name: one.tolist() if isinstance(one, np.ndarray) else one for name, one in asdict(kept).items()}
    again, _, left = live(taught().found, 4, 195.0, 197.0, state)
    assert again.compensations()["elbow"][0]
    assert np.isfinite(left[-1, 3])
    with pytest.raises(ValueError, match="another model"):
        RobotEstimator(taught().found, 1.0 / RATE).resume(state | {"compensation": [[1.0]]})
    fresh = RobotEstimator(taught().found, 1.0 / RATE)
    del state["compensation"]  # kept where nothing had been learnt: ten seconds have to show anew what it takes off
    fresh.resume(state)
    used, ratio = fresh.compensations()["elbow"]
    assert not used
    assert np.isnan(ratio)
