"""The one place that chooses numba's options for reading and decoding, and why; the same as in estimators/jit.py.

Explicit signatures and cache=True: compiled once per installation, never in the middle of a run. nogil=True: a kernel
never holds up another thread. The disk cache is valid for one content of the kernel's file and of all that it imports
from this package (times of change do not survive every file system). No fastmath: a NaN must stay a NaN.
"""

import functools
import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast

import numba

Params = ParamSpec("Params")
Result = TypeVar("Result")

INTERPRETED: Final = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"
PACKAGE: Final = Path(__file__).parent


def kernel(signature: str) -> Callable[[Callable[Params, Result]], Callable[Params, Result]]:
    """Compile a function of plain arrays and scalars for exactly this signature, e.g. ``"void(f8[::1], i8)"``."""

    def decorate(function: Callable[Params, Result]) -> Callable[Params, Result]:
        compiled = _dispatcher(function)
        if not INTERPRETED:
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


@functools.cache
def sources(file: Path) -> str:
    """Digest of a file and of all that it imports from this package, directly or not."""
    found: dict[Path, bytes] = {}
    todo = [file]
    while todo:
        source = todo.pop()
        found[source] = source.read_bytes()
        for name in re.findall(rb"^from drivers\.(\w+) import", found[source], re.MULTILINE):
            path = PACKAGE / f"{name.decode()}.py"
            todo += [path] if path.exists() and path not in found else []
    digest = hashlib.blake2b(digest_size=16)
    for source in sorted(found):
        digest.update(found[source])
    return digest.hexdigest()
