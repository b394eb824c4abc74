"""`jointwatch version`: prints the installed version."""

import argparse
from importlib.metadata import version


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare no arguments."""


def run(_: argparse.Namespace) -> int:
    """Print the version."""
    print(version("jointwatch"))
    return 0
