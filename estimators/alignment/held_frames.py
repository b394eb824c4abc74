"""Frames that are late: held until it is known whether they were delayed or follow lost ones (see device_clock)."""

from typing import Final

import numpy as np

from estimators.alignment.clock_rate import EVIDENCE_FRAMES, QUEUED, gather, learn, open_window
from estimators.alignment.clock_state import IN_TIME, LATE, SETTLING, SPARE, ClockState, Totals
from estimators.numerics.jit import inline

#: units, argued: A frame that is later by this share of a turn may follow lost ones, and is held until that is known.
SUSPICIOUS: Final = 0.75
#: units, derived: With more jitter than half a unit the place of a loss is a guess.
DOUBTFUL: Final = 0.5
#: periods, argued: A held frame that is later than the last by this much (and QUEUED) was held up once more.
HELD_AGAIN: Final = 4.0
#: units, tuned: A lateness is rounded down to whole units of loss with this much to spare: origin not recorded.
LOST_FROM: Final = 0.25
#: frames, argued: Frames that set a clock when they do not agree.
SETTLING_FRAMES: Final = 32
#: periods, argued: Frames whose lateness spreads by less agree, and then EVIDENCE_FRAMES of them are enough.
AGREEMENT: Final = 0.1
#: ns, argued: Time over which frames must be late before a loss is believed; a bus that is held up drains sooner.
EVIDENCE_TIME: Final = 50e6


@inline
def take(instant: float, late: float, clock: ClockState, totals: Totals) -> None:
    """A frame that belongs to the stream, `late` (ns) after its instant: taken at once, or held until it is decided."""
    period, held = clock.period, clock.held
    clock.lateness = late
    clock.earliest = min(clock.earliest, late)
    clock.latest = max(clock.latest, late)
    suspicious = late >= SUSPICIOUS * clock.turn * period
    if clock.mode == IN_TIME and suspicious:
        hold(LATE, clock)
    elif clock.mode == LATE and not suspicious:  # a mere delay
        for frame in range(held.count):
            gather(held.lateness[frame], clock)
        clock.mode = IN_TIME
        clock.most = min(max(clock.most, clock.evidence), 100)
    if clock.mode == IN_TIME:
        gather(late, clock)
    else:
        at = held.count
        held.instants[at], held.lateness[at], held.arrivals[at] = instant, late, clock.arrival
        held.count += 1
        falls = late < clock.fallen - 0.5 * period
        again = late > clock.fallen + HELD_AGAIN * period + QUEUED  # held up once more
        if (falls or again) and (clock.mode == LATE or clock.away > 0.0):
            clock.evidence = 0
            clock.fallen, clock.since = late, clock.arrival  # `least` stays: what is held from before is less late
        if _known(clock):
            if clock.mode == LATE:
                _divide(clock, totals)
            else:
                _settle(clock.earliest, clock, totals)
        elif held.count >= len(held.instants) - SPARE:
            if clock.mode == SETTLING:
                _settle(undelayed(clock), clock, totals)
            clock.mode = IN_TIME
    clock.instant = instant + clock.shift
    if clock.mode == IN_TIME:
        clock.decided = np.inf
    if clock.decided > -np.inf:
        learn(clock)


@inline
def hold(why: int, clock: ClockState) -> None:
    """Hold frames from now on; why: LATE or SETTLING."""
    clock.mode = why
    clock.held.count = 0
    clock.evidence = 0
    clock.earliest = clock.latest = clock.fallen = clock.lateness
    clock.least = np.inf
    clock.since = clock.arrival


@inline
def _known(clock: ClockState) -> bool:
    """Whether the frames seen since holding began decide what happened."""
    if clock.mode == SETTLING:
        agree = clock.latest - clock.earliest <= AGREEMENT * clock.period
        return clock.evidence >= (EVIDENCE_FRAMES if agree else SETTLING_FRAMES)
    enough = clock.evidence >= max(EVIDENCE_FRAMES, 3 * clock.most)
    return enough and clock.arrival - clock.since >= EVIDENCE_TIME


@inline
def undelayed(clock: ClockState) -> float:
    """The setting as if a silence before it had cost nothing; without one, that of the earliest frame."""
    return min(clock.earliest, -clock.away) if clock.away > 0.0 else clock.earliest


@inline
def count_gap(clock: ClockState, totals: Totals) -> None:
    """What a silence cost, once the first frame after it has its place."""
    if clock.gap > 0.0:
        units = int(np.rint((clock.gap + clock.shift) / (clock.gap_unit * clock.period)))
        totals.lost += max(0, units * clock.gap_unit)
    clock.gap = 0.0


@inline
def _settle(shift: float, clock: ClockState, totals: Totals) -> None:
    """The clock's first setting."""
    clock.shift = shift
    count_gap(clock, totals)
    clock.away = 0.0
    clock.lateness -= shift
    clock.slew = 0.0
    clock.mode = IN_TIME
    open_window(clock)


@inline
def _divide(clock: ClockState, totals: Totals) -> None:
    """Some are lost: move what is held, decide what is in time then, hold on to what follows the last such frame."""
    instants, lateness, arrivals = clock.held.instants, clock.held.lateness, clock.held.arrivals
    unit, count = clock.turn * clock.period, clock.held.count
    units = int(np.floor(min(clock.least, clock.lateness) / unit + LOST_FROM))
    shift, slip = units * unit, units * clock.turn
    clock.shift, clock.slip = shift, slip
    clock.lateness -= shift
    clock.index += slip
    totals.lost += slip
    first = 0
    for frame in range(count):
        instants[frame] += shift
        lateness[frame] -= shift
        if lateness[frame] < SUSPICIOUS * unit:
            first = frame + 1
    for frame in range(first):
        gather(lateness[frame], clock)
        if lateness[frame] >= DOUBTFUL * unit:
            clock.unsure = True
    if first == count:
        clock.mode = IN_TIME
        return
    if first > 0:
        clock.decided = instants[first - 1]
    clock.held.count, clock.evidence = count - first, 0
    clock.since, clock.least = arrivals[first], np.inf
    for frame in range(first, count):
        to = frame - first
        instants[to], lateness[to], arrivals[to] = instants[frame], lateness[frame], arrivals[frame]
        if frame + 1 < count and arrivals[frame + 1] - arrivals[frame] >= 0.5 * clock.period:
            clock.evidence += 1
            clock.least = min(clock.least, lateness[frame])
