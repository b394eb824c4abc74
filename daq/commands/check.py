"""`jointwatch check CONFIG`: reports every mistake of a configuration at once, or the source of each channel."""

import argparse
import sys
from pathlib import Path

from daq.commands.codes import refuse
from daq.config import physics
from daq.config.load import load
from daq.config.routes import routes
from daq.config.words import ConfigError
from drivers.catalogue import origin


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("config", type=Path, help="the configuration (jointwatch init writes one)")


def run(options: argparse.Namespace) -> int:
    """Check the configuration."""
    try:
        config = load(options.config)
    except ConfigError as mistakes:
        return refuse(mistakes)
    for route in routes(config):
        print(f"{route.joint}.{route.role} <- {route.driver}.{route.signal}")
    for name, driver in config.drivers.items():
        if package := origin(driver.named):
            print(f"note: {name}: its driver comes from {package}, whose code runs as the service", file=sys.stderr)
    for remark in physics.remarks(config):
        print(f"note: {remark}", file=sys.stderr)
    print(f"{options.config}: good", file=sys.stderr)
    return 0
