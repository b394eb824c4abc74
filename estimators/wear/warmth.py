"""How warm a joint's lubricant is against its first days: by a thermometer near by, or by its viscosity and losses."""

from typing import Final, NamedTuple

import numpy as np

from estimators.quantities import Floats
from estimators.wear import thermal_state
from estimators.wear.friction_hours import FrictionHours
from estimators.wear.friction_surface import KELVINS

#: K, argued: Temperature over which viscous friction falls by e: T_V of Bittencourt's law (LiTH-ISY-R-2948).
THINNING: Final = 20.7
#: 1, argued: Noise of an hour's friction, of itself: estimates of one hour differ by some per cent.
HOUR_NOISE: Final = 0.03
#: 1, argued: Plausible thinning a kelvin of the thermometer, over that of the law: it may swing further or less.
PLAUSIBLE: Final = (0.3, 2.0)
#: hours, argued: Hours with fast motion among the first from which viscosity is known.
FEWEST: Final = 40
#: 1, argued: A viscous coefficient below this share of its usual value is noise.
LEAST_VISCOSITY: Final = 0.2
#: 1, argued: Share of the first hours that must be above LEAST_VISCOSITY. An hour below it would be 33 K warmer than
#: usual, which is rare; where a quarter of the hours are, the difference of the bands is not viscous: friction at the
#: edge of the film lowers it in the cold, and a temperature read from it would be wrong.
MOSTLY_VISCOUS: Final = 0.75
#: hours, argued: By how much a thermometer's changes may come earlier than the lubricant's; the likeliest is taken.
DELAYS: Final = (0.01, 1.0, 2.0, 4.0, 8.0)
#: 1, argued: Furthest θ, in KELVINS: beyond the outer bells everything is one climate.
FURTHEST: Final = (-3.5, 4.5)


class JointWarmth(NamedTuple):
    """The temperature of each hour, and the viscous torque at a speed of 1."""

    theta: Floats  # (hours,) in KELVINS
    viscosity: Floats  # (hours,) unit of friction·s/rad
    thin: Floats  # (hours,) 1 where fast friction was too little viscous to identify θ, 0 where it did, NaN: not needed
    thermometer: bool


def warmth(hours: FrictionHours, first: int) -> JointWarmth | None:
    """The warmth of each hour; first: hours to which it is relative. None where there is neither thermometer nor slope.

    Without a thermometer two bands of fast motion are needed, whose difference is viscous in most hours.
    """
    measured, deviation, usual = _by_viscosity(hours, first)
    known = np.isfinite(measured[:first])
    viscous = int(known.sum()) >= FEWEST
    if hours.has_thermometer:
        kelvins = _by_thermometer(hours, measured, deviation, first)
        thinning = 1.0 / THINNING
        if viscous:
            at = kelvins[:first][known]
            spread = float(np.var(at))
            slope = float(np.mean((at - at.mean()) * measured[:first][known])) / spread if spread > 1.0 else thinning
            thinning = float(np.clip(slope, PLAUSIBLE[0] / THINNING, PLAUSIBLE[1] / THINNING))
        theta, viscosity = kelvins / KELVINS, (usual if viscous else 0.0) * np.exp(-np.clip(thinning * kelvins, -3, 3))
        return JointWarmth(np.clip(theta, *FURTHEST), viscosity, np.full(len(theta), np.nan), True)
    if not viscous:
        return None
    model = thermal_state.fit(measured[:first], deviation[:first], hours.losses[:first])
    state = thermal_state.smooth(measured, deviation, hours.losses, model)[:, 0]
    fast = np.isfinite(hours.friction[:, -2:]).all(axis=1)
    thin = np.where(fast, 1.0 * np.isnan(measured), np.nan)
    viscosity = usual * np.exp(-np.clip(state, -3, 3))
    return JointWarmth(np.clip(THINNING / KELVINS * state, *FURTHEST), viscosity, thin, False)


def _by_viscosity(hours: FrictionHours, first: int) -> tuple[Floats, Floats, float]:
    """θ of (1) of thermal_state.py and its deviation (hours,), NaN where unknown; and the usual viscosity."""
    slow, fast = hours.friction[:, -2], hours.friction[:, -1]
    slope = (fast - slow) / (hours.speeds[-1] - hours.speeds[-2])
    nothing = np.full(len(slope), np.nan)
    early = slope[:first][np.isfinite(slope[:first])]
    usual = float(early.mean()) if len(early) else 0.0
    if usual <= 0.0 or np.mean(early > LEAST_VISCOSITY * usual) < MOSTLY_VISCOUS:
        return nothing, nothing, 0.0
    slope = np.where(slope > LEAST_VISCOSITY * usual, slope, np.nan)
    noise = HOUR_NOISE * np.hypot(slow, fast) / (hours.speeds[-1] - hours.speeds[-2])
    return -np.log(slope / usual), noise / slope, usual


def _by_thermometer(hours: FrictionHours, measured: Floats, deviation: Floats, first: int) -> Floats:
    """K above the first hours in motion (hours,), as late as the viscosity follows, where that is known."""
    moving = np.isfinite(hours.load)
    known = np.isfinite(measured[:first])
    best, found = np.inf, np.zeros(0)
    for delay in DELAYS if known.sum() >= FEWEST else DELAYS[:1]:
        late = _low_pass(_filled(hours.temperature), delay)
        late = late - late[:first][moving[:first]].mean()
        error = 0.0
        if known.sum() >= FEWEST:
            weight = 1.0 / deviation[:first][known]
            design = np.column_stack([np.ones(known.sum()), late[:first][known]]) * weight[:, None]
            right = measured[:first][known] * weight
            error = float(np.std(right - design @ np.linalg.lstsq(design, right)[0]))
        if error < best:
            best, found = error, late
    return found


def _filled(values: Floats) -> Floats:
    """Without gaps: the last known value holds."""
    known = np.isfinite(values)
    return values[np.maximum.accumulate(np.where(known, np.arange(len(values)), int(np.argmax(known))))]


def _low_pass(values: Floats, time: float) -> Floats:
    """First order, time: its constant in hours."""
    gain, found = 1.0 - np.exp(-1.0 / time), np.empty_like(values)
    state = values[0]
    for at, value in enumerate(values):
        state += gain * (value - state)
        found[at] = state
    return found
