"""The drive alone: what is learnt of its torque constant and inertia."""

import numpy as np
import pytest
from pydantic import ValidationError

from estimators.models.friction.prandtl_ishlinskii import PrandtlIshlinskiiSettings
from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification
from estimators.rows import RATE, SECOND, SIGNALS, VALUE
from hil_rig.plants.joints.two_mass import TwoMassPlantSettings


@pytest.mark.interpreted
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("inertia", [True, False])
def test_what_is_learnt_is_a_column_and_what_is_known_is_subtracted(scale: bool, inertia: bool) -> None:
    known = 0.0 if inertia else 1.7
    settings = FrictionOnlySettings(
        joint_torque=True, torque_scale=scale, inertia_motor=inertia, inertia=known, offset=True, ripple=(3.0,)
    )
    model = settings.build()
    names = [one.name for one in model.parameters]
    assert names == [
        *("coulomb", "stribeck", "viscous", "stiffness", "offset"),
        *("torque_scale",) * scale,
        *("inertia_motor",) * inertia,
        *("ripple3_sin", "ripple3_cos"),
    ]
    signals = np.random.default_rng(1).normal(size=(20, 3, SIGNALS))
    phi, y = np.full((20, 1, len(names)), np.nan), np.full((20, 1), np.nan)
    model.fill(signals, model.start, phi, y)
    position, torque, joint = signals.transpose(1, 0, 2)
    expected = torque[:, VALUE] - known * position[:, SECOND] - (0.0 if scale else 1.0) * joint[:, VALUE]
    np.testing.assert_allclose(y[:, 0], expected)
    assert (phi[:, 0, names.index("offset")] == 1.0).all()
    if scale:
        np.testing.assert_array_equal(phi[:, 0, names.index("torque_scale")], joint[:, VALUE])
    if inertia:
        np.testing.assert_array_equal(phi[:, 0, names.index("inertia_motor")], position[:, SECOND])


@pytest.mark.interpreted
@pytest.mark.parametrize("sensor", [False, True])
@pytest.mark.parametrize("temperature", [None, 20.0])
def test_springs_of_friction_that_remembers_have_the_channels_behind_the_measured_ones(
    sensor: bool, temperature: float | None
) -> None:
    friction = PrandtlIshlinskiiSettings(thresholds=(0.001, 0.01))
    model = FrictionOnlySettings(friction=friction, joint_torque=sensor, temperature=temperature).build()
    measured = 2 + sensor + (temperature is not None)
    assert len(model.channels) == measured
    assert model.blocks[0].load == measured
    signals = np.random.default_rng(2).normal(size=(9, measured + 2, SIGNALS))
    phi, y = np.full((9, 1, len(model.parameters)), np.nan), np.full((9, 1), np.nan)
    model.fill(signals, model.start, phi, y)
    expected = [signals[:, 0, RATE], signals[:, measured, VALUE], signals[:, measured + 1, VALUE]]
    np.testing.assert_array_equal(phi[:, 0, :3], np.column_stack(expected))
    np.testing.assert_allclose(y[:, 0], signals[:, 1, VALUE] - (signals[:, 2, VALUE] if sensor else 0.0))


def test_without_a_sensor_nothing_is_measured_by_it() -> None:
    with pytest.raises(ValidationError, match="expected joint_torque = true with torque_scale"):
        FrictionOnlySettings(torque_scale=True)
    with pytest.raises(ValidationError, match="expected joint_torque = true with inertia_motor"):
        FrictionOnlySettings(inertia_motor=True)
    with pytest.raises(ValidationError, match="either inertia, which is known, or inertia_motor"):
        FrictionOnlySettings(joint_torque=True, inertia_motor=True, inertia=1.0)


@pytest.mark.compiled
def test_a_torque_constant_that_is_wrong_by_a_tenth_is_found() -> None:
    plant = TwoMassPlantSettings.model_validate({"identify": "drive", "torque_scale": 1.1}).build(1, 2, [])
    measured = plant.rows(20_000)
    values = np.column_stack((measured[:, 0], 11.0 * measured[:, 1], measured[:, 3]))
    assert plant.roles["torque"].scale == pytest.approx(11.0)
    joint = JointEstimator(JointIdentification.model_validate({"model": dict(plant.model)}), 1e-3)
    for first in range(0, len(values), 1000):
        joint.absorb(np.arange(first, first + 1000) * 1_000_000, values[first : first + 1000].copy())
    estimate = joint.estimate()
    found, truth = dict(zip(estimate.names, estimate.values, strict=True)), plant.truth()
    assert truth["torque_scale"] == 1.1
    assert found["torque_scale"] == pytest.approx(1.1, rel=0.01)
    assert found["inertia_motor"] == pytest.approx(1.65, rel=0.1)
    assert found["coulomb"] == pytest.approx(27.5, rel=0.02)
