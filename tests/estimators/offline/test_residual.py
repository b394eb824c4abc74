"""Residual models: mixtures against the definition, bases against least squares, the watch that switches off."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from estimators.offline.residual.base import Watch, inputs, structural
from estimators.offline.residual.gmr import GaussianMixtureRegression
from estimators.offline.residual.rbf import RadialBases
from estimators.quantities import Floats

pytestmark = pytest.mark.compiled


def data(seed: int, rows: int = 1500) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(rows, 2)) * (1e-3, 2e-2)
    f = 2.0 * np.tanh(u[:, 0] / 5e-4) + 30.0 * u[:, 1]
    return u, f, f + 0.1 * rng.normal(size=rows)


def test_a_mixture_is_the_mean_of_y_given_u() -> None:
    """Against the joint density, integrated over y."""
    pytest.importorskip("sklearn")
    u, _, y = data(1)
    found = GaussianMixtureRegression.fit(u, y, 4)
    d = u.shape[1]
    mean, deviation = found.with_deviation(u[:5])
    line = np.linspace(-8.0, 8.0, 20_001)
    for row in range(5):
        standard = (u[row] - found.centre[:d]) / found.scale[:d]
        density = np.zeros_like(line)
        for k in range(4):
            inner = np.linalg.inv(found.precision[k])
            across = found.gain[k] @ inner
            whole = np.block([[inner, across[:, None]], [across[None], found.left[k] + found.gain[k] @ across]])
            weight = np.exp(found.factor[k]) * np.sqrt(np.linalg.det(inner))
            points = np.column_stack((np.tile(standard, (len(line), 1)), line))
            density += weight * multivariate_normal(found.mean[k], whole).pdf(points)
        density /= density.sum()
        first = (density * line).sum()
        second = (density * line**2).sum() - first**2
        assert mean[row] == pytest.approx(first * found.scale[d] + found.centre[d], rel=1e-4, abs=1e-6)
        assert deviation[row] == pytest.approx(np.sqrt(second) * found.scale[d], rel=1e-3)


def test_models_learn_what_the_twist_tells() -> None:
    pytest.importorskip("sklearn")
    u, _, y = data(1)
    v, truth, _ = data(2)
    plain = np.sqrt(np.mean(truth**2))
    models = (
        GaussianMixtureRegression.fit(u, y, 6),
        RadialBases.fit(u, y),
        RadialBases.fit(u, y, average=False),
    )
    errors = [np.sqrt(np.mean((truth - model.predict(v)) ** 2)) / plain for model in models]
    assert errors[0] < 0.15
    assert errors[2] < errors[1] < 0.6, "least squares betters the published average"


def test_the_watch_lets_in_what_helps_and_puts_out_what_does_not() -> None:
    rng = np.random.default_rng(3)
    residual = rng.normal(size=3000)
    good, bad = 0.8 * residual, -residual
    learnt = np.concatenate([good[:1000], bad[1000:2000], good[2000:]])
    watch = Watch(200)
    parts = [watch.absorb(residual[i : i + 7], learnt[i : i + 7]) for i in range(0, 3000, 7)]
    left = np.concatenate(parts)
    assert np.array_equal(left[:200], residual[:200]), "off until it has seen enough"
    assert np.abs(left[400:1000]).mean() < 0.3 * np.abs(residual[400:1000]).mean()
    assert np.array_equal(left[1200:2000], residual[1200:2000]), "switched off"
    assert np.abs(left[2400:]).mean() < 0.3 * np.abs(residual[2400:]).mean()
    assert np.sqrt(np.mean(left**2)) < np.sqrt(np.mean(residual**2))


def test_what_models_see() -> None:
    twist, rate, dq = np.array([[1e-3, -2e-3], [0.01, 0.02], [0.5, -0.5]])
    assert inputs(twist, rate).tolist() == [[1e-3, 0.01], [-2e-3, 0.02]]
    assert inputs(twist, rate, dq)[:, 2] == pytest.approx([1.0, -1.0], abs=1e-6)
    assert structural(twist, dq) == pytest.approx([1e-3, -2e-3])
