"""Frames whose stamps are true and uneven: a loop that is held up and catches up, and real losses among them.

The reference is the loop itself: it knows when it sampled, and which of its frames were thrown away.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.alignment.resampler import Resampler

P = 1e-3
BOOT = 10**15  # ns
Floats = NDArray[np.float64]


def held_up(seed: int, chance: float, longest: float, jitter: float = 0.0, count: int = 10_000) -> Floats:
    """When a loop samples (s) that sleeps until n·P, is sometimes held up, and then catches up at once."""
    rng = np.random.default_rng(seed)
    taken, free = np.empty(count), 0.0
    for n in range(count):
        start = max(n * P + abs(rng.normal(0, jitter)) if jitter else n * P, free + 2e-5)
        if rng.random() < chance:
            start += rng.exponential(longest)
        taken[n] = free = start
    return taken


def align(taken: Floats, seed: int) -> tuple[dict[str, int], Floats, Floats]:
    """What is counted, ticks (s since the first sample was taken) and rows of a sine that was sampled then."""
    late = np.random.default_rng(seed + 100).exponential(3e-4, len(taken))
    arrived = np.maximum.accumulate(taken + late)
    times = np.repeat((arrived * 1e9).round().astype(np.int64) + BOOT, 2)
    values = np.stack([np.sin(3 * taken), taken + 1.7e9], 1).ravel()  # stamped as a host's clock stamps
    columns = np.tile(np.arange(2, dtype=np.int32), len(taken))
    resampler = Resampler(P, 1, device_wrap=np.inf, bridge=5)
    ticks, rows = resampler.absorb(times, values, columns)
    return {name: one for name, one in resampler.counters().items() if one}, (ticks - BOOT) * 1e-9, rows[:, 0]


LOOPS = {
    "seldom, 5 ms": (0.02, 5e-3, 0.0),
    "often, 3 ms": (0.1, 3e-3, 0.0),
    "seldom, and jitter of 0.3 ms": (0.02, 5e-3, 3e-4),
    "never": (0.0, 0.0, 0.0),
}
# frames that may be called lost while the first dozen frames say where even ones would be: only jitter that is as large
# as a period hides that
YOUNG = dict.fromkeys(LOOPS, 0) | {"seldom, and jitter of 0.3 ms": 1}


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_that_catches_up_has_lost_nothing_and_gives_even_ticks_of_its_own_time(loop: str, seed: int) -> None:
    taken = held_up(seed, *LOOPS[loop])
    counters, ticks, rows = align(taken, seed)
    assert counters.keys() <= {"interpolated", "lost"}, "nothing out of order"
    assert counters.get("lost", 0) <= YOUNG[loop]
    assert abs(len(ticks) - len(taken)) <= 25, "a tick a period, whatever comes at once; the last may still wait"
    assert np.abs(np.diff(ticks[1000:]) - P).max() < 5e-6
    known = np.isfinite(rows)
    assert known.mean() > 0.8, "what is between two samples up to 6 periods apart is interpolated"
    lag = np.median((rows - np.sin(3 * ticks))[known] / np.cos(3 * ticks[known]) / 3)
    # between two samples 7 periods apart a line is off by 9 (7e-3)²/8; the clock's setting by the least of the lateness
    assert np.abs(rows - np.sin(3 * (ticks + lag)))[known][1000:].max() < 1e-4


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("share", [0.002, 0.02])
def test_what_is_really_lost_is_counted_among_stalls(loop: str, seed: int, share: float) -> None:
    taken = held_up(seed, *LOOPS[loop])
    gone = np.random.default_rng(seed + 50).random(len(taken)) < share
    gone[:200] = gone[-300:] = False  # what is lost in the last two blocks of frames is not decided yet
    counters, _, _ = align(taken[~gone], seed)
    assert 0 <= counters["lost"] - gone.sum() <= YOUNG[loop]
    assert counters.keys() <= {"interpolated", "lost"}


def test_an_even_device_s_loss_is_counted_three_frames_later() -> None:
    taken = np.delete(np.arange(400) * P, [300, 301, 350])
    for upto, lost in ((300, 0), (303, 0), (304, 2), (351, 2), (352, 3)):
        assert align(taken[:upto], 0)[0].get("lost", 0) == lost
