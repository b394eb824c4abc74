"""`jointwatch check FILE`: reports every mistake of a configuration, or of a mechanism file, at once.

For a good configuration it prints the source of each channel, for a good mechanism its joints.
"""

import argparse
import sys
from pathlib import Path

from daq.commands.codes import refuse, to_answer
from daq.commands.recordings.inputs import tell_open_questions
from daq.config import physics
from daq.config.load import load
from daq.config.routes import routes
from daq.config.toml_file import is_mechanism
from daq.config.words import ConfigError
from drivers.catalogue import origin


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("config", type=Path, help="the configuration (jointwatch init writes one), or a mechanism file")


def run(options: argparse.Namespace) -> int:
    """Check the configuration, or the mechanism file."""
    try:
        if is_mechanism(options.config):
            return _check_mechanism(options.config)
        config = load(options.config)
    except ConfigError as mistakes:
        return refuse(mistakes)
    for route in routes(config):
        print(f"{route.joint}.{route.role} <- {route.driver}.{route.signal}")
    for name, driver in config.drivers.items():
        if package := origin(driver.named):
            print(f"note: {name}: its driver comes from {package}, whose code runs as the service", file=sys.stderr)
        if sent := driver.sends():
            print(f"note: {name}: this driver sends on the robot's bus: {sent}", file=sys.stderr)
    for remark in physics.remarks(config):
        print(f"note: {remark}", file=sys.stderr)
    questions = tell_open_questions(options.config)
    todo = f", once you {to_answer(questions)}" if questions else ""
    print(f"{options.config}: good{todo}", file=sys.stderr)
    return 0


def _check_mechanism(file: Path) -> int:
    """Print how each joint of a mechanism moves. Raises ConfigError."""
    from daq.config.robots.mechanism_file import read_mechanism  # kernels that only a mechanism needs

    description = read_mechanism(file).description
    for link in description.links:
        print(f"{link.name} on {link.parent or 'the base'}: {link.kind}, {'driven' if link.drive else 'passive'}")
    for cut in description.cuts:
        print(f"{cut.name} joins {cut.link or 'the base'} and {cut.other or 'the base'}: {cut.kind}")
    print(f"{file}: good", file=sys.stderr)
    return 0
