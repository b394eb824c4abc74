"""Rows of one joint in one compiled pass: seen, gated, learnt and judged, and summed for the fit, up to a review.

What `Phases.absorb` does step by step, for a joint as it nearly always is; it gives the same bits, and costs a fifth.
Rows of several joints, those before a start, and those between which the limits of standstill may change go step by
step.
"""

from typing import Final

import numpy as np

from estimators.base import Phase
from estimators.numerics.jit import inline, kernel
from estimators.numerics.parcel import TABLE, Parcel, Table, cube, flags, integers, matrix, vector
from estimators.online.normal_loop import DUE, ENDLESS, EVERY, KEPT, LEARN, REVIEW, TAUGHT, advance
from estimators.online.phases import Phases
from estimators.online.report import IDLE
from estimators.online.standstill import Standstill, see
from estimators.quantities import Floats, Nanoseconds
from estimators.recursive.reversals import UNSEEN, turns
from estimators.recursive.witnesses import gather
from estimators.rows import WEIGHT, Rows

ROOM: Final = 64  # rows at once
# of a parcel
SEEN, REVERSAL, STATE, LIMITS, DEVIATIONS, SNAPSHOT, LAST_Y, SCRATCH, MEASURED = range(9)
GATE, JUDGED, WEIGHTS, GOOD, LAST_PHI, WEIGHED_Y, PHI_BEFORE, JOINTS, OUTPUTS = range(9)
WEIGHED_PHI, PRODUCTS, TURNED = range(3)
OWNERS, COUNTED, OUTPUTS_OF, CHOSEN = range(4)
TAUGHT_ROWS, FINITE_ROWS, VALID = range(3)
PERIOD, MEASURES = range(2)  # ns between rows
FASTER, REMEMBERS, CHOICES = range(3)  # see `advance` and `gather`


class Steady:
    """The way of rows past the phases of one estimator."""

    def __init__(self, phases: Phases, standstill: Standstill | None) -> None:
        """standstill: what finds the limits of the gate, if anything does."""
        self._phases, self._standstill = phases, standstill
        parts = phases.parts
        self._loop, self._learner, self._history, self._fit = parts.loop, parts.learner, parts.history, parts.fit
        self._alone = len(parts.gate.kept.state) == 1
        self._taught, self._finite = np.empty(ROOM, np.bool_), np.empty(ROOM, np.bool_)
        outputs, parameters = parts.loop.kept.phi.shape
        self._parcel = self._gathered(np.zeros(4) if standstill is None else standstill.seen, outputs, parameters)

    def _gathered(self, seen: Floats, outputs: int, parameters: int) -> Parcel:
        """What a pass walks over; seen: of a Standstill."""
        kept, learner = self._loop.kept, self._learner
        state, gate, limits, owners = self._loop.head
        judged, valid, deviations = self._loop.tail
        outputs_of, period, before, joints, sums, products, turned, scratch, remembers = self._fit.sums
        return Parcel(
            [seen, learner.reversal, state, limits, deviations, kept.snapshot, kept.y, scratch, np.array([period])],
            [
                gate,
                judged,
                learner.kept.weights,
                kept.good,
                kept.phi,
                np.empty((ROOM, outputs)),
                before,
                joints,
                sums,
            ],
            [np.empty((ROOM, outputs, parameters)), products, turned],
            [owners, kept.counts, outputs_of, np.array([self._loop.faster, remembers], np.int64)],
            flags=[self._taught, self._finite, valid],
        )

    def absorb(self, rows: Rows) -> int:
        """Take rows from the first on; returns how many: none where they have to go step by step."""
        count, phases, loop = len(rows.time), self._phases, self._loop
        phase, still = phases.kept.phase, self._standstill
        if phase in IDLE or not self._alone or count > ROOM or len(rows.motion) != count:
            return 0
        if still is not None and not still.holds(count):
            return 0
        due = phases.due()
        shaped, before = loop.shape(rows), self._history.kept.total
        taken, taught, finite, review = _pass(
            shaped.time, shaped.phi, shaped.y, shaped.speed, shaped.motion, before, due is None, due or 0,
            self._learner.kept.signal, self._parcel.table,
        )  # fmt: skip
        if taught:
            self._fit.active = True
        if still is not None:
            still.looked(taken)
        own = shaped if taken == count else shaped.part(slice(taken))
        loop.note(own, int(taught), None if finite == taken else self._finite[:taken])
        if phase is Phase.STARTING or self._learner.unexcited.open:
            part = own if taught == taken else own.part(np.flatnonzero(self._taught[:taken]))
            self._learner.unexcited.add(part.phi, self._learner.rls.noise)
            if phase is Phase.STARTING:
                phases.parts.start.absorb(part)
        if review:
            phases.review()
        return taken


@inline
def _weigh(
    phi: Floats,
    y: Floats,
    speed: Floats,
    motion: Floats,
    reversal: Floats,
    slow: float,
    out_phi: Floats,
    out_y: Floats,
) -> None:
    """Rows as they are learnt (see reversals.py); slow: rad/s (m/s)."""
    for row in range(len(y)):
        seen = turns(motion[row, 0, 1], speed[row, 0], slow)
        for output in range(len(reversal)):
            factor = reversal[output] if seen else 1.0
            out_y[row, output] = factor * y[row, output]
            for column in range(phi.shape[2]):
                out_phi[row, output, column] = factor * phi[row, output, column]


@kernel("UniTuple(i8, 4)(i8[::1], f8[:, :, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1], i8, b1, i8, f8, " + TABLE + ")")
def _pass(
    time: Nanoseconds,
    phi: Floats,
    y: Floats,
    speed: Floats,
    motion: Floats,
    before: int,
    every: bool,
    due: int,
    signal: float,
    table: Table,
) -> tuple[int, int, int, int]:
    """Rows up to a review; returns how many, how many of them taught, those with a finite output, whether it is due.

    before: number of the first row; every, due: whether each block ends with a review, else the row from which one
    does; signal: of a Learner; table: of a Steady.
    """
    reversal, limits, counts = vector(table, REVERSAL), vector(table, LIMITS), integers(table, COUNTED)
    taught, last_phi, last_y = flags(table, TAUGHT_ROWS), matrix(table, LAST_PHI), vector(table, LAST_Y)
    slow = max(limits[0], UNSEEN)
    learnt_phi, learnt_y, usual = phi, y, True
    for output in range(len(reversal)):
        usual = usual and reversal[output] == 1.0
    if not usual:
        learnt_phi, learnt_y = cube(table, WEIGHED_PHI)[: len(time)], matrix(table, WEIGHED_Y)[: len(time)]
        _weigh(phi, y, speed, motion, reversal, slow, learnt_phi, learnt_y)
    counts[KEPT], counts[TAUGHT], counts[EVERY], counts[LEARN] = before, 0, every, 1
    counts[DUE] = ENDLESS if every else due
    least = limits[0] if integers(table, CHOSEN)[FASTER] == 1 else 0.0
    taken = advance(
        vector(table, STATE), matrix(table, GATE), limits, integers(table, OWNERS), learnt_phi, learnt_y, speed, least,
        taught, flags(table, FINITE_ROWS), counts, matrix(table, WEIGHTS), signal, matrix(table, JUDGED),
        flags(table, VALID), vector(table, DEVIATIONS), matrix(table, GOOD), vector(table, SNAPSHOT),
    )  # fmt: skip
    for row in range(taken):
        see(speed[row, 0], motion[row, 0, 0], vector(table, SEEN))
        if taught[row]:
            one = slice(row, row + 1)
            gather(
                time[one], phi[one], y[one], speed[one], motion[one], slow, integers(table, OUTPUTS_OF),
                vector(table, MEASURED)[PERIOD], matrix(table, PHI_BEFORE), matrix(table, JOINTS),
                matrix(table, OUTPUTS), cube(table, PRODUCTS), cube(table, TURNED), vector(table, SCRATCH),
                integers(table, CHOSEN)[REMEMBERS] == 1,
            )  # fmt: skip
    for output in range(len(last_y)):
        weight = motion[taken - 1, integers(table, OUTPUTS_OF)[output], WEIGHT]
        last_y[output] = y[taken - 1, output] / weight
        for column in range(last_phi.shape[1]):
            last_phi[output, column] = phi[taken - 1, output, column] / weight
    return taken, counts[TAUGHT], counts[KEPT] - before, counts[REVIEW]
