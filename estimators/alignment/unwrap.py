"""An encoder that starts again after one turn, made continuous, NaN-safe and proof against single glitches.

A value belongs to the turn that brings it nearest to the last accepted one, moved on by the last accepted step as often
as frames came or were lost since. If even so it is more than a quarter turn away, it is given as NaN and moves nothing;
only a second one within a quarter turn of it (a jump that stays) is accepted. So one wrong value never shifts what
follows.
"""

import math
from typing import Final

import numpy as np

from estimators.alignment.clock_state import Totals
from estimators.numerics.jit import inline
from jointwatch_numba.layout import Layout

#: turns, argued: A reading is believed when it is nearer than this to the extrapolated one; a quarter of a turn leaves
#: no doubt of the direction.
NEAR: Final = 0.25
#: steps, argued: The last step is extrapolated over this many samples at most.
FARTHEST: Final = 16


class Unwrapping(Layout):
    """Where one encoder is, all in the unit of its values."""

    wrap: float  # where it starts again; 0: never
    anchor: float = math.nan  # last value that was accepted, continuous; NaN: there is none yet
    step: float = 0.0  # a sample, of the last ones accepted
    candidate: float = math.nan  # last value that was refused, continuous; NaN: the last one was accepted
    index: int = 0  # number of the sample of `anchor`


@inline
def unwrap(value: float, index: int, encoder: Unwrapping, totals: Totals) -> float:
    """The continuous value, or NaN; index: number of the sample."""
    wrap = encoder.wrap
    if not np.isfinite(value):
        totals.invalid += 1
        return np.nan
    if wrap == 0.0:
        return value
    if np.isnan(encoder.anchor):
        encoder.anchor, encoder.step, encoder.index = value, 0.0, index
        return value
    steps = min(max(index - encoder.index, 1.0), FARTHEST)
    expected = encoder.anchor + steps * encoder.step
    near: float = value - wrap * np.rint((value - expected) / wrap)
    if abs(near - expected) <= NEAR * wrap:
        encoder.step = (near - encoder.anchor) / steps
        encoder.anchor, encoder.candidate, encoder.index = near, np.nan, index
        return near
    if abs(near - encoder.candidate) <= NEAR * wrap:
        encoder.step = near - encoder.candidate
        encoder.anchor, encoder.candidate, encoder.index = near, np.nan, index
        return near
    encoder.candidate = near
    totals.glitch += 1
    return np.nan
