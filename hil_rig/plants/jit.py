"""The one place that chooses numba's options for the plants: explicit signatures, disk cache, nogil, NumPy's 1/0."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

Params = ParamSpec("Params")
Result = TypeVar("Result")


def kernel(*signatures: str) -> Callable[[Callable[Params, Result]], Callable[Params, Result]]:
    """Compile a function of plain arrays and scalars for exactly these signatures."""
    compiled = numba.njit(list(signatures), cache=True, nogil=True, error_model="numpy", fastmath=False)
    return cast(Callable[[Callable[Params, Result]], Callable[Params, Result]], compiled)


def inline(function: Callable[Params, Result]) -> Callable[Params, Result]:
    """A helper that kernels call: compiled with its caller, typed by use."""
    return cast(
        Callable[Params, Result],
        numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=False, inline="never")(function),
    )
