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


def alone(saturation: float | None = None, **more: bool) -> Front:
    """Of a joint with position and torque."""
    model = RigidSettings.model_validate({"gravity_sin": True} | more).build()
    return Front(model, ("position", "torque"), PERIOD, 0.05, saturation, Conditioning())


def settled(one: Front, time: np.ndarray, values: np.ndarray, size: int = 20) -> list[np.ndarray]:
    """Everything in, in small batches, told what has been found; the cleaned samples that its follower hears."""
    heard: list[np.ndarray] = []
    one.follower = lambda _, cleaned: heard.append(cleaned)  # type: ignore[misc]
    for first in range(0, len(time), size):
        part = slice(first, first + size)
        one.until_found(time[part], values[part])
        one.absorb(time[part], values[part])
        one.found(), one.timed()
    return heard


def test_a_torque_from_98_percent_of_the_saturation_on_is_not_believed() -> None:
    """In the single steps of the first two seconds, and in the pass after them."""
    values, time = samples(8000)[:, :2], 1_000_000 * np.arange(8000)
    values[2000, 0] -= 0.4
    values[[2500, 2501, 2502, 3100], 1] = values[[2499, 2499, 2499, 3099], 1]
    values[:, 1] = np.clip(values[:, 1], -9.7, 9.7)  # it stays there around 0.9 s and 6.73 s
    values[[900, 903, 6732, 6735], 1] = [9.79, 9.81, -9.79, -9.81]  # of 10
    one = alone(10.0)
    heard = np.concatenate(settled(one, time, values))
    assert one._figures[PASSED] > 0
    wanted = values[:-2].copy()
    wanted[[903, 6735], 1] = np.nan
    assert np.array_equal(heard, wanted, equal_nan=True), "two samples late, and nothing else is touched"
    assert one.counters()["saturated"] == 2
    free = alone(None)
    assert np.array_equal(np.concatenate(settled(free, time, values)), values[:-2])
    assert free.counters()["saturated"] == 0


def test_a_wider_kernel_keeps_the_totals_of_the_one_before_it() -> None:
    values, time = samples(5000)[:, :2], 1_000_000 * np.arange(5000)
    values[4000:4100, 1] = np.nan
    one = alone()
    before = one.absorb(time[:2600], values[:2600])
    counted = one.counters()
    one.widen(0.06)
    after = one.absorb(time[2600:], values[2600:])
    assert one.conditioner.half_width == 0.06
    assert len(after.time) > 50
    totals = one.counters()
    assert totals["rows"] == len(before.time) + len(after.time)
    assert counted["dropped"] > 0
    assert totals["dropped"] > counted["dropped"] + 5
    assert totals["implausible"] == 1
    assert after.time[0] >= time[2600] + round(1e9 * one.conditioner.delay) - 2_000_000, "the old samples are given up"


def test_the_step_of_an_encoder_is_told_once_with_the_samples_up_to_it() -> None:
    """The 240th move is that of the sample 480."""
    values, time = np.zeros((1000, 2)), 1_000_000 * np.arange(1000)
    values[:, 0] = 1e-4 * np.repeat(np.arange(500), 2)
    one = alone()
    assert one.until_found(time[:400], values[:400]) == 400
    assert one.found() == ()
    assert one.until_found(time[400:], values[400:]) == 81
    ((channel, steps),) = one.found()
    assert (channel, steps.since) == (0, 480_000_000)
    assert one.found() == ()
    assert one.until_found(time[400:], values[400:]) == 600, "afterwards there is nothing to wait for"


def test_a_temperature_that_comes_seldom_drops_no_row() -> None:
    model = RigidSettings.model_validate({"temperature": 30.0}).build()
    time, values = 1_000_000 * np.arange(2000), np.full((2000, 3), np.nan)
    values[:, :2], values[::500, 2] = samples(3200)[:2000, :2], 35.0
    one = Front(model, ("position", "torque", "temperature"), PERIOD, 0.05, None, Conditioning())
    rows = one.absorb(time, values)
    assert one.counters()["dropped"] == 0
    assert len(rows.time) > 180
