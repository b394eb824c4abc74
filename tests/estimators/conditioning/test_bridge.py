"""How many missing samples may be interpolated, against what interpolating them does to an acceleration."""

import numpy as np
import pytest

from estimators.conditioning.bridge import FEWEST, MOST, bridgeable
from estimators.conditioning.conditioner import USUAL, Conditioning, taps
from estimators.quantisation.encoder_steps import HARMLESS


def worst(missing: int, period: float, half_width: float) -> float:
    """The largest share by which a row's acceleration is off, wherever so many samples are missing under its kernel."""
    g = taps(half_width / period)
    t = period * np.arange(len(g) + 2 * missing + 4)
    x = 0.5 * t**2  # an acceleration of 1
    found = []
    for first in range(1, len(t) - missing - 1):
        lost = x.copy()
        lost[first : first + missing] = np.nan
        there = np.isfinite(lost)
        lost[~there] = np.interp(t[~there], t[there], lost[there])
        found.append(np.convolve(np.diff(lost, 2) / period**2, g, "valid") - 1.0)
    return float(np.abs(found).max())


@pytest.mark.parametrize(
    ("period", "half_width"), [(1e-3, None), (1e-3, 0.03), (1e-3, 0.06), (5e-4, None), (2e-3, 0.05), (2.5e-4, 0.02)]
)
def test_an_acceleration_is_off_by_a_harmless_share_at_most_and_by_more_with_a_few_samples_more(
    period: float, half_width: float | None
) -> None:
    count, width = bridgeable(Conditioning(half_width=half_width), period), half_width or USUAL
    assert FEWEST <= count <= MOST
    if count > FEWEST:
        assert worst(count, period, width) <= 1.1 * HARMLESS, "of a kernel of few samples a tenth more"
    if count < MOST:
        assert worst(count + 2, period, width) > HARMLESS, "the bound is the kernel's steepest place: not far beyond it"


@pytest.mark.parametrize(
    ("period", "half_width", "count"), [(1e-3, 0.0, FEWEST), (1e-3, 1e-3, FEWEST), (1e-3, 1.0, MOST)]
)
def test_two_in_a_row_are_interpolated_in_any_case_and_sixteen_at_most(
    period: float, half_width: float, count: int
) -> None:
    assert bridgeable(Conditioning(half_width=half_width), period) == count
