"""`jointwatch excite ROBOT --limits FILE`: finds a periodic trajectory that excites the parameters best, or judges one.

stdout is the trajectory as CSV, one row a joint: frequency (Hz), q0 (rad), a1 … aN, b1 … bN (rad/s) of

    q(t) = q0 + Σ_l a_l/(l w) sin(l w t) − b_l/(l w) cos(l w t)

A file to check is such a table, or samples: t (s) and a column a joint (rad), as --samples writes them.
"""

import argparse
import csv
import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from daq.commands.codes import EXIT_RUNTIME, fail, refuse
from daq.commands.identify.command import load_robot
from daq.config.load import read_toml, validate
from daq.config.words import ConfigError, ConfigurationProblem
from estimators.models.robots.description import RobotDescription, RobotError
from estimators.offline.excitation.criteria import OBJECTIVES, Criteria, Judge, Space, search
from estimators.offline.excitation.trajectory import (
    FINER,
    Fourier,
    JointLimits,
    LimitCheck,
    TrajectoryMotion,
    joined,
    judge,
    sampled,
)
from estimators.quantities import Axis, Floats

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
SAID: Final = 2.0  # s between two lines about the progress


class LimitsRow(BaseModel):
    """The limits of one joint; missing ones are taken from the robot's own file."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    lower: FiniteFloat | None = None
    upper: FiniteFloat | None = None
    velocity: Positive | None = None
    acceleration: Positive
    home: FiniteFloat | None = None  # where the trajectory begins and ends at rest; 0, or the middle
    noise: Positive = (
        1.0  # N·m (N), standard deviation of the torque: rows of a joint with little noise have more weight
    )


class LimitsFile(BaseModel):
    """The file of limits."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    angles: Literal["rad", "deg"]
    joints: dict[str, LimitsRow]


class Limited(NamedTuple):
    """A robot within its limits."""

    limits: JointLimits
    home: Floats  # (n,)
    noise: Floats  # (n,)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("robot", type=Path, metavar="ROBOT", help=".urdf, or .toml with a Denavit-Hartenberg table")
    parser.add_argument(
        "--limits", type=Path, required=True, metavar="FILE", help=".toml: [joints.NAME] and its limits"
    )
    parser.add_argument("--check", type=Path, metavar="FILE", help="judge this trajectory instead of searching one")
    parser.add_argument("--objective", choices=OBJECTIVES, default="cond", help="what is made small (cond)")
    parser.add_argument(
        "--mode", choices=["peak", "bound"], default="peak", help="limits hold for peaks, or for the sum of amplitudes"
    )
    parser.add_argument("--period", type=_positive, default=20.0, metavar="S", help="of the motion (20)")
    parser.add_argument("--harmonics", type=int, choices=range(2, 21), default=5, metavar="N", help="of a joint (5)")
    parser.add_argument("--seconds", type=_positive, default=45.0, metavar="S", help="to search (45)")
    parser.add_argument("--evaluations", type=int, default=1_000_000, metavar="N", help="or as many motions judged")
    parser.add_argument("--seed", type=int, default=1, help="of the search: the same seed gives the same motion (1)")
    parser.add_argument("--out", type=Path, metavar="FILE", help=".csv instead of stdout")
    parser.add_argument("--samples", type=Path, metavar="FILE", help=".csv for a controller: t, positions, velocities")
    parser.add_argument("--rate", type=_positive, default=100.0, metavar="HZ", help="of --samples (100)")
    parser.add_argument("--ramp", type=float, default=1.0, metavar="S", help="before and after, from and to home (1)")
    parser.add_argument("--periods", type=int, default=1, metavar="N", help="in --samples (1)")
    parser.add_argument("--picture", type=Path, metavar="FILE", help=".svg or .png (needs matplotlib)")
    parser.add_argument("--json", action="store_true", help="criteria and limits on stdout instead of the trajectory")


def run(options: argparse.Namespace) -> int:
    """Search or judge a trajectory; exit code 0 when every limit is kept, 1 when one is not."""
    try:
        robot, _ = load_robot(options.robot)
        limited = _limits(options.limits, robot)
        names = robot.names
        critic = Judge(robot.tree(), limited.noise)
        effort: dict[str, float] = {}
        if options.check is not None:
            motion, fine, fourier = _read(options.check, names)
        else:
            space = Space(limited.limits, limited.home, 1.0 / options.period, options.harmonics, options.mode)
            found = search(
                critic, space, options.objective, options.seconds, options.evaluations, options.seed, _progress()
            )
            fourier = found.fourier
            motion, fine = fourier.grid(), fourier.grid(FINER)
            effort = {"evaluations": found.evaluations, "seconds": found.seconds, "processor": found.processor}
            text = (
                f"{found.evaluations} motions judged in {found.seconds:.0f} s, {found.processor:.0f} s of a processor"
            )
            print(text, file=sys.stderr)
    except (ConfigError, RobotError) as error:
        return refuse(error)
    except ValueError as error:
        return fail(error)
    verdicts = judge(fine, limited.limits)
    criteria = critic.all(motion)
    try:
        _write(options, names, fourier, limited, verdicts)
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}")
    _tell(criteria, verdicts, names, robot)
    if options.json:
        print(json.dumps(_document(criteria, verdicts, names) | effort))
    elif options.check is None and options.out is None and fourier is not None:
        _table(sys.stdout, names, fourier)
    return 0 if all(one.kept for one in verdicts) else EXIT_RUNTIME


def _limits(file: Path, robot: RobotDescription) -> Limited:
    data, lines = read_toml(file)
    table = validate(LimitsFile, data, file, lines)
    problems = []
    for name in table.joints:
        if name not in robot.names:
            text = f'found no joint "{name}" in the robot, it has {", ".join(robot.names)}'
            problems.append(ConfigurationProblem(lines.of(("joints", name)), f"joints.{name}", text))
    rows: list[tuple[float, ...]] = []
    for joint in robot.joints:
        row = table.joints.get(joint.name)
        if row is None:
            problems.append(
                ConfigurationProblem(lines.of(("joints",)), f"joints.{joint.name}", "expected limits, found none")
            )
            continue
        unit = np.pi / 180 if table.angles == "deg" and joint.axis is Axis.ROTARY else 1.0
        own = joint.limits
        lower = own.lower if row.lower is None else row.lower * unit
        upper = own.upper if row.upper is None else row.upper * unit
        velocity = own.velocity if row.velocity is None else row.velocity * unit
        home = row.home * unit if row.home is not None else 0.0 if lower < 0.0 < upper else (lower + upper) / 2
        where = lines.of(("joints", joint.name))
        if not (np.isfinite([lower, upper, velocity]).all() and lower < upper):
            text = "expected lower < upper and a velocity, here or in the robot's file"
            problems.append(
                ConfigurationProblem(where, f"joints.{joint.name}", f"{text}; found {lower:g}, {upper:g}, {velocity:g}")
            )
        elif not lower < home < upper:
            text = f"expected home between {lower / unit:g} and {upper / unit:g}, found {home / unit:g}"
            problems.append(ConfigurationProblem(where, f"joints.{joint.name}.home", text))
        rows.append((lower, upper, velocity, row.acceleration * unit, home, row.noise))
    if problems:
        raise ConfigError(file, problems)
    columns = np.array(rows).T
    return Limited(JointLimits(*columns[:4]), columns[4], columns[5])


def _progress() -> Any:
    """A function that prints the progress of the search every SAID seconds."""
    last = time.monotonic()

    def told(count: int, best: float) -> None:
        nonlocal last
        if time.monotonic() - last > SAID:
            last = time.monotonic()
            print(f"{count:7} motions, best {best:.4g}", file=sys.stderr)

    return told


def _read(file: Path, names: tuple[str, ...]) -> tuple[TrajectoryMotion, TrajectoryMotion, Fourier | None]:
    """Read the motion to judge, on its own grid and on a finer one. Raises ValueError."""
    try:
        with file.open(newline="", encoding="utf-8") as text:
            rows = list(csv.DictReader(text))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: cannot be read: {error}") from error
    if not rows:
        raise ValueError(f"{file}: expected rows of a trajectory, found none")
    try:
        if "frequency" in rows[0]:
            fourier = _series(file, rows, names)
            return fourier.grid(), fourier.grid(FINER), fourier
        times = np.array([float(row["t"]) for row in rows])
        q = np.array([[float(row[name]) for name in names] for row in rows])
    except KeyError as error:
        wanted = f"joint, frequency, q0, a1 …, b1 …, or t and {', '.join(names)}"
        raise ValueError(f"{file}: expected the columns {wanted}; found no {error}") from error
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file}: expected numbers: {error}") from error
    if len(times) < 4 or not (np.diff(times) > 0).all() or not np.isfinite(q).all():
        raise ValueError(f"{file}: expected at least four samples, rising in t, all finite")
    return sampled(times, q, 1), sampled(times, q), None


def _series(file: Path, rows: list[dict[str, str]], names: tuple[str, ...]) -> Fourier:
    harmonics = sum(name.startswith("a") and name[1:].isdigit() for name in rows[0])
    order = range(1, harmonics + 1)
    by_name = {row["joint"]: row for row in rows}
    missing = [name for name in names if name not in by_name]
    frequencies = {float(row["frequency"]) for row in rows}
    if missing or len(frequencies) != 1 or harmonics < 1 or not min(frequencies) > 0:
        lacks = f"found none for {', '.join(missing)}" if missing else f"found the frequencies {sorted(frequencies)}"
        raise ValueError(f"{file}: expected one row a joint, all of one frequency above 0; {lacks}")
    ours = [by_name[name] for name in names]
    a, b = (np.array([[float(row[f"{letter}{k}"]) for k in order] for row in ours]) for letter in "ab")
    return Fourier(frequencies.pop(), np.array([float(row["q0"]) for row in ours]), a, b)


def _write(
    options: argparse.Namespace,
    names: tuple[str, ...],
    fourier: Fourier | None,
    limited: Limited,
    verdicts: list[LimitCheck],
) -> None:
    if fourier is None:
        return
    if options.out is not None:
        with options.out.open("w", newline="", encoding="utf-8") as file:
            _table(file, names, fourier)
    if options.samples is not None:
        times, motion = joined(fourier, options.rate, options.ramp, options.periods, limited.home)
        header = ["t", *names, *(f"d{name}" for name in names), *(f"dd{name}" for name in names)]
        with options.samples.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            for row in np.column_stack((times, *motion)):
                writer.writerow([f"{value:.9g}" for value in row])
    if options.picture is not None:
        _picture(options.picture, names, fourier, limited, verdicts)


def _table(file: Any, names: tuple[str, ...], fourier: Fourier) -> None:
    order = range(1, fourier.a.shape[1] + 1)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["joint", "frequency", "q0", *(f"a{k}" for k in order), *(f"b{k}" for k in order)])
    for j, name in enumerate(names):
        values = [fourier.frequency, fourier.q0[j], *fourier.a[j], *fourier.b[j]]
        writer.writerow([name, *(repr(float(value)) for value in values)])


def _picture(
    path: Path, names: tuple[str, ...], fourier: Fourier, limited: Limited, verdicts: list[LimitCheck]
) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no picture: matplotlib is not installed (pip install 'jointwatch[bench]')", file=sys.stderr)
        return
    motion, limits = fourier.grid(FINER), limited.limits
    times = np.arange(len(motion.q)) / len(motion.q) * fourier.period
    figure = Figure(figsize=(2.6 * len(names) + 1, 7), layout="constrained")
    axes = figure.subplots(3, len(names), sharex=True, squeeze=False)
    bounds = [(limits.lower, limits.upper), (-limits.velocity, limits.velocity)]
    bounds.append((-limits.acceleration, limits.acceleration))
    for k, (values, (low, high), word) in enumerate(zip(motion, bounds, ("q", "q̇", "q̈"), strict=True)):
        for j, name in enumerate(names):
            one = axes[k][j]
            kept = verdicts[3 * j + k].kept
            one.plot(times, values[:, j], color="C0" if kept else "C3", linewidth=1.2)
            for limit in (low[j], high[j]):
                one.axhline(limit, color="0.4", linestyle="--", linewidth=0.8)
            one.grid(alpha=0.3)
            if k == 0:
                one.set_title(name)
            if j == 0:
                one.set_ylabel(f"{word}, rad{('', '/s', '/s²')[k]}")
            if k == 2:
                one.set_xlabel("time, s")
    figure.savefig(path, dpi=110)


def _tell(criteria: Criteria, verdicts: list[LimitCheck], names: tuple[str, ...], robot: RobotDescription) -> None:
    """Print criteria and limits on stderr."""
    print(
        f"cond {criteria.cond:.4g}   block {criteria.block:.4g}   dopt {criteria.dopt:.4g}"
        f"   ({len(robot.joints)} joints)",
        file=sys.stderr,
    )
    for one in verdicts:
        joint = robot.joints[one.joint]
        angle = joint.axis is Axis.ROTARY
        unit = ("deg" if angle else "m") + {"position": "", "velocity": "/s", "acceleration": "/s²"}[one.quantity]
        factor = 180 / np.pi if angle else 1.0
        mark = "" if one.kept else "  EXCEEDED"
        values = f"{factor * one.reached:9.3f} of {factor * one.limit:9.3f} {unit}"
        print(f"{names[one.joint]:16} {one.quantity:13} {values}{mark}", file=sys.stderr)


def _document(criteria: Criteria, verdicts: list[LimitCheck], names: tuple[str, ...]) -> dict[str, Any]:
    rows = [
        {
            "joint": names[one.joint],
            "quantity": one.quantity,
            "reached": one.reached,
            "limit": one.limit,
            "kept": one.kept,
        }
        for one in verdicts
    ]
    return {"criteria": criteria._asdict(), "limits": rows, "kept": all(one.kept for one in verdicts)}


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a positive number, found {text}")
    return value
