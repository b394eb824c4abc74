"""Compiled functions as arguments of kernels: by address, so that no kernel is compiled for any one of them."""

from functools import lru_cache
from typing import Any

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core.sigutils import normalize_signature
from numba.extending import typeof_impl

from estimators.numerics.jit import INTERPRETED


class Pointer(numba.types.WrapperAddressProtocol):
    """A kernel of one signature as numba's first-class function type, at a tenth of the cost of its dispatcher."""

    def __init__(self, function: Any) -> None:
        (signature,) = function.nopython_signatures
        result = function.get_compile_result(signature)
        self.type = numba.types.FunctionType(signature)
        self._address = int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))
        self._function = function  # owns the code

    def __wrapper_address__(self) -> int:
        """Where the code lies, as numba's protocol asks."""
        return self._address

    def signature(self) -> Any:
        """The signature, as numba's protocol asks."""
        return self.type.signature


def _type(pointer: Pointer, _context: Any) -> Any:
    return pointer.type


typeof_impl.register(Pointer)(_type)


def calling(signature: str) -> Any:
    """Of numba's `intrinsic`: call, from within a kernel, a kernel of this signature that lies at an address."""
    arguments, result = normalize_signature(signature)  # type: ignore[no-untyped-call]

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        types = [context.get_value_type(one) for one in (result, *arguments)]
        where = ir.FunctionType(types[0], types[1:]).as_pointer()
        return builder.call(builder.inttoptr(values[0], where), values[1:])

    return result(numba.types.int64, *arguments), generate


@lru_cache(maxsize=256)
def pointer(function: Any) -> Any:
    """What to pass for a kernel of one signature; interpreted, the function itself."""
    return function if INTERPRETED else Pointer(function)
