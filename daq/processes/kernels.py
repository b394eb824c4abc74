"""Compiles kernels before they are needed: each one once, on all cores, with a line about each.

A kernel that is not in the disk cache is compiled when its module is first imported: one after the other, without any
output, and deaf to signals. So a command that starts a service calls `ahead` first, which compiles in child processes.
It finds the modules with kernels in the sources and imports a module only after those whose kernels it loads, so that
nothing is compiled twice.
"""

import contextlib
import fcntl
import functools
import hashlib
import importlib
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from daq.processes.carried_kernels import brought_along, misfit
from daq.processes.child import Child, without_collections
from daq.processes.heartbeat import COMPILED, Heartbeats
from daq.processes.logs import log
from estimators.online.compiled import ENDING, LEARNING, OTHER_MODELS

PACKAGES: Final = ("drivers", "estimators", "hil_rig", "daq")
# modules that every service imports, its configuration first
SERVICE: Final = (
    *("daq.config.load", "drivers.decode.decoder"),
    *("daq.core.process", "daq.processes.driver", "daq.outlet.process"),
)
TURN: Final = 300.0  # s to wait for another process that compiles: all kernels take two minutes
LOOK_EVERY: Final = 0.05  # s
KERNEL, INLINE = (re.compile(rf"^@{name}\b", re.MULTILINE) for name in ("kernel", "inline(?:_always)?"))
IMPORT: Final = re.compile(r"^(?:from +([.\w]+) +import *(?:\(([^)]*)\)|(.*))|import +(.*))$", re.MULTILINE)
NAME: Final = re.compile(r"[.\w]+")
COMMENT: Final = re.compile(r"#.*")
EVERYTHING: Final = "everything"  # in the name of a mark: all modules
FIRST: Final = "first-"  # begins the name of a mark: but for the kernels that may be compiled later
STAGES: Final = (LEARNING, (*ENDING, *OTHER_MODELS))  # modules whose kernels may be compiled later, in this order
LOWEST: Final = 19  # niceness of what compiles beside a running service

Job = frozenset[str]  # modules with kernels that load each other, all compiled by the import of one
Say = Callable[[str], None]  # takes a line about the progress


def on_stderr(line: str) -> None:
    """Print a line about the progress at once."""
    print(line, file=sys.stderr, flush=True)


def ahead(roots: Collection[str], say: Say = on_stderr, later: Collection[str] = ()) -> None:
    """Compile the kernels that importing these modules needs and that are missing; silent if none is missing.

    later: modules whose kernels are left out, see `postpone`.

    All of it happens below one child process: an exception here, such as KeyboardInterrupt from a signal handler, ends
    that child at once, and with it the processes that it has forked.
    """
    missing = _missing(roots, FIRST if later else "")
    if not missing or _carried(say):
        return
    say("a first start: the kernels it needs are compiled, once; this takes a minute or two")
    child = Child("compile", partial(_compile, missing, say, later))
    try:
        child.wait()
    finally:
        child.send(signal.SIGKILL)  # it is alive only where an exception has ended the wait


def _missing(roots: Iterable[str], part: str = "") -> list[str]:
    """The modules of these whose kernels are not all compiled; part: FIRST where only those that come first are asked
    for."""
    if _interpreted() or _mark(EVERYTHING).exists():
        return []
    return [root for root in roots if not (_mark(root).exists() or (part and _mark(part + root).exists()))]


def _interpreted() -> bool:
    return os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"


def postpone() -> tuple[str, ...]:
    """Leave the kernels that no joint needs at once for later, where this is a first start; returns their modules.

    To be called before any of them is imported, in the process from which all that use them are forked.
    """
    if not _missing(SERVICE) or misfit(brought_along(), sources()) == "":
        return ()
    later = tuple(one for stage in STAGES for one in stage)
    importlib.import_module("jointwatch_numba.compiled").postpone(later)
    return later


def load_one_of(stage: int) -> bool:
    """Load one kernel of a stage that is compiled; False if all of them are loaded."""
    waiting = _postponed(STAGES[stage])
    if waiting:
        waiting[0]()
    return bool(waiting)


def load_postponed() -> None:
    """Load all kernels that were postponed."""
    for modules in STAGES:
        for finish in _postponed(modules):
            finish()


def _postponed(modules: Collection[str]) -> list[Callable[[], None]]:
    """For each kernel of these modules that is still to be compiled or loaded, a function that does so."""
    if _interpreted():
        return []
    found: list[Callable[[], None]] = importlib.import_module("jointwatch_numba.compiled").postponed(modules)
    return found


class LaterKernels:
    """Compiles what was postponed while the service runs, stage by stage, on what its processes leave of the
    processors."""

    def __init__(self, roots: Collection[str]) -> None:
        """roots: modules whose kernels are all compiled then."""
        self._roots = roots
        self._child: Child | None = None
        self._shared = Heartbeats(0)

    def begin(self, shared: Heartbeats) -> None:
        """Begin in a child process, which says in the shared memory how far it is."""
        self._shared = shared
        self._child = Child("compile", self._compile)

    def check(self) -> None:
        """Note where compiling has failed: then each process compiles by itself what it needs."""
        if self._child is None or self._child.alive():
            return
        if self._child.code != 0:
            log.warning("kernels that are needed later were not compiled: a process that needs one stops meanwhile")
            self._shared.compiled = COMPILED
        self._child = None

    def stop(self) -> None:
        """End it, and wait for its end."""
        if self._child is not None:
            self._child.send(signal.SIGKILL)
            self._child.wait()
            self._child = None

    def _compile(self) -> int:
        os.nice(LOWEST)
        for done, modules in enumerate(STAGES, 1):
            if build(_parts(jobs(modules), frozenset(modules).intersection), _log):
                return 1
            self._shared.compiled = done
        keep(self._roots)
        log.info("all kernels are compiled")
        return 0


def _log(line: str) -> None:
    log.info("kernels that are needed later: %s", line.strip())


def _parts(wanted: Mapping[Job, set[Job]], part: Callable[[Job], Job]) -> dict[Job, set[Job]]:
    """Jobs without the modules that `part` leaves out, and without those that have no others."""
    return {some: {part(one) for one in before} - {Job()} for job, before in wanted.items() if (some := part(job))}


def _carried(say: Say) -> bool:
    """Whether there is a folder of ready kernels that fits this machine; one that does not fit is logged."""
    folder = brought_along()
    why = misfit(folder, sources())
    if why:
        say(f"{folder}: the kernels in it are not used: {why}")
    return why == ""


def _compile(roots: Collection[str], say: Say, later: Collection[str]) -> int:
    """Compile the kernels that importing these modules needs; returns the exit code. later: all but those of these."""
    code = build(_parts(jobs(roots), lambda job: job.difference(later)), say)
    if code == 0:
        loads, some = _sources()[2], set(later)
        keep(FIRST + root if loads.get(root, set()) & some else root for root in roots)
    return code


def jobs(roots: Collection[str] = ()) -> dict[Job, set[Job]]:
    """The jobs that compile the kernels of these modules (none given: all), each with the jobs that come before it.

    The jobs with the longest chain of followers come first.
    """
    files, texts, loads = _sources()
    compiling = {name for name, text in texts.items() if KERNEL.search(text)}
    if roots:
        compiling &= set().union(*(loads[name] for name in roots if name in loads))  # a plug-in's are not in the tree
    found = {name: frozenset(other for other in compiling & loads[name] if name in loads[other]) for name in compiling}
    after = {job: {found[other] for name in job for other in compiling & loads[name]} - {job} for job in found.values()}
    called = {name for name, text in texts.items() if INLINE.search(text)} - compiling
    length = {  # measure of its time: its own sources, and those of functions that are compiled into their caller
        job: sum(files[name].stat().st_size for name in job | (called & set().union(*(loads[one] for one in job))))
        for job in after
    }

    @functools.cache
    def path(job: Job) -> int:
        return length[job] + max((path(other) for other in after if job in after[other]), default=0)

    return {job: after[job] for job in sorted(after, key=lambda job: (-path(job), min(job)))}


@functools.cache
def _sources() -> tuple[dict[str, Path], dict[str, str], dict[str, set[str]]]:
    """File, text and imported modules of each of our modules, by its name."""
    files = {name: file for package in PACKAGES for name, file in _modules(package)}
    texts = {name: file.read_text(encoding="utf-8") for name, file in files.items()}
    graph = {name: _imports(name, text, files) for name, text in texts.items()}
    return files, texts, {name: _reached(name, graph) for name in graph}


def keep(roots: Iterable[str]) -> None:
    """Mark the kernels of these modules as all on the disk."""
    with contextlib.suppress(OSError):  # without the mark the next start checks again, which takes seconds
        for root in roots:
            mark = _mark(root)
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()


def _mark(root: str) -> Path:
    """The file that shows that a module's kernels are compiled; it lies next to them and is deleted with them."""
    return cache_folder() / f"compiled-{_edition()}-{root}"


def kept_text(name: str, make: Callable[[], str]) -> str:
    """A text that follows from these sources and takes long to make: made once, then read from a file next to the
    kernels."""
    file = cache_folder() / f"{name}-{_edition()}"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if text := file.read_text(encoding="utf-8"):
            return text
    text = make()
    with contextlib.suppress(OSError):  # without the file the next start makes it again
        file.parent.mkdir(parents=True, exist_ok=True)
        whole = file.with_name(f"{file.name}.{os.getpid()}")
        whole.write_text(text, encoding="utf-8")
        whole.replace(file)
    return text


def cache_folder() -> Path:
    """The folder, next to the kernels, of what this user's processes know about them."""
    here = Path(__file__).parent
    if folder := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(folder, "jointwatch")
    if os.access(here, os.W_OK):
        return here / "__pycache__"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "jointwatch")


@contextlib.contextmanager
def turn(patience: float = TURN) -> Iterator[None]:
    """A block that one process of this user runs at a time, so that no two compile the same kernels.

    It runs all the same, with a warning, where the lock cannot be had in `patience` seconds: this costs time only.
    """
    file = cache_folder() / "kernels.lock"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        log.warning("%s: cannot be opened: %s; kernels are loaded without waiting for other processes", file, reason)
        yield
        return
    try:
        if not _locked(lock, time.monotonic() + patience):
            log.warning(
                "%s: locked by another process for %g s; kernels are loaded without waiting for it (who: fuser %s)",
                file, patience, file,
            )  # fmt: skip
        yield
    finally:
        os.close(lock)


def _locked(lock: int, deadline: float) -> bool:
    """Lock an open file; False where another process still has it at the deadline (monotonic s)."""
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(LOOK_EVERY)
        else:
            return True


@functools.cache
def sources() -> str:
    """A digest of the sources of all packages, wherever they are."""
    digest = hashlib.blake2b(digest_size=12)
    for package in PACKAGES:
        for name, file in sorted(_modules(package)):
            digest.update(name.encode() + file.read_bytes())
    return digest.hexdigest()


@functools.cache
def _edition() -> str:
    """A digest of these sources and where they are, this Python and this numba."""
    environment = f"{sys.version} {version('numba')} {Path(__file__).parent} {sources()}"
    return hashlib.blake2b(environment.encode(), digest_size=12).hexdigest()


@without_collections()
def build(wanted: Mapping[Job, set[Job]], say: Say = on_stderr) -> int:
    """Import each job's modules in a child process, in this order; returns 1 if one failed, otherwise 0."""
    for shared in ("pydantic", "scipy.optimize"):  # what the children share is loaded here, once,
        importlib.import_module(shared)
    importlib.import_module("jointwatch_numba.compiled").warm()  # and so is what nearly every kernel needs of numba
    waiting = list(wanted)
    running: dict[int, tuple[Job, float]] = {}  # by process id: since when, monotonic s
    done: set[Job] = set()
    failed = 0
    while waiting or running:
        ready = (job for job in waiting if wanted[job] <= done)
        job = next(ready, None) if len(running) < (os.cpu_count() or 1) else None
        if job is not None:
            waiting.remove(job)
            running[Child("compile", partial(_import, job)).pid] = job, time.monotonic()
            continue
        pid, status, used = os.wait4(-1, 0)
        if pid not in running:  # a process that somebody else has started and not waited for
            continue
        job, began = running.pop(pid)
        done.add(job)
        failed |= status != 0
        if status == 0:  # the next children find it loaded
            _import(job)
        clock, own = time.monotonic() - began, used.ru_utime + used.ru_stime
        took = f"{clock:.1f} s, {own:.1f} s of processor time" if status == 0 else "failed"
        say(f"{len(done):3} of {len(wanted)}  {min(job)} {took}")
    return int(failed)


def _import(job: Job) -> int:
    """Compile a job's kernels, in its own process; returns the exit code."""
    try:
        for name in sorted(job):
            importlib.import_module(name)
        for finish in _postponed(job):
            finish()
    except Exception as error:
        on_stderr(f"jointwatch compile: {min(job)}: {error!r}")
        return 1
    return 0


def _modules(package: str) -> Iterator[tuple[str, Path]]:
    """Every module of a package: dotted name, file."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"expected the package {package} to be installed")
    folder = Path(spec.origin).parent
    for file in folder.rglob("*.py"):
        parts = (package, *file.relative_to(folder).with_suffix("").parts)
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


def _imports(name: str, text: str, known: Collection[str]) -> set[str]:
    """Our modules that are imported together with this one: those that begin a line, not those within a function."""
    wanted = {name}
    for module, several, some, plain in IMPORT.findall(text):
        names = NAME.findall(COMMENT.sub("", several or some or plain))
        wanted.update([module, *(f"{module}.{one}" for one in names)] if module else names)
    parts = [one.split(".") for one in wanted]
    return {".".join(one[:end]) for one in parts for end in range(1, len(one) + 1)} & set(known)


def _reached(name: str, graph: Mapping[str, set[str]]) -> set[str]:
    found, todo = {name}, [name]
    while todo:
        new = graph[todo.pop()] - found
        found |= new
        todo += new
    return found
