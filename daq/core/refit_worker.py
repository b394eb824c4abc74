"""Runs refits in a worker process beside the core, so that the stream never waits for one.

The worker is forked from the core before the core has threads, with every kernel loaded; a worker that dies is replaced
by a fresh interpreter. Where a cluster is configured, the worker passes every job on to it, and does the job itself
while the cluster does not answer; the core does not notice the difference.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from typing import Any, Final

from daq.processes.child import call_itself, die_with
from daq.processes.cluster import elsewhere
from daq.processes.logs import log

#: 1, argued: Niceness of the refit's process: a refit may wait, the core may not.
NICE: Final = 5


class RefitWorker(Executor):
    """One worker process, started at once."""

    def __init__(self, nonlinear: int = 0, scheduler: str = "") -> None:
        """nonlinear: the largest number of nonlinear parameters of a joint; scheduler: of a cluster, or ""."""
        import estimators.online.eta.search  # noqa: F401 (what the worker does, loaded before it is forked)
        from estimators.refit.job import warm  # its kernels are heavy, and a joint without η never needs them

        self._scheduler = scheduler
        self._pool = _pool("fork")
        self._pool.submit(warm, nonlinear)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run fn in the worker, or through it on the cluster."""
        if self._scheduler:
            args, fn = (self._scheduler, fn, *args), elsewhere
        try:
            return self._pool.submit(fn, *args, **kwargs)
        except BrokenExecutor:
            log.warning("the refit worker died; a new one is started")
            self._pool = _pool("spawn")
            return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Shut the worker down."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)


def _pool(method: str) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, multiprocessing.get_context(method), initializer=_settle, initargs=(os.getpid(),))


def _settle(core: int) -> None:
    """Prepare the worker: it dies with the core, ignores Ctrl-C and has a lower priority."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICE)
    call_itself("jw refits")
    die_with(core)
