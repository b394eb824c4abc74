"""Stiffness and lost motion of a KUKA KR300's first three axes, between two real encoders (Weigand 2021, runs A and B).

Each run takes ten seconds. The load of an axis comes from the authors' mass model, less the counterbalance of axis 2,
because its sign must not depend on the motor's torque. In ten seconds the load hardly reverses, so lost motion is not
identifiable; the stiffness of the two runs agrees.
"""

import tomllib
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import scipy.io

from estimators.models.joints.lost_motion import BY_TORQUE, TORQUE, LostMotionSettings
from estimators.models.robots.files.dh_table import DhTable
from estimators.models.robots.newton_euler import newton_euler
from estimators.numerics.splines import zero_phase_low_pass
from estimators.online.gear.lost_motion import GearReport, LostMotion
from estimators.quantities import Floats
from estimators.recursive.blocks import Blocks, spread
from hil_rig.papers.recordings.readers import PublicRecordingError

TABLE: Final = Path(__file__).parents[1] / "descriptions" / "kr300.toml"
RUNS: Final = ("A", "B")
PERIOD: Final = 0.004  # s
SMOOTH: Final = 10.0  # Hz, zero-phase low-pass of the motion from which the load is computed
BAND: Final = 0.03  # of the largest load: accuracy of the mass model, below which the load's sign is not certain
NOMINAL: Final = (4.5778e6, 7.5189e6, 4.0999e6)  # N·m/rad, by the authors


class AxisGear(NamedTuple):
    """Result of one run for one axis."""

    run: str
    axis: int  # from 0
    report: GearReport
    doubled: float  # N·m/rad, standard deviation of the stiffness by leaving out two neighbouring blocks at a time


def gears(data: Path) -> list[AxisGear]:
    """Return the results of every run and axis. Raises PublicRecordingError."""
    return [AxisGear(run, *found) for run in RUNS for found in _run(data / "kr300" / f"traj_{run}.mat")]


def _run(file: Path) -> list[tuple[int, GearReport, float]]:
    if not file.exists():
        raise PublicRecordingError(f"{file} does not exist; --data names the folder of the recordings")
    content = scipy.io.loadmat(str(file), simplify_cells=True)
    motor, link = (np.deg2rad(content["rec"][f"act_pos_{name}_deg"].T) for name in ("mot", "se"))
    ratio, rotor = (np.asarray(content["para"][name], np.float64) for name in ("u", "J_mr"))
    torque = content["rec"]["act_torque_abs_nm"].T * ratio
    load = loads(motor)
    found = []
    for axis in range(len(NOMINAL)):
        settings = LostMotionSettings(
            inertia_motor=rotor[axis] * ratio[axis] ** 2,
            inertia_link=0.0,
            load=True,
            ratio=float(ratio[axis]),
            band=BAND * float(np.abs(load[:, axis]).max()),
            rows=1.0 / PERIOD,
            block=0.5,
            blocks=20,
        )
        gear = LostMotion(settings, PERIOD)
        values = np.column_stack([motor[:, axis], link[:, axis], torque[:, axis], load[:, axis]])
        gear.absorb(np.arange(len(values)) * round(PERIOD * 1e9), values)
        found.append((axis, gear.report(), _doubled(gear.blocks)))
    return found


def _doubled(blocks: Blocks) -> float:
    """Standard deviation of the stiffness by blocks twice as long: larger if errors correlate over several blocks."""
    which, kept = blocks.last(), blocks.state
    pairs = Blocks(blocks.columns, len(which) // 2, 2 * blocks.rows)
    for pair in which[: 2 * pairs.blocks].reshape(-1, 2):
        pairs.add(kept.information[pair].sum(axis=0), kept.moments[pair].sum(axis=0))
    return float(spread(1.0 / pairs.solve(pairs.last(), BY_TORQUE).left_out[:, TORQUE]))


def loads(q: Floats) -> Floats:
    """Load torques of the gears by the authors' mass model, (rows, 6) N·m."""
    robot = DhTable.model_validate(tomllib.loads(TABLE.read_text(encoding="utf-8"))).robot()
    smooth = np.ascontiguousarray(zero_phase_low_pass(q, 2, SMOOTH, 1 / PERIOD))
    dq = np.gradient(smooth, PERIOD, axis=0)
    ddq = np.gradient(dq, PERIOD, axis=0)
    rows, n = q.shape
    tau, wrench = np.empty((rows, n)), np.empty((rows, n, 6))
    newton_euler(*robot.tree(), smooth, dq, ddq, robot.parameters, np.zeros((0, n, 6)), tau, wrench)
    for name, spring in robot.counterbalances.items():
        axis = robot.names.index(name)
        nominal = np.array([one[2] for one in spring.names()])
        tau[:, axis] += spring.columns(smooth[:, axis]) @ nominal
    return tau
