"""Reads recordings of a whole robot: position and torque of every joint on one time, in the robot's order of joints.

They are columns with a table (.csv, .npz, .mat), our own recordings, or ROS 2 bags; all mistakes are reported at once.
"""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from daq.recording.columns import Channels, Columns, read
from daq.recording.reader import RecordingError
from daq.recording.ros_bag import is_ours
from daq.replay.aligned import aligned
from drivers.base import nearest
from estimators.alignment.channel_delay import ChannelSeries
from estimators.conditioning.spikes import AROUND, Spikes
from estimators.models.robots.description import RobotDescription, RobotJoint
from estimators.offline.robot.motion import GAP, GAP_SECONDS, clock_problems
from estimators.online.settings import LINK
from estimators.quantities import Axis, Floats

EFFORTS: Final = ("torque", "force", "effort", "current")  # roles that hold the output of a joint's drive
TURNS: Final = 100.0  # rad that a joint without limits may turn in a recording
WRAPPED: Final = 0.5  # rad by which the jump of an encoder that wraps may differ from a turn
BEYOND: Final = 2.0  # times the range of its limits that a joint with limits may move


class RobotRun(NamedTuple):
    """One recording: n joints in the robot's order."""

    file: Path
    time: Floats  # (rows,) s
    q: Floats  # (rows, n) rad (m)
    tau: Floats  # (rows, n) N·m (N)
    link: Floats  # (rows, n) of second encoders, as q; NaN where a joint has none


class Runs(NamedTuple):
    """All recordings, the robot with the recorded joints, and warnings."""

    robot: RobotDescription
    runs: list[RobotRun]
    warnings: list[str]


def read_runs(robot: RobotDescription, files: Sequence[Path], columns: Columns | None) -> Runs:
    """Read the recordings of a robot. Raises RecordingError with every mistake, a line each."""
    problems: list[str] = []
    warnings: list[str] = []
    if columns is not None:
        problems += _units(robot, columns)
    found: list[tuple[Path, Channels]] = []
    for file in files:
        try:
            channels = read_aligned(file, columns)
            found.append((file, channels))
        except RecordingError as mistakes:
            problems += str(mistakes).splitlines()
    names = robot.names
    for file, channels in found:
        lacking = [name for name in names if name not in channels]
        fingers = _standing(robot, lacking)
        if fingers and len(fingers) == len(lacking):
            warnings.append(f"{file}: found no columns of {', '.join(fingers)}: assumed to rest at zero")
            names = tuple(name for name in names if name not in fingers)
    robot = robot if names == robot.names else robot.selected(names)
    robot = _driven(robot, [channels for _, channels in found])
    seconds, doubts = _seconds(robot, found)
    warnings += doubts
    runs = []
    for file, channels in found:
        mine, doubts = _whole(robot, file, channels)
        problems += mine
        if not mine:
            run, left_out = _tamed(robot, _run(robot, file, channels, seconds))
            runs.append(run)
            warnings += left_out
            wrong, odd = _plausible(robot, runs[-1])
            problems += wrong
            warnings += doubts + odd
    if problems:
        raise RecordingError("\n".join(dict.fromkeys(problems)))
    return Runs(robot, runs, list(dict.fromkeys(warnings)))


def channels_of(robot: RobotDescription, run: RobotRun) -> Channels:
    """The joints of a run as channels."""
    return {
        joint.name: {
            "position": ChannelSeries(run.time, run.q[:, j]),
            _output(joint): ChannelSeries(run.time, run.tau[:, j]),
        }
        | ({LINK: ChannelSeries(run.time, run.link[:, j])} if np.isfinite(run.link[:, j]).any() else {})
        for j, joint in enumerate(robot.joints)
    }


def _output(joint: RobotJoint) -> str:
    """The role of what a joint's drive gives."""
    return "current" if joint.by_current else "torque" if joint.axis is Axis.ROTARY else "force"


def read_aligned(file: Path, columns: Columns | None) -> Channels:
    """Read the channels of one recording; our own recordings are aligned first."""
    return aligned(file) if columns is None and is_ours(file) else read(file, columns)


def _standing(robot: RobotDescription, lacking: list[str]) -> list[str]:
    """The lacking joints that belong to a gripper: they are prismatic, and carry no recorded joint."""
    found = []
    for name in lacking:
        i = robot.names.index(name)
        carried = {i}
        for k, joint in enumerate(robot.joints):
            if joint.parent in carried:
                carried.add(k)
        if robot.joints[i].axis is Axis.PRISMATIC and all(robot.names[k] in lacking for k in carried):
            found.append(name)
    return found


def _driven(robot: RobotDescription, found: Sequence[Channels]) -> RobotDescription:
    """The robot, with the joints marked whose recorded effort is motor current."""
    driven = [all(_effort(one.get(name, {})) == "current" for one in found) for name in robot.names]
    joints = tuple(replace(joint, by_current=one) for joint, one in zip(robot.joints, driven, strict=True))
    return replace(robot, joints=joints) if found else robot


def _effort(roles: dict[str, ChannelSeries]) -> str | None:
    return next((role for role in EFFORTS if role in roles), None)


def _units(robot: RobotDescription, columns: Columns) -> list[str]:
    """Mistakes: units in the table that do not fit a joint's position or torque."""
    found = []
    for joint in robot.joints:
        for role, column in columns.joints.get(joint.name, {}).items():
            expected = {"position": (joint.axis.length,), LINK: (joint.axis.length,)} | {
                effort: (joint.axis.effort, "A") if effort == "current" else (joint.axis.effort,) for effort in EFFORTS
            }
            unit = column.conversion("").unit
            if role in expected and unit not in ("", "1", *expected[role]):
                found.append(
                    f"[joints.{joint.name}] {role}: expected a unit of {expected[role][0]}, found {column.unit}: "
                    f"the joint is {joint.axis}"
                )
    return found


def _whole(robot: RobotDescription, file: Path, channels: Channels) -> tuple[list[str], list[str]]:
    """Mistakes: what a recording lacks; warnings: columns of joints that the robot does not have."""
    problems = []
    if channels and not set(channels) & set(robot.names):
        return [_other_names(robot, file, list(channels))], []
    for name in robot.names:
        roles = channels.get(name)
        if roles is None:
            others = [one for one in channels if one not in robot.names]
            hint = nearest(name, others) if others else "its position and its torque (or current) have to be recorded"
            problems.append(f"{file}: found no columns of the joint {name}, {hint}")
            continue
        if "position" not in roles:
            problems.append(f"{file}: found no position of the joint {name}, only {', '.join(roles) or 'nothing'}")
        if _effort(roles) is None:
            problems.append(f"{file}: found no torque of the joint {name}, only {', '.join(roles) or 'nothing'}")
    unknown = [name for name in channels if name not in robot.names]
    if unknown and problems:
        problems.append(f"{file}: found columns of {', '.join(unknown)}, which {robot.name} does not have")
        return problems, []
    ignored = f"{file}: columns of {', '.join(unknown)} are not used: {robot.name} has no such joints"
    return problems, [ignored] if unknown else []


def _other_names(robot: RobotDescription, file: Path, found: Sequence[str]) -> str:
    """Mistake: not one joint of the recording is called as the robot's are."""
    words = f"{file}: found columns of {', '.join(found)}, but {robot.name} has the joints {', '.join(robot.names)}"
    if len(found) != len(robot.names):
        return f"{words}: use the robot's names in the table of columns ([joints.NAME])"
    names = ",".join(robot.names)
    return f"{words}. Propose the table with these names: jointwatch columns {shlex.quote(str(file))} --names {names}"


def _seconds(robot: RobotDescription, found: Sequence[tuple[Path, Channels]]) -> tuple[list[str], list[str]]:
    """The joints whose second encoder is in every recording; warnings about those that have one in some only."""
    having = {name: [file for file, channels in found if _has_second(channels.get(name, {}))] for name in robot.names}
    partly = [
        f"joint {name}: found {LINK} in {len(files)} of {len(found)} recordings: not used"
        for name, files in having.items()
        if 0 < len(files) < len(found)
    ]
    return [name for name, files in having.items() if len(files) == len(found) > 0], partly


def _has_second(roles: dict[str, ChannelSeries]) -> bool:
    """Whether a second encoder was recorded and moves: some programs write zeros where there is no encoder."""
    return LINK in roles and bool(_range(roles[LINK].values) > 0.0)


def _range(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(np.ptp(known)) if len(known) else 0.0


def _run(robot: RobotDescription, file: Path, channels: Channels, seconds: Sequence[str]) -> RobotRun:
    """Put all channels on the times of the first joint's position; seconds: joints with a second encoder."""
    time = channels[robot.names[0]]["position"].time
    q = np.column_stack([_on(time, channels[name]["position"]) for name in robot.names])
    tau = np.column_stack([_on(time, channels[name][_effort(channels[name]) or ""]) for name in robot.names])
    link = np.full_like(q, np.nan)
    for j, name in enumerate(robot.names):
        if name in seconds:
            link[:, j] = _on(time, channels[name][LINK])
    return RobotRun(file, time, q, tau, link)


def _on(time: Floats, series: ChannelSeries) -> Floats:
    if series.time is time or np.array_equal(series.time, time):
        return series.values
    known = np.isfinite(series.values)
    if known.sum() < 2:
        return np.full(len(time), np.nan)
    there, values = series.time[known], series.values[known]
    after = np.searchsorted(there, time).clip(1, len(there) - 1)
    gap = there[after] - there[after - 1] > max(GAP * float(np.median(np.diff(there))), GAP_SECONDS)
    outside = (time < there[0]) | (time > there[-1])
    exact = (there[after] == time) | (there[after - 1] == time)
    return np.where(outside | (gap & ~exact), np.nan, np.interp(time, there, values))


def _tamed(robot: RobotDescription, run: RobotRun) -> tuple[RobotRun, list[str]]:
    """Remove single wild samples as the service does; warnings name the joints that had some."""
    steps = np.diff(run.time)
    steps = steps[steps > 0]
    if len(run.time) < AROUND or not len(steps):
        return run, []
    period, ticks = float(np.median(steps)), np.round(run.time * 1e9).astype(np.int64)
    q, tau, words = run.q.copy(), run.tau.copy(), []
    for j, joint in enumerate(robot.joints):
        judge = Spikes(("position", "torque"), period)
        _, values = judge.absorb(ticks, np.column_stack([q[:, j], tau[:, j]]))
        q[: len(values), j], tau[: len(values), j] = values.T
        if judge.count:
            words.append(f"{run.file}: joint {joint.name}: {judge.count} wild samples are left out")
    return run._replace(q=q, tau=tau), words


def _plausible(robot: RobotDescription, run: RobotRun) -> tuple[list[str], list[str]]:
    """Mistakes and warnings: invalid times; positions and torques that suggest another unit."""
    there = np.isfinite(np.hstack([run.q, run.tau]))
    there = there[:, there.any(axis=0)]  # of a channel without any number that is said by itself
    whole = np.isfinite(run.time) & there.all(axis=1)
    problems = [f"{run.file}: {text}" for text in clock_problems(run.time[whole])]
    odd = []
    for j, joint in enumerate(robot.joints):
        q, tau = run.q[np.isfinite(run.q[:, j]), j], run.tau[np.isfinite(run.tau[:, j]), j]
        if not len(q) or not len(tau):
            role = "torque" if len(q) else "position"
            problems.append(f"{run.file}: joint {joint.name}: found no number in its {role}")
            continue
        unit = joint.axis.length
        span, room = float(np.ptp(q)), joint.limits.upper - joint.limits.lower
        most = BEYOND * room if np.isfinite(room) else TURNS
        jumps = np.abs(np.abs(np.diff(q)) - 2.0 * np.pi) < WRAPPED if joint.axis is Axis.ROTARY else np.zeros(0)
        if jumps.any():
            problems.append(
                f"{run.file}: joint {joint.name}: its position jumps by a whole turn {int(jumps.sum())} times: set "
                "wrap = 6.283185307179586 for its column"
            )
        elif span > most:
            problems.append(
                f"{run.file}: joint {joint.name} moves by {span:.3g} {unit}, more than its {_room(joint, room)} allow: "
                f"is its position in another unit ({'deg' if unit == 'rad' else 'mm'})?"
            )
        if not np.ptp(tau) > 0:
            odd.append(f"{run.file}: joint {joint.name}: its torque is {tau[0]:g} {joint.axis.effort} throughout")
        elif np.sqrt(np.mean(tau**2)) > 3.0 * joint.limits.effort:
            odd.append(
                f"{run.file}: joint {joint.name}: {np.sqrt(np.mean(tau**2)):.3g} {joint.axis.effort} rms is more than "
                f"three times the {joint.limits.effort:g} of its limits: is its torque in another unit?"
            )
    return problems, odd


def _room(joint: RobotJoint, room: float) -> str:
    return f"limits ({joint.limits.lower:.3g} to {joint.limits.upper:.3g})" if np.isfinite(room) else f"{TURNS:g}"
