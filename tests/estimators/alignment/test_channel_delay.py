"""Delays that were put in come out, within the deviation stated; and those of a real robot's two encoders."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat

from estimators.alignment.channel_delay import ChannelSeries, Delay, Relation, SkewError, delay
from estimators.quantities import Floats
from hil_rig.plants.joints.rigid import RigidPlantSettings

KR300 = Path(__file__).parents[4] / "shared/data/kr300"
EMPS = Path(__file__).parents[4] / "shared/data/emps/nlid_emps_sim_data_training.mat"
PERIOD = 4e-3
STIFFNESS, INERTIA, VISCOUS, COULOMB = 4e6, 400.0, 2000.0, 300.0  # N·m/rad, kg·m², N·m·s/rad, N·m


def motion(t: Floats, derivative: int = 0) -> Floats:
    """A joint under way: rad and its derivatives, analytic."""
    amplitude = np.array([0.3, 0.15, 0.05, 0.02])[:, None]
    omega, phase = 2 * np.pi * np.array([0.21, 0.53, 1.3, 2.9])[:, None], np.array([0, 1, 2, 3])[:, None]
    return np.sum(amplitude * omega**derivative * np.sin(omega * t + phase + derivative * np.pi / 2), axis=0)


def joint(
    late: float, seed: int = 1, noise: float = 2e-5, seconds: float = 20.0
) -> tuple[ChannelSeries, ChannelSeries, ChannelSeries]:
    """Motor encoder, link encoder (bent by the torque that passes the gear, late), motor torque with friction."""
    rng = np.random.default_rng(seed)
    t = np.arange(0, seconds, PERIOD)

    def link_torque(t: Floats) -> Floats:
        return INERTIA * motion(t, 2) + 3000.0 * np.sin(motion(t))

    v = motion(t, 1)
    torque = link_torque(t) + VISCOUS * v + COULOMB * np.tanh(v / 0.005) + rng.normal(0, 20.0, len(t))
    link = motion(t - late) - link_torque(t - late) / STIFFNESS
    return (
        ChannelSeries(t, motion(t) + rng.normal(0, noise, len(t))),
        ChannelSeries(t, link + rng.normal(0, noise, len(t))),
        ChannelSeries(t, torque),
    )


@pytest.mark.parametrize("late", [-0.0213, -0.0031, 0.0, 0.0007, 0.00306, 0.0047, 0.0312])
def test_a_fractional_delay_comes_out_although_the_joint_bends(late: float) -> None:
    motor, link, torque = joint(late)
    found = delay(motor, link, Relation.SAME, torque)
    assert found.delay == pytest.approx(late, abs=3e-5)
    assert abs(found.delay - late) < 4 * found.deviation + 2e-6
    assert found.deviation < 5e-5
    assert found.gain == pytest.approx(1.0, abs=1e-3)


def test_friction_is_not_taken_for_delay() -> None:
    """A plain column of torque would take c·fv = 0.5 ms: viscous friction of the motor, which never bends the gear."""
    motor, link, torque = joint(0.003)
    assert abs(delay(motor, link, Relation.SAME, torque).delay - 0.003) < 0.1 * VISCOUS / STIFFNESS


@pytest.mark.parametrize("late", [-0.0122, 0.0, 0.0009, 0.0043])
def test_a_torque_is_late_against_its_equation_of_motion(late: float) -> None:
    motor, _, torque = joint(0.0)
    found = delay(motor, ChannelSeries(torque.time + late, torque.values), Relation.EFFORT)
    assert found.delay == pytest.approx(late, abs=2e-4)
    assert abs(found.delay - late) < 4 * found.deviation + 5e-5
    assert found.gain == pytest.approx(INERTIA, rel=0.05)


@pytest.mark.parametrize("late", [0.0, 0.006])
def test_a_joint_that_sticks_at_each_reversal(late: float) -> None:
    plant = RigidPlantSettings().build(1, 3, ())
    rows = plant.rows(40_000)
    time = np.arange(len(rows)) / plant.rate
    torque = ChannelSeries(time + late, plant.roles["torque"].scale * rows[:, 1])
    found = delay(ChannelSeries(time, rows[:, 0]), torque, Relation.EFFORT)
    assert abs(found.delay - late) < 4.0 * found.deviation < 2e-3
    assert found.gain == pytest.approx(2.0, rel=0.02)


def test_an_inertia_below_zero_is_no_delay() -> None:
    motor, _, torque = joint(0.0)
    with pytest.raises(SkewError, match="not positive"):
        delay(motor, ChannelSeries(torque.time, -torque.values), Relation.EFFORT)


def test_the_delay_of_another_joints_torque_is_not_told() -> None:
    motor, _, torque = joint(0.0)
    other = ChannelSeries(torque.time, torque.values + 500.0 * np.sin(7.0 * torque.time))
    with pytest.raises(SkewError, match=r"equation of motion leaves \d+% of it: too much"):
        delay(motor, other, Relation.EFFORT)


def test_the_delay_that_is_put_into_the_force_of_a_real_drive_comes_out() -> None:
    if not EMPS.exists():
        pytest.skip(f"needs the EMPS recording in {EMPS}")
    data = loadmat(EMPS)
    position, force = data["qm"].ravel(), data["vir"].ravel() * data["gtau"].item()
    t = 1e-3 * np.arange(len(position))
    own, later = (
        delay(ChannelSeries(t, position), ChannelSeries(t + late, force), Relation.EFFORT) for late in (0.0, 0.0045)
    )
    assert later.delay - own.delay == pytest.approx(0.0045, abs=2e-5)
    assert abs(own.delay) < 5e-4
    assert own.deviation < 1e-4
    assert own.gain == pytest.approx(95.1, rel=0.01)  # kg


def test_the_deviation_is_what_the_error_is() -> None:
    """With residuals that are correlated over 0.15 s, as gear errors are."""

    def one(seed: int) -> float:
        motor, link, _ = joint(0.003, seed, noise=0.0)
        rng = np.random.default_rng(1000 + seed)
        wander = np.convolve(rng.normal(0, 2e-4, len(link.time) + 60), np.hanning(61), "valid") / 5.0
        found = delay(motor, ChannelSeries(link.time, link.values + wander), Relation.SAME)
        return (found.delay - 0.003) / found.deviation

    scores = np.array([one(seed) for seed in range(40)])
    assert 0.6 < np.sqrt(np.mean(scores**2)) < 1.5
    assert np.mean(np.abs(scores) < 2.5) > 0.9


def test_a_velocity_and_another_unit_and_direction() -> None:
    motor, _, _ = joint(0.0)
    t = motor.time
    found = delay(motor, ChannelSeries(t, np.rad2deg(motion(t - 0.0221, 1))), Relation.RATE)
    assert found.delay == pytest.approx(0.0221, abs=2e-5)
    assert found.gain == pytest.approx(180 / np.pi, rel=1e-3)
    found = delay(motor, ChannelSeries(t, -motion(t - 0.0051) + 1.0), Relation.SAME)
    assert (found.delay, found.gain) == (pytest.approx(0.0051, abs=2e-5), pytest.approx(-1.0, abs=1e-3))
    assert found.after < 0.1 * found.before


def test_other_rates_jitter_gaps_and_missing_values() -> None:
    rng = np.random.default_rng(5)
    t = np.arange(0, 20, 1e-3)
    s = PERIOD * np.arange(5000) + rng.uniform(0, 0.4 * PERIOD, 5000)
    values = motion(s - 0.0042)
    values[rng.choice(5000, 50)] = np.nan
    s, values = s[(s < 7) | (s > 7.5)], values[(s < 7) | (s > 7.5)]
    found = delay(ChannelSeries(t, motion(t)), ChannelSeries(s, values), Relation.SAME)
    assert found.delay == pytest.approx(0.0042, abs=5e-5)


def test_what_cannot_be_determined_is_said() -> None:
    t = np.arange(0, 20, PERIOD)
    still, moving = ChannelSeries(t, np.zeros(len(t))), ChannelSeries(t, motion(t))
    with pytest.raises(SkewError, match="rests"):
        delay(still, moving, Relation.SAME)
    with pytest.raises(SkewError, match="no delay within ±100 ms"):
        delay(moving, ChannelSeries(t, motion(t - 0.3)), Relation.SAME)
    with pytest.raises(SkewError, match="too short"):
        delay(ChannelSeries(t[:100], motion(t[:100])), ChannelSeries(t[:100], motion(t[:100])), Relation.SAME)
    with pytest.raises(SkewError, match="too short"):
        delay(moving, ChannelSeries(t, np.full(len(t), np.nan)), Relation.SAME)
    with pytest.raises(SkewError, match="ascend"):
        delay(moving, ChannelSeries(t[::-1], moving.values), Relation.SAME)


def test_the_gain_has_a_deviation_that_is_what_its_error_is() -> None:
    def one(seed: int) -> float:
        motor, link, torque = joint(0.003, seed)
        found = delay(motor, ChannelSeries(link.time, 1.01 * link.values), Relation.SAME, torque)
        return (found.gain - 1.01) / found.gain_deviation

    scores = np.array([one(seed) for seed in range(12)])
    assert 0.4 < np.sqrt(np.mean(scores**2)) < 1.6


def kr300(run: str, axis: int, part: slice = slice(None)) -> Delay:
    record = loadmat(KR300 / f"traj_{run}.mat", squeeze_me=True, struct_as_record=False)
    rec, gear = record["rec"], record["para"].u
    time = rec.time_cont
    motor, link = np.deg2rad(rec.act_pos_mot_deg[axis]), np.deg2rad(rec.act_pos_se_deg[axis])
    torque = rec.act_torque_abs_nm[axis] * gear[axis]
    motor, link, torque = (ChannelSeries(time[part], one[part]) for one in (motor, link, torque))
    return delay(motor, link, Relation.SAME, torque)


@pytest.mark.skipif(not KR300.exists(), reason="needs the recording ../shared/data/kr300")
def test_disjoint_segments_of_a_real_robot_agree_within_their_deviations() -> None:
    z = []
    for axis in range(3):
        halves = [kr300(run, axis, part) for run in "AB" for part in (slice(1250), slice(1250, None))]
        for a, b in itertools.combinations(halves, 2):
            z.append((a.delay - b.delay) / np.hypot(a.deviation, b.deviation))
            z.append((a.gain - b.gain) / np.hypot(a.gain_deviation, b.gain_deviation))
    assert np.mean(np.abs(z) < 2.0) >= 0.9
    assert 0.5 < np.sqrt(np.mean(np.square(z))) < 1.3


@pytest.mark.skipif(not KR300.exists(), reason="needs the recording ../shared/data/kr300")
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_encoders_of_a_real_robot(axis: int) -> None:
    runs = [kr300(run, axis) for run in "AB"]
    for found in runs:
        assert 3.0e-3 - 0.15e-3 < found.delay < 3.2e-3 + 0.15e-3
        assert found.deviation < 0.25e-3
        assert abs(found.gain - 1.0) < 3.0 * found.gain_deviation + 3e-4  # of one gear
        assert found.before / found.after > (5.0 if axis == 0 else 3.5)
    a, b = runs
    assert abs(a.delay - b.delay) < 3 * np.hypot(a.deviation, b.deviation)
