"""When a row may teach, and when a value may be trusted.

A gate is a flag and a saving, not the safety: the bound on P (rls.py) holds with every gate open, and a closed gate
leaves θ and P exactly as they are, so crossing it moves nothing.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.advice import needs, torque_peaks
from estimators.base import Floats, Parameter
from estimators.jit import kernel
from estimators.rls import LARGEST

REST: Final = 0.2  # s below the standstill speed before a joint is called at rest: a reversal is shorter
WAKE: Final = 1.5  # times the standstill speed at which it moves again
GOOD: Final = 0.05  # a value is valid when its deviation is below this share of it …
SMALL: Final = 0.01  # … or moves the torque by less than this share of its rms
LOSE: Final = 2.0  # a valid value is lost at this many times either
RUNAWAY: Final = 1e4  # times what explains y with the column at its typical size


class Gate:
    """Standstill with hysteresis in speed and time."""

    def __init__(self, standstill: float, period: float) -> None:
        """standstill: rad/s (m/s); period: s between rows."""
        self._state = np.array([1.0, 0.0])  # at rest, slow rows in a row
        self._limits = np.array([standstill, WAKE * standstill, max(1.0, REST / period)])

    @property
    def resting(self) -> bool:
        """Whether the last row was at rest."""
        return bool(self._state[0])

    def moving(self, speed: Floats) -> NDArray[np.bool_]:
        """Which rows may teach: (rows,). speed: (rows,) rad/s (m/s); NaN is not motion."""
        teaches = np.empty(len(speed), np.bool_)
        _gate(self._state, self._limits, speed, teaches)
        return teaches


@kernel("void(f8[::1], f8[::1], Array(f8, 1, 'A', readonly=True), b1[::1])")
def _gate(state: Floats, limits: Floats, speed: Floats, teaches: NDArray[np.bool_]) -> None:
    resting, slow = state[0] == 1.0, state[1]
    for row in range(len(speed)):
        if speed[row] >= limits[0]:
            slow = 0.0
            if speed[row] >= limits[1]:
                resting = False
        else:
            slow += 1.0
            if slow >= limits[2]:
                resting = True
        teaches[row] = not resting
    state[0] = 1.0 if resting else 0.0
    state[1] = slow


class Validity:
    """Which parameters may be trusted, with hysteresis."""

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._parameters = parameters
        self.peak = 0.0  # N·m through an elastic gear, the largest so far
        self.valid = np.zeros(len(parameters), np.bool_)
        self.reasons: tuple[str, ...] = ()
        self.readiness = 0.0  # 0 … 1, how near the least certain parameter is to valid

    def judge(self, values: Floats, deviations: Floats, leverage: Floats, signal: float) -> None:
        """Update from values, deviations (parameters,), the rms of each column and the rms of y.

        A deviation is small against the value itself, or against what the torque would notice.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = np.minimum(deviations / (GOOD * np.abs(values)), deviations * leverage / (SMALL * signal))
        excess = np.where(np.isfinite(excess), excess, np.inf)
        plausible = np.array(
            [p.low - 3 * s <= v <= p.high + 3 * s for p, v, s in zip(self._parameters, values, deviations, strict=True)]
        )
        self.valid = plausible & (excess <= np.where(self.valid, LOSE, 1.0))
        self.readiness = float(np.mean(1.0 / np.maximum(excess, 1.0)))
        told = zip(self._parameters, values, deviations, excess, self.valid, plausible, strict=True)
        self.reasons = tuple(
            self._reason(p, v, s, over) if sane else _implausible(p, v)
            for p, v, s, over, good, sane in told
            if not good
        )

    def _reason(self, parameter: Parameter, value: float, deviation: float, excess: float) -> str:
        name, unit = parameter.name, parameter.unit
        if not math.isfinite(deviation):
            return f"{name} lacks excitation: it needs {needs(name)}"
        wanted = needs(name)
        if name == "stiffness_cubic" and self.peak > 0.0 and math.isfinite(excess):
            wanted = torque_peaks(self.peak, excess, "N·m")
        return f"{name} lacks excitation: {value:.4g} ± {deviation:.2g} {unit}; it needs {wanted}"


def _implausible(parameter: Parameter, value: float) -> str:
    name, unit = parameter.name, parameter.unit
    return f"{name} = {value:.4g} {unit} is outside its plausible range [{parameter.low:g}, {parameter.high:g}]"


def sick(theta: Floats, d: Floats, bound: Floats, signal: float) -> str:
    """Why an estimator must start again, or "" when it need not.

    theta, d, bound: (parameters,) of the recursive least squares; signal: rms of y, whitened. A value is runaway when
    it is beyond 10⁴ times what explains y with the column at its typical size.
    """
    if not (np.isfinite(theta).all() and np.isfinite(d).all()):
        return "a parameter is not finite"
    if not (d > 0).all():
        return "the covariance is no longer positive"
    if signal > 0 and (np.abs(theta) > RUNAWAY * signal * np.sqrt(bound / LARGEST)).any():
        return "a parameter ran away"
    return ""
