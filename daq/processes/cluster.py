"""Runs work in many processes: on this machine, or on the workers of a Dask scheduler.

A task is a pure function of its arguments, so when a worker dies another one repeats its tasks. Processes of this
machine are reached through pipes that no other user can open. Whoever may talk to a scheduler runs programs as the user
of its workers, so a scheduler is used through TLS with certificates only. This is the only module that knows Dask,
which is an optional dependency (jointwatch[fleet]).
"""

import asyncio
import contextlib
import importlib
import logging
import multiprocessing
import os
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from importlib.metadata import version
from typing import Any, Final, Self

from daq.processes.child import call_itself, die_with
from daq.processes.kernels import turn
from daq.processes.logs import log

PATIENCE: Final = 3.0  # s that a scheduler may take to answer a running service
RETRY: Final = 30.0  # s after which the service asks a silent scheduler again
LONGEST: Final = 60.0  # s that a job may take on the cluster before the service does it itself
CONNECT: Final = 20.0  # s that a scheduler may take to answer
ONE_THREAD: Final = {  # environment of a worker: one thread each, since there are as many workers as cores
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}
SAME: Final = ("jointwatch", "numpy", "numba", "scipy")  # versions on which results depend
WARN: Final = "distributed"  # the name of Dask's own logs
DEATHS: Final = 3  # workers that may die of one task


class ClusterError(Exception):
    """There are no usable workers; the text is shown to the user as it is."""


class Cluster:
    """Workers within a `with` block: processes of this machine, or those of a scheduler."""

    def __init__(self, scheduler: str = "", workers: int = 0, modules: Sequence[str] = ()) -> None:
        """scheduler: tls://HOST:PORT; workers: number of processes here if there is no scheduler (0: one per core);
        modules: their kernels are loaded first, so that no two processes compile the same one.
        """
        self._scheduler, self._count = scheduler, workers or len(os.sched_getaffinity(0))
        self._modules = tuple(modules)
        self._open = contextlib.ExitStack()
        self._pools: list[ProcessPoolExecutor] = []
        self._client: Any = None

    def __enter__(self) -> Self:
        """Raises ClusterError."""
        try:
            if self._scheduler:
                self._distributed = distributed = _dask()
                logging.getLogger(WARN).setLevel(logging.CRITICAL)  # the results show when a worker has died
                self._client = self._open.enter_context(_client(distributed, self._scheduler, CONNECT))
                self._alike(self._client.run(_prepared, self._modules))
            else:
                self._start_pools()
        except BaseException as error:
            self._open.close()
            if isinstance(error, OSError | TimeoutError):
                where, why = self._scheduler or "workers of this machine", error or "it took too long"
                raise ClusterError(f"{where}: no answer from Dask's scheduler: {why}") from error
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def run(self, work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Yields (number of the task, its result or exception) as the tasks finish."""
        if self._client is None:
            yield from self._run_here(work, tasks)
            return
        futures = [self._client.submit(_after, self._modules, work, *task, pure=False) for task in tasks]
        numbers = {future.key: number for number, future in enumerate(futures)}
        done = self._distributed.as_completed(futures, with_results=False, raise_errors=False)
        for future in done:
            yield numbers[future.key], future.exception() if future.status == "error" else future.result()

    def pids(self) -> list[int]:
        """Process ids of the workers, on their machines."""
        if self._client is None:
            return sorted(pool.submit(os.getpid).result() for pool in self._pools)
        return sorted(self._client.run(os.getpid).values())

    def _start_pools(self) -> None:
        """Start the processes of this machine: a pool of one each, so that one that dies takes no other along."""
        for name in self._modules:  # compiled here, once; the workers find the kernels on the disk
            importlib.import_module(name)
        before = {name: os.environ.get(name) for name in ONE_THREAD}
        self._open.callback(_set_environment, before)
        _set_environment(ONE_THREAD)
        self._open.callback(self._end_pools)
        self._others = set(multiprocessing.active_children())
        self._pools = [_pool() for _ in range(self._count)]

    def _end_pools(self) -> None:
        for pool in self._pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - self._others:
            process.kill()  # its work is not wanted any more

    def _run_here(self, work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        waiting = deque(range(len(tasks)))
        deaths: Counter[int] = Counter()  # by number of the task
        running: dict[Future[Any], tuple[int, int]] = {}  # number of the pool, number of the task
        free = list(range(len(self._pools)))
        while waiting or running:
            while waiting and free:
                one, number = free.pop(), waiting.popleft()
                try:
                    future = self._pools[one].submit(_after, self._modules, work, *tasks[number])
                except BrokenExecutor:  # it died while it had nothing to do
                    self._pools[one] = _pool()
                    future = self._pools[one].submit(_after, self._modules, work, *tasks[number])
                running[future] = one, number
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                one, number = running.pop(future)
                free.append(one)
                error = future.exception()
                if not isinstance(error, BrokenExecutor):
                    yield number, future.result() if error is None else error
                    continue
                self._pools[one] = _pool()
                deaths[number] += 1
                if deaths[number] < DEATHS:
                    waiting.append(number)
                else:
                    yield number, ClusterError(f"{DEATHS} workers died of it, one after the other")

    def _alike(self, found: dict[str, dict[str, str]]) -> None:
        """Raises ClusterError where a worker has other versions than this process: its results could differ."""
        if not found:
            raise ClusterError(f"{self._scheduler}: the scheduler has no workers; start some with `dask worker`")
        mine = _versions()
        for worker, theirs in found.items():
            for name, one in theirs.items():
                if one != mine[name]:
                    raise ClusterError(f"{worker}: expected {name} {mine[name]} as here, found {one}")


def _pool() -> ProcessPoolExecutor:
    """One process of this machine that works for this one only, and dies with it."""
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=_settle, initargs=(os.getpid(),))


def _settle(parent: int) -> None:
    """Prepare a worker of this machine: Ctrl-C is its parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    call_itself("jw worker")
    die_with(parent)


def _set_environment(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _client(distributed: Any, scheduler: str, patience: float) -> Any:
    """A connection to a scheduler. Raises ClusterError where anybody else could use it as well."""
    if not scheduler.startswith("tls://"):
        raise ClusterError(
            f"{scheduler}: expected tls://HOST:PORT: whoever reaches a scheduler without certificates runs programs as "
            "the user of its workers (docs/fleet.md says how to make a cluster safe)"
        )
    security = distributed.Security(require_encryption=True)
    missing = [name for name in ("ca_file", "client_cert", "client_key") if not getattr(security, f"tls_{name}")]
    if missing:
        raise ClusterError(
            f"{scheduler}: Dask has no {', no '.join(missing)}: set DASK_DISTRIBUTED__COMM__TLS__CA_FILE, "
            "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT and …CLIENT__KEY to PEM files (docs/fleet.md)"
        )
    return distributed.Client(scheduler, timeout=patience, security=security, set_as_default=False)


def _versions() -> dict[str, str]:
    """The versions, in this process, of the packages that results depend on."""
    return {name: version(name) for name in SAME}


def _dask() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise ClusterError(
            f"a cluster needs Dask: pip install 'jointwatch[fleet]' ({error.name} is missing)"
        ) from error


def _prepared(modules: Sequence[str]) -> dict[str, str]:
    """Load the kernels; every worker does it first."""
    _load(tuple(modules))
    return _versions()


def _after(modules: tuple[str, ...], work: Callable[..., Any], *task: Any) -> Any:
    """Run the task; loads the kernels first, since the worker may replace one that died."""
    _load(modules)
    return work(*task)


class _Elsewhere:
    """The connection of this process to a cluster, while the cluster answers."""

    def __init__(self) -> None:
        self.client: Any = None
        self.next_attempt = 0.0  # monotonic s before which no connection is tried


_ELSEWHERE: Final = _Elsewhere()


def elsewhere(scheduler: str, work: Callable[..., Any], *args: Any) -> Any:
    """Run one piece of work on a cluster, or here while the cluster does not answer. Raises what the work raises."""
    found, now = _ELSEWHERE, time.monotonic()
    if found.client is None and now >= found.next_attempt:
        try:
            logging.getLogger(WARN).setLevel(logging.CRITICAL)
            found.client = _client(_dask(), scheduler, PATIENCE)
            log.info("refits run on %s", scheduler)
        except (OSError, TimeoutError, ClusterError) as error:
            found.next_attempt = now + RETRY
            log.warning("refits run on this machine: %s does not answer: %s", scheduler, error or "it took too long")
    if found.client is not None:
        future = found.client.submit(work, *args, pure=False)
        try:
            return future.result(timeout=LONGEST)
        except (Exception, asyncio.CancelledError) as error:
            if future.status == "error" and not _of_the_cluster(error):
                raise
        log.warning("refits run on this machine: %s has lost a job", scheduler)
        with contextlib.suppress(Exception):
            found.client.close(timeout=1.0)
        found.client, found.next_attempt = None, time.monotonic() + RETRY
    return work(*args)


def _of_the_cluster(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] in ("distributed", "asyncio", "tornado")


_LOADED: Final[set[str]] = set()


def _load(modules: tuple[str, ...]) -> None:
    """Import the modules, one process of a machine at a time: the others find on the disk what the first compiles."""
    missing = [name for name in modules if name not in _LOADED]
    if not missing:
        return
    with turn():
        for name in missing:
            importlib.import_module(name)
    _LOADED.update(missing)
