"""Thresholds of residuals, and what is at them: noise of a start, friction at rest, the ends of contacts."""

import numpy as np
import pytest

from estimators.online.robot.contact import ContactWatch
from estimators.quantities import Floats
from estimators.thresholds import AT_REST

pytestmark = pytest.mark.interpreted

CHUNK = 0.01  # s
FAST, REST = np.ones((5, 1)), np.zeros((5, 1))
NO_FRICTION = np.zeros(1)


def watch(threshold: float = 3.0, deviation: float = 0.1) -> ContactWatch:
    """A watch of one joint that has moved for a second."""
    one = ContactWatch(np.array([threshold / 1.5]), np.array([deviation]), CHUNK)
    for _ in range(100):
        one.notice(FAST, FAST)
    return one


def chunk(*rows: float) -> Floats:
    return np.array([[row] for row in rows])


def test_the_noise_of_a_start_is_what_its_changes_within_a_chunk_say_of_gaussian_noise() -> None:
    """Changes of 0.2 have the median square of a deviation of 0.2/0.6745; after the low-passes it is 2.05 times that.

    The residual is about 1, five times its changes, and so is its rms: neither is larger than what noise makes of it.
    """
    one = ContactWatch(None, np.array([9.0]), CHUNK)
    for _ in range(20):
        one.notice(FAST, FAST)
    for k in range(200):
        one.gather(np.full((5, 1), 1.1 if k % 2 else 0.9), np.zeros(1))
    one.settle()
    assert one.ready
    assert one.thresholds[0] == pytest.approx(4.75 * 2.05 * 0.2 / 0.6745, rel=1e-3)
    assert one.deviations[0] == pytest.approx(np.sqrt(0.5 * (1.1**2 + 0.9**2)))


def test_noise_is_never_more_than_the_deviation_of_the_residual() -> None:
    one = ContactWatch(None, np.array([9.0]), CHUNK)
    for _ in range(20):
        one.notice(FAST, FAST)
    for k in range(200):
        one.gather(np.full((5, 1), 0.1 if k % 2 else -0.1), np.zeros(1))
    one.settle()
    assert one.thresholds[0] == pytest.approx(4.75 * 0.1)
    assert one.deviations[0] == pytest.approx(0.1)


def test_a_push_in_a_start_is_no_residual_of_it_and_what_is_not_eight_times_the_usual_is() -> None:
    for size, counts in ((0.79, True), (0.81, False)):
        one = ContactWatch(np.array([0.2]), np.array([9.0]), CHUNK)
        for _ in range(20):
            one.notice(FAST, FAST)
        for k in range(100):
            one.gather(np.full((5, 1), size if k == 50 else 0.1), np.zeros(1))
        largest, rms = one.gathered()
        assert largest[0] == pytest.approx(size if counts else 0.1)
        squares = 99 * 0.01 + (size**2 if counts else 0.0)
        assert rms[0] == pytest.approx(np.sqrt(squares / (100 if counts else 99)))
        one.settle()
        assert one.thresholds[0] == pytest.approx(1.5 * max(size if counts else 0.1, 0.2))
        with pytest.raises(ValueError, match="nothing has moved"):
            one.gathered()


@pytest.mark.parametrize("rows", [1, 5])
def test_friction_counts_from_a_period_of_a_slow_bus_before_a_reversal(rows: int) -> None:
    """Rows every 40 ms with others between them; 1 rad/s² towards the reversal, seen 80 ms late after the low-pass.

    On a quick bus it counts as soon as the quick speed is slow.
    """
    friction, residual, within = np.array([2.0]), np.full((1, 1), 4.9), np.linspace(-CHUNK, 0.0, rows + 1)[1:, None]
    for between, first in ((0.04, -0.04), (0.0, -AT_REST)):
        one = ContactWatch(np.array([2.0]), np.array([0.1]), CHUNK, between=between)
        for _ in range(100):
            one.notice(np.full((rows, 1), -1.0), np.full((rows, 1), -1.0))
        held = []
        for k in range(-100, 50):
            now = k * CHUNK + 0.001
            one.notice(now + within, now + within - 0.08)
            if not one.exceeded(residual, friction):
                held.append(now)
        assert held[0] == pytest.approx(first, abs=CHUNK)
        if between:
            assert held[-1] - 0.08 > 0.04, "what is after both low-passes lasts by the bus's period longer"


def test_a_start_without_any_motion_leaves_what_was_taught() -> None:
    one = ContactWatch(np.array([2.0]), np.array([0.1]), CHUNK)
    for _ in range(50):
        one.notice(REST, REST)
        one.gather(np.full((5, 1), 7.0), np.zeros(1))
    one.settle()
    assert one.thresholds.tolist() == [3.0]
    assert one.deviations.tolist() == [0.1]
    unknown = ContactWatch(None, np.array([0.1]), CHUNK)
    assert not unknown.ready
    unknown.settle()
    assert unknown.thresholds[0] == pytest.approx(0.475)


def test_a_joint_that_stops_between_two_chunks_says_nothing_of_the_noise() -> None:
    """Its residual jumps while it stands; the change over the stop is no change within 10 ms."""
    one = ContactWatch(None, np.array([9.0]), CHUNK)
    for _ in range(20):
        one.notice(FAST, FAST)
    for part in range(20):
        for k in range(2):
            one.gather(np.full((5, 1), (1.0 if part % 2 else -1.0) + 0.01 * k), np.zeros(1))
        one.notice(REST, REST)
        one.gather(np.full((5, 1), 50.0), np.zeros(1))
        for _ in range(12):
            one.notice(FAST, FAST)
    one.settle()
    assert one.thresholds[0] == pytest.approx(1.5 * 1.01), "not 4.75 times 4, 2 for each change of side"


def judged(one: ContactWatch, sizes: list[float], friction: float = 0.0) -> list[str]:
    """What is told chunk by chunk: + contact, - over, . neither."""
    found = []
    for size in sizes:
        told = one.judge(np.full((5, 1), size), np.array([friction]))
        found.append("." if told is None else "+" if told[0][0] else "-")
    return found


def test_three_chunks_above_the_threshold_are_a_contact_and_at_it_is_not_above() -> None:
    assert judged(watch(), [3.1, 3.1, 3.1]) == [".", ".", "+"]
    assert judged(watch(), [3.0] * 9) == ["."] * 9
    assert judged(watch(), [-3.1, -3.1, -3.1]) == [".", ".", "+"]
    assert judged(watch(), [3.1, 3.1, 2.9, 3.1, 3.1, 2.9]) == ["."] * 6
    one = watch()
    assert not one.exceeded(np.full((5, 1), 3.0), NO_FRICTION)
    assert one.exceeded(np.full((5, 1), -3.1), NO_FRICTION)
    assert one.exceeded(chunk(0.0, 0.0, 0.0, 0.0, 15.5), NO_FRICTION), "the mean of a chunk counts"
    assert not one.exceeded(chunk(0.0, 0.0, 0.0, 0.0, 14.5), NO_FRICTION)
    assert one.calm


def test_a_contact_is_over_after_a_fifth_of_a_second_below_seven_tenths_of_the_threshold() -> None:
    one = watch()
    judged(one, [4.0] * 3)
    assert one.reported.all()
    assert judged(one, [2.2] * 40) == ["."] * 40, "above 2.1"
    assert judged(one, [2.0] * 19 + [2.2] + [2.0] * 20) == ["."] * 39 + ["-"]
    assert one.calm
    assert not one.reported.any()


def test_a_contact_that_comes_again_soon_is_over_twice_as_late_until_three_seconds() -> None:
    one, waits = watch(), []
    for _ in range(6):
        judged(one, [4.0] * 3)
        waits.append(judged(one, [0.0] * 400).index("-") + 1)
        one._rested[:] = 10  # as if it came a tenth of a second after the last one
    assert waits == [20, 40, 80, 160, 300, 300]
    one._rested[:] = 297  # two chunks more pass before it is reported
    judged(one, [4.0] * 3)
    assert judged(one, [0.0] * 400).index("-") + 1 == 300
    one._rested[:] = 298
    judged(one, [4.0] * 3)
    assert judged(one, [0.0] * 400).index("-") + 1 == 20, "three seconds later it is another one"


def test_what_learning_has_made_of_a_residual_is_no_contact_and_raises_the_threshold_later() -> None:
    one = watch()
    for now, before in ((4.0, 2.0), (5.0, 3.0), (9.0, 3.1), (4.5, 0.0)):
        one.judge(np.full((5, 1), now), NO_FRICTION, np.full((5, 1), before))
    assert not one.reported.any()
    one.steps[:] = 0.5
    one.grow()
    assert one.thresholds[0] == pytest.approx(1.5 * 5.0 - 0.5), "what is beyond before as well is not of learning"
    assert one.limits[0] == pytest.approx(7.5)
    one.grow()
    assert one.thresholds[0] == pytest.approx(7.0), "it never falls"


def test_at_rest_friction_is_added_and_forgotten_as_the_low_passes_forget() -> None:
    """√2 e^(−ωt/√2) with 10 Hz, counted from when 40 Hz have shown it; gone after a tenth of a second."""
    one = watch()
    one.notice(REST, REST)
    assert not one.moving.any()
    assert not one.exceeded(np.full((5, 1), 7.0), np.array([4.0]))
    assert one.exceeded(np.full((5, 1), 7.01), np.array([4.0]))
    shares = []
    for _ in range(12):
        one.notice(FAST, FAST)
        low, high = 0.0, 1.0
        for _ in range(20):
            middle = 0.5 * (low + high)
            beyond = one.exceeded(np.full((5, 1), 3.0 + 4.0 * middle), np.array([4.0]))
            low, high = (low, middle) if beyond else (middle, high)
        shares.append(high)
    time = 0.01 * np.arange(10) - 1.0 / (np.sqrt(2.0) * np.pi * 40.0)
    decay = np.minimum(np.sqrt(2.0) * np.exp(-np.sqrt(2.0) * np.pi * 10.0 * time), 1.0)
    assert shares == pytest.approx([*decay, 0.0, 0.0], abs=1e-4)
    assert one.moving.all(), "from now on friction is that of motion"


def test_a_joint_slides_once_both_speeds_have_been_above_standstill_for_a_tenth_of_a_second() -> None:
    one = watch()
    one.slow[:] = 0.5
    one.notice(np.full((5, 1), 0.49), FAST)
    assert one.moving.all()
    assert not one.sliding.any(), "before the slow low-pass it hardly moves"
    for k in range(1, 12):
        one.notice(np.full((5, 1), -0.5), np.full((5, 1), -0.5))
        assert one.sliding.all() == (k > 10), k
    one.notice(FAST, chunk(1.0, 1.0, 0.4, 1.0, 1.0))
    assert not one.moving.any(), "any row of a chunk"
    assert not one.sliding.any()


def test_what_has_found_its_cause_is_judged_anew() -> None:
    one = watch()
    judged(one, [4.0] * 3)
    one.explained()
    assert one.calm
    assert not one.beyond.any()
    assert not one.reported.any()
    assert judged(one, [4.0] * 3) == [".", ".", "+"]


def test_words_say_how_much_is_not_explained_of_which_joint() -> None:
    one = ContactWatch(np.array([2.0, 4.0]), np.array([0.1, 0.1]), CHUNK)
    one.steps[:] = 0.5
    residual = np.array([[3.0, -8.0], [5.0, -10.0]])
    friction = np.array([0.25, 0.0])  # the slide has not moved yet
    said = one.words(np.array([True, True]), residual, friction, ("slide", "swing"), ("N", "N·m"))
    assert said == (
        "slide: 4 N that the model does not explain, threshold 3.75; "
        "swing: 9 N·m that the model does not explain, threshold 6.5"
    )
    only = one.words(np.array([False, True]), residual, friction, ("slide", "swing"), ("N", "N·m"))
    assert only.startswith("swing: 9 ")


@pytest.mark.parametrize(("beyond", "more"), [(2.5, 0.75), (3.9, 2.85), (4.1, 0.0)])
def test_a_joint_that_rests_may_hold_what_it_has_held_in_the_start(beyond: float, more: float) -> None:
    """One and a half of what was beyond a friction of 2, over the threshold of 3; more than twice it was a push."""
    one, friction = watch(), np.array([2.0])
    for _ in range(20):
        one.notice(REST, REST)
        one.gather(np.full((5, 1), 2.0 + beyond), friction)
    one.settle()
    for speed, limit in ((REST, 5.0 + more), (FAST, 3.0)):
        for _ in range(20):
            one.notice(speed, speed)
        assert not one.exceeded(np.full((5, 1), -limit + 0.01), friction)
        assert one.exceeded(np.full((5, 1), -limit - 0.01), friction)
        assert one.limits + one.stuck(friction) == pytest.approx(limit)


def test_a_chunk_within_the_thresholds_is_passed_as_it_is_judged() -> None:
    """Whatever the motion: the same joints move, and the same are beyond, reported or drifting afterwards."""
    rng, friction = np.random.default_rng(5), np.array([1.0, 0.3, 0.0])
    judged, passed = (ContactWatch(np.array([2.0, 1.0, 3.0]), np.full(3, 0.1), CHUNK, between=0.02) for _ in range(2))
    for one in (judged, passed):
        one.resume(np.array([3.0, 1.5, 4.5]), np.full(3, 0.1), np.array([0.2, 0.0, 0.0]))
    within = 0
    for k in range(3000):
        size = 2.6 if k // 300 % 2 else 1.2
        residual = size * np.sin(k / np.array([37.0, 90.0, 23.0])) + 0.1 * rng.normal(size=(5, 3))
        dq = np.sin(k / np.array([50.0, 20.0, 300.0])) + np.zeros((5, 1))
        quick = dq + 0.01 * rng.normal(size=(5, 3))
        judged.notice(quick, dq)
        judged.judge(residual, friction)
        mean = passed.pass_within(quick, dq, residual, friction)
        if mean is None:
            passed.notice(quick, dq)
            passed.judge(residual, friction)
        else:
            within += 1
            assert mean.tolist() == residual.mean(axis=0).tolist()
        for name in ("calm", "moving", "sliding", "beyond", "reported", "drifting", "drifted", "limits"):
            assert np.array_equal(getattr(judged, name), getattr(passed, name)), (k, name)
        assert judged.stuck(friction).tolist() == passed.stuck(friction).tolist()
    assert 1000 < within < 2900
