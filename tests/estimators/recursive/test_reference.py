"""The kernel row by row against the same algorithm with whole covariance matrices, under every forgetting law."""

import math

import numpy as np
import pytest

from estimators.quantities import Floats
from estimators.recursive import state as at
from estimators.recursive.estimator import RecursiveLeastSquares
from estimators.recursive.forgetting import (
    RANDOM_WALK,
    Alarm,
    Fixed,
    Forgetting,
    Fortescue,
    Paleologu,
    RandomWalk,
    Threshold,
    VarianceRatio,
    next_lambda,
)

pytestmark = pytest.mark.interpreted

P, M, PERIOD = 4, 2, 0.01
SCALE = np.array([0.1, 1.0, 3.0, 20.0])
STARTED, COUNT = 60, 260
FIGURES = (
    *("LAMBDA", "FORGOTTEN", "AXIS", "ROWS", "REFUSED", "MASKED", "CLIPPED", "WEIGHT", "WEIGHT_2", "CUSUM"),
    *("EXCURSION", "ALARMS", "SINCE", "MEMORY", "ERROR", "SIGNAL"),
)


class Dense:
    """θ and P (Kalman's form, P ← P − P h h'P/α), with running means; takes over where an estimator is."""

    def __init__(self, rls: RecursiveLeastSquares) -> None:
        self.s = rls.state.copy()
        self.theta, self.P, self.noise, self.bound = rls.theta.copy(), rls.covariance(), rls.noise.copy(), rls.bound
        self.visited = np.zeros(P)
        self.long, self.short = np.zeros(M), np.zeros(M)

    def take(self, phi: Floats, y: Floats) -> None:
        """One row: phi (M, P), y (M,)."""
        s, told = self.s, np.isfinite(phi).all(axis=1) & np.isfinite(y)
        s[at.MASKED] += np.count_nonzero(~told)
        if not told.any():
            s[at.REFUSED] += 1
            return
        self.P = self.P / s[at.LAMBDA]
        count, young = s[at.ROWS] + 1.0, s[at.ROWS] + 1.0 <= 10 * P
        opened = s[at.SINCE] < s[at.OPEN]
        sums = np.zeros(6)  # q, clipped q, e²/r, the same clipped, z/r, y²/r
        for j in np.flatnonzero(told):
            h, r = phi[j], self.noise[j]
            e, gain = y[j] - h @ self.theta, self.P @ h
            alpha = r + h @ gain
            q = clipped = e**2 / alpha
            sums[[2, 5]] += e**2 / r, y[j] ** 2 / r
            level = max(self.long[j], s[at.LEAST], self.short[j] if opened else 0.0)
            if not young and q > 25.0 * level:
                clipped, e = 25.0 * level, math.copysign(math.sqrt(25.0 * level * alpha), e)
                s[at.CLIPPED] += 1
            self.theta = self.theta + gain * e / alpha
            self.P = self.P - np.outer(gain, gain) / alpha
            most = clipped if young else min(clipped, 9.0 * self.long[j])
            self.long[j] += max(s[at.RATE_LONG], 1.0 / count) * (most - self.long[j])
            self.short[j] += max(s[at.RATE_SHORT], 1.0 / count) * (clipped - self.short[j])
            sums[[0, 1, 3, 4]] += q, clipped, e**2 / r, (alpha - r) / r
        s[at.ROWS] = count
        lam, rate = s[at.LAMBDA], max(s[at.RATE_ERROR], 1.0 / count)
        s[at.FORGOTTEN] += 1.0 - lam
        s[at.WEIGHT], s[at.WEIGHT_2] = lam * s[at.WEIGHT] + 1.0, lam**2 * s[at.WEIGHT_2] + 1.0
        s[at.ERROR] += rate * (sums[2] - s[at.ERROR])
        s[at.SIGNAL] += rate * (sums[5] - s[at.SIGNAL])
        if s[at.STARTING] == 1.0:
            return
        if s[at.LAW] == RANDOM_WALK:
            self._wander()
        else:
            self._bound()
        mean = sums / np.count_nonzero(told)
        s[at.LAMBDA] = next_lambda(s, self.long.mean(), self.short.mean(), mean[0], mean[1], mean[3], mean[4])

    def _bound(self) -> None:
        for turn in range(P):
            axis = int(self.s[at.AXIS])
            share = self.s[at.FORGOTTEN] - self.visited[axis]
            if share < 0.01 or (turn > 0 and share < 0.25):
                return
            gain = self.P[:, axis].copy()
            self.P = self.P - np.outer(gain, gain) / (gain[axis] + 0.5 * self.bound[axis] / share)
            self.visited[axis] = self.s[at.FORGOTTEN]
            self.s[at.AXIS] = (axis + 1) % P

    def _wander(self) -> None:
        axis = int(self.s[at.AXIS])
        room = self.bound[axis] - self.P[axis, axis]
        self.P[axis, axis] += max(0.0, min(P * self.s[at.CONSTANT] * self.bound[axis], room))
        self.s[at.AXIS] = (axis + 1) % P


def rows() -> tuple[Floats, Floats]:
    """With outliers, missing values, a jump, and a column that rests for a while."""
    rng = np.random.default_rng(4)
    phi = rng.uniform(-1.0, 1.0, (COUNT, M, P)) * SCALE
    phi[150:190, :, 2] = 0.0
    theta = np.array([3.0, -1.0, 0.5, 0.02])
    y = phi @ theta + rng.normal(0.0, 0.05, (COUNT, M)) * np.sqrt((0.3, 2.0))
    y[200:] += phi[200:] @ (0.5 * theta)
    y[[70, 120], [0, 1]] += 9.0
    y[90, 1] = phi[95, 0, 0] = y[100, 0] = y[100, 1] = np.nan
    return phi, y


@pytest.mark.parametrize(
    "law",
    [Alarm(), Fixed(memory=0.4), Fortescue(), Paleologu(), VarianceRatio(), RandomWalk()],
    ids=lambda law: str(law.kind),
)
def test_it_is_what_whole_matrices_give(law: Forgetting) -> None:
    phi, y = rows()
    rls = RecursiveLeastSquares(P, M, PERIOD, law)
    rls.begin(np.array([0.3, 2.0]), SCALE, largest=2.0)
    dense = Dense(rls)
    for row in range(COUNT):
        if row == STARTED:
            rls.settle(Threshold(2.5e-3, 3.0, 20.0))
            dense.s[: at.HEADER] = rls.state[: at.HEADER]
        rls.absorb(phi[row : row + 1], y[row : row + 1])
        dense.take(phi[row], y[row])
        for name in FIGURES:
            which = getattr(at, name)
            assert rls.state[which] == pytest.approx(dense.s[which], rel=1e-7, abs=1e-12), (name, row)
    unit = np.sqrt(np.outer(rls.bound, rls.bound))
    np.testing.assert_allclose(rls.theta, dense.theta, rtol=1e-7)
    np.testing.assert_allclose(rls.covariance() / unit, dense.P / unit, rtol=1e-6, atol=1e-10)
    assert rls.variance() == pytest.approx(dense.long.mean(), rel=1e-7)
    assert rls.recent_variance() == pytest.approx(dense.short.mean(), rel=1e-7)
    assert rls.state[at.CLIPPED] >= 2
    assert (rls.state[at.MASKED], rls.state[at.REFUSED]) == (4, 1)
    if law.kind != "random_walk":
        assert rls.state[at.LAMBDA] < 1.0 or rls.state[at.FORGOTTEN] > 0.0
