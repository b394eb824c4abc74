"""`jointwatch identify ROBOT TRAIN … [--test FILE …]`: identifies a whole robot from recordings and tests the model."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np
from pydantic import TypeAdapter, ValidationError

from daq.commands.codes import EXIT_INTERRUPTED, EXIT_RUNTIME, EXIT_USAGE, fail, refuse
from daq.commands.identify.exchanged_joints import exchanged_joints
from daq.commands.identify.mechanism import identify_mechanism
from daq.commands.identify.summary import summary, tell
from daq.commands.progress import Progress
from daq.commands.recordings.inputs import tell_open_questions
from daq.config.toml_file import is_mechanism, read_toml, validate
from daq.config.words import ConfigError, ConfigurationProblem
from daq.recording.columns import Columns, load_columns
from daq.recording.reader import RecordingError
from daq.replay.plausibility import facts_of, lines, look_at_channels, maps
from daq.replay.robot_runs import RobotRun, Runs, channels_of, read_runs
from daq.state.files import BaselineError, replace
from daq.state.robot_model import save
from estimators.models.compensation.learned import KINDS
from estimators.models.compensation.mixture import MixtureError
from estimators.models.mechanisms.description import MechanismError
from estimators.models.robots.description import RobotDescription, RobotError
from estimators.models.robots.files.dh_table import DhTable
from estimators.models.robots.files.urdf import read_urdf
from estimators.models.robots.whole_robot import DEFAULT, FRICTION_LAWS, RobotFriction
from estimators.offline.robot.cross_validation import seconds_lacking
from estimators.offline.robot.identification import RobotIdentification, identify
from estimators.offline.robot.live_residuals import Recorded, with_live_residuals
from estimators.offline.robot.motion import MotionError, Piece, pieces

_LAW: Final[TypeAdapter[Any]] = TypeAdapter(RobotFriction)
LAWS: Final = tuple(get_args(kind.model_fields["kind"].annotation)[0] for kind in FRICTION_LAWS)
SPEEDS: Final = ("stribeck", "transition")  # options of the bearing law
LEARNED_FROM: Final = 3  # recordings at least, for a learnt compensation
MANY: Final = 0.02  # share of rows that are faster than the model's validity, from which a warning is printed


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "robot",
        nargs="?",
        type=Path,
        metavar="ROBOT",
        help=".urdf, a DH table in .toml, or a mechanism with loops in .toml",
    )
    parser.add_argument("train", nargs="*", type=Path, metavar="TRAIN", help="recordings to learn from")
    test = parser.add_argument("--test", nargs="+", action="extend", default=[], type=Path, metavar="FILE")
    test.help = "recordings to test the model on, never used for fitting"
    parser.add_argument(
        "--columns",
        type=Path,
        metavar="TABLE",
        help="table of the recordings' columns (.toml); with a recording instead: proposes one from its header",
    )
    parser.add_argument("--out", type=Path, metavar="MODEL", help="write the model, e.g. arm.model.toml")
    parser.add_argument(
        "--forces",
        type=Path,
        metavar="FILE",
        help="write residuals and constraint forces of a mechanism with loops, .csv",
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="write a report, .html")
    parser.add_argument("--json", action="store_true", help="print errors and parameters as one JSON object")
    parser.add_argument(
        "--bidirectional", action="store_true", help="friction from a path recorded forwards and backwards"
    )
    parser.add_argument(
        "--friction",
        choices=LAWS,
        help="friction law of every joint (default: by cross-validation); bearing: depends on constraint forces",
    )
    parser.add_argument(
        "--compensation",
        choices=KINDS,
        help="learn a residual torque over the gears' twist (joints with two encoders, at least three recordings); "
        "a service uses it only while it reduces the residual",
    )
    parser.add_argument(
        "--stribeck",
        type=float,
        metavar="RAD/S",
        help="with --friction bearing: speed over which the friction peak decays",
    )
    parser.add_argument(
        "--transition",
        type=float,
        metavar="RAD/S",
        help="with --friction bearing: speed at which friction is fully developed",
    )


def law_of(options: argparse.Namespace) -> RobotFriction | None:
    """The friction law that the options ask for. Raises ValueError with one sentence."""
    given = {key: value for key in SPEEDS if (value := getattr(options, key)) is not None}
    for key in given if options.friction != "bearing" else ():
        raise ValueError(f"--{key} needs --friction bearing")
    if options.friction is None:
        return None
    if options.friction == DEFAULT.kind:
        return DEFAULT
    try:
        law: RobotFriction = _LAW.validate_python({"kind": options.friction} | given)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"--{first['loc'][-1]}: {first['msg'].lower()}, found {first['input']:g}") from error
    return law


def run(options: argparse.Namespace) -> int:
    """Propose a table of columns, or identify the robot."""
    try:
        if options.columns is not None and options.columns.suffix.lower() != ".toml":
            return _propose(options)
        if options.robot is not None and is_mechanism(options.robot):
            return identify_mechanism(options)
        if options.forces is not None:
            return fail("identify: --forces needs a mechanism with links or cuts in its .toml", EXIT_USAGE)
        if options.robot is None or not options.train:
            lacking = "ROBOT and TRAIN" if options.robot is None else "at least one TRAIN"
            return fail(
                f"identify: expected {lacking}, found none. ROBOT is the .urdf of the robot, or a DH table (.toml); "
                "TRAIN are recordings; jointwatch columns RECORDING > TABLE proposes a table for --columns",
                EXIT_USAGE,
            )
        try:
            law_of(options)
        except ValueError as error:
            return fail(f"identify: {error}", EXIT_USAGE)
        return _identify(options)
    except KeyboardInterrupt:
        return fail("interrupted: nothing was written", EXIT_INTERRUPTED)
    except (ConfigError, RobotError) as mistakes:
        return refuse(mistakes)
    except RecordingError as mistakes:
        for line in str(mistakes).splitlines():
            fail(line)
        return EXIT_RUNTIME
    except (MotionError, MixtureError, BaselineError, MechanismError) as error:
        for line in str(error).splitlines():
            fail(line)
        return EXIT_RUNTIME


def load_robot(file: Path) -> tuple[RobotDescription, list[str]]:
    """Load a robot from a .urdf or .toml; returns it and warnings. Raises RobotError, ConfigError."""
    if file.suffix.lower() == ".toml":
        data, lines = read_toml(file)
        table = validate(DhTable, data, file, lines)
        try:
            return table.robot(), []
        except (ValueError, np.linalg.LinAlgError) as error:
            raise ConfigError(file, [ConfigurationProblem(1, "", str(error))]) from error
    if file.suffix.lower() not in (".urdf", ".xml"):
        raise RobotError([f"{file}: expected a .urdf or a .toml, found {file.suffix or 'no ending'}"])
    found = read_urdf(file)
    return found.robot, found.warnings


def _propose(options: argparse.Namespace) -> int:
    from daq.commands.recordings.columns import mistakes_under
    from daq.recording.proposal import propose

    names: tuple[str, ...] = ()
    files = [options.columns, *([options.robot] if options.robot is not None else []), *options.train]
    recordings = [file for file in files if file.suffix.lower() not in (".urdf", ".toml")]
    for file in files:
        if file not in recordings:
            names = load_robot(file)[0].names
    for file in recordings:
        table = propose(file, names)
        for text in mistakes_under(file, table):
            print(f"jointwatch: {file}: {text}", file=sys.stderr)
        print(table, end="\n" if file is not recordings[-1] else "")
    return 0


def _identify(options: argparse.Namespace) -> int:
    robot, warnings = load_robot(options.robot)
    if options.bidirectional:
        from daq.commands.identify.both_ways import extract_both_ways

        return extract_both_ways(robot, options)
    columns = load_columns(options.columns) if options.columns is not None else None
    tell_open_questions(options.columns)
    with Progress("identify") as progress:
        files = [*options.train, *options.test]
        progress.read(f"reading {len(files)} recording{'s' * (len(files) > 1)}", files)
        runs = read_runs(robot, files, columns)
    for text in (*warnings, *runs.warnings):
        print(f"jointwatch: {text}", file=sys.stderr)
    mistakes = _mistakes(runs, columns)
    train, tests = runs.runs[: len(options.train)], runs.runs[len(options.train) :]
    parts = _pieces([*train, *tests])
    learnt = [piece for part in parts[: len(train)] for piece in part]
    rows = sum(len(piece.time) for piece in learnt)
    with np.errstate(all="ignore"), Progress("identify") as progress:
        say = lambda text: progress.stage(f"{text} ({rows:,} rows)")  # noqa: E731
        found = identify(runs.robot, learnt, parts[len(train) :], None, say, law_of(options), options.compensation)
    _doubts(found)
    _look_for_exchanged(robot, learnt, found.train.error)
    if options.compensation is not None and len(train) < LEARNED_FROM:
        print(
            f"jointwatch: a compensation learnt from fewer than {LEARNED_FROM} recordings may increase the error on "
            f"others by up to a half; found {len(train)}",
            file=sys.stderr,
        )
    source = {
        "files": [file.name for file in options.train],
        "tested_on": [file.name for file in options.test],
        "rows": len(found.train.rows.y),
        "train_error": found.train.error,
        "validation_error": found.validation.error if np.isfinite(found.validation.error) else 0.0,
    }
    if found.test is not None:
        source["test_error"] = found.test.error
    found.found.source.update(source)
    if options.out is not None:
        with Progress("identify") as progress:
            progress.stage("residuals of a live service")
            found = found._replace(found=with_live_residuals(found.found, [Recorded(*one[1:]) for one in train]))
    if options.out is not None:
        save(found.found, options.out)
    if options.report is not None:
        from daq.commands.identify.report import document

        replace(options.report, document(found, options).encode(), 0o644)
    if options.json:
        print(json.dumps({"mistakes": mistakes} | summary(found), indent=1, ensure_ascii=False))
    else:
        tell(found)
        for file in (options.out, options.report):
            if file is not None:
                print(file)
        hint = f'jointwatch model show {options.out}, or [robot] model = "{options.out}" in a configuration'
        print(f"next: {hint if options.out else 'the same command with --out MODEL keeps it'}", file=sys.stderr)
    return 0


def _mistakes(runs: Runs, columns: Columns | None) -> list[dict[str, Any]]:
    """Print the user's mistakes that the recordings show; returns them as maps."""
    found = []
    facts = {} if columns is None else facts_of(columns)
    for run in runs.runs:
        mine = look_at_channels(channels_of(runs.robot, run), facts)
        for text in lines(mine):
            print(f"jointwatch: {run.file}: {text}", file=sys.stderr)
        found += [{"file": run.file.name} | one for one in maps(mine)]
    return found


def _pieces(runs: Sequence[RobotRun]) -> list[list[Piece]]:
    """The usable pieces of every run. Raises MotionError with the mistakes of all runs."""
    problems, found = [], []
    for one in runs:
        try:
            found.append(pieces(one.time, one.q, one.tau, f"{one.file}: ", one.link))
        except MotionError as mistakes:
            problems += mistakes.problems
    if problems:
        raise MotionError(problems)
    return found


def _look_for_exchanged(robot: RobotDescription, learnt: Sequence[Piece], error: float) -> None:
    """Warn if two joints look exchanged; error: unexplained torque, %."""
    with np.errstate(all="ignore"), Progress("identify") as progress:
        progress.stage("testing whether joints are exchanged")
        exchange = exchanged_joints(robot, learnt, error)
    if exchange is not None:
        print(f"jointwatch: {exchange}", file=sys.stderr)


def _unseen(found: RobotIdentification) -> Iterator[str]:
    """What the recordings to learn from do not show, in words."""
    rows, at_rest = found.train.rows, found.found.at_rest()
    for j, name in enumerate(found.found.robot.names):
        forward, backward = (bool((way * rows.dq[rows.slides[:, j], j] > at_rest[j]).any()) for way in (1.0, -1.0))
        if not forward and not backward:
            yield f"joint {name} never moves in what is learnt from: its friction is not known"
        elif not forward or not backward:
            yield (
                f"joint {name} moves {'forward' if forward else 'backward'} only in what is learnt from: its Coulomb "
                "friction is not told from its offset, nor friction the other way"
            )
    lacking = seconds_lacking(rows)
    if lacking > 0.0:
        yield (
            f"{lacking:.2g} s more would leave out motions that differ from their neighbours: what is said of rows "
            "not learnt from, and how far off predictions are, holds for this one motion"
        )


def _doubts(found: RobotIdentification) -> None:
    """Print warnings about the validity of the figures."""
    names = found.found.robot.names
    for text in (*found.doubts, *_unseen(found)):
        print(f"jointwatch: {text}", file=sys.stderr)
    for number, test in enumerate(found.tests):
        share = test.outside.mean(axis=0)
        for j in np.flatnonzero(share > MANY):
            if found.found.speed[j] < found.found.at_rest()[j]:
                print(
                    f"jointwatch: test {number + 1}: joint {names[j]} moves, but stood still in the "
                    "recordings to learn from: its friction is not known",
                    file=sys.stderr,
                )
                continue
            print(
                f"jointwatch: test {number + 1}: joint {names[j]} is faster than 1.1 times the "
                f"{found.found.speed[j]:.3g} {found.found.robot.joints[j].axis.length}/s it was learnt at in "
                f"{100 * share[j]:.0f} % of the rows: its friction there is not known",
                file=sys.stderr,
            )
    if found.found.robot.guessed:
        print("jointwatch: no link's inertia was given: the prior is a guess from the total mass", file=sys.stderr)
