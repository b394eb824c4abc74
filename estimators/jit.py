"""The one place that chooses numba's options, and why.

- explicit signatures: compiled when the module is imported or loaded from the disk cache, never in the middle of a run
- cache=True: a service restart must not compile; nogil=True: a kernel never holds up another thread
- error_model="numpy": 1/0 is inf, as in NumPy; Python's model costs a branch per division and raises inside a kernel
- no fastmath: a NaN must stay a NaN, and results must not depend on how rows are cut into batches
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

Params = ParamSpec("Params")
Result = TypeVar("Result")


def kernel(*signatures: str) -> Callable[[Callable[Params, Result]], Callable[Params, Result]]:
    """Compile a function of plain arrays and scalars for exactly these signatures, e.g. ``"void(f8[::1], i8)"``."""
    compiled = numba.njit(list(signatures), cache=True, nogil=True, error_model="numpy", fastmath=False)
    return cast(Callable[[Callable[Params, Result]], Callable[Params, Result]], compiled)


def inline(function: Callable[Params, Result]) -> Callable[Params, Result]:
    """A helper that kernels call: compiled with its caller, typed by use."""
    return cast(
        Callable[Params, Result],
        numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=False, inline="never")(function),
    )
