"""The XL330 that swings a mass, identified and exported to MuJoCo, against its published models (Rhoban bam)."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from daq.commands.model.mjcf import document
from daq.commands.model.simulated import SimulatedJoint, SimulatedRobot, Value
from estimators.models.robots.files.urdf import read_urdf
from estimators.models.robots.inertia import floored
from estimators.quantities import Floats
from estimators.rows import joined
from hil_rig.papers.recordings import xl330
from hil_rig.papers.recordings.bam import GRAVITY, friction
from hil_rig.papers.recordings.fit import fit
from hil_rig.papers.recordings.readers import Pendulum, xl330_published
from hil_rig.papers.recordings.readers import xl330 as recordings

DATA = Path(__file__).parents[2].parent / "shared/data"
HORIZON = 0.25  # s of every rollout, from a measured state
STEP = 0.002  # s
SCALE = 0.095  # N·m for 1 V at standstill; it scales model and torque alike
PUBLISHED = ("m1", "m3", "m6")  # m3 is the best of all six
pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not (DATA / "bam_xl330").is_dir(), reason="needs the recordings of ../shared/data"),
]
URDF = """<robot name="pendulum"><link name="base"/><link name="arm"><inertial><origin xyz="0 0 -0.1"/>
<mass value="{}"/><inertia ixx="1e-7" iyy="1e-7" izz="1e-7" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="servo" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""


def exported(found: Mapping[str, float], folder: Path) -> str:
    """The model as `model export --to mjcf` writes it."""
    mass = SCALE * found["gravity_sin"] / (GRAVITY * 0.1)
    (folder / "arm.urdf").write_text(URDF.format(mass))
    robot = read_urdf(folder / "arm.urdf").robot
    rotor = Value(SCALE * found["inertia"] - mass * 0.1**2)
    viscous, coulomb = Value(SCALE * found["viscous"]), Value(SCALE * found["coulomb"])
    joint = SimulatedJoint(robot.joints[0], floored(robot.parameters[0]), viscous, coulomb, rotor, Value(0.0), np.nan)
    return document(SimulatedRobot(robot.name, robot.gravity, (joint,), ()))


def states(run: Pendulum) -> tuple[Floats, Floats, Floats]:
    """Times, positions and smoothed speeds, equidistant."""
    time = np.arange(run.time[0], run.time[-1], xl330.PERIOD)
    window = np.hanning(9) / np.hanning(9).sum()
    position = np.interp(time, run.time, run.position)
    return time, position, np.gradient(np.convolve(position, window, "same"), xl330.PERIOD)


def in_mujoco(text: str, run: Pendulum) -> list[float]:
    """Errors of position after HORIZON, rad, under the measured voltage."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep = STEP
    data, errors, (time, position, speed) = mujoco.MjData(model), [], states(run)
    for begin, end in pairwise(np.arange(run.time[0] + 0.3, run.time[-1] - 0.3, HORIZON)):
        mujoco.mj_resetData(model, data)
        data.qpos[0], data.qvel[0] = np.interp(begin, time, position), np.interp(begin, time, speed)
        for volts in np.interp(begin + STEP * np.arange(round(HORIZON / STEP)), run.time, run.voltage):
            data.qfrc_applied[0] = SCALE * volts
            mujoco.mj_step(model, data)
        errors.append(float(data.qpos[0] - np.interp(end, time, position)))
    return errors


def as_published(known: Mapping[str, float], run: Pendulum) -> list[float]:
    """A published model counts, too, whose friction stops the joint where it can."""
    inertia, errors, (time, position, speed) = run.mass * run.length**2 + known["armature"], [], states(run)
    for begin, end in pairwise(np.arange(run.time[0] + 0.3, run.time[-1] - 0.3, HORIZON)):
        q, w = np.interp(begin, time, position), np.interp(begin, time, speed)
        for volts in np.interp(begin + STEP * np.arange(round(HORIZON / STEP)), run.time, run.voltage):
            motor = known["kt"] / known["R"] * (volts - known["kt"] * w)
            weight = run.mass * GRAVITY * run.length * np.sin(q + known["q_offset"])
            free = w + STEP * (motor - weight - known["friction_viscous"] * w) / inertia
            most = STEP * float(friction(known, *(np.asarray(one) for one in (w, weight, motor)))) / inertia
            w = 0.0 if abs(free) <= most else free - np.sign(free) * most
            q += STEP * w
        errors.append(float(q - np.interp(end, time, position)))
    return errors


def rms(errors: list[list[float]]) -> float:
    return float(np.sqrt(np.mean(np.square(np.concatenate(errors)))))


def test_a_rollout_is_closer_than_those_of_the_published_models_by_three_tenths(tmp_path: Path) -> None:
    """Each run with the model of the other seven; the published ones as they are, which were fitted to such runs."""
    runs = recordings(DATA)
    model, rows, taps = xl330.rows_of(xl330.LAWS[xl330.CLASSICAL], [xl330.samples(run) for run in runs])
    names = [one.name for one in model.parameters]
    found = []
    for i, run in enumerate(runs):
        theta = fit(model, taps, joined([*rows[:i], *rows[i + 1 :]])).theta
        found.append(in_mujoco(exported(dict(zip(names, map(float, theta), strict=True)), tmp_path), run))
    theirs = {name: rms([as_published(xl330_published(DATA, name), run) for run in runs]) for name in PUBLISHED}
    print(f"rollouts of {HORIZON} s: identified {rms(found):.4f} rad, published {theirs}")
    assert rms(found) <= 0.7 * min(theirs.values())
