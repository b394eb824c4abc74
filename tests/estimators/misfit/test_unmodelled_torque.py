"""What torques of the angle that the model lacks may do to θ, against least squares of rows that contain them."""

from typing import NamedTuple

import numpy as np
import pytest

from estimators.misfit.unmodelled_torque import _considered, unmodelled_torque
from estimators.quantities import Floats

ROWS = 4000
NOISE = 0.05  # N·m
PRIOR = 0.3  # N·m
WHITE = 1.0, 1.0, 1.0  # share of the scores, factor of white noise, and the lowest one


class Considered(NamedTuple):
    """Covariances (p, p) of θ."""

    seen: Floats
    whole: Floats
    prior: Floats


def columns(arc: float) -> tuple[Floats, Floats, Floats]:
    """Angle, columns of the model (viscous, offset, gravity_sin), and those of torques that it lacks."""
    t = np.linspace(0.0, 40.0, ROWS)
    q = 0.4 + arc * np.sin(t)
    untold = np.stack([f(n * q) for n in (1, 2, 3) for f in (np.sin, np.cos)], axis=1)
    return q, np.stack([arc * np.cos(t), np.ones(ROWS), np.sin(q)], axis=1), untold


def considered(
    phi: Floats, w: Floats, y: Floats, prior: float = PRIOR, noise: float = NOISE, *, bursts: float = 1.0,
    limit: float = np.inf, shape: bool = False,
) -> Considered | None:  # fmt: skip
    """bursts: factor of the scores' covariance; limit: of their variance without their own effect, times the noise."""
    gram = np.linalg.inv(phi.T @ phi)
    theta = gram @ phi.T @ y
    whole = np.column_stack([phi, w, y])
    scores = bursts * noise**2 * whole[:, :-1].T @ whole[:, :-1]  # of white noise
    rest = w - phi @ (gram @ phi.T @ w)
    products, most = whole.T @ whole, float(np.sqrt(np.mean(y**2)))
    any_, *found = unmodelled_torque(
        gram, products, scores, theta, noise**2, *WHITE, prior, most, limit * noise**2 * (rest**2).sum(axis=0), shape
    )
    return Considered(*found) if any_ else None


def drawn(arc: float, amplitude: Floats, seed: int) -> tuple[Considered, Floats]:
    """What is considered, and by how much θ of least squares is off because of the torque."""
    _, phi, w = columns(arc)
    rng = np.random.default_rng(seed)
    y = phi @ (2.0, 0.5, 6.0) + w @ amplitude + NOISE * rng.standard_normal(ROWS)
    found = considered(phi, w, y)
    assert found is not None
    return found, np.linalg.lstsq(phi, w @ amplitude)[0]


@pytest.mark.parametrize("arc", [0.3, 1.0])
def test_what_a_torque_within_the_prior_did_is_within_the_whole_covariance(arc: float) -> None:
    rng = np.random.default_rng(3)
    squares = []
    for seed in range(40):
        found, moved = drawn(arc, PRIOR * rng.standard_normal(6) / np.sqrt(6.0), seed)
        assert (np.linalg.eigvalsh(found.whole) > -1e-9 * found.whole.max()).all()
        squares.append(moved[1:] ** 2 / np.diag(found.whole)[1:])
    assert np.sqrt(np.mean(squares)) < 1.5
    assert np.max(squares) < 4.0**2


def test_where_the_torque_is_plain_to_see_sigma_holds_all_of_it() -> None:
    amplitude = np.array([0.0, 0.0, 1.5, 0.0, 0.0, 0.0])  # five priors, over an arc that shows it
    found, moved = drawn(1.5, amplitude, 1)
    assert (np.diag(found.seen)[1:] > 0.9 * np.diag(found.whole)[1:]).all()
    assert (np.abs(moved[1:]) < 4.0 * np.sqrt(np.diag(found.seen))[1:]).all()


def test_noise_alone_shows_no_torque() -> None:
    found = [drawn(1.0, np.zeros(6), seed)[0] for seed in range(20)]
    shown = [one for one in found if (np.diag(one.seen) > 0.5 * np.diag(one.whole))[1:].any()]
    assert len(shown) <= 1, "beyond three deviations by chance"


def test_sigma_does_not_jump_as_evidence_grows() -> None:
    """From no sign of a torque to ten deviations: by half a per cent of the amplitude at a time."""
    _, phi, w = columns(1.0)
    noise = NOISE * np.random.default_rng(7).standard_normal(ROWS)
    y, torque = phi @ (2.0, 0.5, 6.0) + noise, w @ np.array([0.0, 0.0, 0.0, 0.02, 0.02, 0.0])
    found = [considered(phi, w, y + factor * torque) for factor in np.linspace(0.0, 1.0, 201)]
    told = np.sqrt([np.diag(one.seen)[1:] for one in found if one is not None])
    assert len(told) == 201
    assert (told[-1] > 4.0 * told[0]).any(), "else nothing was seen"
    assert np.abs(np.diff(np.log(told), axis=0)).max() < np.log(1.3)


@pytest.mark.parametrize(("arc", "most"), [(0.3, 0.35), (0.6, 0.15), (1.0, 0.1)])
def test_what_would_be_seen_and_is_not_tells_of_what_would_not_be_seen(arc: float, most: float) -> None:
    """σ that this leaves, of offset and gravity, over that of a prior nothing speaks against: half of its deviation."""
    found = [drawn(arc, np.zeros(6), seed)[0] for seed in range(20)]
    shares = [np.sqrt(np.diag(one.seen) / np.diag(one.whole))[1:] for one in found]
    assert (np.median(shares, axis=0) < most).all()


@pytest.mark.parametrize("arc", [0.15, 0.3, 0.6, 1.0])
@pytest.mark.parametrize("size", [0.1, 0.3, 1.0])
def test_a_torque_within_the_prior_is_still_within_four_deviations(arc: float, size: float) -> None:
    """One column at a time, of those that the model has not; σ: of what is seen, and of noise."""
    beyond = []
    for seed in range(40):
        amplitude = np.zeros(6)
        amplitude[1 + seed % 5] = PRIOR * size
        found, moved = drawn(arc, amplitude, seed)
        beyond.append(np.abs(moved[1:]) > 4.0 * np.sqrt(np.diag(found.seen))[1:])
    assert np.mean(beyond) <= 0.02


def test_columns_of_the_model_are_no_unmodelled_torque() -> None:
    _, phi, w = columns(1.0)
    y = phi @ (2.0, 0.5, 6.0) + NOISE * np.random.default_rng(0).standard_normal(ROWS)
    assert considered(phi, w[:, :1], y) is None, "sin q is the model's own"
    assert considered(np.column_stack([phi, w[:, 1]]), w[:, :2], y) is None
    assert considered(phi, w[:, :2], y) is not None, "cos q is not"


def test_it_grows_with_the_prior() -> None:
    _, phi, w = columns(0.3)
    y = phi @ (2.0, 0.5, 6.0) + NOISE * np.random.default_rng(0).standard_normal(ROWS)
    small, large = considered(phi, w, y, 0.1 * PRIOR), considered(phi, w, y, PRIOR)
    assert small is not None
    assert large is not None
    assert (np.diag(small.whole)[1:] < np.diag(large.whole)[1:]).all()
    assert np.allclose(100.0 * small.prior, large.prior, rtol=0.2)


@pytest.mark.parametrize("most", [2.0, np.inf])
def test_it_is_no_more_than_all_of_the_torque(most: float) -> None:
    """Where rows that nearly have no noise say a thousand N·m along what moves hardly anything."""
    _, whole, _ = _considered(np.eye(2), np.array([1e4, 1e4]), np.eye(2), np.array([1e7, 10.0]), 0.3, most)
    assert np.sqrt(np.diag(whole)) == pytest.approx([min(most, 1e3), 1e-3], rel=0.1, abs=0.03)


def test_a_shape_that_is_the_models_may_be_all_of_it() -> None:
    """A dead zone where torque and speed have one sign: its column is Coulomb friction's."""
    _, phi, w = columns(1.0)
    y = phi @ (2.0, 0.5, 6.0) + NOISE * np.random.default_rng(0).standard_normal(ROWS)
    effect = np.linalg.lstsq(phi, w[:, :1])[0][:, 0]
    found = considered(phi, w[:, :1], y, shape=True)
    assert found is not None
    assert found.whole == pytest.approx(PRIOR**2 * np.outer(effect, effect), abs=1e-6)
    assert found.seen == pytest.approx(0.25 * found.whole, rel=1e-3, abs=1e-6)
    nearly = w[:, :1] + 1e-3 * w[:, 3:4]  # a millionth of its square is its own: the shape is not known as well as that
    found = considered(phi, nearly, y, shape=True)
    assert found is not None
    assert np.diag(found.whole)[2] == pytest.approx(PRIOR**2, rel=1e-2)


def test_an_effect_that_comes_in_bursts_does_not_hide_in_its_own_variance() -> None:
    _, phi, w = columns(0.6)
    y = phi @ (2.0, 0.5, 6.0) + PRIOR * w[:, 1] + NOISE * np.random.default_rng(0).standard_normal(ROWS)
    hidden, shown = (considered(phi, w[:, 1:2], y, bursts=1e4, limit=limit) for limit in (np.inf, 1.0))
    assert hidden is not None
    assert shown is not None
    moved = np.linalg.lstsq(phi, PRIOR * w[:, 1])[0]
    assert (np.abs(moved[1:]) < 1.3 * np.sqrt(np.diag(shown.seen))[1:]).all()
    assert (np.diag(hidden.seen)[1:] < 0.5 * np.diag(shown.seen)[1:]).all()
