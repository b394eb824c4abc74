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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from estimators.base import UNKNOWN, Estimate, Event, Phase, Spectrum
from estimators.conditioning.conditioner import ROOM
from estimators.conditioning.stop import REVIEW, TAUGHT
from estimators.conditioning.stop import ROOM as ROOM_WANTED
from estimators.numerics.one_factor import one_factor
from estimators.online import checkpoint
from estimators.online.eta.found import EndedRefit
from estimators.online.judgement.motion import LOOK_BACK
from estimators.online.judgement.standstill import Seen
from estimators.online.judgement.validity import sick
from estimators.online.learning import Learning, RowLearner, learn_rows
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
from estimators.online.reporting import report
from estimators.online.start.base import Failed, Started, Verdict
from estimators.online.start.gathering import SCALE_WINDOW
from estimators.quantities import Floats, Settings
from estimators.recursive.weights.reversals import UNPROVEN
from estimators.rows import FormedRows, Rows, RowStore
from estimators.window.motion_period import motion_period

if TYPE_CHECKING:  # its kernels are heavy, see parts.py
    from estimators.online.monitor.window_evidence import Shown

#: s, argued: Motion behind an alarm within which one factor for all torques is looked for (decision 012, point 8).
ASKED: Final = 30.0
OWN: Final = "; nothing has changed: the joint's own residual raised it, and raises none again"
GATHERING: Final = (*report.IDLE, Phase.STARTING)  # phases in which a start wants rows


@dataclass(slots=True)
class PhasesState:
    """State of Phases."""

    VERSION: ClassVar[int] = 2

    wanted: NDArray[np.bool_]  # (parameters,) what was sure when the alarm came, and must be again
    before: Floats  # (2, parameters) values and deviations then
    asking: bool = False  # whether it is not known yet if all have changed by one factor
    spectrum: Spectrum = UNKNOWN  # of what was learnt from last
    phase: Phase = Phase.WAITING
    restarts: int = 0
    changed: int = 0  # ns, when what the last alarm was about began


class Phases:
    """State machine around the parts of one estimator; it alone carries out decisions."""

    WORKING: ClassVar[frozenset[str]] = frozenset({"learner", "report"})

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.kept = PhasesState(np.ones(len(parts.parameters), np.bool_), np.zeros((2, len(parts.parameters))))
        self.report = report.EstimateReport(parts)
        self.learner: RowLearner | None = None

    @property
    def phase(self) -> Phase:
        """Present phase; at rest it stays normal."""
        return self.kept.phase

    def attach(self, formed: FormedRows, seen: Seen | None = None) -> RowLearner:
        """Learn the rows that are written into `formed` from now on; seen: of a Standstill."""
        self.learner = RowLearner(self.parts, formed, seen or Seen())
        self.ready()
        return self.learner

    def absorb(self, rows: Rows) -> None:
        """Learn from rows that come from elsewhere than a row former, as studies do.

        They may lack motion and samples.
        """
        first, count = 0, len(rows.time)
        learning = (self.learner or self.attach(_formed(rows, self.parts.gate.owners))).state
        while first < count:
            part = self.parts.loop.weighed(rows.part(slice(first, first + ROOM)))
            learning.formed.rows.write(part)
            learning.first, learning.count = 0, len(part.time)
            learning.moving = self.parts.fit.active = len(part.motion) == len(part.time)
            self.ready()
            stop = learn_rows(learning)
            while stop == ROOM_WANTED or (stop == TAUGHT and learning.first < learning.count):
                self.answer(stop)
                stop = learn_rows(learning)
            self.answer(stop)
            first += learning.first
            learning.first = learning.count = 0

    def answer(self, stop: int) -> None:
        """Handle a stop of the pass: REVIEW, TAUGHT or ROOM; at any other stop only tell the parts how far it is."""
        assert self.learner is not None
        parts, state = self.parts, self.learner.state
        self.learner.note()
        if stop == ROOM_WANTED:
            parts.history.make_room(state.rows)
            return
        if stop not in (REVIEW, TAUGHT):
            return
        if state.gathers:
            self._hand_over(state)
        if stop == REVIEW:
            self.review()
        self.ready()

    def ready(self) -> None:
        """Tell the pass and the report what has been decided."""
        if self.learner is not None:
            self.learner.ready(self.kept.phase, self.due())
        self.report.ready(self.kept.phase)

    def _hand_over(self, state: Learning) -> None:
        """Give rows that have just taught to a start, and to the directions that are not identifiable yet."""
        parts, phase = self.parts, self.kept.phase
        which = state.begun + np.flatnonzero(state.taught[state.begun : state.first])
        part = state.rows.part(0, state.first).part(which)
        if not state.moving:
            part = part._replace(motion=part.motion[:0])
        if parts.learner.unexcited.open:
            parts.learner.unexcited.add(part.phi, parts.learner.rls.noise)
        if phase in GATHERING:
            refused = parts.start.absorb(part)
            if phase is not Phase.STARTING:  # else the learner counts them
                parts.learner.rls.state.refused += refused

    def due(self) -> int | None:
        """Number of the row from which the end of a block may decide something; None: every one may."""
        parts = self.parts
        if self.phase is not Phase.NORMAL or parts.learner.unexcited.open:
            return None
        due = parts.monitor.due(parts.searching)
        return None if due is None else min(due, parts.fit.due)

    def review(self) -> None:
        """End a block: judge, decide, and carry out what is decided."""
        parts, resting = self.parts, self.parts.gate.resting
        self._collect()
        if self.phase in report.IDLE:
            if parts.motion.seconds >= SCALE_WINDOW and parts.start.begin():
                self.kept.phase, self.kept.spectrum = Phase.STARTING, parts.start.spectrum
                self._unknown_fit()
            return
        if cause := sick(parts.learner):
            self._restart(cause)
            return
        if parts.history.total >= parts.fit.due and not parts.loop.alarm():
            if self._holds_again():
                return
            parts.fit.close(parts.learner, parts.history.total, parts.log.kept.time, self.phase is Phase.NORMAL)
            if parts.gradual is not None and parts.gradual.kept.going:
                self._follow(parts.gradual)
            parts.validity.kept.renew = True
            if parts.nonlinear is None:
                parts.fit.follow(parts.learner, self.phase is Phase.NORMAL)
            if self.kept.asking and self.phase is Phase.NORMAL:
                self._ask_for_one_cause()
        parts.validity.judge(parts.learner)
        if self.phase is Phase.STARTING:
            self._take(parts.start.verdict(resting))
            self._collect()
        elif self.phase is Phase.TRANSIENT:
            if parts.nonlinear is None and self.kept.asking and parts.learner.rls.state.since < parts.loop.block:
                parts.learner.doubt()  # another one: what the first rows behind the change told is not true, either
            moment = parts.moment(self.kept.wanted)
            self._consult(parts.monitor.transient(moment), moment)
        elif parts.loop.alarm():
            self._alarm()
        if self.phase is Phase.NORMAL and (rests := parts.loop.crossed()) is not None:
            parts.log.say("held" if rests else "moving", "standstill" if rests else "the joint moves again")
        if self.phase is Phase.NORMAL:
            parts.loop.remember()
            if not resting:
                self._routine()

    def _holds_again(self) -> bool:
        """Whether what was known before the last alarm holds again; if so it is in force."""
        parts, now = self.parts, self.parts.history.total
        usable = parts.recall is not None and self.phase in (Phase.NORMAL, Phase.TRANSIENT)
        if parts.recall is None or not usable or not parts.recall.holds(parts.fit.kept.sums, parts.fit.block, now):
            return False
        parts.recall.restore()
        self.kept.asking = False
        parts.fit.begin(now, keep_identified=True)
        parts.validity.kept.good = parts.recall.kept.trusted  # what was trusted is lost at twice the limit, as always
        parts.validity.judge(parts.learner)
        self._recover("what was known before explains the motion again: it has passed")
        return True

    def _routine(self) -> None:
        """Do what a monitor asks for while no alarm stands."""
        parts, now = self.parts, self.parts.history.total
        if parts.nonlinear is None or parts.searching:
            return
        if parts.motion.period_wanted and parts.monitor.period_due(now):
            rows = parts.history.since(now - round(LOOK_BACK / parts.motion.row))
            parts.motion.found(motion_period(rows.y[:, 0]))
        moment = parts.moment(self.kept.wanted)
        for asked in parts.monitor.routine(moment):
            self._consult(asked, moment)

    # --- starts

    def _take(self, verdict: Verdict) -> None:
        """Carry out the verdict of a start."""
        parts = self.parts
        self.kept.spectrum = parts.start.spectrum
        if isinstance(verdict, Failed):
            self._restart(verdict.cause)
        elif isinstance(verdict, Started):
            now = parts.history.total
            parts.monitor.started(verdict.threshold.noise, verdict.first, now)
            if parts.nonlinear is not None:  # the rows so far were of other columns: here they are with η
                parts.fit.review(parts.history.since(verdict.first), parts.learner, now)
                parts.validity.judge(parts.learner)
            elif parts.learner.rls.m > 1:
                parts.fit.correct(parts.learner, parts.log.kept.time)
                parts.fit.begin(now)  # the rows so far were weighed otherwise
            else:
                parts.fit.close(parts.learner, now, parts.log.kept.time, settled=True)
                parts.fit.roughen(parts.learner, parts.log.kept.time)
                parts.validity.judge(parts.learner)
            parts.loop.accept()
            parts.loop.begin()
            self.kept.phase = Phase.NORMAL
            parts.log.say("started", verdict.text, verdict.window)

    def _unknown_fit(self) -> None:
        self.parts.fit.begin(self.parts.history.total)
        self.parts.fit.forget(self.parts.learner)

    def _restart(self, cause: str) -> None:
        parts = self.parts
        self.kept.phase, self.kept.spectrum = Phase.FAULTED, UNKNOWN
        self.kept.restarts += 1
        parts.start.restart()
        parts.motion.restart()
        parts.log.say("fault", f"{cause}: starting again (restart {self.kept.restarts})")
        if parts.nonlinear is not None:
            parts.history.clear()
            parts.nonlinear.refits.drop()

    # --- alarms and what a monitor decides

    def _alarm(self) -> None:
        parts, state = self.parts, self.parts.learner.rls.state
        ago = state.since + state.onset
        window = parts.history.instants.span(ago)
        self.kept.phase, self.kept.wanted = Phase.TRANSIENT, parts.validity.sure.copy()
        self.kept.changed = window[0] if window else parts.log.kept.time
        self.kept.before[:], self.kept.asking = parts.loop.good, True
        if parts.recall is not None:
            now, needed = parts.history.total, parts.motion.needed
            anew = parts.recall.alarmed(parts.loop.kept.snapshot, now, needed, parts.validity.good)
            if parts.gradual is not None:
                parts.gradual.alarmed(now, self.kept.changed, anew)
            parts.fit.consider_anew(parts.learner)
        # it may be of what was never identifiable, which is no change
        unidentified = parts.nonlinear is None and (
            parts.learner.unexcited.open or parts.learner.reversal.min() <= UNPROVEN
        )
        parts.motion.kept.count = 0
        parts.fit.begin(parts.history.total, keep_identified=unidentified)
        parts.log.say("alarm", "the residual left what it was at the start: relearning, last good values stand", window)
        own = parts.monitor.alarmed(parts.history.total - ago, parts.moment(self.kept.wanted))
        if unidentified:
            self.kept.asking = False
        elif parts.nonlinear is None:
            parts.learner.doubt()
            # rounding is little of the residual that there is now: by weights of a smaller one nothing would be learnt
            parts.fit.roughen(parts.learner, parts.log.kept.time)
        else:
            parts.nonlinear.relearning.alarmed(parts.monitor.onset, own)

    def _follow(self, gradual: GradualChange) -> None:
        """Follow a change that goes on: once that is told, the rows so far are of another truth."""
        parts, now = self.parts, self.parts.history.total
        if gradual.follow(now, parts.fit.block, parts.motion.needed):
            self._goes_on(gradual)
        if gradual.kept.told:
            parts.fit.begin_moving(parts.learner, now)
        gradual.widen(parts.fit.block)
        if gradual.kept.told and not gradual.kept.going:
            gradual.kept.told = False
            parts.log.say("recovered", "what changed gradually changes no longer", self._since(gradual))

    def _continues(self, own: bool) -> bool:
        """Whether new values go on with a change before; own: whether nothing has changed."""
        gradual, recall = self.parts.gradual, self.parts.recall
        if gradual is None or recall is None:
            return False
        return gradual.recovered(recall.kept.learnt.state, self.parts.history.total, own)

    def _goes_on(self, gradual: GradualChange) -> None:
        """Say that what raised alarms goes on changing, and follow it."""
        parts, rate = self.parts, gradual.kept.rate / self.parts.motion.row
        self.kept.asking = False
        if parts.recall is not None:
            parts.recall.give_up()
        rates = ", ".join(
            f"{parts.parameters[i].name} by {rate[i]:+.2g} {parts.parameters[i].unit} a second"
            for i in np.flatnonzero(rate)
        )
        text = f"it goes on changing, gradually, and is followed: {rates}"
        self._recover(text, self._since(gradual), "recovered" if gradual.kept.told else "gradual")
        gradual.kept.told = True

    def _since(self, gradual: GradualChange) -> tuple[int, int]:
        return gradual.kept.began, self.parts.log.kept.time

    def _consult(self, asked: WindowRequest | Decision, moment: Moment) -> None:
        """Compute a window that the monitor requests, and carry out what it decides."""
        if not isinstance(asked, WindowRequest):
            self._carry_out(asked, None)
        elif self.parts.nonlinear is not None:
            shown = self.parts.nonlinear.relearning.windows.show(asked, moment)
            self._carry_out(self.parts.monitor.review(shown.evidence), shown)

    def _carry_out(self, decision: Decision, shown: "Shown | None") -> None:
        parts = self.parts
        if isinstance(decision, Recover):
            if decision.usual:
                parts.learner.rls.accept_noise()
            if decision.own:
                parts.learner.rls.accept_excursion(parts.motion.row)
            if self._continues(decision.own) and parts.gradual is not None:
                self._goes_on(parts.gradual)
            else:
                self._recover(decision.text + OWN * decision.own)
        if parts.nonlinear is None:
            return
        relearning, now = parts.nonlinear.relearning, parts.history.total
        if isinstance(decision, SearchEta):
            relearning.search(decision, shown)
            self._collect()
        elif isinstance(decision, GiveUp):
            text = relearning.give_up(decision.first)
            parts.monitor.learnt(now)
            parts.fit.begin(now)
            self._recover(text, parts.history.span(decision.first))
        elif shown is None:
            return
        elif isinstance(decision, Restore):
            parts.fit.begin(now)
            self._recover(relearning.restore(), parts.history.span(shown.evidence.first))
        elif isinstance(decision, LearnTheta):
            text = relearning.learn_theta(*shown)
            parts.monitor.learnt(now, shown.evidence.first)
            parts.fit.begin(now)
            self._recover(text, parts.history.span(shown.evidence.first))
        elif isinstance(decision, Sharpen):
            relearning.sharpen(*shown)

    def _recover(self, text: str, window: tuple[int, int] | None = None, kind: str = "recovered") -> None:
        """End a transient; window: of the new values, by default all since the change began; kind: of its event."""
        log = self.parts.log
        self.kept.phase = Phase.NORMAL
        self.parts.loop.accept()
        log.say(kind, text, window or (self.kept.changed, log.kept.time))

    def _ask_for_one_cause(self) -> None:
        """Whether all parameters have changed by one factor since the alarm; a constant torque may be a sensor's."""
        parts, kept = self.parts, self.kept
        kept.asking = parts.motion.seconds < ASKED
        which = np.array([not one.name.endswith("offset") for one in parts.parameters])
        values, deviations = parts.learner.rls.theta, parts.learner.kept.deviations
        if factor := one_factor(kept.before[0], kept.before[1], values, deviations, which):
            kept.asking = False
            parts.log.say("scaled", str(factor), (kept.changed, parts.log.kept.time))

    # --- refits

    def _collect(self) -> None:
        """Handle refits that have ended."""
        nonlinear = self.parts.nonlinear
        while nonlinear is not None and (found := nonlinear.refits.poll()) is not None:
            if found.pending.purpose == "start":
                self._take(self.parts.start.found(found))
            else:
                self._settle(found, nonlinear)

    def _settle(self, found: EndedRefit, nonlinear: Nonlinear) -> None:
        """Accept or reject a refit of normal mode."""
        parts, pending, alarmed = self.parts, found.pending, self.phase is Phase.TRANSIENT
        reason, explains = nonlinear.relearning.judge(found)
        if reason or found.outcome is None:
            nonlinear.refits.rejected(pending, reason, found.outcome.search if found.outcome else None)
            rejection = Rejection(pending.first, pending.last, explains, parts.motion.needed)
            self._carry_out(parts.monitor.rejected(rejection, alarmed), None)
            return
        self.kept.spectrum = nonlinear.relearning.take(found.outcome, pending, alarmed)
        parts.fit.begin(parts.history.total)
        parts.monitor.learnt(parts.history.total)
        parts.monitor.accepted(pending.purpose, pending.first, parts.moment(self.kept.wanted))
        if alarmed:
            self._recover("new values and new η", pending.window)

    # --- reports

    def estimate(self, figured: tuple[bool, bool] | None = None) -> Estimate:
        """Report; never learns; figured: see EstimateReport."""
        if figured is None and self.learner is not None:
            self.learner.note()
        return self.report.estimate(self.kept.phase, self.kept.spectrum, figured)

    def events(self) -> list[Event]:
        """Return what happened since the last call."""
        return self.parts.log.taken()

    def counters(self) -> dict[str, int]:
        """Totals: of the learner, restarts, and refits by their fate where there are any."""
        found = self.parts.learner.counters() | {"restarts": self.kept.restarts}
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
        """All parts with a state, by name."""
        return {"phases": self, **self.parts.keeping()}

    def keep(self) -> dict[str, Any] | None:
        """State for another start of the program; None while something is not settled."""
        if self.learner is not None:
            self.learner.note()
        if self.phase is not Phase.NORMAL or self.parts.searching or not self.parts.monitor.settled:
            return None
        return checkpoint.keep(self.keeping())

    def resume(self, kept: Mapping[str, Any]) -> None:
        """Go on from a state of the same settings; it has no rows, so what looks back begins anew.

        Raises NotTheSameError; this object is unusable then.
        """
        parts = self.parts
        if parts.nonlinear is not None and kept["eta"]["law"] != parts.nonlinear.eta.kept.law:
            raise checkpoint.NotTheSameError("another friction law was found meanwhile: it is searched again")
        checkpoint.resume(self.keeping(), kept)
        parts.monitor.resume(parts.history.total)
        if parts.nonlinear is not None:
            parts.loop.copy_state()
        parts.log.say("resumed", "the values from before the restart are used")


def _formed(rows: Rows, owners: NDArray[np.int64]) -> FormedRows:
    """Room for rows like these, which are as they are learnt."""
    outputs, parameters = rows.phi.shape[1:]
    laws, taps = rows.samples.shape[1], rows.samples.shape[3]
    return FormedRows(
        rows=RowStore.room(ROOM, outputs, parameters, rows.speed.shape[1], laws, taps),
        starts=np.zeros(ROOM, np.int64),
        signals=np.zeros((0, 0, 0)),
        taps=np.ones(1),
        owners=owners,
    )
