"""Dry wear of a joint apart from heat and load: a Kalman filter of its friction surface, and a test for a step in it.

Each hour in motion, band k, friction y relative to its mean over the first days:

    y_k = φ(ℓ, θ)·β_k + c + e_k + (∂φ/∂θ·β_k)·δ + g_k·w + noise                                                  (1)

β: the surface (friction_surface.py); c, e_k, δ: errors of a day, common, of a band, of θ; w: wear, the share by which
dry friction has grown; g_k: dry share of the friction, what is not viscous. Hypotheses "w since day t₀" are tested
against w = 0 by the generalised likelihood ratio of Willsky and Jones: with the filter's innovations ν, their
covariance S, and f, by how much a wear of 1 since t₀ would have moved its state,

    γ = g − G·f,  f ← f + K·γ,   ŵ = Σ γᵀS⁻¹ν / Σ γᵀS⁻¹γ,   σ² = 1/Σ γᵀS⁻¹γ                                      (2)

so ŵ is unbiased, whatever β has learnt since t₀. An hour at a temperature that is new counts for little: what friction
is there is not known yet. Once a step has been detected, `follow` estimates w from t₀ on as a random walk with a
diffuse beginning. Willsky, Jones, IEEE Trans. Automatic Control 21 (1976) 108–112.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.quantities import Floats
from estimators.thresholds import LEAST_DIVISOR
from estimators.wear import friction_surface
from estimators.wear.friction_hours import DAY, FrictionHours
from estimators.wear.warmth import FURTHEST, JointWarmth, warmth

#: days, argued: Days with motion of commissioning: all loads and some weather; wear is measured against them.
COMMISSIONING: Final = 60
#: days, argued: Days between the hypotheses' onsets.
APART: Final = 5
#: days, argued: Days of an hypothesis before it counts, with and without a thermometer: a hot week is no wear, and an
#: error of the temperature by viscosity lasts for weeks.
YOUNGEST: Final = (10, 25)
#: 1, argued: Noise of an hour's mean friction, wider than it is: neighbouring hours err together.
HOUR_NOISE: Final = 0.1
#: 1, argued: Deviation of the errors of a day, common to all bands and of each.
DAY_ERROR: Final = 0.02
#: 1, argued: How much of the common error the next day has.
DAY_COMMON_KEPT: Final = 0.5
#: KELVINS, tuned: Deviation of the error of θ with a thermometer (2.8 K) and without (3.5 K): one on the motor errs
#: with weather and losses, since the gear has another mass (1.5 K of 14 K, 80 joints of development seed 3300).
THETA_ERRORS: Final = (0.2, 0.25)
#: 1, tuned: How much of it the next day has, with and without one: a thermometer's lasts for weeks, as weather and jobs
#: do (development seeds 3300, 3501: largest z of 160 joints without wear 5.4 with 0.85 here, now 4.8; steps are
#: detected as early).
THETA_KEPT: Final = (0.98, 0.85)
#: 1, argued: Deviation of ŵ by what the surface cannot follow, in quadrature with σ.
UNMODELLED: Final = 0.015
#: 1 per KELVINS, argued: The same by how much warmer or colder it has been since the onset than before: a thermometer
#: has no such error; a temperature by viscosity errs by 2 K of 14 K, which change dry friction by 3 %.
CLIMATE: Final = (0.0, 0.03)
#: 1, tuned: Wear over its deviation from which it is detected, with and without a thermometer: with one, of 40
#: joint-years without wear none is beyond 2.8 (development seed 20); without, of 500 none is beyond 3.0 for ten days in
#: a row (development seeds 6001, 6002).
DETECTED: Final = (3.6, 3.1)
#: days, argued: Days in a row on which it must be, with and without: a temperature by viscosity errs for weeks, wear
#: stays.
IN_A_ROW: Final = (3, 10)
#: hours, argued: Hours at a temperature from which its friction is known.
FAMILIAR: Final = 15.0
#: KELVINS, argued: Width of a class of temperatures that count as one, 5 K.
CLASS: Final = 0.35
#: 1, argued: What an hour at a new temperature counts.
NEW: Final = 0.02
#: 1, argued: Share of its hours at new temperatures above which a day shows nothing.
MOSTLY_NEW: Final = 0.5
#: 1, argued: Share of a temperature's readings of viscosity that may be too thin, without a thermometer. From more on
#: it, the class below and all above count as new for ever: thin readings are left out, so those that are kept are
#: chosen by their errors and say too cold, and a hotter joint's friction passes for wear.
TOO_THIN: Final = 0.05
#: 1, tuned: Usual energy of a whitened innovation, as HOUR_NOISE is wider than it is (median of 250 joints of
#: development seed 6001); without a thermometer a joint's σ² grows with its own, and falls to a half at most.
ENERGY: Final = 0.3
#: rows, argued: Rows that the usual energy counts: a month or two.
ENERGY_ROWS: Final = 4000
#: 1, argued: Wear's random walk in a day.
WALK: Final = 0.003
#: 1, argued: Its deviation on its first day: nothing is known of its size.
DIFFUSE: Final = 0.5
#: 1, argued: Drop of the log-likelihood within which an earlier onset is as good.
AS_LIKELY: Final = 2.0
#: 1, argued: Largest share that dry friction has of a band's mean.
MOST_DRY: Final = 2.0
#: hours, argued: Hours in motion of a day that counts.
FEWEST_HOURS: Final = 2
#: 1, argued: Spread of the load over its mean at least: a load that stays shows nothing of its effect.
LEAST_SPREAD: Final = 1e-3


Index = NDArray[np.intp]


class WearDay(NamedTuple):
    """What is known at the end of a day with motion."""

    day: int  # since the first
    wear: float  # ŵ since the likeliest onset
    deviation: float  # with UNMODELLED
    z: float
    onset: int  # day, the earliest that is as likely
    detected: bool
    new: float  # share of the day's hours at temperatures that are new


class Wear(NamedTuple):
    """The wear of a joint, day by day."""

    days: list[WearDay]  # after commissioning
    detected: int | None  # day on which it was detected first
    thermometer: bool

    @property
    def onset(self) -> int | None:
        """Day since which friction has grown, as the newest day says; None before it is detected."""
        return self.days[-1].onset if self.detected is not None and self.days else None


class _Filter:
    """State and covariance of (1), and the design of its days."""

    def __init__(self, hours: FrictionHours, warm: JointWarmth, first: int) -> None:
        """first: hours of commissioning."""
        bands = len(hours.speeds)
        self.mean = np.nanmean(hours.friction[:first], axis=0)
        moving = np.isfinite(hours.load[:first])
        early = hours.load[:first][moving]
        self._load = (hours.load - early.mean()) / max(
            float(early.std()), LEAST_SPREAD * abs(float(early.mean())), LEAST_DIVISOR
        )
        self._y, self._warm, self._speeds = hours.friction / self.mean, warm, hours.speeds
        self._per_band = len(friction_surface.PRIOR)
        own = bands * self._per_band
        self.size, self._common, self._theta, self._band = own + 2 + bands, own, own + 1, own + 2
        way = 0 if warm.thermometer else 1
        theta_error = THETA_ERRORS[way]
        errors = np.array([DAY_ERROR, theta_error] + [DAY_ERROR] * bands)
        self._keep = np.concatenate([np.ones(own), [DAY_COMMON_KEPT, THETA_KEPT[way]], np.zeros(bands)])
        self._noise = np.concatenate([np.zeros(own), errors**2 * (1.0 - self._keep[own:] ** 2)])
        self.x = np.zeros(self.size)
        self.x[: own : self._per_band] = 1.0
        self.covariance = np.diag(np.concatenate([np.tile(friction_surface.PRIOR**2, bands), errors**2]))
        # hours in each class of temperature; readings of its viscosity, and of them the thin ones
        self._seen, self._read, self._thin = np.zeros((3, 64))
        self.new = 0.0

    def predict(self) -> None:
        """Go on to the next day with motion."""
        self.x = self._keep * self.x
        self.covariance = self._keep[:, None] * self.covariance * self._keep + np.diag(self._noise)

    def carry(self, moved: Floats) -> Floats:
        """What `predict` makes of a displacement of the state (states, hypotheses)."""
        return self._keep[:, None] * moved

    def design(self, at: Index) -> tuple[Floats, Floats, Floats, Floats]:
        """y (rows,), G (rows, states), g (rows,) and the noise's variance (rows,) of these hours."""
        load, theta = self._load[at], self._warm.theta[at]
        phi, slope = friction_surface.columns(load, theta), friction_surface.slopes(load, theta)
        bands = len(self._speeds)
        beta = self.x[: self._common].reshape(bands, self._per_band)
        hour, band = np.nonzero(np.isfinite(self._y[at]))
        design = np.zeros((len(hour), self.size))
        first = band * self._per_band
        design[np.arange(len(hour))[:, None], first[:, None] + np.arange(self._per_band)] = phi[hour]
        design[:, self._common] = 1.0
        design[:, self._theta] = (slope @ beta.T)[hour, band]
        design[np.arange(len(hour)), self._band + band] = 1.0
        viscous = self._warm.viscosity[at][:, None] * self._speeds / self.mean
        dry = np.clip(phi @ beta.T - viscous, 0.0, MOST_DRY)[hour, band]
        return self._y[at][hour, band], design, dry, HOUR_NOISE**2 / self._familiar(at)[hour]

    def _familiar(self, at: Index) -> Floats:
        """What each hour counts, by how many hours were as warm on the days before, and whether that can be known."""
        thin = self._warm.thin[at]
        classes, read = ((self._warm.theta[at] - FURTHEST[0]) / CLASS).astype(np.intp), np.isfinite(thin)
        np.add.at(self._read, classes[read], 1.0)
        np.add.at(self._thin, classes[read], thin[read])
        hidden = np.maximum.accumulate(self._thin > TOO_THIN * self._read)
        hidden[:-1] |= hidden[1:].copy()  # θ errs by as much as a class
        weight: Floats = np.where(hidden[classes], NEW, np.clip(self._seen[classes] / FAMILIAR, NEW, 1.0))
        np.add.at(self._seen, classes, 1.0)
        self.new = float(np.mean(weight < 0.5))
        return weight


class _Climate:
    """Mean temperatures of the hours in motion between days."""

    def __init__(self, theta: Floats, moving: NDArray[np.bool_]) -> None:
        """theta, moving: (hours,)."""
        self._sum, self._count = (np.concatenate([[0.0], np.cumsum(one)]) for one in (theta * moving, 1.0 * moving))

    def moved(self, onsets: Index, day: int) -> Floats:
        """How much warmer it has been from each onset to the end of this day than before, K."""
        begin, end = onsets * DAY, (day + 1) * DAY
        before = self._sum[begin] / np.maximum(self._count[begin], 1.0)
        since = (self._sum[end] - self._sum[begin]) / np.maximum(self._count[end] - self._count[begin], 1.0)
        moved: Floats = since - before
        return moved


def wear_of(hours: FrictionHours) -> Wear | None:
    """The wear of each day after commissioning; None where there are too few days, or no temperature is known."""
    moving = np.isfinite(hours.load)
    active = _active(moving)
    if len(active) <= COMMISSIONING:
        return None
    first = (active[COMMISSIONING - 1] + 1) * DAY
    known = warmth(hours, first)
    if known is None:
        return None
    one = _Filter(hours, known, first)
    way = 0 if known.thermometer else 1
    limit, youngest, days_in_a_row = DETECTED[way], YOUNGEST[way], IN_A_ROW[way]
    climate = _Climate(known.theta, moving)
    onsets, moved = np.zeros(0, np.intp), np.zeros((one.size, 0))
    about, fit = np.zeros(0), np.zeros(0)  # Σ γᵀS⁻¹γ and Σ γᵀS⁻¹ν of (2)
    energy, rows = ENERGY * ENERGY_ROWS, float(ENERGY_ROWS)
    days: list[WearDay] = []
    row, detected = 0, None
    for count, day in enumerate(active):
        one.predict()
        moved = one.carry(moved)
        if count >= COMMISSIONING and (count - COMMISSIONING) % APART == 0:
            onsets, moved = np.append(onsets, day), np.column_stack([moved, np.zeros(one.size)])
            about, fit = np.append(about, 0.0), np.append(fit, 0.0)
        y, design, dry, noise = one.design(day * DAY + np.flatnonzero(moving[day * DAY : (day + 1) * DAY]))
        signature = dry[:, None] - design @ moved
        white, gained = _update(one, y - design @ one.x, design, noise, signature)
        moved += gained
        about += (white[:, 1:] ** 2).sum(0)
        fit += white[:, 1:].T @ white[:, 0]
        old = (onsets <= day - youngest) & (about > 0.0)
        if not old.any():
            continue
        energy, rows = energy + float(white[:, 0] @ white[:, 0]), rows + len(white)
        scale = 1.0 if known.thermometer else max(energy / rows / ENERGY, 0.5)
        beside = np.hypot(UNMODELLED, CLIMATE[way] * climate.moved(onsets[old], day))
        found = _likeliest(onsets[old], about[old] / scale, fit[old] / scale, beside)
        if one.new <= MOSTLY_NEW:  # else the day shows nothing
            row = row + 1 if found[2] > limit else 0
        detected = day if detected is None and row >= days_in_a_row else detected
        days.append(WearDay(int(day), *found, detected is not None, one.new))
    return Wear(days, None if detected is None else int(detected), known.thermometer)


def follow(hours: FrictionHours, onset: int) -> tuple[Floats, Floats, Floats]:
    """w from day `onset` on, as a random walk: days, w, σ, each (days,); hours: those that `wear_of` was given."""
    moving = np.isfinite(hours.load)
    active = _active(moving)
    first = (active[COMMISSIONING - 1] + 1) * DAY
    known = warmth(hours, first)
    assert known is not None
    one = _Filter(hours, known, first)
    # the wear is one more state, which is 0 before its onset
    w, own, cross = 0.0, 0.0, np.zeros(one.size)
    found = []
    for day in active:
        one.predict()
        cross = one.carry(cross[:, None])[:, 0]
        if day >= onset:
            own += WALK**2 if own else DIFFUSE**2
        y, design, dry, noise = one.design(day * DAY + np.flatnonzero(moving[day * DAY : (day + 1) * DAY]))
        gain = design @ one.covariance + dry[:, None] * cross  # rows of H·P for the states
        last = design @ cross + dry * own
        spread = gain @ design.T + last[:, None] * dry + np.diag(noise)
        factor = np.linalg.cholesky(spread)
        right = np.column_stack([y - design @ one.x - dry * w, gain, last])
        white = np.linalg.solve(factor, right)
        nu, states, of_wear = white[:, 0], white[:, 1:-1], white[:, -1]
        one.x += states.T @ nu
        w += float(of_wear @ nu)
        one.covariance -= states.T @ states
        cross = cross - states.T @ of_wear
        own -= float(of_wear @ of_wear)
        if day >= onset:
            found.append((float(day), w, float(np.sqrt(max(own, 0.0)))))
    table = np.array(found).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _active(moving: NDArray[np.bool_]) -> Index:
    """Days with motion."""
    days = len(moving) // DAY
    return np.flatnonzero(moving[: days * DAY].reshape(days, DAY).sum(1) >= FEWEST_HOURS)


def _update(one: _Filter, error: Floats, design: Floats, noise: Floats, signature: Floats) -> tuple[Floats, Floats]:
    """Update the state; returns ν and γ whitened by S (rows, 1 + hypotheses), and K·γ (states, hypotheses)."""
    gain = design @ one.covariance
    factor = np.linalg.cholesky(gain @ design.T + np.diag(noise))
    white = np.linalg.solve(factor, np.column_stack([error, signature, gain]))
    count = 1 + signature.shape[1]
    states = white[:, count:]
    one.x = one.x + states.T @ white[:, 0]
    one.covariance = one.covariance - states.T @ states
    return white[:, :count], states.T @ white[:, 1:count]


def _likeliest(onsets: Index, about: Floats, fit: Floats, beside: Floats) -> tuple[float, float, float, int]:
    """ŵ, its deviation, z and the earliest likely onset; beside: deviation that the surface cannot follow."""
    wear, sigma = fit / about, 1.0 / np.sqrt(about)
    gain = np.where(wear > 0.0, 0.5 * (wear / sigma) ** 2, 0.0)
    z = float(np.max(wear / np.hypot(sigma, beside)))
    best = int(np.argmax(gain))
    early = int(np.argmax(gain >= gain[best] - AS_LIKELY))
    return float(wear[best]), float(np.hypot(sigma[best], beside[best])), z, int(onsets[early])
