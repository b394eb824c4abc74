"""Learns θ and P of a joint row by row, with a covariance that is wider than P by what else is known.

    Σ = v · share · H S C Sᵀ H + unexcited + misfit          S = U √D, P = S Sᵀ, H = diag(deviation_factor)

v: recent residual variance; share: Σw²/Σw of the rows' weights; deviation_factor: for the residual's structure;
unexcited: covariance of directions that no motion has excited yet; C, misfit: what the rows since have shown of the
residual's correlation (a matrix in units of S, for a factor of each parameter would turn one direction into another)
and of the model, see online/judgement/model_fit.py. All are matrices: what the data do not distinguish is a direction.
In addition to Σ: unmodelled and seen, what torques of the angle that the model lacks may have done to θ
(misfit/unmodelled_torque.py); searched: the variance of θ because η is uncertain, which stays while P becomes small.
"""

from typing import Annotated, Any

import numpy as np

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.recursive.estimator import LARGEST, RecursiveLeastSquares
from estimators.recursive.forgetting import Forgetting, Threshold
from estimators.recursive.prior import Prior
from estimators.recursive.restart import COUNTERS, relearn
from estimators.recursive.state import RecursiveState
from estimators.recursive.unidentifiable import Unexcited
from jointwatch_numba.layout import Layout, Matrix, Vector, copy


class Learnt(Layout, version=12):
    """State of a Learner."""

    state: RecursiveState
    leverage: Annotated[Vector, "parameters"]  # rms of each column, whitened
    deviation_factor: Annotated[Vector, "parameters"]  # see above
    searched: Annotated[Vector, "parameters"]
    unexcited: Annotated[Matrix, "parameters", "parameters"]
    correlated: Annotated[Matrix, "parameters", "parameters"]  # C
    misfit: Annotated[Matrix, "parameters", "parameters"]
    unmodelled: Annotated[Matrix, "parameters", "parameters"]  # of θ, by torques of the angle that the model lacks …
    seen: Annotated[Matrix, "parameters", "parameters"]  # … and the part of it that rows show
    gram: Annotated[Matrix, "parameters", "parameters"]  # mean φφᵀ of a row, of the motion that is remembered
    deviations: Annotated[Vector, "parameters"]  # as published
    reversal: Annotated[Vector, "outputs"]  # by which a row that sees a reversal is multiplied, see reversals.py
    rounding: Annotated[Vector, "outputs"]  # variance of an encoder's white rounding over the residual's
    usual_rounding: Annotated[Vector, "outputs"]  # mean of that noise in a row, 1 at most
    timing: Annotated[Vector, "outputs"]  # variance of a sample's instant over the residual's, 1/(N·m/s)²
    weighed: Annotated[Vector, "outputs"]  # mean of the squared weights of the rows that the residual's variance is of
    signal: float = 0.0  # rms of y, whitened
    power: float = 0.0  # mean y² of a row, as of gram


class Learner:
    """One recursive least-squares estimator and the weights of its deviations."""

    def __init__(self, parameters: int, outputs: int, period: float, forgetting: Forgetting) -> None:
        """period: s between rows."""
        self.rls = RecursiveLeastSquares(parameters, outputs, period, forgetting)
        self.unexcited = Unexcited(parameters, LARGEST)
        self.state = state = Learnt.zeros(
            state=self.rls.state,
            leverage=np.ones(parameters),
            deviation_factor=np.ones(parameters),
            correlated=np.eye(parameters),
            deviations=np.full(parameters, np.inf),
            reversal=np.ones(outputs),
            usual_rounding=np.ones(outputs),
            weighed=np.ones(outputs),
            parameters=parameters,
            outputs=outputs,
        )
        self.reversal, self.leverage, self.deviation_factor, self.searched = (
            state.reversal, state.leverage, state.deviation_factor, state.searched
        )  # fmt: skip
        self.correlated, self.misfit = state.correlated, state.misfit

    def learn(self, phi: Floats, y: Floats, noise: Floats, leverage: Floats, signal: float, theta: Floats) -> None:
        """Begin from a wide prior around theta (parameters,), with these rows.

        phi (rows, outputs, parameters), y (rows, outputs); noise: (outputs,) variances; leverage, signal: as in Learnt.
        """
        self.leverage[:], self.state.signal = leverage, signal
        self.rls.begin(noise, self.leverage)
        self.rls.theta[:] = theta
        self.rls.absorb(phi, y)
        self.unexcited.begin(phi, noise, self.leverage, signal)
        usable = np.isfinite(y) & np.isfinite(phi).all(axis=2)
        flat = (phi / np.sqrt(noise)[:, None])[usable]
        self.state.gram[:], self.state.power = flat.T @ flat / max(len(y), 1), signal**2

    def discount_past(self) -> None:
        """Doubt all that was known: after an alarm each direction is not identifiable until rows excite it again."""
        self.rls.discount_past()
        self.unexcited.begin(np.zeros((0, self.rls.m, self.rls.p)), self.rls.noise, self.leverage, self.state.signal)

    def relearn(self, before: Prior, theta: Floats, phi: Floats, y: Floats, memory: float) -> None:
        """Learn θ and P from rows and what was known before; theta: where no data pull; memory: as of settle()."""
        threshold = self.threshold
        relearn(self.rls, self.leverage, before, theta, phi, y)
        self.rls.settle(threshold, memory)

    def take_over(self, learnt: dict[str, Any], phi: Floats, y: Floats, memory: float) -> None:
        """Take θ and P over from a refit's worker (the values of its state), and learn the rows that came since."""
        rls, threshold = self.rls, self.threshold
        counters = {name: getattr(rls.state, name) + learnt[name] for name in COUNTERS}
        copy(RecursiveState(**learnt | counters), rls.state)
        rls.absorb(np.ascontiguousarray(phi), np.ascontiguousarray(y))
        rls.settle(threshold, memory)

    def restore(self, state: RecursiveState, phi: Floats, y: Floats) -> None:
        """Go back to an earlier state, and learn the rows that came since; alarms stay counted."""
        alarms = self.rls.state.alarms
        copy(state, self.rls.state)
        self.rls.absorb(np.ascontiguousarray(phi), np.ascontiguousarray(y))
        self.rls.state.alarms = max(alarms, self.rls.state.alarms)

    @property
    def threshold(self) -> Threshold:
        """The alarm's threshold."""
        state = self.rls.state
        return Threshold(state.alarm_noise, state.allowance, state.limit, state.worst)

    def variance_of(self, state: RecursiveState) -> tuple[Floats, float]:
        """Covariance (parameters, parameters) and recent residual variance in another state of this learner."""
        current = self.rls.state.copied()
        copy(state, self.rls.state)
        found = self.rls.covariance(), self.rls.variance()
        copy(current, self.rls.state)
        return found

    def counters(self) -> dict[str, int]:
        """Totals: rows learnt from since the start, refused (not finite), clipped innovations, alarms."""
        state = self.rls.state
        return {"learnt": state.rows, "refused": state.refused, "clipped": state.clipped, "alarms": state.alarms}


@inline
def mean_variance(state: RecursiveState) -> float:
    """Recent residual variance, whitened; times P it is the covariance of θ."""
    total = 0.0
    for j in range(len(state.long)):
        total += state.long[j]
    return total / len(state.long)


@inline
def share_of_weights(state: RecursiveState) -> float:
    """Σw²/Σw of the rows' weights, see RecursiveLeastSquares.share."""
    return state.squared_weight / state.weight if state.weight > 0.0 else 1.0


@inline
def factor_of(state: RecursiveState, root: Floats) -> None:
    """Write the upper triangular S (p, p) of P = S Sᵀ."""
    p = len(state.d)
    for j in range(p):
        size = np.sqrt(state.d[j])
        root[j, j] = size
        for i in range(p):
            if i != j:
                root[i, j] = state.u[j, i] * size if i < j else 0.0


@inline
def covariance_of(learnt: Learnt, out: Floats) -> None:
    """Write Σ (parameters, parameters) of θ."""
    state = learnt.state
    m, p, d = state.outputs, state.parameters, state.d
    variance = 0.0
    for j in range(m):
        variance += state.long[j] / m
    if state.weight > 0.0:
        variance *= state.squared_weight / state.weight
    root, middle = np.zeros((p, p)), np.zeros((p, p))
    for j in range(p):
        size = np.sqrt(d[j] * variance)
        root[j, j] = size * learnt.deviation_factor[j]
        for i in range(j):
            root[i, j] = state.u[j, i] * size * learnt.deviation_factor[i]
    for i in range(p):
        for k in range(p):
            for j in range(i, p):
                middle[i, k] += root[i, j] * learnt.correlated[j, k]
    for i in range(p):
        for k in range(i + 1):
            entry = learnt.unexcited[i, k] + learnt.misfit[i, k]
            for j in range(k, p):
                entry += middle[i, j] * root[k, j]
            out[i, k] = out[k, i] = entry


@kernel((Learnt, "f8[:, ::1]"))
def write_covariance(learnt: Learnt, out: Floats) -> None:
    """Write Σ (parameters, parameters) of θ, called from Python."""
    covariance_of(learnt, out)
