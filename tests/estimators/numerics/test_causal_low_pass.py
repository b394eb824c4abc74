"""The causal low-passes against SciPy: a bilinear Butterworth with derivatives, and two poles that make no reversal."""

import numpy as np
import pytest

from estimators.numerics.causal_low_pass import CausalLowPass, MonotoneLowPass

pytestmark = pytest.mark.interpreted

CUTOFF, PERIOD = 10.0, 1e-3


def test_value_rate_and_second_derivative_are_scipys() -> None:
    from scipy.signal import bilinear, lfilter

    omega = 2.0 * np.pi * CUTOFF
    u = np.random.default_rng(1).normal(size=400)
    u[0] = 0.0
    ours = CausalLowPass(1, CUTOFF, PERIOD).absorb(u[:, None])
    denominator = [1.0, np.sqrt(2.0) * omega, omega**2]
    for derivative, found in enumerate(ours):
        numerator = [omega**2, *[0.0] * derivative]
        b, a = bilinear(numerator, denominator, 1.0 / PERIOD)
        reference = lfilter(b, a, u)
        assert np.abs(found[:, 0] - reference).max() <= 1e-9 * np.abs(reference).max()


def test_cuts_of_batches_change_nothing() -> None:
    u = np.random.default_rng(2).normal(size=(60, 3))
    whole = CausalLowPass(3, CUTOFF, PERIOD).absorb(u)
    cut = CausalLowPass(3, CUTOFF, PERIOD)
    parts = [cut.absorb(part) for part in np.split(u, [1, 7, 8, 40])]
    for k in range(3):
        assert np.array_equal(whole[k], np.concatenate([part[k] for part in parts]))


def test_it_begins_at_rest_where_the_first_row_is() -> None:
    value, rate, _ = CausalLowPass(1, CUTOFF, PERIOD).absorb(np.full((20, 1), 3.0))
    assert np.allclose(value, 3.0, rtol=0, atol=1e-12)
    assert np.allclose(rate, 0.0, rtol=0, atol=1e-9)


def test_two_poles_are_scipys_where_samples_are_many() -> None:
    """Both have a continuous input of straight lines between samples; the second pole's is one to (ωT)²."""
    from scipy.signal import lsim

    omega, t = 2.0 * np.pi * CUTOFF * np.sqrt(2.0), PERIOD * np.arange(600)
    u = np.sin(2.0 * np.pi * 3.0 * t) + np.sin(2.0 * np.pi * 17.0 * t)
    _, reference, _ = lsim(([omega**2], [1.0, 2.0 * omega, omega**2]), u, t)
    found = MonotoneLowPass(1, CUTOFF, PERIOD).absorb(u[:, np.newaxis])[:, 0]
    assert np.abs(found - reference).max() < 2e-3 * np.abs(reference).max()


@pytest.mark.parametrize("period", [1e-3, 0.01, 0.0125])
def test_what_only_rises_passes_without_a_reversal(period: float) -> None:
    """A Butterworth goes back by 4 % of a step and more."""
    stairs = np.floor(np.linspace(0.0, 9.0, 2000) ** 1.5)[:, np.newaxis]
    back = np.diff(CausalLowPass(1, 40.0, period).absorb(stairs)[0], axis=0).min()
    assert back < -1e-3
    assert np.diff(MonotoneLowPass(1, 40.0, period).absorb(stairs), axis=0).min() >= -1e-12


def test_its_cuts_of_batches_change_nothing_and_it_begins_at_rest() -> None:
    u = np.random.default_rng(3).normal(size=(60, 3))
    whole, cut = MonotoneLowPass(3, CUTOFF, PERIOD), MonotoneLowPass(3, CUTOFF, PERIOD)
    assert np.array_equal(whole.absorb(u), np.concatenate([cut.absorb(part) for part in np.split(u, [1, 7, 8, 40])]))
    assert MonotoneLowPass(1, CUTOFF, PERIOD).absorb(np.full((20, 1), 3.0)) == pytest.approx(3.0, abs=1e-12)
