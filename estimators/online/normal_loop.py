"""Normal loop, compiled: rows are gated, learnt and judged block by block, until there is something to decide.

A row costs a few dozen multiplications; Python around it would cost a hundred times as much. In normal mode there is
nothing to decide until an alarm comes, the joint stops or moves again, a test of the monitor is due, or a value is
corrupt. Then the block ends with a review in Python (phases.py). In every other phase each block ends so. The values
that are published while an alarm stands, and the state to go back to when nothing has changed, are remembered here,
while nothing points to an alarm.
"""

from collections.abc import Callable
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.online.judgement.gate import Gate, GateState, may_teach
from estimators.online.judgement.motion import MotionCount
from estimators.online.judgement.validity import ValidityState, healthy, judge_learner
from estimators.quantities import Floats
from estimators.recursive.kernel import learn
from estimators.recursive.learner import Learner, Learnt
from estimators.recursive.state import RecursiveState
from estimators.rows import Rows
from estimators.window.row_history import RowHistory
from jointwatch_numba.layout import Layout, Matrix, Scratch, Vector, copy
from jointwatch_numba.matrix import as_vector

#: s, argued: Motion between two decisions; a transient begins within it.
REVIEW_EVERY: Final = 0.1


class LoopState(Layout, version=3):
    """State of the loop: progress of the block, and the values learnt while nothing pointed to an alarm."""

    block: int  # rows
    good_values: Annotated[Vector, "parameters"]  # learnt while nothing pointed to an alarm
    good_deviations: Annotated[Vector, "parameters"]
    snapshot: RecursiveState  # of the learner at that time, in motion
    keeps: bool  # whether the snapshot may be restored
    phi: Annotated[Matrix, "outputs", "parameters"]  # of the last row
    y: Annotated[Vector, "outputs"]
    filled: int = 0  # rows of the current block
    total: int = 0  # number of the next row with a finite output
    seen: int = 0  # the same when the snapshot was taken
    alarms: int = 0  # number of alarms that have been handled
    at_rest: bool = True  # whether the joint is known to be at rest
    taught: Scratch[int] = 0  # rows of a run
    due: Scratch[int] = 0  # number of the row from which a test is due
    learns: Scratch[bool] = True  # whether rows are learnt
    every: Scratch[bool] = True  # whether every block ends with a review
    review: Scratch[bool] = False  # whether one follows now


class NormalLoop:
    """Holds the state of the loop that runs rows through gate, learner and validity."""

    def __init__(
        self,
        learner: Learner,
        gate: Gate,
        history: RowHistory,
        motion: MotionCount,
        weighed: Callable[[Rows], Rows],
        faster: bool = False,
        keeps: bool = False,
    ) -> None:
        """weighed: returns rows with the weights now in force; faster: whether only rows faster than standstill teach;
        keeps: whether a snapshot is taken although no rows are kept that could be learnt again."""
        self._learner, self._gate, self._history = learner, gate, history
        self.weighed, self.faster = weighed, faster
        rls = learner.rls
        self.state = LoopState(
            block=max(1, round(REVIEW_EVERY / motion.row)),
            good_values=rls.theta.copy(),
            good_deviations=learner.state.deviations.copy(),
            snapshot=rls.state.copied(),
            keeps=keeps or history.whole,
            phi=np.zeros((rls.m, rls.p)),
            y=np.full(rls.m, np.nan),
        )

    @property
    def block(self) -> int:
        """Rows between two decisions."""
        return self.state.block

    @property
    def seen(self) -> int:
        """Number of the first row after the snapshot."""
        return self.state.seen

    @property
    def good(self) -> Floats:
        """(2, parameters) values and deviations learnt while nothing pointed to an alarm."""
        return np.array([self.state.good_values, self.state.good_deviations])

    def alarm(self) -> bool:
        """Whether there is an alarm that has not been handled."""
        return self._learner.rls.state.alarms > self.state.alarms

    def rest_changed(self) -> bool | None:
        """Whether the joint rests, if that has changed; else None."""
        resting = self._gate.resting
        if self.state.at_rest == resting:
            return None
        self.state.at_rest = resting
        return resting

    def remember(self) -> None:
        """Remember the present values as good, unless something points to an alarm."""
        self.state.total = self._history.total
        _remember_now(self._learner.state, self._gate.state, self.state)

    def accept(self) -> None:
        """Remember the present values as good in any case, and count all alarms as handled."""
        self.state.good_values[:], self.state.good_deviations[:] = (
            self._learner.rls.theta,
            self._learner.state.deviations,
        )
        self.state.alarms = self._learner.rls.state.alarms

    def begin(self) -> None:
        """Begin normal mode, in motion."""
        self.state.at_rest = False

    def take_snapshot(self) -> None:
        """Remember the present state as the one to go back to."""
        copy(self._learner.rls.state, self.state.snapshot)
        self.state.seen = self._history.total


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
def _remember(learnt: Learnt, gate: GateState, loop: LoopState) -> None:
    """Remember values and deviations, and in motion the whole state, while nothing points to an alarm."""
    state = learnt.state
    if state.cusum == 0.0:
        for i in range(len(learnt.deviations)):
            loop.good_values[i], loop.good_deviations[i] = state.theta[i], learnt.deviations[i]
        if loop.keeps and not gate.resting:
            copy(state, loop.snapshot)
            loop.seen = loop.total


@kernel((Learnt, GateState, LoopState))
def _remember_now(learnt: Learnt, gate: GateState, loop: LoopState) -> None:
    _remember(learnt, gate, loop)


@kernel(
    (
        *(Learnt, GateState, ValidityState, LoopState),
        *("f8[:, :, ::1]", "f8[:, ::1]", "f8[:, ::1]", "f8", "b1[::1]", "b1[::1]"),
    )
)
def advance(
    learnt: Learnt,
    gate: GateState,
    judged: ValidityState,
    loop: LoopState,
    phi: Floats,
    y: Floats,
    speed: Floats,
    least: float,
    taught: NDArray[np.bool_],
    finite: NDArray[np.bool_],
) -> int:
    """Take rows until a review is due; returns how many.

    phi (rows, outputs, parameters), y (rows, outputs), speed (rows, joints); least: rad/s (m/s) below which a row
    teaches nothing at once; taught, finite (rows,): which rows taught, and which of them have a finite output.
    """
    state = learnt.state
    rows, m, p = phi.shape
    flat, flat_y = as_vector(phi), as_vector(y)
    loop.review = False
    row = 0
    while row < rows:
        last = min(rows, row + loop.block - loop.filled)
        loop.filled += last - row
        first = row  # of a run of rows that teach
        while row < last:
            teaches = may_teach(gate, least, speed[row, 0])
            taught[row] = teaches
            finite[row] = teaches and _finite(phi[row], y[row])
            if teaches:
                loop.taught += 1
                loop.total += int(finite[row])
            row += 1
            if row == last or not teaches:
                end = row if teaches else row - 1
                if end > first and loop.learns:
                    learn(state, flat[first * m * p : end * m * p], flat_y[first * m : end * m], end - first)
                first = row
        if loop.filled < loop.block:
            break
        loop.filled = 0
        unchanged = state.alarms == loop.alarms and gate.resting == loop.at_rest
        due = loop.every or (loop.total >= loop.due and not gate.resting)
        if due or not unchanged or not healthy(state.theta, state.d, state.bound, learnt.signal):
            loop.review = True
            break
        judge_learner(learnt, judged)
        _remember(learnt, gate, loop)
    return row
