"""What a joint's estimator has learnt: θ and P row by row, and how much wider each deviation is than P says.

    deviation_i = √(v · share · P_ii · honesty_i² · correlated_i² + unexcited_i + misfit_i + searched_i)

v: recent residual variance; share: Σw²/Σw of the rows' weights; honesty: for the residual's structure (a factor);
searched: what θ owes to η not being known, which stays while P becomes small; unexcited: variance of directions that no
motion has told yet; correlated, misfit: what the rows since have said of the residual's correlation (a factor) and of
the model (a squared error), see online/fit.py.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.recursive import state as at
from estimators.recursive.estimator import LARGEST, RecursiveLeastSquares
from estimators.recursive.forgetting import ALLOWANCE, LIMIT, NOISE, Forgetting, Threshold
from estimators.recursive.prior import Prior
from estimators.recursive.restart import COUNTERS, relearn
from estimators.recursive.unexcited import Unexcited

LEVERAGE, HONESTY, SEARCHED, UNEXCITED, CORRELATED, MISFIT, WEIGHTS = range(7)  # rows of `weights`
THRESHOLD: Final = [NOISE, ALLOWANCE, LIMIT]  # of the alarm in a state


@dataclass(slots=True)
class Learnt:
    """What a Learner keeps."""

    VERSION: ClassVar[int] = 6

    state: Floats  # flat, see state.py
    weights: Floats  # (WEIGHTS, parameters); LEVERAGE: rms of each column, whitened
    deviations: Floats  # (parameters,) as published
    signal: float  # rms of y, whitened
    reversal: Floats  # (outputs,) by which a row that sees a reversal is multiplied, see reversals.py
    grain: Floats  # (outputs,) variance of an encoder's white rounding over that of the residual, see grain.py
    usual: Floats  # (outputs,) mean noise of that rounding in a row, 1 at most, see there
    held: Floats  # (outputs,) of a sample's instant, over the residual's, 1/(N·m/s)², see held.py


class Learner:
    """One recursive least-squares estimator and the weights of its deviations."""

    def __init__(self, parameters: int, outputs: int, period: float, forgetting: Forgetting) -> None:
        """period: s between rows."""
        self.rls = RecursiveLeastSquares(parameters, outputs, period, forgetting)
        self.unexcited = Unexcited(parameters, LARGEST)
        weights = np.ones((WEIGHTS, parameters))
        weights[[SEARCHED, UNEXCITED, MISFIT]] = 0.0
        self.kept = Learnt(
            self.rls.state,
            weights,
            np.full(parameters, np.inf),
            0.0,
            np.ones(outputs),
            np.zeros(outputs),
            np.ones(outputs),
            np.zeros(outputs),
        )
        self.reversal = self.kept.reversal
        self.leverage, self.honesty, self.searched, self.unexcited_variance, self.correlated, self.misfit = weights

    def learn(self, phi: Floats, y: Floats, noise: Floats, leverage: Floats, signal: float, theta: Floats) -> None:
        """Begin from a wide prior around theta (parameters,), with these rows.

        phi (rows, outputs, parameters), y (rows, outputs); noise: (outputs,) variances; leverage, signal: as kept.
        """
        self.leverage[:], self.kept.signal = leverage, signal
        self.rls.begin(noise, self.leverage)
        self.rls.theta[:] = theta
        self.rls.absorb(phi, y)
        self.unexcited.begin(phi, noise, self.leverage, signal)

    def doubt(self) -> None:
        """What was known is no longer so: behind an alarm each direction waits until rows have told it again."""
        self.rls.doubt()
        self.unexcited.begin(np.zeros((0, self.rls.m, self.rls.p)), self.rls.noise, self.leverage, self.kept.signal)

    def relearn(self, before: Prior, theta: Floats, phi: Floats, y: Floats, memory: float) -> None:
        """θ and P from rows and what was known before; theta: where no data pull; memory: as RLS' settle."""
        threshold = self.threshold
        relearn(self.rls, self.leverage, before, theta, phi, y)
        self.rls.settle(threshold, memory)

    def take_over(self, learnt: Floats, phi: Floats, y: Floats, memory: float) -> None:
        """θ and P as a refit's worker has learnt them (its state), and the rows that came since."""
        rls, threshold, counters = self.rls, self.threshold, self.rls.state[COUNTERS]
        rls.state[:] = learnt
        rls.state[COUNTERS] += counters
        rls.absorb(np.ascontiguousarray(phi), np.ascontiguousarray(y))
        rls.settle(threshold, memory)

    def restore(self, state: Floats, phi: Floats, y: Floats) -> None:
        """An earlier state, and the rows that came since; alarms stay counted."""
        alarms = self.rls.state[at.ALARMS]
        self.rls.state[:] = state
        self.rls.absorb(np.ascontiguousarray(phi), np.ascontiguousarray(y))
        self.rls.state[at.ALARMS] = max(alarms, self.rls.state[at.ALARMS])

    @property
    def threshold(self) -> Threshold:
        """Of the alarm."""
        return Threshold(*self.rls.state[THRESHOLD])

    def variance_of(self, state: Floats) -> tuple[Floats, float]:
        """Covariance (parameters, parameters) and recent residual variance in another state of this learner."""
        current = self.rls.state.copy()
        self.rls.state[:] = state
        told = self.rls.covariance(), self.rls.variance()
        self.rls.state[:] = current
        return told

    def counters(self) -> dict[str, int]:
        """Totals: rows learnt from since the start, refused (not finite), clipped innovations, alarms."""
        named = {"learnt": at.ROWS, "refused": at.REFUSED, "clipped": at.CLIPPED, "alarms": at.ALARMS}
        return {name: int(self.rls.state[place]) for name, place in named.items()}


@inline
def own_deviations(state: Floats, weights: Floats, deviations: Floats) -> None:
    """√(v·share·P_ii·(honesty·correlated)² + unexcited + misfit) into deviations (parameters,); P = U D U′."""
    m, p = int(state[at.OUTPUTS]), int(state[at.PARAMETERS])
    long = at.HEADER + 5 * p + p * p + m
    variance = 0.0
    for j in range(m):
        variance += state[long + j] / m
    if state[at.WEIGHT] > 0.0:
        variance *= state[at.WEIGHT_2] / state[at.WEIGHT]
    d, u = at.HEADER + p, at.HEADER + 2 * p
    for i in range(p):
        own = state[d + i]
        for j in range(i + 1, p):
            entry = state[u + j * p + i]
            own += state[d + j] * entry * entry
        factor = (weights[HONESTY, i] * weights[CORRELATED, i]) ** 2
        deviations[i] = np.sqrt(variance * own * factor + weights[UNEXCITED, i] + weights[MISFIT, i])
