"""The order of the tests, which worker runs them, and programs of ours that start at once.

What takes longest comes first, so that all workers end at the same time.
"""

import gc
import logging
import os
import signal
import subprocess
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hil_rig.live import Live
from tests.support.processes.programs import Program, completed, serving

gc.disable()  # while tests are imported and collected hardly anything is let go: it would take a third of that time
# before NumPy is imported: threads of a linear algebra of small matrices only wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# a shell that starts the tests in its background lets them ignore Ctrl-C, and every program that they start with them
signal.signal(signal.SIGINT, signal.default_int_handler)
HERE = Path(__file__).parent
# whole services, what compiles in processes of its own, browsers, minutes of motion; a file is one worker's
LONG = (
    "end_to_end",
    "test_jit.py",
    "support",
    "daq/outlet/dashboard",
    "scenarios",
    "deploy",
    "daq/fleet",
    "daq/processes",
    "hil_rig",
    "estimators/online",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--each-value", action="store_true", help="each value of a parameter, not each combination")


def pytest_configure() -> None:
    """What Hypothesis draws is the same in each run, however slow it is; runs for long draw anew."""
    settings = import_module("hypothesis").settings
    settings.register_profile("same", derandomize=True, deadline=None)
    settings.load_profile("same")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("each_value"):
        kept = with_each_value(items)
        left = set(map(id, kept))
        config.hook.pytest_deselected(items=[one for one in items if id(one) not in left])
        items[:] = kept
    items.sort(key=lambda item: _place(item.path))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """From here on garbage is collected, and all that is there stays until the end."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """What a failed test had open is closed with it: when it was collected later, another test would fail for it."""
    report = yield
    if call.excinfo is not None and not call.excinfo.errisinstance(pytest.skip.Exception):
        with warnings.catch_warnings(action="ignore", category=ResourceWarning):
            traceback.clear_frames(call.excinfo.tb)
            for frame, _line in traceback.walk_tb(call.excinfo.tb):
                _ = frame.f_locals  # the copy that pytest has looked at is renewed, too
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Any:
    """Slow tests by our own groups: the marker of pytest-xdist 3.8 has no effect under pytest 9.2."""
    if config.getvalue("dist") != "loadgroup":
        return None
    scheduler = import_module("xdist.scheduler").LoadScopeScheduling(config, log)
    scheduler._split_scope = worker_group
    return scheduler


def worker_group(nodeid: str) -> str:
    """What one worker runs: a test, or all of tests/deploy, whose services have the ports that a user's have."""
    return "tests/deploy" if nodeid.startswith("tests/deploy/") else nodeid


def _place(file: Path) -> int:
    """The place of a file of tests among the long ones; after these where it is none of them."""
    name = file.relative_to(HERE).as_posix() if file.is_relative_to(HERE) else ""
    return next((place for place, one in enumerate(LONG) if name.startswith(one)), len(LONG))


def with_each_value(items: list[pytest.Item]) -> list[pytest.Item]:
    """Those of whose parameters one has a value that no test of the same function before them had.

    So every line of each `parametrize` runs, and those of several do not multiply, but where they matter together:
    those are marked `combined`.
    """
    seen: set[tuple[object, ...]] = set()
    kept = []
    for item in items:
        values = {(item.nodeid.split("[")[0], *value) for value in _values(item)}
        if not values or values - seen or item.get_closest_marker("combined"):
            kept.append(item)
        seen |= values
    return kept


def _values(item: pytest.Item) -> Iterator[tuple[object, ...]]:
    """What each `parametrize` gives a test: its names, and which objects they are; a fixture's parameter, too."""
    case = getattr(item, "callspec", None)
    params = dict(case.params) if case else {}
    for mark in item.iter_markers("parametrize"):
        told = mark.args[0]
        names = [one.strip() for one in told.split(",")] if isinstance(told, str) else list(told)
        yield *names, *(id(params.pop(name)) for name in names)
    for name, value in params.items():
        yield name, id(value)


@pytest.fixture(scope="module", autouse=True)
def _no_log_handler_is_left() -> Iterator[None]:
    """A handler that a command has set up writes to a stream that pytest closes: every later line would be an error."""
    before = _plain_handlers()
    yield
    assert _plain_handlers() == before, "run the command in a process of its own: run_program"


def _plain_handlers() -> list[logging.Handler]:
    """Those of the root logger that are not pytest's."""
    return [one for one in logging.getLogger().handlers if type(one) is logging.StreamHandler]


@pytest.fixture(scope="session")
def program_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of one process that has imported our programs, once for all that are started from it."""
    address = str(tmp_path_factory.mktemp("programs") / "s")
    with serving(address):
        yield address


@pytest.fixture(scope="session")
def forked_programs(program_server: str) -> Iterator[None]:
    """Rigs and services of Live are forked from that process, too."""
    before = Live.start
    Live.start = staticmethod(partial(Program, program_server))
    yield
    Live.start = staticmethod(before)


@pytest.fixture(scope="session")
def run_program(program_server: str) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """run_program(module, *arguments): what is left of a Program that has ended."""
    return partial(completed, program_server)


@pytest.fixture
def start_program(program_server: str) -> Iterator[Callable[..., Program]]:
    """start_program(module, *arguments): a Program, ended with the test."""
    started: list[Program] = []

    def start(module: str, *arguments: object) -> Program:
        started.append(Program(program_server, module, *arguments))
        return started[-1]

    yield start
    for program in started:
        program.close()
