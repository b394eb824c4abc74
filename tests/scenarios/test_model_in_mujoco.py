"""The identified LWR4 in MuJoCo follows a held-out run better than its maker's description does."""

from pathlib import Path

import numpy as np
import pytest

from daq.commands.model.mjcf import document
from daq.commands.model.simulated import SimulatedJoint, SimulatedRobot, Value, simulated
from daq.recording.columns import load_columns
from daq.replay.robot_runs import RobotRun, read_runs
from estimators.models.robots.description import RobotDescription
from estimators.models.robots.files.urdf import read_urdf
from estimators.models.robots.inertia import floored
from estimators.offline.robot.identification import identify
from estimators.offline.robot.motion import pieces
from estimators.quantities import Floats

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared/data/kuka_lwr4"
HORIZON = 0.25  # s of every rollout, from a measured state
pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not DATA.is_dir(), reason="needs the recordings of ../shared/data"),
]


def as_described(robot: RobotDescription) -> SimulatedRobot:
    """The maker's description: its links, no friction."""
    none = Value(0.0)
    links = [floored(one) for one in robot.parameters]
    joints = [
        SimulatedJoint(joint, link, none, none, Value(joint.rotor), none, np.nan)
        for joint, link in zip(robot.joints, links, strict=True)
    ]
    return SimulatedRobot(robot.name, robot.gravity, tuple(joints), ())


def rolled_out(text: str, run: RobotRun, speed: Floats) -> float:
    """Root mean square of position after HORIZON, rad, under the measured torques."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(text)
    data, errors = mujoco.MjData(model), []
    n = run.q.shape[1]
    steps = round(HORIZON / model.opt.timestep)
    begins = np.arange(run.time[0] + 1.0, run.time[-1] - 1.0, HORIZON)
    for begin in begins:
        mujoco.mj_resetData(model, data)
        for j in range(n):
            data.qpos[j], data.qvel[j] = (np.interp(begin, run.time, one[:, j]) for one in (run.q, speed))
        times = begin + model.opt.timestep * np.arange(steps)
        torque = np.column_stack([np.interp(times, run.time, run.tau[:, j]) for j in range(n)])
        for row in torque:
            data.ctrl[:n] = 0.0
            data.qfrc_applied[:] = row
            mujoco.mj_step(model, data)
        end = begin + HORIZON
        errors.append(data.qpos - [np.interp(end, run.time, run.q[:, j]) for j in range(n)])
    return float(np.sqrt(np.mean(np.square(errors))))


def test_a_rollout_is_closer_than_the_makers_by_three_tenths() -> None:
    robot = read_urdf(DATA / "kuka_lwr4.urdf").robot
    columns = load_columns(ROOT / "docs/kuka_lwr4-columns.toml")
    runs = read_runs(robot, [DATA / "measurements_2.npz", DATA / "measurements_3.npz"], columns)
    train, held = runs.runs
    learnt = pieces(train.time, train.q, train.tau, "", train.link)
    found = identify(runs.robot, learnt, [], None, lambda _: None, None, None).found
    speed = np.gradient(held.q, held.time, axis=0)
    ours = rolled_out(document(simulated(found)), held, speed)
    makers = rolled_out(document(as_described(runs.robot)), held, speed)
    print(f"rollouts of {HORIZON} s: identified {ours:.4f} rad, described {makers:.4f} rad")
    assert ours <= 0.7 * makers, f"{ours:.4f} rad against {makers:.4f} rad"
