"""The recursive least-squares kernel against batch solutions in long double, and what it must never do."""

import numpy as np
import pytest

from estimators.quantities import Floats
from estimators.recursive.estimator import RecursiveLeastSquares
from estimators.recursive.forgetting import Alarm, Fixed, RandomWalk, Threshold
from tests.support.signals.layouts import packed

pytestmark = pytest.mark.interpreted

PERIOD = 0.01


def rows(count: int, p: int = 6, m: int = 2, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """phi, y, truth: columns of sizes from 1e-3 to 1e3."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** np.linspace(-3, 3, p)
    phi = rng.uniform(-1.0, 1.0, (count, m, p)) * scale
    truth = rng.uniform(0.5, 1.5, p) / scale
    return phi, phi @ truth + 0.01 * rng.uniform(-1.0, 1.0, (count, m)), truth


def solve(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Gaussian elimination in long double (NumPy's own works in double)."""
    a = np.column_stack([matrix, vector]).astype(np.longdouble)
    n = len(a)
    for i in range(n):
        pivot = i + int(np.argmax(np.abs(a[i:, i])))
        a[[i, pivot]] = a[[pivot, i]]
        a[i] /= a[i, i]
        for j in range(n):
            if j != i:
                a[j] -= a[j, i] * a[i]
    return a[:, n]


def fresh(p: int = 6, m: int = 2) -> RecursiveLeastSquares:
    """An estimator that starts from nothing, P∞ = 100 on columns of the sizes of `rows`."""
    rls = RecursiveLeastSquares(p, m, PERIOD, Alarm())
    rls.begin(np.ones(m), 10.0 ** np.linspace(-3, 3, p))
    return rls


@pytest.mark.parametrize("noise", [(1.0, 1.0), (0.3, 2.0)])
def test_equals_the_batch_solution_in_long_double(noise: tuple[float, float]) -> None:
    phi, y, _ = rows(2000)
    rls = fresh()
    rls.begin(np.array(noise), 10.0 ** np.linspace(-3, 3, 6))
    rls.absorb(phi, y)
    h = phi.astype(np.longdouble) / np.sqrt(np.array(noise, np.longdouble))[:, None]
    target = y.astype(np.longdouble) / np.sqrt(np.array(noise, np.longdouble))
    prior = np.diag(1.0 / (0.5 * rls.bound.astype(np.longdouble)))
    information = np.einsum("rmi,rmj->ij", h, h) + prior
    expected = solve(information, np.einsum("rmi,rm->i", h, target)).astype(np.float64)
    assert rls.state.clipped == 0
    np.testing.assert_allclose(rls.theta, expected, rtol=1e-10)
    columns = [solve(information, np.eye(6, dtype=np.longdouble)[:, i]) for i in range(6)]
    scale = np.sqrt(np.outer(rls.bound, rls.bound))
    np.testing.assert_allclose(rls.covariance() / scale, np.array(columns, np.float64) / scale, rtol=1e-9, atol=1e-13)


def test_fixed_forgetting_equals_the_weighted_batch_solution() -> None:
    phi, y, _ = rows(3000)
    memory = 2.0
    rls = RecursiveLeastSquares(6, 2, PERIOD, Fixed(memory=memory))
    rls.begin(np.ones(2), 10.0 ** np.linspace(-3, 3, 6))
    rls.settle(Threshold(1.0, 3.0, 60.0))
    rls.absorb(phi, y)
    weight = np.sqrt((1.0 - PERIOD / memory) ** np.arange(len(y))[::-1])[:, None]
    expected = np.linalg.lstsq((phi * weight[:, :, None]).reshape(-1, 6), (y * weight).ravel())[0]
    np.testing.assert_allclose(rls.theta, expected, rtol=1e-3)  # the bound weighs 1/100 row of 400
    assert rls.share() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("law", [Alarm(), RandomWalk()], ids=["alarm", "random_walk"])
def test_results_do_not_depend_on_how_rows_are_cut(law: Alarm | RandomWalk) -> None:
    phi, y, truth = rows(1000)
    y[600:] += phi[600:] @ (0.5 * truth)
    y[100, 0] = np.nan
    states = []
    for batch in (1, 8, 32, 1000):
        rls = RecursiveLeastSquares(6, 2, PERIOD, law)
        rls.begin(np.ones(2), 10.0 ** np.linspace(-3, 3, 6))
        rls.absorb(phi[:40], y[:40])
        rls.settle(Threshold(1e-4, 3.0, 60.0))
        for first in range(40, 1000, batch):
            last = min(1000, first + batch)
            rls.absorb(phi[first:last], y[first:last])
        states.append(packed(rls.state))
    assert len(set(states)) == 1
    if law.kind == "alarm":
        assert rls.state.alarms > 0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("place", ["phi", "y"])
def test_a_row_that_is_not_finite_leaves_the_state_as_it_was(value: float, place: str) -> None:
    phi, y, _ = rows(300)
    rls = fresh()
    rls.absorb(phi, y)
    rls.settle(Threshold(1e-4, 3.0, 60.0))
    rls.absorb(phi, y)
    before = rls.state.copied()
    bad_phi, bad_y = phi[:6].copy(), y[:6].copy()
    for row in range(6):
        if place == "phi":
            bad_phi[row, :, row] = value
        else:
            bad_y[row] = value
    rls.absorb(bad_phi, bad_y)
    assert rls.state.refused == 6
    before.refused, before.masked = rls.state.refused, rls.state.masked
    assert packed(rls.state) == packed(before)


def test_a_masked_output_teaches_nothing_and_the_other_does() -> None:
    phi, y, _ = rows(500)
    masked_phi, masked_y = phi.copy(), y.copy()
    masked_phi[::3, 1] = np.nan
    masked_y[::3, 1] = np.nan
    rls = fresh()
    rls.absorb(masked_phi, masked_y)
    kept = np.isfinite(masked_y).ravel()
    expected = np.linalg.lstsq(phi.reshape(-1, 6)[kept], y.ravel()[kept])[0]
    np.testing.assert_allclose(rls.theta, expected, rtol=1e-4)
    assert rls.state.masked == 167
    assert rls.state.refused == 0


def test_outliers_are_clipped() -> None:
    phi, y, truth = rows(2000)
    hit = np.random.default_rng(5).random(y.shape) < 0.002
    hit[:60] = False  # the residual variance is not known yet
    spiked = np.where(hit, y + 50.0, y)
    dirty = fresh()
    dirty.absorb(phi, spiked)
    plain = np.linalg.lstsq(phi.reshape(-1, 6), spiked.ravel())[0]
    assert dirty.state.clipped >= hit.sum()
    assert np.abs(dirty.theta / truth - 1).max() < 0.1 * np.abs(plain / truth - 1).max()


@pytest.mark.slow
@pytest.mark.parametrize("rest", [0.6, 0.99])
def test_a_day_of_mostly_rest_with_every_gate_open(rest: float) -> None:
    rng = np.random.default_rng(0)
    period, cycle = 1e-3, 100_000
    truth = np.array([1.2, 4.0, 6.0, 0.5])
    t = np.arange(cycle) * period
    speed = np.where(t < 100.0 * (1.0 - rest), np.sin(2 * np.pi * 3.0 * t) + np.sin(2 * np.pi * 7.0 * t), 0.0)
    phi = np.stack([np.gradient(speed, period), speed, np.tanh(speed / 0.01), np.ones(cycle)], axis=1)[:, None, :]
    rls = RecursiveLeastSquares(4, 1, period, Alarm())
    rls.begin(np.ones(1), np.sqrt(np.mean(phi[t < 1.0, 0] ** 2, axis=0)))
    for day_part in range(864):
        y = phi @ truth + 0.4 * rng.standard_normal((cycle, 1))
        if day_part == 1:
            rls.settle(Threshold(rls.variance(), 3.0, 60.0))
        rls.absorb(phi, y)
        assert all(np.isfinite(one).all() for one in rls.state.as_dict().values())
        assert (rls.d > 0).all()
        assert float(np.sum(np.diag(rls.covariance()) / rls.bound)) <= 1.2 * 4
    scale = np.sqrt(np.mean(phi[speed != 0, 0] ** 2, axis=0))
    assert np.linalg.norm(scale * (rls.theta - truth)) <= 1e-3 * np.linalg.norm(scale * truth)
