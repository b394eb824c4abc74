"""Readings of a joint → what is known of it, in one compiled pass for as far as there is nothing to decide.

    readings → samples → regression rows → gate, learner, judgement, sums of the fit → figures of its estimate

Samples are taken up to the first that begins a publishing interval. A pass ends before what needs Python: samples that
are odd, a model whose columns are not plain, rows that go step by step, a review; `found` says how far it came, and
Python goes on from there, to the same bits. A joint's arrays are one table (parcel.py), so a kernel can walk over all
joints of a robot whatever their models.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.alignment.clock_state import LONGEST_LOSS
from estimators.alignment.resampler import OUT_ROWS, OUT_TICKS, align
from estimators.conditioning.front import ODD, through
from estimators.conditioning.row_kernels import ROWS_MOTION, ROWS_PHI, ROWS_SPEED, ROWS_TIME, ROWS_Y, form
from estimators.numerics.jit import inline, kernel
from estimators.numerics.parcel import TABLE, Table, cube, inner, integers, matrix
from estimators.online.inspection import look
from estimators.online.report import figures
from estimators.online.steady import ALARMED, ROWS, TOLD, learn_formed
from estimators.quantities import Floats, Nanoseconds

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
NEWEST: Final = 4  # ns, of the last sample
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
FOUND: Final = 15


@inline
def _arrive(
    times: Nanoseconds,
    values: Floats,
    columns: NDArray[np.int32],
    late: bool,
    slots: NDArray[np.int64],
    aligned: Table,
    front: Table,
    found: NDArray[np.int64],
) -> None:
    """Readings → samples, and those up to the first that begins an interval → windows that are due."""
    heard, count = align(times, values, columns, 0, aligned)
    found[HEARD], found[COUNT] = heard, count
    if heard != len(times) or count == 0 or count >= len(integers(aligned, OUT_TICKS)) - LONGEST_LOSS:
        return
    ticks, rows = integers(aligned, OUT_TICKS)[:count], matrix(aligned, OUT_ROWS)[:count]
    found[NEWEST], now, taken = ticks[count - 1], slots[LAST], 0
    while taken < count and now == slots[LAST]:
        now = (ticks[taken] - slots[OFFSET]) // slots[INTERVAL]
        taken += 1
    if now < slots[LAST] or (late and taken < count):
        return
    due = through(ticks[:taken], rows[:taken], front)
    if due == ODD:
        return
    found[TAKEN], found[TICK], found[DUE], found[BEGUN] = taken, ticks[taken - 1], due, now > slots[LAST]
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
    taken, taught, finite, review = learn_formed(count, time, phi, y, speed, motion, inner(estimator, STEADY))
    found[LEARNT], found[TAUGHT], found[FINITE], found[REVIEW] = taken, taught, finite, review
    if taken > 0:
        look(count, time, phi, y, speed, motion, inner(estimator, INSPECTOR))


@kernel(
    "void(Array(i8, 1, 'A', readonly=True), Array(f8, 1, 'A', readonly=True), Array(i4, 1, 'A', readonly=True), b1, "
    f"{TABLE}, i8[::1])"
)
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
    sample; joint: its parcel's table; found: (FOUND,).
    """
    seen, estimator = integers(joint, SEEN), inner(joint, ESTIMATOR)
    for i in range(len(times)):
        seen[columns[i]] = times[i]
    found[:] = 0
    _arrive(times, values, columns, late, integers(joint, SLOTS), inner(joint, ALIGNED), inner(estimator, FRONT), found)
    if found[DUE] > 0:
        _learn(found, estimator)
    told = integers(inner(estimator, STEADY), TOLD)
    whole = found[FORMED] >= 0 and found[LEARNT] == found[FORMED] and found[REVIEW] == 0
    if found[BEGUN] == 1 and whole and told[ROWS] > 0:
        certain, resting = figures(False, told[ALARMED] == 1, inner(estimator, REPORT))
        found[FIGURED], found[CERTAIN], found[RESTING] = 1, certain, resting
