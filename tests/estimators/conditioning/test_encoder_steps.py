"""An encoder's step is found, and its noise in a row is what a simulation of it says."""

import math

import numpy as np
import pytest

from estimators.conditioning.conditioner import Conditioner, Conditioning
from estimators.conditioning.encoder_steps import EncoderSteps, half_width, noise_of
from estimators.models.joints.rigid import RigidSettings

PERIOD = 1e-3


def motion(count: int) -> np.ndarray:
    """Position, rad."""
    t = np.arange(count) * PERIOD
    return 0.7 * np.sin(0.9 * t) + 0.2 * np.sin(2.3 * t + 1.0)


@pytest.mark.parametrize("bits", [12, 14, 17, 20])
def test_finds_the_step(bits: int) -> None:
    step = 2.0 * math.pi / 2**bits
    steps = EncoderSteps()
    for first in range(0, 3000, 50):
        steps.absorb(np.round(motion(3000)[first : first + 50] / step) * step)
    assert steps.known
    assert steps.step == pytest.approx(step, rel=1e-6)


def test_a_position_without_steps_has_none() -> None:
    steps = EncoderSteps()
    assert not steps.absorb(motion(3000))
    assert steps.known
    assert steps.step == 0.0


def test_a_fine_encoder_leaves_the_kernel_as_it_is_and_a_coarse_one_widens_it() -> None:
    widths = [half_width(2.0 * math.pi / 2**bits, PERIOD, 0.02) for bits in (20, 18, 16, 14, 12, 10)]
    assert widths[:2] == [0.02, 0.02]
    assert (np.diff(widths[1:5]) > 0.0).all()
    assert widths[5] == 0.15
    assert half_width(2.0 * math.pi / 2**12, PERIOD, 0.3) == 0.3


def test_noise_in_a_row_is_that_of_white_steps() -> None:
    model, step = RigidSettings(gravity_sin=True).build(), 2.0 * math.pi / 2**14
    conditioner = Conditioner(model, PERIOD, Conditioning(half_width=0.03))
    rng = np.random.default_rng(5)
    clean = np.column_stack([motion(200_000), np.zeros(200_000)])
    noisy = clean + np.column_stack([rng.uniform(-0.5, 0.5, 200_000) * step, np.zeros(200_000)])
    time = np.arange(200_000) * 1_000_000
    exact = conditioner.absorb(time, clean).phi[:, 0]
    found = Conditioner(model, PERIOD, Conditioning(half_width=0.03)).absorb(time, noisy).phi[:, 0]
    noise, own = noise_of(model, conditioner.taps, PERIOD, step)
    inertia = np.mean((found - exact)[:, 0] ** 2)
    assert noise[0, 0] == pytest.approx(inertia, rel=0.05)
    expected = step**2 / 12.0 * PERIOD * math.pi**4 / (4.0 * 0.03**5)
    assert noise[0, 0] == pytest.approx(expected, rel=0.02)
    assert np.mean((found - exact)[:, 1] ** 2) == pytest.approx(noise[1, 1], rel=0.05)
    np.testing.assert_array_equal(own, 0.0)
