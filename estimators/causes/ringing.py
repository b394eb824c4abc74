"""Ringing: whether what no column explains of the torque swings by itself, as a mass on a loose seat does.

ρ(τ) = e^(−dωτ) cos ωτ     of a mass that swings at ω, and is set going by the motion
ρ(τ) = e^(−τ/t) or (1 − τ²/t²) e^(−τ²/2t²)     of errors that last, or that a regression has bent: no second rise
"""

from typing import Final

import numpy as np

from estimators.causes.base import FaultWindow
from estimators.causes.sample_rows import ROW
from estimators.quantities import Floats

#: rows, argued: Lags of the autocorrelation: a quarter of a second has the second rise of 4 Hz.
LAGS: Final = 14
#: Hz, argued: What is loose swings at: above the motion's own frequencies, within a row's bandwidth.
PITCHES: Final = np.geomspace(3.0, 10.0, 25)
#: 1, argued: Shares of critical damping of a seat that rubs.
DAMPED: Final = (0.03, 0.08, 0.15, 0.25)
#: s, argued: Durations of errors that do not swing.
LASTING: Final = np.geomspace(0.01, 0.5, 25)
#: 1, argued: Deviation of an autocorrelation of a thousand rows from its law, mostly for gaps and what is not linear.
OFF: Final = 0.12
#: nats, argued: What it may say at most, either way: the laws are approximate.
MOST: Final = 15.0
#: 1, argued: Times the reference's error that the rest must have.
LARGER: Final = 2.0

#: 1, argued: Share of the change's power that the rest must have: what swings by itself has no other shape.
SWINGS: Final = 0.1


def ringing(window: FaultWindow) -> float:
    """Nats for a mass that swings over errors that do not; 0 where the rest is as small as ever."""
    columns = window.healthy.columns(window.rows)
    rest = window.torque - columns @ np.linalg.lstsq(columns, window.torque, rcond=None)[0]
    if float((rest**2).mean()) < LARGER**2 * window.healthy.torque.variance:
        return 0.0
    if float((rest**2).mean()) < SWINGS * float((window.torque**2).mean()):
        return -MOST
    whole, there = window.spread(rest)
    power = float(rest @ rest) / len(rest)
    seen = np.array([
        float(whole[lag:] @ whole[:-lag]) / max(float(there[lag:] @ there[:-lag]), 1.0) / power
        for lag in range(1, LAGS + 1)
    ])  # fmt: skip
    time = ROW * np.arange(1, LAGS + 1)
    swings = [
        _off(seen, np.exp(-2 * np.pi * f * d * time) * np.cos(2 * np.pi * f * time)) for f in PITCHES for d in DAMPED
    ]
    stays = [_off(seen, np.exp(-time / t)) for t in LASTING]
    stays += [_off(seen, (1.0 - (time / t) ** 2) * np.exp(-0.5 * (time / t) ** 2)) for t in LASTING]
    return float(np.clip(0.5 * (min(stays) - min(swings)), -MOST, MOST))


def _off(seen: Floats, law: Floats) -> float:
    """Weighted squares of an autocorrelation about a law of this shape, whose share of the power is free."""
    share = np.clip(float(seen @ law) / float(law @ law), 0.0, 1.0)
    return float(((seen - share * law) ** 2).sum()) / OFF**2
