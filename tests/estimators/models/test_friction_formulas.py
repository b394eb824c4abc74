"""Friction laws against their published formulas, written here a second time: sign and shape of each column."""

import math

import numpy as np
import pytest

from estimators.models.friction.arctangent import ArctangentSettings
from estimators.models.friction.base import FrictionSettings
from estimators.models.friction.cubic_viscous import CubicViscousSettings
from estimators.models.friction.cyclic import CyclicSettings
from estimators.models.friction.directional import DirectionalSettings
from estimators.models.friction.load_dependent import LoadDependentSettings
from estimators.models.friction.lugre import LuGreSettings
from estimators.models.friction.position_dependent import PositionDependentSettings
from estimators.models.friction.prandtl_ishlinskii import PrandtlIshlinskiiSettings
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.robots.bearing_friction import BearingSettings
from estimators.quantities import Axis

pytestmark = pytest.mark.interpreted


def sign(v: float) -> float:
    """−1, 0, 1, not NumPy's."""
    return 0.0 if v == 0.0 else math.copysign(1.0, v)


def directional(c: dict[str, float], q: float, v: float, load: float) -> float:
    """Liu 2023 (9), (10), a direction at a time, after a threshold of 0.05."""
    way = "forward" if v >= 0.0 else "backward"
    beyond = math.copysign(max(abs(v) - 0.05, 0.0), v)
    step = 2.0 / (1.0 + math.exp(-2.0 * v / 0.01)) - 1.0
    powers = (c[f"{name}_{way}"] * beyond**n for n, name in enumerate(("viscous", "viscous_square", "viscous_cube"), 1))
    return c[f"coulomb_{way}"] * step + sum(powers)


# law → its torque for coefficients by name, q, q̇ and the load
CASES = [
    (ViscousCoulombSettings(), lambda c, q, v, load: c["viscous"] * v + c["coulomb"] * sign(v)),
    (
        ViscousCoulombSettings(transition=0.1),
        lambda c, q, v, load: c["viscous"] * v + c["coulomb"] * (1.0 - 2.0 / (math.exp(2.0 * v / 0.1) + 1.0)),
    ),
    (
        TanhStribeckSettings(omega_tanh=0.04, omega_stribeck=0.2, exponent=2.0, stiffness=True),
        lambda c, q, v, load: (
            c["coulomb"] * (1.0 - 2.0 / (math.exp(2.0 * v / 0.04) + 1.0))
            + c["stribeck"] * v / math.exp(abs(v / 0.2) ** 2)
            + c["viscous"] * v
            + c["stiffness"] * q
        ),
    ),
    (
        CyclicSettings(wave_number=3.0),
        lambda c, q, v, load: (
            c["viscous"] * v
            + c["coulomb"] * sign(v)
            + c["cyclic_sin"] * math.sin(3.0 * q)
            + c["cyclic_cos"] * math.cos(3.0 * q)
        ),
    ),
    (
        CubicViscousSettings(),
        lambda c, q, v, load: (
            c["coulomb"] * sign(v) + c["viscous"] * v + c["viscous_square"] * v * abs(v) + c["viscous_cube"] * v**3
        ),
    ),
    (
        ArctangentSettings(slope=7.0),
        lambda c, q, v, load: (
            c["coulomb"] * sign(v)
            + c["viscous"] * v
            + c["arctangent"] * sign(v) * math.acos(1 / math.hypot(1.0, 7.0 * v))
        ),
    ),
    (PositionDependentSettings(), lambda c, q, v, load: c["viscous"] * v + c["coulomb"] * sign(v) + c["stiffness"] * q),
    (
        LoadDependentSettings(omega_stribeck=0.3),
        lambda c, q, v, load: (
            c["viscous"] * v
            + sign(v) * (c["coulomb"] + c["load"] * math.sqrt(load**2))
            + sign(v) * 0.3 ** -(v**2 / 0.09 / math.log(0.3)) * (c["coulomb_stribeck"] + c["load_stribeck"] * abs(load))
        ),
    ),
    (DirectionalSettings(threshold=0.05), directional),
    (
        PrandtlIshlinskiiSettings(thresholds=(0.001, 0.01)),  # long after a reversal every spring slips
        lambda c, q, v, load: c["viscous"] * v + (c["stop1"] + c["stop2"]) * sign(v),
    ),
    (
        LuGreSettings(breakaway=1.5, speed=0.2),  # the same, at a constant speed: the steady curve of Stribeck
        lambda c, q, v, load: c["viscous"] * v + c["coulomb"] * sign(v) * (1.0 + 0.5 / math.exp(v * v / 0.04)),
    ),
]


@pytest.mark.parametrize(("settings", "formula"), CASES, ids=lambda one: getattr(one, "kind", ""))
def test_is_its_formula(settings: FrictionSettings, formula: object) -> None:
    law = settings.law(Axis.ROTARY)
    rng = np.random.default_rng(4)
    q, v = rng.uniform(-2.0, 2.0, 60), np.append(rng.choice([-1.0, 1.0], 59) * np.geomspace(1e-3, 1.5, 59), 0.0)
    weights = rng.uniform(0.5, 2.0, len(law.parameters))
    named = dict(zip((one.name for one in law.parameters), weights, strict=True))
    if law.stops:  # springs follow the path: see conditioning/test_stops.py; a place that stays says all have slipped
        q[:] = 0.0
    load = rng.uniform(-3.0, 3.0, 60)
    torque = law.columns(q, v, load, law.start) @ weights
    expected = [formula(named, *row) for row in zip(q, v, load, strict=True)]  # type: ignore[operator]
    np.testing.assert_allclose(torque, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "settings",
    [
        ViscousCoulombSettings(),
        CubicViscousSettings(),
        TanhStribeckSettings(),
        ArctangentSettings(),
        DirectionalSettings(),
        PositionDependentSettings(),
        CyclicSettings(),
        LoadDependentSettings(),
        PrandtlIshlinskiiSettings(),
        LuGreSettings(),
    ],
    ids=lambda one: one.kind,
)
def test_friction_brakes(settings: FrictionSettings) -> None:
    """Coefficients with a plausible range above zero take energy out: their columns have the sign of the speed."""
    law = settings.law(Axis.ROTARY)
    v = np.concatenate([-np.geomspace(1e-3, 2.0, 50), np.geomspace(1e-3, 2.0, 50)])
    columns = law.columns(np.full(100, 0.3), v, np.full(100, 2.0), law.start)
    braking = [i for i, one in enumerate(law.parameters) if one.low >= 0.0]
    assert (columns[:, braking] * np.sign(v)[:, None] >= 0.0).all()
    assert (np.abs(columns[:, braking]).max(axis=0) > 0.0).all()


BRAKING = {
    *("coulomb", "coulomb_forward", "coulomb_backward", "viscous"),
    *("stribeck", "load", "radial", "axial", "bending"),
}


@pytest.mark.parametrize(
    "settings", [case[0] for case in CASES] + [BearingSettings(stribeck=0.1)], ids=lambda one: one.kind
)
def test_a_coefficient_may_be_anything_or_where_friction_must_brake_anything_above_zero(
    settings: FrictionSettings,
) -> None:
    for one in settings.law(Axis.PRISMATIC).parameters:
        brakes = one.name in BRAKING or (settings.kind == "bearing" and one.name.endswith("_stribeck"))
        assert (one.low, one.high) == (0.0 if brakes else -math.inf, math.inf), one.name
