"""Runs refits in a worker process, so that the core and its stream never wait for a refit.

The worker is forked from the core before the core has threads, with every kernel loaded. A worker that dies, hangs or
takes too long over a job is replaced by a fresh interpreter: that job fails, and the new worker does the later jobs. If
a cluster is configured, the worker passes every job on to it, and does the job itself while the cluster does not
answer; the core does not notice the difference.
"""

import contextlib
import gc
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, InvalidStateError, ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from daq.processes.child import call_itself, die_with
from daq.processes.cluster import LONGEST, elsewhere
from daq.processes.logs import log
from daq.stream.priority import take_usual_slice

#: 1, argued: Niceness of the worker process: a refit may wait, the core may not.
NICE: Final = 5
#: s, argued: A worker with a job that has used no processor time for this long counts as hanging.
SILENT: Final = 10.0
#: s, argued: Longest time of a job; a result that is more than 30 s late is rejected anyway.
DEADLINE: Final = 60.0


class RefitWorkerError(RuntimeError):
    """The worker ended before its job was done."""


@dataclass(slots=True)
class _Job:
    """A job: its work, the future of its owner, and the future of the present worker (None: not given to it yet)."""

    work: Callable[[], Any]
    result: Future[Any] = field(default_factory=Future)
    given: Future[Any] | None = None


class RefitWorker(Executor):
    """One worker process, started at once."""

    def __init__(self, scheduler: str = "") -> None:
        """scheduler: address of a cluster's scheduler, or ""."""
        from estimators.refit.job import warm  # loaded before the fork; joints without η never need its kernels

        self._scheduler = scheduler
        self.limit = SILENT + (LONGEST if scheduler else 0.0)
        """Seconds of silence after which the worker is replaced: it may wait for the cluster."""
        self.silence, self.replaced, self.cause = 0.0, 0, ""
        self._jobs: deque[_Job] = deque()
        self._first: _Job | None = None  # the oldest job at the last check
        self._since = self._moved = 0.0  # monotonic s: since when it is the oldest; last progress
        self._used = 0.0  # processor time at that check, s
        self._pool, self._pid = _pool("fork")
        self._warming = self._pool.submit(warm)

    @property
    def pid(self) -> int:
        """The worker's process; 0 until it has started."""
        return int(self._pid.value)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run fn in the worker, or through it on the cluster."""
        job = _Job(partial(elsewhere, self._scheduler, fn, *args) if self._scheduler else partial(fn, *args, **kwargs))
        self._jobs.append(job)
        self._give(job)
        return job.result

    def check(self, now: float) -> None:
        """Replace a worker that has died, hangs or takes too long. now: monotonic s."""
        while self._jobs and self._jobs[0].result.done():
            self._jobs.popleft()
        first, self.silence = self._jobs[0] if self._jobs else None, 0.0
        if first is None:
            self._first = None
        elif any(_is_broken(job) for job in self._jobs):
            self._replace("it died")
        else:
            used, waiting = _work_of(self.pid) if self.pid and self._warming.done() else (now, False)
            if first is not self._first:
                self._first, self._since, self._moved = first, now, now
            if used != self._used or waiting:
                self._used, self._moved = used, now
            if not self._warming.done():
                self._since = now
            self.silence = now - self._moved
            if self.silence > self.limit:
                self._replace(f"it stood still for {self.silence:.0f} s")
            elif now - self._since > DEADLINE + self.limit - SILENT:
                self._replace(f"its job took longer than {DEADLINE + self.limit - SILENT:.0f} s")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Shut the worker down."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def _give(self, job: _Job) -> None:
        """Give a job to the worker. The next check replaces a worker that has died, and gives the job again."""
        try:
            job.given = self._pool.submit(job.work)
        except BrokenExecutor:
            job.given = None
        else:
            job.given.add_done_callback(partial(_hand_over, job.result))

    def _replace(self, cause: str) -> None:
        """End the worker and start another one: the running job fails, and the new worker gets the other jobs."""
        log.warning("the refit worker was replaced: %s", cause)
        self.replaced, self.cause, self._first = self.replaced + 1, cause, None
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool, self._pid = _pool("spawn")
        if self._jobs[0].given is not None:
            with contextlib.suppress(InvalidStateError):  # the job has ended at this moment
                self._jobs.popleft().result.set_exception(RefitWorkerError(f"the refit worker was replaced: {cause}"))
        for job in self._jobs:
            self._give(job)


def _is_broken(job: _Job) -> bool:
    """Whether the worker died before it finished the job."""
    given = job.given
    return given is None or (given.done() and not given.cancelled() and isinstance(given.exception(), BrokenExecutor))


def _hand_over(result: Future[Any], given: Future[Any]) -> None:
    """Pass the worker's result on to the owner of the job, unless the worker has died or was replaced."""
    if given.cancelled() or isinstance(given.exception(), BrokenExecutor):
        return
    error = given.exception()
    with contextlib.suppress(InvalidStateError):
        if error is None:
            result.set_result(given.result())
        else:
            result.set_exception(error)


def _work_of(pid: int) -> tuple[float, bool]:
    """Return the used processor time of a process (ticks; −1: it does not exist), and whether it waits for a core."""
    try:
        words = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return -1.0, False
    return float(words[11]) + float(words[12]), words[0] == b"R"


def _pool(method: str) -> tuple[ProcessPoolExecutor, Any]:
    """Make a pool of one worker, and the shared value that will contain the worker's process identifier."""
    context = multiprocessing.get_context(method)
    pid = context.Value("q", 0)
    return ProcessPoolExecutor(1, context, initializer=_settle, initargs=(os.getpid(), pid)), pid


def _settle(core: int, pid: Any) -> None:
    """Prepare the worker process: it ends with the core, ignores Ctrl-C, and has a lower priority."""
    pid.value = os.getpid()
    gc.freeze()  # garbage of the core is not this process's to end
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICE)
    take_usual_slice()
    call_itself("jw refits")
    die_with(core)
