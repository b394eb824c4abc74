"""When what was learnt of a joint's residual is switched on and off."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from estimators.online.robot.compensation import Compensation, Switched
from estimators.quantities import Floats

LOOKS = 20  # ten seconds
ROOM = np.array([True, True, True])


def three() -> Compensation:
    """Joints 0 and 2 have learnt something."""
    model = cast(Any, SimpleNamespace(tree=SimpleNamespace(size=lambda: 3), twists=(None,) * 3))
    return Compensation(model, (cast(Any, object()), None, cast(Any, object())))


def looks(one: Compensation, count: int, left: Floats, moving: np.ndarray = ROOM, rows: int = 25) -> list[Switched]:
    """Half seconds in which each residual is 2, and what was learnt leaves `left` of it."""
    told = []
    for _ in range(count):
        for _ in range(rows):
            one.absorb(np.full(3, 2.0), 2.0 - np.asarray(left), moving)
        told += one.compare()
    return told


def test_it_is_on_once_ten_seconds_show_that_it_takes_a_twentieth_off() -> None:
    one = three()
    assert looks(one, LOOKS - 1, np.array([1.0, 1.0, 1.94])) == []
    assert looks(one, 1, np.array([1.0, 1.0, 1.94])) == [Switched(0, True, 2.0, pytest.approx(1.0))], (
        "3 % is not enough, and who has learnt nothing is never on"
    )
    assert one.on.tolist() == [True, False, False]
    assert one.ratio(0) == pytest.approx(0.5)


def test_what_is_on_is_off_where_it_is_worse_than_nothing() -> None:
    one = three()
    looks(one, LOOKS, np.array([1.0, 2.0, 1.0]))
    assert looks(one, LOOKS, np.array([1.96, 2.0, 2.2]))[-1].joint == 2
    assert one.on.tolist() == [True, False, False], "2 % better: it stays"


def test_where_there_is_no_residual_nothing_is_used() -> None:
    one = three()
    for _ in range(LOOKS):
        one.absorb(np.zeros(3), np.zeros(3), ROOM)
        assert one.compare() == []
    assert np.isnan(one.ratio(0))


def test_seconds_of_rest_say_nothing_however_few_rows_a_look_has() -> None:
    one = three()
    looks(one, LOOKS // 2, np.array([1.0, 2.0, 1.0]))
    looks(one, 100, np.array([9.0, 2.0, 1.0]), np.array([False, True, False]))
    assert one.on.tolist() == [False] * 3
    looks(one, LOOKS // 2, np.array([1.0, 2.0, 1.0]), rows=5)
    assert one.ratio(0) == pytest.approx(0.5), "the mean of looks"
    again = three()
    again.resume(one.keep())
    assert again.on.tolist() == one.on.tolist() == [True, False, True]
    with pytest.raises(ValueError, match="of another model"):
        again.resume(one.keep()[:-1])


def test_each_joint_is_seen_through_its_own_gear() -> None:
    def gear(ratio: float) -> SimpleNamespace:
        return SimpleNamespace(of=lambda twist, _: ratio * twist, lag=0.01 * ratio)

    model = SimpleNamespace(tree=SimpleNamespace(size=lambda: 3), twists=(gear(2.0), None, gear(5.0)))
    learned = SimpleNamespace(predict=lambda u: u @ (100.0, 10.0, 0.0))
    one = Compensation(cast(Any, model), cast(Any, (learned, None, learned)))
    twist, rate, dq, ddq = np.random.default_rng(3).standard_normal((4, 6, 3))
    wanted = 100.0 * twist * (2.0, 0.0, 5.0) + 10.0 * (rate - ddq * (0.02, 0.0, 0.05))
    wanted[:, 1] = 0.0
    np.testing.assert_allclose(one.torque(twist, rate, dq, ddq), wanted, rtol=1e-12)
