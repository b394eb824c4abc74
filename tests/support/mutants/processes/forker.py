"""Runs pytest again and again, each time in a process forked from this one, which has imported what is not ours.

    python tests/support/mutants/processes/forker.py [MODULE …]

One JSON object a line on stdin, one back on stdout. Asked is {"tree", "tests": names of tests or of their files,
"marks", "limit": seconds, "into": a folder where the tests are observed, see startup.py, or null}. The answer is
{"code": pytest's, or null where the limit was reached, "failed": the first test that failed, "seconds", "processor":
seconds of it, "output"}. It ends with its stdin, and with it all that its tests have started.
"""

import contextlib
import ctypes
import gc
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
from startup import ORDERS, substitute

SUBREAPER: Final = 36  # prctl: what the children of this process leave behind becomes its own
DIES_WITH_PARENT: Final = 1
MEMORY: Final = 6 << 30  # bytes of a process of a test: an endless list ends there

WOKEN, WAKING = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)  # a byte as often as a process ends

prctl = ctypes.CDLL(None, use_errno=True).prctl


def main() -> None:
    """Until stdin ends."""
    prctl(SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(WAKING)
    for name in sys.argv[1:]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()  # no fork has to look at what is here
    print("ready", flush=True)
    asking = os.fdopen(os.dup(0), "rb", buffering=0)
    while line := asking.readline():
        with tempfile.TemporaryDirectory(prefix="m", ignore_cleanup_errors=True) as folder:
            answer = _forked(json.loads(line), Path(folder), asking.fileno())
        if answer is None:
            return
        print(json.dumps(answer), flush=True)


def _forked(wanted: dict[str, Any], folder: Path, asking: int) -> dict[str, Any] | None:
    """The answer; none where it is no longer awaited."""
    began, before = time.monotonic(), _processor()
    child = os.fork()
    if child == 0:
        try:
            _child(wanted, folder)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(70)
    code = None
    while code is None and (left := began + wanted["limit"] - time.monotonic()) > 0.0:
        ready, _, _ = select.select([WOKEN, asking], [], [], left)
        if WOKEN in ready:
            os.read(WOKEN, 4096)
        code = _ended().get(child)
        if asking in ready:
            _end_all()
            return None
    _end_all()
    told, output = folder / "told", (folder / "output").read_text("utf-8", "replace")
    return {
        "code": code,
        "failed": told.read_text("utf-8") if told.exists() else "",
        "seconds": time.monotonic() - began,
        "processor": _processor() - before,
        "output": output[-3000:],
    }


def _ended() -> dict[int, int]:
    """Exit codes of processes that have ended, by number; also collects those whose parent has ended before."""
    found = {}
    with contextlib.suppress(ChildProcessError):
        while (one := os.waitpid(-1, os.WNOHANG))[0]:
            found[one[0]] = os.waitstatus_to_exitcode(one[1])
    return found


def _processor() -> float:
    """Seconds of it that processes have taken which have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _end_all() -> None:
    """Whatever descends from this process, until nothing does."""
    while children := Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split():
        for number in map(int, children):
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(number, 0)


def _child(wanted: dict[str, Any], folder: Path) -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    prctl(DIES_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    output, nothing = os.open(folder / "output", os.O_WRONLY | os.O_CREAT), os.open(os.devnull, os.O_RDONLY)
    for place, descriptor in ((0, nothing), (1, output), (2, output)):
        os.dup2(descriptor, place)
    tree, here = wanted["tree"], Path(globals().pop("__file__"))  # else what tests spawn would run this file, too
    os.chdir(tree)
    sys.path[:] = [tree, *(one for one in sys.path if Path(one) not in (here.parent, here.parents[3]))]
    os.environ["PYTHONPATH"] = tree
    orders = json.loads(Path(tree, ORDERS).read_text("utf-8"))
    plugin: Chosen | Observer
    if wanted["into"] is None:
        sys.dont_write_bytecode, os.environ["PYTHONDONTWRITEBYTECODE"] = True, "1"
        substitute(orders)
        plugin, more = Chosen(wanted["tests"], folder / "told"), ["-x"]
    else:
        plugin, more = Observer(orders["observe"], Path(wanted["into"])), []
    places = list(dict.fromkeys(name.partition("::")[0] for name in wanted["tests"]))
    options = ["-q", *more, "-p", "no:cacheprovider", "--tb=line", "--assert=plain", "--hypothesis-seed=0"]
    code = pytest.main([*options, f"--basetemp={folder / 't'}", "-m", wanted["marks"], *places], plugins=[plugin])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(code))


if __name__ == "__main__":
    main()
