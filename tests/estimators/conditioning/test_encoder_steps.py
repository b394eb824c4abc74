"""An encoder's step is found, and its noise in a row is what a simulation of it says."""

import math

import numpy as np
import pytest

from estimators.conditioning.conditioner import Conditioner, Conditioning
from estimators.conditioning.encoder_steps import CALM, EncoderSteps, UnevenTime, half_width, noise_of, told_from
from estimators.models.joints.rigid import RigidSettings
from estimators.models.joints.two_mass import TwoMassSettings

PERIOD = 1e-3


def motion(count: int) -> np.ndarray:
    """Position, rad."""
    t = np.arange(count) * PERIOD
    return 0.7 * np.sin(0.9 * t) + 0.2 * np.sin(2.3 * t + 1.0)


def times(first: int, count: int) -> np.ndarray:
    return (first + np.arange(count)) * 1_000_000


@pytest.mark.parametrize("bits", [12, 14, 17, 20])
def test_finds_the_step_however_readings_are_cut(bits: int) -> None:
    step = 2.0 * math.pi / 2**bits
    readings = np.round(motion(6000) / step) * step
    readings[100:200] = np.nan
    found = []
    for size in (1, 50, 6000):
        steps = EncoderSteps()
        for first in range(0, 6000, size):
            steps.absorb(times(first, size), readings[first : first + size])
        found.append((steps.known, steps.step, steps.since))
    assert found[0] == found[1] == found[2]
    assert found[0][1] == pytest.approx(step, rel=1e-6)


def test_a_position_without_steps_has_none() -> None:
    steps = EncoderSteps()
    assert not steps.absorb(times(0, 3000), motion(3000))
    assert steps.known
    assert steps.step == 0.0


@pytest.mark.parametrize(("joint", "channel"), [("rigid", 0), ("two_mass", 0), ("two_mass", 1)])
def test_noise_in_a_row_is_that_of_white_steps(joint: str, channel: int) -> None:
    rigid = joint == "rigid"
    model = RigidSettings(gravity_sin=True).build() if rigid else TwoMassSettings(stick=0.0).build()
    step = 2.0 * math.pi / 2**14
    settings = Conditioning(half_width=0.03)
    rng = np.random.default_rng(5)
    count, channels = 30_000, len(model.channels)
    clean = np.zeros((count, channels))
    clean[:, : channels - 1] = motion(count)[:, None]
    noisy = clean.copy()
    noisy[:, channel] += rng.uniform(-0.5, 0.5, count) * step
    pairs = [Conditioner(model, PERIOD, settings).absorb(times(0, count), one) for one in (clean, noisy)]
    own = Conditioner(model, PERIOD, settings)
    noise, with_y = noise_of(model, own.taps, PERIOD, step, channel)
    error, error_y = pairs[1].phi - pairs[0].phi, pairs[1].y - pairs[0].y
    for output in range(len(model.outputs)):
        products = np.diag(error[:, output].T @ error[:, output]) / len(error)
        linear = np.diag(noise[output]) > 0.0
        assert linear.any() or not rigid
        np.testing.assert_allclose(products[linear], np.diag(noise[output])[linear], rtol=0.1)
        mixed = error[:, output].T @ error_y[:, output] / len(error)
        size = np.sqrt(np.diag(noise[output]) * max(np.mean(error_y[:, output] ** 2), 1e-300))
        np.testing.assert_allclose(mixed[linear], with_y[output][linear], atol=0.1 * float(size.max()) + 1e-300)


def test_the_kernel_that_is_asked_for_leaves_the_noise_that_harms_nobody() -> None:
    model, step = RigidSettings().build(), 2.0 * math.pi / 2**13
    taps = Conditioner(model, PERIOD, Conditioning(half_width=half_width(step, PERIOD))).taps
    noise, _ = noise_of(model, taps, PERIOD, step, 0)
    assert math.sqrt(noise[0, 0, 0]) == pytest.approx(CALM, rel=0.03)


@pytest.mark.parametrize(("bits", "width"), [(14, 0.02), (15, 0.014), (16, 0.01)])
def test_the_inertia_that_is_lost_is_what_errors_in_variables_say(bits: int, width: float) -> None:
    step, count = 2.0 * math.pi / 2**bits, 40_000
    position, t = motion(count), np.arange(count) * PERIOD
    acceleration = -0.7 * 0.9**2 * np.sin(0.9 * t) - 0.2 * 2.3**2 * np.sin(2.3 * t + 1.0)
    values = np.column_stack([np.round(position / step) * step, 2.0 * acceleration])
    rows = Conditioner(RigidSettings().build(), PERIOD, Conditioning(half_width=width)).absorb(times(0, count), values)
    column = rows.phi[:, 0, 0]
    square, noise = np.mean(acceleration**2), told_from(step, PERIOD, width, share=0.5) ** 2
    assert column @ rows.y[:, 0] / (column @ column) / 2.0 == pytest.approx(square / (square + noise), abs=0.03)
    assert square / (square + noise) < 0.92, "else it tests nothing"


def test_uneven_sampling_is_found_however_rows_are_cut() -> None:
    rng, count = np.random.default_rng(6), 6000
    off = rng.uniform(-2e-4, 2e-4, count)
    t = np.arange(count) * PERIOD
    values = 0.7 * np.sin(0.9 * (t + off)) + 0.2 * np.sin(2.3 * (t + off) + 1.0)
    speed = np.gradient(motion(count), PERIOD)
    found = []
    for size in (7, 500, 6000):
        uneven = UnevenTime(PERIOD)
        for first in range(0, count, size):
            part = slice(first, first + size)
            uneven.absorb(np.round((t + off)[part] * 1e9).astype(np.int64), values[part])
        found.append((uneven.known, uneven.state.count, uneven.step))
    assert found[0][:2] == found[1][:2] == found[2][:2]
    assert found[0][2] == pytest.approx(found[2][2], rel=1e-12)
    wanted = math.sqrt(12.0 * np.mean(speed[:2000] ** 2) * (2e-4) ** 2 / 3.0)
    assert found[0][2] == pytest.approx(wanted, rel=0.25)
