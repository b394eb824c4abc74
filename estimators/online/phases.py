"""Phases of an estimator: waiting → starting → normal ⇄ transient.

    waiting    until there is one second of motion, which gives the scale of the columns
    starting   λ = 1 from a wide prior, until the start (start/) has what normal mode needs
    normal     rows are learnt with the forgetting law; at standstill nothing is learnt and the phase reads held; the
               monitor (monitor/) checks what is in force
    transient  an alarm stands: the values from before it are published until the monitor decides what follows
    faulted    a value of the learner was corrupt, or a start failed; as waiting

All decisions fall at the ends of blocks of rows, so results do not depend on how rows are cut into batches.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from estimators.base import UNKNOWN, Estimate, Event, Phase
from estimators.conditioning.conditioner import ROOM
from estimators.conditioning.stop import REVIEW, TAUGHT
from estimators.conditioning.stop import ROOM as ROOM_WANTED
from estimators.online import checkpoint
from estimators.online.change_handling import ChangeHandling, PhasesState
from estimators.online.compiled import CompiledSoFar
from estimators.online.judgement.standstill import MotionRange
from estimators.online.judgement.validity import reason_to_restart
from estimators.online.learning import Learning, RowLearner, learn_rows
from estimators.online.parts import Parts
from estimators.online.reporting import report
from estimators.online.start.base import Failed, Started, Verdict
from estimators.online.start.gathering import SCALE_WINDOW
from estimators.quantities import Settings
from estimators.reasons import Reason
from estimators.rows import FormedRows, Rows, RowStore

GATHERING: Final = (*report.IDLE, Phase.STARTING)  # phases in which a start wants rows
COMPILING: Final = Reason("kernels_compiling")


class Phases:
    """State machine around the parts of one estimator: it decides the next phase at the end of each block."""

    def __init__(self, parts: Parts, compiled: CompiledSoFar | None = None) -> None:
        """compiled: which kernels there are, by default all."""
        self.parts, self._compiled = parts, compiled or CompiledSoFar()
        self.state = PhasesState(np.ones(len(parts.parameters), np.bool_), np.zeros((2, len(parts.parameters))))
        self.changes = ChangeHandling(parts, self.state)
        self.report = report.EstimateReport(parts)
        self.learner: RowLearner | None = None

    @property
    def phase(self) -> Phase:
        """Present phase; a joint at rest stays in normal (what is published then reads `held`)."""
        return self.state.phase

    def attach(self, formed: FormedRows, motion_range: MotionRange | None = None) -> RowLearner:
        """Learn the rows that are written into `formed` from now on; motion_range: of a Standstill."""
        self.learner = RowLearner(self.parts, formed, motion_range or MotionRange())
        self.put_in_force()
        return self.learner

    def absorb(self, rows: Rows) -> None:
        """Learn from rows that were not formed from samples of this joint, as studies and whole robots have them.

        Their position and acceleration (`motion`) and their samples may be missing.
        """
        first, count = 0, len(rows.time)
        learning = (self.learner or self.attach(_formed(rows, self.parts.gate.owners))).state
        while first < count:
            part = self.parts.loop.weighed(rows.part(slice(first, first + ROOM)))
            learning.formed.rows.write(part)
            learning.first, learning.count = 0, len(part.time)
            learning.has_motion = self.parts.fit.active = len(part.motion) == len(part.time)
            self.put_in_force()
            stop = learn_rows(learning)
            while stop == ROOM_WANTED or (stop == TAUGHT and learning.first < learning.count):
                self.answer(stop)
                stop = learn_rows(learning)
            self.answer(stop)
            first += learning.first
            learning.first = learning.count = 0

    def answer(self, stop: int) -> None:
        """Handle a stop of the pass over rows: REVIEW, TAUGHT or ROOM (estimators/conditioning/stop.py).

        At any other stop the parts are only told how many rows have been learnt.
        """
        assert self.learner is not None
        parts, state = self.parts, self.learner.state
        self.learner.note_progress()
        if stop == ROOM_WANTED:
            parts.history.make_room(state.rows)
            return
        if stop not in (REVIEW, TAUGHT):
            return
        if state.hands_over:
            self._hand_over(state)
        if stop == REVIEW:
            self.review()
        self.put_in_force()

    def put_in_force(self) -> None:
        """Tell the pass and the report the settings that are in force from the next row on."""
        if self.learner is not None:
            self.learner.put_in_force(self.state.phase, self.due())
        self.report.put_in_force(self.state.phase)

    def _hand_over(self, state: Learning) -> None:
        """Hand the rows that were just learnt to the start, and to the search for directions not identifiable yet."""
        parts, phase = self.parts, self.state.phase
        which = state.first_new + np.flatnonzero(state.taught[state.first_new : state.first])
        part = state.rows.part(0, state.first).part(which)
        if not state.has_motion:
            part = part._replace(motion=part.motion[:0])
        if parts.learner.unexcited.open:
            parts.learner.unexcited.add(part.phi, parts.learner.rls.noise)
        if phase in GATHERING:
            refused = parts.start.absorb(part)
            if phase is not Phase.STARTING:  # else the learner counts them
                parts.learner.rls.state.refused += refused

    def due(self) -> int | None:
        """Number of the row from which the end of a block has to be reviewed; None: every block's end."""
        parts = self.parts
        if self.phase is not Phase.NORMAL or parts.learner.unexcited.open:
            return None
        due = parts.monitor.due(parts.searching)
        return None if due is None else min(due, parts.fit.due)

    def review(self) -> None:
        """Review at the end of a block: judge the values, decide what follows, and carry that out."""
        parts, resting = self.parts, self.parts.gate.resting
        self._collect_refits()
        if self.phase in report.IDLE:
            if parts.motion.seconds < SCALE_WINDOW:
                return
            if not self._compiled.learning:  # the last second is as good as this one
                parts.start.restart()
                parts.motion.restart()
            elif parts.start.begin():
                self.state.phase, self.state.spectrum = Phase.STARTING, parts.start.spectrum
                self._forget_fit()
            return
        if cause := reason_to_restart(parts.learner):
            self._restart(cause)
            return
        if parts.history.total >= parts.fit.due and not parts.loop.alarm():
            if self.changes.restore_known():
                return
            settled = self.phase is Phase.NORMAL
            parts.fit.close(
                parts.learner, parts.history.total, parts.log.state.time, settled, settled and parts.validity.good
            )
            if parts.gradual is not None and parts.gradual.state.going:
                self.changes.follow(parts.gradual)
            parts.validity.state.renew = True
            if parts.nonlinear is None:
                parts.fit.follow(parts.learner, self.phase is Phase.NORMAL)
            if self.state.asking and self.phase is Phase.NORMAL:
                self.changes.ask_for_one_cause()
        parts.validity.judge(parts.learner)
        if self.phase is Phase.STARTING:
            self._carry_out(parts.start.verdict(resting))
            self._collect_refits()
        elif self.phase is Phase.TRANSIENT:
            if parts.nonlinear is None and self.state.asking and parts.learner.rls.state.since < parts.loop.block:
                parts.learner.discount_past()  # a second change: the first rows after the alarm taught wrong values
            moment = parts.moment(self.state.wanted)
            self.changes.consult(parts.monitor.transient(moment), moment)
        elif parts.loop.alarm():
            self.changes.begin_transient()
        if self.phase is Phase.NORMAL and (rests := parts.loop.rest_changed()) is not None:
            parts.log.add_event("held" if rests else "moving", "standstill" if rests else "the joint moves again")
        if self.phase is Phase.NORMAL:
            parts.loop.remember()
            if not resting:
                self.changes.routine()

    # --- starts

    def _carry_out(self, verdict: Verdict) -> None:
        """Carry out the verdict of the start: it has failed, normal mode begins, or it goes on."""
        parts = self.parts
        self.state.spectrum = parts.start.spectrum
        if isinstance(verdict, Failed):
            self._restart(verdict.cause)
        elif isinstance(verdict, Started):
            now = parts.history.total
            parts.monitor.started(verdict.threshold.noise, verdict.first, now)
            if parts.nonlinear is not None:  # the rows so far had no η in their columns; from now on they have
                parts.fit.review(parts.history.since(verdict.first), parts.learner, now)
                parts.validity.judge(parts.learner)
            elif parts.learner.rls.m > 1:
                parts.fit.correct(parts.learner, parts.log.state.time)
                parts.fit.begin(now)  # the rows so far had other weights
            else:
                parts.fit.close(parts.learner, now, parts.log.state.time, settled=True)
                parts.fit.weigh_rounding(parts.learner, parts.log.state.time)
                parts.validity.judge(parts.learner)
            parts.fit.state.due -= parts.fit.earlier
            parts.loop.accept()
            parts.loop.begin()
            self.state.phase = Phase.NORMAL
            parts.log.add_event("started", verdict.text, verdict.window)

    def _forget_fit(self) -> None:
        """Begin the test of the fit anew, as a start does."""
        self.parts.fit.begin(self.parts.history.total)
        self.parts.fit.forget(self.parts.learner)

    def _restart(self, cause: str) -> None:
        """Report a fault and start again without any knowledge of the joint."""
        parts = self.parts
        self.state.phase, self.state.spectrum = Phase.FAULTED, UNKNOWN
        self.state.restarts += 1
        parts.start.restart()
        parts.motion.restart()
        parts.log.add_event("fault", f"{cause}: starting again (restart {self.state.restarts})")
        if parts.nonlinear is not None:
            parts.history.clear()
            parts.nonlinear.refits.drop()

    def _collect_refits(self) -> None:
        """Handle refits that have ended."""
        while (found := self.changes.settle_refits()) is not None:
            self._carry_out(self.parts.start.found(found))

    # --- reports

    def estimate(self, certain_resting: tuple[bool, bool] | None = None) -> Estimate:
        """The estimate as of the last row; learns nothing. certain_resting: see EstimateReport."""
        if certain_resting is None and self.learner is not None:
            self.learner.note_progress()
        estimate = self.report.estimate(self.state.phase, self.state.spectrum, certain_resting)
        if self._compiled.ending or self.phase not in GATHERING:
            return estimate
        reasons = estimate.reasons if self._compiled.learning else ()  # before, there may be motion, and no row of it
        return estimate._replace(reasons=(*reasons, COMPILING))

    def events(self) -> list[Event]:
        """Return the events since the last call."""
        return self.parts.log.take_events()

    def counters(self) -> dict[str, int]:
        """Totals: of the learner, restarts, and refits by their fate where there are any."""
        found = self.parts.learner.counters() | {"restarts": self.state.restarts}
        return found if self.parts.nonlinear is None else found | self.parts.nonlinear.refits.counters()

    def law(self) -> Settings | None:
        """Friction law, where another one than the configured was found."""
        return None if self.parts.nonlinear is None else self.parts.nonlinear.eta.other_law

    def recentre(self, rows: Rows) -> None:
        """Correct the encoders' zeros in rows of the conditioner, in place."""
        if self.parts.nonlinear is not None:
            self.parts.nonlinear.eta.recentre(rows)

    # --- checkpoints

    def keeping(self) -> "dict[str, checkpoint.Part]":
        """All parts whose state a checkpoint keeps, by name."""
        return {"phases": self, **self.parts.keeping()}

    def keep(self) -> dict[str, Any] | None:
        """State for a checkpoint; None outside normal mode, and while a refit or a decision is pending."""
        if self.learner is not None:
            self.learner.note_progress()
        if self.phase is not Phase.NORMAL or self.parts.searching or not self.parts.monitor.settled:
            return None
        return checkpoint.keep(self.keeping())

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Go on from a checkpoint of the same settings. It has no rows: all that needs earlier ones begins anew.

        Raises NotTheSameError; this object is unusable then.
        """
        parts = self.parts
        if parts.nonlinear is not None and saved["eta"]["law"] != parts.nonlinear.eta.state.law:
            raise checkpoint.NotTheSameError("another friction law was found meanwhile: it is searched again")
        checkpoint.resume(self.keeping(), saved)
        parts.monitor.resume(parts.history.total)
        if parts.nonlinear is not None:
            parts.loop.take_snapshot()
        parts.log.add_event("resumed", "the values from before the restart are used")


def _formed(rows: Rows, owners: NDArray[np.int64]) -> FormedRows:
    """Room for rows of this shape, whose columns are final: no η has to be put into them."""
    outputs, parameters = rows.phi.shape[1:]
    laws, taps = rows.samples.shape[1], rows.samples.shape[3]
    return FormedRows(
        rows=RowStore.room(ROOM, outputs, parameters, rows.speed.shape[1], laws, taps),
        starts=np.zeros(ROOM, np.int64),
        signals=np.zeros((0, 0, 0)),
        taps=np.ones(1),
        owners=owners,
    )
