"""The body that is carried: it can exist, and its inertia and deviations are right."""

import numpy as np
import pytest
from scipy.optimize import minimize

from estimators.models.robots.inertia import metric, nearest_physical, parameters_of, pseudo_inertia, standard
from estimators.online.robot.findings.carried import as_payload, tool_prior
from estimators.quantities import Floats

BODY = standard(2.2, np.array([0.05, 0.02, 0.1]), np.array([[0.02, 0.003, 0.0], [0.003, 0.03, 0.0], [0.0, 0.0, 0.015]]))
CERTAIN = 1e-4 * tool_prior()


def distance(x: Floats, values: Floats, covariance: Floats) -> float:
    return float((x - values) @ np.linalg.solve(covariance, x - values))


def test_the_nearest_body_that_can_exist_is_as_near_as_a_general_minimiser_finds_one() -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        root = np.linalg.cholesky(0.05 * np.linalg.inv(metric(BODY)))
        values = BODY + 3.0 * root @ rng.normal(size=10)
        while np.linalg.eigvalsh(pseudo_inertia(values))[0] > 0.0:
            values = BODY + 3.0 * root @ rng.normal(size=10)
        covariance = root @ root.T
        found = nearest_physical(values, covariance)
        assert np.linalg.eigvalsh(pseudo_inertia(found))[0] > 0.0
        lower = np.tril_indices(4)

        def objective(free: Floats, lower=lower, values=values, covariance=covariance) -> float:  # type: ignore[no-untyped-def]
            L = np.zeros((4, 4))
            L[lower] = free
            return distance(parameters_of(L @ L.T), values, covariance)

        start = np.linalg.cholesky(pseudo_inertia(BODY))[lower]
        best = min(minimize(objective, start, method="BFGS", options={"gtol": 1e-6}).fun, np.inf)
        assert distance(found, values, covariance) <= 1.01 * best + 1e-3


def test_a_body_that_can_exist_stays_as_it_is() -> None:
    assert nearest_physical(BODY, CERTAIN) is BODY


def test_inertia_is_about_the_centre_and_its_deviations_are_those_of_draws() -> None:
    found = as_payload(BODY, CERTAIN, 0.0)
    np.testing.assert_allclose(found.inertia, [0.02, 0.003, 0.03, 0.0, 0.0, 0.015], atol=1e-12)
    np.testing.assert_allclose(found.centre, [0.05, 0.02, 0.1], rtol=1e-12)
    draws = np.random.default_rng(1).multivariate_normal(BODY, 1e-2 * CERTAIN, 1000)
    each = [as_payload(one, 1e-2 * CERTAIN, 0.0) for one in draws]
    np.testing.assert_allclose(10.0 * np.std([one.inertia for one in each], axis=0), found.inertia_deviation, rtol=0.15)
    np.testing.assert_allclose(10.0 * np.std([one.centre for one in each], axis=0), found.centre_deviation, rtol=0.15)
    assert as_payload(BODY, CERTAIN, 0.1).inertia_deviation[2] > 0.003, "as the torque's unit is known"


def test_deviations_follow_mass_and_centre_that_are_uncertain_together() -> None:
    """Against finite differences, for covariances in which a mass that is too large comes with its moment."""
    rng, steps = np.random.default_rng(7), 1e-6 * np.eye(10)
    for _ in range(4):
        root = np.linalg.cholesky(CERTAIN) @ np.linalg.qr(rng.normal(size=(10, 10)))[0] * rng.uniform(0.1, 3.0, 10)
        covariance = root @ root.T
        found = as_payload(BODY, covariance, 0.0)
        ups, downs = ([as_payload(BODY + sign * one, covariance, 0.0) for one in steps] for sign in (1.0, -1.0))
        for name in ("centre", "inertia"):
            slope = (
                np.array([getattr(up, name) - getattr(down, name) for up, down in zip(ups, downs, strict=True)]) / 2e-6
            )
            told = np.isfinite(getattr(found, name))
            expected = np.sqrt(np.diag(slope[:, told].T @ covariance @ slope[:, told]))
            np.testing.assert_allclose(getattr(found, f"{name}_deviation")[told], expected, rtol=1e-4)
            assert told.sum() >= 3


def test_an_inertia_that_the_motion_does_not_tell_is_not_given() -> None:
    covariance = CERTAIN.copy()
    covariance[9, 9] = tool_prior()[9, 9]
    found = as_payload(BODY, covariance, 0.0)
    assert np.isfinite(found.inertia).tolist() == [True, True, True, True, True, False]
    assert np.isfinite(found.mass)


@pytest.mark.parametrize("size", [1.0, 0.2])
def test_a_body_that_cannot_exist_is_published_as_one_that_can(size: float) -> None:
    flat = size * BODY
    flat[4:] *= 0.1  # less inertia than the mass at its centre has alone
    found = as_payload(flat, (0.1 * size) ** 2 * tool_prior(), 0.0)
    xx, xy, yy, xz, yz, zz = np.where(np.isfinite(found.inertia), found.inertia, 0.0)
    moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    assert moments[0] > 0.0
    assert moments[2] <= moments[0] + moments[1]


def test_of_a_mass_within_its_deviation_neither_centre_nor_inertia_is_known() -> None:
    found = as_payload(1e-3 * BODY, CERTAIN, 0.0)
    assert found.mass == pytest.approx(2.2e-3)
    assert np.isnan(found.centre).tolist() == [True] * 3
    assert np.isinf(found.centre_deviation).tolist() == [True] * 3
    assert np.isnan(found.inertia).tolist() == np.isinf(found.inertia_deviation).tolist() == [True] * 6


def test_a_body_that_the_model_has_and_the_robot_lacks_keeps_its_negative_mass() -> None:
    found = as_payload(-BODY, CERTAIN, 0.0)
    assert found.mass == -2.2
    assert np.isnan(found.inertia).all()


def test_a_body_is_not_carried_by_being_estimated() -> None:
    for parameters in (BODY, -BODY, 1e-6 * BODY):
        assert as_payload(parameters, CERTAIN, 0.0).carried is False
