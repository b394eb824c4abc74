"""The log of every process: lines on stderr, each with the time and the name of the process."""

import logging
import os
import sys
from typing import Final

log: Final = logging.getLogger("jointwatch")


def configure_logging(name: str) -> None:
    """Write logs to stderr, one line each, with the name of the process; stdout is for data."""
    logging.basicConfig(
        stream=sys.stderr,
        level=os.environ.get("JOINTWATCH_LOG", "INFO"),
        format=f"%(asctime)s {name}: %(message)s",
        force=True,  # replaces the supervisor's settings, which were forked with it
    )
