"""Frames that are not used, since the signals of their joint cannot be true: what is lost among them is counted all
the same, by the counter of the first frame that is used again."""

import numpy as np

from estimators.alignment.clock_rate import RESTART_AFTER
from estimators.alignment.clock_state import ClockState, Totals
from estimators.numerics.jit import inline


def leave(clock: ClockState) -> None:
    """Keep in mind the last frame that was used."""
    if clock.modulo > 0 and clock.frames > 0 and clock.counter >= 0:
        clock.passed_over, clock.counter_before, clock.arrival_before = 0, clock.counter, clock.arrival


@inline
def count_passed_over(arrival: float, counter: int, clock: ClockState, totals: Totals) -> None:
    """Count what never came while frames were refused, now that one is used again. arrival: ns.

    The counter says how many samples the device has taken, whole turns of it the time. One that is further from the
    time than half of it, and than a queue may last, has begun anew or lied meanwhile, and says nothing.
    """
    passed, clock.passed_over = clock.passed_over, -1
    if passed < 0 or counter < 0:
        return
    waited = (arrival - clock.arrival_before) / clock.period  # periods
    taken = ((counter - clock.counter_before) % clock.modulo) / clock.unit
    turn = clock.modulo / clock.unit
    taken += turn * np.rint((waited - taken) / turn)
    if abs(taken - waited) <= 0.5 * waited + RESTART_AFTER / clock.period:
        totals.lost += max(0, int(np.rint(taken)) - 1 - passed)
