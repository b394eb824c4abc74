"""Rows of one joint in one compiled pass: seen, gated, learnt and judged, and summed for the fit, up to a review.

What `Phases.absorb` does step by step, for a joint as it nearly always is; it gives the same bits, and costs a fifth.
Rows of several joints, those before a start, and those between which the limits of standstill may change go step by
step.
"""

import numpy as np

from estimators.base import Phase
from estimators.conditioning.conditioner import ROOM
from estimators.numerics.jit import inline, kernel
from estimators.numerics.parcel import TABLE, Parcel, Table, cube, flags, integers, matrix, vector
from estimators.online.normal_loop import DUE, ENDLESS, EVERY, KEPT, LEARN, REVIEW, TAUGHT, advance
from estimators.online.phases import Phases
from estimators.online.report import IDLE
from estimators.online.standstill import Standstill, see
from estimators.quantities import Floats, Nanoseconds
from estimators.recursive import grain, held
from estimators.recursive.reversals import UNSEEN, turns
from estimators.recursive.witnesses import gather
from estimators.rows import WEIGHT, Rows
from estimators.window.row_history import append

# of a parcel
SEEN, REVERSAL, STATE, LIMITS, DEVIATIONS, SNAPSHOT, LAST_Y, SCRATCH, MEASURED, GRAIN, USUAL, HELD = range(12)
GATE, JUDGED, WEIGHTS, GOOD, LAST_PHI, WEIGHED_Y, PHI_BEFORE, JOINTS, OUTPUTS, TEMPERED_Y = range(10)
WEIGHED_PHI, PRODUCTS, TURNED, TEMPERED_PHI, TEMPERED_MOTION = range(5)
OWNERS, COUNTED, OUTPUTS_OF, CHOSEN, TOLD, RING, ADDED = range(7)
TAUGHT_ROWS, FINITE_ROWS, VALID = range(3)
PERIOD, SIGNAL, MEASURES = range(3)  # ns between rows; of a Learner
FASTER, REMEMBERS = range(2)  # see `advance` and `gather`
# of a pass of `walk`: rows before which limits stay as they are, 0 where it is not for it; number of the next row; the
# row from which a review is due, or whether each block ends with one; whether an alarm stands
ROWS, TOTAL, ALWAYS, AWAITED, ALARMED, FIGURES = range(6)


class Steady:
    """The way of rows past the phases of one estimator."""

    def __init__(self, phases: Phases, standstill: Standstill | None, formed: Rows) -> None:
        """standstill: what finds the limits of the gate, if anything does; formed: where a pass of `walk` has rows."""
        self._phases, self._standstill = phases, standstill
        parts = phases.parts
        self._loop, self._learner, self._history, self._fit = parts.loop, parts.learner, parts.history, parts.fit
        self._alone = len(parts.gate.kept.state) == 1
        self._plain = self._alone and parts.nonlinear is None  # whether `_temper` gives rows as they are learnt
        self._taught, self._finite = np.empty(ROOM, np.bool_), np.empty(ROOM, np.bool_)
        self._tempered = formed._replace(
            phi=np.empty_like(formed.phi), y=np.empty_like(formed.y), motion=np.empty_like(formed.motion)
        )
        self._told, self._measured = np.zeros(FIGURES, np.int64), np.zeros(MEASURES)
        self.parcel = self._gathered(np.zeros(4) if standstill is None else standstill.seen)
        self.ready()

    def _gathered(self, seen: Floats) -> Parcel:
        """What a pass walks over; seen: of a Standstill."""
        kept, learnt, instants, tempered = self._loop.kept, self._learner.kept, self._history.instants, self._tempered
        state, gate, limits, owners = self._loop.head
        judged, valid, deviations = self._loop.tail
        outputs_of, period, before, joints, sums, products, turned, scratch, remembers = self._fit.sums
        self._measured[PERIOD] = period
        outputs, parameters = kept.phi.shape
        weighed, weighed_y = np.empty((ROOM, outputs, parameters)), np.empty((ROOM, outputs))
        return Parcel(
            [
                *(seen, learnt.reversal, state, limits, deviations, kept.snapshot, kept.y, scratch, self._measured),
                *(learnt.grain, learnt.usual, learnt.held),
            ],
            [gate, judged, learnt.weights, kept.good, kept.phi, weighed_y, before, joints, sums, tempered.y],
            [weighed, products, turned, tempered.phi, tempered.motion],
            [
                *(owners, kept.counts, outputs_of, np.array([self._loop.faster, remembers], np.int64)),
                *(self._told, instants.ring, instants.count),
            ],
            flags=[self._taught, self._finite, valid],
        )

    def ready(self) -> None:
        """What the next pass of `walk` goes by, as it is decided by now."""
        phases, still, due = self._phases, self._standstill, self._phases.due()
        phase, rows = phases.kept.phase, 0
        if self._plain and self._fit.active and phase not in IDLE:
            rows = ENDLESS if still is None else still.left
        self._told[:] = rows, self._history.kept.total, due is None, due or 0, phase is Phase.TRANSIENT
        self._measured[SIGNAL] = self._learner.kept.signal

    def absorb(self, rows: Rows) -> int:
        """Take rows from the first on; returns how many: none where they have to go step by step."""
        count, phases, loop, still = len(rows.time), self._phases, self._loop, self._standstill
        if phases.kept.phase in IDLE or not self._alone or count > ROOM or len(rows.motion) != count:
            return 0
        if still is not None and count >= still.left:
            return 0
        due = phases.due()
        shaped, before = loop.shape(rows), self._history.kept.total
        taken, taught, finite, review = _pass(
            shaped.time, shaped.phi, shaped.y, shaped.speed, shaped.motion, before, due is None, due or 0,
            self._learner.kept.signal, self.parcel.table,
        )  # fmt: skip
        own = shaped if taken == count else shaped.part(slice(taken))
        self._history.absorb(own, None if finite == taken else self._finite[:taken])
        self._took(shaped, int(shaped.time[taken - 1]), taken, int(taught), review != 0)
        return taken

    def passed(self, last: int, taken: int, taught: int, finite: int, review: bool) -> None:
        """A pass of `walk` has taken so many of the rows that it has formed, up to this instant (ns), as `_pass`."""
        self._history.kept.total += finite
        self._took(self._tempered, last, taken, taught, review)

    def _took(self, rows: Rows, last: int, taken: int, taught: int, review: bool) -> None:
        """The first of these rows have been learnt; last: ns, of the last one."""
        phases, starting = self._phases, self._phases.kept.phase is Phase.STARTING
        if taught:
            self._fit.active = True
            if self._fit.reads:
                self._fit.keep(rows.part(np.flatnonzero(self._taught[:taken])), self._learner.reversal)
        if self._standstill is not None:
            self._standstill.looked(taken)
        self._loop.note(last, taught)
        if starting or self._learner.unexcited.open:
            part = rows.part(np.flatnonzero(self._taught[:taken]))
            self._learner.unexcited.add(part.phi, self._learner.rls.noise)
            if starting:
                phases.parts.start.absorb(part)
        if review:
            phases.review()


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


@kernel(f"UniTuple(i8, 4)(i8, i8[::1], f8[:, :, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1], {TABLE})")
def learn_formed(
    count: int, time: Nanoseconds, phi: Floats, y: Floats, speed: Floats, motion: Floats, table: Table
) -> tuple[int, int, int, int]:
    """Rows of a Conditioner, the first `count` of what it has room for, as `_pass`; none where a pass cannot.

    table: of a Steady.
    """
    told, owners = integers(table, TOLD), integers(table, OUTPUTS_OF)
    if count >= told[ROWS]:
        return 0, 0, 0, 0
    own_phi, own_y, own_motion = cube(table, TEMPERED_PHI), matrix(table, TEMPERED_Y), cube(table, TEMPERED_MOTION)
    for row in range(count):
        for output in range(y.shape[1]):
            own_y[row, output] = y[row, output]
            for column in range(phi.shape[2]):
                own_phi[row, output, column] = phi[row, output, column]
        for joint in range(motion.shape[1]):
            for which in range(motion.shape[2]):
                own_motion[row, joint, which] = motion[row, joint, which]
    own_phi, own_y, own_motion = own_phi[:count], own_y[:count], own_motion[:count]
    grain.weigh(own_phi, own_y, own_motion, vector(table, GRAIN), vector(table, USUAL), owners)
    held.weigh(own_phi, own_y, own_motion, vector(table, HELD), owners)
    taken, taught, finite, review = _pass(
        time[:count], own_phi, own_y, speed[:count], own_motion, told[TOTAL], told[ALWAYS] == 1, told[AWAITED],
        vector(table, MEASURED)[SIGNAL], table,
    )  # fmt: skip
    told[ROWS] -= taken
    told[TOTAL] += finite
    for row in range(taken):
        if flags(table, FINITE_ROWS)[row]:
            append(time[row], integers(table, RING), integers(table, ADDED))
    return taken, taught, finite, review
