"""Smoothing and its derivatives by a cubic that is fitted to the samples around each."""

import numpy as np

from estimators.quantities import Floats


def windows(half: int, period: float) -> Floats:
    """Return the local cubic fit under a Hann window (3, 2·half + 1): value, slope (1/s), second derivative (1/s²)."""
    x = np.arange(-half, half + 1) / (half + 1)
    weight = np.cos(0.5 * np.pi * x) ** 2
    powers = np.stack([np.ones_like(x), x, x**2, x**3])
    fitted = np.linalg.solve((powers * weight) @ powers.T, powers * weight)
    unit = (half + 1) * period
    return np.ascontiguousarray(fitted[:3] * np.array([[1.0], [1.0 / unit], [2.0 / unit**2]]))
