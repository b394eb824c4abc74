"""When a residual is told as a contact, and when it is over: chunk by chunk."""

import numpy as np
import pytest

from estimators.numerics.causal_low_pass import CausalLowPass
from estimators.online.robot.contact import ContactWatch
from estimators.online.robot.motion import QUICK, SLOW
from estimators.quantities import Floats

CHUNK = 0.01  # s


def watch(joints: int = 1) -> ContactWatch:
    """Threshold 1.5, joints that move."""
    one = ContactWatch(np.ones(joints), np.full(joints, 0.1), CHUNK)
    one.notice(np.ones((1000, joints)), np.ones((1000, joints)))
    for _ in range(20):
        one.notice(np.ones((10, joints)), np.ones((10, joints)))
    return one


def seen(one: ContactWatch, sizes: list[float]) -> list[int]:
    """Changes by chunks with these residuals: 1 where a contact begins, −1 where it is over, else 0."""
    told = []
    for size in sizes:
        changes = one.judge(np.full((10, 1), size), np.zeros(1))
        told.append(0 if changes is None else int(changes[0][0]) - int(changes[1][0]))
    return told


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_it_lasts_thirty_milliseconds_before_it_is_told(sign: float) -> None:
    assert seen(watch(), [2.0 * sign, 2.0 * sign, 0.0] * 5) == [0] * 15
    assert seen(watch(), [2.0 * sign] * 4) == [0, 0, 1, 0]
    assert seen(watch(), [1.5 * sign] * 30) == [0] * 30, "a half more than what has been seen, and no more"


def test_it_is_over_when_it_has_been_well_below_the_threshold_for_a_while() -> None:
    one = watch()
    assert seen(one, [2.0] * 3) == [0, 0, 1]
    assert seen(one, [0.8 * 1.5] * 50) == [0] * 50, "just below is not over"
    assert seen(one, [0.6 * 1.5] * 25) == [0] * 19 + [-1] + [0] * 5, "0.2 s"
    assert one.calm


def test_what_comes_beyond_a_threshold_over_seconds_is_no_contact_and_a_push_on_top_of_it_is() -> None:
    one = watch()
    drift = np.linspace(0.0, 2.0, 800).tolist()  # beyond the threshold after six seconds
    assert not any(seen(one, drift))
    assert one.drifting[0]
    assert not one.calm, "such rows teach nothing"
    assert seen(one, [6.0] * 4) == [0, 0, 1, 0]
    assert not one.drifting[0]
    quick = watch()
    assert 1 in seen(quick, np.linspace(0.0, 2.0, 200).tolist()), "no zero drifts so fast"


@pytest.mark.parametrize(("pause", "waits"), [(400, [20] * 6), (0, [20, 40, 80, 160, 300, 300])])
def test_one_that_comes_back_within_three_seconds_is_waited_for_longer_each_time(pause: int, waits: list[int]) -> None:
    one = watch()
    for wanted in waits:
        assert seen(one, [2.0] * 3) == [0, 0, 1]
        assert seen(one, [0.0] * wanted) == [0] * (wanted - 1) + [-1]
        assert not any(seen(one, [0.0] * pause))


def test_thresholds_of_a_start_are_those_of_what_moved() -> None:
    one = ContactWatch(np.array([1.0, 1.0]), np.full(2, 0.01), CHUNK)
    rng, still = np.random.default_rng(2), np.array([1.0, 0.0])
    for _ in range(200):
        one.notice(np.full((10, 2), still), np.full((10, 2), still))
        residual = 2.0 * np.sin(np.arange(10))[:, None] * (1.0, 1.0) + 0.01 * rng.standard_normal((10, 2))
        one.gather(residual, np.zeros(2))
    one.settle()
    peak = 2.0 * np.sin(np.arange(10)).max()
    assert one.thresholds[0] == pytest.approx(1.5 * peak, rel=0.05)
    assert one.thresholds[1] == pytest.approx(1.5), "it stood: what was taught stands"
    assert one.ready


def test_friction_is_that_of_motion_only_where_either_speed_is() -> None:
    """Before the slow low-pass a joint moves again sooner than after it; both must."""
    one = watch()
    fast, slow = np.ones((10, 1)), np.full((10, 1), 0.01)
    one.notice(fast, slow)
    assert not one.moving[0]
    assert not one.sliding[0]
    for _ in range(12):
        one.notice(slow, fast)
    assert one.moving[0]
    assert not one.sliding[0]
    for _ in range(12):
        one.notice(fast, fast)
    assert one.moving[0]
    assert one.sliding[0]


def test_joints_are_judged_each_by_itself() -> None:
    one = watch(3)
    residual: Floats = np.tile([0.1, -3.0, 0.1], (10, 1))
    told = [one.judge(residual, np.zeros(3)) for _ in range(3)][-1]
    assert told is not None
    assert told[0].tolist() == [False, True, False]
    assert one.words(told[0], residual, np.zeros(3), "abc", ("N·m",) * 3) == (
        "b: 3 N·m that the model does not explain, threshold 1.5"
    )


def test_what_comes_back_soon_is_one_contact() -> None:
    watch = ContactWatch(np.ones(1), np.full(1, 0.1), 0.01)  # threshold 1.5
    watch.notice(np.ones((2000, 1)), np.ones((2000, 1)))
    counts = {True: [0, 0], False: [0, 0]}
    for period, soon in ((100, True), (500, False)):  # every second: one; every five seconds: each its own
        for chunk in range(20 * period):
            watch.notice(np.ones((10, 1)), np.ones((10, 1)))
            changes = watch.judge(np.full((10, 1), 3.0 if chunk % period < 30 else 0.0), np.zeros(1))
            for k in (0, 1):  # begun, over
                counts[soon][k] += changes is not None and bool(changes[k][0])
        watch.explained()
        for _ in range(1000):
            watch.judge(np.zeros((10, 1)), np.zeros(1))
    assert counts[False] == [20, 20]
    assert counts[True][0] <= 3


def test_what_learning_has_moved_is_no_contact_and_raises_the_threshold() -> None:
    """Residual 2 by what is known now, 0.5 by what was when the threshold of 1.5 was set; a push is beyond both."""
    watch = ContactWatch(np.ones(1), np.full(1, 0.1), 0.01)
    watch.notice(np.ones((2000, 1)), np.ones((2000, 1)))

    def told_after(now: float, before: float) -> int:
        for chunk in range(20):
            watch.notice(np.ones((10, 1)), np.ones((10, 1)))
            residual = np.full((10, 1), now)
            assert watch.exceeded(residual, np.zeros(1)) == (now > watch.thresholds[0])
            if watch.judge(residual, np.zeros(1), np.full((10, 1), before)) is not None:
                return chunk + 1
        return 0

    assert told_after(2.0, 0.5) == 0
    assert watch.calm
    assert told_after(5.0, 3.5) == 3
    watch.explained()
    watch.grow()
    assert watch.thresholds == pytest.approx([3.0])
    watch.grow()
    assert watch.thresholds == pytest.approx([3.0])
    assert told_after(2.9, 2.9) == 0
    assert told_after(3.1, 3.1) == 3


def test_behind_a_reversal_the_threshold_falls_as_the_low_passes_forget() -> None:
    """Friction of 2 may hold a joint that turns around; a push of 2 is seen 60 ms after it, not only after 100."""

    def told_after(push: float) -> float:
        watch = ContactWatch(np.ones(1) / 1.5, np.full(1, 0.1), 0.01)  # threshold 1
        watch.notice(np.ones((10, 1)), np.full((10, 1), 0.01))
        for chunk in range(1, 20):
            watch.notice(np.ones((10, 1)), np.ones((10, 1)))
            if watch.judge(np.full((10, 1), push), np.full(1, 2.0)) is not None:
                return 0.01 * chunk
        return np.inf

    assert told_after(3.2) <= 0.03  # beyond both
    assert told_after(2.0) == pytest.approx(0.06, abs=0.011)
    assert 0.08 <= told_after(1.2) <= 0.11  # what is left of the friction is a tenth
    assert told_after(0.9) == np.inf


def test_what_learning_has_moved_is_once_and_a_half_within_the_limit_at_that_speed() -> None:
    """Whatever part of that limit is for steps of an encoder; the friction of a joint that stands still is no part."""
    watched = watch(2)
    watched.steps = np.array([0.5, 0.25])
    residual, before = np.tile([2.5, -2.25], (10, 1)), np.full((10, 2), 0.5)
    assert watched.judge(residual, np.zeros(2), before) is None
    watched.notice(np.zeros((10, 2)), np.zeros((10, 2)))
    assert watched.judge(1.7 * residual, np.full(2, 2.0), before) is None
    watched.grow()
    np.testing.assert_allclose(watched.limits, 1.5 * np.array([2.5, 2.25]))


def test_the_limit_is_of_the_residuals_of_teaching_or_of_the_noise_whichever_is_larger() -> None:
    peaks, deviations = np.array([2.0, 0.1]), np.array([0.4, 0.4])
    one = ContactWatch(peaks, deviations, CHUNK)
    np.testing.assert_allclose(one.limits, [1.5 * 2.0, 4.75 * 0.4])
    assert one.ready
    one.steps = np.array([0.3, 0.0])
    np.testing.assert_allclose(one.limits, [3.3, 1.9])
    unknown = ContactWatch(None, deviations, CHUNK)
    assert not unknown.ready
    assert np.isnan(unknown.limits).all()
    unknown.resume(peaks, 2.0 * deviations)
    assert unknown.ready
    np.testing.assert_array_equal(unknown.limits, peaks)
    np.testing.assert_array_equal(unknown.deviations, 2.0 * deviations)


def gathered(one: ContactWatch, residual: Floats) -> None:
    """A start in which every joint moves."""
    moves = np.ones((10, residual.shape[1]))
    for _ in range(20):
        one.notice(moves, moves)
    for first in range(0, len(residual), 10):
        one.notice(moves, moves)
        one.gather(residual[first : first + 10], np.zeros(1))


def behind_low_passes(seed: int, seconds: float, joints: int) -> Floats:
    """White noise at 500 Hz as residuals have it, each reading twice."""
    noise = np.random.default_rng(seed).standard_normal((round((seconds + 0.5) / 2e-3), joints))
    for cutoff in (QUICK, SLOW):
        noise = CausalLowPass(joints, cutoff, 2e-3).absorb(noise)[0]
    return np.repeat(noise[250:], 2, axis=0)


def test_noise_is_distinguished_from_what_else_the_model_leaves_by_how_fast_it_changes() -> None:
    """Starts of 2 s of 80 joints whose residual is noise and, constant, half its deviation: peaks are of 2.7 of it.

    2 s have some 40 changes that are independent, whose median square tells a deviation to 18 %; the median of 80 such
    is within 2.5 %. Where 1.5 peaks are more than 4.75 deviations, these count, which moves it by 3 % at most.
    """
    noise = behind_low_passes(3, 2.0, 80)
    rms = float(np.sqrt((noise**2).mean()))
    one = ContactWatch(None, np.ones(80), CHUNK)
    gathered(one, noise + 0.5 * rms)
    one.settle()
    assert np.median(one.limits) == pytest.approx(4.75 * rms, rel=0.1)


def test_a_push_in_a_start_is_none_of_its_residuals() -> None:
    """Eight deviations are one; the deviation is told without it."""
    one = ContactWatch(None, np.ones(2), CHUNK)
    residual = np.ones((1000, 2))
    residual[500:510] = 7.9, 8.1
    gathered(one, residual)
    largest, rms = one.gathered()
    np.testing.assert_allclose(largest, [7.9, 1.0])
    np.testing.assert_allclose(rms, [np.sqrt(0.99 + 0.01 * 7.9**2), 1.0])
    one.settle()
    np.testing.assert_allclose(one.limits, 1.5 * np.array([7.9, 1.0]))
    np.testing.assert_allclose(one.deviations, rms)
    with pytest.raises(ValueError, match="nothing has moved"):
        one.gathered()


def test_a_start_that_begins_anew_has_seen_nothing() -> None:
    one = ContactWatch(np.array([0.2]), np.array([0.01]), CHUNK)
    gathered(one, np.full((500, 1), 3.0))
    one.gather_anew()
    gathered(one, np.full((500, 1), 1.0))
    one.settle()
    np.testing.assert_allclose(one.limits, [1.5])
    other = ContactWatch(np.array([2.0]), np.array([0.01]), CHUNK)
    gathered(other, np.full((500, 1), 1.0))
    other.settle()
    assert other.limits == pytest.approx([3.0]), "teaching has seen more"


@pytest.mark.parametrize(("speed", "moves"), [(0.019, False), (0.021, True), (-0.021, True)])
def test_a_joint_moves_once_it_was_faster_than_0_02_rad_s_for_a_tenth_of_a_second(speed: float, moves: bool) -> None:
    one = ContactWatch(np.ones(1), np.ones(1), CHUNK)
    told = []
    for _ in range(12):
        one.notice(np.full((10, 1), speed), np.full((10, 1), speed))
        told.append((bool(one.moving[0]), bool(one.sliding[0])))
    assert told == [(False, False)] * 10 + [(moves, moves)] * 2
    stops = np.full((10, 1), speed)
    stops[4] = 0.0
    one.notice(stops, stops)
    assert not one.moving[0], "one row at rest"


def test_what_has_found_its_cause_is_judged_anew() -> None:
    one = watch()
    assert seen(one, [2.0] * 3) == [0, 0, 1]
    assert not one.calm
    one.explained()
    assert one.calm
    assert not one.reported.any()
    assert seen(one, [2.0, 2.0, 0.0, 2.0, 2.0]) == [0] * 5
    assert seen(one, [2.0]) == [1]


def test_rows_count_by_their_mean_size() -> None:
    """A chunk of the mean size 1.6 whose mean is nothing is beyond 1.5; one with a wild row is not."""
    one, other = watch(), watch()
    way, wild = 1.6 * np.resize([1.0, -1.0], (10, 1)), np.zeros((10, 1))
    wild[3] = 14.0
    assert [other.exceeded(way, np.zeros(1)), other.exceeded(wild, np.zeros(1))] == [True, False]
    assert [one.judge(way, np.zeros(1)) is None for _ in range(3)] == [True, True, False]
    assert [other.judge(wild, np.zeros(1)) is None for _ in range(5)] == [True] * 5


def test_the_torque_that_friction_may_hold_is_what_it_adds_to_the_threshold_after_a_turn() -> None:
    """Judged by the compiled rule: residuals just beyond threshold and friction, and just within them."""
    one, friction = watch(), np.array([2.0])
    held = list[float]()
    for _ in range(one.remembered + 2):
        one.notice(np.ones((10, 1)), np.zeros((10, 1)) if not held else np.ones((10, 1)))
        (more,) = one.stuck(friction)
        assert one.exceeded(np.full((10, 1), 1.5 + more + 1e-9), friction)
        assert not one.exceeded(np.full((10, 1), 1.5 + more - 1e-9), friction)
        held.append(float(more))
    assert held[0] == 2.0, "all of it while it turns around"
    assert held[-1] == 0.0, "nothing when the low-passes have forgotten the turn"
    assert held == sorted(held, reverse=True)
