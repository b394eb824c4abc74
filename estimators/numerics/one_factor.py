"""Whether parameters have all changed by one factor: then it is the torque's scale, and not the joint.

Least squares of after = f·before over parameters that are known well enough to say, each with the deviations of both:

    f = Σ w b a / Σ w b²,   w = 1/(σ_a² + f²σ_b²)           χ² = Σ w (a − f b)²

A torque constant (or its sensor's gain) that is wrong by 1/f scales every parameter of y = Φθ alike.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.quantities import Floats
from estimators.thresholds import LEAST_DIVISOR

CHANGED: Final = 4.0  # deviations of f from 1
SMALL: Final = 0.02  # of |f − 1|, too small to report
LEAST: Final = 3  # parameters that must say so, and …
MOST: Final = 0.6  # … which share of all
FITS: Final = 3.0  # deviations, up to which a χ² is one of chance


class Factor(NamedTuple):
    """One factor by which all parameters have changed."""

    value: float
    deviation: float

    def __str__(self) -> str:
        return (
            f"all parameters by one factor, {self.value:.3f} ± {self.deviation:.1g}: the torque constant or its sensor"
        )


def one_factor(
    before: Floats, uncertain: Floats, after: Floats, deviations: Floats, which: NDArray[np.bool_]
) -> Factor | None:
    """The factor, where there is one. before ± uncertain, after ± deviations (parameters,); which: scale with it."""
    which = which & np.isfinite(before + uncertain + after + deviations) & (before != 0.0)
    count = int(np.count_nonzero(which))
    if count < LEAST:
        return None
    b, s, a, d = (one[which] for one in (before, uncertain, after, deviations))
    f = float(np.median(a / b))
    for _ in range(4):
        weight = 1.0 / np.maximum(d**2 + f**2 * s**2, LEAST_DIVISOR)
        f = float(np.sum(weight * b * a) / np.sum(weight * b**2))
    spread = 1.0 / math.sqrt(float(np.sum(weight * b**2)))
    telling = np.hypot(d, f * s) * CHANGED < abs(f - 1.0) * np.abs(b)  # each of itself
    if abs(f - 1.0) < max(SMALL, CHANGED * spread) or f <= 0.0:
        return None
    if np.count_nonzero(telling) < max(LEAST, MOST * count):
        return None
    squares, free = float(np.sum(weight * (a - f * b) ** 2)), count - 1
    return Factor(f, spread) if squares <= free + FITS * math.sqrt(2.0 * free) else None
