"""Least squares with some coefficients kept ≥ 0, from the normal equations of a few columns: exact, by active sets.

    minimise  xᵀKx − 2cᵀx  over x with x_j ≥ 0 where signed_j        (K = AᵀA, c = Aᵀy)

The unconstrained solution is tried first: it is nearly always feasible. Otherwise the active sets of Lawson & Hanson,
"Solving Least Squares Problems", 1974, ch. 23, with the unsigned coefficients always free. A column that depends on the
ones before it to working precision gets no coefficient.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.base import Floats
from estimators.jit import inline

OUT, PASSIVE, DEPENDENT = range(3)  # state of a coefficient: held at zero, free, without a direction of its own
SMALL: Final = 1e-12  # |part of a column that the others do not explain|² / size below which it is dependent
TOLERANCE: Final = 1e-12  # of a gradient, relative to |column|·|y|

Integers = NDArray[np.int64]


@inline
def _solve(K: Floats, c: Floats, size: Floats, state: Integers, x: Floats, L: Floats) -> None:
    """Cholesky on the passive columns; the others get 0."""
    count = len(c)
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
    for _ in range(len(c)):
        _solve(K, c, size, state, z, scratch)
        step, block = 1.0, -1
        for j in range(len(c)):
            if signed[j] and state[j] == PASSIVE and z[j] <= 0.0:
                ratio = x[j] / max(x[j] - z[j], 1e-300)
                if block < 0 or ratio < step:
                    step, block = ratio, j
        for j in range(len(c)):
            x[j] += step * (z[j] - x[j])
        if block < 0:
            break
        x[block] = 0.0
        state[block] = OUT


@inline
def nnls(
    K: Floats, c: Floats, signed: Integers, size: Floats, yy: float, x: Floats, state: Integers, scratch: Floats
) -> float:
    """Fill x and state (columns,); return the reduction of the residual sum of squares, cᵀx.

    size: (columns,) squared lengths of the columns before anything was projected out of them; yy: yᵀy, the scale of c;
    scratch: (columns + 1, columns).
    """
    count = len(c)
    z = scratch[count]
    for j in range(count):
        state[j] = PASSIVE
    _solve(K, c, size, state, x, scratch)
    feasible = True
    for j in range(count):
        if signed[j] and x[j] < 0.0:
            feasible = False
    if not feasible:
        for j in range(count):
            state[j] = OUT if signed[j] else PASSIVE
        _solve(K, c, size, state, x, scratch)
        for _ in range(4 * count):
            best, enter = TOLERANCE, -1
            for j in range(count):
                if state[j] == OUT:
                    gradient = c[j]
                    for i in range(count):
                        gradient -= K[j, i] * x[i]
                    gradient /= np.sqrt(max(K[j, j] * yy, 1e-300))
                    if gradient > best:
                        best, enter = gradient, j
            if enter < 0:
                break
            state[enter] = PASSIVE
            _enter(K, c, size, signed, state, x, z, scratch)
    reduction = 0.0
    for j in range(count):
        reduction += c[j] * x[j]
    return reduction
