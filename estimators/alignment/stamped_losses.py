"""What is lost of frames whose own stamps are true: the ticks that no frame ever came for.

A device may sample unevenly and stamp truly: a stall, then several frames at once. With x the device time in periods, a
frame belongs to the tick nearest to x (less where the line through them is, clock_rate.even; exactly to x for a block
after a stall, and always once one has been caught up). A tick without a frame is missing, a frame whose tick has one
already is more than was expected; let a be the count of the former less that of the latter. A stall that is caught up
raises a, and lowers it again; a loss raises it for good. So what is lost is what the least a of a block of frames has
risen by. Where no stall has been caught up in that time, a loss is counted when CALM frames have followed in time.
"""

from typing import Final

import numpy as np

from estimators.alignment.clock_rate import SURE, even
from estimators.alignment.clock_state import ClockState, Totals
from estimators.numerics.jit import inline

#: frames, argued: Frames within which a stall is caught up; as many as the window that moves the clock.
BLOCK: Final = 128
#: periods, argued: A step off the period by more is a stall, its catching up or a loss: jitter of up to 0.37 periods
#: either way shows no such step.
STALL: Final = 0.75
#: frames, argued: Frames in time that must follow a loss: jitter shows some now and then, but seldom so many in a row.
CALM: Final = 3
#: periods, argued: A step that differs from the period by less is in time, and so is a frame this close to its tick.
REGULAR: Final = 0.25


@inline
def ticks_between(steps: float, clock: ClockState) -> int:
    """Ticks from the last frame to one that is `steps` periods later by its stamp; 0: it belongs to the same tick."""
    if abs(steps - 1.0 - clock.pace) > STALL:
        clock.watched = BLOCK
    elif clock.watched > 0:
        clock.watched -= 1
    least, where = (0, clock.behind) if _exactly(clock) else (1, clock.off)
    # sampled unevenly, 1.6 periods may be one frame, and 1.4 two
    return max(least, int(np.rint((steps + where) / (1.0 + clock.pace))))


@inline
def place_on_grid(steps: float, whole: int, clock: ClockState) -> None:
    """Where a frame stands among even ones: exactly after a stall, else by the line through all (clock_rate.even)."""
    if _exactly(clock):
        clock.behind += steps - whole * (1.0 + clock.pace)
        clock.off = clock.behind
    else:
        even(steps, whole, clock)


@inline
def _exactly(clock: ClockState) -> bool:
    """Whether frames are placed exactly by their stamps: after a stall, and always where one has been caught up."""
    return clock.watched > 0 or clock.stalls


@inline
def count_losses(steps: float, whole: int, clock: ClockState, totals: Totals) -> None:
    """Count what is lost for good, now that a frame is `whole` ticks and `steps` periods after the one before."""
    if whole == 0 and not clock.stalls:
        clock.stalls = True
        if clock.evened <= SURE:  # a stall was taken for another pace
            clock.pace = 0.0
    clock.caught_up = BLOCK if whole == 0 else max(0, clock.caught_up - 1)
    regular = abs(steps - 1.0 - clock.pace) < REGULAR and abs(clock.behind) < REGULAR
    clock.calm = clock.calm + 1 if regular else 0
    if clock.caught_up == 0 and clock.calm >= CALM:
        _believe(clock.ahead, clock, totals)
        clock.block = 0
    clock.ahead += whole - 1
    clock.least_ahead = clock.ahead if clock.block == 0 else min(clock.least_ahead, clock.ahead)
    clock.block += 1
    if clock.block == BLOCK:
        _believe(clock.least_ahead, clock, totals)
        clock.block = 0


@inline
def forget_ahead(clock: ClockState, totals: Totals) -> None:
    """The clock is set anew: what is missing now never comes."""
    _believe(clock.ahead, clock, totals)
    clock.ahead = clock.counted = clock.least_ahead = clock.block = 0


@inline
def _believe(ahead: int, clock: ClockState, totals: Totals) -> None:
    totals.lost += max(0, ahead - clock.counted)
    clock.counted = ahead
