"""Steps of encoders in recordings: as they are where samples are even, larger where splines amplify their noise."""

import numpy as np
import pytest

from estimators.numerics.causal_low_pass import CausalLowPass
from estimators.numerics.splines import cubic_spline
from estimators.quantisation.recorded_steps import RecordedSteps

STEP = 2.0 * np.pi / 2**14


def _sampled(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A motion of many steps a sample, exact and read."""
    q = 0.7 * np.sin(2.0 * np.pi * 0.9 * times) + 0.4 * np.sin(2.0 * np.pi * 0.37 * times)
    return q, np.round(q / STEP) * STEP


def test_even_samples_have_the_encoders_own_step() -> None:
    times = np.arange(0.0, 20.0, 0.01)
    q, read = _sampled(times)
    found = RecordedSteps(2)
    found.absorb(times, np.column_stack([read, q]))
    assert found.steps == pytest.approx([STEP, 0.0], rel=1e-6)


def test_uneven_samples_have_a_step_that_makes_as_much_noise() -> None:
    times = np.cumsum(np.random.default_rng(5).uniform(0.001, 0.013, 20_000))
    q, read = _sampled(times)
    found = RecordedSteps(1)
    found.absorb(times, read[:, np.newaxis])
    rate = (len(times) - 1) / (times[-1] - times[0])
    even = cubic_spline(times, read - q)(np.linspace(times[0], times[-1], len(times)))
    white = found.steps[0] / np.sqrt(12.0) * np.random.default_rng(6).standard_normal(len(times))
    noise = [CausalLowPass(1, 10.0, 1.0 / rate).absorb(one[:, np.newaxis])[2][100:].std() for one in (even, white)]
    assert found.steps[0] > 1.1 * STEP
    assert noise[0] == pytest.approx(noise[1], rel=0.1)
