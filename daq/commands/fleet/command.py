"""`jointwatch fleet identify | collect | watch`: many robots against each other, from recordings or while they run."""

import argparse
import importlib
from typing import Final

# task → its module, which has `arguments(parser)` and `run(options)`, and what it does
TASKS: Final = {
    "identify": ("daq.commands.fleet.identify", "identify the joints of many recordings, and compare robots"),
    "collect": ("daq.commands.fleet.collect", "listen to many services, and keep what they say in a lake"),
    "watch": ("daq.commands.fleet.watch", "who stands out in a lake, again and again"),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    tasks = parser.add_subparsers(required=True, metavar=" | ".join(TASKS), dest="task")
    for name, (module, text) in TASKS.items():
        importlib.import_module(module).arguments(tasks.add_parser(name, help=text, description=f"{text}."))


def run(options: argparse.Namespace) -> int:
    """Run the task."""
    code: int = importlib.import_module(TASKS[options.task][0]).run(options)
    return code
