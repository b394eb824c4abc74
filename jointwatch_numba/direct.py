"""Calls of a kernel from Python without a look at the types of its arguments, where these are known anyway.

numba's dispatcher looks for the type of each argument: half of the 0.7 µs that a call with a layout and two arrays
takes. A kernel that is called for each joint and turn, by code that made its arguments, spares that.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from jointwatch_numba.jit import INTERPRETED

Params = ParamSpec("Params")
Result = TypeVar("Result")


def direct(kernel: Callable[Params, Result]) -> Callable[Params, Result]:
    """The machine code of a kernel of one signature, to be called with exactly its types, one by one and in order.

    Nothing is checked: an array of another type, or one that is not contiguous where the signature wants that, would be
    read as if it were. So it is for arguments that the caller has made itself.
    """
    if INTERPRETED:
        return kernel
    compiled = cast(Any, kernel)
    (signature,) = compiled.nopython_signatures
    return cast(Callable[Params, Result], compiled.overloads[signature.args].entry_point)
