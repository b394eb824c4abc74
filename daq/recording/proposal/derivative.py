"""Tests whether one column is the derivative of another, and by which factor, to find units, clocks and unnamed
columns.

The change of the position over some rows is compared with the integral of the velocity over the same rows, which noise
and encoder steps disturb little: Δq = gain · ∫ v dt. gain is 1 if the units agree, 57.3 for degrees and rad/s, and
0.001 for times in ms.
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.quantities import Floats

#: 1, argued: Correlation of Δq with ∫ v dt from which on v is the derivative of q. Recorded velocities with a filter of
#: up to a twentieth of the motion's period reach 0.95; positions and torques of one motion stay below 0.9.
FOLLOWS: Final = 0.95
LONGEST: Final = 20_000  # largest number of compared rows
SPAN: Final = 40  # least number of parts of a recording over which changes are computed


class Rate(NamedTuple):
    """The relation of a velocity to a position."""

    correlation: float
    gain: float


NONE: Final = Rate(0.0, float("nan"))


def rate_of(position: Floats, velocity: Floats, time: Floats | None) -> Rate:
    """Compare a velocity with a position; time: (rows,) in any unit, or None for one unit a row."""
    q, v = position[:LONGEST], velocity[:LONGEST]
    t = np.arange(len(q), dtype=float) if time is None else time[:LONGEST]
    known = np.isfinite(q) & np.isfinite(v) & np.isfinite(t)
    q, v, t = q[known], v[known], t[known]
    if len(q) < 8 or np.ptp(q) == 0.0 or np.ptp(v) == 0.0:
        return NONE
    travelled = np.concatenate([[0.0], np.cumsum(0.5 * (v[1:] + v[:-1]) * np.diff(t))])
    rows = max(1, len(q) // SPAN)
    change, integral = q[rows:] - q[:-rows], travelled[rows:] - travelled[:-rows]
    usual = (
        np.abs(change) <= 20.0 * np.median(np.abs(change)) + 1e-12
    )  # positions of encoders jump where these wrap around
    change, integral = change[usual], integral[usual]
    if len(change) < 4 or not np.ptp(change) > 0 or not np.ptp(integral) > 0:
        return NONE
    correlation = float(np.corrcoef(change, integral)[0, 1])
    return Rate(correlation, float(change @ integral / (integral @ integral)))


def together(positions: list[Floats], velocities: list[Floats], time: Floats | None) -> Rate:
    """Return the median over the joints that move; no correlation if none moves."""
    found = [rate_of(q, v, time) for q, v in zip(positions, velocities, strict=True)]
    moving = [one for one in found if np.isfinite(one.gain)]
    if not moving:
        return NONE
    return Rate(float(np.median([one.correlation for one in moving])), float(np.median([one.gain for one in moving])))
