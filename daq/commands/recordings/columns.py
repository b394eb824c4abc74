"""`jointwatch columns RECORDING …`: proposes the table of its columns from names and numbers; check it before use."""

import argparse
import os
import shlex
import stat
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from daq.commands.codes import EXIT_RUNTIME, EXIT_USAGE, fail, to_answer
from daq.commands.progress import Progress
from daq.recording.columns import Columns, read
from daq.recording.proposal import UnnamedQuantitiesError, left_out_of, propose, questions_of
from daq.recording.reader import RecordingError
from daq.recording.ros_bag import is_bag
from daq.replay.plausibility import facts_of, lines, look_at_channels
from estimators.numerics.named_arrays import SUFFIXES


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "recording",
        type=Path,
        nargs="+",
        help=f"{', '.join(SUFFIXES)}, a ROS 2 bag (.mcap, .db3, or its folder), or files that belong together",
    )
    parser.add_argument(
        "--names", metavar="NAME,…", default="", help="names of the joints, in the order of their columns"
    )


def run(options: argparse.Namespace) -> int:
    """Print the proposed table; questions and what to do next go to stderr."""
    names = tuple(name.strip() for name in options.names.split(",")) if options.names else ()
    try:
        recording, within = together(options.recording)
        files = [recording / one for one in within] or [recording]
        with Progress("columns") as progress:
            progress.read("reading", files)
            text = propose(recording, names, within)
    except UnnamedQuantitiesError as error:
        print(error.template, end="")
        fail(f"{error.why}; what was written is a table to fill in")
        tell_next(recording, questions_of(error.template))
        return EXIT_RUNTIME
    except RecordingError as error:
        return fail(error)
    lacking = left_out_of(text)
    count = text.count("[joints.") + len(lacking)
    if names and len(names) != count:
        return fail(f"--names: expected {count} names, one for each joint, found {len(names)}", EXIT_USAGE)
    if lacking:
        which = f"{', '.join(lacking)} {'have' if len(lacking) > 1 else 'has'}"
        said = f"{which} no torque (no column of its name, or one without numbers): left out of the table"
        print(f"jointwatch: {recording}: {said}", file=sys.stderr)
    with Progress("columns") as progress:
        progress.read("looking for mistakes", files)
        mistakes = mistakes_under(recording, text)
    for one in mistakes:
        print(f"jointwatch: {one}", file=sys.stderr)
    print(text, end="")
    questions = list(dict.fromkeys(questions_of(text)))
    for one in questions:
        print(f"jointwatch: please answer: {one}", file=sys.stderr)
    tell_next(recording, questions)
    return 0


def tell_next(recording: Path, questions: Sequence[str]) -> None:
    """Print on stderr what to do with the table."""
    todo = to_answer(len(questions)) if questions else "check names, units and signs"
    table = _written_to()
    name, which = (shlex.quote(table), "") if table else ("TABLE", ", where TABLE is the file that has these lines")
    print(f"next: {todo}, then: jointwatch replay {shlex.quote(str(recording))} {name}{which}", file=sys.stderr)


def _written_to() -> str:
    """The file into which the shell writes the output of this command; empty if there is none."""
    try:
        number = sys.stdout.fileno()
        link = Path(f"/proc/self/fd/{number}").readlink() if stat.S_ISREG(os.fstat(number).st_mode) else None
    except (OSError, ValueError):  # captured, or a system without /proc
        return ""
    return os.path.relpath(link) if link is not None and link.is_file() else ""


def together(files: Sequence[Path]) -> tuple[Path, tuple[str, ...]]:
    """One recording: a file or folder, or the folder of several files and their names. Raises RecordingError."""
    missing = [one for one in files if not one.exists()]
    if missing:
        raise RecordingError("\n".join(f"{one}: No such file or directory" for one in missing))
    if len(files) == 1:
        folder = files[0]
        if not folder.is_dir() or is_bag(folder):
            return folder, ()
        names = sorted(one.name for one in folder.iterdir() if one.suffix.lower() in SUFFIXES)
        if not names:
            raise RecordingError(f"{folder}: found no file of {', '.join(SUFFIXES)} in it")
        return folder, tuple(names)
    folders = {one.resolve().parent for one in files}
    if len(folders) > 1:
        raise RecordingError(f"expected files that belong together in one folder, found {len(folders)} folders")
    return files[0].parent, tuple(one.name for one in files)


def mistakes_under(recording: Path, table: str) -> list[str]:
    """Lines with the mistakes that a recording shows if it is read by a proposed table."""
    try:
        columns = Columns.model_validate(tomllib.loads(table))
        return list(lines(look_at_channels(read(recording, columns), facts_of(columns))))
    except (RecordingError, ValueError):  # the user has to complete the proposal first
        return []
