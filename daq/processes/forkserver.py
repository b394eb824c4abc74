"""The server that every process of the service is forked from, with everything imported once, ahead of need.

Light to import itself, so that it can begin before the supervisor has read its configuration.
"""

import multiprocessing
from multiprocessing import forkserver
from typing import Final

# "module:function" of each kind of process, a daq.processes.process.Work
OUTLET, CORE, DRIVER = "daq.outlet.process:run", "daq.core.process:run", "daq.processes.driver:run"
RECORDER: Final = "daq.recording.process:run"
CONTEXT: Final = multiprocessing.get_context("forkserver")


def preload() -> None:
    """Begin importing; returns at once."""
    CONTEXT.set_forkserver_preload([work.partition(":")[0] for work in (OUTLET, CORE, DRIVER, RECORDER)])
    forkserver.ensure_running()
