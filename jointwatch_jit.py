"""The one place that chooses numba's options, and why; for kernels of drivers, estimators and plants alike.

- explicit signatures: compiled when the module is imported or loaded from the disk cache, never in the middle of a run
- cache=True: a service restart must not compile; nogil=True: a kernel never holds up another thread
- error_model="numpy": 1/0 is inf, as in NumPy; Python's model costs a branch per division and raises inside a kernel
- the disk cache is valid for one content of the kernel's file and of all that it imports from its own package and from
  ours, directly or not: numba itself looks at the first file only, and at its time of change, which not every file
  system keeps
- no fastmath: a NaN must stay a NaN, and results must not depend on how rows are cut into batches

A module beside the packages, since none of them may import it from another.
"""

import functools
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.runtime.nrt import rtsys
from numba.core.sigutils import _parse_signature_string as parsed
from numba.core.types import unliteral

Params = ParamSpec("Params")
Result = TypeVar("Result")
Signature = (
    str | tuple[Any, ...]
)  # "void(f8[::1], i8)"; or the arguments one by one: numba's types, their texts, classes of layouts

HERE: Final = Path(__file__).parent
PACKAGES: Final = frozenset({"daq", "drivers", "estimators", "hil_rig", "jointwatch_layout"})  # beside this file
INTERPRETED: Final = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"
IMPORT: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(?:\(([^)]*)\)|(.*))|import[ \t]+(.*))$", re.MULTILINE
)
NAME: Final = re.compile(r"[.\w]+")
COMMENT: Final = re.compile(r"#.*")


def kernel(*signatures: Signature) -> Callable[[Callable[Params, Result]], Callable[Params, Result]]:
    """Compile a function of arrays, scalars and tuples of them for exactly these signatures."""

    def decorate(function: Callable[Params, Result]) -> Callable[Params, Result]:
        compiled = _dispatcher(function)
        if not INTERPRETED:
            for signature in signatures:
                compiled.compile(tuple(map(typed, signature)) if isinstance(signature, tuple) else signature)
            compiled.disable_compile()
        return cast(Callable[Params, Result], compiled)

    return decorate


def inline(function: Callable[Params, Result]) -> Callable[Params, Result]:
    """A function that kernels call: compiled with its caller, typed by use."""
    return cast(Callable[Params, Result], _dispatcher(function))


def typed(one: Any) -> Any:
    """numba's type of an argument: of a text such as "f8[::1]", of a class of layouts; a type stays as it is."""
    if isinstance(one, str):
        return parsed(one)  # type: ignore[no-untyped-call]
    return cast(Any, one).numba_type() if isinstance(one, type) else one


@functools.cache  # what this process has imported it does not import again
def stamp(file: Path) -> str:
    """Digest of this file, a kernel's, and all that it imports from its own package and from ours, directly or not."""
    top = _top(file)
    found, todo = {file}, [file]
    while todo:
        new = _source(todo.pop(), top)[1] - found
        found |= new
        todo += new
    digest = hashlib.blake2b(_source(Path(__file__), top)[0], digest_size=16)
    named = {file.relative_to(top.parent if file.is_relative_to(top) else HERE): file for file in found}
    for name in sorted(named):  # by their names within: where the checkout is must not change their order
        digest.update(b"%b %b\n" % (os.fsencode(name), _source(named[name], top)[0]))
    return digest.hexdigest()


def _dispatcher(function: Callable[..., Any]) -> Any:
    compiled: Any = numba.njit(nogil=True, error_model="numpy", fastmath=False)(function)
    if not INTERPRETED:
        compiled._cache = _Kept(function)
        compiled.typeof_pyval = functools.partial(_type_of, compiled.typeof_pyval)
        compiled.get_call_template = functools.partial(_without_literals, compiled.get_call_template)
    return compiled


def _without_literals(resolve: Callable[..., Any], args: Iterable[Any], kws: Mapping[str, Any]) -> Any:
    """The function as a kernel calls it: not compiled once for 0 and once more for any whole number."""
    plain: Callable[[Any], Any] = unliteral
    return resolve([plain(one) for one in args], {name: plain(one) for name, one in kws.items()})


def _type_of(otherwise: Callable[[Any], Any], value: Any) -> Any:
    """numba's type of an argument, asked of the class of a layout: 1.2 us less a call than numba's own search."""
    kind = type(value).__dict__.get("_type")
    return kind if isinstance(kind, numba.types.Type) else otherwise(value)


class _Kept(FunctionCache):
    """Kernels on disk, loaded without what only compiling needs.

    numba first imports all that it can compile, and with it scipy.linalg: 0.5 s of processor time for every process. A
    kernel's machine code needs no more than the allocator; compiling imports the rest by itself.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        digest = stamp(Path(function.__code__.co_filename))
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, digest)  # type: ignore[no-untyped-call]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


class _Files(IndexDataCacheFile):
    """What cannot be read is not there: a file cut short, or an index of an edition whose types have moved."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()  # type: ignore[no-untyped-call]
        except Exception:
            return {}

    def load(self, key: Any) -> Any:
        try:
            return super().load(key)  # type: ignore[no-untyped-call]
        except Exception:
            return None


def _top(file: Path) -> Path:
    """The folder of a file's top-level package."""
    folder = file.parent
    while (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    return folder


@functools.cache
def _source(file: Path, top: Path) -> tuple[bytes, frozenset[Path]]:
    """Digest of a file's content, and the files that it imports from the package."""
    content = file.read_bytes()
    base = top.parent if file.is_relative_to(top) else HERE
    package = list(file.parent.relative_to(base).parts) if file.is_relative_to(base) else []
    named: set[str] = set()
    for module, several, some, plain in IMPORT.findall(content.decode()):
        names = NAME.findall(COMMENT.sub("", several or some or plain))
        if module:
            up = len(module) - len(module.lstrip("."))
            begin = package[: len(package) - up + 1] if up else []
            whole = ".".join([*begin, *filter(None, [module.lstrip(".")])])
            named |= {whole, *(f"{whole}.{name}" for name in names)}
        else:
            named.update(names)
    found = {
        _module(name, top.parent if name.partition(".")[0] == top.name else HERE) for name in named if _ours(name, top)
    }
    return hashlib.blake2b(content, digest_size=16).digest(), frozenset(one for one in found if one is not None)


def _ours(name: str, top: Path) -> bool:
    package = name.partition(".")[0]
    return package == top.name or package in PACKAGES


@functools.cache
def _module(name: str, folder: Path) -> Path | None:
    """The file of a module, of a package in this folder; None for a name within one."""
    path = folder.joinpath(*name.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)
