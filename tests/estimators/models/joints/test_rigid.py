"""The rigid joint against its equation."""

import numpy as np
import pytest
from pydantic import ValidationError

from estimators.conditioning.conditioner import Conditioner
from estimators.models.friction.load_dependent import LoadDependentSettings
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.models.joints.rigid import RigidSettings
from estimators.quantities import Axis
from estimators.rows import RATE, SECOND, SIGNALS, SMOOTH, SMOOTH_RATE, VALUE

pytestmark = pytest.mark.interpreted


def test_columns_are_those_of_the_equation_in_their_order() -> None:
    signals = np.random.default_rng(1).normal(size=(50, 2, SIGNALS))
    model = RigidSettings(gravity_sin=True, gravity_cos=True).build()
    phi, y = np.full((50, 1, 6), np.nan), np.full((50, 1), np.nan)
    model.fill(signals, np.zeros(0), phi, y)
    q = signals[:, 0]
    expected = [
        q[:, SECOND],
        q[:, RATE],
        np.sign(q[:, SMOOTH_RATE]),
        np.ones(50),
        np.sin(q[:, SMOOTH]),
        np.cos(q[:, SMOOTH]),
    ]
    np.testing.assert_allclose(phi[:, 0], np.stack(expected, 1), rtol=1e-14)
    assert np.array_equal(y[:, 0], signals[:, 1, VALUE])
    assert [p.name for p in model.parameters] == [
        "inertia",
        "viscous",
        "coulomb",
        "offset",
        "gravity_sin",
        "gravity_cos",
    ]
    assert [p.unit for p in model.parameters] == ["kg·m²", "N·m·s/rad", "N·m", "N·m", "N·m", "N·m"]


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        (RigidSettings(axis=Axis.PRISMATIC), ["mass", "viscous", "coulomb", "offset"]),
        (RigidSettings(inertia=False), ["viscous", "coulomb", "offset"]),
        (RigidSettings(friction=ViscousCoulombSettings(viscous=False)), ["inertia", "coulomb", "offset"]),
        (RigidSettings(friction=ViscousCoulombSettings(viscous=False, coulomb=False)), ["inertia", "offset"]),
        (RigidSettings(offset=False, gravity_cos=True), ["inertia", "viscous", "coulomb", "gravity_cos"]),
    ],
)
def test_every_term_can_be_left_out(settings: RigidSettings, names: list[str]) -> None:
    model = settings.build()
    assert [p.name for p in model.parameters] == names
    signals = np.random.default_rng(2).normal(size=(5, 2, SIGNALS))
    phi, y = np.full((5, 1, len(names)), np.nan), np.full((5, 1), np.nan)
    model.fill(signals, np.zeros(0), phi, y)
    assert np.isfinite(phi).all()
    if "inertia" in names or "mass" in names:
        assert np.array_equal(phi[:, 0, 0], signals[:, 0, SECOND])


def test_units_and_channels_follow_the_axis() -> None:
    slide, hinge = RigidSettings(axis=Axis.PRISMATIC), RigidSettings()
    assert (slide.roles(), slide.unit(), slide.build().outputs) == (("position", "force"), "N", ("N",))
    assert (hinge.roles(), hinge.unit(), hinge.build().outputs) == (("position", "torque"), "N·m", ("N·m",))
    assert [p.unit for p in slide.build().parameters] == ["kg", "N·s/m", "N", "N"]


def test_a_model_without_terms_or_with_gravity_on_a_slide_is_refused() -> None:
    nothing = ViscousCoulombSettings(viscous=False, coulomb=False)
    with pytest.raises(ValidationError, match="expected at least one term"):
        RigidSettings(inertia=False, friction=nothing, offset=False)
    with pytest.raises(ValidationError, match="rotary axis only"):
        RigidSettings(axis=Axis.PRISMATIC, gravity_sin=True)


def test_a_pendulum_is_identified_from_its_samples() -> None:
    t = np.arange(8000) * 1e-3
    q = 0.8 * np.sin(2.1 * t) + 0.3 * np.sin(5.3 * t + 1)
    v = 0.8 * 2.1 * np.cos(2.1 * t) + 0.3 * 5.3 * np.cos(5.3 * t + 1)
    a = -0.8 * 2.1**2 * np.sin(2.1 * t) - 0.3 * 5.3**2 * np.sin(5.3 * t + 1)
    truth = np.array([0.7, 1.3, 2.0, -0.4, 6.0, 0.9])
    torque = np.stack([a, v, np.sign(v), np.ones_like(t), np.sin(q), np.cos(q)], 1) @ truth
    model = RigidSettings(gravity_sin=True, gravity_cos=True).build()
    rows = Conditioner(model, 1e-3).absorb((np.arange(8000) * 1_000_000).astype(np.int64), np.stack([q, torque], 1))
    theta = np.linalg.lstsq(rows.phi[:, 0], rows.y[:, 0], rcond=None)[0]
    np.testing.assert_allclose(theta, truth, rtol=2e-3)


@pytest.mark.compiled
def test_friction_that_grows_with_the_load_is_found_from_a_channel_of_its_own() -> None:
    t = np.arange(8000) * 1e-3
    q = 0.8 * np.sin(2.1 * t) + 0.3 * np.sin(5.3 * t + 1)
    v, a = np.gradient(q, t), np.gradient(np.gradient(q, t), t)
    load = 10.0 + 6.0 * np.sin(0.9 * t)
    truth = np.array([0.7, 1.3, 2.0, 0.15, -0.4])
    torque = np.stack([a, v, np.sign(v), np.abs(load) * np.sign(v), np.ones_like(t)], 1) @ truth
    model = RigidSettings(friction=LoadDependentSettings(stribeck=False), load=True).build()
    assert model.channels == ("position", "torque", "load")
    assert [p.name for p in model.parameters] == ["inertia", "viscous", "coulomb", "load", "offset"]
    samples = np.stack([q, torque, load], 1)
    rows = Conditioner(model, 1e-3).absorb((np.arange(8000) * 1_000_000).astype(np.int64), samples)
    theta = np.linalg.lstsq(rows.phi[:, 0], rows.y[:, 0], rcond=None)[0]
    np.testing.assert_allclose(theta, truth, rtol=5e-3)
    slide = RigidSettings(axis=Axis.PRISMATIC, friction=LoadDependentSettings(), load=True)
    assert slide.roles() == ("position", "force", "load")


def test_a_drives_friction_follows_the_torque_of_the_joint_not_its_own() -> None:
    friction = LoadDependentSettings(stribeck=False)
    model = FrictionOnlySettings(friction=friction, joint_torque=True).build()
    signals = np.random.default_rng(3).normal(size=(20, 3, SIGNALS))
    phi, y = np.empty((20, 1, 3)), np.empty((20, 1))
    model.fill(signals, np.zeros(0), phi, y)
    weight = np.abs(signals[:, 2, SMOOTH]) * np.sign(signals[:, 0, SMOOTH_RATE])
    np.testing.assert_array_equal(phi[:, 0, 2], weight)
    assert model.blocks[0].load == 2
