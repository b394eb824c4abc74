"""One compiled pass and step by step: the same rows to the bit, and the same said of the samples."""

import numpy as np
import pytest

from estimators.conditioning.conditioner import Conditioning
from estimators.conditioning.front import PASSED, Front
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
