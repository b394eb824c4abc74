"""The one place that chooses numba's options, and why.

- explicit signatures: compiled when the module is imported or loaded from the disk cache, never in the middle of a run
- cache=True: a service restart must not compile; nogil=True: a kernel never holds up another thread
- error_model="numpy": 1/0 is inf, as in NumPy; Python's model costs a branch per division and raises inside a kernel
- the disk cache is valid for one state of the kernel's file and of all that it imports from this package: numba itself
  looks at the first only, and would go on with an old helper or constant
- no fastmath: a NaN must stay a NaN, and results must not depend on how rows are cut into batches
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast

import numba

Params = ParamSpec("Params")
Result = TypeVar("Result")

INTERPRETED: Final = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"
PACKAGE: Final = Path(__file__).parents[1]


def kernel(*signatures: str) -> Callable[[Callable[Params, Result]], Callable[Params, Result]]:
    """Compile a function of plain arrays and scalars for exactly these signatures, e.g. ``"void(f8[::1], i8)"``."""

    def decorate(function: Callable[Params, Result]) -> Callable[Params, Result]:
        compiled = _dispatcher(function)
        if not INTERPRETED:
            for signature in signatures:
                compiled.compile(signature)
            compiled.disable_compile()
        return cast(Callable[Params, Result], compiled)

    return decorate


def inline(function: Callable[Params, Result]) -> Callable[Params, Result]:
    """A helper that kernels call: compiled with its caller, typed by use."""
    return cast(Callable[Params, Result], _dispatcher(function))


def _dispatcher(function: Callable[..., Any]) -> Any:
    compiled: Any = numba.njit(nogil=True, error_model="numpy", fastmath=False)(function)
    if not INTERPRETED:
        compiled.enable_caching()
        compiled._cache._cache_file._source_stamp = sources(Path(function.__code__.co_filename))
    return compiled


def sources(file: Path) -> tuple[tuple[str, int, int], ...]:
    """A file and what it imports from this package, directly or not: (path, time of change in ns, size)."""
    found: set[Path] = set()
    todo = [file]
    while todo:
        source = todo.pop()
        found.add(source)
        for name in re.findall(
            r"^(?:from|import) estimators\.([\w.]+)", source.read_text(encoding="utf-8"), re.MULTILINE
        ):
            path = PACKAGE.joinpath(*name.split("."))
            options = (path.with_suffix(".py"), path / "__init__.py")
            todo += [option for option in options if option.exists() and option not in found]
    return tuple((str(source), source.stat().st_mtime_ns, source.stat().st_size) for source in sorted(found))
