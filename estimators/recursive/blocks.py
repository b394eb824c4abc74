"""Least squares over the last blocks of rows, with the spread that the blocks themselves show.

Rows of one block share whatever the model does not explain, so white noise would promise far too much. Each block keeps
its own information (A_i = ΣφφT, c_i = Σφy); a window is their sum, and a delete-one jackknife over the blocks gives

    cov θ = (B − 1)/B Σ (θ₍ᵢ₎ − mean)(θ₍ᵢ₎ − mean)ᵀ,    θ₍ᵢ₎ = (A − A_i)⁻¹ (c − c_i)

(Quenouille 1956; Efron & Stein 1981). A column that the columns before it imitate to TINY of its size gets no
coefficient, NaN: neither a ridge nor a minimum norm invents a number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import kernel
from estimators.quantities import Floats
from estimators.thresholds import LEAST_DIVISOR

#: 1, derived: Share of a column's square about its mean that the columns before it must leave; below it rounding of
#: block sums decides.
TINY: Final = 1e-6


class WindowSolution(NamedTuple):
    """The coefficients of a window."""

    theta: Floats  # (columns,) NaN where a column has no direction of its own
    left_out: Floats  # (blocks, columns) without each block


@dataclass(slots=True)
class BlocksState:
    """What Blocks keep."""

    VERSION: ClassVar[int] = 1

    information: Floats  # (blocks, columns, columns)
    moments: Floats  # (blocks, columns)
    filled: int = 0  # blocks ever finished


class Blocks:
    """The last blocks' information; the newest is still being filled."""

    def __init__(self, columns: int, blocks: int, rows: int) -> None:
        """rows: of a block."""
        self.columns, self.blocks, self.rows = columns, blocks, rows
        self.state = BlocksState(np.zeros((blocks, columns, columns)), np.zeros((blocks, columns)))

    @property
    def filled(self) -> int:
        """Blocks ever finished."""
        return self.state.filled

    def full(self) -> bool:
        """Whether the window is whole."""
        return self.filled >= self.blocks

    def add(self, information: Floats, moments: Floats) -> None:
        """A finished block. information: (columns, columns), moments: (columns,)."""
        place = self.filled % self.blocks
        self.state.information[place], self.state.moments[place] = information, moments
        self.state.filled += 1

    def forget(self) -> None:
        """Begin again."""
        self.state.information[:], self.state.moments[:], self.state.filled = 0.0, 0.0, 0

    def last(self, count: int | None = None) -> NDArray[np.int64]:
        """Places of the last blocks, the newest last; None: of all that are remembered."""
        held = min(self.filled, self.blocks)
        held = held if count is None else min(held, count)
        return np.arange(self.filled - held, self.filled, dtype=np.int64) % self.blocks

    def solve(self, which: NDArray[np.int64], columns: Sequence[int] | None = None) -> WindowSolution:
        """The coefficients of a window; which: (n,) places of its blocks; columns: of the fit, None for all."""
        fitted = np.arange(self.columns) if columns is None else np.array(columns)
        theta, left_out = np.full(len(fitted), np.nan), np.full((len(which), len(fitted)), np.nan)
        information = np.ascontiguousarray(self.state.information[np.ix_(which, fitted, fitted)])
        _jackknife(information, np.ascontiguousarray(self.state.moments[np.ix_(which, fitted)]), theta, left_out)
        return WindowSolution(theta, left_out)

    def imitated(self, column: int, which: NDArray[np.int64], others: Sequence[int]) -> float:
        """R² of a column on others, about its mean (column 0 is the constant); 1 where nothing is left of it."""
        A = self.state.information[which].sum(axis=0)
        order = np.append(np.array(others), column)
        about_mean = A[column, column] - A[0, column] ** 2 / max(A[0, 0], LEAST_DIVISOR)
        if not about_mean > TINY * A[column, column]:
            return 1.0
        left = _remainder(np.ascontiguousarray(A[np.ix_(order, order)]))
        return float(np.clip(1.0 - left / about_mean, 0.0, 1.0))


def spread(left_out: Floats) -> Floats:
    """Standard deviations from values without each block: (blocks, …) → (…)."""
    blocks = len(left_out)
    return np.asarray(np.sqrt((blocks - 1) / blocks * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0)))


@kernel("void(f8[:, ::1], f8[::1], f8[::1], f8[:, ::1])")
def _solve(A: Floats, c: Floats, x: Floats, L: Floats) -> None:
    """Fill x by Cholesky over the columns that have a direction of their own, NaN elsewhere."""
    n = len(c)
    own = np.ones(n, np.bool_)
    for j in range(n):
        x[j] = np.nan
        pivot = A[j, j]
        for i in range(j):
            if own[i]:
                entry = A[j, i]
                for k in range(i):
                    if own[k]:
                        entry -= L[j, k] * L[i, k]
                L[j, i] = entry / L[i, i]
                pivot -= L[j, i] * L[j, i]
        own[j] = pivot > TINY * A[j, j]
        if own[j]:
            L[j, j] = np.sqrt(pivot)
            entry = c[j]
            for i in range(j):
                if own[i]:
                    entry -= L[j, i] * x[i]
            x[j] = entry / L[j, j]
    for j in range(n - 1, -1, -1):
        if own[j]:
            for i in range(j + 1, n):
                if own[i]:
                    x[j] -= L[i, j] * x[i]
            x[j] /= L[j, j]


@kernel("void(f8[:, :, ::1], f8[:, ::1], f8[::1], f8[:, ::1])")
def _jackknife(A: Floats, c: Floats, theta: Floats, left_out: Floats) -> None:
    """Fill theta (columns,) and left_out (blocks, columns)."""
    n = c.shape[1]
    whole, moments, L = np.zeros((n, n)), np.zeros(n), np.zeros((n, n))
    for block in range(len(c)):
        whole += A[block]
        moments += c[block]
    _solve(whole, moments, theta, L)
    for block in range(len(c)):
        _solve(whole - A[block], moments - c[block], left_out[block], L)


@kernel("f8(f8[:, ::1])")
def _remainder(A: Floats) -> float:
    """What the other columns leave of the last one's square; those that depend on others count once."""
    n = len(A)
    L = np.zeros((n, n))
    for j in range(n):
        pivot = A[j, j]
        for i in range(j):
            if L[i, i] > 0.0:
                entry = A[j, i]
                for k in range(i):
                    entry -= L[j, k] * L[i, k]
                L[j, i] = entry / L[i, i]
                pivot -= L[j, i] * L[j, i]
        if j == n - 1:
            return float(pivot)
        L[j, j] = np.sqrt(pivot) if pivot > TINY * A[j, j] else 0.0
    return 0.0
