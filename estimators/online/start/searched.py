"""The start of a model with nonlinear parameters: it ends with a search that is certain of every parameter.

On the way the start corrects the encoders' zeros, uses another friction law with the same columns if that explains the
motion better, and names known constants that are wrong.
"""

import math
from typing import Final

import numpy as np

from estimators.base import UNKNOWN, Spectrum
from estimators.models.base import Model
from estimators.online.eta.in_force import EtaInForce
from estimators.online.eta.lookback import Lookback
from estimators.online.eta.refits import EtaRefits
from estimators.online.judgement.events import EventLog
from estimators.online.judgement.motion import MotionCount
from estimators.online.judgement.validity import Validity
from estimators.online.start.base import Failed, Started, StartWait, Verdict
from estimators.online.start.gathering import Gathering
from estimators.quantities import Floats
from estimators.reasons import Reason, joined
from estimators.recursive.cusum import calibrate
from estimators.recursive.forgetting import Threshold
from estimators.recursive.learner import Learner
from estimators.refit.acceptance import GROWTH, doubts
from estimators.refit.outcome import EndedRefit, Pending, RefitOutcome, SearchReport
from estimators.refit.settings import MonitorSettings
from estimators.rows import Rows
from estimators.window.row_history import RowHistory
from estimators.window.wrong_constants import accused, suspected

#: v₀, argued: k of the CUSUM while η is searched: a false alarm costs little there, a late one more.
ALLOWANCE: Final = 2.0
#: v₀, argued: h of the same CUSUM, at least; smaller than in normal mode for the same reason.
LIMIT: Final = 25.0
#: times, argued: The encoders' zeros are taken off this often in one start, at most.
RECENTRINGS: Final = 4
#: 1, argued: Share of the largest twist up to which a zero that was found in the residual is believed.
SMALL_ZERO: Final = 0.25
#: times, argued: A start begins anew because the joint has changed, at most; a residual that grows each time is another
#: kind of misfit.
CHANGES: Final = 3


class SearchedStart:
    """Gathers rows until a search over them is certain of every parameter."""

    def __init__(
        self,
        model: Model,
        learner: Learner,
        validity: Validity,
        motion: MotionCount,
        block: int,
        history: RowHistory,
        eta: EtaInForce,
        lookback: Lookback,
        refits: EtaRefits,
        log: EventLog,
        settings: MonitorSettings | None = None,
    ) -> None:
        """block: rows between two verdicts; settings: δ and δΘmin, where the start must keep them."""
        self._settings = settings or MonitorSettings()
        self._before: Floats | None = None  # [θ η] of the last search
        self.gathering = Gathering(learner, validity, motion)
        self.spectrum: Spectrum = UNKNOWN
        self.unsure: tuple[Reason, ...] = ()
        self._parameters = model.parameters
        self._spring = model.springs[0] if model.springs else None
        self._learner, self._validity, self._motion, self._block = learner, validity, motion, block
        self._history, self._eta, self._lookback, self._refits, self._log = history, eta, lookback, refits, log
        self._first = 0  # number of the start's first row
        self._try = 0  # rows of motion before which no refit is tried
        self._recentrings = 0
        self._residual: Floats | None = None  # variances (outputs,) that the last search left
        self._changes = 0  # restarts because the joint has changed

    def absorb(self, rows: Rows) -> int:
        """Take rows that taught; returns how many had no finite output."""
        return self.gathering.absorb(rows)

    def begin(self) -> bool:
        """Learn the scale of columns and outputs; returns whether enough rows are finite."""
        self._try, self._first = 0, self._history.total - self._motion.state.count
        if not self.gathering.begin():
            return False
        self._look(self.gathering.noise())
        self._peak()
        self._validity.judge(self._learner)
        return True

    def verdict(self, resting: bool) -> Verdict:
        """Wait for the refit; starts one where there is enough motion for it."""
        gathering, motion = self.gathering, self._motion
        self._peak()
        if gathering.due(self._block, resting):
            self._look(gathering.noise())
            gathering.check()
        if self._refits.pending is None and motion.state.count >= max(motion.needed, self._try):
            self._refits.ask("start", self._first, gathering.noise(), self._lookback.nothing)
        return StartWait()

    def found(self, found: EndedRefit) -> Verdict:
        """End the start when its refit is certain of every parameter, or when patience ends."""
        (outcome, reason, pending), motion = found, self._motion
        patient = motion.seconds < motion.patience
        if outcome is None:
            self._again(pending, reason)
            self.unsure = (Reason("search_failed", words={"cause": reason}),)
            return StartWait() if patient else Failed(f"no η was found in {motion.seconds:.0f} s of motion: {reason}")
        if cause := self._changed(outcome, pending):
            self._refits.rejected(pending, cause, outcome.search)
            return Failed(cause)
        if outcome.law is not None:
            words = self._eta.adopt(outcome.law)
            text = f"{words} explains the motion better than what is configured, and is used from now on"
            self._log.add_event("law", text, pending.window)
        if self._recentred(outcome, pending):
            return StartWait()
        leverage, signal = self.gathering.rows.scale(outcome.noise)
        deviations = np.sqrt(np.diag(outcome.covariance))[: self._learner.rls.p]
        self._validity.weigh(outcome.theta, deviations, leverage, signal)
        self.unsure = doubts(self._eta.block, outcome, self._eta.of_s(outcome), self._eta.limits)
        settled = self._unsettled(outcome)
        weak = self.unsure + self._validity.reasons
        if self._settings.design == "paper":
            weak = self.unsure = ()
        self.unsure += settled
        weak += settled
        if weak and patient:
            self._again(pending, joined(weak), outcome.search)
            return StartWait()
        return self._accept(outcome, pending)

    def restart(self) -> None:
        """Forget everything."""
        self.gathering.restart()
        self._before = self._residual = None
        self.spectrum, self._recentrings = UNKNOWN, 0
        self._eta.state.zero = 0.0

    def _changed(self, outcome: RefitOutcome, pending: Pending) -> str:
        """Why the window holds rows from before and after a change, in words; "" where it does not.

        No η explains both, and one that fits them best is wrong. A window that has grown by a fifth has a residual of
        1.44 times the variance only where that of the new rows is 3.6 times as large.
        """
        before, self._residual = self._residual, outcome.noise
        if before is None or self._changes >= CHANGES:
            return ""
        grown = math.sqrt(float(np.max(outcome.noise / before)))
        if grown <= self._eta.limits.noise:
            return ""
        self._changes += 1
        seconds = (pending.last - pending.first) * self._motion.row
        return (
            f"the joint has changed during its start: over {seconds:.0f} s the residual is {grown:.1f} times as large"
        )

    def _unsettled(self, outcome: RefitOutcome) -> tuple[Reason, ...]:
        """Which of N_err < δ and ΔΘ < δΘmin, where they are set, the start does not keep yet (steps 7 and 8)."""
        settings, found = self._settings, []
        error = math.sqrt(self._eta.noise(outcome.noise))
        if settings.delta is not None and error > settings.delta:
            found.append(f"the error is {error:.3g}, expected delta = {settings.delta:g} at most")
        now, before = np.concatenate([outcome.theta, outcome.eta]), self._before
        self._before = now
        if settings.delta_theta is not None:
            change = math.inf if before is None else float(np.max(np.abs(now - before) / np.abs(now)))
            if not change <= settings.delta_theta:
                said = "there is no search before" if before is None else f"a parameter has changed by {change:.2%}"
                found.append(f"{said}, expected delta_theta = {settings.delta_theta:g} at most")
        return tuple(Reason("start_unsettled", words={"cause": one}) for one in found)

    def _again(self, pending: Pending, reason: str, search: SearchReport | None = None) -> None:
        """Reject a refit; the next one needs more motion."""
        self._refits.rejected(pending, reason, search)
        self._try = round(GROWTH * self._motion.state.count)

    def _accept(self, outcome: RefitOutcome, pending: Pending) -> Started:
        eta, history, learner, gathering = self._eta, self._history, self._learner, self.gathering
        words = eta.accept(outcome, pending.last - pending.first)
        self._refits.accepted(pending, words, outcome.search)
        self._changes = 0
        eta.write(outcome.columns, pending.first, pending.last, history, outcome.slopes)
        rows = history.since(pending.first)
        suspects = self._lookback.suspect(rows, outcome.theta, outcome.noise, outcome)
        gathering.rows.clear()
        gathering.absorb(rows._replace(phi=rows.phi.copy(), y=rows.y.copy()))
        gathering.anchor = outcome.theta
        gathering.learn(outcome.noise)
        threshold = gathering.calibrate(self._threshold)
        self._lookback.state.usual = threshold.noise
        self._look(learner.rls.noise)
        self._peak()
        self._validity.judge(learner)
        weak = (*self._validity.missing, *accused(suspects))
        verdict = gathering.started(threshold, pending.first, str(self.spectrum), weak)
        score = self._lookback.explain(pending.first, self._lookback.nothing)
        self._lookback.state.motions = score.mean
        self._lookback.weigh_steps(outcome)
        self._lookback.inflate(score)
        return verdict

    def _threshold(self, squared: Floats) -> Threshold:
        return calibrate(squared, ALLOWANCE, LIMIT * self._eta.overlap)

    def _recentred(self, outcome: RefitOutcome, pending: Pending) -> bool:
        """Whether the residual shows that the encoders' zeros differ; then it corrects them and repeats the search."""
        spring, rows, eta = self._spring, self._history.since(pending.first), self._eta
        if spring is None or self._recentrings >= RECENTRINGS:
            return False
        rows = rows._replace(phi=rows.phi.copy())
        eta.block.refill(rows, outcome.eta)
        found = suspected(eta.block, rows, outcome.eta, outcome.theta, outcome.noise, eta.overlap)
        if not found or found[0].unit != "rad":
            return False
        zero, largest = found[0].error, float(np.nanmax(np.abs(rows.phi[:, :, spring.columns[0]])))
        if abs(zero) > SMALL_ZERO * largest:  # the cubic term is not known yet: the offsets know better
            if spring.offsets is None:
                return False
            zero = float(outcome.theta[list(spring.offsets)] @ (0.5, -0.5) / outcome.theta[spring.columns[0]])
        if abs(zero) > largest:
            return False
        self._recentrings += 1
        eta.state.zero += zero
        reason = f"the encoders' zeros differ by {1e3 * eta.state.zero:.3g} mrad, which is taken off"
        self._refits.rejected(pending, reason)
        eta.move_zero(self._history.since(0), zero)
        self._refits.ask("start", pending.first, outcome.noise, self._lookback.nothing)
        return True

    def _look(self, noise: Floats) -> None:
        """Find the identifiable directions of the window, η included; noise: (outputs,) variances."""
        try:
            score = self._lookback.explain(self._first, self._lookback.nothing, noise)
            self.spectrum = self._lookback.window_spectrum(score, self._parameters)
        except np.linalg.LinAlgError:  # values whose products overflow: the start's own tests will say so
            self.spectrum = UNKNOWN

    def _peak(self) -> None:
        """Update the largest torque through an elastic gear so far, with the present spring."""
        if self._spring is None:
            return
        linear, cubic = self._learner.rls.theta[list(self._spring.columns)]
        twist = self._history.largest(self._spring.output, self._spring.columns[0])
        state = self._validity.state
        state.peak = max(state.peak, abs(linear * twist + cubic * twist**3))
