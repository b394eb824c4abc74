"""The elastic joint and the drive's friction alone: noise-free, with exact regressors, every parameter comes out."""

import numpy as np
import pytest

from estimators.models.base import Model
from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.models.joints.two_mass import STEPPING, TURNS, TwoMassSettings
from estimators.models.nonlinear_block import NonlinearBlock
from estimators.quantities import Floats
from estimators.recursive.prior import nothing
from estimators.refit.job import RefitOutcome, job, run
from estimators.refit.refit import RefitSettings
from estimators.rows import RATE, SECOND, SIGNALS, SMOOTH, SMOOTH_RATE, VALUE, Rows
from hil_rig.papers.space_joint.case2 import LINEAR, OMEGAS, case
from hil_rig.plants.joints.two_mass import TwoMassPlantSettings as Rig

pytestmark = pytest.mark.compiled

RIG = Rig()


def exact(gear: float = 1.0) -> tuple[Floats, Floats, Floats]:
    """13 s of the rig's motion at 100 Hz: values, rates, seconds of motor, link, motor torque, joint torque.

    Torques are computed from the motion by the published equations; motor channels are motor-side where gear > 1.
    """
    q_in, q_out, v_in, v_out, a_in, a_out, _, _ = RIG.build(1, 0, []).exact(13_000)[::10].T
    twist = q_in - q_out
    spring = RIG.k1 * twist + RIG.k2 * twist**3
    drive = RIG.b_in * v_in + RIG.C1 * np.tanh(v_in / RIG.omega1) + RIG.b_inD * q_in
    drive += RIG.C2 * v_in * np.exp(-np.abs(v_in / RIG.omega_s))
    output = RIG.b_out * v_out + RIG.b_outC * np.sign(v_out) + RIG.A1 * np.sin(q_out) + RIG.A2 * np.cos(q_out)
    a_out = (spring - output + RIG.T_g * np.sin(q_out)) / RIG.J_out
    motor = RIG.J_in * a_in + spring + drive
    zero = np.zeros(len(q_in))
    return (
        np.column_stack([gear * q_in, q_out, motor / gear, spring - output]),
        np.column_stack([gear * v_in, v_out, zero, zero]),
        np.column_stack([gear * a_in, a_out, zero, zero]),
    )


def rows(model: Model, signals: tuple[Floats, Floats, Floats]) -> Rows:
    values, rates, seconds = signals
    seen = np.zeros((len(values), len(model.channels), SIGNALS))
    for channel in range(len(model.channels)):
        seen[:, channel, [VALUE, SMOOTH]] = values[:, [channel]]
        seen[:, channel, [RATE, SMOOTH_RATE]] = rates[:, [channel]]
        seen[:, channel, SECOND] = seconds[:, channel]
    phi = np.empty((len(values), len(model.outputs), len(model.parameters)))
    y = np.empty((len(values), len(model.outputs)))
    model.fill(seen, np.array(model.start), phi, y)
    place = model.blocks[0]
    arguments = (place.scale[0] * rates[:, 0], place.scale[0] * values[:, 0], place.scale[1] * values[:, place.load])
    return Rows(
        np.arange(len(y)) * 10_000_000, phi, y, np.abs(rates[:, :1]), np.stack(arguments, axis=1)[:, None, :, None]
    )


def fit(model: Model, window: Rows) -> RefitOutcome:
    outputs, parameters = len(model.outputs), len(model.parameters)
    shape = NonlinearBlock(model, np.ones(1))
    return run(job(shape, window, np.ones(outputs), nothing(parameters), True, RefitSettings(nodes=0)))


def truth() -> Floats:
    return np.array(
        [getattr(RIG, name) for name in ("k1", "k2", "C1", "C2", "b_in", "b_inD", "b_out", "b_outC", "A1", "A2")]
    )


@pytest.mark.parametrize("form", ["inertial", "measured", "spring"])
@pytest.mark.parametrize("gear", [1.0, 161.0])
@pytest.mark.parametrize("offsets", [True, False])
def test_case_1_noise_free(form: str, gear: float, offsets: bool) -> None:
    model = TwoMassSettings(
        inertia_motor=RIG.J_in / gear**2,
        inertia_link=RIG.J_out,
        gravity=RIG.T_g,
        link_torque="measured" if form == "measured" else "inertial",
        spring_torque=form == "spring",
        gear=gear,
        offsets=offsets,
    ).build()
    signals = exact(gear)
    if form == "spring":
        twist = signals[0][:, 0] / gear - signals[0][:, 1]
        signals[0][:, 3] = RIG.k1 * twist + RIG.k2 * twist**3
    found = fit(model, rows(model, signals))
    assert found.theta[:10] == pytest.approx(truth(), rel=1e-5)
    assert found.theta[10:] == pytest.approx(0.0, abs=1e-4)
    assert found.eta == pytest.approx([RIG.omega1, RIG.omega_s], rel=1e-5)
    assert not found.at_zero
    assert found.ambiguous is None


def test_case_2_noise_free() -> None:
    found = fit(FrictionOnlySettings().build(), case(0, 0.0, end=12.0).rows)
    assert found.theta == pytest.approx(LINEAR, rel=1e-5)
    assert found.eta == pytest.approx(OMEGAS, rel=1e-5)


@pytest.mark.parametrize("sensor", [False, True])
def test_rows_are_masked_while_the_link_sticks_and_the_motors_too_where_only_encoders_tell_the_twist(
    sensor: bool,
) -> None:
    model = TwoMassSettings(gravity=RIG.T_g, stick=0.05, spring_torque=sensor).build()
    window = rows(model, exact())
    motor, link = np.abs(exact()[1][:, :2]).T
    sticks = link < 0.05
    assert 0.003 < sticks.mean() < 0.2
    assert np.array_equal(np.isnan(window.y[:, 1]), sticks)
    stands = (link < 0.05 * STEPPING) & (motor > TURNS)
    assert 0.0 < stands.mean() < (link < 0.05 * STEPPING).mean() < sticks.mean()
    assert np.array_equal(np.isnan(window.y[:, 0]), np.zeros_like(stands) if sensor else stands)


def test_a_torque_offset_and_an_encoders_zero_go_into_the_offsets() -> None:
    model = TwoMassSettings(inertia_motor=RIG.J_in, inertia_link=RIG.J_out, gravity=RIG.T_g).build()
    values, rates, seconds = exact()
    values[:, 2] += 1.0
    found = fit(model, rows(model, (values, rates, seconds)))
    assert found.theta[:10] == pytest.approx(truth(), rel=1e-4)
    assert found.theta[10] == pytest.approx(-1.0, rel=1e-4)


def test_only_one_joint_torque_is_taken() -> None:
    with pytest.raises(ValueError, match="expected one joint torque: spring_torque, or link_torque"):
        TwoMassSettings(link_torque="measured", spring_torque=True)


def test_a_friction_law_of_the_link_that_would_need_a_search_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a link_friction without nonlinear parameters, found omega_tanh"):
        TwoMassSettings.model_validate({"link_friction": {"kind": "tanh_stribeck"}})


def test_the_drive_alone_between_motor_and_torque_sensor() -> None:
    model = FrictionOnlySettings(inertia=RIG.J_in, joint_torque=True).build()
    values, rates, seconds = exact()
    twist = values[:, 0] - values[:, 1]
    values = np.column_stack([values[:, 0], values[:, 2], RIG.k1 * twist + RIG.k2 * twist**3])
    found = fit(model, rows(model, (values, rates[:, [0, 2, 2]], seconds[:, [0, 2, 2]])))
    assert found.theta == pytest.approx(truth()[2:6], rel=1e-5)
