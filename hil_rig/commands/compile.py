"""`jointwatch compile`: every kernel compiled and kept on disk, as many at a time as there are cores.

Nobody needs to call it: what is not compiled yet is compiled when it is first imported, one kernel after the other.
The modules with kernels are found in the sources, and each is imported in a process of its own as soon as those whose
kernels it loads have been: nothing is compiled twice.
"""

import argparse
import ast
import contextlib
import functools
import hashlib
import importlib
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

PACKAGES: Final = ("drivers", "estimators", "hil_rig", "daq")
# the processes of a running service, and the demo's rig and wire; they load the rest where they are asked for it
LIVE: Final = (
    "daq.core.process",
    "daq.processes.driver",
    "daq.outlet.process",
    "hil_rig.__main__",
    "hil_rig.plants.joints.two_mass",
    "drivers.can.slcan",
)

Job = frozenset[str]  # modules with kernels that load each other, all compiled by the import of one


def main() -> int:
    """Exit code: 0, or 1 if a module cannot be imported."""
    parser = argparse.ArgumentParser(prog="jointwatch compile", description=__doc__.splitlines()[0])
    parser.add_argument("--live", action="store_true", help="only what a joint without nonlinear parameters needs")
    options = parser.parse_args()
    began = time.monotonic()
    code = build(jobs(options.live))
    if code == 0:
        _keep(_mark())
    print(f"kernels compiled, in {time.monotonic() - began:.0f} s", file=sys.stderr)
    return code


def jobs(live: bool = False) -> dict[Job, set[Job]]:
    """What is to be imported, and after which others; the longest first, with what waits for it."""
    files = {name: file for package in PACKAGES for name, file in _modules(package)}
    trees = {name: ast.parse(file.read_bytes()) for name, file in files.items()}
    graph = {name: set(_imports(name, tree, files)) for name, tree in trees.items()}
    loads = {name: _reached(name, graph) for name in graph}
    compiling = {name for name, tree in trees.items() if any(map(_is_kernel, tree.body))}
    if live:
        compiling &= set().union(*(loads[name] for name in LIVE))
    found = {name: frozenset(other for other in compiling & loads[name] if name in loads[other]) for name in compiling}
    after = {job: {found[other] for name in job for other in compiling & loads[name]} - {job} for job in found.values()}
    called = {name for name, tree in trees.items() if any(_decorated(one, "inline") for one in tree.body)} - compiling
    length = {  # what takes its time: its own sources, and those of functions that are compiled with their caller
        job: sum(files[name].stat().st_size for name in job | (called & set().union(*(loads[one] for one in job))))
        for job in after
    }

    @functools.cache
    def path(job: Job) -> int:
        return length[job] + max((path(other) for other in after if job in after[other]), default=0)

    return {job: after[job] for job in sorted(after, key=lambda job: (-path(job), min(job)))}


def ahead() -> None:
    """At a first start: compile what a live joint needs, each kernel once, with its progress on stderr."""
    mark = _mark()
    if mark.exists():
        return
    wanted = jobs(live=True)
    print(f"a first start: compiling {len(wanted)} groups of kernels, once", file=sys.stderr, flush=True)
    if build(wanted) == 0:
        _keep(mark)


def _mark() -> Path:
    """The file that says that exactly these sources have been compiled for this Python and numba."""
    digest = hashlib.blake2b(f"{sys.version} {version('numba')}".encode(), digest_size=12)
    for package in PACKAGES:
        for _, file in sorted(_modules(package)):
            digest.update(str(file).encode() + file.read_bytes())
    folder = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(folder, "jointwatch", f"live-{digest.hexdigest()}")


def _keep(mark: Path) -> None:
    with contextlib.suppress(OSError):  # then it is done again, in seconds
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def build(wanted: Mapping[Job, set[Job]]) -> int:
    """Import each in a process forked from this one, in this order; 1 if one failed."""
    waiting = list(wanted)
    running: dict[int, tuple[Job, float]] = {}
    done: set[Job] = set()
    failed = 0
    while waiting or running:
        ready = (job for job in waiting if wanted[job] <= done)
        job = next(ready, None) if len(running) < (os.cpu_count() or 1) else None
        if job is not None:
            waiting.remove(job)
            running[_forked(job)] = job, time.monotonic()
            continue
        pid, status, used = os.wait4(-1, 0)
        job, began = running.pop(pid)
        done.add(job)
        failed |= status != 0
        clock, own = time.monotonic() - began, used.ru_utime + used.ru_stime
        took = f"{clock:.1f} s, {own:.1f} s of processor time" if status == 0 else "failed"
        print(f"{len(done):3} of {len(wanted)}  {min(job)} {took}", file=sys.stderr, flush=True)
    return int(failed)


def _forked(job: Job) -> int:
    """The process that compiles it; what it shares with the next is loaded here, once."""
    for shared in ("jointwatch_jit", "pydantic", "scipy.optimize"):
        importlib.import_module(shared)

    pid = os.fork()
    if pid:
        return pid
    try:
        for name in sorted(job):
            importlib.import_module(name)
        sys.stderr.flush()
        os._exit(0)
    except BaseException as error:
        print(f"jointwatch compile: {min(job)}: {error!r}", file=sys.stderr, flush=True)
        os._exit(1)


def _modules(package: str) -> Iterator[tuple[str, Path]]:
    """Every module of a package: dotted name, file."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"expected the package {package} to be installed")
    folder = Path(spec.origin).parent
    for file in folder.rglob("*.py"):
        parts = (package, *file.relative_to(folder).with_suffix("").parts)
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


def _imports(name: str, tree: ast.Module, known: Iterable[str]) -> Iterator[str]:
    """Of our modules, those that are imported when this one is."""
    for node in tree.body:
        found = []
        if isinstance(node, ast.Import):
            found = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found = [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
        for other in (*found, name):
            parts = other.split(".")
            yield from {".".join(parts[: end + 1]) for end in range(len(parts))} & set(known)


def _reached(name: str, graph: Mapping[str, set[str]]) -> set[str]:
    found, todo = {name}, [name]
    while todo:
        new = graph[todo.pop()] - found
        found |= new
        todo += new
    return found


def _is_kernel(node: ast.stmt) -> bool:
    return _decorated(node, "kernel")


def _decorated(node: ast.stmt, name: str) -> bool:
    """Whether a function carries @name or @name(…)."""
    if not isinstance(node, ast.FunctionDef):
        return False
    used = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
    return any(isinstance(one, ast.Name) and one.id == name for one in used)


if __name__ == "__main__":
    sys.exit(main())
