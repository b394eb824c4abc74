"""A module whose import has numba compile something: programs forked afterwards compile their first kernel soon.

Without it each of them spends a second on what numba imports and compiles for itself. No package of ours is in it.
"""

import numba
import numpy as np


@numba.njit("f8[::1](f8[:, ::1], i8)", error_model="numpy")  # type: ignore[untyped-decorator]
def _usual(table, at):  # type: ignore[no-untyped-def]
    row = np.zeros(table.shape[1])
    row[:at] = table[0, :at] * 2.0
    for place in range(at, len(row)):
        row[place] = table[1].sum()
    return row
