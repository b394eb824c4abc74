"""`jointwatch fleet identify | collect | watch`: many robots against each other, from recordings or while they run.

The modules of the tasks take seconds to import, and only the one that runs is imported.
"""

import argparse
import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final


def identify(parser: argparse.ArgumentParser) -> None:
    """The arguments of `jointwatch fleet identify`."""
    parser.add_argument("place", nargs="+", metavar="FOLDER", help="folders, files, or any fsspec address of such")
    parser.add_argument("--config", type=Path, help="of the joints; our own recordings bring theirs")
    parser.add_argument("--columns", type=Path, metavar="TABLE", help="of the recordings' columns (docs/skew.md)")
    parser.add_argument("--scheduler", default="", metavar="tls://…", help="a Dask cluster; else processes here")
    parser.add_argument("--workers", type=int, metavar="N", help="processes here (one a core); 0: this one alone")
    parser.add_argument("--no-skew", action="store_true", help="leave out how late each channel is")
    parser.add_argument("--page", type=Path, default=Path("fleet.html"), metavar="FILE", help="(fleet.html)")
    parser.add_argument("--parquet", type=Path, metavar="FILE", help="every number, for other programs")
    parser.add_argument("--json", action="store_true", help="the table as one JSON object")


def collect(parser: argparse.ArgumentParser) -> None:
    """The arguments of `jointwatch fleet collect`."""
    parser.add_argument("config", type=Path, metavar="LAKE.toml", help="of the lake and the services (docs/fleet.md)")
    parser.add_argument("--duration", type=float, metavar="S", help="stop after so many seconds")


def watch(parser: argparse.ArgumentParser) -> None:
    """The arguments of `jointwatch fleet watch`."""
    parser.add_argument("lake", metavar="LAKE", help="the collector's .toml, or the lake itself: a folder or a URL")
    parser.add_argument("--last", default="1h", metavar="TIME", help="time to look at: 30m, 1h, 2d, 14d, 1y (1h)")
    parser.add_argument("--until", metavar="WHEN", help="its end: a day such as 2026-01-31, or 2h (ago); now")
    parser.add_argument(
        "--limit", action="append", default=[], metavar="PARAMETER=VALUE",
        help="how long joints whose parameter has changed take to this value; may be repeated",
    )  # fmt: skip
    parser.add_argument("--every", type=float, default=60.0, metavar="S", help="time between two looks (60)")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write it as an HTML page, too, at every look")
    parser.add_argument("--once", action="store_true", help="look once")
    parser.add_argument("--json", action="store_true", help="one JSON object at every look")


# task → its arguments, and what it does; the module of its name in this folder has `run(options)`
TASKS: Final[Mapping[str, tuple[Callable[[argparse.ArgumentParser], None], str]]] = {
    "identify": (identify, "identify the joints of many recordings, and compare robots"),
    "collect": (collect, "listen to many services, and keep what they say in a lake"),
    "watch": (watch, "who stands out in a lake, again and again"),
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
