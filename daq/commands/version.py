"""`jointwatch version`: which one is installed."""

import argparse
from importlib.metadata import version


def arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing."""


def run(_: argparse.Namespace) -> int:
    """Print it."""
    print(version("jointwatch"))
    return 0
