"""Joints on one clock: jumps are cut out, faults are told when they begin and end, and not more than twice a second."""

import msgpack
import numpy as np
import pytest

from daq.core.mechanisms.joints_together import BREAK, JointsTogether, equidistant
from daq.stream.update import Map, Publication
from estimators.alignment.common_clock import push
from estimators.reasons import Reason

MS, SECOND = 1_000_000, 1_000_000_000
COLUMN = [np.array([0, 2]), np.array([1, 0])]
SILENT = (Reason("no_data", None, {"seconds": 3.0}),)


def both() -> JointsTogether:
    return JointsTogether(("base", "elbow"), (1000.0, 1000.0), COLUMN)


def samples(first: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ticks in ms from `first` on, and rows of three channels of both: the number of the row, and more."""
    number = np.arange(first, first + count)
    base = np.column_stack([number, np.full(count, -1.0), number + 0.25])
    return number * MS, base, base[:, ::-1] + 0.5


def test_rows_of_both_have_the_columns_that_each_was_asked_for_and_come_once() -> None:
    one = both()
    ticks, base, elbow = samples(1000, 40)
    first, second = one.rows_of("base"), one.rows_of("elbow")
    assert first is not None
    assert second is not None
    assert one.rows_of("knee") is None
    push(ticks[:9], base[:9], first)
    assert not one.settled, "9 ms are not worth a look"
    push(ticks, elbow, second)
    assert not one.settled, "the first one's samples count"
    push(ticks[9:], base[9:], first)
    assert one.settled
    found = list(one.batches())
    assert not one.settled
    got = np.concatenate([row for _, row in found])
    times = np.concatenate([tick for tick, _ in found])
    inside = (times - ticks[0]) // MS
    np.testing.assert_allclose(got[:, 0], base[inside][:, [0, 2]], atol=1e-9)
    np.testing.assert_allclose(got[:, 1], elbow[inside][:, [1, 0]], atol=1e-9)
    assert len(got) > 30
    assert one.last == times[-1]
    assert list(one.batches()) == []
    assert one.last == times[-1]
    assert one.period == 1e-3


@pytest.mark.parametrize("last", [0, 9 * MS])
def test_an_even_clock_is_one_batch(last: int) -> None:
    ticks, rows = np.arange(10, 30) * MS, np.arange(20.0).reshape(20, 1, 1)
    [(times, values)] = equidistant(ticks, rows, last, 1e-3)
    assert times.tolist() == ticks.tolist()
    assert values.tolist() == rows.tolist()
    assert list(equidistant(ticks[:0], rows[:0], last, 1e-3)) == []


def test_at_each_jump_rows_of_nothing_stand_for_those_that_are_missing() -> None:
    """Before 10 ms, since the last row was at 5 ms; at 20 ms, and where the clock goes back."""
    ticks, rows = np.array([10, 11, 20, 21, 22, 15, 16]) * MS, np.arange(14.0).reshape(7, 2, 1)
    found = equidistant(ticks, rows, 5 * MS, 1e-3)
    assert [times.tolist() for times, _ in found[1::2]] == [
        [10 * MS, 11 * MS],
        [20 * MS, 21 * MS, 22 * MS],
        [15 * MS, 16 * MS],
    ]
    assert [values.tolist() for _, values in found[1::2]] == [rows[:2].tolist(), rows[2:5].tolist(), rows[5:].tolist()]
    for (times, values), first in zip(found[::2], (10, 20, 15), strict=True):
        assert values.shape == (round(BREAK / 1e-3), 2, 1) == (100, 2, 1)
        assert np.isnan(values).all()
        assert set(times.tolist()) == {first * MS}
    [(times, _), *_] = equidistant(ticks[:2], rows[:2], 0, 1e-3)
    assert times.tolist() == [10 * MS, 11 * MS], "before the first row nothing is missing"


def test_a_fault_is_an_event_when_the_first_joint_has_one_and_when_the_last_one_is_over() -> None:
    together, publication = both(), Publication("arm", "robot", 1, "")

    def told(*joints: str) -> list[Map]:
        faults = dict.fromkeys(joints, SILENT)
        return [msgpack.unpackb(body) for _, body in together.fault_event(faults, publication, "all is well", 12.5)]

    assert told("knee") == [], "it is none of these"
    [event] = told("elbow", "base")
    assert (event["kind"], event["timestamp"]) == ("fault", 12.5)
    assert [one.parameter for one in together.faults] == ["base", "elbow"]
    assert told("base") == []
    assert len(together.faults) == 1
    [event] = told()
    assert (event["kind"], event["text"], event["timestamp"]) == ("recovered", "all is well", 12.5)
    assert told() == []


def test_while_a_fault_lasts_an_update_is_due_twice_a_second() -> None:
    one, publication, begin = both(), Publication("arm", "robot", 1, ""), 7 * SECOND
    assert not one.fault_due(begin), "nothing is wrong"
    one.fault_event({"base": SILENT}, publication, "", 0.0)
    due = [step for step in range(12) if one.fault_due(begin + step * SECOND // 10)]
    assert due == [0, 5, 10]
