"""When a residual is told as a contact, and when it is over: chunk by chunk."""

import numpy as np
import pytest

from estimators.online.robot.contact import ContactWatch
from estimators.quantities import Floats

CHUNK = 0.01  # s


def watch(joints: int = 1) -> ContactWatch:
    """Threshold 1.5, joints that move."""
    one = ContactWatch(np.ones(joints), np.full(joints, 0.1), np.ones(joints), CHUNK)
    one.notice(np.ones((1000, joints)), np.ones((1000, joints)))
    for _ in range(20):
        one.notice(np.ones((10, joints)), np.ones((10, joints)))
    return one


def seen(one: ContactWatch, sizes: list[float]) -> list[int]:
    """Of chunks with these residuals: 1 where a contact begins, −1 where it is over, else 0."""
    told = []
    for size in sizes:
        changes = one.look(np.full((10, 1), size), np.zeros(1))
        told.append(0 if changes is None else int(changes[0][0]) - int(changes[1][0]))
    return told


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_it_lasts_thirty_milliseconds_before_it_is_told(sign: float) -> None:
    assert seen(watch(), [2.0 * sign, 2.0 * sign, 0.0] * 5) == [0] * 15
    assert seen(watch(), [2.0 * sign] * 4) == [0, 0, 1, 0]
    assert seen(watch(), [1.45 * sign] * 30) == [0] * 30, "a half more than what has been seen"


def test_it_is_over_when_it_has_been_well_below_the_threshold_for_a_while() -> None:
    one = watch()
    assert seen(one, [2.0] * 3) == [0, 0, 1]
    assert seen(one, [0.8 * 1.5] * 50) == [0] * 50, "just below is not over"
    assert seen(one, [0.6 * 1.5] * 25) == [0] * 19 + [-1] + [0] * 5, "0.2 s"
    assert one.calm


@pytest.mark.parametrize(("pause", "waits"), [(400, [20] * 6), (0, [20, 40, 80, 160, 300, 300])])
def test_one_that_comes_back_within_three_seconds_is_waited_for_longer_each_time(pause: int, waits: list[int]) -> None:
    one = watch()
    for wanted in waits:
        assert seen(one, [2.0] * 3) == [0, 0, 1]
        assert seen(one, [0.0] * wanted) == [0] * (wanted - 1) + [-1]
        assert not any(seen(one, [0.0] * pause))


def test_thresholds_of_a_start_are_those_of_what_moved() -> None:
    one = ContactWatch(np.array([1.0, 1.0]), np.full(2, 0.01), np.ones(2), CHUNK)
    rng, still = np.random.default_rng(2), np.array([1.0, 0.0])
    for _ in range(200):
        one.notice(np.full((10, 2), still), np.full((10, 2), still))
        residual = 2.0 * np.sin(np.arange(10))[:, None] * (1.0, 1.0) + 0.01 * rng.standard_normal((10, 2))
        one.gather(residual)
    one.settle()
    peak = 2.0 * np.sin(np.arange(10)).max()
    assert one.thresholds[0] == pytest.approx(1.5 * peak, rel=0.05)
    assert one.thresholds[1] == pytest.approx(1.5), "it stood: what was taught stands"
    assert one.ready


def test_friction_is_that_of_motion_only_where_either_speed_is() -> None:
    """Before the slow low-pass a joint moves again sooner than behind it; both must."""
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
    told = [one.look(residual, np.zeros(3)) for _ in range(3)][-1]
    assert told is not None
    assert told[0].tolist() == [False, True, False]
    assert one.words(told[0], residual, "abc", ("N·m",) * 3) == (
        "b: 3 N·m that the model does not explain, threshold 1.5"
    )
