"""A child process forked from the supervisor: everything is imported already, so it works within milliseconds.

The kernel reports a child's death to the supervisor, and kills every child, even one that is stopped or hangs, as soon
as the supervisor dies (Linux: PR_SET_PDEATHSIG).
"""

import contextlib
import ctypes
import gc
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

PR_SET_NAME: Final = 15
PR_SET_PDEATHSIG: Final = 1
M_ARENA_MAX: Final = -8
SMAPS: Final = Path("/proc/self/smaps")
MADV_DONTNEED: Final = 4
# lines of /proc/self/smaps, see proc(5)
MAPPING: Final = re.compile(r"[0-9a-f]+-[0-9a-f]+ ")
READ_ONLY_FILE: Final = re.compile(r"(?P<first>[0-9a-f]+)-(?P<end>[0-9a-f]+) r-.p \S+ \S+ \d+ +/")
NOTHING_WRITTEN: Final = ["Anonymous:", "0", "kB"]
STOPS: Final = (signal.SIGINT, signal.SIGTERM)


class Child:
    """A child process, and its exit code once it has ended (negative: the signal that killed it)."""

    def __init__(self, name: str, work: Callable[[], int]) -> None:
        """Fork; `work` runs in the child and returns its exit code."""
        self.name = name
        self.code: int | None = None
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        parent = os.getpid()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)  # the child must not run our handlers
        self.pid = os.fork()
        if self.pid == 0:
            _live(name, work, parent)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def alive(self) -> bool:
        """Whether the process exists; it may hang or be stopped."""
        if self.code is None:
            try:
                ended, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # its exit code was already collected elsewhere
                ended, status = self.pid, 0
            if ended:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code is None

    def wait(self) -> int:
        """Block until it has ended; returns its exit code."""
        if self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code

    def send(self, number: signal.Signals) -> None:
        """Send a signal if the process is alive."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


def die_with(parent: int) -> None:
    """Let the kernel kill this process when its parent dies; end at once if the parent has died already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """A block without the collector, for what makes millions of objects and no cycles that are worth a tenth of its
    time; so are the processes that it forks.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def give_memory_back() -> None:
    """Return what was freed to the operating system, 4 ms: the C library keeps it where something lies after it."""
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # of glibc alone
        trim(0)


def give_pages_of_files_back() -> None:
    """Let go of what is mapped from files and was not written to, 40 ms: it is read again where it is needed.

    A process that imports the compiler has 70 MB of it mapped, of which those that it forks need nearly nothing.
    """
    madvise = getattr(ctypes.CDLL(None), "madvise", None) if sys.platform == "linux" else None
    if madvise is None:
        return
    with contextlib.suppress(OSError), SMAPS.open(encoding="utf-8", errors="surrogateescape") as mappings:
        mapped: re.Match[str] | None = None
        for line in mappings:
            if MAPPING.match(line):
                mapped = READ_ONLY_FILE.match(line)
            elif mapped is not None and line.split() == NOTHING_WRITTEN:
                first, end = (int(mapped[one], 16) for one in ("first", "end"))
                madvise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), MADV_DONTNEED)


def share_arenas() -> None:
    """Let all threads but the first share one arena of the C library, in this process and in those that it forks.

    Each would get its own, which keeps what was freed in it: 1 to 3 MB a process. The first has one for itself, so that
    no other thread makes it wait.
    """
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):  # of glibc alone
        mallopt(M_ARENA_MAX, 2)


def call_itself(name: str) -> None:
    """Set the process name that ps and top show (15 characters)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode())


def _live(name: str, work: Callable[[], int], parent: int) -> None:
    """Run the child until it exits; never returns. Ctrl-C is handled by the supervisor alone."""
    code = 1
    try:
        os.setsid()
        die_with(parent)
        call_itself(f"jw {name}")
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
        gc.freeze()  # garbage of the parent is not this process's to end: its sockets and threads are not here
        _close_inherited()
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def _close_inherited() -> None:
    """Close the supervisor's sockets: an open copy in the child would keep the connection of the other end alive."""
    with os.scandir("/proc/self/fd") if sys.platform == "linux" else contextlib.nullcontext(()) as found:
        numbers = [int(entry.name) for entry in found]
    for number in numbers:
        if number > 2 and _is_socket(number):
            os.close(number)


def _is_socket(number: int) -> bool:
    import stat

    try:
        return stat.S_ISSOCK(os.fstat(number).st_mode)
    except OSError:
        return False
