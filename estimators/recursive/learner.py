"""What a joint's estimator has learnt: θ and P row by row, and how much wider each deviation is than P says.

    deviation_i = √(v · share · P_ii · honesty_i² · correlated_i² + unexcited_i + misfit_i + searched_i)

v: recent residual variance; share: Σw²/Σw of the rows' weights; honesty: for the residual's structure (a factor);
searched: what θ owes to η not being known, which stays while P becomes small; unexcited: variance of directions that no
motion has told yet; correlated, misfit: what the rows since have said of the residual's correlation (a factor) and of
the model (a squared error), see online/fit.py.
"""

from typing import Annotated, Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.recursive import state as at
from estimators.recursive.estimator import LARGEST, RecursiveLeastSquares
from estimators.recursive.forgetting import ALLOWANCE, LIMIT, NOISE, Forgetting, Threshold
from estimators.recursive.prior import Prior
from estimators.recursive.restart import COUNTERS, relearn
from estimators.recursive.unidentifiable import Unexcited
from jointwatch_layout import Layout, Vector

THRESHOLD: Final = [NOISE, ALLOWANCE, LIMIT]  # of the alarm in a state


class Learnt(Layout, version=7):
    """What a Learner keeps."""

    state: Vector  # flat, see state.py
    leverage: Annotated[Vector, "parameters"]  # rms of each column, whitened
    honesty: Annotated[Vector, "parameters"]  # see above
    searched: Annotated[Vector, "parameters"]
    unexcited: Annotated[Vector, "parameters"]
    correlated: Annotated[Vector, "parameters"]
    misfit: Annotated[Vector, "parameters"]
    deviations: Annotated[Vector, "parameters"]  # as published
    reversal: Annotated[Vector, "outputs"]  # by which a row that sees a reversal is multiplied, see reversals.py
    grain: Annotated[Vector, "outputs"]  # variance of an encoder's white rounding over the residual's, see grain.py
    usual: Annotated[Vector, "outputs"]  # mean noise of that rounding in a row, 1 at most, see there
    held: Annotated[Vector, "outputs"]  # variance of a sample's instant over the residual's, 1/(N·m/s)², see held.py
    signal: float = 0.0  # rms of y, whitened


class Learner:
    """One recursive least-squares estimator and the weights of its deviations."""

    def __init__(self, parameters: int, outputs: int, period: float, forgetting: Forgetting) -> None:
        """period: s between rows."""
        self.rls = RecursiveLeastSquares(parameters, outputs, period, forgetting)
        self.unexcited = Unexcited(parameters, LARGEST)
        self.kept = kept = Learnt.zeros(
            state=self.rls.state,
            leverage=np.ones(parameters),
            honesty=np.ones(parameters),
            correlated=np.ones(parameters),
            deviations=np.full(parameters, np.inf),
            reversal=np.ones(outputs),
            usual=np.ones(outputs),
            parameters=parameters,
            outputs=outputs,
        )
        self.reversal, self.leverage, self.honesty, self.searched = (
            kept.reversal, kept.leverage, kept.honesty, kept.searched
        )  # fmt: skip
        self.unexcited_variance, self.correlated, self.misfit = kept.unexcited, kept.correlated, kept.misfit

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
def own_deviations(learnt: Learnt, deviations: Floats) -> None:
    """√(v·share·P_ii·(honesty·correlated)² + unexcited + misfit) into deviations (parameters,); P = U D U′."""
    state = learnt.state
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
        factor = (learnt.honesty[i] * learnt.correlated[i]) ** 2
        deviations[i] = np.sqrt(variance * own * factor + learnt.unexcited[i] + learnt.misfit[i])
