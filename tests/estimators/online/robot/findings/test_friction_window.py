"""Rows from which a robot's friction is searched: what is taken off, what is kept, when it is searched again."""

from concurrent.futures import Executor, Future
from typing import Any

import numpy as np
import pytest

from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.robots.description import RobotDescription, RobotJoint, pose
from estimators.models.robots.inertia import standard
from estimators.models.robots.whole_robot import WholeRobot
from estimators.numerics.nnls import Integers
from estimators.online.robot.block import BLOCK, ROWS, Block
from estimators.online.robot.findings.friction_window import LONGEST, WINDOW, FrictionWindow
from estimators.online.robot.findings.quick_samples import QuickSamples, RowSamples
from estimators.online.robot.friction_refit import FrictionRefits, RefittedFriction
from estimators.quantities import Axis, Floats
from estimators.refit.refit import RefitRows, refit
from estimators.thresholds import AT_REST

pytestmark = pytest.mark.compiled

LAW = TanhStribeckSettings(omega_tanh=0.05, omega_stribeck=0.15)
REACH, NOISE, JOINT = 1.0, 0.05, 1
ETA = np.array([0.05, 0.15])
COEFFICIENTS, OFFSET = np.array([5.0, 110.0, 8.0]), 0.7
ROOM = round(WINDOW * ROWS)
REST_ROWS = slice(20, 30)


def robot() -> WholeRobot:
    """Two joints with upright axes."""
    place, z = pose((0.0, 0.0, 0.0), (0.4, 0.0, 0.0)), np.array([0.0, 0.0, 1.0])
    joints = (RobotJoint("shoulder", Axis.ROTARY, -1, np.eye(4), z), RobotJoint("elbow", Axis.ROTARY, 0, place, z))
    bodies = [standard(4.0, np.array((0.2, 0.0, 0.0)), np.diag((0.02, 0.06, 0.06)))] * 2
    return WholeRobot(RobotDescription("arm", joints, np.array(bodies)), (LAW, LAW))


MODEL = robot()
WINDOW_OF = FrictionWindow(MODEL, JOINT, REACH)
PLACE = WINDOW_OF.place
REST = np.random.default_rng(4).uniform(-2.0, 2.0, MODEL.size + 2)  # of everything else: links, the other joint, lags


def known(scale: float = 1.0) -> Floats:
    """θ with lags, in which the joint's friction is as it is, or so many times as large."""
    theta = REST.copy()
    theta[PLACE] = *(scale * COEFFICIENTS), OFFSET
    return theta


class OwnSamples(QuickSamples):
    """Samples that no low-pass mixes: each row rests on its own."""

    def __init__(self, block: Block) -> None:
        self.taps, self._block = np.ones(1), block

    def complete(self, sample: Integers) -> Integers:
        return np.arange(len(sample))

    def of(self, joint: int, sample: Integers) -> RowSamples:
        rows = np.searchsorted(self._block.sample, sample)
        stretch = np.stack([self._block.dq[rows, joint], self._block.q[rows, joint]])
        return RowSamples(stretch, np.arange(len(rows)))


def block(seed: int, eta: Floats = ETA, theta: Floats | None = None, scale: float = 1.0) -> tuple[Block, Floats]:
    """Fifty rows of which ten in the middle stand still, and the friction's torque in them.

    theta: of the prediction; scale: of the friction and its noise.
    """
    draw, found = np.random.default_rng([seed, 8]), Block(MODEL.size + 2, np.full(2, AT_REST))
    X = draw.uniform(-1.0, 1.0, (BLOCK, 2, MODEL.size + 2))
    q, dq = draw.uniform(-2.0, 2.0, (BLOCK, 2)), draw.uniform(-0.9, 0.9, (BLOCK, 2))
    law, nothing = MODEL.law_of(JOINT), np.zeros(BLOCK)
    X[:, JOINT, PLACE[:-1]] = law.columns(q[:, JOINT], dq[:, JOINT], nothing, ETA)
    X[:, JOINT, PLACE[-1]] = 1.0
    friction = law.columns(q[:, JOINT], dq[:, JOINT], nothing, eta) @ COEFFICIENTS + OFFSET
    friction += NOISE * draw.standard_normal(BLOCK)
    friction *= scale
    others = np.delete(np.arange(MODEL.size + 2), PLACE)
    measured = friction + X[:, JOINT, others] @ REST[others]
    found.X[:], found.q[:], found.dq[:] = X, q, dq
    found.r[:, JOINT] = measured - X[:, JOINT] @ (known() if theta is None else theta)
    found.dq[REST_ROWS] = 0.0
    found.sample[:] = np.arange(BLOCK)
    found.count = BLOCK
    return found, np.delete(np.column_stack([q[:, JOINT], dq[:, JOINT], friction]), REST_ROWS, axis=0)


def signals_of(one: FrictionWindow) -> Floats:
    """Place, speed and torque of each row."""
    rows = one.window()
    assert rows.position is not None
    return np.column_stack([rows.position[rows.first], rows.velocity[rows.first], rows.y])


@pytest.mark.parametrize("predicted", [1.0, 0.3])
def test_a_window_has_the_frictions_torque_beside_place_and_speed_whatever_was_predicted(predicted: float) -> None:
    one = FrictionWindow(MODEL, JOINT, REACH)
    expected = []
    for seed in range(3):
        rows, signals = block(seed, theta=known(predicted))
        one.absorb(rows, known(predicted), REST, OwnSamples(rows))
        expected.append(signals)
    whole = np.concatenate(expected)
    assert one.count == len(whole) == 120, "no row at rest"
    np.testing.assert_allclose(signals_of(one), whole, atol=1e-9)
    fixed = one.window().fixed
    assert fixed.shape == (120, 2), "what η does not move: the viscous friction and the offset"
    np.testing.assert_allclose(fixed, np.column_stack([whole[:, 1], np.ones(120)]), atol=1e-12)
    assert [parameter.name for parameter in one.parameters()] == ["viscous", "offset"]


def test_rows_beyond_the_speeds_of_the_law_are_left_out() -> None:
    one = FrictionWindow(MODEL, JOINT, 0.5)
    rows, signals = block(1)
    one.absorb(rows, known(), REST, OwnSamples(rows))
    inside = signals[np.abs(signals[:, 1]) <= 0.5]
    assert 5 < one.count == len(inside) < len(signals)
    np.testing.assert_allclose(signals_of(one), inside, atol=1e-9)


class QuickerSamples(OwnSamples):
    """Samples that are three times as fast as their rows, as where a joint is struck."""

    def of(self, joint: int, sample: Integers) -> RowSamples:
        found = super().of(joint, sample)
        return found._replace(stretch=found.stretch * [[3.0], [1.0]])


def test_a_law_is_used_up_to_the_speed_that_it_was_identified_at_whatever_was_passed_within_a_row() -> None:
    one = FrictionWindow(MODEL, JOINT, REACH)
    rows, signals = block(1)
    one.absorb(rows, known(), REST, QuickerSamples(rows))
    np.testing.assert_allclose(signals_of(one)[:, 1], np.clip(3.0 * signals[:, 1], -REACH, REACH), atol=1e-12)
    assert one.count == len(signals)


def fill(one: FrictionWindow, eta: Floats = ETA, scale: float = 1.0) -> FrictionWindow:
    for seed in range(ROOM // 40):
        rows, _ = block(seed, eta, scale=scale)
        one.absorb(rows, known(), REST, OwnSamples(rows))
    return one


def filled(eta: Floats = ETA) -> FrictionWindow:
    return fill(FrictionWindow(MODEL, JOINT, REACH), eta)


def test_the_residual_is_that_of_least_squares_and_a_step_of_eta_explains_what_another_eta_leaves() -> None:
    same, other = filled(), filled(ETA * (1.0, 1.2))
    assert same.full
    assert len(same.window(80).velocity) == 80, "two blocks, and no samples of a third"
    assert same.residual(ETA) == pytest.approx(NOISE**2, rel=0.15)
    assert other.residual(ETA) > 5.0 * NOISE**2
    assert other.residual(ETA * (1.0, 1.2)) == pytest.approx(NOISE**2, rel=0.15)
    q, dq, torque = signals_of(other).T
    A = np.column_stack([MODEL.law_of(JOINT).columns(q, dq, 0.0 * q, ETA), np.ones(len(q))])
    left = torque - A @ np.linalg.lstsq(A, torque)[0]
    assert other.residual(ETA) == pytest.approx(np.mean(left**2), rel=1e-9)
    assert same.gain(1.0) < 20.0
    assert other.gain(1.0) == pytest.approx(len(q) * (np.mean(left**2) / NOISE**2 - 1.0), rel=0.25)
    assert other.gain(4.0) == pytest.approx(other.gain(1.0) / 4.0, rel=1e-12)


def test_what_is_usual_grows_with_the_frictions_power_and_never_falls() -> None:
    one = filled()
    assert not one.knows_usual
    one.keep_usual()
    assert one.knows_usual
    variance = one.residual(ETA)
    assert one.usual == pytest.approx(variance)
    fill(one, scale=2.0)
    assert one.usual == pytest.approx(4.0 * variance)
    fill(one, scale=0.2)
    assert one.usual == pytest.approx(variance)


def test_a_refusal_that_more_rows_could_turn_asks_for_half_as_many_again_up_to_four_windows() -> None:
    one = filled()
    rooms = []
    for number in range(1, 6):
        one.refuse("uncertain", explained=True)
        assert (one.refused, one.cause) == (number, "uncertain")
        rooms.append(one.room / ROOM)
    assert rooms == [1.5, 2.25, 3.375, LONGEST, LONGEST]
    due = one.due
    one.refuse("beyond the usual", explained=False)
    assert one.room == ROOM
    assert one.due == due - (LONGEST - 1) * ROOM // 2
    one.settle()
    assert (one.refused, one.cause, one.left, one.room) == (0, "", False, ROOM)


def feed(one: FrictionRefits, seed: int, eta: Floats = ETA) -> list[RefittedFriction]:
    rows, _ = block(seed, eta)
    return one.absorb(rows, known(), True, OwnSamples(rows))


class Asked(Executor):
    """Keeps what it is asked for; a test says when that is done."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Any, ...]] = []
        self.futures: list[Future[Any]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        self.jobs.append((fn, *args))
        self.futures.append(Future())
        return self.futures[-1]


def test_eta_is_searched_in_the_windows_rows_once_two_looks_have_seen_it_moved_and_again_with_half_new_ones() -> None:
    asked = Asked()
    one = FrictionRefits(robot(), np.ones(2), np.array([0.0, REACH]), asked)
    searched = [joint for joint in one._joints if joint.joint == JOINT]
    (joint,) = searched
    seed = 0
    for seed in range(30):
        assert feed(one, seed) == []
    assert joint.knows_usual
    assert not one.doubtful
    assert asked.jobs == []
    while not asked.jobs:
        seed += 1
        assert seed < 80
        feed(one, seed, ETA * (1.0, 1.5))
    assert one.doubtful
    fn, window, model, *_ = asked.jobs[0]
    assert fn is refit
    assert isinstance(window, RefitRows)
    assert window.position is not None
    assert window.load is not None
    own = joint.window()
    for name in ("position", "velocity", "y", "fixed", "first", "taps"):
        np.testing.assert_array_equal(getattr(window, name), getattr(own, name))
    assert not window.load.any()
    assert (model.friction, model.axis) == (LAW, Axis.ROTARY)
    assert [parameter.name for parameter in model.fixed] == ["viscous", "offset"]
    begun = joint.count
    asked.futures[0].set_exception(ValueError("it did not converge"))
    (ended,) = feed(one, 99, ETA * (1.0, 1.5))
    assert (ended.joint, ended.reason, ended.words) == (JOINT, "it did not converge", "20 s of motion")
    while len(asked.jobs) < 2:
        seed += 1
        assert seed < 200
        feed(one, seed, ETA * (1.0, 1.5))
    assert ROOM // 2 <= joint.count - begun < ROOM // 2 + 6 * 40, "half of its rows are new, and two looks agree"


def test_whether_a_friction_has_left_its_law_is_known_after_two_seconds_of_its_motion() -> None:
    one = FrictionRefits(robot(), np.ones(2), np.array([0.0, REACH]), Asked())
    for seed in range(30):
        feed(one, seed)
    for eta, left in ((1.0, False), (1.5, True)):
        for seed in range(3):
            feed(one, 100 + seed, ETA * (1.0, eta))
        assert one.leaves_law((JOINT,), 100) is left
        assert one.leaves_law((0, JOINT), 99), "it is not known yet"
        assert not one.leaves_law((0,), 100), "nothing usual is known of the other joint"


def test_a_block_that_is_spoilt_is_left_out_and_what_was_kept_of_other_laws_is_refused() -> None:
    one = FrictionRefits(robot(), np.ones(2), np.full(2, REACH), Asked())
    feed(one, 0)
    counts = [joint.count for joint in one._joints]
    one.spoil()
    feed(one, 1)
    assert [joint.count for joint in one._joints] == counts
    feed(one, 2)
    assert [joint.count for joint in one._joints] != counts
    assert one.etas == [*ETA, *ETA]
    one.resume([0.06, 0.2, 0.07, 0.3])
    assert [joint.law.start.tolist() for joint in one._joints] == [[0.06, 0.2], [0.07, 0.3]]
    for wrong in ([0.06, 0.2], [0.06, 0.2, 0.07, np.nan]):
        with pytest.raises(ValueError, match="other laws"):
            one.resume(wrong)


def test_a_search_that_holds_is_in_force_with_its_coefficients_and_what_four_rows_that_count_as_one_leave_unsure() -> (
    None
):
    """Refused as long as rows from before the change are in its window; then as least squares of all columns say."""
    asked, factor = Asked(), 4.0
    model = robot()
    one = FrictionRefits(model, np.full(2, factor), np.array([0.0, REACH]), asked)
    (joint,) = [joint for joint in one._joints if joint.joint == JOINT]
    for seed in range(30):
        feed(one, seed)
    ended = list[RefittedFriction]()
    for seed in range(30, 130):
        ended += feed(one, seed, ETA * (1.0, 1.5))
        if any(not each.reason for each in ended):
            break
        if asked.futures and not asked.futures[-1].done():
            fn, *arguments = asked.jobs[-1]
            found = fn(*arguments)
            asked.futures[-1].set_result(found._replace(runner_up=np.array([0.07, 0.3]), gap=50.0))
            rows = joint.window()
            A, y = joint.columns(rows, found.eta), rows.y
    *refused, accepted = ended
    assert refused
    assert all("the usual" in each.reason and not each.sharpens for each in refused)
    assert (accepted.joint, accepted.reason, accepted.sharpens) == (JOINT, "", False)
    eta = model.law_of(JOINT).start
    assert eta == pytest.approx(ETA * (1.0, 1.5), rel=0.05)
    assert accepted.words == (f"omega_tanh 0.05 → {eta[0]:.4g} rad/s, omega_stribeck 0.15 → {eta[1]:.4g} rad/s")
    assert accepted.search is not None
    assert accepted.search.runner_up == {"omega_tanh": 0.07, "omega_stribeck": 0.3}
    assert accepted.place.tolist() == PLACE.tolist()
    order = np.concatenate([joint.still, joint.moving])  # of the columns
    theta = np.linalg.lstsq(A, y)[0]
    assert accepted.theta[order] == pytest.approx(theta, rel=1e-3)
    slopes = [(joint.columns(rows, eta * (1.0 + 1e-4 * step)) - A) @ theta / 1e-4 for step in np.eye(2)]
    J = np.column_stack([A, *slopes])  # of θ and ln η
    covariance = factor * np.mean((y - A @ theta) ** 2) * np.linalg.inv(J.T @ J)
    np.testing.assert_allclose(
        accepted.covariance[np.ix_(order, order)], covariance[:4, :4], rtol=0.1, atol=0.01 * covariance[:4, :4].max()
    )
    assert joint.known == pytest.approx(np.sqrt(np.diag(covariance)[4:]), rel=0.1)
    assert (joint.left, joint.refused, joint.count) == (False, 0, 40), "the block that came with it counts anew"
    searched = len(asked.jobs)
    for seed in range(130, 170):
        feed(one, seed, ETA * (1.0, 1.5))
        if len(asked.jobs) > searched:
            break
    longer = asked.jobs[-1][1]
    assert 2000 <= len(longer.y) < 2100, "as soon as its window is full again, all rows since"
    fn, *arguments = asked.jobs[-1]
    asked.futures[-1].set_result(fn(*arguments))
    (sharpened,) = feed(one, 170, ETA * (1.0, 1.5))
    assert (sharpened.reason, sharpened.sharpens) == ("", True)
    assert joint.law.start == pytest.approx(ETA * (1.0, 1.5), rel=0.04)
    assert (joint.known < np.sqrt(np.diag(covariance)[4:])).all()
    assert joint.count > 1000, "its window goes on"


def test_frictions_are_looked_at_each_second_block_and_what_is_beside_them_is_that_of_the_last_lawful_motion() -> None:
    asked = Asked()
    one = FrictionRefits(robot(), np.ones(2), np.array([0.0, REACH]), asked)

    def blocks(seeds: range, eta: float, theta: Floats, calm: bool = True) -> list[bool]:
        told = []
        for seed in seeds:
            rows, _ = block(seed, ETA * (1.0, eta), theta)
            one.absorb(rows, theta, calm, OwnSamples(rows))
            told.append(one.doubtful)
        return told

    first, second = known(), known()
    second[-1] += 0.5
    blocks(range(30), 1.0, first)
    blocks(range(30, 32), 1.0, second, calm=False)
    np.testing.assert_array_equal(one.rest, first, "something else was going on")
    blocks(range(32, 33), 1.0, second)
    np.testing.assert_array_equal(one.rest, first)
    blocks(range(33, 34), 1.0, second)
    np.testing.assert_array_equal(one.rest, second)
    told = blocks(range(34, 74), 1.5, first)
    doubtful = told.index(True)
    assert doubtful % 2 == 1, "with the second of two blocks"
    np.testing.assert_array_equal(one.rest, first if doubtful > 1 else second)
    one._joints[-1].asked = None
    for _ in range(3):
        assert not one.reasons(("shoulder", "elbow"))
        assert one.leaves_law((JOINT,), 200)
        one._joints[-1].refuse("the residual is too large", False)
    (reason,) = one.reasons(("shoulder", "elbow"))
    assert (reason.code, reason.parameter, reason.numbers) == ("friction_refused", "elbow", {"searches": 3})
    assert not one.leaves_law((JOINT,), 200), "nothing waits for searches that are refused"
