"""Frames that are not used, since the signals of their joint cannot be true: what is lost among them is counted all
the same, by the counter of the first frame that is used again."""

from typing import Final

import numpy as np

from estimators.alignment.clock_rate import RESTART_AFTER
from estimators.alignment.clock_state import ClockState, Totals
from estimators.numerics.jit import inline

#: 1, argued: A counter that is further from the time than this share of it (and than a queue may last) has begun anew
#: or lied meanwhile; one that is true is off by what waits in a queue, and by the clock's drift.
APART: Final = 0.5


def leave(clock: ClockState) -> None:
    """Keep in mind the last frame that was used."""
    if clock.modulo > 0 and clock.frames > 0 and clock.counter >= 0:
        clock.passed_over, clock.counter_before, clock.arrival_before = 0, clock.counter, clock.arrival


@inline
def count_passed_over(arrival: float, counter: int, clock: ClockState, totals: Totals) -> None:
    """Count what never came while frames were refused, now that one is used again. arrival: ns.

    The counter tells how many samples the device has taken, and the time how many whole turns the counter has made.
    """
    passed, clock.passed_over = clock.passed_over, -1
    if passed < 0 or counter < 0:
        return
    waited = (arrival - clock.arrival_before) / clock.period  # periods
    taken = ((counter - clock.counter_before) % clock.modulo) / clock.unit
    turn = clock.modulo / clock.unit
    taken += turn * np.rint((waited - taken) / turn)
    if abs(taken - waited) <= APART * waited + RESTART_AFTER / clock.period:
        totals.lost += max(0, int(np.rint(taken)) - 1 - passed)
