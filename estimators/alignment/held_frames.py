"""Frames that are late: held until it is known whether they were delayed or follow lost ones (see device_clock)."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.alignment.clock_rate import (
    EVIDENCE_FRAMES,
    QUEUED,
    gather,
    learn,
    open_window,
)
from estimators.alignment.clock_state import (
    AWAY,
    DECIDED,
    EARLIEST,
    EVIDENCE,
    FALLEN,
    GAP,
    GAP_UNIT,
    HELD,
    HELD_ARRIVAL,
    HELD_INSTANT,
    HELD_LATENESS,
    HOLDING,
    IN_TIME,
    INDEX,
    INSTANT,
    LATE,
    LATENESS,
    LATEST,
    LEAST,
    LOST,
    MOST,
    SETTLING,
    SHIFT,
    SINCE,
    SLEW,
    SLIP,
    UNSURE,
)
from estimators.numerics.jit import inline
from estimators.quantities import Floats

SUSPICIOUS: Final = 0.75  # units
DOUBTFUL: Final = 0.5  # units of jitter beside which the place of a loss is a guess
SETTLING_FRAMES: Final = 32
AGREEMENT: Final = 0.1  # periods
EVIDENCE_TIME: Final = 50e6  # ns


@inline
def take(
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
        hold(LATE, arrival, integers, floats)
    elif integers[HELD] == LATE and not suspicious:  # a mere delay
        for frame in range(integers[HOLDING]):
            gather(held[frame, HELD_LATENESS], integers, floats)
        integers[HELD] = IN_TIME
        integers[MOST] = min(max(integers[MOST], integers[EVIDENCE]), 100)
    if integers[HELD] == IN_TIME:
        gather(late, integers, floats)
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
                _settle(undelayed(floats), period, integers, floats, totals)
            integers[HELD] = IN_TIME
    floats[INSTANT] = instant + floats[SHIFT]
    if integers[HELD] == IN_TIME:
        floats[DECIDED] = np.inf
    if floats[DECIDED] > -np.inf:
        learn(period, integers, floats)


@inline
def hold(why: int, arrival: float, integers: NDArray[np.int64], floats: Floats) -> None:
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
def undelayed(floats: Floats) -> float:
    """The setting as if a silence before it had cost nothing; without one, that of the earliest frame."""
    return float(min(floats[EARLIEST], -floats[AWAY]) if floats[AWAY] > 0.0 else floats[EARLIEST])


@inline
def count_gap(period: float, floats: Floats, totals: NDArray[np.int64]) -> None:
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
    count_gap(period, floats, totals)
    floats[AWAY] = 0.0
    floats[LATENESS] -= floats[SHIFT]
    floats[SLEW] = 0.0
    integers[HELD] = IN_TIME
    open_window(integers, floats)


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
        gather(held[frame, HELD_LATENESS], integers, floats)
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
