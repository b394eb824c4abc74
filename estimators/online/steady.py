"""Rows of one joint in one compiled pass: seen, gated, learnt and judged, and summed for the fit, up to a review.

What `Phases.absorb` does step by step, for a joint as it nearly always is; it gives the same bits, and costs a fifth.
Rows of several joints, those before a start, and those between which the limits of standstill may change go step by
step.
"""

from typing import TYPE_CHECKING, Annotated

import numpy as np

from estimators.base import Phase
from estimators.conditioning.conditioner import ROOM, Conditioner
from estimators.conditioning.row_kernels import RowFormer
from estimators.numerics.jit import inline, kernel
from estimators.online.eta.shaping import NOTHING, Shaping, ShapingState, shape
from estimators.online.gate import GateState
from estimators.online.normal_loop import ENDLESS, LoopState, advance
from estimators.online.phases import Phases
from estimators.online.report import IDLE
from estimators.online.reread import RereadRows, keep
from estimators.online.standstill import Seen, Standstill, see
from estimators.online.validity import Judged
from estimators.quantities import Floats, Nanoseconds
from estimators.recursive import grain, held
from estimators.recursive.learner import Learnt
from estimators.recursive.reversals import UNSEEN, turns
from estimators.recursive.witnesses import Sums, gather_row
from estimators.rows import WEIGHT, Rows, RowStore, copy_row
from estimators.window.row_history import HistoryState, append
from jointwatch_layout import Cube, Flags, Layout, Matrix

if TYPE_CHECKING:  # its kernels are heavy, see parts.py
    from estimators.online.eta.in_force import EtaInForce


class Learning(Layout):
    """What rows go through from the conditioner to the sums of the fit, and what a pass may do by now."""

    former: RowFormer
    rows: RowStore  # those of the former, as they are learnt
    shaping: ShapingState
    gate: GateState
    loop: LoopState
    learnt: Learnt
    judged: Judged
    history: HistoryState
    sums: Sums
    reread: RereadRows
    seen: Seen  # of a window of standstill
    faster: bool  # whether only rows faster than standstill teach
    taught: Annotated[Flags, "room"]  # of the rows of a pass
    finite: Annotated[Flags, "room"]  # those that taught, with a finite output
    weighed_phi: Annotated[Cube, "room", "outputs", "parameters"]
    weighed_y: Annotated[Matrix, "room", "outputs"]
    left: int = 0  # rows with which limits may change: a pass is for fewer; 0: it is not for any
    due: int = 0  # number of the row from which a review is due
    every: bool = True  # whether each block ends with one
    alarmed: bool = False  # whether an alarm stands
    searched: bool = False  # whether η is


class Steady:
    """The way of rows past the phases of one estimator."""

    def __init__(self, phases: Phases, standstill: Standstill | None, conditioner: Conditioner) -> None:
        """standstill: what finds the limits of the gate, if anything does; conditioner: which forms the rows."""
        self._phases, self._standstill = phases, standstill
        parts = phases.parts
        self._loop, self._learner, self._history, self._fit = parts.loop, parts.learner, parts.history, parts.fit
        self._conditioner, self._eta = conditioner, None if parts.nonlinear is None else parts.nonlinear.eta
        self._shaping: Shaping | None = None
        former, fit = conditioner.former, self._fit
        room, outputs, parameters = former.rows.phi.shape
        joints, laws, taps = former.rows.speed.shape[1], len(former.blocks), former.rows.samples.shape[2]
        self.state = Learning.zeros(
            former=former,
            rows=RowStore.room(room, outputs, parameters, joints, laws, taps),
            shaping=NOTHING,
            gate=parts.gate.kept,
            loop=self._loop.kept,
            learnt=self._learner.kept,
            judged=parts.validity.kept,
            history=self._history.state,
            sums=fit.kept.sums,
            reread=fit.kept.reread,
            seen=Seen() if standstill is None else standstill.seen,
            faster=self._loop.faster,
            room=room,
            outputs=outputs,
            parameters=parameters,
        )
        self.ready()

    def ready(self) -> None:
        """What the next pass of `walk` goes by, as it is decided by now."""
        phases, still, due, state = self._phases, self._standstill, self._phases.due(), self.state
        phase, rows = phases.kept.phase, 0
        if self._fit.active and phase not in IDLE:
            rows = ENDLESS if still is None else still.left
        if self._eta is not None:
            rows = min(rows, self._shaped(self._eta)) if phase is not Phase.STARTING else 0
        state.left, state.every, state.due = rows, due is None, due or 0
        state.alarmed, state.searched = phase is Phase.TRANSIENT, self._eta is not None
        self._loop.kept.total = self._history.kept.total
        phases.report.ready(phase)

    def _shaped(self, eta: "EtaInForce") -> int:
        """Let a pass know of η in force; returns with how many rows it is not for it any more."""
        if eta.block.law.stops:
            return 0
        if self._shaping is None or self._shaping.block is not eta.block:
            self._shaping = Shaping(eta.block, eta.spring, len(self._conditioner.former.signals))
            self.state.shaping = self._shaping.state
        self._shaping.set(eta.kept.eta, eta.kept.zero)
        return self._history.room - self._history.filled + 1

    def absorb(self, rows: Rows) -> int:
        """Take rows from the first on; returns how many: none where they have to go step by step."""
        count, phases, loop, still = len(rows.time), self._phases, self._loop, self._standstill
        if phases.kept.phase in IDLE or count > ROOM or len(rows.motion) != count:
            return 0
        if still is not None and count >= still.left:
            return 0
        due, state = phases.due(), self.state
        shaped = loop.shape(rows)
        loop.kept.total, state.every, state.due = self._history.kept.total, due is None, due or 0
        taken = _pass(shaped.time, shaped.phi, shaped.y, shaped.speed, shaped.motion, state)
        finite = loop.kept.total - self._history.kept.total
        own = shaped if taken == count else shaped.part(slice(taken))
        self._history.absorb(own, None if finite == taken else state.finite[:taken])
        self._took(shaped, int(shaped.time[taken - 1]), taken, loop.kept.taught, loop.kept.review)
        return taken

    def passed(self, last: int, taken: int, taught: int, finite: int, review: bool) -> None:
        """A pass of `walk` has taken so many of the rows that it has formed, up to this instant (ns), as `_pass`."""
        self._history.stored(finite)
        self._took(self.state.rows.part(0, taken), last, taken, taught, review)

    def _took(self, rows: Rows, last: int, taken: int, taught: int, review: bool) -> None:
        """The first of these rows have been learnt; last: ns, of the last one."""
        phases, starting = self._phases, self._phases.kept.phase is Phase.STARTING
        if taught:
            self._fit.active = True
        if self._standstill is not None:
            self._standstill.looked(taken)
        self._loop.note(last, taught)
        if starting or self._learner.unexcited.open:
            part = rows.part(np.flatnonzero(self.state.taught[:taken]))
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


@inline
def _learn(time: Nanoseconds, phi: Floats, y: Floats, speed: Floats, motion: Floats, state: Learning) -> int:
    """Rows up to a review; returns how many."""
    learnt, gate, loop = state.learnt, state.gate, state.loop
    reversal, slow, usual = learnt.reversal, max(gate.standstill, UNSEEN), True
    for output in range(len(reversal)):
        usual = usual and reversal[output] == 1.0
    loop.taught, loop.every, loop.learns = 0, state.every, True
    loop.due = ENDLESS if state.every else state.due
    least = gate.standstill if state.faster else 0.0
    if usual:
        taken = advance(learnt, gate, state.judged, loop, phi, y, speed, least, state.taught, state.finite)
    else:
        learnt_phi, learnt_y = state.weighed_phi[: len(time)], state.weighed_y[: len(time)]
        _weigh(phi, y, speed, motion, reversal, slow, learnt_phi, learnt_y)
        taken = advance(
            learnt, gate, state.judged, loop, learnt_phi, learnt_y, speed, least, state.taught, state.finite
        )  # fmt: skip
    for row in range(taken):
        see(speed[row, 0], motion[row, 0, 0], state.seen)
        if state.taught[row]:
            gather_row(time[row], phi[row], y[row], speed[row], motion[row], slow, state.sums)
            keep(time[row], phi[row, 0], speed[row, 0], motion[row, 0], slow, reversal[0], state.reread)
    last = taken - 1
    for output in range(len(loop.y)):
        weight = motion[last, state.former.owners[output], WEIGHT]
        loop.y[output] = y[last, output] / weight
        for column in range(phi.shape[2]):
            loop.phi[output, column] = phi[last, output, column] / weight
    return taken


@kernel(("i8[::1]", "f8[:, :, ::1]", "f8[:, ::1]", "f8[:, ::1]", "f8[:, :, ::1]", Learning))
def _pass(time: Nanoseconds, phi: Floats, y: Floats, speed: Floats, motion: Floats, state: Learning) -> int:
    return _learn(time, phi, y, speed, motion, state)


@inline
def learn_formed(count: int, state: Learning) -> int:
    """Learn the first `count` of the rows that the former has left, up to a review; returns how many.

    None where a pass cannot. loop: how many taught, and whether a review is due.
    """
    if count >= state.left:
        return 0
    former, rows, owners = state.former, state.rows, state.former.owners
    formed = former.rows
    for row in range(count):
        copy_row(
            formed.time[row], formed.phi[row], formed.y[row], formed.speed[row], formed.samples[row],
            formed.motion[row], rows, row,
        )  # fmt: skip
    phi, y, motion = rows.phi[:count], rows.y[:count], rows.motion[:count]
    if state.searched:
        shape(former.starts[:count], former.signals, former.taps, phi, state.shaping)
    else:
        learnt = state.learnt
        grain.weigh(phi, y, motion, learnt.grain, learnt.usual, owners)
        held.weigh(phi, y, motion, learnt.held, owners)
    taken = _learn(rows.time[:count], phi, y, rows.speed[:count], motion, state)
    state.left -= taken
    for row in range(taken):
        if state.finite[row]:
            append(
                rows.time[row], rows.phi[row], rows.y[row], rows.speed[row], rows.samples[row], rows.motion[row],
                state.history,
            )  # fmt: skip
    return taken
