"""When a row may teach, and when a value may be trusted.

A gate is a flag and a saving, not the safety: the bound on P (rls.py) holds with every gate open, and a closed gate
leaves θ and P exactly as they are, so crossing it moves nothing.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.online.advice import needs, torque_peaks
from estimators.quantities import Floats, Parameter
from estimators.recursive.estimator import LARGEST

GOOD: Final = 0.05  # a value is valid when its deviation is below this share of it …
SMALL: Final = 0.01  # … or moves the torque by less than this share of its rms
LOSE: Final = 2.0  # a valid value is lost at this many times either
RUNAWAY: Final = 1e4  # times what explains y with the column at its typical size


VALUES, DEVIATIONS, EXCESS, LOW, HIGH, FIGURES = range(6)  # rows of what a Validity has judged


class Validity:
    """Which parameters may be trusted, with hysteresis."""

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._parameters = parameters
        self.peak = 0.0  # N·m through an elastic gear, the largest so far
        self.valid = np.zeros(len(parameters), np.bool_)
        self.judged = np.full((FIGURES, len(parameters)), np.inf)  # excess: times the deviation that would be allowed
        self.judged[LOW : HIGH + 1] = np.array([(p.low, p.high) for p in parameters]).T

    def judge(self, values: Floats, deviations: Floats, leverage: Floats, signal: float) -> None:
        """Update from values, deviations (parameters,), the rms of each column and the rms of y.

        A deviation is small against the value itself, or against what the torque would notice.
        """
        self.judged[VALUES], self.judged[DEVIATIONS] = values, deviations
        _judge(self.judged, leverage, signal, self.valid)

    @property
    def readiness(self) -> float:
        """0 … 1, how near the least certain parameter is to valid."""
        return float(np.mean(1.0 / np.maximum(self.judged[EXCESS], 1.0)))

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the others may not be trusted, in words."""
        return tuple(self._reason(which) for which in map(int, np.flatnonzero(~self.valid)))

    def _reason(self, which: int) -> str:
        parameter, (value, deviation, excess, _, _) = self._parameters[which], self.judged[:, which]
        name, unit = parameter.name, parameter.unit
        if not plausible(self.judged, which):
            return f"{name} = {value:.4g} {unit} is outside its plausible range [{parameter.low:g}, {parameter.high:g}]"
        if not math.isfinite(deviation):
            return f"{name} lacks excitation: it needs {needs(name)}"
        wanted = needs(name)
        if name == "stiffness_cubic" and self.peak > 0.0 and math.isfinite(excess):
            wanted = torque_peaks(self.peak, excess, "N·m")
        return f"{name} lacks excitation: {value:.4g} ± {deviation:.2g} {unit}; it needs {wanted}"


@inline
def plausible(judged: Floats, which: int) -> bool:
    """Whether a value is within its range, give or take three deviations."""
    value, margin = judged[VALUES, which], 3.0 * judged[DEVIATIONS, which]
    return bool(judged[LOW, which] - margin <= value and value <= judged[HIGH, which] + margin)


@inline
def judge(judged: Floats, leverage: Floats, signal: float, valid: NDArray[np.bool_]) -> None:
    """From values and deviations: by how much each deviation is too large, and which values are valid."""
    for i in range(len(valid)):
        deviation, size = judged[DEVIATIONS, i], GOOD * abs(judged[VALUES, i])
        excess = np.inf
        if np.isfinite(deviation):
            if size > 0.0:
                excess = deviation / size
            if signal > 0.0:
                excess = min(excess, deviation * leverage[i] / (SMALL * signal))
            if np.isnan(size):
                excess = np.inf
        judged[EXCESS, i] = excess
        valid[i] = plausible(judged, i) and excess <= (LOSE if valid[i] else 1.0)


@kernel("void(f8[:, ::1], f8[::1], f8, b1[::1])")
def _judge(judged: Floats, leverage: Floats, signal: float, valid: NDArray[np.bool_]) -> None:
    judge(judged, leverage, signal, valid)


@inline
def healthy(theta: Floats, d: Floats, bound: Floats, signal: float) -> bool:
    """Whether sick() finds nothing."""
    for i in range(len(theta)):
        if not (np.isfinite(theta[i]) and np.isfinite(d[i]) and d[i] > 0.0):
            return False
        if signal > 0.0 and abs(theta[i]) > RUNAWAY * signal * np.sqrt(bound[i] / LARGEST):
            return False
    return True


@kernel("b1(f8[::1], f8[::1], f8[::1], f8)")
def _healthy(theta: Floats, d: Floats, bound: Floats, signal: float) -> bool:
    return healthy(theta, d, bound, signal)


def sick(theta: Floats, d: Floats, bound: Floats, signal: float) -> str:
    """Why an estimator must start again, or "" when it need not.

    theta, d, bound: (parameters,) of the recursive least squares; signal: rms of y, whitened. A value is runaway when
    it is beyond 10⁴ times what explains y with the column at its typical size.
    """
    if _healthy(theta, d, bound, signal):
        return ""
    if not (np.isfinite(theta).all() and np.isfinite(d).all()):
        return "a parameter is not finite"
    if not (d > 0).all():
        return "the covariance is no longer positive"
    return "a parameter ran away"
