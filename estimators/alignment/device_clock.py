"""When a device took its samples: recovers equidistant instants from the jittering arrival of its frames.

Frames of one stream are consecutive samples, one period P apart, whatever their arrival: a burst that arrives at once
is still placed P by P. With T the instant of the last frame, a the arrival of the next and Δ the step of the device's
counter (1 without one), the next instant is T + Δ·P(1 + ρ) + Δ·σ and the frame's lateness e = a − that. Frames are
late, never early: only the least lateness m of a window of 128 frames speaks of the clock. At the window's end

    σ ← 0.3 m / 128      ρ ← ρ + 0.04 m / (128 P)

so instants are corrected by about 1 µs at most from one to the next, and the device's drift is learnt. Where a frame
carries the device's own time, Δ is a fraction, the time passed on the device's clock over P: T is then a regression of
host on device time along the lower envelope of the arrivals, 1 + ρ its slope. A device time by which a sample would be
taken after it arrived, or before its predecessor, is rejected, unless a second one confirms that the device began anew.

A frame that is late by more than 0.75 U (U = P, or modulo · P with a counter, which sees smaller losses exactly) was
either delayed or follows lost ones. It and its successors are held until that is known: one that is in time again
proves a delay; n that were the last of their burst, over at least 50 ms, all late, prove that ⌊e/U + 1/4⌋ units are
lost, where e is the least of them, and everything held moves by as much; n is 8, or thrice what a mere delay ever took
on this link. What is in time then is decided, up to the last such frame; those after it follow another loss, and are
held on. Where a decided one is still late by more than U/2 (the link's jitter), the place of the loss is not sure. The
clock's first setting is found in the same way: that of the earliest of 32 such frames, or of 8 that agree. Earlier than
−P/2 or later than 1.5 s: the clock starts anew; but where the counter says that the early one is the next sample, only
queues have moved the clock ahead, and it is held back, P/2 a frame.

A silence is a loss, a delay, or both, and only the end of the burst that follows it tells. As long as frames come
faster than they were sampled, e still falls, and proves nothing: a new least e by more than P/2 is where the evidence
begins. Then the new setting's distance from where the next frame was expected is what was lost (whole turns of the
counter, where there is one; it tells the rest itself, also of what is missing in the middle of the burst). Frames that
do not fit in what may be held while the burst lasts are placed as if nothing had been lost.
"""

import numpy as np
from numpy.typing import NDArray

from estimators.alignment.clock_rate import (
    EVIDENCE_FRAMES,
    RESTART_AFTER,
    even,
    open_window,
    stands,
)
from estimators.alignment.clock_state import (
    ARRIVED,
    AWAY,
    BACKWARDS,
    BEHIND,
    COUNTER,
    DECIDED,
    DISORDERED,
    DRIFT,
    DUPLICATE,
    DUPLICATES,
    EVENED,
    EVIDENCE,
    FRAMES,
    FRESH,
    GAP,
    GAP_UNIT,
    HEARD,
    HELD,
    IN_TIME,
    INDEX,
    INSTANT,
    LATENESS,
    LEAST,
    LONGEST_LOSS,
    LOST,
    MOST,
    OFF,
    OUT_OF_ORDER,
    PACE,
    PLACED,
    QUEUE,
    REJECTED,
    RESTARTS,
    SETTLING,
    SHIFT,
    SLEW,
    SLIP,
    UNSURE,
    WINDOW_EVIDENCE,
)
from estimators.alignment.held_frames import (
    SUSPICIOUS,
    count_gap,
    hold,
    take,
    undelayed,
)
from estimators.numerics.jit import inline
from estimators.quantities import Floats


@inline
def place(
    arrival: float,
    counter: int,
    period: float,
    modulo: int,
    unit: float,
    room: int,
    integers: NDArray[np.int64],
    floats: Floats,
    held: Floats,
    totals: NDArray[np.int64],
) -> int:
    """Advance one stream's clock to a frame; returns PLACED, DUPLICATE or OUT_OF_ORDER.

    arrival, period: ns (period 0: the arrival is the instant); counter: -1 without one; modulo: where it starts again;
    unit: what it grows by per sample (1, or for a device's time in ns the period); room: frames that may be held;
    integers (CLOCK_INTEGERS,), floats (CLOCK_FLOATS,), held (room + 1, HELD_FLOATS): the stream's state. Afterwards
    floats[INSTANT] and integers[INDEX] are the frame's; integers[HELD] says whether it is held. What was held before
    moves by floats[SHIFT] and integers[SLIP] ticks (floats[UNSURE] = 1: by a loss whose place is a guess), and is
    decided up to the instant floats[DECIDED].
    """
    floats[SHIFT] = floats[UNSURE] = 0.0
    floats[DECIDED] = -np.inf
    integers[FRESH] = integers[SLIP] = 0
    if period == 0.0:
        integers[INDEX] += 1
        floats[INSTANT] = arrival
        floats[DECIDED] = np.inf
        return PLACED
    if integers[FRAMES] == 0:
        _start(arrival, counter, period, integers, floats, totals)
        return PLACED
    ticks = max(1, int(modulo / unit))  # that pass unseen
    step, steps, whole = 1, 1.0, 1
    advance = period * (1.0 + floats[DRIFT]) + floats[SLEW]
    if modulo > 0 and counter >= 0 and integers[COUNTER] >= 0:
        gap = (counter - integers[COUNTER]) % modulo
        if gap == 0 and arrival - floats[HEARD] >= 0.5 * (modulo / unit) * period:
            gap = modulo  # no duplicate, but a whole turn of the counter later
        floats[HEARD] = arrival
        if gap == 0:
            totals[DUPLICATES] += 1
            return DUPLICATE
        steps = gap / unit
        # sampled unevenly, 1.6 periods may be one frame, and 1.4 two
        whole = max(1, int(np.rint((steps + floats[OFF]) / (1.0 + floats[PACE]))))
        step = whole if steps < LONGEST_LOSS + 2 else LONGEST_LOSS + 2
        backwards = 0 < modulo - gap <= modulo // 8
        ahead = unit > 1.0 and integers[HELD] != SETTLING and arrival < floats[INSTANT] + steps * advance - 0.5 * period
        if backwards or ahead:
            before = integers[BACKWARDS]
            if before < 0 or not 0.5 < ((counter - before) % modulo) / unit < 1.5:
                integers[BACKWARDS] = counter
                totals[DISORDERED if backwards else REJECTED] += 1
                return OUT_OF_ORDER
            totals[RESTARTS] += 1  # two in a row: the device itself began again
            silence = arrival - floats[INSTANT] - 2.0 * advance  # the first of the two is counted already
            _start(arrival, counter, period, integers, floats, totals)
            floats[GAP], floats[GAP_UNIT] = max(0.0, silence), 1.0
            return PLACED
    integers[BACKWARDS] = -1
    if arrival - floats[ARRIVED] >= 0.5 * period:  # the frame before was the last of its burst
        integers[EVIDENCE] += 1
        integers[WINDOW_EVIDENCE] += 1
        floats[LEAST] = min(floats[LEAST], floats[LATENESS])
    instant = floats[INSTANT] + steps * advance
    late = arrival - instant
    follows = modulo > 0 and counter >= 0 and integers[COUNTER] >= 0 and step == 1
    if follows and late < -0.5 * period and integers[HELD] == IN_TIME:  # queues were taken for the device's clock
        instant = max(arrival, floats[INSTANT] + 0.5 * advance)
        late = max(-0.5 * period, arrival - instant)
        floats[SLEW] = 0.0
    too_early = late < -0.5 * period and integers[HELD] != SETTLING
    held_up = integers[HELD] == SETTLING and floats[AWAY] > 0.0 and late > -floats[AWAY] - 0.5 * period
    counted = modulo > 0 and counter >= 0 and integers[COUNTER] >= 0
    queued = counted and step <= LONGEST_LOSS + 1 and late < SUSPICIOUS * ticks * period
    too_late = late > RESTART_AFTER and (stands(arrival, floats) or not queued)
    if too_early or too_late or (step > LONGEST_LOSS + 1 and not held_up):
        totals[RESTARTS] += 1
        if too_early:  # perhaps a delay was taken for a loss
            integers[MOST] = min(max(2 * integers[MOST], EVIDENCE_FRAMES), 100)
        believed = late > -0.5 * steps * advance  # a counter that is ahead of all time is damaged
        _start(arrival, counter, period, integers, floats, totals)
        if not too_early and (believed or not counted):
            totals[LOST] += max(0, int(np.rint(steps)) - 1)
            floats[GAP] = floats[AWAY] = max(0.0, late - floats[SHIFT])
            floats[GAP_UNIT] = ticks
        return PLACED
    totals[LOST] += whole - 1
    if modulo > 0 and counter >= 0 and integers[COUNTER] >= 0:
        even(steps, whole, floats)
    if counter >= 0:
        integers[COUNTER] = counter
    elif modulo > 0 and integers[COUNTER] >= 0:  # one without its counter
        integers[COUNTER] = (integers[COUNTER] + int(unit)) % modulo
    integers[FRAMES] += 1
    integers[INDEX] += step
    floats[ARRIVED] = arrival
    take(instant, late, arrival, period, ticks, room, integers, floats, held, totals)
    return PLACED


@inline
def _start(
    arrival: float,
    counter: int,
    period: float,
    integers: NDArray[np.int64],
    floats: Floats,
    totals: NDArray[np.int64],
) -> None:
    if integers[FRAMES] > 0 and integers[HELD] == SETTLING:
        floats[SHIFT] = undelayed(floats)
        count_gap(period, floats, totals)
    floats[AWAY] = 0.0
    integers[FRAMES] = 1
    integers[COUNTER] = counter
    integers[BACKWARDS] = -1
    integers[INDEX] += 1
    integers[FRESH] = 1
    floats[DECIDED] = np.inf
    floats[INSTANT] = arrival
    floats[ARRIVED] = floats[HEARD] = arrival
    floats[LATENESS] = 0.0
    floats[SLEW] = floats[OFF] = floats[BEHIND] = floats[PACE] = 0.0
    floats[EVENED] = 1.0
    floats[QUEUE] = 0.0
    open_window(integers, floats)
    hold(SETTLING, arrival, integers, floats)
