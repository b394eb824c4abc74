"""Lookback: the information of past rows on θ and η, and what was known of θ before a change."""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from estimators.base import Spectrum
from estimators.online.eta.in_force import EtaInForce
from estimators.online.judgement.validity import Validity
from estimators.quantisation.effect import READ, ExplainedWindow, beyond, imitated
from estimators.quantities import Floats, Parameter
from estimators.reasons import Reason
from estimators.recursive.learner import Learner
from estimators.recursive.prior import Prior, nothing
from estimators.recursive.state import RecursiveState
from estimators.refit.acceptance import delta
from estimators.refit.outcome import RefitOutcome
from estimators.rows import Rows
from estimators.window.row_history import RowHistory
from estimators.window.score_test import Score, explain
from estimators.window.spectrum import spectrum
from estimators.window.wrong_constants import Suspect, accused, suspected, too_coarse


@dataclass(slots=True)
class LookbackState:
    """State of a Lookback."""

    VERSION: ClassVar[int] = 4

    motions: Floats  # (parameters + nonlinear,)² [Φ T]ᵀ[Φ T] a row, over the start: all of the motion
    owed: Floats  # (parameters,) variances of θ that are owed to an encoder's steps
    constants: Floats  # (parameters,) … to known constants that were seen to be wrong
    usual: float = 1.0  # residual variance of the start, whitened
    wrong: dict[str, Any] = field(
        default_factory=dict
    )  # the reason, where known constants are so wrong that no value can be trusted


class Lookback:
    """Evaluates windows of the history with η frozen."""

    def __init__(self, learner: Learner, history: RowHistory, eta: EtaInForce, validity: Validity, row: float) -> None:
        """row: s between rows."""
        self._learner, self._history, self._eta, self._validity, self._row = learner, history, eta, validity, row
        self.state = LookbackState(np.zeros((0, 0)), np.zeros(learner.rls.p), np.zeros(learner.rls.p))
        self.before = self.nothing  # what was known of θ before the change that is looked into

    @property
    def nothing(self) -> Prior:
        """No prior."""
        return nothing(self._learner.rls.p)

    @property
    def wrong(self) -> tuple[Reason, ...]:
        """Known constants that are so wrong that nothing may be trusted."""
        return (Reason.of(self.state.wrong),) if self.state.wrong else ()

    @property
    def around(self) -> Prior:
        """What is known now of the columns that are not friction, as a prior."""
        return self.prior(self._learner.rls.state)

    def prior(self, state: RecursiveState) -> Prior:
        """Prior of the columns that are not friction, from a state: a change is first looked for in the friction."""
        learner, rest = self._learner, self._eta.block.rest
        prior = self.nothing._replace(theta=state.theta.copy())
        if len(rest):
            covariance, variance = learner.variance_of(state)
            factor = learner.deviation_factor[rest]
            spread = covariance[np.ix_(rest, rest)] * np.outer(factor, factor) * max(1.0, variance / self.state.usual)
            own = np.diag(spread)
            wider = np.sqrt(1.0 + learner.searched[rest] / (self._eta.overlap * self.state.usual * own))
            spread *= np.outer(wider, wider)
            prior.information[np.ix_(rest, rest)] = np.linalg.inv(spread)
        return prior

    def explain(self, first: int, before: Prior, noise: Floats | None = None) -> Score:
        """Score test of the rows since `first` with η frozen; noise: (outputs,) variances, by default the learner's."""
        rows, noise = self._history.since(first), self._learner.rls.noise if noise is None else noise
        slopes = self._history.slopes(rows, self._eta.block, self._eta.state.eta)
        return explain(rows, slopes, self._history.total - len(rows.time), self._eta.block, noise, before)

    def noise(self, score: Score, least: bool = True) -> float:
        """Variance of a row times the rows with the same information; least: take the window's where it is larger."""
        return self._eta.overlap * (max(self.state.usual, score.variance) if least else self.state.usual)

    def gain(self, score: Score, noise: float) -> float:
        """χ² of the step of η that explains a window best, with the uncertainty of η in force."""
        p = self._learner.rls.p
        free = score.inverse[p:, p:]
        return float(score.step @ np.linalg.solve(noise * free + self._eta.covariance, score.step))

    def reach(self, score: Score) -> float:
        """Variance of the torque of the whole motion as a window leaves it, as a multiple of a row's noise variance."""
        return self._eta.overlap * float(np.sum(score.inverse * self.state.motions))

    def limit(self, first: int) -> float:
        """Residual variance δ² up to which the rows since `first` count as explained."""
        rows = self._history.since(first)
        usable = np.isfinite(rows.y)
        signal = float(np.mean((rows.y / np.sqrt(self._learner.rls.noise))[usable] ** 2))
        return delta(self.state.usual, signal, self._eta.limits)

    def inflate(self, score: Score) -> None:
        """Set the variance of θ because η is uncertain: (dθ/ds) cov(s) (dθ/ds)ᵀ. More rows do not reduce it.

        For encoder steps it is their effect on θ and η together, or that of η alone, whichever is larger.
        """
        along, state = self._along(score), self._eta.state
        known, steps = (np.einsum("ij,jk,ik->i", along, one, along) for one in (state.covariance, self._eta.steps))
        self._learner.searched[:] = known + np.maximum(steps, self.state.owed) + self.state.constants
        self._validity.judge(self._learner)

    def weigh_steps(self, outcome: RefitOutcome) -> None:
        """Take the covariance of η and θ by encoder steps from an accepted search."""
        if outcome.steps is None:
            return
        p, white = self._learner.rls.p, outcome.white
        if white is None:
            white = np.zeros(len(outcome.steps))
        self._eta.state.steps, self._eta.state.white = outcome.steps[p:, p:].copy(), white[p:].copy()
        self.state.owed[:] = np.diag(beyond(outcome.steps, white, math.inf))[:p]

    def _along(self, score: Score) -> Floats:
        """dθ/ds (parameters, nonlinear)."""
        p, q = self._learner.rls.p, len(score.step)
        return score.inverse[:p, p:] @ np.linalg.inv(score.inverse[p:, p:]) if q else np.zeros((p, 0))

    def suspect(self, rows: Rows, theta: Floats, noise: Floats, searched: RefitOutcome | None = None) -> list[Suspect]:
        """Find known constants that are wrong by the last rows, under η in force; a grave error takes validity away.

        searched: a search over these rows, which has shifted their encoders already. From the next `inflate` on the
        deviations of θ contain the effect of the worst error. An error that encoder steps can imitate is no error of a
        constant; if it would be grave, the steps are the reason.
        """
        block, eta, last = self._eta.block, self._eta.state.eta, self._history.total
        ring = self._history.slopes(rows, block, eta)
        slopes = ring[np.arange(last - len(rows.time), last) % len(ring)]
        found = suspected(block, rows, eta, theta, noise, self._eta.overlap, slopes)
        p, (law, far) = self._learner.rls.p, self._eta.encoders
        if found and law is not None:
            if searched is None:
                part = rows.part(slice(max(0, len(rows.time) - round(READ / self._row)), None))
                steps = imitated(ExplainedWindow(block, part, eta, theta, noise, law, far))
            else:
                steps = searched.imitated
            real = [one for one in found if one.beyond(steps.get(one.name, 0.0))]
            if not real:
                self.state.constants[:] = 0.0
                self.state.wrong = too_coarse(found[0]).plain if found[0].grave else {}
                return []
            found = real
        done = [one.shift[:p] ** 2 + one.unsure[:p] ** 2 for one in found]
        self.state.constants[:] = np.max(done, axis=0) if done else 0.0
        self.state.wrong = accused(found)[0].plain if any(one.grave for one in found) else {}
        return found

    def window_spectrum(self, score: Score, parameters: tuple[Parameter, ...]) -> Spectrum:
        """Identifiable directions of a window, η included; prior knowledge counts as further rows; parameters: θ."""
        return spectrum(score.gram, tuple(one.name for one in (*parameters, *self._eta.block.nonlinear)))

    def ago(self, number: int) -> str:
        """Seconds of motion since the row of this number, as text."""
        return f"{(self._history.total - number) * self._row:.2f}"
