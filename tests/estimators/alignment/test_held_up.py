"""A sender that is held up and goes on where it was has lost nothing; a device that began anew, or paused, is told."""

import numpy as np
import pytest

from estimators.alignment.resampler import Resampler

P = 1e-3
TOLD = ("counter of 16 bits", "device time")


def resampler_of(told: str) -> Resampler:
    """At 1 kHz, one channel, of frames with a counter, a device time, or neither."""
    modulo = 65536 if told == "counter of 16 bits" else 0
    return Resampler(P, 1, counter_modulo=modulo, device_wrap=np.inf if told == "device time" else 0.0)


def readings_of(numbers: np.ndarray, arrival: np.ndarray, told: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (ns), values and columns of frames that carry their number, and what tells it."""
    of_device = {"no stamp": [], "device time": [numbers * P + 5.0], "counter of 16 bits": [numbers % 65536]}[told]
    values = np.stack([numbers, *of_device], axis=1).astype(float)
    columns = np.tile(np.arange(values.shape[1], dtype=np.int32), len(numbers))
    return np.repeat((arrival * 1e9).astype(np.int64) + 10**9, values.shape[1]), values.ravel(), columns


def aligned(numbers: np.ndarray, arrival: np.ndarray, told: str) -> tuple[dict[str, int], np.ndarray, np.ndarray]:
    """Totals that are not zero, ticks (s) and sample numbers of frames that carry the number and what tells it."""
    resampler = resampler_of(told)
    ticks, rows = resampler.absorb(*readings_of(numbers, arrival, told))
    return {name: count for name, count in resampler.counters().items() if count}, ticks / 1e9 - 1.0, rows[:, 0]


def held_up(seconds: int, longest: float, pace: float, seed: int) -> np.ndarray:
    """Arrivals (s) of even samples: some time each second nothing comes, then what waits at `pace` × real time."""
    dice = np.random.default_rng(seed)
    due = np.arange(seconds * 1000) * P
    arrival = due + 5e-5 * dice.random(len(due))
    for second in range(3, seconds - 3):
        begin = second + 0.2 * dice.random()
        end = begin + dice.uniform(0.02, longest)
        first = int(np.searchsorted(due, begin))
        queue = end + np.arange(int((end - begin) / P * pace / (pace - 1.0)) + 1) * P / pace
        last = min(first + len(queue), len(due))
        arrival[first:last] = np.maximum(arrival[first:last], queue[: last - first])
    return np.maximum.accumulate(arrival)


@pytest.mark.parametrize("told", [*TOLD, "no stamp"])
@pytest.mark.parametrize("pace", [1.8, 3.0, 1e3])
def test_a_sender_held_up_every_second_loses_nothing_and_keeps_its_clock(told: str, pace: float) -> None:
    """20 to 300 ms, as a process that is stopped and continued; drained as slowly as 1.8 times real time."""
    arrival = held_up(20, 0.3, pace, 1)
    totals, ticks, numbers = aligned(np.arange(len(arrival)), arrival, told)
    assert totals == {}
    assert np.array_equal(numbers, np.arange(len(numbers)))
    assert len(numbers) > len(arrival) - 300
    assert np.abs(ticks - numbers * P).max() < 1e-3


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("pace", [1.2, 3.0, 1e3])
@pytest.mark.parametrize("pause", [1.6, 4.0])
def test_what_the_device_counts_through_needs_no_new_clock(told: str, pace: float, pause: float) -> None:
    """Seconds late, and every sample there: the queue drains, and each has the instant at which it was taken."""
    due = np.arange(40_000) * P
    waits = (due >= 8.0) & (due < 8.0 + pause + pause / (pace - 1.0))
    arrival = np.where(waits, np.maximum(due, 8.0 + pause + (due - 8.0) / pace), due)
    totals, ticks, numbers = aligned(np.arange(len(due)), arrival, told)
    assert totals == {}
    assert np.abs(ticks - numbers * P).max() < 2e-3


def test_a_device_that_paused_is_reported_though_its_counter_went_on() -> None:
    """No queue: it never comes back to its time. Nothing is lost, and the clock is another."""
    numbers = np.arange(12_000)
    arrival = numbers * P + np.where(numbers < 4000, 0.0, 2.5)
    totals, ticks, found = aligned(numbers, arrival, "counter of 16 bits")
    assert totals == {"restart": 1}
    late = found > 6500  # after as long again as a queue may be
    assert np.abs(ticks[late] - found[late] * P - 2.5).max() < 1e-3
    assert np.abs(ticks[~late] - found[~late] * P).min() < 1e-3
    assert np.all(np.diff(ticks) > 0)


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("silence", [0.0, 0.3, 3.0])
def test_a_device_that_begins_anew_is_still_reported(told: str, silence: float) -> None:
    begun = np.arange(4000)
    numbers = np.concatenate([begun + 9000, begun])
    arrival = np.concatenate([begun * P, 4.0 + silence + begun * P])
    totals, ticks, found = aligned(numbers, arrival, told)
    assert totals["restart"] == 1
    again = np.flatnonzero(np.diff(found) < 0)[0] + 1
    assert np.abs(ticks[again:] - found[again:] * P - 4.0 - silence).max() < 1e-3


@pytest.mark.parametrize("seed", range(3))
def test_without_stamp_or_counter_a_silence_of_more_than_a_second_and_a_half_is_a_new_clock(seed: int) -> None:
    """That frames which come late were all there cannot be told from some that are missing, but by the burst's end."""
    arrival = held_up(12, 0.05, 1e3, seed)
    arrival[6000:] = np.maximum(arrival[6000:], 8.2)
    totals, _, numbers = aligned(np.arange(len(arrival)), arrival, "no stamp")
    assert totals == {"restart": 1}
    assert len(numbers) == len(arrival)


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("silence", [0.0, 2.5])
def test_what_is_lost_while_frames_are_refused_is_counted_and_what_came_is_reported(told: str, silence: float) -> None:
    """Every third frame is lost in ten seconds of which six are refused, with a silence in them."""
    numbers = np.arange(20_000)
    numbers = numbers[(numbers < 5000) | (numbers >= 15_000) | (numbers % 3 != 0)]
    numbers = numbers[(numbers < 9000) | (numbers >= 9000 + 1000 * silence)]
    resampler = resampler_of(told)
    parts = np.split(numbers, np.searchsorted(numbers, [7000, 13_000]))
    for part, refused in zip(parts, (False, True, False), strict=True):
        resampler.refuse(refused)
        resampler.absorb(*readings_of(part, part * P, told))
    totals = resampler.counters()
    assert totals["refused"] == len(parts[1])
    assert totals["lost"] == 20_000 - len(numbers)


@pytest.mark.parametrize("first", [500, 40_000])
def test_a_counter_that_begins_anew_while_frames_are_refused_says_nothing(first: int) -> None:
    resampler = resampler_of("counter of 16 bits")
    for begin, number, refused in ((0.0, 9000, False), (4.0, first, True), (8.0, first + 4000, False)):
        resampler.refuse(refused)
        numbers = number + np.arange(4000)
        resampler.absorb(*readings_of(numbers, begin + np.arange(4000) * P, "counter of 16 bits"))
    assert resampler.counters()["lost"] == 0
