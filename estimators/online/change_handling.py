"""Handles alarms and changes: the decisions of the monitor are carried out here, and nowhere else.

An alarm, a window of rows that the monitor requests, a refit that has ended, or a gradual change leads to new values,
back to those from before, or to a search of η, and is reported as an event. phases.py says
when each of them is looked at.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from estimators.base import UNKNOWN, Phase, Spectrum
from estimators.numerics.one_factor import one_factor
from estimators.online.judgement.motion import LOOK_BACK
from estimators.online.judgement.widening import answer_for_change
from estimators.online.monitor.base import (
    Decision,
    GiveUp,
    LearnTheta,
    Moment,
    Recover,
    Rejection,
    Restore,
    SearchEta,
    Sharpen,
    WindowRequest,
)
from estimators.online.monitor.gradual import GradualChange
from estimators.online.parts import Nonlinear, Parts
from estimators.quantities import Floats
from estimators.recursive.weights.reversals import UNPROVEN
from estimators.refit.outcome import EndedRefit
from estimators.window.motion_period import motion_period

if TYPE_CHECKING:  # its kernels are heavy, see parts.py
    from estimators.online.relearning import ExaminedWindow

#: s, argued: Motion after an alarm within which one factor for all torques is looked for (decision 012, point 8).
ASKED: Final = 30.0
OWN: Final = "; nothing has changed: the usual residual of the joint raised the alarm, and its limit is higher now"


@dataclass(slots=True)
class PhasesState:
    """State of the phases and of the handling of changes that outlives a restart of the program."""

    VERSION: ClassVar[int] = 2

    wanted: NDArray[np.bool_]  # (parameters,) values that were certain when the last alarm came, and must be so again
    before: Floats  # (2, parameters) values and deviations from before that alarm
    asking: bool = False  # whether it is still open if all values have changed by one factor since then
    spectrum: Spectrum = UNKNOWN  # identifiable directions of the window that θ was learnt from last
    phase: Phase = Phase.WAITING
    restarts: int = 0  # number of new starts because of a fault
    changed: int = 0  # ns, onset of the change that raised the last alarm


class ChangeHandling:
    """Carries out what follows from an alarm, a decision of the monitor or a refit that has ended."""

    def __init__(self, parts: Parts, state: PhasesState) -> None:
        """state: shared with the phases, which know when to ask."""
        self.parts, self.state = parts, state

    def restore_known(self) -> bool:
        """Restore the values from before the last alarm if they explain the motion again; returns whether they do."""
        parts, now = self.parts, self.parts.history.total
        usable = parts.recall is not None and self.state.phase in (Phase.NORMAL, Phase.TRANSIENT)
        if parts.recall is None or not usable or not parts.recall.holds(parts.fit.state.sums, parts.fit.block, now):
            return False
        parts.recall.restore()
        self.state.asking = False
        parts.fit.begin(now, keep_identified=True)
        parts.validity.state.good = parts.recall.state.trusted  # as always, values lose their trust at twice the limit
        parts.validity.judge(parts.learner)
        self._recover("the values from before explain the motion again: the change is over")
        return True

    def routine(self) -> None:
        """Do what the monitor requests while no alarm stands; called at each review in motion."""
        parts, now = self.parts, self.parts.history.total
        if parts.nonlinear is None or parts.searching:
            return
        if parts.motion.period_wanted and parts.monitor.period_due(now):
            rows = parts.history.since(now - round(LOOK_BACK / parts.motion.row))
            parts.motion.found(motion_period(rows.y[:, 0]))
        moment = parts.moment(self.state.wanted)
        for asked in parts.monitor.routine(moment):
            self.consult(asked, moment)

    def begin_transient(self) -> None:
        """Begin the transient phase: the values from before the alarm are published until the monitor decides."""
        parts, state = self.parts, self.parts.learner.rls.state
        ago = state.since + state.onset
        window = parts.history.instants.span(ago)
        answer_for_change(parts.fit.state, parts.learner.state)
        self.state.phase, self.state.wanted = Phase.TRANSIENT, parts.validity.sure.copy()
        self.state.changed = window[0] if window else parts.log.state.time
        self.state.before[:], self.state.asking = parts.loop.good, True
        if parts.recall is not None:
            now, needed = parts.history.total, parts.motion.needed
            anew = parts.recall.alarmed(parts.loop.state.snapshot, now, needed, parts.validity.good)
            if parts.gradual is not None:
                parts.gradual.alarmed(now, self.state.changed, anew)
            parts.fit.consider_anew(parts.learner)
        # its cause may be a parameter that has never been identifiable, which is no change
        unidentified = parts.nonlinear is None and (
            parts.learner.unexcited.open or parts.learner.reversal.min() <= UNPROVEN
        )
        parts.motion.state.count = 0
        parts.fit.begin(parts.history.total, keep_identified=unidentified)
        parts.log.add_event(
            "alarm", "the residual has changed: learning anew, the last good values are reported", window
        )
        own = parts.monitor.alarmed(parts.history.total - ago, parts.moment(self.state.wanted))
        if unidentified:
            self.state.asking = False
        elif parts.nonlinear is None:
            parts.learner.discount_past()
            # the residual is large now and rounding is a small part of it: with the old weights nothing would be learnt
            parts.fit.weigh_rounding(parts.learner, parts.log.state.time)
        else:
            parts.nonlinear.relearning.alarmed(parts.monitor.onset, own)

    def follow(self, gradual: GradualChange) -> None:
        """Follow a change that goes on gradually.

        Once it is reported, earlier rows belong to other values, so the sums of the fit begin anew each time.
        """
        parts, now = self.parts, self.parts.history.total
        if gradual.follow(now, parts.fit.block, parts.motion.needed):
            self._follow_gradual_change(gradual)
        if gradual.state.reported:
            parts.fit.begin_moving(parts.learner, now)
        gradual.widen(parts.fit.block)
        if gradual.state.reported and not gradual.state.going:
            gradual.state.reported = False
            parts.log.add_event("recovered", "what changed gradually changes no longer", self._since(gradual))

    def _still_changes(self, own: bool) -> bool:
        """Whether the new values show that the change before them still goes on.

        own: whether the monitor has found that nothing changed, and the joint's own residual raised the alarm.
        """
        gradual, recall = self.parts.gradual, self.parts.recall
        if gradual is None or recall is None:
            return False
        return gradual.recovered(recall.state.learnt.state, self.parts.history.total, own)

    def _follow_gradual_change(self, gradual: GradualChange) -> None:
        """Report that values go on changing gradually, by how much a second, and follow them from now on."""
        parts, rate = self.parts, gradual.state.rate / self.parts.motion.row
        self.state.asking = False
        if parts.recall is not None:
            parts.recall.give_up()
        rates = ", ".join(
            f"{parts.parameters[i].name} by {rate[i]:+.2g} {parts.parameters[i].unit} a second"
            for i in np.flatnonzero(rate)
        )
        text = f"it goes on changing, gradually, and is followed: {rates}"
        self._recover(text, self._since(gradual), "recovered" if gradual.state.reported else "gradual")
        gradual.state.reported = True

    def _since(self, gradual: GradualChange) -> tuple[int, int]:
        """The time (ns) from the beginning of a gradual change until now."""
        return gradual.state.began, self.parts.log.state.time

    def consult(self, asked: WindowRequest | Decision, moment: Moment) -> None:
        """Carry out what the monitor decides; where it requests a window first, examine that and let it decide."""
        if not isinstance(asked, WindowRequest):
            self._carry_out(asked, None)
        elif self.parts.nonlinear is not None:
            examined = self.parts.nonlinear.relearning.windows.examine(asked, moment)
            self._carry_out(self.parts.monitor.review(examined.evidence), examined)

    def _carry_out(self, decision: Decision, examined: "ExaminedWindow | None") -> None:
        """Carry out a decision of the monitor; examined: the window that it was made from, if there is one."""
        parts = self.parts
        if isinstance(decision, Recover):
            if decision.usual:
                parts.learner.rls.accept_noise()
            if decision.own:
                parts.learner.rls.accept_excursion(parts.motion.row)
            if self._still_changes(decision.own) and parts.gradual is not None:
                self._follow_gradual_change(parts.gradual)
            else:
                self._recover(decision.text + OWN * decision.own)
        if parts.nonlinear is None:
            return
        relearning, now = parts.nonlinear.relearning, parts.history.total
        if isinstance(decision, SearchEta):
            relearning.search(decision, examined)
            self.settle_refits()
        elif isinstance(decision, GiveUp):
            text = relearning.give_up(decision.first)
            parts.monitor.learnt(now)
            parts.fit.begin(now)
            self._recover(text, parts.history.span(decision.first))
        elif examined is None:
            return
        elif isinstance(decision, Restore):
            parts.fit.begin(now)
            self._recover(relearning.restore(), parts.history.span(examined.evidence.first))
        elif isinstance(decision, LearnTheta):
            text = relearning.learn_theta(*examined)
            parts.monitor.learnt(now, examined.evidence.first)
            parts.fit.begin(now)
            self._recover(text, parts.history.span(examined.evidence.first))
        elif isinstance(decision, Sharpen):
            relearning.sharpen(*examined)

    def _recover(self, text: str, window: tuple[int, int] | None = None, kind: str = "recovered") -> None:
        """End a transient; window: of the new values, by default all since the change began; kind: of its event."""
        log = self.parts.log
        self.state.phase = Phase.NORMAL
        self.parts.loop.accept()
        log.add_event(kind, text, window or (self.state.changed, log.state.time))

    def ask_for_one_cause(self) -> None:
        """Report if all parameters have changed by one factor since the alarm: then the torque's scale has changed.

        A constant torque is left out: it may be a sensor's offset, to which no factor applies.
        """
        parts, state = self.parts, self.state
        state.asking = parts.motion.seconds < ASKED
        which = np.array([not one.name.endswith("offset") for one in parts.parameters])
        values, deviations = parts.learner.rls.theta, parts.learner.state.deviations
        if factor := one_factor(state.before[0], state.before[1], values, deviations, which):
            state.asking = False
            parts.log.add_event("scaled", str(factor), (state.changed, parts.log.state.time))

    def settle_refits(self) -> EndedRefit | None:
        """Accept or reject the refits that have ended; returns one that a start asked for, which judges it itself."""
        nonlinear = self.parts.nonlinear
        while nonlinear is not None and (found := nonlinear.refits.poll()) is not None:
            if found.pending.purpose == "start":
                return found
            self._settle(found, nonlinear)
        return None

    def _settle(self, found: EndedRefit, nonlinear: Nonlinear) -> None:
        """Accept or reject a refit that was asked for in normal mode or in a transient."""
        parts, pending, alarmed = self.parts, found.pending, self.state.phase is Phase.TRANSIENT
        reason, explains = nonlinear.relearning.judge(found)
        if reason or found.outcome is None:
            nonlinear.refits.rejected(pending, reason, found.outcome.search if found.outcome else None)
            rejection = Rejection(pending.first, pending.last, explains, parts.motion.needed)
            self._carry_out(parts.monitor.rejected(rejection, alarmed), None)
            return
        self.state.spectrum = nonlinear.relearning.take(found.outcome, pending, alarmed)
        parts.fit.begin(parts.history.total)
        parts.monitor.learnt(parts.history.total)
        parts.monitor.accepted(pending.purpose, pending.first, parts.moment(self.state.wanted))
        if alarmed:
            self._recover("new values and new η", pending.window)
