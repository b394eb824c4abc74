"""What waits for its joint's update is neither lost, nor reordered, nor held longer than it may be."""

import numpy as np

from daq.core.reading_buffer import LONGEST, NOTHING, ReadingBuffer
from drivers.reading import READING

MS = 1_000_000


def frames(*of: tuple[int, int]) -> np.ndarray:
    """(channel, ms) → readings, their value their place."""
    readings = np.zeros(len(of), READING)
    readings["channel"], times = np.array(of).T
    readings["time"], readings["value"] = times * MS, np.arange(len(of))
    return readings


def room() -> ReadingBuffer:
    """Two joints, the first with two channels, each on its own driver."""
    return ReadingBuffer([0, 0, 1], ["a", "b", "b"])


def test_only_the_joint_that_is_due_leaves_and_in_order() -> None:
    waiting, due = room(), np.array([3, 9]) * MS
    waiting.add(frames((0, 1), (2, 1), (1, 2)))
    assert not len(waiting.take(due, 2 * MS))
    assert waiting.waiting() == {"a": 1, "b": 2}
    waiting.add(frames((2, 3), (0, 3)))
    left = waiting.take(due, 3 * MS)
    assert list(zip(left["channel"].tolist(), (left["time"] // MS).tolist(), strict=True)) == [(0, 1), (1, 2), (0, 3)]
    assert waiting.waiting() == {"a": 0, "b": 2}
    waiting.set_next_due(np.array([23, 9]) * MS, 3 * MS)
    assert not len(waiting.take(due, 4 * MS))
    assert waiting.take_all()["channel"].tolist() == [2, 2]
    assert not len(waiting.take_all())


def test_what_is_waited_for_in_vain_ends_the_waiting() -> None:
    waiting, due = room(), np.array([100, 100]) * MS
    waiting.add(frames((0, 1), (0, 2), (2, 30)))
    assert not len(waiting.take(due, MS + LONGEST))
    assert waiting.take(due, MS + LONGEST + 1)["time"].tolist() == [MS, 2 * MS]
    assert waiting.waiting() == {"a": 0, "b": 1}


def test_what_stays_behind_waits_its_own_time_and_is_not_looked_at_before() -> None:
    waiting, due = room(), np.array([1, 100]) * MS
    waiting.add(frames((0, 1), (2, 20), (0, 21)))
    waiting.set_next_due(due, 21 * MS)
    assert waiting.take(due, 21 * MS)["time"].tolist() == [MS, 21 * MS]
    due[0] = 100 * MS
    waiting.set_next_due(due, 21 * MS)
    assert waiting.take(due, 42 * MS) is NOTHING, "no joint is due, and the one that waits came at 20 ms"
    assert waiting.take(due, 20 * MS + LONGEST) is NOTHING
    assert waiting.take(due, 20 * MS + LONGEST + 1)["time"].tolist() == [20 * MS]


def test_a_crowd_that_grows_loses_nobody() -> None:
    waiting, nobody = room(), np.full(2, 1 << 62)
    sent = [frames(*((k % 3, at + k) for k in range(700))) for at in (1, 701, 1401)]
    for some in sent:
        waiting.add(some)
        assert not len(waiting.take(nobody, MS))
    assert waiting.waiting() == {"a": 702, "b": 1398}
    assert waiting.take_all().tobytes() == np.concatenate(sent).tobytes()


def test_room_behind_a_crowd_is_given_back_and_who_waits_stays() -> None:
    waiting, nobody = room(), np.full(2, 1 << 62)
    waiting.add(frames(*((k % 3, k) for k in range(100_000))))
    assert len(waiting.take_all()) == 100_000
    waiting.add(frames((2, 7), (0, 8)))
    assert waiting._waiting.nbytes < 1e5
    assert not len(waiting.take(nobody, 8 * MS))
    waiting.add(frames((1, 9)))
    assert waiting.take_all()["channel"].tolist() == [2, 0, 1]


def test_nobody_sleeps_beyond_what_is_due_and_a_silent_joint_wakes_nobody() -> None:
    waiting, due = room(), np.array([18, 14]) * MS
    waiting.add(frames((0, 10), (2, 10)))
    waiting.take(due, 10 * MS)
    waiting.set_next_due(due, 10 * MS)
    assert (waiting.sleep_time(11 * MS), waiting.sleep_time(14 * MS)) == (0.003, 0.0)
    waiting.add(frames((0, 60)))
    assert len(waiting.take(due, 60 * MS)) == 3
    waiting.set_next_due(np.array([68, 14]) * MS, 61 * MS)
    assert waiting.sleep_time(61 * MS) == 0.007
    waiting.set_next_due(np.array([68, 14]) * MS, 1000 * MS)
    assert 0 < waiting.sleep_time(1000 * MS) <= LONGEST / 1e9


def test_what_stays_behind_is_looked_at_as_soon_as_its_newest_reading_is_due() -> None:
    waiting, due = room(), np.array([1, 100]) * MS
    waiting.add(frames((0, 1), (2, 20), (0, 21), (2, 25)))
    assert waiting.take(due, 25 * MS)["time"].tolist() == [MS, 21 * MS]
    due = np.array([100, 24]) * MS
    waiting.set_next_due(due, 25 * MS)
    assert waiting.take(due, 26 * MS)["time"].tolist() == [20 * MS, 25 * MS]
