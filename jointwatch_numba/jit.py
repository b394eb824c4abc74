"""The decorators of kernels, for drivers, estimators and plants alike: compiled by numba, or Python as it stands.

A kernel is Python first. Where the environment has NUMBA_DISABLE_JIT=1 it stays that, and numba is not imported: so a
command that computes next to nothing starts in half the time (`jointwatch check`). Otherwise the module `compiled`
compiles it or loads it from the disk cache, with options that are chosen there.
"""

import os
from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar, cast

Params = ParamSpec("Params")
Result = TypeVar("Result")
Signature = (
    str | tuple[Any, ...]
)  # "void(f8[::1], i8)"; or the arguments one by one: numba's types, their texts, classes of layouts

INTERPRETED: Final = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"


def kernel(*signatures: Signature) -> Callable[[Callable[Params, Result]], Callable[Params, Result]]:
    """Compile a function of arrays, scalars and tuples of them for exactly these signatures."""

    def decorate(function: Callable[Params, Result]) -> Callable[Params, Result]:
        if INTERPRETED:
            return function
        from jointwatch_numba.compiled import compiled  # 0.4 s and 27 MB, which a process without kernels spares

        return cast(Callable[Params, Result], compiled(function, *signatures))

    return decorate


def inline(function: Callable[Params, Result]) -> Callable[Params, Result]:
    """A function that kernels call: compiled with its caller, typed by use."""
    if INTERPRETED:
        return function
    from jointwatch_numba.compiled import part

    return cast(Callable[Params, Result], part(function))


def inline_always(function: Callable[Params, Result]) -> Callable[Params, Result]:
    """As `inline`, and written out in its caller however long it is.

    LLVM calls a long function, and such a call passes seven words for each vector: too much for what every row does.
    """
    if INTERPRETED:
        return function
    from jointwatch_numba.compiled import part

    return cast(Callable[Params, Result], part(function, forceinline=True))
