"""Runs the tests of a mutant, of all that could notice it the quickest first, in a process of their own."""

import json
import math
import os
import queue
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from .kernels import compiled
from .operators import Mutant
from .trees import HERE, ROOT, copied, put

MARKS: Final = {False: "not slow", True: "not slow and not compiled"}  # by whether kernels are interpreted
OBSERVED: Final = 3600.0  # s for the tests of a room at most
CACHES: Final = re.compile(r"\bcache\b|\blru_cache\b")  # what a test finds there another one has run


class Outcome(NamedTuple):
    """Of one mutant."""

    noticed: bool
    how: str  # the test that failed, or why nothing did
    seconds: float


class Forker:
    """A process that runs tests in forks of its own (forker.py)."""

    def __init__(self, interpreted: bool) -> None:
        environment = os.environ | {"NUMBA_DISABLE_JIT": str(int(interpreted))}
        self._process = subprocess.Popen(
            [sys.executable, HERE / "forker.py"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, start_new_session=True,
        )  # fmt: skip
        self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise KeyboardInterrupt  # closed by whoever no longer waits
        return line

    def ask(self, **wanted: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(wanted) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._line())
        return answer

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class Worker:
    """A copy of the tree, and what runs tests in it."""

    def __init__(self, tree: Path) -> None:
        self.tree = copied(tree)
        self._forkers: dict[bool, Forker] = {}

    def ask(self, interpreted: bool, tests: list[str], limit: float, **more: Any) -> dict[str, Any]:
        """See forker.py."""
        if interpreted not in self._forkers:
            self._forkers[interpreted] = Forker(interpreted)
        asked = {"observe": None, "into": None, "marks": MARKS[interpreted]} | more
        return self._forkers[interpreted].ask(tree=str(self.tree), tests=tests, limit=limit, **asked)

    def close(self) -> None:
        for one in self._forkers.values():
            one.close()


class Workers:
    """Some, each busy with one thing at a time."""

    def __init__(self, folder: Path, jobs: int) -> None:
        with ThreadPoolExecutor(jobs) as pool:
            self._all = list(pool.map(Worker, [folder / str(number) for number in range(jobs)]))
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
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mutants"))
        crew = Workers(Path(folder), jobs)
        stack.callback(crew.close)
        yield crew


class Seen:
    """What the tests of a room ran, each, and how long it took."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.seconds: dict[str, float] = found["seconds"]
        self.failed: dict[str, str] = found["failed"]
        self._starting = set(found["starting"])
        self._lines: dict[str, dict[int, set[str]]] = {
            file: {int(line): set(tests) for line, tests in lines.items()} for file, lines in found["lines"].items()
        }

    @cached_property
    def every(self) -> set[str]:
        """Tests that pass."""
        return self.seconds.keys() - self.failed.keys()

    def first(self, mutant: Mutant) -> set[str]:
        """Tests that ran the line; where the module runs it, those that ran one with a name that it binds."""
        lines = self._lines.get(mutant.file, {})
        if not mutant.names:
            begin, end = mutant.lines
            found = {test for line in range(begin, end + 1) for test in lines.get(line, ())}
        else:
            word = re.compile(rf"\b({'|'.join(map(re.escape, mutant.names))})\b")
            found = {test for file in self._lines for test in self._mentioning(file, word)}
        return self._with_cached(found & self.every)

    def others(self, mutant: Mutant) -> set[str]:
        """Further tests that could meet it: they run more of its file, or processes into which nobody sees."""
        of_file = {test for tests in self._lines.get(mutant.file, {}).values() for test in tests}
        of_file = self.every if mutant.names else self._with_cached(of_file & self.every)
        return (of_file | (self._starting & self.every)) - self.first(mutant)

    def ordered(self, tests: Iterable[str]) -> list[str]:
        """The quickest first, those of one file together where they take about as long."""
        place = {test: number for number, test in enumerate(self.seconds)}

        def key(test: str) -> tuple[int, str, int]:
            return max(-1, math.ceil(math.log10(self.seconds[test]))), test.partition("::")[0], place[test]

        return sorted(tests, key=key)

    def limit(self, tests: Iterable[str]) -> float:
        return 10.0 * sum(self.seconds[test] for test in tests) + 20.0

    def _mentioning(self, file: str, word: re.Pattern[str]) -> Iterator[str]:
        text = (ROOT / file).read_text("utf-8").splitlines()
        for line, tests in self._lines[file].items():
            if word.search(text[line - 1]):
                yield from tests

    def _with_cached(self, tests: set[str]) -> set[str]:
        """A test file that caches is one test: who ran first ran for the others."""
        files = {file for file in {test.partition("::")[0] for test in tests} if CACHES.search(_text(file))}
        return tests | {test for test in self.every if test.partition("::")[0] in files}


def _text(file: str) -> str:
    return (ROOT / file).read_text("utf-8")


def interpreted(mutant: Mutant) -> bool:
    """Whether machine code would have to be made again."""
    return any((mutant.file, name) in compiled() for name in mutant.within.split())


def observed(worker: Worker, tests: list[str], files: list[str], as_python: bool) -> Seen:
    """Run the room's tests once, as they are."""
    put(worker.tree)
    into = worker.tree / "seen.json"
    into.unlink(missing_ok=True)
    answer = worker.ask(as_python, tests, OBSERVED, observe=files, into=str(into))
    if not into.exists():
        raise RuntimeError(f"the tests end by {answer['code']}:\n{answer['output']}")
    return Seen(json.loads(into.read_text("utf-8")))


def tried(worker: Worker, mutant: Mutant, seen: Seen, as_python: bool) -> Outcome:
    """Whether a test fails."""
    text = (worker.tree / mutant.file).read_bytes()
    put(worker.tree, mutant.file, mutant.applied(text).decode())
    seconds, ran = 0.0, False
    for tests in (seen.first(mutant), seen.others(mutant)):
        if not tests:
            continue
        answer = worker.ask(as_python, seen.ordered(tests), seen.limit(tests))
        seconds += answer["seconds"]
        ran = True
        if answer["code"] is None:
            return Outcome(True, "time limit", seconds)
        if answer["code"] != 0:
            return Outcome(True, answer["failed"] or f"ends by {answer['code']}", seconds)
    nobody = not seen.first(mutant) and not mutant.names
    return Outcome(False, "no test runs this line" if nobody else "survived", seconds)
