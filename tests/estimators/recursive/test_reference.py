"""The kernel row by row against the same algorithm with whole covariance matrices, under every forgetting law."""

import math

import numpy as np
import pytest

from estimators.quantities import Floats
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
from jointwatch_numba.layout import copy

pytestmark = pytest.mark.interpreted

P, M, PERIOD = 4, 2, 0.01
SCALE = np.array([0.1, 1.0, 3.0, 20.0])
STARTED, COUNT = 60, 260
FIGURES = (
    *("forgetting", "forgotten", "axis", "rows", "refused", "masked", "clipped", "weight", "squared_weight", "cusum"),
    *("excursion", "alarms", "since", "memory", "error", "signal"),
)


class Dense:
    """θ and P (Kalman's form, P ← P − P h h'P/α), with running means; takes over where an estimator is."""

    def __init__(self, rls: RecursiveLeastSquares) -> None:
        self.s = rls.state.copied()
        self.theta, self.P, self.noise, self.bound = rls.theta.copy(), rls.covariance(), rls.noise.copy(), rls.bound
        self.visited = np.zeros(P)
        self.long, self.short = np.zeros(M), np.zeros(M)

    def take(self, phi: Floats, y: Floats) -> None:
        """One row: phi (M, P), y (M,)."""
        s, told = self.s, np.isfinite(phi).all(axis=1) & np.isfinite(y)
        s.masked += np.count_nonzero(~told)
        if not told.any():
            s.refused += 1
            return
        self.P = self.P / s.forgetting
        count, young = s.rows + 1, s.rows + 1 <= 10 * P
        opened = s.since < s.opened
        sums = np.zeros(6)  # q, clipped q, e²/r, the same clipped, z/r, y²/r
        for j in np.flatnonzero(told):
            h, r = phi[j], self.noise[j]
            e, gain = y[j] - h @ self.theta, self.P @ h
            alpha = r + h @ gain
            q = clipped = e**2 / alpha
            sums[[2, 5]] += e**2 / r, y[j] ** 2 / r
            level = max(self.long[j], s.least, self.short[j] if opened else 0.0)
            if not young and q > 25.0 * level:
                clipped, e = 25.0 * level, math.copysign(math.sqrt(25.0 * level * alpha), e)
                s.clipped += 1
            self.theta = self.theta + gain * e / alpha
            self.P = self.P - np.outer(gain, gain) / alpha
            most = clipped if young else min(clipped, 9.0 * self.long[j])
            self.long[j] += max(s.rate_long, 1.0 / count) * (most - self.long[j])
            self.short[j] += max(s.rate_short, 1.0 / count) * (clipped - self.short[j])
            sums[[0, 1, 3, 4]] += q, clipped, e**2 / r, (alpha - r) / r
        s.rows = count
        lam, rate = s.forgetting, max(s.rate_error, 1.0 / count)
        s.forgotten += 1.0 - lam
        s.weight, s.squared_weight = lam * s.weight + 1.0, lam**2 * s.squared_weight + 1.0
        s.error += rate * (sums[2] - s.error)
        s.signal += rate * (sums[5] - s.signal)
        if s.starting:
            return
        if s.law == RANDOM_WALK:
            self._wander()
        else:
            self._bound()
        mean = sums / np.count_nonzero(told)
        s.forgetting = next_lambda(s, self.long.mean(), self.short.mean(), mean[0], mean[1], mean[3], mean[4])

    def _bound(self) -> None:
        for turn in range(P):
            axis = self.s.axis
            share = self.s.forgotten - self.visited[axis]
            if share < 0.01 or (turn > 0 and share < 0.25):
                return
            gain = self.P[:, axis].copy()
            self.P = self.P - np.outer(gain, gain) / (gain[axis] + 0.5 * self.bound[axis] / share)
            self.visited[axis] = self.s.forgotten
            self.s.axis = (axis + 1) % P

    def _wander(self) -> None:
        axis = self.s.axis
        room = self.bound[axis] - self.P[axis, axis]
        self.P[axis, axis] += max(0.0, min(P * self.s.walk * self.bound[axis], room))
        self.s.axis = (axis + 1) % P


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
            copy(rls.state, dense.s)
        rls.absorb(phi[row : row + 1], y[row : row + 1])
        dense.take(phi[row], y[row])
        for name in FIGURES:
            assert getattr(rls.state, name) == pytest.approx(getattr(dense.s, name), rel=1e-7, abs=1e-12), (name, row)
    unit = np.sqrt(np.outer(rls.bound, rls.bound))
    np.testing.assert_allclose(rls.theta, dense.theta, rtol=1e-7)
    np.testing.assert_allclose(rls.covariance() / unit, dense.P / unit, rtol=1e-6, atol=1e-10)
    assert rls.variance() == pytest.approx(dense.long.mean(), rel=1e-7)
    assert rls.recent_variance() == pytest.approx(dense.short.mean(), rel=1e-7)
    assert rls.state.clipped >= 2
    assert (rls.state.masked, rls.state.refused) == (4, 1)
    if law.kind != "random_walk":
        assert rls.state.forgetting < 1.0 or rls.state.forgotten > 0.0
