"""Frames that carry the device's own time, against a simulated device whose sampling instants are known."""

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.alignment.resampler import Resampler

pytestmark = pytest.mark.interpreted

P = 1e-3
BOOT = 10**15  # ns: the host's clock is not near zero
Floats = NDArray[np.float64]
Readings = tuple[NDArray[np.int64], Floats, NDArray[np.int32]]
SPREADS = {"none": 0.0, "0.2 ms": 2e-4, "3 ms": 3e-3}  # s by which a frame is late at most
BURSTS = "flushed in bursts of 1 to 30 ms"


def with_device_time(n: NDArray[np.int64], clock: Floats, jitter: str) -> Readings:
    """Frames of sample n, taken at n·P of the device's clock, which carry clock(n), s: late, never early, in order."""
    taken, rng = n * P * (1 + 80e-6), np.random.default_rng(3)
    if jitter == BURSTS:
        flushes = np.cumsum(rng.uniform(1e-3, 30e-3, 10 * len(n)))
        return frames(flushes[np.searchsorted(flushes, taken)], n * 1.0, clock)
    return frames(np.maximum.accumulate(taken + rng.uniform(0, SPREADS[jitter], len(n))), n * 1.0, clock)


def frames(arrival: Floats, value: Floats, clock: Floats) -> Readings:
    """One frame per arrival (s) that carries a value and the device's time (s)."""
    times = (arrival * 1e9).round().astype(np.int64) + BOOT
    return np.repeat(times, 2), np.stack([value, clock], 1).ravel(), np.tile(np.arange(2, dtype=np.int32), len(times))


def seconds(ticks: NDArray[np.int64]) -> Floats:
    return (ticks - BOOT) * 1e-9


@pytest.mark.compiled
@pytest.mark.parametrize("jitter", [*SPREADS, BURSTS])
@pytest.mark.parametrize(("start", "wrap"), [(0.0, np.inf), (1.7e9, np.inf), (4290.0, 4294.967296), (64.0, 65.536)])
def test_device_time_places_samples_across_losses_and_wraps(jitter: str, start: float, wrap: float) -> None:
    n = np.arange(9000)[np.random.default_rng(2).random(9000) > 0.05]
    clock = start + n * P
    readings = with_device_time(n, clock % wrap if np.isfinite(wrap) else clock, jitter)
    resampler = Resampler(P, 1, device_wrap=wrap)
    ticks, rows = resampler.absorb(*readings)
    kept = np.isfinite(rows[:, 0])
    samples = rows[kept, 0]
    assert len(ticks) > 8800
    assert np.array_equal(samples, n[: len(samples)])
    assert resampler.counters()["lost"] == (~kept).sum()
    assert resampler.counters()["restart"] == 0
    late = seconds(ticks)[kept][2000:] - samples[2000:] * P * (1 + 80e-6)
    assert np.abs(late).max() < {"none": 8e-6, "0.2 ms": 2e-5}.get(jitter, 3e-4)


@pytest.mark.compiled
@pytest.mark.parametrize("pace", [1.0, 1.004])
@pytest.mark.parametrize("off", ["wobble", "jitter"])
def test_a_device_that_does_not_sample_evenly_is_resampled_onto_even_ticks(off: str, pace: float) -> None:
    n = np.arange(6000)
    random = np.random.default_rng(7).uniform(-3e-4, 3e-4, len(n))
    taken = n * P * pace + (2e-4 * np.sin(n * 0.01) if off == "wobble" else random)
    resampler = Resampler(P, 1, device_wrap=np.inf)
    ticks, rows = resampler.absorb(*frames(taken, np.sin(3.0 * taken), taken + 77.0))
    steps = np.diff(seconds(ticks)[1500:])
    assert np.abs(steps - P * pace).max() < {"wobble": 5e-6, "jitter": 3e-6}[off]
    lag = np.median((rows[:, 0] - np.sin(3.0 * seconds(ticks)))[1500:] / np.cos(3.0 * seconds(ticks)[1500:]) / 3.0)
    assert abs(lag) < 4e-4, "of the clock's first setting"
    np.testing.assert_allclose(rows[1500:, 0], np.sin(3.0 * (seconds(ticks)[1500:] + lag)), atol=1e-5)
    assert resampler.counters()["lost"] <= 1


@pytest.mark.parametrize(
    "wrong",
    [-0.5, 0.03, np.nan, *(pytest.param(one, marks=pytest.mark.compiled) for one in (-50.0, 0.004, 5.0, 1e6))],
)
def test_wrong_device_times_are_rejected_and_move_nothing(wrong: float) -> None:
    n = np.arange(6000)
    clock = 100.0 + n * P
    bad = np.array([3000, 3600, 4200])
    clock[bad] += wrong
    resampler = Resampler(P, 1, device_wrap=np.inf)
    ticks, rows = resampler.absorb(*with_device_time(n, clock, "0.2 ms"))
    counters = resampler.counters()
    assert counters["restart"] == 0
    rejected = counters["rejected" if wrong > 0 else "out_of_order"]
    assert rejected == (0 if np.isnan(wrong) else len(bad))
    known = np.isfinite(rows[:, 0])
    late = seconds(ticks)[known] - rows[known, 0] * P * (1 + 80e-6)
    assert np.abs(late[2000:]).max() < 3e-5


def test_a_device_that_begins_anew_is_followed() -> None:
    n = np.arange(6000)
    clock = np.where(n < 3000, 100.0, -2.0) + n * P
    resampler = Resampler(P, 1, device_wrap=np.inf)
    ticks, rows = resampler.absorb(*with_device_time(n, clock, "0.2 ms"))
    assert resampler.counters()["restart"] == 1
    known = np.isfinite(rows[:, 0])
    assert known.sum() > 5900
    assert np.abs(seconds(ticks)[known][4000:] - rows[known, 0][4000:] * P * (1 + 80e-6)).max() < 3e-5
