"""How white rounding is in a row, against rounding itself."""

import numpy as np
import pytest

from estimators.conditioning.conditioner import Conditioner, Conditioning, taps
from estimators.models.joints.rigid import RigidSettings
from estimators.quantisation.rounding import SURE, beats, whiteness
from estimators.rows import ROUNDING

HALF = 73.0  # samples
KERNEL = taps(HALF)


def both(steps: float) -> tuple[float, float]:
    """Noise of the second derivative over that of white rounding, as it is and as it is found; steps: a sample."""
    second, table = np.convolve(KERNEL, (1.0, -2.0, 1.0)), beats(KERNEL)
    is_, found = [], []
    for phase in np.arange(0.0, 40.0, 0.173):
        place = phase + steps * np.arange(len(second))
        readings = np.round(place)
        is_.append(float(second @ (readings - place)) ** 2)
        bent = np.diff(readings, 2)[: len(KERNEL)]
        weight = KERNEL[: len(bent)] / KERNEL[: len(bent)].sum()
        spread = float(weight @ bent**2 - (weight @ bent) ** 2)
        found.append(whiteness(1.0, table, 1.0, len(KERNEL), steps, SURE / len(KERNEL), 0.0, spread)[0])
    return float(np.mean(is_)) / (float(second @ second) / 12.0), float(np.mean(found))


BEYOND = 0.03  # twice the power of the harmonics beyond the fortieth, 1.5 %, which are taken as white


@pytest.mark.parametrize("phi", [0.0, 0.01, 0.05, 0.1, 0.2, 0.25, 0.3333, 0.4, 0.49, 0.5])
@pytest.mark.parametrize("width", [0.02, 0.1])
def test_the_noise_over_a_band_of_speeds_is_that_of_rounding_itself(phi: float, width: float) -> None:
    """The band of what the speed is known to: rounded places at 400 speeds in it, from 40 places on."""
    second, table = np.convolve(KERNEL, (1.0, -2.0, 1.0)), beats(KERNEL)
    steps = 3.0 + phi + width * np.linspace(-1.0, 1.0, 801)[1::2]
    place = steps[:, None, None] * np.arange(len(second)) + np.arange(0.0125, 1.0, 0.025)[:, None]
    is_ = np.mean(((np.round(place) - place) @ second) ** 2) / (float(second @ second) / 12.0)
    usual, most = whiteness(1.0, table, 1.0, len(KERNEL), 3.0 + phi, width, 0.0, 2.0 * phi)
    assert usual == pytest.approx(is_, rel=0.01, abs=BEYOND)
    assert most >= usual
    assert whiteness(1.0, table, 1e-3, len(KERNEL), -(3.0 + phi) * 1e3, width, 0.0, 2e12 * phi) == pytest.approx(
        (usual, most), rel=1e-9
    ), "neither the direction nor the units matter"


@pytest.mark.parametrize("around", [3.0, 3.25, 3.5, 3.3333])
def test_the_noise_at_constant_speeds_is_found_in_the_readings(around: float) -> None:
    """Two ends of 0.06 are smeared by what the speed is known to, SURE/K = 0.0025: by a twelfth together."""
    speeds = around + np.linspace(-0.03, 0.03, 41)
    is_, found = np.array([both(speed) for speed in speeds]).T
    assert found.mean() == pytest.approx(is_.mean(), rel=1.0 / 12.0, abs=BEYOND)


def test_a_beat_that_the_kernel_lets_through_is_distinguished_from_one_that_it_does_not() -> None:
    slow, quick = both(2.994), both(3.1)
    assert min(slow) > 15.0
    assert max(quick) < 0.5


def test_a_beat_that_is_finer_than_the_speed_is_known_is_not_averaged_away() -> None:
    """Near half a step the second harmonic passes: a scan at 15.51 steps a sample, under 39 samples."""
    narrow, steps = taps(20.0), 15.5146
    second, table = np.convolve(narrow, (1.0, -2.0, 1.0)), beats(narrow)
    place = np.arange(0.0, 40.0, 0.173)[:, None] + steps * np.arange(len(second))
    is_ = np.mean(((np.round(place) - place) @ second) ** 2) / (float(second @ second) / 12.0)
    usual, most = whiteness(1.0, table, 1.0, len(narrow), steps, SURE / len(narrow), 0.0, 2.0 * 0.4854)
    assert is_ > 1.5 * usual
    assert 0.9 * is_ < most < 1.5 * is_


def test_rounding_is_white_where_the_speed_changes_or_no_step_is_known() -> None:
    table = beats(KERNEL)
    assert whiteness(1.0, table, 1.0, len(KERNEL), 0.0, 0.0, 0.5**2, 0.0) == (1.0, 1.0)
    assert whiteness(0.0, table, 1.0, len(KERNEL), 0.0, 0.0, 0.0, 0.0) == (1.0, 1.0)
    every = np.linspace(0.0, 0.5, 4001)
    mean = np.mean([whiteness(1.0, table, 1.0, len(KERNEL), 3.0 - phi, 1e-3, 0.0, 2.0 * phi)[0] for phi in every])
    assert mean == pytest.approx(1.0, abs=0.02)


def test_rows_say_it_once_the_step_is_known() -> None:
    step, period = 2.0 * np.pi / 2**14, 1e-3
    model = RigidSettings(gravity_sin=True, gravity_cos=True).build()
    conditioner = Conditioner(model, period, Conditioning(half_width=0.073))
    t = np.arange(3000) * period
    place = 2.994 * step / period * t
    values = np.column_stack((np.round(place / step) * step, np.zeros(3000)))
    time = np.round(t * 1e9).astype(np.int64)
    before = conditioner.absorb(time[:1500], values[:1500])
    conditioner.set_encoder_step(0, step)
    after = conditioner.absorb(time[1500:], values[1500:])
    assert (before.motion[:, 0, ROUNDING] == 1.0).all()
    assert after.motion[:, 0, ROUNDING].mean() > 15.0
