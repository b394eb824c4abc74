"""Identification of a double-encoder robot: friction from both directions, weighted least squares, models of the twist.

The program reads the runs in a folder and writes predictions and friction into `found.npz` there; judge.py, which made
the runs, judges them. Runs are NAME.npz with time (rows,) s, motor and link (rows, n) rad, torque (rows, n) N·m;
robot.toml describes the arm.

    forward, backward      one path in both directions                → friction_time, friction, friction_dq
    known_NAME             q, dq, ddq, torque (noises, rows, n)       → known_NAME_ordinary, _diagonal, _full
    train1 … , repeat, test1 …                                        → NAME_time, NAME_MODEL (rows, n)
"""

import argparse
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from estimators.models.compensation.bases import RadialBases
from estimators.models.compensation.learned import inputs
from estimators.models.compensation.mixture import GaussianMixtureRegression
from estimators.models.robots.description import RobotDescription
from estimators.models.robots.gear_twist import friction as by_twist
from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.least_squares import ordinary, solve, weighted
from estimators.offline.robot.bidirectional import extract, rigid_columns
from estimators.offline.robot.motion import Piece, pieces
from estimators.quantities import Floats

TRANSITION: Final = 0.01  # rad/s
PUBLISHED: Final = 6  # components of the published mixture
DIRECTED: Final = 8  # components of the mixture that knows the direction, too


class DoubleEncoderRun(NamedTuple):
    """Filtered rows and regressors of one run with n joints."""

    time: Floats  # (rows,)
    y: Floats  # (rows, n)
    dq: Floats
    twist: Floats  # (rows, n) θ_m − θ_l, rad
    rate: Floats
    linear: Floats  # (rows, n, p) rigid body, dry and viscous friction
    directed: Floats  # the same with separate friction of each direction
    loaded: Floats  # (rows, n, p) |θ_m − θ_l| tanh(q̇/ε)


def read(model: WholeRobot, file: Path) -> DoubleEncoderRun:
    """Read a run and filter it to 50 rows a second."""
    with np.load(file) as run:
        time, motor, link, torque = (run[name] for name in ("time", "motor", "link", "torque"))
    (piece,) = pieces(time, motor, torque, f"{file}: ")
    twist = piece.filtered(motor - link)
    rate = np.gradient(twist, axis=0) * piece.rate
    bent = np.tanh(piece.dq / TRANSITION)
    load = by_twist(twist, piece.dq)
    up = (1.0 + bent) / 2.0
    q, dq, ddq = (piece.rows(one) for one in (piece.q, piece.dq, piece.ddq))
    rigid = rigid_columns(model, q, dq, ddq)
    filtered = [piece.rows(piece.filtered(one)) for one in (bent, up, 1.0 - up, load)]
    dry, forward, backward, loaded = filtered
    slow, fast = (np.minimum(dq, 0.0), np.maximum(dq, 0.0))
    linear = np.concatenate([rigid, _diagonal(dry), _diagonal(dq)], axis=2)
    parts = [rigid, *(_diagonal(one) for one in (forward, -backward, fast, slow))]
    directed = np.concatenate(parts, axis=2)
    twists, rates, y = (piece.rows(one) for one in (twist, rate, piece.tau))
    return DoubleEncoderRun(piece.time, y, dq, twists, rates, linear, directed, _diagonal(loaded))


def _diagonal(columns: Floats) -> Floats:
    """Return one column for each joint, zero in the rows of the others: (rows, n) → (rows, n, n)."""
    return np.asarray(columns[:, :, np.newaxis] * np.eye(columns.shape[1]))


def friction(model: WholeRobot, folder: Path) -> dict[str, Floats]:
    """Friction of every joint, from the same path moved in both directions."""
    found = extract(model, *(_whole(folder / f"{name}.npz") for name in ("forward", "backward")))
    return {
        "friction_time": found.time,
        "friction": found.friction,
        "friction_dq": found.dq,
        "friction_speeds": found.speeds,
        "friction_even": found.curve,
    }


def _whole(file: Path) -> Piece:
    with np.load(file) as run:
        (piece,) = pieces(run["time"], run["motor"], run["torque"], f"{file}: ")
    return piece


def known(model: WholeRobot, file: Path) -> dict[str, Floats]:
    """Base parameters identified from exact motions and noisy torques; the first torque has no noise."""
    with np.load(file) as run:
        q, dq, ddq, torques = (run[name] for name in ("q", "dq", "ddq", "torque"))
    X, name = model.rigid(q, dq, ddq), file.stem
    found: dict[str, list[Floats]] = {"ordinary": [], "diagonal": [], "full": []}
    for torque in torques:
        first = ordinary(X, torque)
        found["ordinary"].append(first.theta)
        found["diagonal"].append(solve(X, torque, np.diag(np.diag(first.omega))).theta)
        found["full"].append(weighted(X, torque).theta)
    return {f"{name}_{method}": np.array(values) for method, values in found.items()}


def residuals(model: WholeRobot, folder: Path) -> dict[str, Floats]:
    """Predicted torque of every run that was not used for fitting, by every model of the twist."""
    train = [read(model, file) for file in sorted(folder.glob("train*.npz"))]
    one = train[0]
    found: dict[str, Floats] = {}
    first = weighted(one.linear, one.y).theta  # fitted to one run, as in the published experiment
    left = one.y - one.linear @ first
    joints = range(one.y.shape[1])
    pairs = [inputs(one.twist[:, j], one.rate[:, j]) for j in joints]
    triples = [inputs(one.twist[:, j], one.rate[:, j], one.dq[:, j]) for j in joints]
    paper = [GaussianMixtureRegression.fit(pairs[j], left[:, j], PUBLISHED) for j in joints]
    directed = [GaussianMixtureRegression.fit(triples[j], left[:, j], DIRECTED) for j in joints]
    bases = [RadialBases.fit(pairs[j], left[:, j]) for j in joints]
    ridge = [RadialBases.fit(pairs[j], left[:, j], average=False) for j in joints]
    every = np.concatenate([run.y for run in train])
    plain = weighted(np.concatenate([run.linear for run in train]), every).theta
    columns = [np.concatenate([run.directed, run.loaded], axis=2) for run in train]
    column = weighted(np.concatenate(columns), every).theta
    for file in sorted([*folder.glob("repeat*.npz"), *folder.glob("test*.npz")]):
        run, name = read(model, file), file.stem
        pairs = [inputs(run.twist[:, j], run.rate[:, j]) for j in joints]
        triples = [inputs(run.twist[:, j], run.rate[:, j], run.dq[:, j]) for j in joints]
        torque = run.linear @ first
        found |= {f"{name}_time": run.time, f"{name}_one": torque, f"{name}_linear": run.linear @ plain}
        found[f"{name}_structural"] = np.concatenate([run.directed, run.loaded], axis=2) @ column
        for word, models, seen in (
            ("paper", paper, pairs),
            ("directed", directed, triples),
            ("bases", bases, pairs),
            ("ridge", ridge, pairs),
        ):
            known = np.column_stack([models[j].predict(seen[j]) for j in joints])
            found[f"{name}_{word}"] = torque + known
    return found


def main() -> int:
    """Read the folder and write found.npz."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("robot", type=Path, help="Denavit-Hartenberg table of the robot (.toml)")
    options = parser.parse_args()
    model = WholeRobot(_robot(options.robot))
    found: dict[str, Any] = {**friction(model, options.folder), **residuals(model, options.folder)}
    for file in sorted(options.folder.glob("known_*.npz")):
        found |= known(model, file)
    np.savez(options.folder / "found.npz", **found)
    return 0


def _robot(file: Path) -> RobotDescription:
    import tomllib

    from estimators.models.robots.files.dh_table import DhTable

    return DhTable.model_validate(tomllib.loads(file.read_text(encoding="utf-8"))).robot()


if __name__ == "__main__":
    sys.exit(main())
