"""Many arrays as one argument of a kernel.

To hand an array to a kernel costs 0.1 µs, as much as a dozen multiplications, and a joint's way from readings to its
next decision walks over eighty of them. A Parcel is made once: a table of where its arrays lie and how long they are,
by kind and number; the kernel takes them out again at the cost of a view. It holds the arrays: they are written in
place and never replaced. A Parcel may hold others: so one kernel walks over joints that are not alike; and compiled
functions, by address: so it fills columns that are not alike.
"""

from collections.abc import Sequence
from typing import Any, Final

import numba
import numpy as np
from numba.core import cgutils
from numba.extending import intrinsic as untyped
from numpy.typing import NDArray

from estimators.numerics.jit import INTERPRETED, inline
from estimators.quantities import Floats
from jointwatch_layout import pointer

Table = NDArray[np.int64]  # (kinds, arrays of a kind, 1 + DIMENSIONS): address, lengths; interpreted, the arrays
TABLE: Final = "i8[:, :, ::1]"  # in a signature
DIMENSIONS: Final = 3
KINDS: Final = (("f8", 1), ("f8", 2), ("f8", 3), ("i8", 1), ("i8", 2), ("?", 1))  # dtype, dimensions
PARCELS: Final = len(KINDS)  # the kind of others' tables
FUNCTIONS: Final = PARCELS + 1  # of addresses


class Parcel:
    """What a kernel walks over, and cannot be told apart by its arguments alone."""

    def __init__(
        self,
        vectors: Sequence[Floats] = (),
        matrices: Sequence[Floats] = (),
        cubes: Sequence[Floats] = (),
        integers: Sequence[NDArray[np.int64]] = (),
        integer_matrices: Sequence[NDArray[np.int64]] = (),
        flags: Sequence[NDArray[np.bool_]] = (),
        parcels: "Sequence[Parcel]" = (),
        functions: Sequence[Any] = (),
    ) -> None:
        """Arrays by kind; a kernel finds them in this order; functions: kernels of one signature each.

        Raises TypeError for an array of another kind.
        """
        self._kept = (vectors, matrices, cubes, integers, integer_matrices, flags)
        self._parcels, self._functions = list(parcels), tuple(pointer(one) for one in functions)
        for (dtype, dimensions), arrays in zip(KINDS, self._kept, strict=True):
            for one in arrays:
                if one.dtype != np.dtype(dtype) or one.ndim != dimensions or not one.flags.carray:
                    raise TypeError(
                        f"expected {dimensions}-d {dtype}, contiguous, writable; found {one.ndim}-d {one.dtype}"
                    )
        tables = [one.table for one in self._parcels]
        self.table: Any = (*self._kept, tables, self._functions) if INTERPRETED else self._told(tables)

    def put(self, number: int, parcel: "Parcel") -> None:
        """Another one in the place of one that it holds."""
        self._parcels[number] = parcel
        if INTERPRETED:
            self.table[PARCELS][number] = parcel.table
        else:
            self.table[PARCELS, number] = parcel.table.ctypes.data, *parcel.table.shape

    def _told(self, tables: Sequence[Table]) -> Table:
        kept = (*self._kept, tables)
        most = max(map(len, (*kept, self._functions)))
        table = np.zeros((len(kept) + 1, most, 1 + DIMENSIONS), np.int64)
        for kind, arrays in enumerate(kept):
            for number, one in enumerate(arrays):
                table[kind, number, : 1 + one.ndim] = one.ctypes.data, *one.shape
        for number, one in enumerate(self._functions):
            table[FUNCTIONS, number, 0] = one.__wrapper_address__()
        return table


def _pointer(_context: Any, _address: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return numba.types.voidptr(numba.types.int64), generate


_lies_at: Any = untyped(_pointer)  # an address as a pointer
_array: Any = numba.carray  # type: ignore[attr-defined]


if INTERPRETED:

    def _taken(kind: int) -> Any:
        return lambda table, number: table[kind][number]

    vector, matrix, cube, integers, integer_matrix, flags, inner, function = map(_taken, range(FUNCTIONS + 1))
else:

    @inline
    def vector(table: Table, number: int) -> Any:
        """(n,) floats."""
        one = table[0, number]
        return _array(_lies_at(one[0]), (one[1],), np.float64)

    @inline
    def matrix(table: Table, number: int) -> Any:
        """(n, m) floats."""
        one = table[1, number]
        return _array(_lies_at(one[0]), (one[1], one[2]), np.float64)

    @inline
    def cube(table: Table, number: int) -> Any:
        """(n, m, k) floats."""
        one = table[2, number]
        return _array(_lies_at(one[0]), (one[1], one[2], one[3]), np.float64)

    @inline
    def integers(table: Table, number: int) -> Any:
        """(n,) integers."""
        one = table[3, number]
        return _array(_lies_at(one[0]), (one[1],), np.int64)

    @inline
    def integer_matrix(table: Table, number: int) -> Any:
        """(n, m) integers."""
        one = table[4, number]
        return _array(_lies_at(one[0]), (one[1], one[2]), np.int64)

    @inline
    def flags(table: Table, number: int) -> Any:
        """(n,) truths."""
        one = table[5, number]
        return _array(_lies_at(one[0]), (one[1],), np.bool_)

    @inline
    def inner(table: Table, number: int) -> Any:
        """The table of a parcel within."""
        one = table[6, number]
        return _array(_lies_at(one[0]), (one[1], one[2], one[3]), np.int64)

    @inline
    def function(table: Table, number: int) -> Any:
        """The address of a function, to be called as function_pointer.calling says."""
        return table[7, number, 0]
