"""The clearance of a bearing from two proximity sensors across each other: the circle on which the pin's centre runs.

Where the pin touches, its centre is c from the bearing's, whatever presses it there; where it flies it is nearer, and
such rows are left out. The bearing's centre need not be known: it is fitted with the radius. Least squares of the
distances (Gauss–Newton, Gander, Golub & Strebel, BIT 34:558–578, 1994), deviations from blocks of time left out.
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.quantities import Floats

STEPS: Final = 20
WORST: Final = 1e12  # condition of the normal equations, beyond which the places are no arc at all
PASSES: Final = 5  # of leaving out what flies
#: 1, argued: A normal residual is beyond 3 deviations once in 370 rows; a pin that flies is far beyond.
FLIES: Final = 3.0  # robust deviations inside the circle
#: 1, argued: No pin is so far outside; a sensor's spike is.
FAR: Final = 5.0  # median distances from the middle of all places, for the first fit
SPIKE: Final = 8.0  # robust deviations outside the circle
#: rad, argued: On a third of a circle radius and centre move together: noise grows as 1/(1 − cos(arc/2)), twice here.
ARC: Final = 2.0 * np.pi / 3.0
#: 1, derived: Noise σ makes a radius c larger by σ²/2c: a hundredth of it where c is seven times σ.
THICK: Final = 7.0  # times the scatter that a circle's radius is at least
BINS: Final = 36  # of the circle, in which the arc is counted
FEWEST: Final = 5  # rows of a bin that counts
NORMAL: Final = 1.4826  # of the median distance, its share of a normal deviation
BLOCKS: Final = 20


class PinCircle(NamedTuple):
    """The circle of one recording."""

    clearance: float  # m
    deviation: float  # m
    centre: Floats  # (2,) m
    arc: float  # rad of it that the pin has visited
    touching: float  # share of the rows
    spread: float  # m, of a place off the circle
    remark: str  # why no clearance is reported; "" where it is


def circle(x: Floats, y: Floats) -> PinCircle:
    """Fit the places (rows,) m each, in the order of time. Raises ValueError for fewer than BLOCKS · FEWEST rows."""
    points = np.column_stack([x, y])
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) < BLOCKS * FEWEST:
        raise ValueError(f"expected at least {BLOCKS * FEWEST} rows of both proximity sensors, found {len(points)}")
    away = np.hypot(*(points - np.median(points, axis=0)).T)
    used = away <= FAR * max(float(np.median(away)), 1e-300)
    found = _fit(points[used])
    for _ in range(PASSES):
        off = _distance(points, found) - found[2]
        spread = NORMAL * float(np.median(np.abs(off[used] - np.median(off[used]))))
        middle, spread = float(np.median(off[used])), max(spread, 1e-12)
        used = (off >= middle - FLIES * spread) & (off <= middle + SPIKE * spread)
        found = _fit(points[used])
    kept = points[used]
    parts = np.array_split(np.arange(len(kept)), BLOCKS)
    left_out = [_fit(np.delete(kept, part, axis=0), found)[2] for part in parts]
    deviation = float(np.sqrt((BLOCKS - 1) / BLOCKS * np.sum((np.array(left_out) - np.mean(left_out)) ** 2)))
    off = _distance(kept, found) - found[2]
    deviation = float(np.hypot(deviation, off.std() / np.sqrt(BLOCKS)))
    angle = np.arctan2(kept[:, 1] - found[1], kept[:, 0] - found[0])
    visited = np.histogram(angle, BINS, (-np.pi, np.pi))[0] >= FEWEST
    arc = float(visited.sum()) * 2.0 * np.pi / BINS
    remark = ""
    if arc < ARC:
        remark = f"the pin has visited {np.degrees(arc):.0f}° of its circle, {np.degrees(ARC):.0f}° are needed"
    scatter = float(off.std())
    if not found[2] > THICK * scatter:
        remark = f"the places scatter by {1e6 * scatter:.2g} µm about a circle of {1e6 * found[2]:.2g} µm"
    return PinCircle(float(found[2]), deviation, found[:2], arc, float(used.mean()), scatter, remark)


def _distance(points: Floats, found: Floats) -> Floats:
    return np.asarray(np.hypot(points[:, 0] - found[0], points[:, 1] - found[1]))


def _fit(points: Floats, start: Floats | None = None) -> Floats:
    """Centre and radius, (3,), m."""
    scale = float(np.ptp(points, axis=0).max()) or 1.0
    if start is None:  # algebraic: x² + y² = 2 a x + 2 b y + k
        z = (points - points.mean(axis=0)) / scale
        A = np.column_stack([2.0 * z, np.ones(len(z))])
        a, b, k = np.linalg.lstsq(A, (z**2).sum(axis=1), rcond=None)[0]
        start = np.array([a, b, np.sqrt(max(k + a * a + b * b, 1e-6))]) * scale
        start[:2] += points.mean(axis=0)
    found = np.array(start, np.float64)
    for _ in range(STEPS):
        x, y = points[:, 0] - found[0], points[:, 1] - found[1]
        away = np.maximum(np.hypot(x, y), 1e-300)
        J = np.stack([x / away, y / away, np.ones(len(points))])
        information = J @ J.T
        if not np.linalg.cond(information) < WORST:
            break
        step = np.linalg.solve(information, J @ (away - found[2]))
        found += step
        if np.abs(step).max() < 1e-9 * scale:
            break
    return found
