"""Events of a gear with one encoder: regression rows around each change of the gear load's sign, as sums.

    T = τ − J_m θ̈ − F(θ̇)            torque in the gear, from the motor's position and current alone
    J_l θ̈_l = T + g(θ_l) − f        so θ_l is known but for its initial angle and speed
    θ − ∬T / J_l = T / K + b sign(T) + ∬g / J_l + E cos(2Nθ + φ) + c₀ + c₁ t + c₂ t²

b is half the gap: while the teeth cross it T is zero, and nothing drives the link. E, φ: the gear's kinematic
error. c₀, c₁, c₂ are each event's own: the constants of both integrations, and constant friction. WINDOW limits the
drift of the integrals. All columns pass the same symmetric window; rows whose torque is below `band` are left out, as
its sign is not known.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.quantities import Floats
from estimators.thresholds import MEDIAN_SQUARE

#: s, tuned: Half the time around a change of sign that one event uses: three others gave a larger error (rig `gear`).
WINDOW: Final = 0.08
#: s, tuned: Whole width of the window that smooths all columns; shorter ones leave noise of T that biases K by a sixth.
SMOOTH: Final = 0.032
#: s, tuned: Whole width of the window that smooths the torque whose sign is decided.
DECIDES: Final = 0.016
#: rad/s, argued: Speed below which the motor may turn around, and its friction with it.
STILL: Final = 0.02
#: 1, argued: Share of the friction below which the torque's sign is not used: its zero is uncertain by as much.
DOUBTED: Final = 0.3
#: rows, argued: Rows on each side of an event at least: fewer are noise.
LEAST_ROWS: Final = 4
#: deviations, argued: Deviations of the smoothed torque's noise below which its sign is not used.
NOISY: Final = 5.0
#: columns, derived: Unknowns of all events: b, 1/K, 1/J_l, gravity (2), the link's viscous friction, gear's error (2).
COMMON: Final = 8
#: numbers, derived: Sums of one event: information, moments, square, degrees of freedom.
SUMS: Final = COMMON * (COMMON + 1) + 2
#: 1, derived: Variance of the third difference of white noise of variance 1: 1 + 9 + 9 + 1.
THIRD: Final = 20.0


class ReversalFriction(NamedTuple):
    """Friction of the motor's side that is assumed."""

    dry: float  # N·m
    viscous: float  # N·m·s/rad


class ReversalColumns(NamedTuple):
    """A stretch of samples, smoothed: (rows,) each."""

    position: Floats  # rad
    speed: Floats  # rad/s
    torque: Floats  # N·m, τ − J_m θ̈
    deciding: Floats  # the same torque, smoothed by the shorter window
    direction: Floats  # sign of the speed, smoothed as the columns are
    cosine: Floats  # cosine of twice the motor's angle
    sine: Floats
    noise: float  # N·m, deviation of `deciding`


def columns_of(position: Floats, torque: Floats, inertia: float, ratio: float, period: float) -> ReversalColumns:
    """Smooth a stretch of equidistant samples (rows,); inertia: of the motor, kg·m²; ratio: N; period: s."""
    second = np.zeros_like(position)
    second[1:-1] = (position[2:] - 2.0 * position[1:-1] + position[:-2]) / period**2
    raw, wide = torque - inertia * second, _hann(SMOOTH, period)
    narrow = _hann(DECIDES, period)
    speed = np.gradient(np.convolve(position, wide, "same"), period)
    rough = np.diff(raw, 3)[len(wide) : -len(wide)]  # of white noise: its deviation times √20, of a smooth torque none
    noise = float(np.sqrt(np.median(rough**2) / MEDIAN_SQUARE / THIRD * (narrow**2).sum())) if len(rough) else np.inf
    phase = 2.0 * ratio * position
    smooth = (np.convolve(one, wide, "same") for one in (position, raw, np.sign(speed), np.cos(phase), np.sin(phase)))
    place, load, direction, cosine, sine = smooth
    return ReversalColumns(place, speed, load, np.convolve(raw, narrow, "same"), direction, cosine, sine, noise)


def events_of(
    columns: ReversalColumns, friction: ReversalFriction, share: float, first: int, last: int, period: float
) -> list[Floats]:
    """Sums (SUMS,) of each event whose change of sign is in rows first … last − 1.

    friction: of the motor's side; share: that it is of the joint's, so that every share leaves out as many rows.
    """
    half = round(WINDOW / period)
    drag = friction.dry * np.sign(columns.speed) + friction.viscous * columns.speed
    smooth = friction.dry * columns.direction + friction.viscous * columns.speed
    signs = np.sign(columns.deciding - drag)
    found, before = list[Floats](), -half
    for at in np.flatnonzero(signs[1:] * signs[:-1] < 0.0):
        if not first <= at < last or at - before < half:
            continue
        part = slice(at - half, at + half + 1)
        speed = columns.speed[part]
        if len(speed) <= 2 * half or np.abs(speed).min() < STILL or speed[0] * speed[-1] < 0.0:
            continue
        band = DOUBTED / share * (friction.dry + friction.viscous * float(np.abs(speed).mean())) + NOISY * columns.noise
        way = signs[at + 1] * np.sign(np.arange(-half, half + 1))
        load = columns.deciding[part] - drag[part]
        used = np.abs(load) > band
        sums = _sums(columns, columns.torque[part] - smooth[part], part, way, used, period)
        if (signs[part][used] == way[used]).all() and sums is not None:
            found.append(sums)
            before = int(at)
    return found


def _sums(
    columns: ReversalColumns, torque: Floats, part: slice, way: Floats, used: NDArray[np.bool_], period: float
) -> Floats | None:
    """Sums of one event after its own constants; None where a side of it has too few rows."""
    if min(np.count_nonzero(used & (way > 0)), np.count_nonzero(used & (way < 0))) < LEAST_ROWS:
        return None
    place, time = columns.position[part], period * np.arange(len(way))
    twice = period**2 * np.cumsum(
        np.cumsum([torque, np.sin(place), np.cos(place), columns.speed[part]], axis=1), axis=1
    )
    X = np.stack([way, torque, *twice, columns.cosine[part], columns.sine[part]], axis=1)[used]
    own = np.stack([np.ones_like(time), time - time.mean(), (time - time.mean()) ** 2], axis=1)[used]
    Q = np.linalg.qr(own)[0]
    y = place[used]
    X, y = X - Q @ (Q.T @ X), y - Q @ (Q.T @ y)
    return np.concatenate([(X.T @ X).ravel(), X.T @ y, [y @ y, len(y) - own.shape[1]]])


def _hann(width: float, period: float) -> Floats:
    """A Hann window (odd,) whose sum is one."""
    rows = 2 * max(1, round(0.5 * width / period)) + 1
    weights = np.hanning(rows + 2)[1:-1]
    return np.asarray(weights / weights.sum())
