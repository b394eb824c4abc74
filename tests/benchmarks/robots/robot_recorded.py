"""A whole robot live on real recordings: online learning, rest, payloads, contacts, and what it costs.

jointwatch bench robot_recorded [--json]

KUKA LWR4+, runs 2 and 3 from ../shared/data, 25 s each, played through the live estimator as the service does. Payloads
and contacts are added to the measured torque: a body's exactly, by the arm's own inverse dynamics, and steps. The model
always comes from the other run, but for the first row: there the URDF is all that is known, and every second teaches
three seconds late, so that a contact or a payload teaches nothing (without that 4.55 %). Steps begin every half second
from the start's end on, both signs, on a copy of the estimator as it was at that instant.
"""

import argparse
import copy
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from daq.commands.identify.command import load_robot
from daq.recording.columns import load_columns
from daq.replay.robot_runs import RobotRun, read_runs
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.inertia import standard
from estimators.offline.robot.identification import identify
from estimators.offline.robot.live_residuals import Recorded, with_live_residuals
from estimators.offline.robot.motion import EDGE, pieces
from estimators.online.robot.estimator import RobotEstimator
from estimators.quantities import Floats
from hil_rig.plants.recording import DATA

ROOT: Final = Path(__file__).parents[3]
FOLDER: Final = DATA / "kuka_lwr4"
RATE: Final = 200.0  # Hz
CUT: Final = 2  # rows at a time
STARTED: Final = 13.0  # s of a run, by which the start is over
TAKEN: Final = 14.0  # s at which a payload is taken
STEPS: Final = (3.2, 5.5, 2.1, 4.6, 2.0, 1.1, 1.0)  # N·m, smallest found at 10 Hz
MORE: Final = 1.2
IN_TIME: Final = 0.3  # s
CORRELATED: Final = 20.0  # rows that count as one, before anything is known
REST: Final = 600.0  # s
GAP: Final = 0.1  # s of missing rows between two runs
STUCK: Final = 0.3  # N·m of torque that wanders while the robot rests
FAST: Final = 1000.0  # Hz


class Row(NamedTuple):
    """One figure."""

    name: str
    asked: str
    got: str
    good: bool


class Even(NamedTuple):
    """A run at RATE."""

    ticks: np.ndarray  # (rows,) ns
    q: Floats  # (rows, n)
    tau: Floats  # (rows, n)


def runs() -> list[RobotRun]:
    """2 and 3."""
    columns = load_columns(ROOT / "docs" / "kuka_lwr4-columns.toml")
    robot = load_robot(FOLDER / "kuka_lwr4.urdf")[0]
    return read_runs(robot, [FOLDER / f"measurements_{k}.npz" for k in (2, 3)], columns).runs


def even(run: RobotRun, rate: float = RATE) -> Even:
    """On the clock that a service would have."""
    grid = np.arange(run.time[0], run.time[-1], 1.0 / rate)
    q, tau = (np.column_stack([np.interp(grid, run.time, one) for one in part.T]) for part in (run.q, run.tau))
    return Even(np.round((grid - grid[0]) * 1e9).astype(np.int64) + 1, q, tau)


def taught(run: RobotRun) -> IdentifiedRobot:
    """By one run, as `jointwatch identify` does."""
    robot = load_robot(FOLDER / "kuka_lwr4.urdf")[0]
    found = identify(robot, pieces(run.time, run.q, run.tau), []).found
    return with_live_residuals(found, [Recorded(run.time, run.q, run.tau)])


def ignorant(found: IdentifiedRobot, torque: Floats) -> IdentifiedRobot:
    """What the URDF alone says of the robot, of torques' lags, too; torque: (n,) rms."""
    return replace(
        found, theta=found.prior, covariance=found.prior_covariance, variance=(0.1 * torque) ** 2,
        correlation=np.full(len(torque), CORRELATED), peaks=None, deviations=0.1 * torque, lag=None,
    )  # fmt: skip


def play(estimator: RobotEstimator, run: Even, later: float = 0.0) -> tuple[Floats, Floats]:
    """Measured and predicted torque every CUT rows, (rows, n); later: s that its clock is ahead, after a gap."""
    measured, predicted = [], []
    if later:  # as the live line says it: rows of NaN
        gap = np.full((round(GAP * RATE), run.q.shape[1]), np.nan)
        estimator.absorb(np.full(len(gap), run.ticks[0] + round(later * 1e9)), gap, gap)
    for first in range(0, len(run.ticks), CUT):
        part = slice(first, first + CUT)
        estimator.absorb(run.ticks[part] + round(later * 1e9), run.q[part], run.tau[part])
        now = estimator.estimate()
        measured.append(now.measured)
        predicted.append(now.predicted)
    return np.array(measured), np.array(predicted)


def error(measured: Floats, predicted: Floats) -> float:
    """% of the torque, without the first second of low-passes."""
    rows = slice(round(RATE / CUT), None)
    return 100.0 * float(np.linalg.norm((measured - predicted)[rows]) / np.linalg.norm(measured[rows]))


def online(second: Even, third: Even, found: IdentifiedRobot) -> Iterator[Row]:
    """Learning from the URDF on; with a rest in between."""
    start = ignorant(found, np.sqrt((second.tau**2).mean(axis=0)))
    estimator = RobotEstimator(start, 1.0 / RATE, start=20.0)  # thresholds are of what the URDF alone leaves
    play(estimator, second)
    rested = copy.deepcopy(estimator)
    plain = error(*play(estimator, third, 30.0))
    yield Row("LWR4 2 then 3, from the URDF: run 3 ahead", "<= 4.5 %", f"{plain:.2f} %", plain <= 4.5)
    usual = error(*play(RobotEstimator(found, 1.0 / RATE), third))
    yield Row("LWR4 identified on 2, then run 3 live", "<= 4.5 %", f"{usual:.2f} %", usual <= 4.5)
    before, size = rested.learnt, np.trace(rested._learner.bayesian.covariance)
    rows = round(REST * RATE)
    wander = np.repeat(np.random.default_rng(0).uniform(-STUCK, STUCK, (rows // 400 + 1, 7)), 400, axis=0)[:rows]
    ticks = second.ticks[-1] + np.arange(1, rows + 1) * round(1e9 / RATE)
    still = Even(ticks, np.repeat(second.q[-1:], rows, axis=0), second.tau[-1] + wander)
    play(rested, still)
    taught_at_rest = rested.learnt - before
    after = error(*play(rested, third, 30.0 + REST))
    P, P0 = rested._learner.bayesian.covariance, rested._learner.bayesian.prior_covariance
    bounded = bool(np.linalg.eigvalsh(P0 - P)[0] > -1e-9 * np.trace(P0))
    yield Row(
        "10 min at rest with 0.3 N·m of stiction: then run 3",
        "+0.1 %, finite, P <= P0",
        f"{after - plain:+.2f} %, tr P / tr P0 {np.trace(P) / np.trace(P0):.2f} (before {size / np.trace(P0):.2f})",
        after - plain <= 0.1 and bounded and bool(np.isfinite(P).all()),
    )
    yield Row("seconds of that rest that taught (24 h: as many)", "0", str(taught_at_rest), taught_at_rest <= 3)


def payload(found: IdentifiedRobot, run: RobotRun, mass: float, word: str) -> Row:
    """A body of that mass on the last link, from TAKEN on."""
    [piece] = pieces(run.time, run.q, run.tau)
    body = np.zeros((7, 10))
    body[-1] = standard(mass, np.array([0.01, 0.02, 0.06]), mass * 0.06**2 * np.eye(3))
    grid = np.linspace(run.time[0], run.time[-1], len(piece.q))
    torque = found.model().torque(body, piece.q, piece.dq, piece.ddq)
    extra = np.column_stack([np.interp(run.time, grid, one) for one in torque.T])
    loaded = even(run._replace(tau=run.tau + extra * (run.time - run.time[0] >= TAKEN)[:, np.newaxis]))
    estimator = RobotEstimator(found, 1.0 / RATE)
    alarm, worst, false = np.inf, 0.0, 0
    for first in range(0, len(loaded.ticks), CUT):
        part = slice(first, first + CUT)
        estimator.absorb(loaded.ticks[part], loaded.q[part], loaded.tau[part])
        at = loaded.ticks[part][-1] * 1e-9
        told = [one for one in estimator.events() if one.kind == "payload"]
        false += sum(at < TAKEN or mass == 0.0 for _ in told)
        if told and at >= TAKEN and alarm == np.inf:
            alarm = at - TAKEN
        carried = estimator.estimate().payload
        if carried.carried and at > TAKEN + 5.0:
            worst = max(worst, abs(carried.mass - mass))
    if mass == 0.0:
        return Row(f"payload 0 kg, {word}: told", "0", str(false), false == 0)
    most = 3.0 if mass < 1.0 else 1.5
    return Row(
        f"payload {mass:g} kg, {word}: told after; mass off after 5 s",
        f"<= {most:g} s; <= 0.2 kg",
        f"{alarm:.2f} s; {worst:.2f} kg",
        alarm <= most and worst <= 0.2 and false == 0,
    )


def contacts(found: IdentifiedRobot, run: Even) -> Iterator[Row]:
    """False ones, and steps on every joint."""
    estimator = RobotEstimator(found, 1.0 / RATE)
    false, stopping, tried, seen, late = 0, 0, np.zeros(7), np.zeros(7), []
    for first in range(0, len(run.ticks), CUT):
        at = run.ticks[first] * 1e-9
        if at >= STARTED and first % round(0.5 * RATE) == 0 and first + IN_TIME * RATE < len(run.ticks):
            for j in range(7):
                for sign in (1.0, -1.0):
                    delay = told_after(copy.deepcopy(estimator), run, first, j, sign * MORE * STEPS[j])
                    tried[j] += 1
                    seen[j] += delay <= IN_TIME
                    late += [delay] if delay <= IN_TIME else []
        part = slice(first, first + CUT)
        estimator.absorb(run.ticks[part], run.q[part], run.tau[part])
        told = sum(one.kind == "contact" for one in estimator.events())
        stopping += told * (first >= len(run.ticks) - EDGE * RATE)
        false += told * (first < len(run.ticks) - EDGE * RATE)
    text = f"{false} ({stopping} in the last {EDGE:g} s, where the recording ends and the arm stops)"
    yield Row("contact, LWR4 3 > 2, 10 Hz: false", "0", text, false == 0)
    share = 100.0 * seen / tried
    yield Row(
        f"steps told within {IN_TIME:g} s, joint by joint, of {int(tried[0])}",
        ">= 95 %",
        f"{' '.join(f'{one:.0f}' for one in share)} %, median {1e3 * np.median(late):.0f} ms",
        bool((share >= 95.0).all()),
    )


def told_after(estimator: RobotEstimator, run: Even, first: int, joint: int, step: float) -> float:
    """s until a contact of that joint is told; infinite if it is not."""
    name = estimator.model.robot.names[joint]
    for begin in range(first, first + round(IN_TIME * RATE), CUT):
        part = slice(begin, begin + CUT)
        tau = run.tau[part].copy()
        tau[:, joint] += step
        estimator.absorb(run.ticks[part], run.q[part], tau)
        if any(one.kind == "contact" and f"{name}:" in one.text for one in estimator.events()):
            return (begin + CUT - first) / RATE
    return np.inf


def cost(found: IdentifiedRobot, run: RobotRun) -> Row:
    """Processor time of the estimator at FAST, 10 ms at a time."""
    quick, size = even(run, FAST), round(0.01 * FAST)
    estimator = RobotEstimator(found, 1.0 / FAST)
    began = time.thread_time()
    for first in range(0, len(quick.ticks), size):
        part = slice(first, first + size)
        estimator.absorb(quick.ticks[part], quick.q[part], quick.tau[part])
    share = 100.0 * (time.thread_time() - began) / (len(quick.ticks) / FAST)
    return Row("7 joints, 1 kHz, the estimator alone", "<= 1 % of a core", f"{share:.2f} %", share <= 1.0)


def measured() -> Iterator[Row]:
    """Every figure."""
    if not FOLDER.exists():
        print(f"left out: no recordings in {FOLDER}", file=sys.stderr)
        return
    second, third = runs()
    by_second, by_third = taught(second), taught(third)
    yield from online(even(second), even(third), by_second)
    for found, run, word in ((by_second, third, "2 > 3"), (by_third, second, "3 > 2")):
        for mass in (0.0, 0.5, 1.0, 2.0):
            yield payload(found, run, mass, word)
    yield from contacts(by_third, even(second))
    yield cost(by_second, third)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for row in measured():
        rows.append(row)
        if not options.json:
            print(f"{'  ' if row.good else '! '}{row.name:52} asked {row.asked:26} got {row.got}", flush=True)
    if options.json:
        print(json.dumps([row._asdict() for row in rows], ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
