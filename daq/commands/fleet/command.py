"""`jointwatch fleet identify | collect | watch`: compares many robots, from recordings or while they run.

The modules of the tasks take seconds to import, and only the one that runs is imported.
"""

import argparse
import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final


def identify(parser: argparse.ArgumentParser) -> None:
    """The arguments of `jointwatch fleet identify`."""
    parser.add_argument("place", nargs="+", metavar="FOLDER", help="folders, files, or their fsspec addresses")
    parser.add_argument("--config", type=Path, help="configuration of the joints; our recordings contain theirs")
    parser.add_argument("--columns", type=Path, metavar="TABLE", help="table of the recordings' columns (docs/skew.md)")
    parser.add_argument("--scheduler", default="", metavar="tls://…", help="a Dask cluster; default: local processes")
    parser.add_argument("--workers", type=int, metavar="N", help="local processes (one per core); 0: only this one")
    parser.add_argument("--no-skew", action="store_true", help="do not measure the delay of each channel")
    parser.add_argument("--page", type=Path, default=Path("fleet.html"), metavar="FILE", help="(fleet.html)")
    parser.add_argument("--parquet", type=Path, metavar="FILE", help="write every number for other programs")
    parser.add_argument("--json", action="store_true", help="print the table as one JSON object")


def collect(parser: argparse.ArgumentParser) -> None:
    """The arguments of `jointwatch fleet collect`."""
    parser.add_argument(
        "config", type=Path, metavar="LAKE.toml", help="configuration of the lake and the services (docs/fleet.md)"
    )
    parser.add_argument("--duration", type=float, metavar="S", help="stop after S seconds")


def watch(parser: argparse.ArgumentParser) -> None:
    """The arguments of `jointwatch fleet watch`."""
    parser.add_argument("lake", metavar="LAKE", help="the collector's .toml, or the lake itself: a folder or a URL")
    parser.add_argument("--last", default="1h", metavar="TIME", help="time to look at: 30m, 1h, 2d, 14d, 1y (1h)")
    parser.add_argument(
        "--until", metavar="WHEN", help="end of that time: a day such as 2026-01-31, or 2h (ago); default: now"
    )
    parser.add_argument(
        "--limit", action="append", default=[], metavar="PARAMETER=VALUE",
        help="time until joints with a changed parameter reach this value; may be repeated",
    )  # fmt: skip
    parser.add_argument("--every", type=float, default=60.0, metavar="S", help="time between two refreshes (60)")
    parser.add_argument("--page", type=Path, metavar="FILE", help="also write an HTML page at every refresh")
    parser.add_argument("--once", action="store_true", help="print once and end")
    parser.add_argument("--json", action="store_true", help="print one JSON object at every refresh")


# task → its arguments and its description; the module of its name in this folder has `run(options)`
TASKS: Final[Mapping[str, tuple[Callable[[argparse.ArgumentParser], None], str]]] = {
    "identify": (identify, "identify the joints of many recordings, and compare robots"),
    "collect": (collect, "listen to many services and store their summaries in a lake"),
    "watch": (watch, "show which robots stand out in a lake, and refresh it"),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    tasks = parser.add_subparsers(required=True, metavar=" | ".join(TASKS), dest="task")
    for name, (declare, text) in TASKS.items():
        declare(tasks.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}."))


def run(options: argparse.Namespace) -> int:
    """Run the task."""
    code: int = importlib.import_module(f"daq.commands.fleet.{options.task}").run(options)
    return code
