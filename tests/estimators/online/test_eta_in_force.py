"""η in force: what a search or a step makes of it, and what is published of it."""

from typing import Any

import numpy as np
import pytest

from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.online.eta.in_force import EtaInForce
from estimators.quantities import Floats
from estimators.refit.outcome import RefitOutcome
from estimators.rows import Rows
from estimators.window.row_history import RowHistory
from tests.support.signals.histories import put

pytestmark = pytest.mark.interpreted

OVERLAP = 2.5


def in_force(**law: Any) -> EtaInForce:
    settings = FrictionOnlySettings(friction=TanhStribeckSettings(stiffness=True, **law))
    return EtaInForce(settings.build(), np.ones(1), OVERLAP)


def outcome(eta: Floats, covariance: Floats) -> RefitOutcome:
    whole = np.diag([9.0, 9.0, 9.0, 9.0] + [0.0] * len(eta))
    whole[-len(eta) :, -len(eta) :] = covariance
    return RefitOutcome(np.ones(4), eta, whole, np.ones(1), 1.0, 10.0, 50, (), (), None, np.zeros((0, 2)), {})


def test_before_a_search_it_is_what_is_configured_and_not_known() -> None:
    eta = in_force(omega_tanh=0.07, omega_stribeck=0.2)
    assert eta.state.eta.tolist() == [0.07, 0.2]
    assert np.isnan(eta.deviations).all()
    assert eta.reasons == ()


def test_a_search_counts_rows_that_overlap_as_if_they_did_not() -> None:
    eta, found = in_force(omega_tanh=0.05, omega_stribeck=0.14), np.array([0.1, 0.2])
    covariance = np.array([[1e-6, 4e-7], [4e-7, 4e-6]])  # of η
    words = eta.accept(outcome(found, covariance), 1234)
    assert words == "omega_tanh 0.05 → 0.1 rad/s, omega_stribeck 0.14 → 0.2 rad/s"
    assert eta.state.eta.tolist() == [0.1, 0.2]
    assert eta.state.basis == 1234
    of_s = covariance / np.outer(found, found)  # of ln η
    assert eta.covariance == pytest.approx(OVERLAP * of_s)
    assert eta.state.sigma == pytest.approx(np.sqrt(OVERLAP * np.diag(of_s)))
    assert eta.deviations == pytest.approx(np.sqrt(OVERLAP * np.diag(covariance)))
    found[0] = 9.0
    assert eta.state.eta[0] == 0.1, "the found values are not shared"


def test_a_step_moves_the_logarithm() -> None:
    eta = in_force(omega_tanh=0.1, omega_stribeck=0.2)
    covariance = np.diag([4e-4, 1e-4])
    words = eta.step(np.log([1.5, 0.5]), np.array([0.02, 0.01]), covariance, 777)
    assert words == "omega_tanh 0.15 rad/s ± 2 %, omega_stribeck 0.1 rad/s ± 1 %"
    assert eta.state.eta == pytest.approx([0.15, 0.1])
    assert eta.deviations == pytest.approx([0.02 * 0.15, 0.01 * 0.1])
    assert (eta.state.basis, eta.covariance.tolist()) == (777, covariance.tolist())


def test_what_an_encoders_steps_may_have_done_is_published_with_it() -> None:
    eta = in_force(omega_tanh=0.1, omega_stribeck=0.2)
    eta.step(np.zeros(2), np.array([0.03, 0.03]), np.diag([9e-4, 9e-4]), 1)
    eta.state.steps = np.diag([16e-4, 0.0081**2])
    assert eta.deviations == pytest.approx([0.05 * 0.1, np.hypot(0.03, 0.0081) * 0.2])
    assert eta.covariance == pytest.approx(np.diag([25e-4, 9e-4 + 0.0081**2]))
    assert eta.reasons == ()
    eta.state.steps = np.diag([0.09**2, 0.079**2])
    (reason,) = eta.reasons
    assert str(reason).startswith("omega_tanh = 0.1 rad/s is uncertain by 9 %: where the joint turns")


def test_another_law_is_recognised_by_what_it_has_otherwise() -> None:
    eta = in_force()
    other = TanhStribeckSettings(stiffness=True, exponent=2.0)
    assert eta.adopt(other) == "exponent = 2.0"
    assert eta.other_law == other
    assert eta.state.law == other.model_dump()


def rows(count: int) -> Rows:
    v = 0.3 * np.sin(0.2 * np.arange(count)) + 0.01
    phi = np.full((count, 1, 4), 7.0)
    samples = np.stack([v, np.cumsum(v), 0.0 * v], axis=1)[:, None, :, None]
    return Rows(np.arange(count), phi, np.zeros((count, 1)), np.abs(v)[:, None], samples)


def law(v: Floats, eta: Floats) -> Floats:
    return np.stack([np.tanh(v / eta[0]), v * np.exp(-np.abs(v) / eta[1])], axis=1)


def test_rows_have_the_laws_columns_under_eta_in_force_and_stay_as_they_are_elsewhere() -> None:
    eta, given = in_force(omega_tanh=0.1, omega_stribeck=0.2), rows(20)
    shaped = eta.shaped(given)
    assert shaped.phi[:, 0, :2] == pytest.approx(law(given.samples[:, 0, 0, 0], np.array([0.1, 0.2])), rel=1e-12)
    assert (shaped.phi[:, 0, 2:] == 7.0).all()
    assert (given.phi == 7.0).all(), "what was given is untouched"


def test_kept_rows_are_written_with_what_a_search_found_and_the_rest_with_eta_of_now() -> None:
    """Rows 10 to 30 are the search's own window; those after it are new; those before it wait until someone asks."""
    eta, history, given = in_force(omega_tanh=0.1, omega_stribeck=0.2), RowHistory(100), rows(40)
    put(history, given)
    own = np.arange(40.0).reshape(20, 2)
    eta.write(own, 10, 30, history)
    eta.state.eta = np.array([0.5, 0.9])  # of later: rows are owed those of then
    expected = law(given.samples[:, 0, 0, 0], np.array([0.1, 0.2]))
    assert history.since(10, 30).phi[:, 0, :2].tolist() == own.tolist()
    assert history.since(30).phi[:, 0, :2] == pytest.approx(expected[30:], rel=1e-12)
    assert history.since(0, 10).phi[:, 0, :2] == pytest.approx(expected[:10], rel=1e-12)
    assert (history.since(0).phi[:, 0, 2:] == 7.0).all()
