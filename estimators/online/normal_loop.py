"""Rows in, compiled: gated, learnt and judged, block by block, until there is something to decide.

A row is a few dozen multiplications, and Python's decisions around it would cost a hundred times as much; in normal
mode there is nothing to decide until an alarm comes, the joint comes to rest or moves again, a test of the monitor is
due, or something is sick. Then the block ends before its review, which is Python's (phases.py). In every other phase
each block ends so. What is published while an alarm stands, and what is gone back to when nothing had changed, is
remembered here and nowhere else, while nothing points to an alarm.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.online.events import EventLog
from estimators.online.gate import Gate, at_rest, may_teach
from estimators.online.motion import Motion
from estimators.online.validity import Validity, healthy, judge_learner
from estimators.quantities import Floats
from estimators.recursive import reversals
from estimators.recursive import state as at
from estimators.recursive.grain import told
from estimators.recursive.kernel import learn
from estimators.recursive.learner import Learner
from estimators.rows import Rows
from estimators.window.row_history import RowHistory

REVIEW_EVERY: Final = 0.1  # s between two decisions
ENDLESS: Final = 1 << 40  # rows

FILLED, BLOCK, TAUGHT, KEPT, DUE, SEEN, ALARMS, HELD, LEARN, EVERY, REVIEW, COUNTS = range(12)
# FILLED rows of the current block of BLOCK rows; rows TAUGHT; of them KEPT, with a finite output; KEPT from which a
# test is DUE; KEPT when the state was last remembered (SEEN); ALARMS that have been looked at; whether the joint is
# known to be at rest (HELD); whether rows are learnt (LEARN), and a review follows EVERY block; whether one follows now


@dataclass(slots=True)
class LoopKept:
    """What a NormalLoop keeps."""

    VERSION: ClassVar[int] = 1

    counts: NDArray[np.int64]  # (COUNTS,) as above
    good: Floats  # (2, parameters) values and deviations while nothing pointed to an alarm
    snapshot: Floats  # the learner's state then, in motion; of length 0 where nobody goes back to it
    phi: Floats  # (outputs, parameters) of the last row
    y: Floats  # (outputs,)


class Taken(NamedTuple):
    """Rows that a loop has taken."""

    rows: Rows
    taught: NDArray[np.bool_]  # (rows,) which of them taught, whether finite or not
    review: bool  # whether a block has ended with something to decide
    every: bool  # whether all of them taught

    def part(self) -> Rows:
        """Those that taught."""
        return self.rows if self.every else self.rows.part(np.flatnonzero(self.taught))


class NormalLoop:
    """Runs rows through gate, learner and validity."""

    WORKING: ClassVar[frozenset[str]] = frozenset({"_taught", "_finite", "head", "tail"})

    def __init__(
        self,
        learner: Learner,
        gate: Gate,
        validity: Validity,
        history: RowHistory,
        motion: Motion,
        log: EventLog,
        shape: Callable[[Rows], Rows],
        faster: bool = False,
    ) -> None:
        """shape: gives rows for the η in force; faster: whether only rows faster than standstill teach."""
        self._learner, self._gate, self._validity = learner, gate, validity
        self._history, self._motion, self._log = history, motion, log
        self.shape, self.faster = shape, faster
        rls, counts = learner.rls, np.zeros(COUNTS, np.int64)
        counts[BLOCK], counts[HELD] = max(1, round(REVIEW_EVERY / motion.row)), 1
        self.kept = LoopKept(
            counts,
            np.array([rls.theta, learner.kept.deviations]),
            rls.state.copy() if history.whole else np.zeros(0),
            np.zeros((rls.m, rls.p)),
            np.full(rls.m, np.nan),
        )
        self._taught, self._finite = np.zeros(0, np.bool_), np.zeros(0, np.bool_)
        # what `advance` is given each time; a state that is resumed is written where it lies
        self.head = learner.kept.state, gate.kept.state, gate.limits, gate.owners
        self.tail = validity.kept.judged, validity.kept.valid, learner.kept.deviations

    @property
    def block(self) -> int:
        """Rows between two decisions."""
        return int(self.kept.counts[BLOCK])

    @property
    def room(self) -> int:
        """Rows until the current block ends."""
        return int(self.kept.counts[BLOCK] - self.kept.counts[FILLED])

    @property
    def seen(self) -> int:
        """Number of the first row behind the state that is gone back to."""
        return int(self.kept.counts[SEEN])

    def alarm(self) -> bool:
        """Whether there is one that nobody has looked at."""
        return bool(self._learner.rls.state[at.ALARMS] > self.kept.counts[ALARMS])

    def crossed(self) -> bool | None:
        """Whether the joint rests, where that is news; else None."""
        resting, counts = self._gate.resting, self.kept.counts
        if bool(counts[HELD]) == resting:
            return None
        counts[HELD] = resting
        return resting

    def run(self, rows: Rows, due: int | None, learns: bool) -> Taken:
        """Take rows until there is something to decide.

        due: number of the row from which a test is; None: there is something to decide at the end of every block.
        """
        learnt, kept, counts = self._learner.kept, self.kept, self.kept.counts
        rows = self.shape(rows)
        self._make_room(len(rows.time))
        if len(self.head[1]) > 1:
            rows = rows._replace(y=rows.y.copy())
        weighed, before = self._weighed(rows), self._history.kept.total
        counts[KEPT], counts[TAUGHT], counts[EVERY], counts[LEARN] = before, 0, due is None, learns
        counts[DUE] = ENDLESS if due is None else due
        count = int(
            advance(
                *self.head,
                weighed.phi,
                weighed.y,
                rows.speed,
                self._gate.standstill if self.faster else 0.0,
                self._taught,
                self._finite,
                counts,
                learnt.weights,
                learnt.signal,
                *self.tail,
                kept.good,
                kept.snapshot,
            )
        )
        if weighed is not rows:  # outputs of joints at rest are no longer there
            rows = rows._replace(y=np.where(np.isfinite(weighed.y), rows.y, np.nan))
        return self._taken(rows, count, before)

    def _weighed(self, rows: Rows) -> Rows:
        """The rows as they are learnt: where a joint sticks, those that see a reversal count less."""
        if self._learner.reversal.min() == 1.0:
            return rows
        seen = reversals.turning(rows, self._gate.owners, max(self._gate.standstill, reversals.UNSEEN))
        return reversals.discount(rows, seen, self._learner.reversal)

    def remember(self) -> None:
        """What is known now counts as good, unless something points to an alarm."""
        self.kept.counts[KEPT] = self._history.total
        kept, learner = self.kept, self._learner
        _remember_now(
            learner.kept.state, self._gate.kept.state, learner.kept.deviations, kept.counts, kept.good, kept.snapshot
        )

    def accept(self) -> None:
        """What is known now counts as good, whatever it points to, and all alarms as looked at."""
        self.kept.good[:] = self._learner.rls.theta, self._learner.kept.deviations
        self.kept.counts[ALARMS] = int(self._learner.rls.state[at.ALARMS])

    def begin(self) -> None:
        """Normal mode begins, in motion."""
        self.kept.counts[HELD] = 0

    def copy_state(self) -> None:
        """The state of now is what is gone back to."""
        self.kept.snapshot[:], self.kept.counts[SEEN] = self._learner.rls.state, self._history.total

    def note(self, time: int, taught: int) -> None:
        """Rows up to this instant (ns) were taken, of which so many taught."""
        self._motion.kept.count += taught
        self._log.kept.time = time

    def _make_room(self, count: int) -> None:
        if len(self._taught) < count:
            self._taught, self._finite = np.empty(count, np.bool_), np.empty(count, np.bool_)

    def _taken(self, rows: Rows, count: int, before: int) -> Taken:
        counts = self.kept.counts
        taught, finite = int(counts[TAUGHT]), int(counts[KEPT]) - before
        own = rows if count == len(rows.time) else rows.part(slice(count))
        taken = Taken(own, self._taught[:count], bool(counts[REVIEW]), taught == count)
        self.kept.phi[:], self.kept.y[:] = told(rows, count - 1, self._gate.owners)
        self.note(int(own.time[-1]), taught)
        self._history.absorb(own, None if finite == count else self._finite[:count])
        if self._learner.unexcited.open:
            self._learner.unexcited.add(taken.part().phi, self._learner.rls.noise)
        return taken


@inline
def _finite(phi: Floats, y: Floats) -> bool:
    """Whether any output of a row is finite: phi (outputs, parameters), y (outputs,)."""
    for output in range(len(y)):
        if np.isfinite(y[output]):
            finite = True
            for column in range(phi.shape[1]):
                finite = finite and np.isfinite(phi[output, column])
            if finite:
                return True
    return False


@inline
def _remember(
    state: Floats, gate: Floats, deviations: Floats, counts: NDArray[np.int64], good: Floats, snapshot: Floats
) -> None:
    """While nothing points to an alarm: values, deviations, and in motion the whole state."""
    if state[at.CUSUM] == 0.0:
        for i in range(len(deviations)):
            good[0, i], good[1, i] = state[at.HEADER + i], deviations[i]
        if len(snapshot) > 0 and not at_rest(gate):
            for i in range(len(snapshot)):
                snapshot[i] = state[i]
            counts[SEEN] = counts[KEPT]


@kernel("void(f8[::1], f8[:, ::1], f8[::1], i8[::1], f8[:, ::1], f8[::1])")
def _remember_now(
    state: Floats, gate: Floats, deviations: Floats, counts: NDArray[np.int64], good: Floats, snapshot: Floats
) -> None:
    _remember(state, gate, deviations, counts, good, snapshot)


@kernel(
    "i8(f8[::1], f8[:, ::1], f8[::1], i8[::1], f8[:, :, ::1], f8[:, ::1], f8[:, ::1], f8, b1[::1], b1[::1], i8[::1], "
    "f8[:, ::1], f8, f8[:, ::1], b1[::1], f8[::1], f8[:, ::1], f8[::1])"
)
def advance(
    state: Floats,
    gate: Floats,
    limits: Floats,
    owners: NDArray[np.int64],
    phi: Floats,
    y: Floats,
    speed: Floats,
    least: float,
    taught: NDArray[np.bool_],
    finite: NDArray[np.bool_],
    counts: NDArray[np.int64],
    weights: Floats,
    signal: float,
    judged: Floats,
    valid: NDArray[np.bool_],
    deviations: Floats,
    good: Floats,
    snapshot: Floats,
) -> int:
    """Take rows until a review is due; returns how many.

    state, weights, signal, deviations: of a Learner; gate, limits, owners: of a Gate; least: rad/s (m/s) below which a
    row teaches nothing at once; taught, finite (rows,): which rows taught, and which of them have a finite output;
    counts: (COUNTS,) as above; judged, valid: of a Validity; good, snapshot: of a NormalLoop.
    """
    rows, m, p = phi.shape
    flat, flat_y = phi.reshape(-1), y.reshape(-1)
    theta, d = state[at.HEADER : at.HEADER + p], state[at.HEADER + p : at.HEADER + 2 * p]
    bound = state[at.HEADER + 2 * p + p * p : at.HEADER + 3 * p + p * p]
    counts[REVIEW] = 0
    row = 0
    while row < rows:
        last = min(rows, row + counts[BLOCK] - counts[FILLED])
        counts[FILLED] += last - row
        first = row  # of a run of rows that teach
        while row < last:
            teaches = may_teach(gate, limits, owners, least, speed[row], y[row])
            taught[row] = teaches
            finite[row] = teaches and _finite(phi[row], y[row])
            if teaches:
                counts[TAUGHT] += 1
                counts[KEPT] += finite[row]
            row += 1
            if row == last or not teaches:
                end = row if teaches else row - 1
                if end > first and counts[LEARN] == 1:
                    learn(state, flat[first * m * p : end * m * p], flat_y[first * m : end * m], end - first, m, p)
                first = row
        if counts[FILLED] < counts[BLOCK]:
            break
        counts[FILLED] = 0
        rests = at_rest(gate)
        told = state[at.ALARMS] == counts[ALARMS] and rests == (counts[HELD] == 1)
        due = counts[EVERY] == 1 or (counts[KEPT] >= counts[DUE] and not rests)
        if due or not told or not healthy(theta, d, bound, signal):
            counts[REVIEW] = 1
            break
        judge_learner(state, weights, signal, judged, valid, deviations)
        _remember(state, gate, deviations, counts, good, snapshot)
    return row
