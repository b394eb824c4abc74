"""What a joint's settings and channels may not be, and what is said of it."""

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from estimators.base import Phase, Status
from estimators.models.collinearity import collinear
from estimators.models.joints.rigid import RigidSettings
from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification
from estimators.quantisation.encoder_steps import UnevenTime
from estimators.quantities import Floats
from estimators.reasons import Reason, joined
from hil_rig.plants.joints.two_mass import TwoMassPlantSettings as Rig

PAIRS = [
    ({"kind": "rigid", "gravity_sin": True, "friction": {"kind": "cyclic"}}, "cyclic_sin and gravity_sin"),
    ({"kind": "rigid", "gravity_cos": True, "friction": {"kind": "cyclic"}}, "cyclic_cos and gravity_cos"),
]
BOUNDS = [
    ({"omega_tanh": (0.3, 0.1)}, r"bounds of omega_tanh: expected low < high within .* found \[0.3, 0.1\]"),
    ({"omega_stribeck": (0.2, 0.2)}, "bounds of omega_stribeck"),
    ({"omega_tanh": (0.001, 0.1)}, r"within \[0.005, 0.5\] rad/s"),
    ({"omega": (0.1, 0.2)}, "expected bounds of omega_tanh, omega_stribeck, found omega"),
]


def rigid(seconds: float, rate: float = 200.0) -> tuple[Floats, Floats]:
    """Times (ns) and values (position, torque) of a rigid joint in motion."""
    t = np.arange(round(seconds * rate)) / rate
    speed = 0.8 * np.cos(2 * np.pi * 0.6 * t) + 0.5 * np.cos(2 * np.pi * 1.7 * t)
    position = np.cumsum(speed) / rate
    torque = 1.2 * np.gradient(speed, 1 / rate) + 4.0 * speed + 6.0 * np.sign(speed)
    torque += 0.2 * np.random.default_rng(0).standard_normal(len(t))
    return np.round(t * 1e9).astype(np.int64), np.column_stack([position, torque])


@pytest.mark.parametrize(("model", "pair"), PAIRS)
def test_columns_that_no_motion_tells_apart_are_refused_by_name(model: dict[str, Any], pair: str) -> None:
    with pytest.raises(ValidationError, match=f"found the columns of {pair} collinear under any motion"):
        JointIdentification.model_validate({"model": model})


def test_columns_that_motion_tells_apart_are_not() -> None:
    assert collinear(RigidSettings(gravity_sin=True, gravity_cos=True).build()) == ()


@pytest.mark.parametrize(("bounds", "text"), BOUNDS)
def test_bounds_are_in_order_within_the_range_and_of_what_is_searched(bounds: dict[str, Any], text: str) -> None:
    with pytest.raises(ValidationError, match=text):
        JointIdentification.model_validate({"model": {"kind": "friction"}, "monitor": {"refit": {"bounds": bounds}}})


@pytest.mark.parametrize("saturation", [0.0, -1.0, float("nan"), float("inf")])
def test_a_saturation_is_a_positive_torque(saturation: float) -> None:
    with pytest.raises(ValidationError):
        JointIdentification.model_validate({"model": {"kind": "rigid"}, "saturation": saturation})


def test_a_channel_that_is_never_finite_is_named() -> None:
    time, values = rigid(5.0)
    values[:, 1] = np.nan
    joint = JointEstimator(JointIdentification.model_validate({"model": {"kind": "rigid"}}), 0.005)
    joint.absorb(time, values)
    estimate = joint.estimate()
    assert estimate.phase is Phase.WAITING
    assert str(estimate.reasons[0]) == "torque gave no finite value for 2 s"


def test_a_channel_that_never_changes_is_named_until_it_does() -> None:
    time, values = rigid(9.0)
    stuck = values.copy()
    stuck[:1000, 1] = 3.25
    joint = JointEstimator(JointIdentification.model_validate({"model": {"kind": "rigid"}}), 0.005)
    joint.absorb(time[:1000], stuck[:1000])
    assert str(joint.estimate().reasons[0]) == "torque stays at 3.25 although other channels change"
    joint.absorb(time[1000:], stuck[1000:])
    assert not any("stays at" in reason for reason in map(str, joint.estimate().reasons))


@pytest.mark.parametrize(("step", "told"), [(0.1, True), (1e-9, False)])
def test_a_position_that_is_sampled_unevenly_is_named_where_the_kernel_is_too_narrow(step: float, told: bool) -> None:
    joint = JointEstimator(JointIdentification.model_validate({"model": {"kind": "rigid"}}), 0.005)
    uneven = UnevenTime(0.005)
    uneven.step = step
    joint._take_unevenness(0, uneven)
    assert (Reason("channel_uneven", "position") in joint.estimate().reasons) is told


def test_a_joint_at_rest_is_not_accused_of_constant_channels() -> None:
    time, values = rigid(5.0)
    values[:] = values[0]
    joint = JointEstimator(JointIdentification.model_validate({"model": {"kind": "rigid"}}), 0.005)
    joint.absorb(time, values)
    assert joint.estimate().reasons == (Reason("waiting_for_motion"),)


@pytest.mark.compiled
@pytest.mark.parametrize("role", [0, 1])
@pytest.mark.parametrize("stays", [True, False])
def test_a_channel_that_dies_or_freezes_in_normal_mode_is_named_but_not_at_standstill(role: int, stays: bool) -> None:
    time, values = rigid(26.0)
    model = {"kind": "rigid"}
    joint = JointEstimator(JointIdentification.model_validate({"model": model}), 0.005)
    joint.absorb(time[:3000], values[:3000])
    assert (joint.estimate().phase, joint.estimate().reasons) == (Phase.NORMAL, ())
    wrong = values[3000:4000].copy()
    wrong[:, role] = wrong[0, role] if stays else np.nan
    joint.absorb(time[3000:4000], wrong)
    told = joined(joint.estimate().reasons)
    name = joint.channels[role]
    assert (f"{name} stays at" in told) is (stays and name == "torque"), "with the only encoder still, all is at rest"
    assert (f"{name} gave no finite value" in told) is not stays
    assert joint.estimate().status is not Status.VALID
    joint.absorb(time[4000:4800], values[4000:4800])
    told = joined(joint.estimate().reasons)
    assert "stays at" not in told
    assert "no finite value" not in told
    joint.absorb(time[4800:], values[4800:])
    if name == "torque" or not stays:  # rows of an encoder that froze in motion look like friction at a stop for longer
        assert joint.estimate().status is Status.VALID, "the values from before it explain the motion again"


@pytest.mark.compiled
def test_an_encoder_that_freezes_in_normal_mode_is_named_where_the_other_moves() -> None:
    plant = Rig.model_validate({"identify": "elastic"}).build(1, 1, [])
    joint = JointEstimator(
        JointIdentification.model_validate({"model": plant.model, "start": 8.5, "standstill": 0.01}), 1e-3
    )
    columns = [f"{message.name}.{field.name}" for message in plant.messages for field in message.fields]
    measured = plant.rows(17_000)
    values = np.column_stack(
        [measured[:, columns.index(one.signal)] * one.scale for one in (plant.roles[role] for role in joint.channels)]
    )
    frozen = joint.channels.index("link_position")
    values[12_000:, frozen] = values[12_000, frozen]
    time = np.arange(len(values)) * 1_000_000
    joint.absorb(time[:12_000], values[:12_000])
    assert joint.estimate().reasons == ()
    joint.absorb(time[12_000:], values[12_000:])
    assert joint.estimate().phase is not Phase.STARTING
    assert str(joint.estimate().reasons[0]).startswith("link_position stays at")


@pytest.mark.compiled
def test_a_joint_that_is_never_loaded_stays_in_its_start_and_names_the_torque_it_needs() -> None:
    plant = Rig.model_validate(
        {"identify": "elastic", "T_g": 2.0, "trajectory": {"speed": 0.12}, "b_out": 2.0, "b_outC": 0.5, "A1": 0.5}
    ).build(1, 1, [])
    joint = JointEstimator(
        JointIdentification.model_validate({"model": plant.model, "start": 8.5, "standstill": 0.002}), 1e-3
    )
    columns = [f"{message.name}.{field.name}" for message in plant.messages for field in message.fields]
    measured = plant.rows(14_000)
    places = [plant.roles[role] for role in joint.channels]
    values = np.column_stack([measured[:, columns.index(one.signal)] * one.scale for one in places])
    joint.absorb(np.arange(len(values)) * 1_000_000, values)
    estimate = joint.estimate()
    assert estimate.phase is Phase.STARTING
    assert estimate.progress < 100.0
    assert any((one.code, one.parameter) == ("torque_peaks_low", "stiffness_cubic") for one in estimate.reasons)
