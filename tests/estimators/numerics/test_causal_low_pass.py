"""The causal low-pass and its derivatives against SciPy's bilinear Butterworth."""

import numpy as np
import pytest

from estimators.numerics.causal_low_pass import CausalLowPass

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
