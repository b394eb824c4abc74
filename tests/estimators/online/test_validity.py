"""When values may be trusted."""

import numpy as np
import pytest

from estimators.online.validity import Validity, sick
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
