"""`jointwatch fleet identify | collect | watch`: many robots against each other, from recordings or while they run."""

import argparse
import importlib

from daq.commands.fleet.arguments import TASKS


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    tasks = parser.add_subparsers(required=True, metavar=" | ".join(TASKS), dest="task")
    for name, (declare, text) in TASKS.items():
        declare(tasks.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}."))


def run(options: argparse.Namespace) -> int:
    """Run the task."""
    code: int = importlib.import_module(f"daq.commands.fleet.{options.task}").run(options)
    return code
