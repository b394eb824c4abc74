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

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline
from estimators.quantities import Floats

WINDOW: Final = 128  # frames
PROPORTIONAL: Final = 0.3  # the loop of window minima is critically damped with these
INTEGRAL: Final = 0.04
FASTEST_DRIFT: Final = 1e-3  # crystals differ by less than 1e-4
SUSPICIOUS: Final = 0.75  # units
DOUBTFUL: Final = 0.5  # units of jitter beside which the place of a loss is a guess
EVIDENCE_FRAMES: Final = 8
SETTLING_FRAMES: Final = 32
AGREEMENT: Final = 0.1  # periods
EVIDENCE_TIME: Final = 50e6  # ns
RESTART_AFTER: Final = 1.5e9  # ns
QUEUED: Final = 20e6  # ns of lateness, and of its change, that a queue explains, and no clock
MOST_DRIFTED: Final = 0.5  # periods that a window's least lateness may be off by drift: more is a queue, or a pause
FORGIVEN: Final = 0.05  # a frame, share of OFF: a device whose own period is another is not off for ever
REMEMBERED: Final = 1000.0  # frames that say where even ones would be
EVEN: Final = 2e-3  # periods off, up to which a frame is where it should be
YOUNG, SURE = 10.0, 100.0  # frames, before which none is believed to show another pace by a leap, and by its trend
MOST_PACE: Final = 0.1  # of the period
LEAP: Final = 0.5  # … from which sampling is not uneven: the clock leaps
LONGEST_LOSS: Final = 64  # ticks that are given as rows of NaN; more is a restart

# a stream's state: integers, times in ns
(
    FRAMES,
    COUNTER,
    BACKWARDS,
    HELD,
    HOLDING,
    EVIDENCE,
    INDEX,
    FRESH,
    SLIP,
    MOST,
    WINDOW_FRAMES,
    WINDOW_EVIDENCE,
    CLOCK_INTEGERS,
) = range(13)
(
    INSTANT,
    ARRIVED,
    LATENESS,
    EARLIEST,
    LATEST,
    LEAST,
    SINCE,
    SHIFT,
    DECIDED,
    UNSURE,
    DRIFT,
    SLEW,
    WINDOW_LEAST,
    WINDOW_MOST,
    GAP,
    GAP_UNIT,
    HEARD,
    AWAY,
    FALLEN,
    OFF,
    BEHIND,
    PACE,
    EVENED,
    QUEUE,
    QUEUE_SINCE,
    CLOCK_FLOATS,
) = range(26)
# QUEUE: a window's least lateness beyond MOST_DRIFTED, and when it came down to it
# of a device that says when it sampled, in samples: what a frame is OFF the place that its number gives it (soon
# forgiven), and BEHIND its place among EVENED even ones, which are PACE longer than the period
HELD_INSTANT, HELD_LATENESS, HELD_ARRIVAL, HELD_FLOATS = range(4)  # of a frame that is held as late

IN_TIME, LATE, SETTLING = range(3)  # values of HELD
DUPLICATE, OUT_OF_ORDER, PLACED = range(3)  # what became of a frame

# totals by cause
LOST, LATE_ROWS, DUPLICATES, DISORDERED, INVALID, GLITCHES, RESTARTS, REJECTED, INTERPOLATED, CAUSES = range(10)


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
    too_late = late > RESTART_AFTER and (_stands(arrival, floats) or not queued)
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
        _even(steps, whole, floats)
    if counter >= 0:
        integers[COUNTER] = counter
    elif modulo > 0 and integers[COUNTER] >= 0:  # one without its counter
        integers[COUNTER] = (integers[COUNTER] + int(unit)) % modulo
    integers[FRAMES] += 1
    integers[INDEX] += step
    floats[ARRIVED] = arrival
    _take(instant, late, arrival, period, ticks, room, integers, floats, held, totals)
    return PLACED


@inline
def _take(
    instant: float,
    late: float,
    arrival: float,
    period: float,
    ticks: int,
    room: int,
    integers: NDArray[np.int64],
    floats: Floats,
    held: Floats,
    totals: NDArray[np.int64],
) -> None:
    """A frame that belongs to the stream, `late` (ns) after its instant: taken at once, or held until it is decided.

    ticks: that pass unseen while the counter turns once; the others as in `place`.
    """
    floats[LATENESS] = late
    floats[EARLIEST] = min(floats[EARLIEST], late)
    floats[LATEST] = max(floats[LATEST], late)
    suspicious = late >= SUSPICIOUS * ticks * period
    if integers[HELD] == IN_TIME and suspicious:
        _hold(LATE, arrival, integers, floats)
    elif integers[HELD] == LATE and not suspicious:  # a mere delay
        for frame in range(integers[HOLDING]):
            _gather(held[frame, HELD_LATENESS], integers, floats)
        integers[HELD] = IN_TIME
        integers[MOST] = min(max(integers[MOST], integers[EVIDENCE]), 100)
    if integers[HELD] == IN_TIME:
        _gather(late, integers, floats)
    else:
        own = held[integers[HOLDING]]
        own[HELD_INSTANT], own[HELD_LATENESS], own[HELD_ARRIVAL] = instant, late, arrival
        integers[HOLDING] += 1
        falls = late < floats[FALLEN] - 0.5 * period
        again = late > floats[FALLEN] + 4.0 * period + QUEUED  # held up once more
        if (falls or again) and (integers[HELD] == LATE or floats[AWAY] > 0.0):
            integers[EVIDENCE] = 0
            floats[FALLEN], floats[SINCE] = late, arrival  # LEAST stays: what is held from before is less late
        if _known(arrival, period, integers, floats):
            if integers[HELD] == LATE:
                _divide(period, ticks, integers, floats, held, totals)
            else:
                _settle(floats[EARLIEST], period, integers, floats, totals)
        elif integers[HOLDING] >= room:
            if integers[HELD] == SETTLING:
                _settle(_undelayed(floats), period, integers, floats, totals)
            integers[HELD] = IN_TIME
    floats[INSTANT] = instant + floats[SHIFT]
    if integers[HELD] == IN_TIME:
        floats[DECIDED] = np.inf
    if floats[DECIDED] > -np.inf:
        _learn(period, integers, floats)


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
        floats[SHIFT] = _undelayed(floats)
        _count_gap(period, floats, totals)
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
    _open_window(integers, floats)
    _hold(SETTLING, arrival, integers, floats)


@inline
def _even(steps: float, step: int, floats: Floats) -> None:
    """Where a frame stands among even ones, `steps` periods and `step` frames behind the one before.

    With r = behind + steps − step·(1 + pace): behind ← (1 − α) r, and after SURE frames pace ← pace + ¼α² r, critically
    damped; α is one over the frames so far, at least one over REMEMBERED. Even frames have r = 0 and stay where they
    are. Where r leaps, the frame is the first of its kind, and what r has grown by is the pace.
    """
    floats[OFF] = (1.0 - FORGIVEN) * (steps + floats[OFF] - step * (1.0 + floats[PACE]))
    apart = floats[BEHIND] + steps - step * (1.0 + floats[PACE])
    if abs(apart) > LEAP:
        if floats[EVENED] > YOUNG:
            floats[PACE] = min(max(floats[PACE] + apart / floats[EVENED], -MOST_PACE), MOST_PACE)
        floats[BEHIND], floats[EVENED] = 0.0, 1.0
        return
    floats[EVENED] = min(floats[EVENED] + 1.0, REMEMBERED)
    share = 1.0 / floats[EVENED]
    floats[BEHIND] = (1.0 - share) * apart
    if floats[EVENED] > SURE:
        floats[PACE] += 0.25 * share * share * apart


@inline
def _gather(late: float, integers: NDArray[np.int64], floats: Floats) -> None:
    """One more frame of the window, whose lateness is decided."""
    integers[WINDOW_FRAMES] += 1
    floats[WINDOW_LEAST] = min(floats[WINDOW_LEAST], late)
    floats[WINDOW_MOST] = max(floats[WINDOW_MOST], late)


@inline
def _learn(period: float, integers: NDArray[np.int64], floats: Floats) -> None:
    """Follow the window's least lateness; a window has eight frames that were not queued behind others."""
    if integers[WINDOW_FRAMES] >= WINDOW and integers[WINDOW_EVIDENCE] >= EVIDENCE_FRAMES:
        least, arrival = floats[WINDOW_LEAST], floats[ARRIVED]
        if least <= MOST_DRIFTED * period:
            floats[QUEUE] = 0.0
        elif floats[QUEUE] == 0.0 or (not _stands(arrival, floats) and least < floats[QUEUE] - MOST_DRIFTED * period):
            floats[QUEUE], floats[QUEUE_SINCE] = least, arrival
        queued = least > QUEUED and floats[WINDOW_MOST] - least > QUEUED
        if queued or least > RESTART_AFTER or (floats[QUEUE] > 0.0 and not _stands(arrival, floats)):
            floats[SLEW] = 0.0
            _open_window(integers, floats)
            return
        floats[SLEW] = PROPORTIONAL * floats[WINDOW_LEAST] / WINDOW
        drift = floats[DRIFT] + INTEGRAL * floats[WINDOW_LEAST] / (WINDOW * period)
        floats[DRIFT] = min(max(drift, -FASTEST_DRIFT), FASTEST_DRIFT)
        _open_window(integers, floats)


@inline
def _stands(arrival: float, floats: Floats) -> bool:
    """Whether frames are late for so long, and no less so, that no queue explains it: the device itself is late."""
    return bool(floats[QUEUE] > 0.0 and arrival - floats[QUEUE_SINCE] > RESTART_AFTER)


@inline
def _open_window(integers: NDArray[np.int64], floats: Floats) -> None:
    integers[WINDOW_FRAMES] = integers[WINDOW_EVIDENCE] = 0
    floats[WINDOW_LEAST], floats[WINDOW_MOST] = np.inf, -np.inf


@inline
def _hold(why: int, arrival: float, integers: NDArray[np.int64], floats: Floats) -> None:
    integers[HELD] = why
    integers[HOLDING] = 0
    integers[EVIDENCE] = 0
    floats[EARLIEST] = floats[LATEST] = floats[FALLEN] = floats[LATENESS]
    floats[LEAST] = np.inf
    floats[SINCE] = arrival


@inline
def _known(arrival: float, period: float, integers: NDArray[np.int64], floats: Floats) -> bool:
    """Whether the frames seen since holding began decide what happened."""
    if integers[HELD] == SETTLING:
        agree = floats[LATEST] - floats[EARLIEST] <= AGREEMENT * period
        return bool(integers[EVIDENCE] >= (EVIDENCE_FRAMES if agree else SETTLING_FRAMES))
    enough = integers[EVIDENCE] >= max(EVIDENCE_FRAMES, 3 * integers[MOST])
    return bool(enough and arrival - floats[SINCE] >= EVIDENCE_TIME)


@inline
def _undelayed(floats: Floats) -> float:
    """The setting as if a silence before it had cost nothing; without one, that of the earliest frame."""
    return float(min(floats[EARLIEST], -floats[AWAY]) if floats[AWAY] > 0.0 else floats[EARLIEST])


@inline
def _count_gap(period: float, floats: Floats, totals: NDArray[np.int64]) -> None:
    """What a silence cost, once the first frame after it has its place."""
    if floats[GAP] > 0.0:
        units = int(np.rint((floats[GAP] + floats[SHIFT]) / (floats[GAP_UNIT] * period)))
        totals[LOST] += max(0, units * int(floats[GAP_UNIT]))
    floats[GAP] = 0.0


@inline
def _settle(
    shift: float, period: float, integers: NDArray[np.int64], floats: Floats, totals: NDArray[np.int64]
) -> None:
    """The clock's first setting."""
    floats[SHIFT] = shift
    _count_gap(period, floats, totals)
    floats[AWAY] = 0.0
    floats[LATENESS] -= floats[SHIFT]
    floats[SLEW] = 0.0
    integers[HELD] = IN_TIME
    _open_window(integers, floats)


@inline
def _divide(
    period: float, ticks: int, integers: NDArray[np.int64], floats: Floats, held: Floats, totals: NDArray[np.int64]
) -> None:
    """Some are lost: move what is held, decide what is in time then, hold on to what follows the last such frame."""
    unit, count = ticks * period, integers[HOLDING]
    units = int(np.floor(min(floats[LEAST], floats[LATENESS]) / unit + 0.25))
    floats[SHIFT] = units * unit
    floats[LATENESS] -= floats[SHIFT]
    integers[SLIP] = units * ticks
    integers[INDEX] += units * ticks
    totals[LOST] += units * ticks
    first = 0
    for frame in range(count):
        held[frame, HELD_INSTANT] += floats[SHIFT]
        held[frame, HELD_LATENESS] -= floats[SHIFT]
        if held[frame, HELD_LATENESS] < SUSPICIOUS * unit:
            first = frame + 1
    for frame in range(first):
        _gather(held[frame, HELD_LATENESS], integers, floats)
        if held[frame, HELD_LATENESS] >= DOUBTFUL * unit:
            floats[UNSURE] = 1.0
    if first == count:
        integers[HELD] = IN_TIME
        return
    if first > 0:
        floats[DECIDED] = held[first - 1, HELD_INSTANT]
    integers[HOLDING], integers[EVIDENCE] = count - first, 0
    floats[SINCE], floats[LEAST] = held[first, HELD_ARRIVAL], np.inf
    for frame in range(first, count):
        held[frame - first, :] = held[frame]
        if frame + 1 < count and held[frame + 1, HELD_ARRIVAL] - held[frame, HELD_ARRIVAL] >= 0.5 * period:
            integers[EVIDENCE] += 1
            floats[LEAST] = min(floats[LEAST], held[frame, HELD_LATENESS])
