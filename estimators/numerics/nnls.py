"""Least squares with some coefficients kept ≥ 0, from the normal equations of a few columns: exact, by active sets.

    minimise  xᵀKx − 2cᵀx  over x with x_j ≥ 0 where signed_j        (K = AᵀA, c = Aᵀy)

The unconstrained solution is tried first: it is nearly always feasible. Otherwise all coefficients that violate their
condition change sides at once (Portugal, Júdice, Vicente, Math. Comput. 63:625–643, 1994), which two or three times
nearly always is enough; if not, the active sets of Lawson & Hanson, "Solving Least Squares Problems", 1974, ch. 23,
which always end. Unsigned coefficients are always free. A column that depends on the ones before it to working
precision gets no coefficient.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.thresholds import LEAST_DIVISOR

# states of a coefficient
OUT: Final = 0  # held at zero
PASSIVE: Final = 1  # free
DEPENDENT: Final = 2  # without a direction of its own
SMALL: Final = 1e-12  # |part of a column that the others do not explain|² / size below which it is dependent
TOLERANCE: Final = 1e-12  # of a gradient, relative to |column|·|y|
EXCHANGES: Final = 3  # of all violated conditions at once

Integers = NDArray[np.int64]


@inline
def _solve(K: Floats, c: Floats, size: Floats, state: Integers, x: Floats, L: Floats) -> None:
    """Cholesky on the passive columns; the others get 0."""
    count = len(x)
    for j in range(count):
        x[j] = 0.0
        if state[j] == OUT:
            continue
        pivot = K[j, j]
        for i in range(j):
            if state[i] == PASSIVE:
                entry = K[j, i]
                for k in range(i):
                    if state[k] == PASSIVE:
                        entry -= L[j, k] * L[i, k]
                L[j, i] = entry / L[i, i]
                pivot -= L[j, i] * L[j, i]
        state[j] = PASSIVE if pivot > SMALL * size[j] else DEPENDENT
        if state[j] == PASSIVE:
            L[j, j] = np.sqrt(pivot)
            entry = c[j]
            for i in range(j):
                if state[i] == PASSIVE:
                    entry -= L[j, i] * x[i]
            x[j] = entry / L[j, j]
    for j in range(count - 1, -1, -1):
        if state[j] == PASSIVE:
            for i in range(j + 1, count):
                if state[i] == PASSIVE:
                    x[j] -= L[i, j] * x[i]
            x[j] /= L[j, j]


@inline
def _enter(
    K: Floats, c: Floats, size: Floats, signed: Integers, state: Integers, x: Floats, z: Floats, scratch: Floats
) -> None:
    """Move x to the solution of the enlarged set, dropping what turns negative on the way."""
    for _ in range(len(x)):
        _solve(K, c, size, state, z, scratch)
        step, block = 1.0, -1
        for j in range(len(x)):
            if signed[j] and state[j] == PASSIVE and z[j] <= 0.0:
                ratio = x[j] / max(x[j] - z[j], LEAST_DIVISOR)
                if block < 0 or ratio < step:
                    step, block = ratio, j
        for j in range(len(x)):
            x[j] += step * (z[j] - x[j])
        if block < 0:
            break
        x[block] = 0.0
        state[block] = OUT


@inline
def _gradient(K: Floats, c: Floats, x: Floats, yy: float, j: int) -> float:
    """What column j would still explain, relative to |column|·|y|."""
    gradient = c[j]
    for i in range(len(x)):
        gradient -= K[j, i] * x[i]
    return float(gradient / np.sqrt(max(K[j, j] * yy, LEAST_DIVISOR)))


@inline
def _exchange(K: Floats, c: Floats, signed: Integers, yy: float, x: Floats, state: Integers) -> bool:
    """Let every coefficient that violates its condition change sides; False if none does: x is the solution."""
    changed = False
    for j in range(len(x)):
        if signed[j] and state[j] != OUT and x[j] < 0.0:
            state[j] = OUT
            changed = True
        elif state[j] == OUT and _gradient(K, c, x, yy, j) > TOLERANCE:
            state[j] = PASSIVE
            changed = True
    return changed


@inline
def _lawson_hanson(
    K: Floats, c: Floats, signed: Integers, size: Floats, yy: float, x: Floats, state: Integers, scratch: Floats
) -> None:
    """One column at a time, from all that are signed held at zero."""
    count = len(x)
    z = scratch[count]
    for j in range(count):
        state[j] = OUT if signed[j] else PASSIVE
    _solve(K, c, size, state, x, scratch)
    for _ in range(4 * count):
        best, enter = TOLERANCE, -1
        for j in range(count):
            if state[j] == OUT:
                gradient = _gradient(K, c, x, yy, j)
                if gradient > best:
                    best, enter = gradient, j
        if enter < 0:
            break
        state[enter] = PASSIVE
        _enter(K, c, size, signed, state, x, z, scratch)


@inline
def nnls(
    K: Floats, c: Floats, signed: Integers, size: Floats, yy: float, x: Floats, state: Integers, scratch: Floats
) -> float:
    """Fill x and state (columns,); return the reduction of the residual sum of squares, cᵀx.

    size: (columns,) squared lengths of the columns before anything was projected out of them; yy: yᵀy, the scale of c;
    scratch: (columns + 1, columns). K, c and size may be larger: the first columns count.
    """
    count = len(x)
    for j in range(count):
        state[j] = PASSIVE
    solved = False
    for _ in range(EXCHANGES + 1):
        _solve(K, c, size, state, x, scratch)
        solved = not _exchange(K, c, signed, yy, x, state)
        if solved:
            break
    if not solved:
        _lawson_hanson(K, c, signed, size, yy, x, state, scratch)
    reduction = 0.0
    for j in range(count):
        reduction += c[j] * x[j]
    return reduction
