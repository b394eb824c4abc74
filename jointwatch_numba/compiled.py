"""numba as kernels use it: its options, and why; a disk cache by content; kernels loaded without what compiling needs.

- explicit signatures: compiled when the module is imported or loaded from the disk cache, never in the middle of a run
- cache=True: a service restart must not compile; nogil=True: a kernel never holds up another thread
- error_model="numpy": 1/0 is inf, as in NumPy; Python's model costs a branch per division and raises inside a kernel
- the disk cache, and a folder of kernels that was brought along, are valid for one content of the kernel's file and of
  all that it imports from its own package and from ours, directly or not: numba itself looks at the first file only,
  and at its time of change, which not every file system keeps
- no fastmath: a NaN must stay a NaN, and results must not depend on how rows are cut into batches

jointwatch_numba.jit has the decorators, and imports this module where kernels are compiled.
"""

import fcntl
import functools
import hashlib
import math
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from jointwatch_numba import numba_alone  # noqa: F401  # before numba

# isort: split
import numba
import numpy as np
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.sigutils import _parse_signature_string as parsed
from numba.core.types import unliteral

from jointwatch_numba.jit import Signature
from jointwatch_numba.library import Unpickler, prepare

OPTIONS: Final[dict[str, Any]] = {"nopython": True, "nogil": True, "error_model": "numpy", "fastmath": False}
WITHOUT_WRAPPERS: Final = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
HERE: Final = Path(__file__).parent.parent
PACKAGES: Final = frozenset({"daq", "drivers", "estimators", "hil_rig", "jointwatch_numba"})
IMPORT: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(?:\(([^)]*)\)|(.*))|import[ \t]+(.*))$", re.MULTILINE
)
# a folder of compiled kernels that a wheel or an image brings along, see `carry`
CARRIED: Final = Path(os.environ.get("JOINTWATCH_KERNELS") or HERE / "jointwatch_kernels")
INIT: Final = "__init__.py"
NAME: Final = re.compile(r"[.\w]+")
COMMENT: Final = re.compile(r"#.*")


def compiled(function: Callable[..., Any], *signatures: Signature) -> Any:
    """The function, compiled for exactly these signatures."""
    if function.__module__ in _POSTPONED:
        made = _Postponed(function, signatures)
        _POSTPONED[function.__module__].append(made)
        return made
    return _complete(_dispatcher(function), signatures)


def postpone(modules: Iterable[str]) -> None:
    """Leave the kernels of these modules, which are still to be imported, to `finish`, or to their first use."""
    for module in modules:
        _POSTPONED.setdefault(module, [])


def postponed(modules: Iterable[str]) -> list[Callable[[], None]]:
    """For each kernel of these modules that is left to be compiled or loaded, a function that does so."""
    return [made.finish for module in modules for made in _POSTPONED.get(module, ()) if made.waits]


def _complete(made: Any, signatures: Iterable[Signature]) -> Any:
    for signature in signatures:
        made.compile(tuple(map(typed, signature)) if isinstance(signature, tuple) else signature)
    made.disable_compile()
    return made


def part(function: Callable[..., Any], **options: bool) -> Any:
    """A function that kernels call, typed by use. options: of numba, besides those of all kernels."""
    return _Part(function, options)


@functools.cache
def warm() -> None:
    """Have numba import and compile what nearly every kernel needs of it, once in a process; none of it is kept.

    A process that compiles its first kernel spends 2 s on it; processes that are forked afterwards share the result.
    numba keeps apart what it has compiled for kernels and for their parts, whose options differ.
    """
    prepare(cpu_target.target_context)
    numba.jit("f8[::1](f8[:, ::1], i8)", **OPTIONS)(_usual)
    numba.jit("f8(f8[::1], i8)", **OPTIONS | WITHOUT_WRAPPERS)(_usual_of_parts)


def _usual(table: Any, at: int) -> Any:
    """What most kernels do: allocate, cut, fill, loop, call functions of numbers and of arrays."""
    row, spare = np.zeros(table.shape[1]), np.empty((2, 2))
    marks, ones, several = np.zeros(at, np.bool_), np.ones(at), np.zeros((2, 2))
    row[:at] = table[0, :at]
    row[at:] = 0.0
    spare[0] = np.sqrt(np.abs(row[:2])) * 2.0 + np.sum(table) + several[0]
    for place, one in enumerate(row):
        if np.isfinite(one) and np.all(table[0] > one):
            row[place] = max(one, math.exp(-(table[1, place] ** 2)), math.sin(one), spare[0, 0])
            row[min(place, at)] = min(max(row[place], one), row[0])
            marks[max(place, int(one))] = np.empty(at)[0] > ones[0]
    return row.copy()


def _usual_of_parts(row: Any, at: int) -> Any:
    """What most parts of kernels do."""
    spare, square = np.empty(at), np.empty((2, 2))
    square[0] = row[:2] + np.zeros(2)
    spare[max(at, int(row[0]))] = max(min(row[0], row[1]), square[0, 0])
    return spare[min(at, int(at))]


def typed(one: Any) -> Any:
    """numba's type of an argument: of a text such as "f8[::1]", of a class of layouts; a type stays as it is."""
    if isinstance(one, str):
        return parsed(one)  # type: ignore[no-untyped-call]
    return cast(Any, one).numba_type() if isinstance(one, type) else one


def carry(folder: Path) -> int:
    """Copy the kernels of all modules that this process has imported; returns how many. Raises OSError.

    A process whose CARRIED is this folder loads them from there, wherever its sources are, if these, numba and the
    processor are the same.
    """
    return sum(kept.carry(folder) for kept in _KEPT)


def processor() -> tuple[str, ...]:
    """What the machine code is made for: architecture and system, processor, its features."""
    return cast(tuple[str, ...], cpu_target.target_context.codegen().magic_tuple())


@functools.cache  # what this process has imported it does not import again
def stamp(file: Path) -> str:
    """Digest of this file, a kernel's, and all that it imports from its own package and from ours, directly or not."""
    top = _top(file)
    found, todo = {os.fspath(file)}, [os.fspath(file)]
    while todo:
        new = _source(todo.pop(), top).imports - found
        found |= new
        todo += new
    digest = hashlib.blake2b(digest_size=16)
    for ours in (Path(__file__), Path(__file__).with_name("library.py")):
        digest.update(_source(os.fspath(ours), top).digest)
    # in the order of their names within: where the checkout is must not change it
    for one in sorted((_source(file, top) for file in found), key=lambda one: one.name):
        digest.update(b"%b %b\n" % (os.fsencode(one.name), one.digest))
    return digest.hexdigest()


def _dispatcher(function: Callable[..., Any]) -> Any:
    made: Any = numba.jit(**OPTIONS)(function)
    made._cache = _Kept(function)
    made.get_call_template = functools.partial(_without_literals, made.get_call_template)
    return made


class _Postponed(CPUDispatcher):
    """A kernel that is compiled, or loaded from the disk, by `finish`, or else when it is first used."""

    def __init__(self, function: Callable[..., Any], signatures: Iterable[Signature]) -> None:
        super().__init__(function, targetoptions=OPTIONS)
        self._cache = _Kept(function)
        self._signatures: tuple[Signature, ...] = tuple(signatures)

    @property
    def waits(self) -> bool:
        """Whether it is still to be compiled or loaded."""
        return bool(self._signatures)

    def finish(self) -> None:
        """Compile it, or load it from the disk, if that is still to be done."""
        if signatures := self._signatures:
            self._signatures = ()
            _complete(self, signatures)

    def get_call_template(self, args: Iterable[Any], kws: Any) -> Any:
        """The function as a kernel calls it."""
        self.finish()
        return _without_literals(super().get_call_template, args, kws)

    @property
    def nopython_signatures(self) -> Any:
        """The signatures that it is compiled for."""
        self.finish()
        return super().nopython_signatures

    def __call__(self, *args: Any) -> Any:
        """Call it from Python."""
        self.finish()
        return super().__call__(*args)


class _Part(CPUDispatcher):
    """A function that kernels call; it has no machine code of its own, see jointwatch_numba.library.Library."""

    def __init__(self, function: Callable[..., Any], options: dict[str, bool]) -> None:
        super().__init__(function, targetoptions=OPTIONS | WITHOUT_WRAPPERS | options)
        self._cache = _Kept(function, "-part")

    def get_call_template(self, args: Iterable[Any], kws: Any) -> Any:
        """The function as a kernel calls it: not compiled once for 0 and once more for any whole number."""
        return _without_literals(super().get_call_template, args, kws)

    def __call__(self, *args: Any) -> Any:
        """Call it from Python, as tests do."""
        return self.whole(*args)

    @functools.cached_property
    def whole(self) -> Any:
        """The function as a kernel, compiled for what it is called with."""
        return _dispatcher(self.py_func)


def _without_literals(resolve: Callable[..., Any], args: Iterable[Any], kws: Mapping[str, Any]) -> Any:
    """The function as a kernel calls it: not compiled once for 0 and once more for any whole number."""
    plain: Callable[[Any], Any] = unliteral
    return resolve([plain(one) for one in args], {name: plain(one) for name, one in kws.items()})


class _Kept(FunctionCache):
    """Kernels on disk, loaded without what only compiling needs.

    numba first imports all that it can compile, and with it scipy.linalg: 0.5 s of processor time for every process. A
    kernel's machine code needs no more than the allocator; compiling imports the rest by itself. The same holds for the
    intermediate code and for numba's own modules, see jointwatch_numba.library.
    """

    def __init__(self, function: Callable[..., Any], ending: str = "") -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._ending = ending
        file = Path(function.__code__.co_filename)
        self._digest, self._folder = stamp(file), file.parent.relative_to(HERE) if file.is_relative_to(HERE) else None
        self._cache_file = self._files(self._cache_path)
        self._carried = None if self._folder is None else self._files(CARRIED / self._folder)
        if not ending:
            _KEPT.append(self)

    def _files(self, folder: Path | str) -> "_Files":
        return _Files(os.fspath(folder), self._impl.filename_base + self._ending, self._digest)  # type: ignore[no-untyped-call]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        prepare(target_context)
        with self._guard_against_spurious_io_errors():
            key = self._index_key(sig, target_context.codegen())  # type: ignore[no-untyped-call]
            data = self._load(key)
            if data is None:
                return None
            found = self._impl.rebuild(target_context, data)
            found = found._replace(type_annotation="")  # 14 kB, for numba's own reports
            found.library.leave_on_disk(lambda: self._load_again(key, found.fndesc.mangled_name))
            return found

    def _load(self, key: Any) -> tuple[Any, ...] | None:
        """A kernel as it is on the disk; None where it is not."""
        found = self._cache_file.load(key)  # type: ignore[no-untyped-call]
        return found or (self._carried.load(key) if self._carried else None)

    def _load_again(self, key: Any, name: str) -> Any:
        """The code of a kernel that this process has loaded. Raises ImportError where the disk has another one by now.

        Another one has another name. What calls it by the old name would be kept, and end every process that loads it.
        """
        found = self._load(key)
        if found is None or found[1].mangled_name != name:
            raise ImportError(
                f"{self._py_func.__qualname__}: kernels on the disk have changed since this process began, restart it"
            )
        return found[0]

    def carry(self, folder: Path) -> int:
        """Copy what is compiled for this processor; returns how many files. Raises OSError."""
        if self._folder is None:  # a plug-in's
            return 0
        folder = folder / self._folder
        wanted = processor()
        found = {key: name for key, name in self._cache_file._load_index().items() if key[1] == wanted}  # type: ignore[no-untyped-call]
        folder.mkdir(parents=True, exist_ok=True)
        for name in found.values():
            shutil.copyfile(Path(self._cache_path, name), folder / name)
        self._files(folder)._save_index(found)  # type: ignore[no-untyped-call]
        return len(found)


class _Files(IndexDataCacheFile):
    """What cannot be read is not there: a file cut short, or an index of an edition whose types have moved."""

    def _load_index(self) -> dict[Any, str]:
        try:
            return cast(dict[Any, str], super()._load_index())  # type: ignore[no-untyped-call]
        except Exception:
            return {}

    def load(self, key: Any) -> tuple[Any, ...] | None:
        try:
            return cast("tuple[Any, ...] | None", super().load(key))  # type: ignore[no-untyped-call]
        except Exception:
            return None

    def save(self, key: Any, data: Any) -> None:
        """What another process has kept meanwhile stays: whoever has loaded it reads its intermediate code later, in
        which the same function has another name. Raises OSError."""
        folder = os.open(self._cache_path, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            if self.load(key) is None:
                super().save(key, data)  # type: ignore[no-untyped-call]
        finally:
            os.close(folder)

    def _load_data(self, name: str) -> Any:
        with Path(self._data_path(name)).open("rb") as file:  # type: ignore[no-untyped-call]
            return Unpickler(file).load()


_KEPT: Final[list[_Kept]] = []  # of every kernel of this process
_POSTPONED: Final[dict[str, list[_Postponed]]] = {}  # by module, all that `postpone` was called with


def _top(file: Path) -> Path:
    """The folder of a file's top-level package."""
    folder = file.parent
    while (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    return folder


class _Source(NamedTuple):
    """A file that a kernel is made of."""

    name: Path  # within the folder of its package
    digest: bytes  # of its content
    imports: frozenset[str]  # paths of files of its package and of ours; texts, since each start compares thousands


@functools.cache
def _source(path: str, top: Path) -> _Source:
    """What a file is, and what it imports; top: the package of the kernel."""
    file = Path(path)
    content = file.read_bytes()
    base = top.parent if file.is_relative_to(top) else HERE
    package = list(file.parent.relative_to(base).parts) if file.is_relative_to(base) else []
    found: set[str | None] = set()
    for module, several, some, plain in IMPORT.findall(content.decode()):
        names = NAME.findall(COMMENT.sub("", several or some or plain))
        if module:
            up = len(module) - len(module.lstrip("."))
            begin = package[: len(package) - up + 1] if up else []
            whole = ".".join([*begin, *filter(None, [module.lstrip(".")])])
            place = _module(whole, top)
            found.add(place)
            if place is not None and not place.endswith(INIT):  # a file that is no package: what it has is in it
                continue
            names = [f"{whole}.{name}" for name in names]
        found.update(_module(name, top) for name in names)
    imports = frozenset(one for one in found if one is not None)
    return _Source(file.relative_to(base), hashlib.blake2b(content, digest_size=16).digest(), imports)


@functools.cache
def _module(name: str, top: Path) -> str | None:
    """The file of a module of the package at `top` or of ours; None for any other, and for a name within one."""
    package = name.partition(".")[0]
    if package != top.name and package not in PACKAGES:
        return None
    path = (top.parent if package == top.name else HERE).joinpath(*name.split("."))
    return next((os.fspath(file) for file in (path.with_suffix(".py"), path / INIT) if file.is_file()), None)
