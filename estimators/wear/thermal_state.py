"""How much warmer a joint's lubricant is than usual, from its viscosity and its losses, without a thermometer.

Viscous friction falls by e each T_V kelvin, so with the viscous coefficient v of fast motions and its usual value v₀,

    θ = −ln(v/v₀)                                                      measured in hours with fast motion          (1)
    θ⁺ = θ + (1 − e^(−1/τ))·(θ_a + r·P − θ) + noise,   θ_a⁺ = θ_a + noise      P: losses of the hour                (2)

A Kalman filter of (θ, θ_a), hour by hour, then a smoother over the hours of each day. τ and r are those of a grid that
make the first days likeliest. A lubricant that thins for good looks like a warmer joint.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from estimators.numerics.jit import kernel
from estimators.quantities import Floats
from estimators.thresholds import LEAST_DIVISOR

#: hours, argued: Time constants of a joint that are tried: a small gear, a large one in its housing.
TIMES: Final = np.array([0.7, 1.2, 2.0, 3.3, 5.5, 9.0])
#: 1, argued: Rise at the usual losses that is tried, in e-folds of viscosity: none, to 60 K.
RISES: Final = np.array([0.0, 0.3, 0.6, 1.0, 1.5, 2.2, 3.0])
#: 1, argued: Noise of θ an hour: 1 K of 20 K for an e-fold, the second thermal mass and what the losses leave out.
NOISE: Final = 0.06
#: 1, argued: Noise of θ_a an hour: the weather and the time of day, 1 K an hour.
AMBIENT_NOISE: Final = 0.05
#: 1, argued: Deviation of θ and θ_a at the beginning: ± 20 K.
BEGIN: Final = 1.0


class ThermalModel(NamedTuple):
    """τ (hours) and r (1 over the unit of losses) of (2)."""

    time: float
    rise: float


def fit(measured: Floats, deviation: Floats, losses: Floats) -> ThermalModel:
    """The likeliest of the grid. measured: (hours,) θ of (1), NaN where unknown; deviation: its σ; losses: (hours,)."""
    usual = max(float(losses[losses > 0.0].mean()) if (losses > 0.0).any() else 0.0, LEAST_DIVISOR)
    state = np.empty((len(measured), 2))
    best = max(
        (_smooth(measured, deviation, losses, time, rise / usual, state), time, rise / usual)
        for time in TIMES
        for rise in RISES
    )
    return ThermalModel(best[1], best[2])


def smooth(measured: Floats, deviation: Floats, losses: Floats, model: ThermalModel) -> Floats:
    """θ and its deviation (hours, 2), each day smoothed by its own hours and filtered by those before."""
    state = np.empty((len(measured), 2))
    _smooth(measured, deviation, losses, model.time, model.rise, state)
    return state


@kernel("void(f8[:, ::1], f8[:, ::1], i8, f8, f8, i8, f8[:, ::1])")
def _back(filtered: Floats, predicted: Floats, last: int, keep: float, gain: float, first: int, state: Floats) -> None:
    """Rauch–Tung–Striebel smoother over the hours of one day, up to `last`."""
    sx, sa, sxx = filtered[last, 0], filtered[last, 1], filtered[last, 2]
    sxa, saa = filtered[last, 3], filtered[last, 4]
    state[first + last, 0], state[first + last, 1] = sx, math.sqrt(max(sxx, 0.0))
    for at in range(last - 1, -1, -1):
        pxx, pxa, paa = filtered[at, 2], filtered[at, 3], filtered[at, 4]
        # C = P Fᵀ P⁻⁻¹, F = [[keep, gain], [0, 1]]
        fxx, fxa = keep * pxx + gain * pxa, pxa
        fax, faa = keep * pxa + gain * paa, paa
        qxx, qxa, qaa = predicted[at + 1, 2], predicted[at + 1, 3], predicted[at + 1, 4]
        det = qxx * qaa - qxa * qxa
        cxx, cxa = (fxx * qaa - fxa * qxa) / det, (fxa * qxx - fxx * qxa) / det
        cax, caa = (fax * qaa - faa * qxa) / det, (faa * qxx - fax * qxa) / det
        dx, da = sx - predicted[at + 1, 0], sa - predicted[at + 1, 1]
        dxx, dxa, daa = sxx - qxx, sxa - qxa, saa - qaa
        sx, sa = filtered[at, 0] + cxx * dx + cxa * da, filtered[at, 1] + cax * dx + caa * da
        nxx = pxx + cxx * (cxx * dxx + cxa * dxa) + cxa * (cxx * dxa + cxa * daa)
        nxa = pxa + cax * (cxx * dxx + cxa * dxa) + caa * (cxx * dxa + cxa * daa)
        naa = paa + cax * (cax * dxx + caa * dxa) + caa * (cax * dxa + caa * daa)
        sxx, sxa, saa = nxx, nxa, naa
        state[first + at, 0], state[first + at, 1] = sx, math.sqrt(max(sxx, 0.0))


@kernel("f8(f8[::1], f8[::1], f8[::1], f8, f8, f8[:, ::1])")
def _smooth(measured: Floats, deviation: Floats, losses: Floats, time: float, rise: float, state: Floats) -> float:
    """Fill θ and its deviation (hours, 2); returns the log-likelihood of what was measured."""
    gain = 1.0 - math.exp(-1.0 / time)
    x, a = 0.0, 0.0
    pxx, pxa, paa = BEGIN * BEGIN, 0.0, BEGIN * BEGIN
    filtered, predicted = np.empty((24, 5)), np.empty((24, 5))
    likelihood = 0.0
    for hour in range(len(measured)):
        at = hour % 24
        # predict: x⁺ = (1 − g)·x + g·a + g·r·P
        keep = 1.0 - gain
        x = keep * x + gain * (a + rise * losses[hour])
        cross = keep * pxa + gain * paa
        pxx = keep * keep * pxx + 2.0 * keep * gain * pxa + gain * gain * paa + NOISE * NOISE
        pxa = cross
        paa += AMBIENT_NOISE * AMBIENT_NOISE
        predicted[at, 0], predicted[at, 1], predicted[at, 2], predicted[at, 3], predicted[at, 4] = x, a, pxx, pxa, paa
        if not math.isnan(measured[hour]):
            variance = pxx + deviation[hour] * deviation[hour]
            error = measured[hour] - x
            likelihood -= 0.5 * (error * error / variance + math.log(variance))
            kx, ka = pxx / variance, pxa / variance
            x += kx * error
            a += ka * error
            paa -= ka * pxa
            pxa -= ka * pxx
            pxx -= kx * pxx
        filtered[at, 0], filtered[at, 1], filtered[at, 2], filtered[at, 3], filtered[at, 4] = x, a, pxx, pxa, paa
        if at == 23 or hour == len(measured) - 1:
            _back(filtered, predicted, at, keep, gain, hour - at, state)
    return likelihood
