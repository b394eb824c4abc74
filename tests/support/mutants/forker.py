"""Runs pytest again and again, each time in a process forked from this one, which has imported what is not ours.

    python tests/support/mutants/forker.py

One JSON object a line on stdin, one back on stdout. What is asked: {"tree", "tests": names of tests or files, "marks",
"limit": seconds, "observe": files whose lines are recorded, or none, "into": a file for what was seen}. The answer:
{"code": pytest's, or nothing where the limit was reached, "failed": the first test that failed, "seconds"}. It ends with
its stdin, and with it all that its tests have started.
"""

import contextlib
import ctypes
import importlib
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any, Final

import pytest
from plugins import Chosen, Observer

PREPARED: Final = (
    *("pytest", "xdist.plugin", "coverage"),
    *("hypothesis", "_hypothesis_pytestplugin", "anyio.pytest_plugin", "hypothesis.strategies", "httpx", "jsonschema"),
    *("numpy", "numpy.testing", "numba", "numba.core.caching", "scipy.optimize", "scipy.signal", "scipy.linalg"),
    *("scipy.stats", "scipy.spatial.transform", "scipy.integrate", "scipy.interpolate"),
    *("pydantic", "zmq", "zmq.asyncio", "msgpack", "starlette.applications", "starlette.routing", "uvicorn"),
    *("starlette.responses", "starlette.websockets", "websockets", "prometheus_client", "prometheus_client.parser"),
    *("can", "can.interfaces.virtual", "cantools", "serial", "mcap.reader", "mcap.writer", "zstandard", "rich.live"),
    *("cma", "argcomplete", "tomllib", "multiprocessing.connection", "multiprocessing.spawn", "logging.handlers"),
)
SUBREAPER: Final = 36  # prctl: what the children of this process leave behind becomes its own
DIES_WITH_PARENT: Final = 1
MEMORY: Final = 6 << 30  # bytes of a process of a test: an endless list ends there

prctl = ctypes.CDLL(None, use_errno=True).prctl


def main() -> None:
    """Until stdin ends."""
    prctl(SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks says when it is enough
    for name in PREPARED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    print("ready", flush=True)
    wanted = os.fdopen(os.dup(0), "rb", buffering=0)
    while line := wanted.readline():
        with tempfile.TemporaryDirectory(prefix="m", ignore_cleanup_errors=True) as folder:
            answer = _forked(json.loads(line), Path(folder), wanted.fileno())
        if answer is None:
            return
        print(json.dumps(answer), flush=True)


def _forked(wanted: dict[str, Any], folder: Path, asking: int) -> dict[str, Any] | None:
    began = time.monotonic()
    told = folder / "told"
    child = os.fork()
    if child == 0:
        try:
            _child(wanted, folder, told)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(70)
    descriptor = os.pidfd_open(child)
    ready, _, _ = select.select([descriptor, asking], [], [], wanted["limit"])
    os.close(descriptor)
    code: int | None = None
    if descriptor in ready:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    _end_all()
    if asking in ready:
        return None
    failed = told.read_text("utf-8") if told.exists() else ""
    tail = (folder / "output").read_text("utf-8", "replace")[-3000:]
    return {"code": code, "failed": failed, "seconds": time.monotonic() - began, "output": tail}


def _end_all() -> None:
    """Whatever descends from this process, until nothing does."""
    while True:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split()
        if not children:
            return
        for number in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGKILL)
        for number in children:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(int(number), 0)


def _child(wanted: dict[str, Any], folder: Path, told: Path) -> None:
    os.setsid()
    prctl(DIES_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for place, descriptor in ((0, nothing), (1, output), (2, output)):
        os.dup2(descriptor, place)
    tree = wanted["tree"]
    os.chdir(tree)
    here = Path(__file__)
    sys.path[:] = [tree, *(one for one in sys.path if Path(one) not in (here.parent, here.parents[3]))]
    os.environ["PYTHONPATH"] = tree
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = wanted["observe"] is None
    sys.modules.pop("sitecustomize", None)
    importlib.import_module("sitecustomize")
    plugin: Chosen | Observer
    if wanted["observe"] is None:
        plugin, more = Chosen(wanted["tests"], told), ["-x"]
        places = list(dict.fromkeys(name.partition("::")[0] for name in wanted["tests"]))
    else:
        plugin, more = Observer(Path(tree), wanted["observe"], Path(wanted["into"])), []
        places = wanted["tests"]
    options = [
        "-q",
        *more,
        "-p",
        "no:cacheprovider",
        "--hypothesis-seed=0",
        "--tb=line",
        "--assert=plain",
        f"--basetemp={folder / 't'}",
    ]
    code = pytest.main([*options, "-m", wanted["marks"], *places], plugins=[plugin])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(code))


if __name__ == "__main__":
    main()
