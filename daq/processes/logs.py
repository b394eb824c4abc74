"""The log of every process: lines on stderr, each with the time and the process's name."""

import logging
import os
import sys
from typing import Final

log: Final = logging.getLogger("jointwatch")


def configure_logging(name: str) -> None:
    """Logs go to stderr, one line each, with the process's name; stdout is data."""
    logging.basicConfig(
        stream=sys.stderr,
        level=os.environ.get("JOINTWATCH_LOG", "INFO"),
        format=f"%(asctime)s {name}: %(message)s",
        force=True,  # instead of the supervisor's, which was forked
    )
