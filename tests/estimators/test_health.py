"""When rows may teach and values may be trusted."""

import numpy as np
import pytest

from estimators.online.gate import Gate
from estimators.online.validity import Validity, sick
from estimators.quantities import Parameter

pytestmark = pytest.mark.interpreted

PARAMETERS = (
    Parameter("inertia", "kg·m²", 0.0, np.inf, ""),
    Parameter("offset", "N·m", -np.inf, np.inf, ""),
)


def test_a_reversal_is_not_a_standstill() -> None:
    gate = Gate(0.01, 0.01)
    assert not gate.moving(np.full(50, 0.005)).any()
    speed = np.abs(np.sin(np.arange(200) * 0.05))  # slow for 3 rows at each reversal
    moving = gate.moving(speed)
    assert moving[5:].all()
    still = gate.moving(np.zeros(100))
    assert still[:19].all()
    assert not still[20:].any()
    assert gate.resting


def test_the_gate_has_hysteresis_and_nan_is_not_motion() -> None:
    gate = Gate(0.01, 0.01)
    assert not gate.moving(np.full(30, 0.012)).any()
    assert gate.moving(np.full(30, 0.016)).all()
    assert gate.moving(np.full(30, 0.012)).all()
    assert not gate.moving(np.full(50, np.nan))[20:].any()


def test_the_gate_does_not_depend_on_how_rows_are_cut() -> None:
    speed = np.abs(np.random.default_rng(0).normal(0.0, 0.02, 1000)).cumsum() % 0.05
    speed[300:400] = 0.0
    whole = Gate(0.01, 0.01).moving(speed)
    gate = Gate(0.01, 0.01)
    parts = np.concatenate([gate.moving(speed[i : i + 7]) for i in range(0, 1000, 7)])
    assert np.array_equal(whole, parts)
    assert whole.any()
    assert not whole.all()


def test_validity_has_hysteresis_and_names_what_is_missing() -> None:
    validity = Validity(PARAMETERS)
    values, leverage = np.array([1.0, 0.001]), np.array([10.0, 1.0])
    validity.judge(values, np.array([0.2, 0.05]), leverage, 10.0)
    assert validity.valid.tolist() == [False, True]  # the offset is small, but so is what it does to the torque
    assert validity.reasons == ("inertia lacks excitation: 1 ± 0.2 kg·m²; it needs stronger accelerations",)
    validity.judge(values, np.array([0.04, 0.05]), leverage, 10.0)
    assert validity.valid.all()
    assert validity.reasons == ()
    validity.judge(values, np.array([0.09, 0.15]), leverage, 10.0)
    assert validity.valid.all()
    validity.judge(values, np.array([0.11, 0.25]), leverage, 10.0)
    assert not validity.valid.any()


def test_an_implausible_value_is_not_valid() -> None:
    validity = Validity(PARAMETERS)
    validity.judge(np.array([-1.0, 1.0]), np.array([0.01, 0.01]), np.ones(2), 10.0)
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
    found = sick(np.array(theta), np.array(d), np.full(2, 100.0), 10.0)
    assert cause in found
    assert bool(found) == bool(cause)
