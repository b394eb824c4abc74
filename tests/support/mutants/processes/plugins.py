"""What pytest is given along: an observer of what each test runs, and a chooser of tests."""

import contextlib
import json
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final

import coverage
import pytest
from startup import BEGUN, NOW, SAVED

LONGEST: Final = 60.0  # s of a processor for one test while it is observed
INTERPRETED: Final = 15.0  # without kernels: some take for ever
SCHEDULED: Final = Path("/proc/self/schedstat")  # of the main thread: ns that it ran, ns that it waited to run
FORKS: Final = frozenset({"os.fork", "os.forkpty"})


class Chosen:
    """Runs what is named only, in the order in which it is named, and says which test failed first.

    A name is that of a test, with or without its parameters, of a file or of a folder. A test whose parameters are no
    longer there stands for all that have its name.
    """

    def __init__(self, names: list[str], told: Path) -> None:
        self._place = {name: place for place, name in enumerate(names)}
        self._told = told

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        there = {name for item in items for name in _names(item)}
        for name in self._place.keys() - there:  # a parameter that the code makes may be another one today
            self._place.setdefault(name.partition("[")[0], self._place[name])
        if gone := {name.partition("[")[0] for name in self._place} - {name.partition("[")[0] for name in there}:
            self._tell(f"{min(gone)} is no longer there")
            pytest.exit("a test is no longer there", 1)
        places = {
            item: min(found)
            for item in items
            if (found := [self._place[one] for one in _names(item) if one in self._place])
        }
        items[:] = sorted(places, key=lambda item: places[item])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._tell(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._tell(f"{report.nodeid} cannot be collected")

    def _tell(self, words: str) -> None:
        if not self._told.exists():
            self._told.write_text(words, "utf-8")


class Observer:
    """Which lines each test runs, here and in processes that it starts, and how long it takes.

    What a fixture runs that several tests share counts for each of them. Time in which the test's process waits for a
    processor is left out, so that a busy machine chooses the same tests for a mutant as a quiet one.
    """

    def __init__(self, files: list[str], folder: Path) -> None:
        self._folder = folder
        self._coverage = coverage.Coverage(None, include=files, config_file=False, messages=False)
        self._now = ""
        self._enter("")
        self._unseen: set[str] = set()  # contexts that ran something into which nobody saw
        self._seconds: dict[str, float] = defaultdict(float)
        self._users: dict[str, list[str]] = defaultdict(list)  # contexts of shared fixtures → tests
        self._failed: dict[str, str] = {}
        self._slow: list[str] = []
        sys.addaudithook(self._hear)
        signal.signal(signal.SIGPROF, self._end)
        self._coverage.start()

    @property
    def _longest(self) -> float:
        return min(LONGEST, INTERPRETED) if os.environ.get("NUMBA_DISABLE_JIT") == "1" else LONGEST

    def _hear(self, event: str, _arguments: tuple[Any, ...]) -> None:
        if event in FORKS:
            self._unseen.add(self._now)

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        self._slow.append(self._now)
        pytest.fail(f"takes more than {self._longest:.0f} s")

    def _enter(self, context: str) -> str:
        before, self._now = self._now, context
        (self._folder / NOW).write_text(context, "utf-8")
        with contextlib.suppress(coverage.CoverageException):  # before it has begun
            self._coverage.switch_context(context)
        return before

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            for definitions in item._fixtureinfo.name2fixturedefs.values():  # type: ignore[attr-defined]
                for one in definitions:
                    self._users[_context(one)].append(item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        began = _unhindered()
        before = self._enter(item.nodeid)
        signal.setitimer(signal.ITIMER_PROF, self._longest)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            self._enter(before)
            self._seconds[item.nodeid] = _unhindered() - began

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[Any]:
        if fixturedef.scope == "function":
            return (yield)
        before = self._enter(_context(fixturedef))
        try:
            return (yield)
        finally:
            self._enter(before)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed[report.nodeid] = report.longreprtext.strip()[-300:]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._failed[report.nodeid] = report.longreprtext.strip()[-300:]

    def pytest_unconfigure(self) -> None:
        self._coverage.stop()
        lines: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        here = Path.cwd()
        for data in (self._coverage.get_data(), *self._saved()):
            for file in data.measured_files():
                for line, contexts in data.contexts_by_lineno(file).items():
                    lines[str(Path(file).relative_to(here))][line] |= self._tests(contexts)
        killed = {one.read_text("utf-8") for one in self._folder.glob(f"*{BEGUN}")}
        seen = {
            "lines": {file: {line: sorted(tests) for line, tests in some.items()} for file, some in lines.items()},
            "seconds": self._seconds,
            "unseen": sorted(self._tests(self._unseen | killed)),
            "failed": self._failed,
            "slow": sorted(self._tests(self._slow)),
        }
        (self._folder / "seen.json").write_text(json.dumps(seen), "utf-8")

    def _saved(self) -> Iterator[coverage.CoverageData]:
        """Coverage data of processes that were started."""
        for file in self._folder.glob(f"*{SAVED}"):
            data = coverage.CoverageData(str(file))
            with contextlib.suppress(coverage.CoverageException):  # cut short
                data.read()
                yield data

    def _tests(self, contexts: Iterable[str]) -> set[str]:
        """Those after the contexts; "" is what runs while modules are imported."""
        return {test for one in contexts for test in self._users.get(one, [one])} - {""}


def _names(item: pytest.Item) -> list[str]:
    file = Path(item.nodeid.partition("::")[0])
    return [item.nodeid, item.nodeid.partition("[")[0], *map(str, (file, *file.parents))]


def _unhindered() -> float:
    """Seconds of a clock that stands while this process is ready to run and other processes have all processors."""
    try:
        waited = int(SCHEDULED.read_text("ascii").split()[1])  # ns
    except (OSError, IndexError):  # a kernel that does not tell
        waited = 0
    return time.perf_counter() - 1e-9 * waited


def _context(fixture: Any) -> str:
    return f"fixture {fixture.baseid} {fixture.argname}"
