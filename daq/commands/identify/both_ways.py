"""`jointwatch identify ROBOT FORWARD BACKWARD --bidirectional`: friction from a path run in both directions."""

import argparse
import json
import sys
from typing import Any

import numpy as np

from daq.commands.codes import EXIT_USAGE, fail
from daq.recording.columns import load_columns
from daq.replay.robot_runs import read_runs
from estimators.models.robots.description import RobotDescription
from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.robot.bidirectional import Extracted, extract
from estimators.offline.robot.cubic_friction import CubicFriction, cubic_friction
from estimators.offline.robot.motion import pieces


def extract_both_ways(robot: RobotDescription, options: argparse.Namespace) -> int:
    """Extract the friction and print it. Raises RecordingError, MotionError, ConfigError."""
    if len(options.train) != 2 or options.test or options.out is not None or options.report is not None:
        text = "expected ROBOT FORWARD BACKWARD and no --test, --out or --report"
        return fail(f"identify --bidirectional: {text}; found {len(options.train)} recordings", EXIT_USAGE)
    columns = load_columns(options.columns) if options.columns is not None else None
    runs = read_runs(robot, options.train, columns)
    for text in runs.warnings:
        print(f"jointwatch: {text}", file=sys.stderr)
    both = [max(pieces(one.time, one.q, one.tau, f"{one.file}: "), key=lambda piece: len(piece.q)) for one in runs.runs]
    found = extract(WholeRobot(runs.robot), *both)
    if options.json:
        print(json.dumps(_document(found, runs.robot), indent=1, ensure_ascii=False))
    else:
        _tell(found, runs.robot)
    return 0


def _curve(found: Extracted, j: int) -> list[tuple[float, float, float]]:
    """Speed (rad/s), mean friction at it (N·m) and its deviation, sorted by speed."""
    known = np.isfinite(found.friction[:, j])
    speed, torque = found.dq[known, j], found.friction[known, j]
    curve = []
    for sign in (-1.0, 1.0):
        mine = np.flatnonzero(np.sign(speed) == sign)
        for part in np.array_split(mine[np.argsort(speed[mine])], min(8, max(1, len(mine) // 5))):
            if len(part):
                deviation = torque[part].std() / np.sqrt(len(part))
                curve.append((float(speed[part].mean()), float(torque[part].mean()), float(deviation)))
    return curve


def _cubic(found: Extracted, robot: RobotDescription, j: int) -> CubicFriction | None:
    known = np.isfinite(found.friction[:, j])
    return cubic_friction(found.dq[known, j], found.friction[known, j], robot.joints[j].axis)


def _document(found: Extracted, robot: RobotDescription) -> dict[str, Any]:
    joints: dict[str, dict[str, Any]] = {}
    for j, name in enumerate(robot.names):
        known = np.isfinite(found.friction[:, j])
        rms = float(np.sqrt(np.mean(found.friction[known, j] ** 2))) if known.any() else None
        valid = float(1.1 * np.abs(found.dq[:, j]).max())
        curve = [
            {"speed": speed, "friction": torque, "deviation": spread} for speed, torque, spread in _curve(found, j)
        ]
        joints[name] = {"rms": rms, "valid_to": valid, "curve": curve}
        cubic = _cubic(found, robot, j)
        if cubic is not None:
            coefficients = dict(zip(cubic.names, cubic.coefficients.tolist(), strict=True))
            joints[name]["cubic"] = {"threshold": cubic.threshold, "left": cubic.left, "coefficients": coefficients}
    return {"paths_differ": found.differ, "joints": joints}


def _tell(found: Extracted, robot: RobotDescription) -> None:
    print(f"the two paths differ by {100 * found.differ:.2f} % of their amplitude", file=sys.stderr)
    for j, (name, joint) in enumerate(zip(robot.names, robot.joints, strict=True)):
        print(f"{name}: friction by speed, valid to {1.1 * np.abs(found.dq[:, j]).max():.3g} {joint.axis.length}/s")
        for speed, torque, deviation in _curve(found, j):
            print(f"  {speed:+9.4f} {joint.axis.length}/s  {torque:+9.4f} ± {deviation:.2g} {joint.axis.effort}")
        cubic = _cubic(found, robot, j)
        if cubic is not None:
            each = zip(cubic.names, cubic.coefficients, cubic.units, strict=True)
            text = ", ".join(f"{word} {value:.4g} {unit}" for word, value, unit in each)
            print(
                f"  as a cubic: {text}, threshold {cubic.threshold:.3g} {joint.axis.length}/s; leaves {cubic.left:.3g}"
            )
