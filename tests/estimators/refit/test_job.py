"""A re-fit as a worker does it, against SciPy and least squares written out: weights, what is known, other laws."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from estimators.models.friction.structure import RefitModel
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.quantities import Floats, Parameter
from estimators.recursive.prior import Prior, nothing
from estimators.refit.acceptance import DEFAULT
from estimators.refit.job import Job, run
from estimators.refit.outcome import RefitOutcome
from estimators.refit.settings import RefitSettings

pytestmark = pytest.mark.interpreted

ROWS = 400
ETA = np.array([0.06, 0.13])  # ω1, ω_s, rad/s
MOVING, FIXED = np.array([2, 0]), np.array([3, 1])  # of θ: where the law's moving columns stand, and the others
THETA = np.array([60.0, 3.0, 25.0, 8.0])  # Stribeck, offset, Coulomb, viscous: the joint's own order
BEGIN = np.append(THETA, np.log(ETA))
LAW = TanhStribeckSettings()  # δ_s = 1
ROUND = LAW.model_copy(update={"exponent": 2.0})


def speed() -> Floats:
    """A joint that turns round twice and passes every speed on its way."""
    return np.asarray(0.4 * np.sin(2.0 * np.pi * np.arange(ROWS) / ROWS * 2.0 + 0.1))


def columns(eta: Floats, exponent: float = 1.0, sign: float = 1.0) -> Floats:
    """Φ (rows, 4) in the joint's own order."""
    v = speed()
    peak = v * np.exp(-(np.abs(v / eta[1]) ** exponent))
    return np.stack([sign * peak, np.ones(ROWS), sign * np.tanh(v / eta[0]), v], axis=1)


def measured(theta: Floats, seed: int, sigma: float, exponent: float = 1.0, sign: float = 1.0) -> Floats:
    noise = sigma * np.random.default_rng(seed).standard_normal(ROWS)
    return np.asarray(columns(ETA, exponent, sign) @ theta + noise)


def window(y: Floats, **changes: Any) -> Job:
    """One output (rows,), rows of one sample."""
    phi = columns(np.ones(2))[:, np.newaxis].copy()
    phi[:, :, MOVING] = 0.0  # a search writes them itself
    told = (Parameter("viscous", "", 0.0, np.inf, ""), Parameter("offset", "", -np.inf, np.inf, ""))
    return replace(
        Job(
            phi,
            y[:, np.newaxis],
            speed()[np.newaxis],
            np.arange(ROWS),
            np.ones(1),
            RefitModel(told, LAW),
            0,
            1.0,
            FIXED,
            MOVING,
            np.ones(1),
            nothing(4),
            False,
            RefitSettings(nodes=0),
        ),
        **changes,
    )


def scipys(y: Floats, weight: Floats | None = None, known: Prior | None = None, **how: float) -> Any:
    """Least squares over θ and ln η by SciPy; weight: (rows,); known: further rows."""
    w, root = (np.ones(ROWS) if weight is None else weight), (known or nothing(4)).root()
    around = np.zeros(4) if known is None else known.theta

    def left(x: Floats) -> Floats:
        return np.append(w * (y - columns(np.exp(x[4:]), **how) @ x[:4]), root @ (around - x[:4]))

    return optimize.least_squares(left, BEGIN, x_scale="jac", xtol=1e-14, ftol=1e-14, gtol=1e-14)


def agree(found: RefitOutcome, theta_and_ln_eta: Floats) -> None:
    """Within a hundredth of a standard deviation: the last step of a polish promises a thousandth."""
    theirs = np.append(theta_and_ln_eta[:4], np.exp(theta_and_ln_eta[4:]))
    off = np.append(found.theta, found.eta) - theirs
    assert np.abs(off / np.sqrt(np.diag(found.covariance))).max() < 0.01, (found, theirs)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_it_finds_what_scipy_finds_in_the_joints_own_order(sign: float) -> None:
    y = measured(THETA, 1, 0.05, sign=sign)
    found, theirs = run(window(y, sign=sign)), scipys(y, sign=sign)
    square = 2.0 * theirs.cost
    assert found.noise == pytest.approx([square / ROWS], rel=1e-6)
    assert found.residual == pytest.approx(square / (ROWS - 6), rel=1e-6), "per degree of freedom"
    agree(found, theirs.x)
    assert found.columns == pytest.approx(columns(found.eta, sign=sign)[:, MOVING], rel=1e-12)
    J = theirs.jac / np.append(np.ones(4), np.exp(theirs.x[4:]))
    bound = square / (ROWS - 6) * np.linalg.inv(J.T @ J)
    scale = np.sqrt(np.diag(bound))
    # SciPy's slopes are differences of first order, by √ε: 1e-8
    assert found.covariance / np.outer(scale, scale) == pytest.approx(bound / np.outer(scale, scale), abs=1e-4)
    assert (found.law, found.at_zero, found.edge) == (None, (), ())


def test_rows_that_are_not_finite_are_left_out() -> None:
    y = measured(THETA, 2, 0.05)
    told = np.ones(ROWS, np.bool_)
    told[[5, 90, 91]] = False
    task = window(np.where(told, y, np.nan))
    task.phi[7, 0, 1], told[7] = np.nan, False
    found, theirs = run(task), scipys(np.where(told, y, 0.0), told.astype(float))
    assert found.residual == pytest.approx(2.0 * theirs.cost / (told.sum() - 6), rel=1e-6)
    agree(found, theirs.x)


def test_what_is_known_beside_the_rows_counts_as_further_rows_in_units_of_their_noise() -> None:
    sigma = 0.2
    y = measured(THETA, 3, sigma)
    known = Prior(np.array([0.0, 5.0, 0.0, 10.0]), np.diag([0.0, 100.0, 0.0, 100.0]) ** 2)
    found = run(window(y, noise=np.array([sigma**2]), before=known))
    theirs = scipys(y, np.full(ROWS, 1.0 / sigma), known)
    assert abs(theirs.x[1] - 5.0) < 0.5 * abs(scipys(y).x[1] - 5.0), "it has a say"
    agree(found, theirs.x)
    left = y - columns(np.exp(theirs.x[4:])) @ theirs.x[:4]
    assert found.noise == pytest.approx([np.mean(left**2)], rel=1e-4), "of the rows alone"


def test_two_outputs_are_weighed_by_the_noise_that_a_first_fit_has_found() -> None:
    """The second output knows viscous friction and offset ten times worse than the first, and is told equal."""
    y, rng = measured(THETA, 4, 0.1), np.random.default_rng(5)
    other = rng.standard_normal((ROWS, 2))
    second = other @ THETA[FIXED] + 2.0 * rng.standard_normal(ROWS)
    one = window(y)
    phi = np.zeros((ROWS, 2, 4))
    phi[:, 0], phi[:, 1, FIXED] = one.phi[:, 0], other
    task = replace(one, phi=phi, y=np.stack([y, second], axis=1), noise=np.ones(2), again=True)
    found = run(task)

    def left(x: Floats, w: Floats) -> Floats:
        own = y - columns(np.exp(x[4:])) @ x[:4]
        return np.append(w[0] * own, w[1] * (second - other @ x[[3, 1]]))

    first = optimize.least_squares(left, BEGIN, x_scale="jac", xtol=1e-14, ftol=1e-14, args=(np.ones(2),))
    noise = np.mean(left(first.x, np.ones(2)).reshape(2, ROWS) ** 2, axis=1)
    then = optimize.least_squares(left, BEGIN, x_scale="jac", xtol=1e-14, ftol=1e-14, args=(1.0 / np.sqrt(noise),))
    agree(found, then.x)
    assert found.noise == pytest.approx(np.mean(left(then.x, np.ones(2)).reshape(2, ROWS) ** 2, axis=1), rel=1e-5)
    assert abs(first.x[1] - then.x[1]) > 1e-2, "the weights matter"
    agree(run(replace(task, again=False)), first.x)


def gain(y: Floats) -> float:
    """Twice the gain in log-likelihood of δ_s = 2 over δ_s = 1, as if rows said nothing of each other."""
    return float(ROWS * np.log(scipys(y, exponent=1.0).cost / scipys(y, exponent=2.0).cost))


def test_another_law_is_used_where_it_explains_more_by_twenty_of_chi_square_of_independent_rows() -> None:
    y = measured(THETA, 6, 0.05, exponent=2.0)
    worth = gain(y)
    assert worth > 2.0 * DEFAULT.better
    for overlap, used in ((1.0, True), (0.9 * worth / DEFAULT.better, True), (1.1 * worth / DEFAULT.better, False)):
        found = run(window(y, laws=(ROUND,), overlap=overlap))
        assert found.law == (ROUND if used else None), overlap
        agree(found, scipys(y, exponent=2.0 if used else 1.0).x)


def test_the_law_in_force_stays_where_another_explains_less() -> None:
    y = measured(THETA, 6, 0.05)
    assert gain(y) < -DEFAULT.better
    assert run(window(y, laws=(ROUND,))).law is None


@pytest.mark.compiled
def test_no_law_is_used_that_needs_a_negative_coefficient() -> None:
    """Viscous friction that is negative is none: a law that fits better with it is not believed."""
    y = measured(THETA * (1.0, 1.0, 1.0, -1.0), 7, 0.05, exponent=2.0)
    task = window(y)
    ours, theirs = run(task), run(replace(task, model=replace(task.model, friction=ROUND)))
    assert theirs.at_zero == ("viscous",)
    assert theirs.edge == ()
    assert ROWS * np.log(ours.noise[0] / theirs.noise[0]) > DEFAULT.better
    assert run(replace(task, laws=(ROUND,))).law is None


@pytest.mark.compiled
def test_no_law_is_used_whose_parameter_is_at_the_end_of_its_range() -> None:
    y = measured(THETA, 8, 0.05, exponent=2.0)
    task = window(y, settings=RefitSettings(nodes=0, bounds={"omega_stribeck": (0.02, 0.9 * ETA[1])}))
    ours, theirs = run(task), run(replace(task, model=replace(task.model, friction=ROUND)))
    assert theirs.edge == ("omega_stribeck",)
    assert theirs.at_zero == ()
    assert ROWS * np.log(ours.noise[0] / theirs.noise[0]) > DEFAULT.better
    assert run(replace(task, laws=(ROUND,))).law is None


@pytest.mark.compiled
def test_of_several_laws_the_one_that_explains_most_is_used() -> None:
    y = measured(THETA, 9, 0.05, exponent=2.0)
    sharp, half = (LAW.model_copy(update={"exponent": other}) for other in (0.5, 1.5))
    assert run(window(y, laws=(ROUND, half))).law == ROUND
    assert run(window(y, laws=(half, ROUND))).law == ROUND
    assert run(window(y, laws=(sharp,))).law is None


def test_a_window_without_noise_still_has_some() -> None:
    y = measured(THETA, 10, 0.0)
    found = run(window(y))
    assert found.noise == pytest.approx([1e-12 * np.mean(y**2)], rel=1e-9), "a millionth of its rms"


def test_what_cannot_be_fitted_is_said() -> None:
    task = window(measured(THETA, 11, 0.1), settings=RefitSettings())
    with pytest.raises(ValueError, match="velocity 0 throughout"):
        run(replace(task, stretch=0.0 * task.stretch))
