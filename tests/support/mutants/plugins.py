"""What pytest is given along: an observer of what each test runs, and a chooser of tests."""

import json
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final

import coverage
import pytest

LONGEST: Final = 120  # s for one test while it is observed: without compiled kernels some take for ever
STARTS: Final = frozenset({"os.fork", "os.posix_spawn", "os.exec", "os.forkpty"})


class Chosen:
    """Runs the named tests only, in the order in which they are named, and says which failed first."""

    def __init__(self, names: list[str], told: Path) -> None:
        self._place = {name: place for place, name in enumerate(names)}
        self._told = told

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        known = [item for item in items if item.nodeid in self._place]
        if len(known) < len(self._place):
            gone = self._place.keys() - {item.nodeid for item in known}
            self._told.write_text(f"{min(gone)} is no longer there", "utf-8")
            pytest.exit("a test is no longer there", 1)
        items[:] = sorted(known, key=lambda item: self._place[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self._told.exists():
            self._told.write_text(report.nodeid, "utf-8")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self._told.exists():
            self._told.write_text(f"{report.nodeid} cannot be collected", "utf-8")


class Observer:
    """Which lines each test runs, how long it takes, and whether it starts processes, into which nobody sees.

    What a fixture runs that several tests share counts for each of them.
    """

    def __init__(self, tree: Path, files: list[str], into: Path) -> None:
        self._tree, self._into = tree, into
        self._coverage = coverage.Coverage(
            data_file=None, include=[str(tree / file) for file in files], config_file=False, messages=False
        )
        self._now = ""
        self._starting: set[str] = set()
        self._seconds: dict[str, float] = defaultdict(float)
        self._users: dict[str, list[str]] = defaultdict(list)  # contexts of shared fixtures → tests
        self._failed: dict[str, str] = {}
        sys.addaudithook(self._hear)
        self._coverage.start()

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in STARTS or (event == "subprocess.Popen" and _is_python(arguments)):
            self._starting.add(self._now)

    def _enter(self, context: str) -> str:
        before, self._now = self._now, context
        self._coverage.switch_context(context)
        return before

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            for definitions in getattr(item, "_fixtureinfo").name2fixturedefs.values():  # noqa: B009
                for one in definitions:
                    self._users[_of_fixture(one)].append(item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        began = time.perf_counter()
        before = self._enter(item.nodeid)
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(LONGEST)
        try:
            return (yield)
        finally:
            signal.alarm(0)
            self._enter(before)
            self._seconds[item.nodeid] = time.perf_counter() - began

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[Any]:
        if fixturedef.scope == "function":
            return (yield)
        before = self._enter(_of_fixture(fixturedef))
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
        data = self._coverage.get_data()
        lines: dict[str, dict[int, list[str]]] = {}
        for file in data.measured_files():
            found = {line: sorted(self._tests(contexts)) for line, contexts in data.contexts_by_lineno(file).items()}
            lines[os.path.relpath(file, self._tree)] = found
        whole = {"lines": lines, "seconds": self._seconds, "starting": sorted(self._tests(self._starting))}
        self._into.write_text(json.dumps(whole | {"failed": self._failed}), "utf-8")

    def _tests(self, contexts: Any) -> set[str]:
        """Those behind the contexts; "" is what runs while modules are imported."""
        return {test for one in contexts for test in self._users.get(one, [one])}


def _of_fixture(fixture: Any) -> str:
    return f"fixture {fixture.baseid} {fixture.argname}"


def _is_python(arguments: tuple[Any, ...]) -> bool:
    command = arguments[1]
    return str(command if isinstance(command, str | bytes) else [*command][0]) == sys.executable


def _too_long(number: int, frame: FrameType | None) -> None:
    pytest.fail(f"takes more than {LONGEST} s")
