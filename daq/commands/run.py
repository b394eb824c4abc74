"""`jointwatch run CONFIG`: the service, until it is told to stop."""

import argparse
from pathlib import Path

from daq.commands.codes import fail, refuse


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("config", type=Path)
    parser.add_argument("--duration", type=float, metavar="S", help="stop after S seconds")


def run(options: argparse.Namespace) -> int:
    """Run it."""
    from daq.config.load import load
    from daq.config.words import ConfigError
    from daq.processes.process import configure_logging
    from daq.processes.supervisor import Service, StartError

    configure_logging("jointwatch")
    try:
        config = load(options.config)
    except ConfigError as mistakes:
        return refuse(mistakes)
    try:
        Service(config).run(options.duration)
    except StartError as error:
        return fail(error)
    return 0
