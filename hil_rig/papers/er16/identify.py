"""Identification of an ER-16: fifteen base parameters and nonlinear friction, by searches and by variable projection.

    τ_i = Φ_i(q, q̇, q̈) θ + f0 + fc sign(q̇) + fv q̇ + fa atan(fb q̇)

Ding et al., J. Robotics 2018, 8219123. The program reads the runs in a folder and writes `found.npz` there. Runs are
train.npz and test.npz with the columns rate (Hz), period (s), position (rows, n) rad and torque (rows, n) N·m of whole
periods.
"""

import argparse
import sys
import tomllib
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.optimize import least_squares, lsq_linear

from estimators.models.robots.base_parameters import standard_name
from estimators.models.robots.files.dh_table import DhTable
from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.excitation.periodic import averaged, differentiated, smoothed
from estimators.quantities import Floats
from estimators.search import minimise
from estimators.search.base import Search, batch
from estimators.search.chaotic_cuckoo import ChaoticCuckoo
from estimators.search.cuckoo import Cuckoo
from estimators.search.swarm import ARM, Swarm
from hil_rig.papers.er16.published import box

JOINTS: Final = 3
OWN: Final = 5  # friction parameters of a joint: f0, fc, fv, fa, fb
ROWS_RATE: Final = 50.0  # Hz
STILL: Final = 1e-3  # rad/s, below which the direction is not known
SEEDS: Final = tuple(range(1, 11))
TRIES: Final = 3  # runs of a search; the paper keeps the best
PASSES: Final = 3  # how often the smoothing (15) is applied
ITERATIONS: Final = 200
NESTS: Final = 25
STARTS: Final = 8
SHARPEST: Final = 100.0
SEARCHES: Final[dict[str, tuple[Search, int]]] = {  # each with its batches of evaluations in one iteration
    "ics": (ChaoticCuckoo(), 2),
    "cs": (Cuckoo(nests=NESTS, abandoned=0.4, step=0.25, exponent=1.5), 2),
    "pso": (Swarm(particles=NESTS, inertia=0.72, cognitive=1.49, social=1.49), 1),
    "pso_published": (ARM, 1),
}


class Er16Run(NamedTuple):
    """Regression rows of one run."""

    Y: Floats  # (rows, n, 15)
    dq: Floats  # (rows, n)
    y: Floats  # (rows, n) NaN where a joint's direction is unknown
    every: int  # samples from one row to the next
    discarded: Floats  # (n,) share of the motion outside the kept harmonics


def read(model: WholeRobot, file: Path, harmonics: int, passes: int = 0) -> Er16Run:
    """Read a run, average its periods and differentiate them. passes: how often (15) smooths position and torque."""
    with np.load(file) as run:
        rate, period, position, torque = (run[name] for name in ("rate", "period", "position", "torque"))
    position, torque = smoothed(position, passes), smoothed(torque, passes)
    count = round(float(rate * period))
    motion = differentiated(averaged(position, count), float(period), harmonics)
    every = round(float(rate) / ROWS_RATE)
    q, dq, ddq = (np.ascontiguousarray(one[::every]) for one in (motion.q, motion.dq, motion.ddq))
    y = np.where(np.abs(dq) > STILL, torque[:count:every], np.nan)
    return Er16Run(model.rigid(q, dq, ddq), dq, y, every, motion.discarded)


def predicted(rows: Er16Run, x: Floats) -> Floats:
    """Torque (points, rows, n) for parameters x (points, 30): base parameters, then five of each joint's friction."""
    p = rows.Y.shape[2]
    own = x[:, p:].reshape(len(x), 1, JOINTS, OWN)
    f0, fc, fv, fa, fb = np.moveaxis(own, 3, 0)
    rigid = (rows.Y.reshape(-1, p) @ x[:, :p].T).T.reshape(len(x), len(rows.dq), JOINTS)
    return np.asarray(rigid + f0 + fc * np.sign(rows.dq) + fv * rows.dq + fa * np.arctan(fb * rows.dq))


def cost(rows: Er16Run, x: Floats) -> Floats:
    """F = Σ |τ − τ_p| over the joints, averaged over the rows: (points,)."""
    return np.asarray(np.nanmean(np.abs(rows.y - predicted(rows, x)), axis=1).sum(axis=1))


def searched(rows: Er16Run, lower: Floats, upper: Floats, name: str, seed: int) -> tuple[Floats, Floats]:
    """Run one search: [F, parameters] (31,), and the best F after every iteration (1 + ITERATIONS,)."""
    search, batches = SEARCHES[name]
    curve = np.full(1 + ITERATIONS, np.nan)

    @batch
    def objective(points: Floats) -> Floats:
        return cost(rows, points)

    def record(evaluations: int, _best: Floats, value: float) -> bool:
        curve[min(evaluations // NESTS // batches, ITERATIONS)] = value
        return False

    budget = NESTS * (1 + batches * ITERATIONS)
    found = minimise(search, objective, lower, upper, budget=budget, seed=seed, callback=record)
    return np.array([found.value, *found.x]), np.fmin.accumulate(curve)


def projected(rows: Er16Run, linear: bool = False, physical: bool = False) -> Floats:
    """Fit by variable projection: only fb is searched, the other 27 follow by weighted least squares. Returns (30,).

    linear: dry and viscous friction only; physical: constrains fc, fv, fa ≥ 0.
    """
    good, p = np.isfinite(rows.y), rows.Y.shape[2]
    weight = np.ones(JOINTS)

    def columns(fb: Floats) -> Floats:
        bent = np.zeros_like(rows.dq) if linear else np.arctan(fb * rows.dq)
        own = [np.ones_like(rows.dq), np.sign(rows.dq), rows.dq, bent]
        parts = [rows.Y] + [np.stack([one[:, [j]] * (np.arange(JOINTS) == j) for one in own], 2) for j in range(JOINTS)]
        return np.concatenate(parts, axis=2)

    def solve(fb: Floats) -> tuple[Floats, Floats]:
        X = (columns(fb) * weight[:, np.newaxis])[good]
        y = (rows.y * weight)[good]
        size = np.maximum(np.linalg.norm(X, axis=0), 1e-12)
        if physical:
            low = np.full(X.shape[1], -np.inf)
            for j in range(JOINTS):
                low[p + 4 * j + 1 : p + 4 * j + 4] = 0.0
            x = lsq_linear(X / size, y, (low, np.inf)).x
        else:
            x = np.linalg.lstsq(X / size, y, rcond=1e-10)[0]
        return x / size, y - X @ (x / size)

    def left(eta: Floats) -> Floats:
        return solve(np.exp(eta))[1]

    fb, sharpest = np.full(JOINTS, 5.0), float(np.log(SHARPEST))
    for number in range(2):
        if not linear:
            starts = np.geomspace(1.5, 60.0, 1 if number else STARTS)
            tried = [
                least_squares(left, np.log(fb) if number else np.full(JOINTS, np.log(start)), bounds=(0.0, sharpest))
                for start in starts
            ]
            fb = np.exp(min(tried, key=lambda one: float(one.cost)).x)
        x, _ = solve(fb)
        residual = rows.y - np.einsum("tjp,p->tj", columns(fb), x)
        weight = 1.0 / np.sqrt(np.nanmean(residual**2, axis=0))
    own = np.column_stack((x[p:].reshape(JOINTS, 4), fb))
    return np.concatenate([x[:p], own.ravel()])


def main() -> int:
    """Read the folder and write found.npz."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("robot", type=Path, help="Denavit-Hartenberg table of the robot (.toml)")
    parser.add_argument("--harmonics", type=int, default=25, help="how many harmonics of the motion are kept (25)")
    options = parser.parse_args()
    table = DhTable.model_validate(tomllib.loads(options.robot.read_text(encoding="utf-8")))
    model = WholeRobot(table.robot())
    train, test = (read(model, options.folder / f"{name}.npz", options.harmonics) for name in ("train", "test"))
    names = [standard_name(int(column), model.robot.names) for column in model.projection.columns]
    lower, upper = box(names)
    found: dict[str, Any] = {"every": np.array(train.every), "discarded": train.discarded}
    points: dict[str, Floats] = {}
    for name in SEARCHES:
        each = [searched(train, lower, upper, name, seed) for seed in SEEDS]
        runs, found[f"{name}_curves"] = np.array([one[0] for one in each]), np.array([one[1] for one in each])
        found[f"{name}_costs"], points[name] = runs[:, 0], runs[np.argmin(runs[:TRIES, 0]), 1:]
        print(f"{name}: F {', '.join(f'{one:.2f}' for one in runs[:, 0])}", file=sys.stderr)
    points["varpro"] = projected(train)
    points["physical"] = projected(train, physical=True)
    points["smoothed"] = projected(read(model, options.folder / "train.npz", options.harmonics, PASSES))
    points["linear"] = projected(train, linear=True)
    for name, x in points.items():
        found[f"{name}_cost"], found[f"{name}_x"] = cost(train, x[np.newaxis]), x
        found[f"{name}_train"], found[f"{name}_test"] = (predicted(rows, x[np.newaxis])[0] for rows in (train, test))
    np.savez(options.folder / "found.npz", names=np.array(names), **found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
