"""Learning within the joint pass: rows are gated, learnt, judged, and summed for the test of the fit, up to a stop.

    rows that wait → prepared (columns of η in force, weights) → gate, learner, judgement → sums of the fit → history

Learning runs until Python must decide, and then continues with the next row. The values that Python puts in force (η,
weights, limits of standstill) hold for all rows that still wait. Results do not depend on how the rows are cut into
batches.
"""

from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
from numpy.typing import NDArray

from estimators.base import Phase
from estimators.conditioning.stop import DONE, LIMITS, REVIEW, ROOM, TAUGHT
from estimators.misfit.regressors import BlockSums, gather_row
from estimators.numerics.jit import inline, kernel
from estimators.online.eta.nonlinear_columns import NOTHING, NonlinearColumns, NonlinearColumnsState, fill_columns
from estimators.online.judgement.gate import GateState
from estimators.online.judgement.standstill import MotionRange, widen_range
from estimators.online.judgement.validity import ValidityState
from estimators.online.normal_loop import LoopState, advance
from estimators.quantisation import quantisation_weights
from estimators.quantisation.shifted_quantiser import QuantiserState, keep
from estimators.quantities import Floats
from estimators.recursive.learner import Learnt
from estimators.recursive.weights import timing_weights
from estimators.recursive.weights.reversals import UNSEEN, turns
from estimators.rows import WEIGHT, FormedRows, RowStore, copy_row
from estimators.thresholds import ENDLESS
from estimators.window.row_history import HistoryState, append
from jointwatch_numba.layout import Cube, Flags, Layout, Matrix

if TYPE_CHECKING:  # its kernels are heavy, see parts.py
    from estimators.online.eta.in_force import EtaInForce
    from estimators.online.parts import Parts

IDLE: Final = (Phase.WAITING, Phase.FAULTED)


class Learning(Layout):
    """State of learning: the parts that rows go through, the rows that wait, and the settings in force for them."""

    formed: FormedRows  # the rows that wait, as the row former made them
    rows: RowStore  # the same rows prepared for the learner: columns of η in force, weights
    nonlinear_columns: NonlinearColumnsState
    gate: GateState
    loop: LoopState
    learnt: Learnt
    judged: ValidityState
    history: HistoryState
    sums: BlockSums
    quantiser: QuantiserState
    motion_range: MotionRange  # of a window of rows, from which the limits of standstill are set
    taught: Annotated[Flags, "room"]  # which of the rows were learnt …
    finite: Annotated[Flags, "room"]  # … and had a finite output
    weighed_phi: Annotated[Cube, "room", "outputs", "parameters"]  # the same rows, those at a reversal weighed less
    weighed_y: Annotated[Matrix, "room", "outputs"]
    # in force for the rows that wait
    only_faster: bool  # whether only rows faster than standstill teach
    searched: bool  # whether η is searched
    has_motion: bool = True  # whether rows carry position and acceleration (those of some studies do not)
    idle: bool = True  # whether the estimator waits for motion, and learns nothing
    alarmed: bool = False  # whether an alarm stands
    hands_over: bool = True  # whether Python gets the rows that were learnt: for a start, or unidentified directions
    review_due: int = 0  # number of the row from which a review is due
    review_each_block: bool = True  # whether every block ends with a review
    # progress
    count: int = 0  # rows in the store; those wait …
    first: int = 0  # … from this one on
    first_new: int = 0  # the first that was learnt since Python looked
    newly_taught: int = 0  # rows learnt since Python last noted how many
    time: int = 0  # ns, of the last row


class RowLearner:
    """Transfers settings and progress between an estimator's parts in Python and the compiled state of learning."""

    def __init__(self, parts: "Parts", formed: FormedRows, motion_range: MotionRange) -> None:
        """formed: where rows are stored; motion_range: the state of a Standstill, or an empty one."""
        self._parts = parts
        self._eta = None if parts.nonlinear is None else parts.nonlinear.eta
        self._nonlinear_columns: NonlinearColumns | None = None
        self.state = Learning.zeros(
            formed=formed,
            rows=formed.rows.alike(),
            nonlinear_columns=NOTHING,
            gate=parts.gate.state,
            loop=parts.loop.state,
            learnt=parts.learner.state,
            judged=parts.validity.state,
            history=parts.history.store,
            sums=parts.fit.state.sums,
            quantiser=parts.fit.state.quantiser,
            motion_range=motion_range,
            only_faster=parts.loop.faster,
            searched=self._eta is not None,
            room=len(formed.rows.time),
            outputs=formed.rows.y.shape[1],
            parameters=formed.rows.phi.shape[2],
        )

    def put_in_force(self, phase: Phase, due: int | None) -> None:
        """Write into the state the settings that are in force from the next row on.

        due: number of the row from which a review is due; None: every block ends with a review.
        """
        parts, state = self._parts, self.state
        state.review_each_block, state.review_due = due is None, due or 0
        state.idle, state.alarmed = phase in IDLE, phase is Phase.TRANSIENT
        state.hands_over = phase in (*IDLE, Phase.STARTING) or parts.learner.unexcited.open
        state.loop.total = parts.history.state.total
        if self._eta is not None:
            self._update_columns(self._eta)

    def _update_columns(self, eta: "EtaInForce") -> None:
        """Write η in force into the state."""
        if self._nonlinear_columns is None or self._nonlinear_columns.block is not eta.block:
            self._nonlinear_columns = NonlinearColumns(eta.block, eta.spring, len(self.state.formed.signals))
            self.state.nonlinear_columns = self._nonlinear_columns.state
        self._nonlinear_columns.set(eta.state.eta, eta.state.zero)

    def note_progress(self) -> None:
        """Tell the parts how many rows have been learnt, and up to which instant."""
        state, parts = self.state, self._parts
        parts.motion.state.count += state.newly_taught
        parts.history.state.total, state.newly_taught = state.loop.total, 0
        parts.log.state.time = state.time or parts.log.state.time


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
    """Copy rows, and multiply those in which the joint turns round by the weights of reversals (reversals.py).

    reversal: (outputs,) weights; slow: rad/s (m/s), speed up to which a row counts as one of them.
    """
    for row in range(len(y)):
        seen = turns(motion[row, 0, 1], speed[row, 0], slow)
        for output in range(len(reversal)):
            factor = reversal[output] if seen else 1.0
            out_y[row, output] = factor * y[row, output]
            for column in range(phi.shape[2]):
                out_phi[row, output, column] = factor * phi[row, output, column]


@inline
def _note_weights(motion: Floats, owners: NDArray[np.int64], learnt: Learnt) -> None:
    """Follow the mean of the squared weights as slowly as the residual's variance follows the rows."""
    for output in range(len(owners)):
        weight = motion[owners[output], WEIGHT]
        learnt.weighed[output] += learnt.state.rate_long * (weight * weight - learnt.weighed[output])


@inline
def _prepare_rows(learning: Learning) -> None:
    """Copy the rows that wait and give them the columns of η in force, or the weights of rounding and timing."""
    formed, rows, first, count = learning.formed, learning.rows, learning.first, learning.count
    source = formed.rows
    for row in range(first, count):
        copy_row(
            source.time[row], source.phi[row], source.y[row], source.speed[row], source.samples[row],
            source.motion[row], rows, row,
        )  # fmt: skip
    phi, y, motion = rows.phi[first:count], rows.y[first:count], rows.motion[first:count]
    if len(formed.signals) == 0:
        return
    if learning.searched:
        fill_columns(formed.starts[first:count], formed.signals, formed.taps, phi, learning.nonlinear_columns)
    else:
        learnt = learning.learnt
        quantisation_weights.weigh(phi, y, motion, learnt.rounding, learnt.usual_rounding, formed.owners)
        timing_weights.weigh(phi, y, motion, learnt.timing, formed.owners)


@inline
def _keep_rows(first: int, end: int, slow: float, learning: Learning) -> None:
    """Add rows that were learnt to the sums of the fit, and keep them; slow: rad/s (m/s), see _weigh."""
    rows, learnt, sums = learning.rows, learning.learnt, learning.sums
    if sums.starting:  # each row is predicted by what it has taught as well
        for i in range(len(sums.theta)):
            sums.theta[i] = learnt.state.theta[i]
    for row in range(first, end):
        if learning.has_motion:
            widen_range(rows.speed[row, 0], rows.motion[row, 0, 0], learning.motion_range)
            if learning.taught[row] and not learning.idle:
                _note_weights(rows.motion[row], learning.formed.owners, learnt)
                gather_row(
                    rows.time[row], rows.phi[row], rows.y[row], rows.speed[row], rows.motion[row], slow, sums
                )  # fmt: skip
                keep(
                    rows.time[row], rows.phi[row, 0], rows.speed[row, 0], rows.motion[row, 0], slow,
                    learnt.reversal[0], learning.quantiser,
                )  # fmt: skip
        if learning.finite[row]:
            append(
                rows.time[row], rows.phi[row], rows.y[row], rows.speed[row], rows.samples[row], rows.motion[row],
                learning.history,
            )  # fmt: skip


@inline
def _learn(first: int, last: int, learning: Learning) -> int:
    """Learn the rows first … last − 1 up to a review; returns the number after the last one learnt."""
    rows, learnt, gate, loop = learning.rows, learning.learnt, learning.gate, learning.loop
    phi, y, speed, motion = rows.phi[first:last], rows.y[first:last], rows.speed[first:last], rows.motion[first:last]
    taught, finite = learning.taught[first:last], learning.finite[first:last]
    reversal, slow, usual = learnt.reversal, max(gate.standstill, UNSEEN), True
    for output in range(len(reversal)):
        usual = usual and reversal[output] == 1.0
    loop.taught, loop.every, loop.learns, loop.review = 0, learning.review_each_block, not learning.idle, False
    loop.due = ENDLESS if learning.review_each_block else learning.review_due
    least = gate.standstill if learning.only_faster else 0.0
    if not (usual or not learning.has_motion):
        phi, y = learning.weighed_phi[: last - first], learning.weighed_y[: last - first]
        _weigh(rows.phi[first:last], rows.y[first:last], speed, motion, reversal, slow, phi, y)
    done, count, starting = 0, last - first, learning.sums.starting
    while done < count and not loop.review:
        until = done + 1 if starting else count  # rows of a start are learnt one by one, see _keep_rows
        here = slice(done, until)
        done += advance(
            learnt, gate, learning.judged, loop, phi[here], y[here], speed[here], least, taught[here], finite[here]
        )
        _keep_rows(first + here.start, first + done, slow, learning)
    end = first + done
    for output in range(len(loop.y)):
        weight = rows.motion[end - 1, learning.formed.owners[output], WEIGHT]
        loop.y[output] = rows.y[end - 1, output] / weight
        for column in range(rows.phi.shape[2]):
            loop.phi[output, column] = rows.phi[end - 1, output, column] / weight
    learning.time = rows.time[end - 1]
    learning.newly_taught += loop.taught
    return end


@kernel((Learning,))
def learn_rows(learning: Learning) -> int:
    """Learn the rows that wait until a stop; returns its reason."""
    history, rows = learning.history, learning.rows
    learning.first_new = learning.first
    if learning.motion_range.rows_left == 0:
        return LIMITS
    if learning.first < learning.count:
        _prepare_rows(learning)
    while learning.first < learning.count:
        first = learning.first
        if rows.time[first] >= learning.motion_range.steps_due:
            return LIMITS
        last = min(learning.count, first + learning.motion_range.rows_left)
        row = first
        while row < last and rows.time[row] < learning.motion_range.steps_due:
            row += 1
        last = row
        if history.whole and history.filled + last - first > len(history.rows.time):
            return ROOM
        learning.first = _learn(first, last, learning)
        learning.motion_range.rows_left -= learning.first - first
        if learning.loop.review:
            return REVIEW
        if learning.hands_over and learning.loop.taught > 0:
            return TAUGHT
        if learning.motion_range.rows_left == 0:
            return LIMITS
    return DONE
