"""Stalls of any length, drained at any pace, some of it lost on the way: what is counted as lost is what was lost."""

import numpy as np
import pytest

from estimators.alignment.resampler import Resampler

P = 1e-3
AT = 3000  # samples before the stall


def drained(stall: int, kept: int, pace: float, chunk: int, jitter: float = 2e-4) -> tuple[np.ndarray, np.ndarray, int]:
    """Sample numbers, arrivals (s), and how many are missing: of a stall that long (samples) the first `kept` wait.

    The reader takes chunks, at `pace` times real time while there is a queue.
    """
    wait = 300 + int(1.5 * kept / (pace - 1))
    numbers = np.concatenate([np.arange(AT + kept), np.arange(AT + stall, AT + stall + wait + 1500)])
    due = np.maximum(numbers * P, np.where(numbers < AT, 0.0, (AT + stall) * P))
    due += jitter * np.random.default_rng(7).random(len(due))
    arrival, free = due.copy(), 0.0
    for first in range(AT, len(due), chunk):
        free = max(free + chunk * P / pace, due[first])
        arrival[first : first + chunk] = np.maximum(due[first : first + chunk], free)
    return numbers, np.maximum.accumulate(arrival), stall - kept


def counted(numbers: np.ndarray, arrival: np.ndarray, modulo: int) -> tuple[dict[str, int], np.ndarray]:
    columns = 2 if modulo else 1
    times = np.repeat((arrival * 1e9).astype(np.int64) + 10**9, columns)
    values = (
        np.column_stack([np.ones(len(numbers)), numbers % modulo])[:, :columns] if modulo else np.ones(len(numbers))
    )
    resampler = Resampler(P, 1, counter_modulo=modulo)
    ticks, _ = resampler.absorb(times, values.ravel(), np.tile(np.arange(columns, dtype=np.int32), len(numbers)))
    return resampler.counters(), ticks


@pytest.mark.parametrize("modulo", [0, 256, 65536], ids=["no counter", "counter of 8 bits", "counter of 16 bits"])
@pytest.mark.parametrize(("pace", "chunk"), [(1e4, 10**6), (20, 26), (3, 10), (20, 1)])
@pytest.mark.parametrize(("stall", "kept"), [(1000, 1000), (1400, 425), (3000, 3000), (3000, 425), (10_000, 10_000)])
def test_a_stall_loses_what_was_lost_and_nothing_else(
    stall: int, kept: int, pace: float, chunk: int, modulo: int
) -> None:
    numbers, arrival, missing = drained(stall, kept, pace, chunk)
    totals, ticks = counted(numbers, arrival, modulo)
    assert totals["lost"] == missing
    assert totals["out_of_order"] == 0
    assert np.all(np.diff(ticks) > 0)


def test_ticks_keep_the_device_s_pace_through_a_queue() -> None:
    """A queue that drains slowly is no clock that runs fast."""
    numbers, arrival, _ = drained(3000, 3000, 3, 10)
    _, ticks = counted(numbers, arrival, 65536)
    assert len(ticks) == len(numbers)
    assert np.abs(np.diff(ticks) / 1e6 - 1.0).max() < 0.02


def starved(seed: int, seconds: int = 30) -> np.ndarray:
    """Arrivals (s) from a machine that is held up every fifth of a second and then sends what waits in chunks."""
    dice = np.random.default_rng(seed)
    arrival = np.arange(seconds * 1000) * P
    begin = 0.0
    while begin < seconds - 2:
        begin += dice.exponential(0.2)
        end = begin + dice.exponential(0.15)
        late = np.flatnonzero((arrival >= begin) & (arrival < end))
        arrival[late] = end + np.arange(len(late)) // 26 * 0.002
        begin = end
    return np.maximum.accumulate(arrival)


@pytest.mark.parametrize("modulo", [0, 65536], ids=["no counter", "counter of 16 bits"])
@pytest.mark.parametrize("seed", [0, 3, 4])
def test_a_starved_machine_loses_nothing_and_moves_no_clock(seed: int, modulo: int) -> None:
    arrival = starved(seed)
    totals, ticks = counted(np.arange(len(arrival)), arrival, modulo)
    assert not any(totals.values()), totals
    assert len(ticks) == len(arrival)
    assert np.abs(ticks / 1e9 - 1.0 - np.arange(len(ticks)) * P).max() < 5e-3


@pytest.mark.parametrize("before", [3, 20, 45], ids=lambda n: f"{n} samples before")
def test_what_follows_a_loss_and_then_a_silence_keeps_its_place(before: int) -> None:
    """A frame is lost, and before that is proved, half a second of them: those between are late by one, not by all."""
    numbers = np.setdiff1d(np.arange(AT + 4000), [*range(AT, AT + 500), AT - before, AT + 507, AT + 511])
    resampler = Resampler(P, 1)
    times = np.round((numbers * P + 1e-4) * 1e9).astype(np.int64)
    ticks, rows = resampler.absorb(times, numbers.astype(float), np.zeros(len(numbers), np.int32))
    there = np.isfinite(rows[:, 0])
    np.testing.assert_allclose(rows[there, 0], (ticks[there] * 1e-9 - 1e-4) / P, atol=0.01)
    assert resampler.counters()["lost"] == 503
    assert np.count_nonzero(there) == len(numbers)
