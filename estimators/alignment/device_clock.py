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

from estimators.alignment.clock_rate import EVIDENCE_FRAMES, RESTART_AFTER, open_window, stands
from estimators.alignment.clock_state import (
    DUPLICATE,
    IN_TIME,
    LONGEST_LOSS,
    OUT_OF_ORDER,
    PLACED,
    SETTLING,
    ClockState,
    Totals,
)
from estimators.alignment.held_frames import SUSPICIOUS, count_gap, hold, take, undelayed
from estimators.alignment.passed_over import count_passed_over
from estimators.alignment.stamped_losses import count_losses, forget_ahead, place_on_grid, ticks_between
from estimators.numerics.jit import inline
from estimators.thresholds import GAP, SUCCESSIVE


@inline
def place(arrival: float, counter: int, clock: ClockState, totals: Totals) -> int:
    """Advance one stream's clock to a frame; returns PLACED, DUPLICATE or OUT_OF_ORDER.

    arrival: ns; counter: -1 without one. Afterwards clock.instant and clock.index are the frame's, and clock.mode says
    whether it is held.
    """
    period, modulo, unit = clock.period, clock.modulo, clock.unit
    clock.shift, clock.slip, clock.unsure, clock.fresh = 0.0, 0, False, False
    clock.decided = -np.inf
    if period == 0.0:
        clock.index += 1
        clock.instant = arrival
        clock.decided = np.inf
        return PLACED
    if clock.frames == 0:
        count_passed_over(arrival, counter, clock, totals)
        _start(arrival, counter, clock, totals)
        return PLACED
    steps, whole = 1.0, 1
    counted = modulo > 0 and counter >= 0 and clock.counter >= 0
    if counted:
        gap = (counter - clock.counter) % modulo
        if gap == 0 and arrival - clock.heard >= 0.5 * (modulo / unit) * period:
            gap = modulo  # no duplicate, but a whole turn of the counter later
        clock.heard = arrival
        if gap == 0:
            totals.duplicate += 1
            return DUPLICATE
        steps = gap / unit
        whole = ticks_between(steps, clock) if unit > 1.0 else int(gap)
        backwards = 0 < modulo - gap <= modulo // 8
        advance = period * (1.0 + clock.drift) + clock.slew
        ahead = unit > 1.0 and clock.mode != SETTLING and arrival < clock.instant + steps * advance - 0.5 * period
        if backwards or ahead:
            return _out_of_order(arrival, counter, backwards, clock, totals)
    clock.backwards = -1
    if arrival - clock.arrival >= 0.5 * period:  # the frame before was the last of its burst
        clock.evidence += 1
        clock.window_evidence += 1
        clock.least = min(clock.least, clock.lateness)
    return _follow(arrival, counter, counted, steps, whole, clock, totals)


@inline
def _out_of_order(arrival: float, counter: int, backwards: bool, clock: ClockState, totals: Totals) -> int:
    """A counter that runs backwards, or ahead of time; two such frames in a row set the clock anew."""
    before = clock.backwards
    if before < 0 or not GAP < ((counter - before) % clock.modulo) / clock.unit < SUCCESSIVE:
        clock.backwards = counter
        if backwards:
            totals.out_of_order += 1
        else:
            totals.rejected += 1
        return OUT_OF_ORDER
    totals.restart += 1  # two in a row: the device itself began again
    advance = clock.period * (1.0 + clock.drift) + clock.slew
    silence = arrival - clock.instant - 2.0 * advance  # the first of the two is counted already
    _start(arrival, counter, clock, totals)
    clock.gap, clock.gap_unit = max(0.0, silence), 1
    return PLACED


@inline
def _follow(
    arrival: float, counter: int, counted: bool, steps: float, whole: int, clock: ClockState, totals: Totals
) -> int:
    """Advance the clock by this many periods, `whole` frames, or set it anew where that cannot be; returns PLACED.

    counted: whether they are known from the counter.
    """
    period = clock.period
    step = whole if steps < LONGEST_LOSS + 2 else LONGEST_LOSS + 2
    advance = period * (1.0 + clock.drift) + clock.slew
    instant = clock.instant + steps * advance
    late = arrival - instant
    queues = counted and step == 1 and late < -0.5 * period and clock.mode == IN_TIME
    if queues:  # they were taken for the device's clock
        instant = max(arrival, clock.instant + 0.5 * advance)
        late = max(-0.5 * period, arrival - instant)
        clock.slew = 0.0
    too_early = late < -0.5 * period and clock.mode != SETTLING
    held_up = clock.mode == SETTLING and clock.away > 0.0 and late > -clock.away - 0.5 * period
    queued = counted and step <= LONGEST_LOSS + 1 and late < SUSPICIOUS * clock.turn * period
    too_late = late > RESTART_AFTER and (stands(arrival, clock) or not queued)
    if too_early or too_late or (step > LONGEST_LOSS + 1 and not held_up):
        totals.restart += 1
        if too_early:  # perhaps a delay was taken for a loss
            clock.most = min(max(2 * clock.most, EVIDENCE_FRAMES), 100)
        believed = late > -0.5 * steps * advance  # a counter that is ahead of all time is damaged
        _start(arrival, counter, clock, totals)
        if not too_early and (believed or not counted):
            missing = max(0, int(np.rint(steps)) - 1)
            if clock.unit > 1.0:
                clock.ahead = missing  # unless they come yet
            else:
                totals.lost += missing
            clock.gap = clock.away = max(0.0, late - clock.shift)
            clock.gap_unit = clock.turn
        return PLACED
    clock.whole = whole
    if clock.unit > 1.0:
        if counted:
            place_on_grid(steps, whole, clock)
        count_losses(steps, whole, clock, totals)
    else:
        totals.lost += whole - 1
    if counter >= 0:
        clock.counter = counter
    elif clock.modulo > 0 and clock.counter >= 0:  # one without its counter
        clock.counter = (clock.counter + int(clock.unit)) % clock.modulo
    clock.frames += 1
    clock.index += step
    clock.arrival = arrival
    take(instant, late, clock, totals)
    return PLACED


@inline
def _start(arrival: float, counter: int, clock: ClockState, totals: Totals) -> None:
    """Set the clock anew."""
    if clock.frames > 0 and clock.mode == SETTLING:
        clock.shift = undelayed(clock)
        count_gap(clock, totals)
    clock.away = 0.0
    forget_ahead(clock, totals)
    clock.whole = 1
    clock.watched = clock.caught_up = clock.calm = 0
    clock.stalls = False
    clock.frames = 1
    clock.counter = counter
    clock.backwards = -1
    clock.index += 1
    clock.fresh = True
    clock.decided = np.inf
    clock.instant = clock.arrival = clock.heard = arrival
    clock.lateness = 0.0
    clock.slew = clock.off = clock.behind = clock.pace = 0.0
    clock.evened = 1.0
    clock.queue = 0.0
    open_window(clock)
    hold(SETTLING, clock)
