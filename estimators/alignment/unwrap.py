"""An encoder that starts again after one turn, made continuous, NaN-safe and proof against single glitches.

A value belongs to the turn that brings it nearest to the last accepted one, moved on by the last accepted step as often
as frames came or were lost since. If even so it is more than a quarter turn away, it is given as NaN and moves nothing;
only a second one within a quarter turn of it (a jump that stays) is accepted. So one wrong value never shifts what
follows.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.alignment.clock_state import (
    GLITCHES,
    INVALID,
)
from estimators.numerics.jit import inline
from estimators.quantities import Floats

ANCHOR, STEP, CANDIDATE, INDEX, UNWRAP_FLOATS = range(5)
NEAR: Final = 0.25  # turns
FARTHEST: Final = 16  # steps over which the last one may be extrapolated


@inline
def unwrap(value: float, index: int, wrap: float, floats: Floats, totals: NDArray[np.int64]) -> float:
    """The continuous value, or NaN.

    value, wrap: SI, in the same unit (wrap 0: nothing to unwrap); index: number of the sample; floats: (UNWRAP_FLOATS,)
    state, NaN at first.
    """
    if not np.isfinite(value):
        totals[INVALID] += 1
        return np.nan
    if wrap == 0.0:
        return value
    if np.isnan(floats[ANCHOR]):
        floats[ANCHOR], floats[STEP], floats[INDEX] = value, 0.0, index
        return value
    steps = min(max(index - floats[INDEX], 1.0), FARTHEST)
    expected = floats[ANCHOR] + steps * floats[STEP]
    near: float = value - wrap * np.rint((value - expected) / wrap)
    if abs(near - expected) <= NEAR * wrap:
        floats[STEP] = (near - floats[ANCHOR]) / steps
        floats[ANCHOR], floats[CANDIDATE], floats[INDEX] = near, np.nan, index
        return near
    if abs(near - floats[CANDIDATE]) <= NEAR * wrap:
        floats[STEP] = near - floats[CANDIDATE]
        floats[ANCHOR], floats[CANDIDATE], floats[INDEX] = near, np.nan, index
        return near
    floats[CANDIDATE] = near
    totals[GLITCHES] += 1
    return np.nan
