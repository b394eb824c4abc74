"""`jointwatch excite ROBOT --limits FILE`: finds a periodic trajectory that excites the parameters best, or judges one.

stdout is the trajectory as CSV, one row for each joint: frequency (Hz), q0 (rad), a1 … aN, b1 … bN (rad/s) of

    q(t) = q0 + Σ_l a_l/(l w) sin(l w t) − b_l/(l w) cos(l w t)

A file to check is such a table, or samples: t (s) and a column for each joint (rad), as --samples writes them.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any, Final

import numpy as np

from daq.commands.codes import EXIT_RUNTIME, fail, refuse
from daq.commands.excite.limits import Limited, load_limits
from daq.commands.excite.picture import draw
from daq.commands.excite.trajectory_files import read_trajectory, write_samples, write_table
from daq.commands.identify.command import load_robot
from daq.config.robots.robot_model import load_model
from daq.config.words import ConfigError
from estimators.models.robots.description import RobotDescription, RobotError
from estimators.offline.excitation.criteria import OBJECTIVES, Criteria, Judge
from estimators.offline.excitation.search import NAMES, search
from estimators.offline.excitation.shared_limits import Torque
from estimators.offline.excitation.space import Space
from estimators.offline.excitation.trajectory import FINER, Fourier, LimitCheck, judge
from estimators.quantities import Axis

SAID: Final = 2.0  # s between two lines about the progress of the search


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("robot", type=Path, metavar="ROBOT", help=".urdf, or .toml with a Denavit-Hartenberg table")
    parser.add_argument(
        "--limits", type=Path, required=True, metavar="FILE", help=".toml: [joints.NAME] and its limits"
    )
    parser.add_argument("--check", type=Path, metavar="FILE", help="judge this trajectory instead of searching for one")
    parser.add_argument("--objective", choices=OBJECTIVES, default="cond", help="criterion that is minimised (cond)")
    parser.add_argument(
        "--mode", choices=["peak", "bound"], default="peak", help="limits hold for peaks, or for the sum of amplitudes"
    )
    parser.add_argument(
        "--search", choices=[name.replace("_", "-") for name in NAMES], default="cma", help="search algorithm (cma)"
    )
    parser.add_argument(
        "--model", type=Path, metavar="MODEL", help="model of `identify`, whose torque is compared with effort limits"
    )
    parser.add_argument("--period", type=_positive, default=20.0, metavar="S", help="period of the motion (20)")
    parser.add_argument(
        "--harmonics", type=int, choices=range(2, 21), default=5, metavar="N", help="harmonics of each joint (5)"
    )
    parser.add_argument("--seconds", type=_positive, default=45.0, metavar="S", help="how long to search (45)")
    parser.add_argument(
        "--evaluations", type=int, default=1_000_000, metavar="N", help="largest number of judged motions"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the search; the same seed gives the same motion (1)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the trajectory into this .csv instead of stdout"
    )
    parser.add_argument(
        "--samples",
        type=Path,
        metavar="FILE",
        help="write samples for a controller (.csv): t, positions, velocities, accelerations",
    )
    parser.add_argument("--rate", type=_positive, default=100.0, metavar="HZ", help="rate of --samples (100)")
    parser.add_argument(
        "--ramp", type=float, default=1.0, metavar="S", help="duration of the motions from and to home in --samples (1)"
    )
    parser.add_argument("--periods", type=int, default=1, metavar="N", help="number of periods in --samples (1)")
    parser.add_argument(
        "--picture", type=Path, metavar="FILE", help="draw the trajectory, .svg or .png (needs matplotlib)"
    )
    parser.add_argument(
        "--json", action="store_true", help="print criteria and limits on stdout instead of the trajectory"
    )


def run(options: argparse.Namespace) -> int:
    """Search or judge a trajectory; exit code 0 when every limit is kept, 1 when one is not."""
    try:
        robot, _ = load_robot(options.robot)
        limited = load_limits(options.limits, robot, _torque(options.model, robot))
        names = robot.names
        critic = Judge(robot.tree(), limited.noise)
        effort: dict[str, float] = {}
        if options.check is not None:
            motion, fine, fourier = read_trajectory(options.check, names)
        else:
            space = Space(
                limited.limits, limited.home, 1.0 / options.period, options.harmonics, options.mode, limited.shared
            )
            found = search(
                critic,
                space,
                options.objective,
                options.seconds,
                options.evaluations,
                options.seed,
                _progress(),
                options.search.replace("-", "_"),
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
    verdicts = judge(fine, limited.limits) + ([] if limited.shared is None else limited.shared.judge(fine))
    criteria = critic.all(motion)
    try:
        _write(options, names, fourier, limited, verdicts)
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}")
    _tell(criteria, verdicts, names, robot)
    if options.json:
        print(json.dumps(_document(criteria, verdicts, names) | effort))
    elif options.check is None and options.out is None and fourier is not None:
        write_table(sys.stdout, names, fourier)
    return 0 if all(one.kept for one in verdicts) else EXIT_RUNTIME


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
            write_table(file, names, fourier)
    if options.samples is not None:
        write_samples(options.samples, names, fourier, options.rate, options.ramp, options.periods, limited.home)
    if options.picture is not None:
        draw(options.picture, names, fourier, limited.limits, verdicts)


def _torque(file: Path | None, robot: RobotDescription) -> Torque | None:
    """The torque of an identified model of this robot. Raises ConfigError, ValueError."""
    if file is None:
        return None
    model = load_model(file)
    if model.robot.names != robot.names:
        raise ValueError(f"{file}: expected the joints {', '.join(robot.names)}, found {', '.join(model.robot.names)}")
    return model.predicted


def _progress() -> Any:
    """A function that prints the progress of the search every SAID seconds."""
    last = time.monotonic()

    def report(count: int, best: float) -> None:
        nonlocal last
        if time.monotonic() - last > SAID:
            last = time.monotonic()
            print(f"{count:7} motions, best {best:.4g}", file=sys.stderr)

    return report


def _tell(criteria: Criteria, verdicts: list[LimitCheck], names: tuple[str, ...], robot: RobotDescription) -> None:
    """Print criteria and limits on stderr."""
    print(
        f"cond {criteria.cond:.4g}   block {criteria.block:.4g}   dopt {criteria.dopt:.4g}"
        f"   ({len(robot.joints)} joints)",
        file=sys.stderr,
    )
    for one in verdicts:
        mark = "" if one.kept else "  EXCEEDED"
        name = names[one.joint] if one.joint >= 0 else ""
        angle = one.joint >= 0 and robot.joints[one.joint].axis is Axis.ROTARY
        unit, factor = _unit(one.quantity, angle)
        values = f"{factor * one.reached:9.3f} of {factor * one.limit:9.3f} {unit}"
        print(f"{name:16} {one.quantity:13} {values}{mark}", file=sys.stderr)


def _unit(quantity: str, angle: bool) -> tuple[str, float]:
    """How a quantity is printed: its unit, and the factor from SI."""
    if quantity == "torque":
        return ("N·m" if angle else "N"), 1.0
    rate = {"velocity": "/s", "acceleration": "/s²"}.get(quantity, "")
    return ("deg" if angle else "m") + rate, 180 / np.pi if angle else 1.0


def _document(criteria: Criteria, verdicts: list[LimitCheck], names: tuple[str, ...]) -> dict[str, Any]:
    rows = [
        {
            "joint": names[one.joint] if one.joint >= 0 else None,
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
