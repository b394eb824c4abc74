"""The filters that a gear's samples pass, against SciPy and a weighted fit written out."""

import numpy as np
import pytest

from estimators.numerics.local_cubic import windows
from estimators.online.gear.rows import butterworth


@pytest.mark.parametrize(("cutoff", "rate"), [(20.0, 1000.0), (20.0, 100.0), (5.0, 250.0)])
def test_the_low_pass_is_butterworths_of_second_order(cutoff: float, rate: float) -> None:
    from scipy import signal

    b, a = signal.butter(2, cutoff, fs=rate)
    assert butterworth(cutoff, 1.0 / rate) == pytest.approx([*b, *a[1:]], rel=1e-12)


def test_a_cutoff_that_samples_do_not_reach_is_the_highest_that_they_do() -> None:
    from scipy import signal

    b, a = signal.butter(2, 0.45, fs=1.0)
    assert butterworth(300.0, 1.0 / 500.0) == pytest.approx([*b, *a[1:]], rel=1e-12)


def test_what_decides_a_sign_is_smoothed_by_a_cubic_under_a_hann_window() -> None:
    half, period = 6, 0.005
    t = period * np.arange(-half, half + 1)
    hann = 0.5 * (1.0 + np.cos(np.pi * np.arange(-half, half + 1) / (half + 1)))
    values = np.random.default_rng(1).standard_normal(2 * half + 1)
    found = windows(half, period) @ values
    curve = np.polynomial.Polynomial.fit(t, values, 3, w=np.sqrt(hann), domain=[-1, 1])
    expected = [curve(0.0), curve.deriv()(0.0), curve.deriv(2)(0.0)]
    assert found == pytest.approx(expected, rel=1e-9)
