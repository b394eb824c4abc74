"""What a friction law sees under the kernels of neighbouring rows, which overlap: each instant kept once.

A row every 10 samples under a kernel of 39 shares 29 of them with the row before; a law's columns then cost a quarter.
"""

import numpy as np
from numpy.typing import NDArray

from estimators.models.friction.base import FrictionLaw
from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.rows import LOAD, POSITION, VELOCITY


def distinct(samples: Floats, arguments: int) -> tuple[Floats, NDArray[np.int64]]:
    """Samples (rows, ARGUMENTS, taps) as a stretch (arguments, instants), and the first instant of each row (rows,).

    arguments: how many of them are wanted. How far apart two rows are is found by comparing them: a row that does not
    go on where the one before it is, for whatever reason, begins a stretch of its own.
    """
    stretch, first = np.empty((arguments, len(samples) * samples.shape[2])), np.empty(len(samples), np.int64)
    filled = int(_distinct(np.ascontiguousarray(samples), first, stretch))
    return stretch[:, :filled].copy(), first


def columns_of(law: FrictionLaw, stretch: Floats, eta: Floats) -> Floats:
    """The law's columns (instants, parameters) along a stretch; those that look at more than it has are of no use."""
    rest = np.zeros(1)
    position, load = (stretch[POSITION], stretch[LOAD]) if len(stretch) > 1 else (rest, rest)
    return law.columns(position, stretch[VELOCITY], load, eta)


@inline
def _goes_on(samples: Floats, arguments: int, row: int, shift: int) -> bool:
    """Whether a row's samples are, but for the last `shift`, those of the row before it."""
    for a in range(arguments):
        for k in range(samples.shape[2] - shift):
            if samples[row, a, k] != samples[row - 1, a, k + shift]:
                return False
    return True


@kernel("i8(f8[:, :, ::1], i8[::1], f8[:, ::1])")
def _distinct(samples: Floats, first: NDArray[np.int64], stretch: Floats) -> int:
    """Fill first and stretch; returns how many instants there are."""
    taps, arguments = samples.shape[2], len(stretch)
    filled, shift = 0, taps
    for row in range(len(samples)):
        if row > 0 and (shift == taps or not _goes_on(samples, arguments, row, shift)):
            shift = 1
            while shift < taps and not _goes_on(samples, arguments, row, shift):
                shift += 1
        for a in range(arguments):
            for k in range(shift):
                stretch[a, filled + k] = samples[row, a, taps - shift + k]
        filled += shift
        first[row] = filled - taps
    return filled


@kernel("void(f8[:, ::1], i8[::1], f8[::1], i8[::1], f8, i8, i8[::1], f8[:, :, :])")
def smooth(
    columns: Floats,
    first: NDArray[np.int64],
    g: Floats,
    own: NDArray[np.int64],
    sign: float,
    output: int,
    places: NDArray[np.int64],
    phi: Floats,
) -> None:
    """The kernel g over each row's instants, summed in the order of conditioning/row_kernels.py.

    columns: (instants, columns) of a law, of which `own` are wanted, times sign; they go to `places` of an output of
    phi (rows, outputs, parameters).
    """
    for row in range(len(phi)):
        for c in range(len(own)):
            total = 0.0
            for k in range(len(g)):
                total += g[k] * (sign * columns[first[row] + k, own[c]])
            phi[row, output, places[c]] = total
