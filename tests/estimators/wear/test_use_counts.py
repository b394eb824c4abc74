"""Use counts: rest and noise count for nothing; motion counts as a calculus and a peak finder of SciPy say."""

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.wear.use_counts import BAND, PAUSE, STEPS, UseCounts, UseState, count_use

Floats = NDArray[np.float64]
PERIOD = 1_000_000  # ns
RATE = 1000.0


def counted(position: Floats, step: float = 0.0, parts: int = 1, start: int = 10**9) -> UseCounts:
    """The counts of positions at 1 kHz, handed over in parts."""
    use = UseState(band=max(BAND, STEPS * step))
    times = start + PERIOD * np.arange(len(position))
    samples = np.column_stack([np.zeros(len(position)), position])
    for rows in np.array_split(np.arange(len(position)), parts):
        count_use(times[rows], np.ascontiguousarray(samples[rows]), 1, use)
    return use.counts


def multisine(seconds: float, seed: int) -> Floats:
    """A motion that never rests for long: four sines of random phase."""
    random, time = np.random.default_rng(seed), np.arange(int(seconds * RATE)) / RATE
    phases = random.uniform(0, 2 * np.pi, 4)
    return np.sum([0.5 / k * np.sin(2 * np.pi * 0.3 * k * time + phases[k - 1]) for k in (1, 2, 3, 4)], axis=0)


@pytest.mark.interpreted
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("noise", "step"), [(0.0, 0.0), (5e-5, 0.0), (0.0, 2 * np.pi / 4096)])
def test_a_motion_has_its_way_and_its_turning_points(seed: int, noise: float, step: float) -> None:
    from scipy.signal import find_peaks

    true = multisine(20.0, seed)
    measured = true + np.random.default_rng(seed + 100).normal(0.0, noise, len(true))
    if step:
        measured = np.round(measured / step) * step
    found = counted(measured, step)
    band = max(BAND, STEPS * step)
    turns = sum(len(find_peaks(side * true, prominence=2 * band)[0]) for side in (1, -1))
    assert found.reversals == turns
    steps = np.abs(np.diff(true))
    late = band + 2 * steps.max()  # the follower lags by the play at both ends, and the median by a sample
    assert found.travel == pytest.approx(steps.sum(), abs=late + (turns + 1) * (step + 4 * noise))
    assert found.seconds == pytest.approx(20.0, abs=0.1)
    assert found.starts == 1


@pytest.mark.parametrize("noise", [1e-5, 1e-4])
def test_noise_at_rest_counts_for_nothing(noise: float) -> None:
    rest = np.random.default_rng(1).normal(0.3, noise, 600_000)  # ten minutes
    assert counted(rest) == UseCounts()


def test_an_encoder_that_flickers_between_two_steps_counts_for_nothing() -> None:
    step = 2 * np.pi / 4096
    flicker = step * np.random.default_rng(2).integers(0, 2, 600_000)
    assert counted(flicker, step) == UseCounts()


def test_slow_creep_of_less_than_the_play_counts_for_nothing() -> None:
    creep = np.concatenate([np.full(700, 2.5e-4 * k) for k in range(8)])
    assert counted(creep) == UseCounts()


def test_single_wild_samples_count_for_nothing() -> None:
    rest = np.full(10_000, 0.5)
    rest[[1000, 3000, 7000]] = [2.5, -9.0, 0.6]
    assert counted(rest) == UseCounts()


def cycle(pause: float) -> Floats:
    """Three moves of 1 rad in 1 s, there, back and there, with a pause after each."""
    ramp, wait = np.linspace(0.0, 1.0, 1000), np.ones(int(pause * RATE))
    return np.concatenate([np.zeros(300), ramp, wait, ramp[::-1], 0 * wait, ramp, wait])


@pytest.mark.parametrize(("pause", "starts"), [(2 * PAUSE, 3), (PAUSE / 2, 1)])
def test_moves_after_a_rest_are_starts_and_the_rest_is_no_time_in_motion(pause: float, starts: int) -> None:
    found = counted(cycle(pause))
    assert (found.starts, found.reversals) == (starts, 2)
    assert found.travel == pytest.approx(3.0, abs=2 * BAND)
    moving = 3.0 if starts == 3 else 3.0 + 2 * pause
    assert found.seconds == pytest.approx(moving, abs=0.01)


@pytest.mark.parametrize("parts", [2, 7, 500])
def test_how_samples_are_cut_into_batches_does_not_matter(parts: int) -> None:
    position = np.concatenate([multisine(5.0, 3), cycle(0.7)])
    assert counted(position, parts=parts) == counted(position)


def test_a_jump_while_no_sample_came_is_no_way() -> None:
    use = UseState()
    ramp = np.linspace(0.0, 0.1, 500)[:, None]
    times = 10**9 + PERIOD * np.arange(500)
    count_use(times, ramp, 0, use)
    before = use.counts
    count_use(times + 10 * 10**9, np.full((500, 1), 40.0), 0, use)
    assert use.counts == before
    assert before.travel == pytest.approx(0.1, abs=2 * BAND)


def test_missing_positions_are_bridged_by_the_next_one() -> None:
    position = np.linspace(0.0, 1.0, 1000)
    gaps = position.copy()
    gaps[100:200] = np.nan
    assert counted(gaps).travel == pytest.approx(counted(position).travel, abs=1e-12)
