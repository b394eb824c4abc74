"""What all starts share: when a start begins, what it checks each second, and what it learns at its end."""

import numpy as np
import pytest

from estimators.base import UNKNOWN
from estimators.online import assembly
from estimators.online.judgement.gate import Gate
from estimators.online.judgement.motion import MotionCount
from estimators.online.judgement.validity import Validity
from estimators.online.start.base import StartWait
from estimators.online.start.gathering import Gathering
from estimators.online.start.linear import LinearStart
from estimators.quantities import Floats, Parameter
from estimators.reasons import Reason
from estimators.recursive.forgetting import Alarm, Threshold
from estimators.recursive.learner import Learner
from estimators.rows import ROUNDING, Rows, moved

pytestmark = pytest.mark.interpreted

ROW = 0.02  # s
THETA = np.array([2.0, -1.0])
PARAMETERS = tuple(Parameter(name, "", -1e3, 1e3, "") for name in ("inertia", "viscous"))


def rows(count: int, speed: Floats | float = 1.0, seed: int = 1, weak: float = 1.0, noise: float = 0.1) -> Rows:
    """Two columns of rms 1, the second `weak` away from the first; speed: rad/s, constant under the kernel of a row."""
    random = np.random.default_rng(seed)
    first, second = np.linalg.qr(random.standard_normal((count, 2)))[0].T * np.sqrt(count)
    second = np.sqrt(1.0 - weak**2) * first + weak * second
    phi = np.stack([first, second], axis=1)[:, None]
    y = phi @ THETA + noise * random.standard_normal((count, 1))
    speeds = np.broadcast_to(np.asarray(speed, float), (count,))[:, None]
    motion = moved(np.zeros((count, 1)), speeds)
    return Rows(1_000_000 * np.arange(1, count + 1), phi, y, np.abs(speeds), motion=motion)


def gathering(gate: Gate | None = None, row: float = ROW, start: float = 4.0) -> tuple[Gathering, Learner, MotionCount]:
    learner, motion = Learner(2, 1, row, Alarm()), MotionCount(row, start, 2.0)
    return Gathering(learner, Validity(PARAMETERS), motion, gate), learner, motion


def gated(standstill: float = 0.01) -> Gate:
    return Gate(standstill, ROW)


# --- rows


@pytest.mark.parametrize(
    ("standstill", "speed", "clear"), [(1e-4, 5e-4, False), (0.01, 5e-3, False), (0.01, 0.2, True)]
)
def test_a_row_that_hardly_moves_counts_as_one_with_a_reversal(standstill: float, speed: float, clear: bool) -> None:
    """Against a tenth of the standstill speed, and of 1 mrad/s at least: 0.5 mrad/s is not above rounding."""
    one, learner, _ = gathering(gated(standstill))
    one.absorb(rows(200, np.where(np.arange(200) % 2, speed, -speed)))
    assert one.rows.either_way(100) is clear
    one.learn(one.rows.power())
    weights = one.rows.discount(learner.rls.noise, learner.leverage, 0.0, proven=False)
    assert weights.tolist() == [1e-3], "as long as it is not proven rows with a reversal hardly weigh"
    assert bool(one.rows.power()[0] > 0.5) is clear, "they are all of them, or none"


def test_without_a_gate_no_row_has_seen_a_reversal() -> None:
    one, *_ = gathering()
    one.absorb(rows(100, 1e-6))
    assert one.rows.either_way(1) is False
    assert one.proven
    assert one.rows.discount(np.ones(1), np.ones(2), 0.0, proven=False).tolist() == [1e-3]
    assert one.rows.power()[0] > 0.5


# --- the beginning


def test_half_a_second_of_finite_rows_begins_a_start_and_one_row_less_does_not() -> None:
    for count, begins in ((24, False), (25, True)):
        one, learner, motion = gathering()
        motion.state.count = 50
        learner.reversal[:] = 0.3
        found = rows(count)
        one.absorb(found)
        assert one.begin() is begins
        if not begins:
            assert (len(one.rows), one.rows.span, motion.state.count) == (0, None, 0)
            continue
        assert (len(one.rows), motion.state.count) == (25, 50)
        assert learner.reversal.tolist() == [1.0]
        assert learner.rls.noise == pytest.approx(np.mean(found.y**2, axis=0)), "nothing is known of the noise yet"
        assert learner.rls.theta == pytest.approx(np.linalg.lstsq(found.phi[:, 0], found.y[:, 0])[0], rel=0.01)
        assert learner.leverage * np.sqrt(learner.rls.noise) == pytest.approx([1.0, 1.0])
        assert learner.state.signal == pytest.approx(1.0)


def test_it_is_checked_at_the_first_block_behind_each_second_unless_the_joint_rests() -> None:
    one, _, motion = gathering()
    due = []
    for count in range(0, 151, 10):
        motion.state.count = count
        assert not one.due(10, resting=True)
        if one.due(10, resting=False):
            due.append(count)
    assert due == [0, 50, 100, 150]
    motion.state.count = 109
    assert one.due(10, resting=False)
    slow, _, motion = gathering(row=3.0)
    for motion.state.count in (0, 1, 2, 3):
        assert slow.due(1, resting=False), "rows of three seconds: each of them"


def test_a_check_finds_the_period_and_how_honest_the_deviations_are() -> None:
    one, learner, motion = gathering()
    found = rows(800)
    found.y[:, 0] += 5.0 * np.sin(2.0 * np.pi * np.arange(800) / 160.0)
    one.absorb(found)
    one.begin()
    one.check()
    assert motion.state.cycle == pytest.approx(160, abs=1)
    assert learner.deviation_factor == pytest.approx(one.rows.deviation_factors(learner.rls))
    one.rows.clear()
    one.absorb(rows(800))
    one.check()
    assert motion.state.cycle == 0, "of another motion: none"


# --- what is proven


def stopping(clear: int, stops: float, way: Floats | float = 1.0) -> Rows:
    """Rows that all but the first `clear` saw a stop; the second column is `stops` times as large in the others."""
    found = rows(400)
    found.phi[:clear, 0, 1] /= stops
    found.y[:] = found.phi @ THETA + 0.1 * np.random.default_rng(2).standard_normal((400, 1))
    speed = np.where(np.arange(400) < clear, way, 1e-3)
    return found._replace(motion=moved(np.zeros((400, 1)), speed[:, None]), speed=np.abs(speed)[:, None])


def test_what_only_rows_with_a_stop_tell_is_not_proven_until_it_moved_for_a_second_either_way() -> None:
    one, learner, _ = gathering(gated())
    one.absorb(stopping(200, 1e6))
    one.begin()
    learner.rls.noise[:] = 0.01
    factor = one.rows.rests_on_reversals(learner.rls.noise)
    assert factor[1] > 100.0
    assert not one.proven
    for back, proven in ((49, False), (50, True)):
        one, learner, _ = gathering(gated())
        way = np.where(np.arange(400) < back, -1.0, 1.0)
        one.absorb(stopping(200, 1e6, way))
        one.begin()
        assert one.proven is proven, "one second is fifty rows"


@pytest.mark.parametrize(("moves", "shown"), [(2, False), (3, True)])
def test_one_way_it_has_shown_itself_after_three_moves(moves: int, shown: bool) -> None:
    one, *_ = gathering(gated())
    found = rows(400)
    speed = np.where(np.arange(400) % (400 // moves) < 20, 1e-3, 1.0)
    one.absorb(found._replace(motion=moved(np.zeros((400, 1)), speed[:, None]), speed=speed[:, None]))
    assert one.shown is shown
    one.rows.clear()
    one.absorb(found._replace(motion=found.motion[:0]))
    assert one.shown, "rows do not say how it moved"


@pytest.mark.parametrize(("excess", "proven"), [(0.01, True), (0.5, False)])
def test_a_deviation_that_grows_without_the_stops_and_stays_small_enough_is_proven(excess: float, proven: bool) -> None:
    one, learner, _ = gathering(gated())
    one.absorb(stopping(200, 20.0))
    one.begin()
    factor = one.rows.rests_on_reversals(learner.rls.noise)
    assert 5.0 < factor[1] < 40.0
    assert factor[0] < 2.0
    one._validity.state.excess[:] = 1e6, excess
    assert one.proven is proven


def test_a_deviation_that_hardly_rests_on_stops_is_proven_however_uncertain_it_is() -> None:
    one, *_ = gathering(gated())
    one.absorb(stopping(300, 1.0))
    one.begin()
    one._validity.state.excess[:] = 1e6
    assert one.proven


# --- the end


@pytest.mark.parametrize(("times", "told"), [(1.5, True), (0.67, False)])
def test_a_direction_that_is_uncertain_by_half_of_the_torque_stays_at_zero(times: float, told: bool) -> None:
    """Information of a direction: λ of the Gramian of columns of rms 1; half of the rms: v/λ = (0.5 s)²."""
    one, learner, _ = gathering()
    weak = 0.1
    least = 0.5 * weak**2 * 400.0  # of the difference of both columns
    found = rows(400, weak=weak, noise=1.0)
    deviation = 1.0 / np.sqrt(least)  # along the difference
    found.y[:, 0] *= 2.0 * deviation * np.sqrt(times) / np.sqrt(np.mean(found.y**2))
    one.absorb(found)
    one.learn(np.ones(1))
    learner.rls.state.long[:] = 1.0
    one.solve()
    assert learner.state.signal == pytest.approx(2.0 * deviation * np.sqrt(times))
    apart = one.anchor[0] - one.anchor[1]
    free = np.linalg.lstsq(found.phi[:, 0], found.y[:, 0])[0]
    if told:
        assert one.anchor == pytest.approx(free, rel=1e-6)
    else:
        assert abs(apart) < 1e-2 * abs(free[0] - free[1])
        assert one.anchor.sum() == pytest.approx(free.sum(), rel=1e-2), "what both give together is told"


def test_without_any_torque_nothing_is_reported() -> None:
    one, learner, _ = gathering()
    found = rows(100)
    found.y[:] = 0.0
    one.absorb(found)
    one.begin()
    assert learner.state.signal == 0.0
    one.solve()
    assert one.anchor.tolist() == [0.0, 0.0]


def test_rows_that_stick_are_made_lighter_and_the_weight_is_that_of_rows_to_come() -> None:
    one, learner, _ = gathering(gated())
    found = stopping(200, 1.0, np.where(np.arange(400) % 2, 1.0, -1.0))
    found.y[200:, 0] += np.where(np.arange(200) % 2, 3.0, -3.0)
    one.absorb(found)
    one.begin()
    assert one.proven
    one.solve()
    assert 0.01 < learner.reversal[0] < 0.1, "0.1 over 3"
    assert one.anchor == pytest.approx(THETA, abs=0.1)


@pytest.mark.parametrize("filled", [True, False])
def test_rows_are_weighed_as_in_normal_mode_with_what_is_known_at_their_end(filled: bool) -> None:
    one, learner, _ = gathering(gated())
    found = rows(100)
    found.motion[:, 0, ROUNDING] = 2.0
    one.absorb(found)
    one.begin()
    if not filled:
        one.rows.span = None
    asked, left = list[int](), list[Floats]()
    before = one.noise()

    def weigh_rounding(of: Learner, time: int) -> None:
        assert of is learner
        assert learner.rls.noise == pytest.approx(before)
        asked.append(time)

    def weighed(these: Rows) -> Rows:
        motion, half = these.motion.copy(), np.where(np.arange(100) < 50, 1.0, 0.5)
        motion[:, :, ROUNDING] *= 0.25
        return these._replace(phi=these.phi * half[:, None, None], y=(these.y + 1.0) * half[:, None], motion=motion)

    one.weigh(weigh_rounding, weighed, left.append, np.zeros(1, np.int64))
    assert asked == [int(found.time[-1]) if filled else 0]
    assert [part.tolist() for part in left] == [[0.25]]
    half = np.where(np.arange(100) < 50, 1.0, 0.5)
    expected = np.linalg.lstsq(found.phi[:, 0] * half[:, None], (found.y[:, 0] + 1.0) * half)[0]
    assert one.anchor == pytest.approx(expected, rel=1e-6)


def test_the_alarm_is_set_from_the_last_whole_periods_and_the_memory_holds_two() -> None:
    one, learner, motion = gathering()
    found = rows(230)
    one.absorb(found)
    one.begin()
    for cycle, count in ((100, 200), (0, 230), (115, 230)):
        motion.state.cycle = cycle
        squares = list[Floats]()

        def threshold(squared: Floats, seen: list[Floats] = squares) -> Threshold:
            seen.append(squared.copy())
            return Threshold(1.5, 3.0, 80.0)

        assert one.calibrate(threshold) == Threshold(1.5, 3.0, 80.0)
        assert squares[0] == pytest.approx(one.rows.squared(learner.rls)[-count:])
        assert len(squares[0]) == count
        assert learner.threshold == Threshold(1.5, 3.0, 80.0)
        assert learner.rls.state.least == pytest.approx(0.25 * 1.5)
        assert learner.rls.state.starting is False
        assert learner.deviation_factor == pytest.approx(one.rows.deviation_factors(learner.rls))
    assert learner.rls.noise == pytest.approx([0.01], rel=0.5), "of the residual, not of the torque"


def test_a_start_says_how_long_it_was_and_what_is_weak_and_forgets_its_rows() -> None:
    threshold = Threshold(1.0, 3.0, 80.0)
    weak = (Reason("search_failed", words={"cause": "no minimum"}), Reason("waiting_for_motion"))
    for reasons, end in (((), ""), (weak, "; but " + "; ".join(map(str, weak)))):
        one, *_ = gathering()
        one.absorb(rows(120))
        verdict = one.started(threshold, 7, "all of it", reasons)
        assert (verdict.threshold, verdict.first, verdict.window) == (threshold, 7, (1_000_000, 120_000_000))
        assert verdict.text == f"from 2.4 s of motion, all of it{end}"
        assert len(one.rows) == 0


def test_to_begin_anew_forgets_rows_and_what_pulled_weak_directions() -> None:
    one, *_ = gathering()
    one.absorb(rows(120))
    one.begin()
    one.solve()
    assert (one.anchor != 0.0).any()
    one.restart()
    assert (len(one.rows), one.anchor.tolist()) == (0, [0.0, 0.0])


# --- a start without nonlinear parameters


def started(overlap: float = 1.0) -> tuple[LinearStart, Learner]:
    joint = assembly.linear(PARAMETERS, (0,), ROW, Alarm(), 4.0, 0.005, overlap=overlap)
    start = joint.parts.start
    assert isinstance(start, LinearStart)
    return start, joint.parts.learner


def test_it_asks_for_no_refit_and_forgets_its_directions_with_its_rows() -> None:
    start, _ = started()
    start.absorb(rows(100))
    assert start.begin()
    assert len(start.spectrum.values) == 2
    start.restart()
    assert start.spectrum == UNKNOWN
    assert len(start.gathering.rows) == 0
    assert start.begin() is False


def test_the_limit_of_the_alarm_counts_on_rows_that_overlap_to_be_alike() -> None:
    """White squares are alike over one row: 1/0.72 times the least limit where none overlap.

    Of four rows that overlap the least limit itself is larger, since it is that of 8/3 rows.
    """
    limits = []
    for overlap in (1.0, 4.0):
        start, learner = started(overlap)
        start.absorb(rows(1000))
        start.begin()
        start._motion.state.count = 1000  # patience is over: it ends in any case
        assert not isinstance(start.verdict(resting=False), StartWait)
        limits.append(learner.threshold.limit)
    assert limits == pytest.approx([60.0 / 0.72, 60.0 * 4.0 / (8.0 / 3.0)])


@pytest.mark.parametrize(
    ("count", "seconds", "cycle", "ends"),
    [
        (100, 4.0, 0, True),
        (99, 4.0, 0, False),  # half of the four seconds must be motion, 100 rows of 20 ms
        (100, 3.99, 0, False),  # and all of them have to pass
        (149, 9.0, 150, False),  # a whole period of the motion
        (150, 9.0, 150, True),
    ],
)
def test_it_ends_when_its_seconds_have_passed_and_half_of_them_or_a_period_was_motion(
    count: int, seconds: float, cycle: int, ends: bool
) -> None:
    start, _ = started()
    found = rows(count, np.where(np.arange(count) % 2, 1.0, -1.0), noise=0.001)
    start.absorb(found._replace(time=np.round(np.linspace(1e9, 1e9 + seconds * 1e9, count)).astype(np.int64)))
    start.begin()
    start._motion.state.count, start._motion.state.cycle = count, cycle
    assert start.gathering.elapsed == pytest.approx(seconds)
    assert start._is_ready() is ends
