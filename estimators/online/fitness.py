"""What is published of one joint's parameters once it is known how well its model fits: see adequacy.py.

Values are corrected for the encoder's steps, deviations hold what a misfit may have done, a status is VALID only
where both are small, and reasons name the cause. Slow change shortens the learner's memory instead of raising alarms.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from estimators.base import Estimate, Phase, Status
from estimators.conditioning.conditioner import Conditioner
from estimators.conditioning.encoder_steps import noise_of
from estimators.models.witnesses import Witnessed
from estimators.online.adequacy import HARMLESS, KNOWN, REMAINDER, Adequacy, Verdict
from estimators.online.phases import Phases
from estimators.online.report import IDLE
from estimators.online.validity import GOOD, LOSE, SMALL
from estimators.quantities import Floats
from estimators.recursive import state as at
from estimators.recursive.forgetting import ALARM
from estimators.rows import Rows

LAGS: Final = 0.3  # of a row's noise: what slow change may lag behind
ARRAYS: Final = (0, 1, 3, 7)  # of a verdict's fields
FAR: Final = 12.0  # of rms and deviations
MARGIN: Final = 1.5  # times the bias that witnesses show: noise in them hides a part
SHORTEST: Final = 12.0  # s of memory, at least two periods of the motion


class Fitness:
    """Of one joint whose model has witnesses."""

    def __init__(self, model: Witnessed, conditioner: Conditioner, phases: Phases, standstill: float) -> None:
        own = model.inner
        self._model, self._phases, self._standstill = own, phases, standstill
        self._rls = phases.parts.learner.rls
        self._row = conditioner.row_period
        self._memory = float(self._rls.state[at.CONSTANT]) if self._rls.state[at.LAW] == ALARM else 20.0 / self._row
        self._looked: tuple[float, int] = (0.0, 0)  # alarms and restarts so far
        self._weak = np.zeros(len(own.parameters), np.bool_)  # what a misfit has taken the trust from
        self._misfit = False
        self._correction = np.zeros(len(own.parameters))
        self._groups = model.groups
        self._settled = False
        self.step = 0.0
        self.fit(conditioner, 0.0)

    def fit(self, conditioner: Conditioner, step: float) -> None:
        """Begin anew with this kernel, and this step of the encoder (rad or m)."""
        correlation = autocorrelation(conditioner.taps, round(conditioner.row_period / conditioner.period))
        parameters = self._model.parameters
        self._adequacy = Adequacy(parameters, self._groups, correlation, self._row, self._memory * self._row)
        self.step = step
        if step > 0.0:
            self._adequacy.steps = noise_of(self._model, conditioner.taps, conditioner.period, step)

    def absorb(self, rows: Rows) -> None:
        """Rows with their witnesses, which the phases have just seen without."""
        state, phases = self._rls.state, self._phases
        looked = (float(state[at.ALARMS]), phases.kept.restarts)
        if looked != self._looked:
            self._looked = looked
            self._adequacy.reset()
            self._adequacy.verdict = None
        if phases.phase in IDLE:
            return
        if not self._settled and phases.phase is Phase.NORMAL and state[at.LAW] == ALARM:
            self._settled, self._memory = True, float(state[at.CONSTANT])
        teaches = (rows.speed[:, 0] >= self._standstill) & self._usual(rows)
        told = self._adequacy.absorb(rows, teaches, min(float(state[at.WEIGHT]) or 1.0, self._memory))
        verdict = self._adequacy.verdict
        if not told or verdict is None:
            return
        self._correction = verdict.correction
        if self._settled:
            self._remember(verdict.slope, verdict.noise, verdict.drifting)

    def _usual(self, rows: Rows) -> NDArray[np.bool_]:
        """Rows that the learner does not clip either: neither a column nor the error is far beyond what it has been."""
        learner, p = self._phases.parts.learner, len(self._model.parameters)
        size = learner.leverage * math.sqrt(self._rls.noise[0])
        with np.errstate(invalid="ignore"):
            error = np.abs(rows.y[:, 0] - rows.phi[:, 0, :p] @ self._rls.theta)
            usual = (np.abs(rows.phi[:, 0, :p]) <= FAR * size).all(axis=1)
        return np.asarray(usual & (error <= FAR * math.sqrt(self._rls.noise[0] * max(self._rls.variance(), 1e-300))))

    def _remember(self, slope: Floats, noise: float, drifting: bool) -> None:
        """The memory that slow change leaves: what it lags behind stays small in a row's noise."""
        state, wanted = self._rls.state, self._memory
        if drifting:
            rms = self._phases.parts.learner.leverage * math.sqrt(self._rls.noise[0])
            moved = float(np.abs(slope * rms).max()) * self._row  # N·m a row
            least = max(SHORTEST, 2.0 * self._phases.parts.motion.kept.cycle * self._row) / self._row
            wanted = min(self._memory, max(least, LAGS * math.sqrt(noise) / max(moved, 1e-300)))
        state[at.CONSTANT] = wanted
        state[at.MEMORY] = min(state[at.MEMORY], wanted)

    def told(self, estimate: Estimate) -> Estimate:
        """An estimate of the phases as it is published."""
        verdict, p = self._adequacy.verdict, len(self._model.parameters)
        if self._phases.phase in IDLE:
            return estimate
        correction = np.where(np.isfinite(self._correction), self._correction, 0.0)
        values = estimate.values.copy()
        values[:p] += correction
        deviations = estimate.deviations.copy()
        reasons: list[str] = []
        own = deviations[:p]
        extra = (REMAINDER * correction) ** 2
        if verdict is not None:
            share = verdict.weight / (verdict.weight + KNOWN)
            own = np.sqrt((1.0 - share) * own**2 + share * verdict.deviations**2)
            lag = verdict.slope * float(self._rls.state[at.MEMORY]) * self._row
            extra = extra + (MARGIN * verdict.bias) ** 2 + lag**2
        deviations[:p] = np.sqrt(own**2 + extra)
        coarse = ~np.isfinite(self._correction)
        deviations[:p][coarse] = np.inf
        reasons += self._weaknesses(values[:p], deviations[:p], coarse)
        status = estimate.status
        if reasons and status in (Status.VALID, Status.HELD):
            status = Status.LEARNING
        return replace(
            estimate, values=values, deviations=deviations, status=status, reasons=(*estimate.reasons, *reasons)
        )

    def _weaknesses(self, values: Floats, deviations: Floats, coarse: NDArray[np.bool_]) -> list[str]:
        """Why values may not be trusted although the learner is certain of them."""
        verdict, learner = self._adequacy.verdict, self._phases.parts.learner
        if coarse.any():
            names = ", ".join(self._model.parameters[i].name for i in np.flatnonzero(coarse))
            return [f"the encoder's steps of {self.step:.2g} are too coarse to tell {names}"]
        if verdict is None:
            return []
        with np.errstate(divide="ignore", invalid="ignore"):
            allowed = np.maximum(GOOD * np.abs(values), SMALL * learner.kept.signal / learner.leverage)
            excess = deviations / allowed
        self._weak = excess > np.where(self._weak, 1.0, LOSE)
        self._misfit = verdict.misfit > (0.7 if self._misfit else 1.0) * HARMLESS
        causes = "; ".join(verdict.causes)
        if self._misfit:
            return [f"the model leaves {100.0 * verdict.misfit:.0f} % of the torque: {causes}"]
        own = self._phases.parts.validity.valid
        return [
            f"{one.name} = {value:.4g} ± {deviation:.2g} {one.unit}: "
            + (causes or "what the model leaves is not noise")
            for one, value, deviation, weak, valid in zip(
                self._model.parameters, values, deviations, self._weak, own, strict=True
            )
            if weak and valid
        ]

    # --- what is kept

    def keep(self) -> dict[str, Any]:
        """What another start needs beside the phases' own."""
        verdict = self._adequacy.verdict
        told = [one.tolist() if isinstance(one, np.ndarray) else one for one in verdict] if verdict else None
        return {"step": self.step, "correction": self._correction.tolist(), "verdict": told}

    def resume(self, kept: Mapping[str, Any]) -> None:
        """Go on from that."""
        correction = np.array(kept["correction"], np.float64)
        if correction.shape == self._correction.shape:
            self._correction = correction
            self._looked = (float(self._rls.state[at.ALARMS]), self._phases.kept.restarts)
            if (told := kept["verdict"]) is not None:
                fields: list[Any] = [np.array(one) if i in ARRAYS else one for i, one in enumerate(told)]
                self._adequacy.verdict = Verdict(*fields)._replace(causes=tuple(told[5]))


def autocorrelation(taps: Floats, decimation: int) -> float:
    """1 + 2Σρ of white noise that has passed a kernel, one row in `decimation`: how many rows say the same."""
    whole = float(taps @ taps)
    lags = range(decimation, len(taps), decimation)
    return 1.0 + 2.0 * sum(float(taps[lag:] @ taps[:-lag]) for lag in lags) / whole
