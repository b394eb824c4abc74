"""When values may be trusted."""

import numpy as np
import pytest

from estimators.online.validity import VALUES, Validity, sick
from estimators.quantities import Parameter
from estimators.recursive.forgetting import Alarm
from estimators.recursive.learner import Learner

pytestmark = pytest.mark.interpreted

PARAMETERS = (
    Parameter("inertia", "kg·m²", 0.0, np.inf, "", needs="stronger accelerations"),
    Parameter("offset", "N·m", -np.inf, np.inf, ""),
)


def test_validity_has_hysteresis_and_names_what_is_missing() -> None:
    validity = Validity(PARAMETERS)
    values, leverage = np.array([1.0, 0.001]), np.array([10.0, 1.0])
    validity.weigh(values, np.array([0.2, 0.05]), leverage, 10.0)
    assert validity.valid.tolist() == [False, True]  # the offset is small, but so is what it does to the torque
    assert validity.reasons == ("inertia lacks excitation: 1 ± 0.2 kg·m²; it needs stronger accelerations",)
    validity.weigh(values, np.array([0.04, 0.05]), leverage, 10.0)
    assert validity.valid.all()
    assert validity.reasons == ()
    validity.weigh(values, np.array([0.09, 0.15]), leverage, 10.0)
    assert validity.valid.all()
    validity.weigh(values, np.array([0.11, 0.25]), leverage, 10.0)
    assert not validity.valid.any()


def test_an_implausible_value_is_not_valid() -> None:
    validity = Validity(PARAMETERS)
    validity.weigh(np.array([-1.0, 1.0]), np.array([0.01, 0.01]), np.ones(2), 10.0)
    assert validity.valid.tolist() == [False, True]
    assert "outside its plausible range [0, inf]" in validity.reasons[0]


def test_readiness_is_how_near_the_deviations_are_on_average() -> None:
    validity = Validity(PARAMETERS)
    validity.weigh(np.array([1.0, 1.0]), np.array([0.2, 0.01]), np.array([10.0, 10.0]), 10.0)
    assert validity.readiness == pytest.approx(0.5 * (0.05 / 0.2 + 1.0))


def test_what_a_learner_knows_is_judged() -> None:
    learner, validity = Learner(2, 1, 0.01, Alarm()), Validity(PARAMETERS)
    rng = np.random.default_rng(1)
    phi = rng.normal(size=(400, 1, 2))
    y = phi @ np.array([3.0, -0.7]) + 0.01 * rng.normal(size=(400, 1))
    learner.learn(phi, y, np.array([1e-4]), np.array([100.0, 100.0]), 300.0, np.zeros(2))
    validity.judge(learner)
    np.testing.assert_array_equal(validity.kept.judged[VALUES], learner.rls.theta)
    np.testing.assert_allclose(learner.rls.theta, [3.0, -0.7], atol=0.01)
    assert validity.valid.all()


@pytest.mark.parametrize(
    ("theta", "d", "cause"),
    [
        ([1.0, 1.0], [1.0, 1.0], ""),
        ([np.nan, 1.0], [1.0, 1.0], "not finite"),
        ([1.0, 1.0], [1.0, np.inf], "not finite"),
        ([1.0, 1.0], [1.0, -1e-9], "positive"),
        ([1e7, 1.0], [1.0, 1.0], "ran away"),
    ],
)
def test_a_sick_estimate_is_called_so(theta: list[float], d: list[float], cause: str) -> None:
    learner = Learner(2, 1, 0.01, Alarm())
    learner.rls.theta[:], learner.rls.d[:], learner.rls.bound[:], learner.kept.signal = theta, d, 100.0, 10.0
    found = sick(learner)
    assert cause in found
    assert bool(found) == bool(cause)
