"""SciPy's cubic splines and zero-phase low-pass, imported when the first is used: 30 MB and 0.7 s of processor time.

A service and most commands import the modules that could use one, and never do. So scipy.signal, and scipy.stats, which
it loads, are imported in functions everywhere.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from estimators.quantities import Floats

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline


def cubic_spline(grid: NDArray[Any], values: Floats) -> "CubicSpline":
    """The spline with continuous curvature through these values; grid (n,), rising; values (n, …)."""
    from scipy.interpolate import CubicSpline

    return CubicSpline(grid, values)


def zero_phase_low_pass(values: Floats, order: int, cutoff: float, rate: float, padding: int | None = None) -> Floats:
    """A Butterworth low-pass of this order, forwards and backwards along axis 0.

    cutoff, rate: Hz. padding: samples by which either end is extended by its own reflection; None: as SciPy does.
    """
    from scipy.signal import butter, sosfiltfilt

    sections = butter(order, cutoff, fs=rate, output="sos")
    return np.asarray(sosfiltfilt(sections, values, axis=0, padlen=padding))
