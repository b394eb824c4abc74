"""One compiled pass and step by step: the same rows to the bit, and the same said of the samples."""

import itertools

import numpy as np
import pytest

from estimators.alignment.resampler import Resampler
from estimators.conditioning.conditioner import Conditioning
from estimators.conditioning.front import LAST, PASSED, Front
from estimators.models.joints.rigid import RigidSettings

CHANNELS = ("position", "torque", "current")
PERIOD = 1e-3


def samples(count: int) -> np.ndarray:
    """A joint in motion; with spikes, gaps, values that no joint has and some at saturation, after a second."""
    rng = np.random.default_rng(5)
    t = PERIOD * np.arange(count)
    values = np.column_stack([np.sin(3 * t) + 0.2 * np.sin(11 * t), 20 * np.cos(7 * t), 30 + 0.1 * t])
    values += rng.normal(0.0, [1e-6, 0.05, 0.01], values.shape)
    values[2000, 0] += 0.4
    values[2500:2503, 1] = np.nan
    values[3100, 1] = 1e9
    return values


def front() -> Front:
    return Front(RigidSettings(gravity_sin=True).build(), CHANNELS, PERIOD, 0.05, 19.5, Conditioning())


@pytest.mark.parametrize("size", [1, 20, 333])
def test_a_pass_gives_what_the_steps_give(size: int) -> None:
    values, time = samples(6000), 10_000_000 + 1_000_000 * np.arange(6000)
    passed, stepped = front(), front()
    heard: list[list[np.ndarray]] = [[], []]
    for one, rows in zip((passed, stepped), heard, strict=True):
        one.follower = lambda _, cleaned, rows=rows: rows.append(cleaned)  # type: ignore[misc]
    found = [passed.absorb(time[i : i + size], values[i : i + size]) for i in range(0, 6000, size)]
    expected = [stepped._step_by_step(time[i : i + size], values[i : i + size]) for i in range(0, 6000, size)]
    for name in ("time", "phi", "y", "speed", "motion"):
        ours, theirs = (np.concatenate([getattr(rows, name) for rows in each]) for each in (found, expected))
        assert len(ours) > 300
        assert np.array_equal(ours, theirs), name
    assert np.array_equal(*(np.concatenate(rows) for rows in heard), equal_nan=True)
    assert passed.counters() == stepped.counters()
    assert passed.counters()["spikes"] >= 1
    assert passed.counters()["saturated"] > 100
    assert passed.counters()["implausible"] == 1
    assert passed.channels.certain == stepped.channels.certain


def readings(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Those samples as frames of three channels, of which some are lost."""
    count, channels = values.shape
    there = np.random.default_rng(6).random(count) > 0.002
    times = np.repeat(10_000_000 + 1_000_000 * np.arange(count)[there], channels)
    return times, values[there].ravel(), np.tile(np.arange(channels, dtype=np.int32), np.count_nonzero(there))


def aligner() -> Resampler:
    return Resampler(PERIOD, len(CHANNELS), frames=[0, 0, 0])


@pytest.mark.interpreted
@pytest.mark.parametrize(("size", "count"), [(30, 2300), pytest.param(7, 6000, marks=pytest.mark.compiled)])
def test_readings_that_arrive_give_what_alignment_and_a_pass_give(size: int, count: int) -> None:
    kept = samples(6000)[:count]
    times, values, columns = readings(kept)
    whole, plain, aligned, apart = front(), front(), aligner(), aligner()
    first = int(np.searchsorted(times, 10_000_000 + 1_000_000 * 2150))
    ends = [0, first, *range(first + size, len(times), size), len(times)]
    seen, intervals, slot = np.zeros(len(CHANNELS) + 1, np.int64), np.array([-1, 20_000_000, 3_000_000]), -1
    arrived, begun, found, expected = 0, 0, [], []
    for start, end in itertools.pairwise(ends):
        part = slice(start, end)
        ticks, rows = apart.absorb(times[part], values[part], columns[part])
        if start == 0:
            for one in (whole, plain):
                one.until_found(ticks, rows)
        slots = (ticks - 3_000_000) // 20_000_000
        came = whole.arrive(aligned, times[part], values[part], columns[part], seen, intervals)
        assert np.array_equal(came.time, ticks)
        assert np.array_equal(came.samples, rows, equal_nan=True)
        if len(ticks):
            assert came.last == ticks[-1]
            cut = int(np.argmax(slots > slot)) + 1 if slots[-1] > slot else len(slots)
            assert came.taken in (0, cut)
            assert came.begun == (came.taken > 0 and slots[came.taken - 1] > slot)
            slot, begun, arrived = slots[-1], begun + came.begun, arrived + came.taken
            found.append(came.rows)
            if came.taken < len(ticks):
                found.append(whole.absorb(ticks[came.taken :], rows[came.taken :]))
            expected.append(plain.absorb(ticks, rows))
        if start == 0:
            for one in (whole, plain):
                one.found(), one.timed()
        intervals[LAST] = slot
    assert seen[:3].tolist() == [times[-1]] * 3
    assert begun > 0
    assert arrived > 0.4 * (count - 2150), "all but the seconds behind a value that no joint has, and a span's end"
    for name in ("time", "phi", "y"):
        ours, theirs = (np.concatenate([getattr(rows, name) for rows in each]) for each in (found, expected))
        assert np.array_equal(ours, theirs), name
    assert whole.counters() == plain.counters()


def test_most_of_it_is_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    one, values = front(), samples(12000)
    steps: list[int] = []
    plain = one._step_by_step
    monkeypatch.setattr(one, "_step_by_step", lambda t, v: (steps.append(len(t)), plain(t, v))[1])
    for i in range(0, 12000, 20):
        time, part = 1_000_000 * np.arange(i, i + 20), values[i : i + 20]
        one.until_found(time, part)
        one.absorb(time, part)
        one.found(), one.timed()
    assert sum(steps) < 5000  # the first two seconds, two after a value that no joint has, and the end of each span
    assert sum(steps) > 1000


@pytest.mark.interpreted
def test_the_same_without_a_compiler() -> None:
    values, time = samples(3200)[:2250], 1_000_000 * np.arange(2250)
    values[2000, 0] -= 0.4
    passed, stepped = front(), front()
    for one, way in ((passed, passed._step_by_step), (stepped, stepped._step_by_step)):
        one.until_found(time[:2150], values[:2150])
        way(time[:2150], values[:2150])
        one.found(), one.timed()
    ours, theirs = passed.absorb(time[2150:], values[2150:]), stepped._step_by_step(time[2150:], values[2150:])
    assert len(ours.time) >= 5
    assert all(np.array_equal(one, other) for one, other in zip(ours[:4], theirs[:4], strict=True))
    assert (passed._figures[PASSED], stepped._figures[PASSED]) == (100, 0), "one of them in one pass"
