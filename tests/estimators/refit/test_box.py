"""The ranges that nonlinear parameters are searched in."""

import numpy as np
import pytest

from estimators.models.friction.arctangent import ArctangentSettings
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification
from estimators.quantities import Axis
from estimators.refit.box import box
from hil_rig.plants.joints.two_mass import TwoMassPlantSettings

STRIBECK = TanhStribeckSettings(exponent="searched").law(Axis.ROTARY).nonlinear
SLOPE = ArctangentSettings().law(Axis.PRISMATIC).nonlinear


@pytest.mark.parametrize(
    ("speed", "low", "high"),
    [
        (0.05, (0.0005, 0.002, 0.5), (0.5, 1.0, 2.0)),
        (0.5, (0.005, 0.02, 0.5), (0.5, 1.0, 2.0)),
        (2.0, (0.005, 0.02, 0.5), (0.5, 1.0, 2.0)),
        (20.0, (0.005, 0.02, 0.5), (5.0, 10.0, 2.0)),
        (0.0, (0.005, 0.02, 0.5), (0.5, 1.0, 2.0)),
    ],
)
def test_ranges_of_speeds_move_with_the_speed_seen(speed: float, low: tuple[float], high: tuple[float]) -> None:
    ends = box(STRIBECK, speed * np.array([-1.0, 0.3, 1.0, -1.0]), {})
    np.testing.assert_allclose(ends[0], low)
    np.testing.assert_allclose(ends[1], high)


def test_a_slope_moves_the_other_way_and_a_wish_stands() -> None:
    np.testing.assert_allclose(box(SLOPE, np.full(9, 0.05), {}), [[1.0], [1000.0]])
    np.testing.assert_allclose(box(SLOPE, np.full(9, 20.0), {}), [[0.1], [100.0]])
    np.testing.assert_allclose(box(STRIBECK, np.full(9, 0.05), {"omega_tanh": (0.01, 0.1)})[0], [0.01, 0.002, 0.5])
    np.testing.assert_allclose(box(STRIBECK, np.append(np.full(999, 1.0), 1e6), {})[1], [0.5, 1.0, 2.0])


@pytest.mark.compiled
def test_friction_that_bends_at_a_few_milliradians_a_second_is_found_live() -> None:
    motion = {"speed": 0.1, "period": 8.0}
    rig = {"omega1": 0.004, "omega_s": 0.012, "motor_bits": 26, "motor_noise": 0.05, "joint_noise": 0.05}
    plant = TwoMassPlantSettings.model_validate({"identify": "friction", "trajectory": motion, **rig}).build(1, 1, [])
    values = plant.rows(22_000)
    values = np.column_stack((values[:, 0], 10.0 * values[:, 1], values[:, 3]))
    joint = JointEstimator(JointIdentification.model_validate({"model": dict(plant.model), "standstill": 0.001}), 1e-3)
    for first in range(0, len(values), 1000):
        joint.absorb(np.arange(first, first + 1000) * 1_000_000, values[first : first + 1000].copy())
    estimate = joint.estimate()
    found = dict(zip(estimate.names, estimate.values, strict=True))
    assert found["omega_tanh"] == pytest.approx(0.004, rel=0.1)
    assert found["omega_stribeck"] == pytest.approx(0.012, rel=0.1)
