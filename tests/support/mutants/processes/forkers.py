"""Processes that run tests, and copies of the tree in which they do."""

import json
import os
import queue
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from .trees import HERE, ROOT, copied

MARKS: Final = {False: "not slow", True: "not slow and not compiled"}  # by whether kernels are interpreted

PREPARED: Final = (  # what is imported before forking
    *("xdist.plugin", "hypothesis", "_hypothesis_pytestplugin", "hypothesis.strategies", "anyio.pytest_plugin"),
    *("numpy", "numpy.testing", "numba", "numba.core.caching", "scipy.optimize", "scipy.signal", "scipy.linalg"),
    *("scipy.stats", "scipy.spatial.transform", "scipy.integrate", "scipy.interpolate", "httpx", "jsonschema"),
    *("pydantic", "zmq", "zmq.asyncio", "msgpack", "starlette.applications", "starlette.routing", "uvicorn"),
    *("starlette.responses", "starlette.websockets", "websockets", "prometheus_client", "prometheus_client.parser"),
    *("can", "can.interfaces.virtual", "cantools", "serial", "mcap.reader", "mcap.writer", "zstandard", "rich.live"),
    *("argcomplete", "tomllib", "multiprocessing.connection", "multiprocessing.spawn", "logging.handlers"),
)


class Answer(NamedTuple):
    """What pytest said; `code` None: the limit was reached."""

    code: int | None
    failed: str
    seconds: float
    processor: float  # seconds of it
    output: str

    @property
    def how(self) -> str:
        """The test that failed, or why else the tests did not pass; empty where they did."""
        if self.code is None:
            return "time limit"
        return "" if self.code == 0 else self.failed or f"pytest ends with {self.code}"


class Forker:
    """A process that has imported what is not ours, and runs tests in forks of itself (forker.py)."""

    def __init__(self, interpreted: bool, prepared: Iterable[str] = PREPARED) -> None:
        environment = os.environ | {"NUMBA_DISABLE_JIT": str(int(interpreted))}
        self._process = subprocess.Popen(
            [sys.executable, HERE / "forker.py", *prepared], env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        self._line()

    def ask(self, **wanted: Any) -> Answer:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(wanted) + "\n")
        self._process.stdin.flush()
        return Answer(**json.loads(self._line()))

    def close(self) -> None:
        """End it, and what it runs."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise EOFError("the process that runs tests has ended")
        return line


class Worker:
    """A copy of the tree, and what runs tests in it, interpreted or compiled."""

    def __init__(self, folder: Path, root: Path = ROOT, prepared: Iterable[str] = PREPARED) -> None:
        self.folder, self._prepared = folder, prepared
        self.tree = copied(folder / "tree", root)
        self._forkers: dict[bool, Forker] = {}

    def run(
        self, tests: list[str], *, interpreted: bool, limit: float, into: Path | None = None, tree: Path | None = None
    ) -> Answer:
        """The tests up to the first that fails; every test, observed, where there is a folder `into` which to write."""
        if interpreted not in self._forkers:
            self._forkers[interpreted] = Forker(interpreted, self._prepared)
        return self._forkers[interpreted].ask(
            tree=str(tree or self.tree), tests=tests, marks=MARKS[interpreted], limit=limit, into=into and str(into)
        )

    def close(self) -> None:
        for one in self._forkers.values():
            one.close()


class Workers:
    """Some, each busy with one thing at a time."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self._all = [Worker(folder / str(number)) for number in range(jobs)]
        self._free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for one in self._all:
            self._free.put(one)
        self._pool = ThreadPoolExecutor(jobs)

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """work(worker, *arguments), as soon as one is free."""

        def run() -> Any:
            worker = self._free.get()
            try:
                return work(worker, *arguments)
            finally:
                self._free.put(worker)

        return self._pool.submit(run)

    def close(self) -> None:
        """What has not begun never will; what runs is ended."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for one in self._all:
            one.close()
        self._pool.shutdown()


@contextmanager
def workers(jobs: int) -> Iterator[Workers]:
    """In a folder that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="mutants", ignore_cleanup_errors=True) as folder:
        crew = Workers(Path(folder), jobs)
        try:
            yield crew
        finally:
            crew.close()
