"""The elastic joint's rows against its equation of motion, term by term."""

from typing import Any

import numpy as np
import pytest

from estimators.models.friction.position_dependent import PositionDependentSettings
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.joints.two_mass import TwoMassSettings
from estimators.quantities import Axis, Floats
from estimators.rows import SECOND, SIGNALS, SMOOTH, SMOOTH_RATE, VALUE

pytestmark = pytest.mark.interpreted
MOTOR, LINK, EFFORT, JOINT = range(4)
J_IN, J_OUT, WEIGHT, STICK, AT_REST = 1.5, 4.0, 80.0, 0.2, 0.005
DRIVE, OUTPUT = TanhStribeckSettings(stiffness=True), PositionDependentSettings()


def law(settings: Any, signals: Floats) -> Floats:
    """Columns of a friction law for one channel (rows, SIGNALS)."""
    own = settings.law(Axis.ROTARY)
    columns = np.empty((len(signals), len(own.parameters)))
    alone = np.ascontiguousarray(np.stack([signals, signals], axis=1))
    own.fill(alone, 0, 1, own.start, columns)
    return columns


@pytest.mark.parametrize("offsets", [True, False])
@pytest.mark.parametrize("gear", [1.0, 50.0])
@pytest.mark.parametrize("form", ["inertial", "measured", "spring"])
def test_every_row_is_its_equation(form: str, gear: float, offsets: bool) -> None:
    spring, measured = form == "spring", form == "measured"
    model = TwoMassSettings(
        inertia_motor=J_IN / gear**2,
        inertia_link=J_OUT,
        gravity=WEIGHT,
        link_torque="measured" if measured else "inertial",
        spring_torque=spring,
        gear=gear,
        offsets=offsets,
        motor_friction=DRIVE,
        link_friction=OUTPUT,
        ripple=(3.0,),
        stick=STICK,
    ).build()
    rows = 300
    joint_side = np.random.default_rng(7).normal(size=(rows, 4, SIGNALS)) * 0.4
    joint_side[::7, MOTOR, SMOOTH_RATE] *= 0.01
    signals = joint_side[:, : len(model.channels)].copy()
    signals[:, MOTOR] *= gear  # as the motor's encoder and current tell it
    signals[:, EFFORT] /= gear
    before = signals.copy()
    phi = np.full((rows, len(model.outputs), len(model.parameters)), np.nan)
    y = np.full((rows, len(model.outputs)), np.nan)
    model.fill(signals, model.start, phi, y)
    np.testing.assert_array_equal(signals, before)
    motor, link, effort, joint = joint_side.transpose(1, 0, 2)
    twist, cube = motor[:, VALUE] - link[:, VALUE], (motor[:, SMOOTH] - link[:, SMOOTH]) ** 3
    expected = np.zeros_like(phi)
    expected[:, 0, 0], expected[:, 0, 1] = -twist, -cube
    for output in range(1, len(model.outputs)):
        expected[:, output, 0], expected[:, output, 1] = twist, cube
    expected[:, 0, 2:6] = -law(DRIVE, motor)
    expected[:, 1, 6:9] = -law(OUTPUT, link)
    ripple = 9
    if offsets:
        for output in range(len(model.outputs)):
            expected[:, output, 9 + output] = 1.0
        ripple += len(model.outputs)
    wave = np.exp(3j * motor[:, SMOOTH])
    expected[:, 0, ripple], expected[:, 0, ripple + 1] = -wave.imag, -wave.real
    assert ripple + 2 == len(model.parameters)
    np.testing.assert_allclose(phi, expected, rtol=1e-9, atol=1e-12)
    slow = np.abs(link[:, SMOOTH_RATE]) < STICK
    on_a_step = (np.abs(link[:, SMOOTH_RATE]) < 0.5 * STICK) & (np.abs(motor[:, SMOOTH_RATE]) > AT_REST)
    told = np.column_stack(
        [
            J_IN * motor[:, SECOND] - effort[:, VALUE],
            joint[:, VALUE] if measured else J_OUT * link[:, SECOND] - WEIGHT * np.sin(link[:, SMOOTH]),
            joint[:, VALUE],
        ]
    )[:, : len(model.outputs)]
    told[slow, 1] = np.nan
    if not spring:
        assert (slow & ~on_a_step).any(), "both kinds of rows are here"
        assert (np.abs(motor[:, SMOOTH_RATE]) <= AT_REST)[np.abs(link[:, SMOOTH_RATE]) < 0.5 * STICK].any()
        told[on_a_step, 0] = np.nan
    np.testing.assert_allclose(y, told, rtol=1e-9, atol=1e-12)


def test_places_of_friction_and_spring_are_those_of_the_columns() -> None:
    model = TwoMassSettings(gear=50.0, motor_friction=DRIVE, link_friction=OUTPUT, spring_torque=True).build()
    names = [one.name for one in model.parameters]
    [place], [spring] = model.blocks, model.springs
    own = DRIVE.law(Axis.ROTARY)
    assert [names[c] for c in place.columns] == [f"motor_{one.name}" for one in own.parameters]
    assert (place.position, place.load, place.output, place.sign) == (MOTOR, EFFORT, 0, -1.0)
    assert place.scale == pytest.approx((1.0 / 50.0, 50.0))
    assert [names[c] for c in spring.columns] == ["stiffness", "stiffness_cubic"]
    assert spring.offsets is not None
    assert [names[c] for c in spring.offsets] == ["motor_offset", "link_offset"]
    signals = np.random.default_rng(1).normal(size=(5, 4, SIGNALS))
    phi, y = np.empty((5, 3, len(names))), np.empty((5, 3))
    model.fill(signals, model.start, phi, y)
    assert (np.sign(phi[:, :, 0]) == np.outer(np.sign(phi[:, spring.output, 0]), spring.signs)).all()
    assert (model.owners, model.joints, model.straight) == ((0, 0, 0), (MOTOR,), True)
    assert TwoMassSettings(offsets=False).build().springs[0].offsets is None
