"""Derivatives of a periodic motion from its Fourier coefficients, and smoothing by cubics over five points.

    whole periods → rfft → the first N_h harmonics are kept → × jw, × (jw)² → irfft

What is discarded is said: a motion with stick-slip has harmonics above N_h. Ding et al., J. Robotics 2018, 8219123,
(15) and §4; the five-point cubic is a Savitzky–Golay filter, its four end formulas included.
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.quantities import Floats

POINTS: Final = 5
CUBIC: Final = 3


class Derivatives(NamedTuple):
    """One period, averaged over all that were there."""

    q: Floats  # (rows, n)
    dq: Floats
    ddq: Floats
    discarded: Floats  # (n,) share of the motion's energy outside the kept harmonics


def smoothed(values: Floats, passes: int = 3) -> Floats:
    """The five-point cubic along the first axis, so many times."""
    from scipy.signal import savgol_filter  # see estimators/numerics/splines.py

    for _ in range(passes):
        values = savgol_filter(values, POINTS, CUBIC, axis=0, mode="interp")
    return values


def averaged(values: Floats, rows: int) -> Floats:
    """Whole periods of `rows` samples each, averaged: (rows, …); what is left of an unfinished one does not count."""
    periods = len(values) // rows
    if periods < 1:
        raise ValueError(f"expected at least one period of {rows} samples, found {len(values)} samples")
    return np.asarray(values[: periods * rows].reshape(periods, rows, *values.shape[1:]).mean(axis=0))


def differentiated(q: Floats, period: float, harmonics: int) -> Derivatives:
    """Derivatives of whole periods q (rows, n) of `period` s each, with a whole number of samples a period."""
    spectrum = np.fft.rfft(q, axis=0)
    order = np.arange(len(spectrum))
    energy = np.abs(spectrum[1:]) ** 2
    discarded = energy[harmonics:].sum(axis=0) / np.maximum(energy.sum(axis=0), 1e-300)
    spectrum[harmonics + 1 :] = 0.0
    w = (2j * np.pi / period * order)[:, np.newaxis]
    q, dq, ddq = (np.fft.irfft(spectrum * w**k, len(q), axis=0) for k in range(3))
    return Derivatives(q, dq, ddq, discarded)
