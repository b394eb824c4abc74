"""`jointwatch columns RECORDING`: proposes the table of its columns from its header; check it before use."""

import argparse
import sys
import tomllib
from pathlib import Path

from daq.commands.codes import EXIT_USAGE, fail
from daq.recording.columns import Columns, read
from daq.recording.proposal import propose
from daq.recording.reader import RecordingError
from daq.replay.plausibility import facts_of, lines, look_at_channels


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("recording", type=Path, help=".csv, .npz, .mat, or a ROS 2 bag (.mcap or its folder)")
    parser.add_argument("--names", metavar="NAME,…", default="", help="of the joints, in order of their columns")


def run(options: argparse.Namespace) -> int:
    """Print the proposed table."""
    names = tuple(name.strip() for name in options.names.split(",")) if options.names else ()
    try:
        text = propose(options.recording, names)
    except RecordingError as error:
        return fail(error)
    count = text.count("[joints.")
    if names and len(names) != count:
        return fail(f"--names: expected {count} names as there are joints, found {len(names)}", EXIT_USAGE)
    for one in mistakes_under(options.recording, text):
        print(f"jointwatch: {one}", file=sys.stderr)
    print(text, end="")
    return 0


def mistakes_under(recording: Path, table: str) -> list[str]:
    """What the plausibility look says of a recording that is read by a proposed table, in lines."""
    try:
        columns = Columns.model_validate(tomllib.loads(table))
        return list(lines(look_at_channels(read(recording, columns), facts_of(columns))))
    except (RecordingError, ValueError):  # a proposal is to be completed by a person first
        return []
