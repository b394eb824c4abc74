"""Readings of a joint → what is known of it, in one compiled pass for as far as there is nothing to decide.

    readings → samples → regression rows → gate, learner, judgement, sums of the fit → figures of its estimate

Samples are taken up to the first that begins a publishing interval, then those behind it where the update that it makes
due does not depend on them. A pass ends before what needs Python: odd samples, rows that go step by step, those of a
start that ends with a search, a review; `found` says how far it came, and Python goes on from there, to the same bits.
A joint's arrays are one table (parcel.py), so a kernel can walk over all joints of a robot whatever their models.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from estimators.alignment.clock_state import LONGEST_LOSS
from estimators.alignment.resampler import OUT_ROWS, OUT_TICKS, align
from estimators.conditioning.front import COUNTED, ODD, PASSED, none_due, through
from estimators.conditioning.row_kernels import (
    ROWS_MOTION,
    ROWS_PHI,
    ROWS_SAMPLES,
    ROWS_SPEED,
    ROWS_TIME,
    ROWS_Y,
    form,
)
from estimators.numerics.jit import inline, kernel
from estimators.numerics.parcel import TABLE, Table, cube, inner, integers, matrix
from estimators.online.inspection import look
from estimators.online.report import figures
from estimators.online.steady import ALARMED, ALWAYS, ROWS, TOLD, learn_formed
from estimators.quantities import Floats, Nanoseconds
from jointwatch_layout import by_address

# intervals of ticks: the number of that of the last tick, their length and where they are counted from, ns
LAST, INTERVAL, OFFSET, INTERVALS = range(4)
# of a joint's parcel; of its estimator's
(SEEN, SLOTS), (ALIGNED, ESTIMATOR) = range(2), range(2)
FRONT, CONDITIONER, STEADY, INSPECTOR, REPORT = range(5)
# what a pass has found
HEARD: Final = 0  # readings that were taken
COUNT: Final = 1  # samples of them that have left
TAKEN: Final = 2  # of these, the first; 0 where something is odd
BEGUN: Final = 3  # whether an interval begins with the last that was taken
INSTANT: Final = 4  # ns, of the last row that was learnt
TICK: Final = 5  # ns, of the last that was taken
DUE: Final = 6  # windows of regression rows
FORMED: Final = 7  # rows that they gave; -1: they are still to be formed
LEARNT: Final = 8  # of the rows
TAUGHT: Final = 9  # of those
FINITE: Final = 10  # … with a finite output
REVIEW: Final = 11  # whether one follows
FIGURED: Final = 12  # whether the figures of an estimate are there: CERTAIN, RESTING
CERTAIN: Final = 13
RESTING: Final = 14
ARRIVAL: Final = 15  # ns, of the last reading
TORN: Final = 16  # whether there are more samples than have room: the others are to be gathered
FIRST: Final = 17  # rows without wild samples: from and to which they lie
LAST_PASSED: Final = 18
FOUND: Final = 19


@inline
def _take(
    first: int, taken: int, late: bool, slots: NDArray[np.int64], aligned: Table, front: Table, found: NDArray[np.int64]
) -> None:
    """Samples from the first on, up to the first that begins an interval → windows that are due.

    taken: how many there are.
    """
    ticks, rows = integers(aligned, OUT_TICKS)[first : first + taken], matrix(aligned, OUT_ROWS)[first : first + taken]
    now, count = slots[LAST], 0
    while count < taken and now == slots[LAST]:
        now = (ticks[count] - slots[OFFSET]) // slots[INTERVAL]
        count += 1
    begun = now > slots[LAST]
    if now < slots[LAST] or (late and count < taken) or (first > 0 and begun):
        return
    passed = integers(front, COUNTED)[PASSED] if first > 0 else 0
    due = through(ticks[:count], rows[:count], passed, front)
    if due == ODD:
        return
    found[TAKEN], found[TICK], found[DUE], found[BEGUN] = count, ticks[count - 1], due, begun
    found[FIRST], found[LAST_PASSED] = passed, integers(front, COUNTED)[PASSED]
    slots[LAST] = now


@inline
def _learn(found: NDArray[np.int64], estimator: Table) -> None:
    """Windows that are due → rows, learnt."""
    conditioner = inner(estimator, CONDITIONER)
    count = form(found[DUE], conditioner)
    found[FORMED] = count
    if count <= 0:
        return
    time, phi, y = integers(conditioner, ROWS_TIME), cube(conditioner, ROWS_PHI), matrix(conditioner, ROWS_Y)
    speed, motion = matrix(conditioner, ROWS_SPEED), cube(conditioner, ROWS_MOTION)
    samples = cube(conditioner, ROWS_SAMPLES)
    taken, taught, finite, review = learn_formed(count, time, phi, y, speed, samples, motion, inner(estimator, STEADY))
    found[LEARNT], found[TAUGHT], found[FINITE], found[REVIEW] = taken, taught, finite, review
    if taken > 0:
        found[INSTANT] = time[taken - 1]
        look(count, time, phi, y, speed, samples, motion, inner(estimator, INSPECTOR))


@inline
def _tell(found: NDArray[np.int64], estimator: Table) -> bool:
    """Figures of the estimate where they are due; whether nothing that Python is still to tell of depends on rows."""
    told = integers(inner(estimator, STEADY), TOLD)
    whole = found[FORMED] >= 0 and found[LEARNT] == found[FORMED] and found[REVIEW] == 0
    if found[BEGUN] == 0 or not whole or told[ROWS] <= 0:
        return False
    certain, resting = figures(False, told[ALARMED] == 1, inner(estimator, REPORT))
    found[FIGURED], found[CERTAIN], found[RESTING] = 1, certain, resting
    return certain and told[ALWAYS] == 0


ARGUMENTS: Final = (
    *("Array(i8, 1, 'A', readonly=True)", "Array(f8, 1, 'A', readonly=True)", "Array(i4, 1, 'A', readonly=True)"),
    *("b1", TABLE, "i8[:, ::1]"),
)


@kernel(ARGUMENTS)
def walk(
    times: Nanoseconds,
    values: Floats,
    columns: NDArray[np.int32],
    late: bool,
    joint: Table,
    found: NDArray[np.int64],
) -> None:
    """Readings of one joint in order of arrival, as far as they go.

    times (readings,) ns; values SI; columns: of the samples; late: whether intervals may only begin with the last
    sample; joint: its parcel's table; found (2, FOUND): up to the first sample that begins an interval, and of those
    behind it, where they begin no other and what is still to be told of the first does not depend on them.
    """
    seen, slots, estimator, aligned = (
        integers(joint, SEEN),
        integers(joint, SLOTS),
        inner(joint, ESTIMATOR),
        inner(joint, ALIGNED),
    )
    front = inner(estimator, FRONT)
    for i in range(len(times)):
        seen[columns[i]] = times[i]
    found[:] = 0
    heard, count = align(times, values, columns, 0, aligned)
    found[0, HEARD], found[0, COUNT] = heard, count
    found[0, ARRIVAL] = times[len(times) - 1]
    found[0, TORN] = heard != len(times) or count >= len(integers(aligned, OUT_TICKS)) - LONGEST_LOSS
    if found[0, TORN] == 1 or count == 0:
        return
    _take(0, count, late, slots, aligned, front, found[0])
    if found[0, DUE] > 0:
        _learn(found[0], estimator)
    settled, taken = _tell(found[0], estimator), found[0, TAKEN]
    if 0 < taken < count and (settled or none_due(count - taken, front)):
        _take(taken, count - taken, late, slots, aligned, front, found[1])
        if found[1, DUE] > 0:
            _learn(found[1], estimator)


# within a kernel: `walk` out of a parcel, and its arguments
pass_on: Final[Any] = by_address("void", *ARGUMENTS)
