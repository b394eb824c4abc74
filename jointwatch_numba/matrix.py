"""What kernels do with whole arrays, without the functions of numba behind NumPy's names: these bring iterators and
the texts of errors with them, which every process that compiles compiles anew."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jointwatch_numba.jit import INTERPRETED, inline

Floats = NDArray[np.float64]


def contiguous(values: NDArray[Any]) -> NDArray[Any]:
    """The array itself where it is contiguous and writable, else a copy: what kernels that have one type of array take.

    A kernel for any array is a second one, and so is all that it calls.
    """
    return np.require(values, requirements=("C", "W"))


@inline
def any_nonzero(values: Floats) -> bool:
    """Whether any number of a vector is not zero."""
    found = False
    for value in values:
        found = found or value != 0.0
    return found


def _as_matrix(part: Floats, rows: int, columns: int) -> Floats:
    """The first rows · columns numbers of a contiguous vector, row by row; the vector must outlive it."""
    return part[: rows * columns].reshape((rows, columns))


def _as_vector(whole: Floats) -> Floats:
    """All numbers of a contiguous array, one after the other; the array must outlive it."""
    return whole.reshape(-1)


if not INTERPRETED:
    from numba.core import types
    from numba.extending import intrinsic
    from numba.np.arrayobj import make_array, populate_array

    from jointwatch_numba import numba_alone  # noqa: F401  # before numba

    def _compiled(_typing: Any, part: Any, _rows: Any, _columns: Any) -> Any:
        matrix = types.Array(part.dtype, 2, "C")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            vector = make_array(signature.args[0])(context, builder, arguments[0])
            shape = arguments[1:]
            strides = [builder.mul(shape[1], vector.itemsize), vector.itemsize]
            made = make_array(matrix)(context, builder)
            populate_array(made, data=vector.data, shape=shape, strides=strides, itemsize=vector.itemsize, meminfo=None)
            return made._getvalue()

        return matrix(part, types.int64, types.int64), generate

    def _compiled_vector(_typing: Any, whole: Any) -> Any:
        kind = types.Array(whole.dtype, 1, "C")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = make_array(signature.args[0])(context, builder, arguments[0])
            made, size = make_array(kind)(context, builder), array.itemsize
            populate_array(made, data=array.data, shape=[array.nitems], strides=[size], itemsize=size, meminfo=None)
            return made._getvalue()

        return kind(whole), generate


as_matrix: Final[Any] = _as_matrix if INTERPRETED else intrinsic(_compiled)
as_vector: Final[Any] = _as_vector if INTERPRETED else intrinsic(_compiled_vector)
