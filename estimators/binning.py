"""A window reduced to nodes of the velocity: columns that depend on it alone then cost the nodes, not the window.

A row's moving column is f(v; η) at its sample v (or Σ_k g_k f(v_k; η) where rows were smoothed by g). With f read off
its values at B nodes by cubic Lagrange interpolation, a window's column is W f(nodes) with a sparse W (rows, B) that η
does not change, and all that least squares wants of it are products of B numbers:

    MᵀM = fᵀ(WᵀW)f     Mᵀ[F y] = fᵀ(Wᵀ[F y])          WᵀW is banded, Wᵀ[F y] is (B, fixed + 1)

Interpolation, not averaging within bins: the error of a bin's mean falls with the square of its width and biases η,
that of the cubic with the fourth power (figures: docs/decisions/004-refit.md). Nodes lie at equal steps of
asinh(v / (FINE · v_max)), closest around standstill, where friction bends; of an odd law only |v| matters.
Without nodes every sample is its own: the same products, at the window's cost.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.base import RATE, SIGNALS, SMOOTH, SMOOTH_RATE, VALUE, Floats
from estimators.jit import inline, kernel
from estimators.normal import dot

FINE: Final = 1 / 200  # of the highest speed: below it nodes are equidistant
STENCIL: Final = 4  # nodes of one cubic
CELLS: Final = 4096  # of the table that finds a speed's stencil without a search
BLOCK: Final = 256  # rows worked on at once, in the first-level cache
NEXT_TO_REST: Final = 1e-12  # of the highest speed: where a law that may jump at standstill is first looked at

Integers = NDArray[np.int64]

READ: Final = "Array(f8, 1, 'A', readonly=True)"
ROWS: Final = f"f8[:, ::1], {READ}, {READ}, {READ}, i8[::1], f8[::1]"  # as the fields of Rows


class Rows(NamedTuple):
    """A window's rows, before whitening."""

    fixed: Floats  # (rows, fixed), C-contiguous
    y: Floats  # (rows,)
    weight: Floats  # (rows,) 1 / standard deviation
    gain: Floats  # (rows,) what multiplies the moving columns
    first: Integers  # (rows,) index of a row's first sample
    taps: Floats  # (taps,) what its samples are weighted with


@dataclass(frozen=True, slots=True)
class Statistics:
    """All that a refit needs of a window. F: fixed columns, whitened; B: nodes, or the window's samples."""

    signals: Floats  # (B, 2, SIGNALS) where the law is evaluated; channels: position, load
    band: Floats  # (width, B) WᵀW: band[d, b] is entry (b, b + d)
    cross: Floats  # (fixed + 1, B) Wᵀ[F y]
    gram: Floats  # (fixed + 1, fixed + 1) [F y]ᵀ[F y]
    rows: int


def whole(rows: Rows, position: Floats, velocity: Floats, load: Floats) -> Statistics:
    """Every sample a node; position, velocity, load: (samples,)."""
    band, cross, gram = _empty(len(velocity), len(rows.taps), rows)
    _accumulate_samples(*rows, band, cross, gram)
    return _statistics(_at(position, velocity, load), band, cross, gram, len(rows.y))


def binned(rows: Rows, velocity: Floats, odd: bool, nodes: int) -> Statistics:
    """As whole(), for columns that depend on the velocity (samples,) alone, on about this many nodes.

    odd: f(−v) = −f(v). Raises ValueError when nothing moved.
    """
    speed = max(float(velocity.max()), -float(velocity.min()))
    if not speed > 0.0:
        raise ValueError("expected a window in which the joint moves, found the velocity 0 throughout")
    unit, inverse, table = _unit_grid(odd, nodes)
    grid, inverse = unit * speed, inverse / speed ** (STENCIL - 1)
    if len(rows.taps) == 1 and len(velocity) == len(rows.y):  # rows and samples are one
        band, cross, gram = _empty(len(grid), STENCIL, rows)
        _accumulate(velocity, odd, grid, inverse, table, rows.fixed, rows.y, rows.weight, rows.gain, band, cross, gram)
    else:
        lowest, weights = np.empty(len(velocity), np.int64), np.empty((len(velocity), STENCIL))
        _interpolate(velocity, odd, grid, inverse, table, lowest, weights)
        band, cross, gram = _empty(len(grid), int(_spread(lowest, rows.first, len(rows.taps))), rows)
        _accumulate_smoothed(lowest, weights, *rows, band, cross, gram)
    zero = np.zeros(len(grid))
    return _statistics(_at(zero, grid, zero), band, cross, gram, len(rows.y))


def _at(position: Floats, velocity: Floats, load: Floats) -> Floats:
    """What a friction law sees of a known motion."""
    signals = np.zeros((len(velocity), 2, SIGNALS))
    signals[:, 0, VALUE] = signals[:, 0, SMOOTH] = position
    signals[:, 0, RATE] = signals[:, 0, SMOOTH_RATE] = velocity
    signals[:, 1, VALUE] = signals[:, 1, SMOOTH] = load
    return signals


def _empty(nodes: int, width: int, rows: Rows) -> tuple[Floats, Floats, Floats]:
    count = rows.fixed.shape[1] + 1
    return np.zeros((nodes, width)), np.zeros((nodes, count)), np.zeros((count, count))


def _statistics(signals: Floats, band: Floats, cross: Floats, gram: Floats, rows: int) -> Statistics:
    gram += np.triu(gram, 1).T
    return Statistics(signals, np.ascontiguousarray(band.T), np.ascontiguousarray(cross.T), gram, rows)


@lru_cache(maxsize=16)
def _unit_grid(odd: bool, nodes: int) -> tuple[Floats, Floats, Integers]:
    """For the speed 1: nodes, ascending; (nodes, STENCIL) 1 / Π_{j≠i}(x_i − x_j) of the cubic that begins at each; and
    the table: for CELLS equal cells, the interval in which each begins, then for each interval its cubic's first node.

    The nodes of an odd law begin at 0; else there are two smooth pieces, either side of rest, and no cubic spans both.
    """
    half = max(STENCIL, nodes if odd else nodes // 2)
    grid = FINE * np.sinh(np.linspace(0.0, np.arcsinh(1.0 / FINE), half))
    grid[-1] = 1.0
    if not odd:
        grid[0] = NEXT_TO_REST
        grid = np.concatenate([-grid[::-1], grid])
    count = len(grid)
    interval = np.searchsorted(grid, np.linspace(grid[0], grid[-1], CELLS + 1), side="right") - 1
    begin = np.arange(count) // half * half
    stencil = np.clip(np.arange(count) - 1, begin, begin + half - STENCIL)
    x = grid[np.minimum(np.arange(count), count - STENCIL)[:, np.newaxis] + np.arange(STENCIL)]
    difference = x[:, :, np.newaxis] - x[:, np.newaxis, :] + np.eye(STENCIL)
    return grid, 1.0 / difference.prod(axis=2), np.concatenate([np.clip(interval, 0, count - 2), stencil])


@inline
def _stencils(
    velocity: Floats, odd: bool, grid: Floats, inverse: Floats, table: Integers, lowest: Integers, weights: Floats
) -> None:
    """The first node of the cubic that each sample is interpolated with, and its four Lagrange weights."""
    last = len(grid) - 2
    low, per_speed = grid[0], CELLS / (grid[last + 1] - grid[0])
    for sample in range(len(velocity)):
        v = abs(velocity[sample]) if odd else velocity[sample]
        interval = table[min(max(int((v - low) * per_speed), 0), CELLS)]
        while interval < last and grid[interval + 1] <= v:
            interval += 1
        if not odd and v >= 0.0 and grid[interval] < 0.0:
            interval += 1  # between the two nodes next to rest
        k = table[CELLS + 1 + interval]
        lowest[sample] = k
        a, b, c, d = v - grid[k], v - grid[k + 1], v - grid[k + 2], v - grid[k + 3]
        sign = -1.0 if odd and velocity[sample] < 0.0 else 1.0
        ab, cd = sign * a * b, sign * c * d
        weights[sample, 0] = b * cd * inverse[k, 0]
        weights[sample, 1] = a * cd * inverse[k, 1]
        weights[sample, 2] = ab * d * inverse[k, 2]
        weights[sample, 3] = ab * c * inverse[k, 3]


@kernel(f"void({READ}, b1, f8[::1], f8[:, ::1], i8[::1], i8[::1], f8[:, ::1])")
def _interpolate(
    velocity: Floats, odd: bool, grid: Floats, inverse: Floats, table: Integers, lowest: Integers, weights: Floats
) -> None:
    _stencils(velocity, odd, grid, inverse, table, lowest, weights)


@kernel(
    f"void({READ}, b1, f8[::1], f8[:, ::1], i8[::1], f8[:, ::1], {READ}, {READ}, {READ}, "
    "f8[:, ::1], f8[:, ::1], f8[:, ::1])"
)
def _accumulate(
    velocity: Floats,
    odd: bool,
    grid: Floats,
    inverse: Floats,
    table: Integers,
    fixed: Floats,
    y: Floats,
    weight: Floats,
    gain: Floats,
    band: Floats,
    cross: Floats,
    gram: Floats,
) -> None:
    """Row i is sample i.

    Block by block, in each column by column, and every other row into a sum of its own, since neighbouring rows add to
    the same nodes and would wait for each other: four times as fast as row by row.
    """
    columns = fixed.shape[1]
    lowest, w, f = np.empty(BLOCK, np.int64), np.empty((BLOCK, STENCIL)), np.empty((columns + 1, BLOCK))
    bands, halves = np.zeros((2, len(grid), STENCIL)), np.zeros((columns + 1, 2, len(grid)))
    for begin in range(0, len(y), BLOCK):
        count = min(BLOCK, len(y) - begin)
        _stencils(velocity[begin : begin + count], odd, grid, inverse, table, lowest, w)
        for row in range(count):
            k, factor, half = lowest[row], weight[begin + row] * gain[begin + row], bands[row % 2]
            w0, w1, w2, w3 = factor * w[row, 0], factor * w[row, 1], factor * w[row, 2], factor * w[row, 3]
            w[row, 0], w[row, 1], w[row, 2], w[row, 3] = w0, w1, w2, w3
            half[k, 0] += w0 * w0
            half[k, 1] += w0 * w1
            half[k, 2] += w0 * w2
            half[k, 3] += w0 * w3
            half[k + 1, 0] += w1 * w1
            half[k + 1, 1] += w1 * w2
            half[k + 1, 2] += w1 * w3
            half[k + 2, 0] += w2 * w2
            half[k + 2, 1] += w2 * w3
            half[k + 3, 0] += w3 * w3
        for i in range(columns + 1):
            for row in range(count):
                f[i, row] = weight[begin + row] * (fixed[begin + row, i] if i < columns else y[begin + row])
            for row in range(count):
                k, value, part = lowest[row], f[i, row], halves[i, row % 2]
                part[k] += w[row, 0] * value
                part[k + 1] += w[row, 1] * value
                part[k + 2] += w[row, 2] * value
                part[k + 3] += w[row, 3] * value
            for j in range(i + 1):
                gram[j, i] += dot(f[j, :count], f[i, :count])
    for k in range(len(grid)):
        for d in range(STENCIL):
            band[k, d] = bands[0, k, d] + bands[1, k, d]
        for i in range(columns + 1):
            cross[k, i] = halves[i, 0, k] + halves[i, 1, k]


@kernel("i8(i8[::1], i8[::1], i8)")
def _spread(lowest: Integers, first: Integers, taps: int) -> int:
    """Nodes that the widest row touches."""
    widest = 0
    for row in range(len(first)):
        low = high = lowest[first[row]]
        for k in range(first[row], first[row] + taps):
            low, high = min(low, lowest[k]), max(high, lowest[k])
        widest = max(widest, high - low)
    return widest + STENCIL


@inline
def _add(
    low: int, count: int, w: Floats, fixed: Floats, y: Floats, weight: float, row: int, band: Floats, cross: Floats
) -> None:
    """One row's weights at `count` nodes from low on."""
    columns = fixed.shape[1]
    for a in range(count):
        for b in range(a, count):
            band[low + a, b - a] += w[a] * w[b]
        for i in range(columns):
            cross[low + a, i] += w[a] * weight * fixed[row, i]
        cross[low + a, columns] += w[a] * weight * y[row]


@inline
def _add_gram(fixed: Floats, y: Floats, weight: float, row: int, gram: Floats) -> None:
    columns = fixed.shape[1]
    square = weight * weight
    for i in range(columns):
        for j in range(i, columns):
            gram[i, j] += square * fixed[row, i] * fixed[row, j]
        gram[i, columns] += square * fixed[row, i] * y[row]
    gram[columns, columns] += square * y[row] * y[row]


@kernel(f"void({ROWS}, f8[:, ::1], f8[:, ::1], f8[:, ::1])")
def _accumulate_samples(
    fixed: Floats,
    y: Floats,
    weight: Floats,
    gain: Floats,
    first: Integers,
    taps: Floats,
    band: Floats,
    cross: Floats,
    gram: Floats,
) -> None:
    w = np.empty(len(taps))
    for row in range(len(y)):
        _add_gram(fixed, y, weight[row], row, gram)
        for k in range(len(taps)):
            w[k] = weight[row] * gain[row] * taps[k]
        _add(first[row], len(taps), w, fixed, y, weight[row], row, band, cross)


@kernel(f"void(i8[::1], f8[:, ::1], {ROWS}, f8[:, ::1], f8[:, ::1], f8[:, ::1])")
def _accumulate_smoothed(
    lowest: Integers,
    weights: Floats,
    fixed: Floats,
    y: Floats,
    weight: Floats,
    gain: Floats,
    first: Integers,
    taps: Floats,
    band: Floats,
    cross: Floats,
    gram: Floats,
) -> None:
    w = np.empty(band.shape[1])
    for row in range(len(y)):
        _add_gram(fixed, y, weight[row], row, gram)
        if gain[row] == 0.0:
            continue
        low = high = lowest[first[row]]
        for k in range(first[row], first[row] + len(taps)):
            low, high = min(low, lowest[k]), max(high, lowest[k])
        count = high - low + STENCIL
        w[:count] = 0.0
        for k in range(len(taps)):
            for i in range(STENCIL):
                w[lowest[first[row] + k] - low + i] += weight[row] * gain[row] * taps[k] * weights[first[row] + k, i]
        _add(low, count, w, fixed, y, weight[row], row, band, cross)
