"""Learnt compensations: mixtures against the definition, bases against least squares, what a file holds."""

import tomllib

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from daq.state.toml_text import toml_text
from estimators.models.compensation.bases import RadialBases
from estimators.models.compensation.learned import KINDS, Kind, Learned, inputs, read
from estimators.models.compensation.mixture import GaussianMixtureRegression
from estimators.quantities import Floats

pytestmark = pytest.mark.compiled


def data(seed: int, rows: int = 1500) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(rows, 2)) * (1e-3, 2e-2)
    f = 2.0 * np.tanh(u[:, 0] / 5e-4) + 30.0 * u[:, 1]
    return u, f, f + 0.1 * rng.normal(size=rows)


def test_a_mixture_is_the_mean_of_y_given_u() -> None:
    """Against the joint density, integrated over y."""
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'jointwatch[learned]'")
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
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'jointwatch[learned]'")
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


def test_what_models_see() -> None:
    twist, rate, dq = np.array([[1e-3, -2e-3], [0.01, 0.02], [0.5, -0.5]])
    assert inputs(twist, rate).tolist() == [[1e-3, 0.01], [-2e-3, 0.02]]
    assert inputs(twist, rate, dq)[:, 2] == pytest.approx([1.0, -1.0], abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_learnt_says_nothing_beyond_what_it_saw_and_is_the_same_from_a_file(kind: Kind) -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'jointwatch[learned]'")
    u, _, y = data(1)
    found = Learned.fit(kind, u, y)
    far = np.array([[1.0, 5.0], [-1.0, -5.0]])
    assert found.predict(far).tolist() == found.predict(np.array([found.upper, found.lower])).tolist()
    again = read(tomllib.loads(toml_text(found.document())))
    assert (again.predict(u) == found.predict(u)).all()


def test_a_damaged_one_is_told() -> None:
    u, _, y = data(1)
    document = Learned.fit("bases", u, y).document()
    for key, value in (("weight", [1.0]), ("lower", [float("nan")] * 2), ("kind", "spline")):
        with pytest.raises((KeyError, ValueError)):
            read(document | {key: value})
