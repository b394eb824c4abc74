"""Learnt compensations: mixtures against the definition, bases against least squares, what a file holds."""

import tomllib

import numpy as np
import pytest

from daq.state.toml_text import toml_text
from estimators.models.compensation.bases import RadialBases
from estimators.models.compensation.learned import KINDS, Kind, Learned, inputs, read
from estimators.models.compensation.mixture import REGULAR, GaussianMixtureRegression
from estimators.quantities import Floats

pytestmark = pytest.mark.interpreted


def data(seed: int, rows: int = 1500) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(rows, 2)) * (1e-3, 2e-2)
    f = 2.0 * np.tanh(u[:, 0] / 5e-4) + 30.0 * u[:, 1]
    return u, f, f + 0.1 * rng.normal(size=rows)


@pytest.mark.compiled
def test_a_mixture_is_the_mean_of_y_given_u() -> None:
    """Against the joint density, integrated over y."""
    from scipy.stats import multivariate_normal

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


@pytest.mark.compiled
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
    assert inputs(twist, rate, 0.1 * dq)[:, 2] == pytest.approx(np.tanh([1.0, -1.0])), "a direction within 0.05 rad/s"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_learnt_says_nothing_beyond_what_it_saw_and_is_the_same_from_a_file(kind: Kind) -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'jointwatch[learned]'")
    u, _, y = data(1)
    found = Learned.fit(kind, u, y)
    far = np.array([[1.0, 5.0], [-1.0, -5.0]])
    assert found.predict(far).tolist() == found.predict(np.array([found.upper, found.lower])).tolist()
    again = read(tomllib.loads(toml_text(found.document())))
    assert (again.predict(u) == found.predict(u)).all()


def test_a_damaged_one_is_reported() -> None:
    u, _, y = data(1)
    document = Learned.fit("bases", u, y).document()
    for key, value in (("weight", [1.0]), ("lower", [float("nan")] * 2), ("kind", "spline")):
        with pytest.raises((KeyError, ValueError)):
            read(document | {key: value})


def bases(u: Floats, centre: Floats, scale: Floats) -> Floats:
    """ψ of every base: six a side from −2 to 2 deviations, as wide as half their distance."""
    line = np.linspace(-2.0, 2.0, 6)
    grid = [(x, y) for x in line for y in line]
    standard = (u - centre) / scale
    return np.array([[np.exp(-((p - x) ** 2 + (q - y) ** 2) / (2 * 0.4**2)) for x, y in grid] for p, q in standard])


def test_the_published_average_weighs_what_was_seen_near_each_base() -> None:
    """Liu et al. 2023, (27)–(31)."""
    u, _, y = data(3, rows=300)
    psi = bases(u, u.mean(axis=0), u.std(axis=0))
    weight = (psi * y[:, None]).sum(axis=0) / psi.sum(axis=0)
    there = data(4, rows=40)[0]
    near = bases(there, u.mean(axis=0), u.std(axis=0))
    expected = (near * weight).sum(axis=1) / near.sum(axis=1)
    found = RadialBases.fit(u, y)
    assert found.predict(there) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert found.predict(np.array([[1.0, 30.0]])) == pytest.approx(0.0, abs=1e-12), "nothing where no base reaches"


def test_least_squares_on_the_bases_is_ridge_regression() -> None:
    """Against the same as ordinary least squares with a row more for each base, √ridge of it."""
    u, _, y = data(3, rows=300)
    psi = bases(u, u.mean(axis=0), u.std(axis=0))
    ridge = 1e-2 * np.mean((psi**2).sum(axis=0))
    rows = np.vstack([psi, np.sqrt(ridge) * np.eye(36)])
    weight = np.linalg.lstsq(rows, np.append(y, np.zeros(36)))[0]
    there = data(4, rows=40)[0]
    expected = bases(there, u.mean(axis=0), u.std(axis=0)) @ weight
    assert RadialBases.fit(u, y, average=False).predict(there) == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_a_base_that_nothing_was_seen_near_says_nothing() -> None:
    u = np.column_stack([np.linspace(-1.0, 1.0, 50), np.linspace(-1.0, 1.0, 50)])  # along the diagonal alone
    found = RadialBases.fit(u, np.ones(50))
    assert np.isfinite(found.weight).all()
    assert set(np.round(found.weight, 9)) == {0.0, 1.0}, "an average of ones is one, of nothing nothing"
    assert found.predict(u) == pytest.approx(np.ones(50), rel=1e-6)


def test_inputs_are_held_inside_of_what_was_seen_each_for_itself() -> None:
    u, _, y = data(1)
    found = Learned.fit("bases", u, y)
    assert found.lower.tolist() == u.min(axis=0).tolist()
    assert found.upper.tolist() == u.max(axis=0).tolist()
    far = np.array([[1.0, 0.01], [0.0005, -7.0]])
    held = np.array([[found.upper[0], 0.01], [0.0005, found.lower[1]]])
    assert found.predict(far).tolist() == found.model.predict(held).tolist()
    assert not found.model.average, "the better one of the two"


def test_a_mixture_of_one_is_the_line_of_least_squares() -> None:
    """Its covariances have 1e-4 more on the diagonal, of standardised data."""
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'jointwatch[learned]'")
    random = np.random.default_rng(5)
    u = random.normal(size=(9000, 2)) * (1e-3, 2e-2) + (5e-3, -0.1)
    y = 4.0 + 300.0 * u[:, 0] - 20.0 * u[:, 1] + 0.2 * random.normal(size=9000)
    seen = np.unique(np.linspace(0, 8999, 4000).astype(np.int64))  # what EM sees, at most
    data_ = np.column_stack([u, y])
    centre, scale = data_.mean(axis=0), data_.std(axis=0)
    standard = ((data_ - centre) / scale)[seen]
    covariance = np.cov(standard.T, bias=True) + 1e-4 * np.eye(3)
    gain = np.linalg.solve(covariance[:2, :2], covariance[:2, 2])
    left = np.sqrt(covariance[2, 2] - gain @ covariance[:2, 2]) * scale[2]
    found = GaussianMixtureRegression.fit(u, y, 1)
    there = u[:20] + 1e-3
    line = standard.mean(axis=0)[2] + ((there - centre[:2]) / scale[:2] - standard.mean(axis=0)[:2]) @ gain
    mean, deviation = found.with_deviation(there)
    assert mean == pytest.approx(line * scale[2] + centre[2], rel=1e-9)
    assert deviation == pytest.approx(np.full(20, left), rel=1e-9)
    assert found.predict(there).tolist() == mean.tolist()


def test_a_damaged_document_never_becomes_a_prediction() -> None:
    document = Learned.fit("bases", *data(1)[::2]).document()
    assert read(document).kind == "bases"
    infinite = document["weight"][:-1] + [float("inf")]
    for key, value, words in (
        ("weight", infinite, "not finite"),
        ("upper", [float("inf"), 1.0], "not finite"),
        ("width", 0.0, "not above zero"),
        ("width", -0.4, "not above zero"),
        ("scale", [1.0, 0.0], "not above zero"),
        ("weight", [1.7e308] * 36, "gives no number"),
    ):
        with np.errstate(all="ignore"), pytest.raises(ValueError, match=words):
            read(document | {key: value})
    with pytest.raises(KeyError):
        read({key: value for key, value in document.items() if key != "scale"})


def test_a_mixture_predicts_the_mean_and_deviation_that_its_density_has() -> None:
    """Integrated over y at each input; the components have spreads that differ by ten times."""
    mixture = pytest.importorskip("sklearn.mixture", reason="scikit-learn is not installed")
    random = np.random.default_rng(3)
    wide = np.where(random.random(500) < 0.5, 1.0, 0.1)
    u = np.column_stack([wide * random.standard_normal(500) + 0.6 * (wide < 0.5), random.standard_normal(500)])
    y = np.where(wide > 0.5, u[:, 0], 2.0 - 3.0 * u[:, 0]) + 0.2 * u[:, 1] + 0.1 * random.standard_normal(500)
    data = np.column_stack([u, y])
    centre, scale = data.mean(axis=0), data.std(axis=0)
    known = mixture.GaussianMixture(3, reg_covar=REGULAR, random_state=0, n_init=2).fit((data - centre) / scale)
    inputs, grid = u[:10], np.linspace(-9.0, 9.0, 1801)
    mean, deviation = GaussianMixtureRegression.fit(u, y, 3).with_deviation(inputs)
    for at, one, sigma in zip(inputs, mean, deviation, strict=True):
        points = np.column_stack([np.tile(at, (len(grid), 1)), grid])
        density = np.exp(known.score_samples((points - centre) / scale))
        expected = np.sum(grid * density) / np.sum(density)
        assert one == pytest.approx(expected, abs=1e-4)
        assert sigma == pytest.approx(np.sqrt(np.sum((grid - expected) ** 2 * density) / np.sum(density)), rel=1e-3)
