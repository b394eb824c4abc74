"""What each fault does to torque and signals of the servo joint, against equations of its own."""

from typing import Any

import numpy as np
import pytest

from hil_rig.faults.base import Course, Drawn, Fault, Push, play
from hil_rig.faults.catalogue import SHOWN, UNSHOWN
from hil_rig.faults.rigs import RIGS
from hil_rig.faults.servo_joint import ServoJoint, ServoJointSettings
from hil_rig.plants.base import Floats

pytestmark = pytest.mark.compiled
FAULTS = {one.name: one for one in (*SHOWN, *UNSHOWN)}
RATE, WINDOW = 1000.0, 100
# read without noise and steps, so that momentum can be balanced
EXACT = RIGS["planetary drive"].model_copy(update={"noise": 0.0, "bits": 40, "two_encoders": True, "rate": RATE})
IN_SENSORS = (
    *("encoder_eccentricity", "encoder_slip", "late_channel", "lost_counts"),
    *("saturated_amplifier", "torque_measurement"),
)
MOMENTUM = sorted(FAULTS.keys() - {*IN_SENSORS, "collision", "loose_bolt", "winding_short"})


def drawn(name: str, seed: int, settings: ServoJointSettings = EXACT) -> tuple[ServoJoint, Drawn]:
    joint = ServoJoint(settings, seed)
    return joint, FAULTS[name].draw(joint, np.random.default_rng(seed))


def missing(rows: Floats, values: dict[str, float], push: Floats | float = 0.0) -> tuple[Floats, float]:
    """Torque of windows in which the joint moves that the balance of momentum does not explain; rms of the torque.

    Link and tool are one body here; the motor's torque moves both, against friction, gravity and what catches.
    """
    p, (q_m, torque, q_l) = values, rows.T
    v_m, v_l = np.gradient(q_m, 1.0 / RATE), np.gradient(q_l, 1.0 / RATE)
    body = p["J_l"] + p["J_t"]
    beyond = np.maximum(q_l - p["cable_from"], 0.0)
    outside = p["G_s"] * np.sin(q_l) + p["G_c"] * np.cos(q_l) + p["cable"] * beyond
    outside += p["ripple"] * np.sin(p["order"] * q_l) - push
    rubs = p["wedge"] * np.exp(-(((q_l - p["wedge_at"]) / p["wedge_width"]) ** 2)) + p["cable_dry"] * (beyond > 0.0)
    outside += rubs * np.sign(v_l)
    gear = body * np.gradient(v_l, 1.0 / RATE) + outside
    dry = p["F_c"] * (1.0 + p["load"] * np.abs(gear))
    dry += p["F_s"] * (1.0 + 0.004 * p["heat"]) * np.exp(-np.abs(v_m) / p["v_s"])
    dry += p["brake"] * (1.0 + p["brake_wave"] * np.sin(p["ratio"] * q_m))
    friction = dry * np.sign(v_m) + p["F_v"] * np.exp(-p["heat"] / 21.0) * v_m
    explained, left = friction + outside, list[float]()
    for first in range(2, len(rows) - WINDOW - 2, WINDOW):
        part = slice(first, first + WINDOW + 1)
        if np.abs(v_m[part]).min() < 0.1 or np.abs(v_l[part]).min() < 0.1:
            continue
        gained = p["J_m"] * (v_m[part][-1] - v_m[part][0]) + body * (v_l[part][-1] - v_l[part][0])
        needed = gained * RATE / WINDOW + np.trapezoid(explained[part]) / WINDOW
        left.append(np.trapezoid(torque[part]) / WINDOW - needed)
    return np.array(left), float(np.sqrt(np.mean(torque**2)))


@pytest.mark.parametrize("name", MOMENTUM)
def test_momentum_is_balanced_with_the_fault_and_not_without_it(name: str) -> None:
    joint, fault = drawn(name, 4)
    healthy = dict(joint.values)
    joint.values.update(fault.values)
    rows = joint.rows(12_000)
    left, size = missing(rows, joint.values)
    assert len(left) > 30
    assert np.sqrt(np.mean(left**2)) < 0.01 * size
    if name not in ("gear_gap",):  # whose torque is the same, but for its impacts
        wrong, _ = missing(rows, healthy)
        assert np.sqrt(np.mean(wrong**2)) > 2.0 * np.sqrt(np.mean(left**2))


def test_a_gap_and_a_slack_belt_let_the_link_go_astray_by_play_and_torque_over_stiffness() -> None:
    for name, expected in (("gear_gap", "b"), ("belt_slack", "K")):
        joint, fault = drawn(name, 4)
        joint.values.update(fault.values)
        rows = joint.rows(12_000)
        twist = rows[:, 0] - rows[:, 2]
        gravity = joint.values["G_s"] * np.sin(rows[:, 2]) + joint.values["G_c"] * np.cos(rows[:, 2])
        speed = np.gradient(np.gradient(rows[:, 2], 1.0 / RATE), 1.0 / RATE)
        gear = (joint.values["J_l"] + joint.values["J_t"]) * speed + gravity
        pressed = np.abs(gear) > 8.0
        wound = gear / joint.values["K"] + np.sign(gear) * joint.values["b"]
        assert np.median(np.abs(twist - wound)[pressed]) < 0.05 * np.median(np.abs(wound[pressed])), expected


def test_what_is_bolted_on_loosely_moves_by_itself() -> None:
    joint, fault = drawn("loose_bolt", 4)
    tight, _ = missing(ServoJoint(EXACT, 4).rows(12_000), joint.values)
    joint.values.update(fault.values)
    loose, _ = missing(joint.rows(12_000), joint.values)
    assert np.abs(loose).max() > 5.0 * np.abs(tight).max()


def told(sensors: dict[str, float], settings: ServoJointSettings = EXACT) -> tuple[Floats, Floats]:
    """One motion as it is, and as these sensors report it: the controller knows the truth."""
    true, wrong = ServoJoint(settings, 3), ServoJoint(settings, 3)
    wrong.sensors.update(sensors)
    return true.rows(3000), wrong.rows(3000)


def test_an_encoder_that_slips_is_eccentric_or_loses_counts_tells_the_link_so_much_beside() -> None:
    true, wrong = told({"slip": 0.05})
    np.testing.assert_allclose(wrong[:, 2] - true[:, 2], 0.05, atol=1e-9)
    true, wrong = told({"eccentricity": 0.04, "phase": 1.0})
    np.testing.assert_allclose(wrong[:, 2] - true[:, 2], 0.04 * np.sin(true[:, 2] + 1.0), atol=1e-9)
    true, wrong = told({"lost": 0.01})
    way = np.abs(np.diff(true[:, 2])).sum()
    assert wrong[-1, 2] - true[-1, 2] == pytest.approx(-0.01 * way, rel=0.01)
    np.testing.assert_array_equal(wrong[:, :2], true[:, :2])


def test_a_torque_channel_tells_another_gain_zero_delay_or_less_than_there_is() -> None:
    true, wrong = told({"gain": 1.15, "zero": -2.0})
    np.testing.assert_allclose(wrong[:, 1], 1.15 * true[:, 1] - 2.0, atol=1e-6)
    true, wrong = told({"delay": 0.02})
    np.testing.assert_array_equal(wrong[20:, 1], true[:-20, 1])
    true, wrong = told({"limit": 15.0})
    np.testing.assert_allclose(wrong[:, 1], 15.0 * np.tanh(true[:, 1] / 15.0), atol=1e-6)
    true, wrong = told({"electric": 0.3})
    beat = 1.0 + 0.3 * np.sin(4.0 * EXACT.ratio * true[:, 0])
    assert np.median(np.abs(wrong[:, 1] - beat * true[:, 1])) < 1e-3, "of a motor's angle with its encoder's steps"


# what docstrings of faults promise of a size, by the healthy joint's values: least, most
SIZES: dict[str, dict[str, Any]] = {
    "bearing": {"order": lambda p: (8.0, 18.0), "F_c": lambda p: (1.05 * p["F_c"], 1.2 * p["F_c"])},
    "belt_slack": {"K": lambda p: (0.1 * p["K"], 0.3 * p["K"]), "F_c": lambda p: (0.8 * p["F_c"], 0.95 * p["F_c"])},
    "brake_drag": {"brake": lambda p: (0.25 * p["F_c"], 0.8 * p["F_c"])},
    "encoder_eccentricity": {"eccentricity": lambda _: (0.03, 0.1)},
    "encoder_slip": {"slip": lambda _: (0.03, 0.12)},
    "gear_gap": {"b": lambda _: (1e-3, 3e-3)},
    "gear_wear": {"F_c": lambda p: (1.3 * p["F_c"], 1.6 * p["F_c"]), "F_s": lambda p: (1.3 * p["F_s"], 2.2 * p["F_s"])},
    "loose_bolt": {"b_t": lambda _: (1e-3, 4e-3), "K_t": lambda p: (p["J_t"] * 631.0, p["J_t"] * 2527.0)},
    "temperature": {"heat": lambda _: (12.0, 25.0)},
    "late_channel": {"delay": lambda _: (0.015, 0.04)},
    "lost_counts": {"lost": lambda _: (0.005, 0.015)},
    "lost_balancer": {"G_s": lambda p: (1.25 * abs(p["G_s"]), 1.6 * abs(p["G_s"]))},
    "wedged_body": {"wedge_width": lambda _: (0.05, 0.15)},
    "winding_short": {"gain": lambda _: (1.05, 1.12), "electric": lambda _: (0.2, 0.5)},
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_drawn_over_the_whole_range_that_a_fault_promises(name: str) -> None:
    joint, _ = drawn(name, 1)
    found = [FAULTS[name].draw(joint, np.random.default_rng(seed)) for seed in range(200)]
    for size, limits in SIZES[name].items():
        values = np.abs([{**one.values, **one.sensors}[size] for one in found])
        low, high = limits(joint.values)
        assert low - 1e-12 <= values.min() < low + 0.1 * (high - low)
        assert high - 0.1 * (high - low) < values.max() <= high + 1e-12


def test_another_load_changes_gravity_as_a_mass_on_a_lever_does() -> None:
    for seed in range(100):
        joint, fault = drawn("load", seed)
        before, after = joint.values, fault.values
        moment = np.hypot(before["G_s"], before["G_c"])
        change = complex(after["G_s"] - before["G_s"], after["G_c"] - before["G_c"])
        assert 0.1 <= abs(change) / moment <= 0.5
        lever = 9.81 * (after["J_t"] - before["J_t"]) / abs(change)  # m r² g / (m g r)
        taken = after["J_t"] < before["J_t"]
        assert 0.15 - 1e-9 <= abs(lever) <= 0.6 + 1e-9 or (taken and after["J_t"] == 0.2 * before["J_t"])
        assert after["K_t"] / after["J_t"] == pytest.approx(before["K_t"] / before["J_t"]), "it is bolted on as tightly"


def test_a_slow_fault_grows_linearly_and_a_sudden_one_is_there_and_its_place_is_there_at_once() -> None:
    course = Course(onset=1.0, growth=2.0)
    true = play(EXACT, None, course, 4.0, 5)
    for sudden in (True, False):
        fault = Fault("zero", sudden, lambda _joint, _rng: Drawn(sensors={"zero": 3.0, "phase": 1.0}))
        wrong = play(EXACT, fault, course, 4.0, 5)[:, 1] - true[:, 1]
        begun = 0.05 * np.floor(np.arange(4000) / 50.0 + 1e-9)  # a step every 50 ms
        share = np.clip((begun - 1.0) / 2.0, 0.0, 1.0) if not sudden else (begun >= 1.0 - 1e-9).astype(float)
        np.testing.assert_allclose(wrong, 3.0 * share, atol=1e-6)
    turned = Fault("turned", False, lambda _joint, _rng: Drawn(sensors={"eccentricity": 0.1, "phase": 1.0}))
    beside = play(EXACT, turned, course, 4.0, 5)[:, 2] - true[:, 2]
    np.testing.assert_allclose(beside[2000:2050], 0.05 * np.sin(true[2000:2050, 2] + 1.0), atol=1e-9)


def test_a_push_is_half_a_sine_from_outside() -> None:
    """Without viscous friction, which the warmth of the run would change."""
    settings = EXACT.model_copy(update={"F_v": 0.0, "F_s": 0.0})
    pushed = Fault("push", True, lambda _joint, _rng: Drawn(pushes=(Push(0.5, 8.0, 12.0),)))
    rows = play(settings, pushed, Course(onset=1.0, growth=1.0), 10.0, 5)
    t = 0.05 * np.floor(np.arange(len(rows)) / 50.0 + 1e-9) + 0.025
    push = np.where((t > 1.5) & (t < 9.5), 12.0 * np.sin(np.pi * (t - 1.5) / 8.0), 0.0)
    values = ServoJoint(settings, 5).values
    left, size = missing(rows, values, push)
    assert np.sqrt(np.mean(left**2)) < 0.01 * size
    assert np.sqrt(np.mean(missing(rows, values)[0] ** 2)) > 10.0 * np.sqrt(np.mean(left**2))
