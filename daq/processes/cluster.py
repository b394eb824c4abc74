"""Runs work in many processes through Dask: on this machine, or on the workers of a scheduler.

A task is a pure function of its arguments, so when a worker dies another one repeats its tasks. This is the only module
that knows Dask, which is an optional dependency (jointwatch[fleet]).
"""

import asyncio
import contextlib
import fcntl
import importlib
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

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


class ClusterError(Exception):
    """There are no usable workers; the text is shown to the user as it is."""


class Cluster:
    """Workers within a `with` block: processes of this machine, or those of a scheduler."""

    def __init__(self, scheduler: str = "", workers: int = 0, modules: Sequence[str] = ()) -> None:
        """scheduler: tcp://HOST:PORT; workers: number of processes here if there is no scheduler (0: one per core);
        modules: their kernels are loaded first, so that no two processes compile the same one.
        """
        self._scheduler, self._count = scheduler, workers or len(os.sched_getaffinity(0))
        self._modules = tuple(modules)
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Raises ClusterError."""
        distributed = _dask()
        logging.getLogger(WARN).setLevel(logging.CRITICAL)  # the results show when a worker has died
        try:
            self._client = self._open.enter_context(self._connected(distributed))
            self._alike(self._client.run(_prepared, self._modules))
        except BaseException as error:
            self._open.close()
            if isinstance(error, OSError | TimeoutError):
                where, why = self._scheduler or "workers of this machine", error or "it took too long"
                raise ClusterError(f"{where}: no answer from Dask's scheduler: {why}") from error
            raise
        self._distributed = distributed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def run(self, work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Yields (number of the task, its result or exception) as the tasks finish."""
        futures = [self._client.submit(_after, self._modules, work, *task, pure=False) for task in tasks]
        numbers = {future.key: number for number, future in enumerate(futures)}
        done = self._distributed.as_completed(futures, with_results=False, raise_errors=False)
        for future in done:
            yield numbers[future.key], future.exception() if future.status == "error" else future.result()

    def pids(self) -> list[int]:
        """Process ids of the workers, on their machines."""
        return sorted(self._client.run(os.getpid).values())

    def _connected(self, distributed: Any) -> Any:
        if self._scheduler:
            return distributed.Client(self._scheduler, timeout=CONNECT)
        for name in self._modules:  # compiled here, once; the workers find the kernels on the disk
            importlib.import_module(name)
        local = distributed.LocalCluster(
            n_workers=self._count,
            threads_per_worker=1,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # else 8787, and a warning where that is taken
            silence_logs=logging.CRITICAL,
            env=ONE_THREAD,
        )
        return distributed.Client(self._open.enter_context(local), timeout=CONNECT)

    def _alike(self, found: dict[str, dict[str, str]]) -> None:
        """Raises ClusterError where a worker has other versions than this process: its results could differ."""
        if not found:
            raise ClusterError(f"{self._scheduler}: the scheduler has no workers; start some with `dask worker`")
        mine = _versions()
        for worker, theirs in found.items():
            for name, one in theirs.items():
                if one != mine[name]:
                    raise ClusterError(f"{worker}: expected {name} {mine[name]} as here, found {one}")


def _versions() -> dict[str, str]:
    """The versions, in this process, of the packages that results depend on."""
    return {name: version(name) for name in SAME}


def _dask() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise ClusterError(
            f"several processes at once need Dask: pip install 'jointwatch[fleet]' ({error.name} is missing)"
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
            found.client = _dask().Client(scheduler, timeout=PATIENCE, set_as_default=False)
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
    with Path(tempfile.gettempdir(), f"jointwatch-kernels-{os.getuid()}.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        for name in missing:
            importlib.import_module(name)
    _LOADED.update(missing)
