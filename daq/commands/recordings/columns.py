"""`jointwatch columns RECORDING`: the table of its columns, proposed from its header, to be read before it is used."""

import argparse
from pathlib import Path

from daq.commands.codes import EXIT_USAGE, fail
from daq.recording.proposal import propose
from daq.recording.reader import RecordingError


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("recording", type=Path, help=".csv, .npz, .mat, or a ROS 2 bag (.mcap or its folder)")
    parser.add_argument("--names", metavar="NAME,…", default="", help="of the joints, in order of their columns")


def run(options: argparse.Namespace) -> int:
    """Print it."""
    names = tuple(name.strip() for name in options.names.split(",")) if options.names else ()
    try:
        text = propose(options.recording, names)
    except RecordingError as error:
        return fail(error)
    count = text.count("[joints.")
    if names and len(names) != count:
        return fail(f"--names: expected {count} names as there are joints, found {len(names)}", EXIT_USAGE)
    print(text, end="")
    return 0
