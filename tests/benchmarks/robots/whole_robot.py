"""A whole robot identified from real recordings, and the kernels beneath: asked and got.

jointwatch bench whole_robot [--json]

KUKA LWR4+ (runs 2, 3), KUKA KR300 (A, B) and Kinova Gen3 from ../shared/data, where they are; the kernels and their
agreement with Pinocchio need none. One setting for all: no robot has one of its own.
"""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from daq.commands.identify.command import load_robot
from daq.recording.columns import load_columns
from daq.replay.robot_runs import RobotRun, read_runs
from estimators.models.robots.description import RobotDescription
from estimators.models.robots.inertia import pseudo_inertia
from estimators.models.robots.newton_euler import newton_euler
from estimators.models.robots.regressor import regressor
from estimators.models.robots.tree import tree
from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.least_squares import ordinary
from estimators.offline.robot.entropic import entropic
from estimators.offline.robot.fit import fit, relative_error
from estimators.offline.robot.motion import Piece, pieces
from estimators.offline.robot.rows import build
from hil_rig.plants.recording import DATA

ROOT: Final = Path(__file__).parents[3]
TIMED: Final = 20_000  # rows
REPEATS: Final = 11
SPLIT: Final = 0.6  # of the Kinova's recording


class Row(NamedTuple):
    """One figure."""

    name: str
    asked: str
    got: str
    good: bool


class Case(NamedTuple):
    """One robot, learnt on one run and judged on another."""

    name: str
    robot: RobotDescription
    train: list[Piece]
    test: list[Piece]
    most: float  # % asked


def cases() -> Iterator[Case]:
    """Those whose data are here."""
    if (DATA / "kuka_lwr4").exists():
        folder = DATA / "kuka_lwr4"
        robot, runs = recorded(
            folder / "kuka_lwr4.urdf", [folder / f"measurements_{k}.npz" for k in (2, 3)], "kuka_lwr4"
        )
        yield Case("LWR4 2 > 3", robot, runs[0], runs[1], 4.7)
        yield Case("LWR4 3 > 2", robot, runs[1], runs[0], 3.2)
    if (DATA / "kr300").exists():
        folder = DATA / "kr300"
        robot, runs = recorded(ROOT / "docs" / "kr300.toml", [folder / f"traj_{k}.mat" for k in "AB"], "kr300")
        yield Case("KR300 A > B", robot, runs[0], runs[1], 17.5)
        yield Case("KR300 B > A", robot, runs[1], runs[0], 17.0)
    if (DATA / "kinova_gen3").exists():
        folder = DATA / "kinova_gen3"
        for word, column, most in (("sensor", "TorqueSm", 10.0), ("current", "TorqueCur", 14.5)):
            robot, found = whole(folder / "gen3.urdf", [folder / "opti_traj_testing1.csv"], "kinova_gen3", column)
            cut = int(SPLIT * len(found[0].time))
            parts = [
                RobotRun(one.file, one.time[half], one.q[half], one.tau[half], one.link[half])
                for one in found
                for half in (slice(cut), slice(cut, None))
            ]
            first, last = (pieces(one.time, one.q, one.tau) for one in parts)
            yield Case(f"Kinova 60/40 {word}", robot, first, last, most)


def whole(robot: Path, files: list[Path], table: str, torque: str = "") -> tuple[RobotDescription, list[RobotRun]]:
    columns = load_columns(ROOT / "docs" / f"{table}-columns.toml")
    if torque:
        joints = {
            name: roles | {"torque": roles["torque"].model_copy(update={"column": f"{torque}{i + 1}"})}
            for i, (name, roles) in enumerate(columns.joints.items())
        }
        columns = columns.model_copy(update={"joints": joints})
    runs = read_runs(load_robot(robot)[0], files, columns)
    return runs.robot, runs.runs


def recorded(robot: Path, files: list[Path], table: str) -> tuple[RobotDescription, list[list[Piece]]]:
    found, runs = whole(robot, files, table)
    return found, [pieces(one.time, one.q, one.tau) for one in runs]


def judged(case: Case) -> Iterator[Row]:
    """Error across runs, and of the physical links."""
    model = WholeRobot(case.robot)
    rows, held = build(model, case.train), build(model, case.test)
    found = fit(model, rows)
    error = relative_error(held.y, held.predicted(found.theta))
    plain = relative_error(held.y, held.predicted(ordinary(rows.X, rows.y).theta))
    yield Row(f"{case.name}: error", f"<= {case.most:g} %", f"{error:.2f} % (plain {plain:.1f})", error <= case.most)
    began = time.thread_time()
    physical = entropic(model, rows, found)
    spent = time.thread_time() - began
    other = relative_error(held.y, held.predicted(physical.theta))
    least = min(float(np.linalg.eigvalsh(pseudo_inertia(one))[0]) for one in physical.parameters)
    yield Row(
        f"{case.name}: physical links",
        "all positive definite, <= +0.5 %",
        f"least eigenvalue {least:.1e}, {other - error:+.2f} %, {1e3 * spent:.0f} ms",
        least > 0 and other - error <= 0.5,
    )


def coverage(first: Case) -> Row:
    """Parameters learnt on either run of the LWR4, against each other."""
    model = WholeRobot(first.robot)
    found = [fit(model, build(model, run)) for run in (first.train, first.test)]
    learnt = found[0].learnt & found[1].learnt
    z = (found[0].theta - found[1].theta) / np.hypot(found[0].deviation, found[1].deviation)
    white = [fit(model, build(model, run), "white") for run in (first.train, first.test)]
    lied = (white[0].theta - white[1].theta) / np.hypot(white[0].deviation, white[1].deviation)
    inside = 100.0 * float(np.mean(np.abs(z[learnt]) < 2.0))
    without = 100.0 * float(np.mean(np.abs(lied[learnt]) < 2.0))
    return Row(
        "LWR4 2 against 3: learnt parameters inside 2σ",
        ">= 85 %",
        f"{inside:.0f} % of {int(learnt.sum())} (taken for white noise {without:.0f} %)",
        inside >= 85.0,
    )


def kernels() -> Iterator[Row]:
    """Time of a row, and agreement with Pinocchio on seven joints about skew axes."""
    random, n = np.random.default_rng(0), 7
    places = np.tile(np.eye(4), (n, 1, 1))
    places[:, :3, :3] = np.linalg.qr(random.normal(size=(n, 3, 3)))[0]
    places[:, :3, :3] *= np.sign(np.linalg.det(places[:, :3, :3]))[:, None, None]
    places[:, :3, 3] = random.normal(size=(n, 3)) * 0.3
    axes = random.normal(size=(n, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    arm = tree(range(-1, n - 1), [0] * n, places, axes, (0.0, 0.0, -9.81))
    q, dq, ddq = random.normal(size=(3, TIMED, n))
    parameters = random.normal(size=(n, 10))
    Y, tau, wrench = np.empty((TIMED, n, 10 * n)), np.empty((TIMED, n)), np.empty((TIMED, n, 6))
    nothing = np.zeros((0, n, 6))
    spent = microseconds(lambda: regressor(*arm, q, dq, ddq, Y))
    yield Row("Y, 7 joints", "<= 3 µs", f"{spent:.2f} µs", spent <= 3.0)
    spent = microseconds(lambda: newton_euler(*arm, q, dq, ddq, parameters, nothing, tau, wrench))
    yield Row("inverse dynamics with wrenches, 7 joints", "-", f"{spent:.2f} µs", True)
    try:
        import pinocchio
    except ImportError:
        print("no Pinocchio here: its comparison is left out", file=sys.stderr)
        return
    model = pinocchio.Model()
    for i in range(n):
        place = pinocchio.SE3(places[i, :3, :3], places[i, :3, 3])
        model.addJoint(i, pinocchio.JointModelRevoluteUnaligned(axes[i]), place, f"joint{i}")
    data = model.createData()
    theirs = np.array(
        [pinocchio.computeJointTorqueRegressor(model, data, q[k], dq[k], ddq[k]).copy() for k in range(200)]
    )
    worst = float(np.abs(Y[:200] - theirs).max() / np.abs(theirs).max())
    yield Row("Y against Pinocchio", "<= 1e-12 of its scale", f"{worst:.1e}", worst <= 1e-12)


def microseconds(call: Callable[[], Any]) -> float:
    """Median processor time of a row."""
    call()
    found = []
    for _ in range(REPEATS):
        began = time.thread_time()
        call()
        found.append((time.thread_time() - began) / TIMED * 1e6)
    return statistics.median(found)


def measured() -> Iterator[Row]:
    """Every figure."""
    yield from kernels()
    lwr = None
    for case in cases():
        lwr = lwr or (case if case.name.startswith("LWR4") else None)
        yield from judged(case)
    if lwr is not None:
        yield coverage(lwr)
    missing = [name for name in ("kuka_lwr4", "kr300", "kinova_gen3") if not (DATA / name).exists()]
    if missing:
        print(f"left out, no recordings of {', '.join(missing)} in {DATA}", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for row in measured():
        rows.append(row)
        if not options.json:
            print(f"{'  ' if row.good else '! '}{row.name:48} asked {row.asked:34} got {row.got}", flush=True)
    if options.json:
        print(json.dumps([row._asdict() for row in rows], ensure_ascii=False))
    return 0 if all(row.good for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
