"""Each mistake of a person is named where the data show it; a sound joint, and what cannot be told, give nothing."""

import math
from functools import cache

import numpy as np
import pytest

from estimators.alignment.channel_delay import gaussian_taps
from estimators.plausibility.mistakes.base import Motion
from estimators.plausibility.mistakes.fit import Gain, rows_of
from estimators.plausibility.mistakes.look import look, look_at_joints
from hil_rig.truth.rows import ROWS
from hil_rig.truth.trial import Trial
from tests.support.signals.mistaken_motions import MACHINES, MADE


@cache
def machine(name: str, seed: int = 0) -> Motion:
    return MACHINES[name](seed)


@pytest.mark.parametrize("name", ["pick and place", "slide", "two-mass, motor"])
@pytest.mark.parametrize("mistake", [name for name in MADE if name != "none"])
def test_a_mistake_is_named_where_it_can_be_recognised(mistake: str, name: str) -> None:
    made, motion = MADE[mistake], machine(name)
    wanted = [made.code] if made.told(motion) else []
    assert [reason.code for reason in look(made.make(motion))] == wanted


@pytest.mark.parametrize("name", MACHINES)
def test_a_sound_joint_has_no_mistake(name: str) -> None:
    assert look(machine(name)) == ()


def test_a_gain_without_a_deviation_is_certain() -> None:
    """A velocity that a controller derives from the position alone has none."""
    assert Gain(0.5, 0.0).z == math.inf
    assert Gain(0.5, 0.0).is_near(0.5)
    assert not Gain(0.5, 0.0).is_near(1.0)
    motion = machine("pick and place")
    rate = np.gradient(motion.position, motion.time)
    for factor in (0.5, 2.0):
        (reason,) = look(motion._replace(time=factor * motion.time, velocity=rate))
        assert reason.code == "time_factor"


def test_a_late_torque_is_reported_with_its_deviation_and_its_remedy() -> None:
    (reason,) = look(MADE["torque 5 ms late"].make(machine("rigid, to and fro")))
    assert reason.code == "torque_misaligned"
    assert abs(reason.numbers["milliseconds"] - 5.0) < 5.0 * reason.numbers["deviation"] + 0.1
    assert reason.words["way"] == "late"
    assert "jointwatch skew" in reason.todo


@pytest.mark.parametrize("way", ["late", "early"])
@pytest.mark.parametrize("name", ["rigid, slow", "rigid, shaken", "shaken at 200 Hz", "slide"])
def test_a_late_torque_is_named_though_reversals_leave_more_than_the_delay(name: str, way: str) -> None:
    """On all rows of the slow motion the delay explains a twentieth of the residual or less, away from them all."""
    (reason,) = look(MADE[f"torque 5 ms {way}"].make(machine(name, 3)))
    assert (reason.code, reason.words["way"]) == ("torque_misaligned", way)
    assert abs(reason.numbers["milliseconds"] - 5.0) < 5.0 * reason.numbers["deviation"] + 0.1


@pytest.mark.parametrize("row", ["friction only, 12 bits", "LuGre", "hysteresis", "dead zone 3 %"])
def test_what_else_a_model_misses_is_no_delay(row: str) -> None:
    """Seed 9500 of the first has two thirds of its residual explained by 44 ms, but not down to noise."""
    trial = ROWS[row].make(9500)
    assert isinstance(trial, Trial)
    values = trial.sample(round(12.0 * trial.rate)).values
    assert look(Motion(np.arange(len(values)) / trial.rate, values[:, 0], values[:, 1])) == ()


def _with_memory(width: float, pace: float, seed: int) -> Motion:
    """A joint whose dry friction follows a reversal over `width` rad (elasto-plastic), a torque that is in time."""
    rng, rate = np.random.default_rng([seed, 29]), 500.0
    t = np.arange(round(12.0 * rate)) / rate
    omega = 2.0 * np.pi * pace * rng.uniform(0.2, 0.5, 3)[:, None] * [[1.0], [2.0], [4.0]]
    turn = omega * t + rng.uniform(0.0, 2.0 * np.pi, 3)[:, None]
    amplitude = rng.uniform(0.3, 0.9, 3)[:, None] / [[1.0], [2.0], [4.0]]
    q = (amplitude * np.sin(turn)).sum(axis=0)
    v, a = (amplitude * omega * np.cos(turn)).sum(axis=0), (-amplitude * omega**2 * np.sin(turn)).sum(axis=0)
    friction, anchor = np.empty(len(q)), float(q[0])
    for i, at in enumerate(q):
        anchor = min(max(anchor, at - width), at + width)
        friction[i] = (at - anchor) / width
    torque = rng.uniform(0.3, 2.0) * a + rng.uniform(0.3, 2.0) * v + 2.0 * friction + 3.0 * np.sin(q)
    torque += 0.01 * np.std(torque) * rng.standard_normal(len(t))
    return Motion(t, 2.0**-14 * np.round(2.0**14 * q), torque)


@pytest.mark.parametrize(("width", "pace", "seed"), [(7e-4, 0.3, 0), (7e-4, 0.3, 7), (2e-3, 0.3, 1), (2e-3, 1.0, 2)])
def test_friction_that_follows_a_reversal_is_no_late_torque(width: float, pace: float, seed: int) -> None:
    assert look(_with_memory(width, pace, seed)) == ()


def test_white_noise_is_measured_behind_the_kernel_and_a_tone_is_none() -> None:
    motion, rng = machine("rigid, slow"), np.random.default_rng(4)
    time, smooth = motion.time, np.sin(motion.time)
    taps = gaussian_taps(float(time[1] - time[0]))
    noisy = rows_of(motion._replace(effort=smooth + rng.normal(0.0, 0.3, len(time))))
    tone = rows_of(motion._replace(effort=smooth + 0.3 * np.sin(2.0 * np.pi * 250.0 * time)))
    assert noisy is not None
    assert tone is not None
    assert noisy.noise == pytest.approx(0.09 * np.sum(taps**2), rel=0.1)
    assert tone.noise < 1e-6


def test_two_joints_with_exchanged_torques_name_each_other() -> None:
    one, two = machine("pick and place"), machine("pick and place", 1000)
    told = look_at_joints({"a": one._replace(effort=two.effort), "b": two._replace(effort=one.effort)})
    assert {name: [(r.code, r.words["other"]) for r in reasons] for name, reasons in told.items()} == {
        "a": [("joints_exchanged", "b")],
        "b": [("joints_exchanged", "a")],
    }


# the codes of `MADE` in words: "position_in_degrees", "channels_exchanged", "torque_sign_reversed",
# "position_sign_reversed", "velocity_sign_reversed", "position_wraps", "torque_scale", "time_factor",
# "current_as_torque", "time_in_milliseconds"
