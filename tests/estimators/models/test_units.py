"""Units: each coefficient times what it stands before is the unit of its equation, worked out by hand."""

from typing import get_args

import pytest
from pydantic import TypeAdapter

from estimators.models.friction import AnyFriction
from estimators.models.friction.base import FrictionSettings
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.joints import JointModelSettings
from estimators.models.robots.bearing_friction import BearingSettings
from estimators.quantities import Axis

pytestmark = pytest.mark.interpreted
ADAPTER: TypeAdapter[JointModelSettings] = TypeAdapter(JointModelSettings)
SETTINGS = [kind() for kind in get_args(get_args(AnyFriction)[0])]
SETTINGS += [BearingSettings(), TanhStribeckSettings(exponent="searched", stiffness=True)]
# coefficient → unit, of a joint that turns and of one that slides
LAWS = {
    "viscous": ("N·m·s/rad", "N·s/m"),
    "coulomb": ("N·m", "N"),
    "stiffness": ("N·m/rad", "N/m"),
    "stribeck": ("N·m·s/rad", "N·s/m"),
    "omega_tanh": ("rad/s", "m/s"),
    "omega_stribeck": ("rad/s", "m/s"),
    "exponent": ("1", "1"),
    "viscous_square": ("N·m·(s/rad)²", "N·(s/m)²"),
    "viscous_cube": ("N·m·(s/rad)³", "N·(s/m)³"),
    "arctangent": ("N·m", "N"),
    "slope": ("s/rad", "s/m"),
    "threshold": ("rad/s", "m/s"),
    "cyclic_sin": ("N·m", "N"),
    "cyclic_cos": ("N·m", "N"),
    "load": ("1", "1"),
    "coulomb_stribeck": ("N·m", "N"),
    "load_stribeck": ("1", "1"),
    "bristle_damping": ("N·m·s", "N·s"),  # of a deflection that counts in shares
    **{f"stop{i}": ("N·m", "N") for i in range(1, 5)},
    # what presses a bearing: forces N and a moment N·m; of a slide the second is the moment about it
    "radial": ("m", "1"),
    "axial": ("m", "1/m"),
    "bending": ("1", "1/m"),
}
JOINTS = {
    "inertia": ("kg·m²", ""),
    "mass": ("", "kg"),
    "offset": ("N·m", "N"),
    "gravity_sin": ("N·m", ""),
    "gravity_cos": ("N·m", ""),
    "coulomb_temperature": ("N·m/K", "N/K"),
    "viscous_temperature": ("N·m·s/(rad·K)", "N·s/(m·K)"),
    "ripple3_sin": ("N·m", "N"),
    "ripple3_cos": ("N·m", "N"),
    "torque_scale": ("1", "1"),
    "inertia_motor": ("kg·m²", "kg"),
}


@pytest.mark.parametrize("axis", list(Axis))
@pytest.mark.parametrize("settings", SETTINGS, ids=lambda one: one.kind)
def test_of_every_friction_law(settings: FrictionSettings, axis: Axis) -> None:
    law, which = settings.law(axis), 0 if axis is Axis.ROTARY else 1
    for one in (*law.parameters, *law.nonlinear):
        name = one.name.removesuffix("_forward").removesuffix("_backward")
        assert one.unit == LAWS[name][which], one.name


@pytest.mark.parametrize("axis", list(Axis))
def test_of_rigid_joints_and_drives(axis: Axis) -> None:
    which, turns = (0, True) if axis is Axis.ROTARY else (1, False)
    more = {"axis": axis, "ripple": (3.0,), "temperature": 20.0, "offset": True}
    rigid = ADAPTER.validate_python(more | {"kind": "rigid", "gravity_sin": turns, "gravity_cos": turns}).build()
    drive = {"kind": "friction", "joint_torque": True, "torque_scale": True, "inertia_motor": True}
    for model in (rigid, ADAPTER.validate_python(more | drive).build()):
        assert model.outputs == (("N·m", "N")[which],)
        for one in (*model.parameters, *model.nonlinear):
            assert one.unit == (LAWS | JOINTS)[one.name][which], one.name
            assert one.late == 1.0, "all of them answer a torque"


@pytest.mark.parametrize("axis", list(Axis))
def test_of_a_transmission_whose_columns_of_torque_lag_behind_where_the_torque_is_late(axis: Axis) -> None:
    length, effort = ("rad", "N·m") if axis is Axis.ROTARY else ("m", "N")
    model = ADAPTER.validate_python({"kind": "transmission", "axis": axis, "ripple": (3.0,)}).build()
    expected = {"ratio": ("1", 0), "lag": ("s", 0), "turning": (length, 0), "zero": (length, 0)}
    expected |= {"twist": (f"{length}/({effort})", -1), "gap": (length, -1)}
    expected |= {"ripple3_sin": (length, 0), "ripple3_cos": (length, 0)}
    assert {one.name: (one.unit, one.late) for one in model.parameters} == expected
    assert model.outputs == (length,)


def test_of_two_masses() -> None:
    friction = {"kind": "tanh_stribeck", "stiffness": True}
    given = {"kind": "two_mass", "motor_friction": friction, "spring_torque": True, "ripple": (3.0,)}
    model = ADAPTER.validate_python(given).build()
    spring = {"stiffness": "N·m/rad", "stiffness_cubic": "N·m/rad³", "spring_offset": "N·m"}
    for one in model.parameters:
        name = one.name.removeprefix("motor_").removeprefix("link_")
        assert one.unit == (spring | {k: v[0] for k, v in (LAWS | JOINTS).items()} | spring)[name], one.name
        assert one.name in spring or one.name.startswith(("motor_", "link_")), one.name
    assert model.outputs == ("N·m",) * 3
