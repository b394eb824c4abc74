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

from estimators.numerics.jit import inline, kernel
from estimators.numerics.normal_equations import dot
from estimators.quantities import Floats
from estimators.rows import RATE, SIGNALS, SMOOTH, SMOOTH_RATE, VALUE

#: 1, argued: Share of the highest speed below which nodes are equidistant: there friction bends.
FINE: Final = 1 / 200
#: nodes, derived: Nodes of one cubic.
STENCIL: Final = 4
#: cells, derived: Cells of the table that finds a speed's cubic: four on the shortest interval of 128 nodes.
CELLS: Final = 16384
#: rows, argued: Rows that are worked on at once, in the first-level cache.
BLOCK: Final = 256
#: 1, derived: Share of the highest speed at which a law that may jump at standstill is first looked at.
NEXT_TO_REST: Final = 1e-12

Integers = NDArray[np.int64]

READ: Final = "Array(f8, 1, 'A', readonly=True)"
ROWS: Final = f"f8[:, ::1], {READ}, {READ}, {READ}, i8[::1], f8[::1]"  # as the fields of Rows


class WindowRows(NamedTuple):
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


def whole(rows: WindowRows, position: Floats, velocity: Floats, load: Floats) -> Statistics:
    """Every sample a node; position, velocity, load: (samples,)."""
    band, cross, gram = _empty(len(velocity), len(rows.taps), rows)
    _accumulate_samples(*rows, band, cross, gram)
    return _statistics(_at(position, velocity, load), band, cross, gram, len(rows.y))


def binned(rows: WindowRows, velocity: Floats, odd: bool, nodes: int) -> Statistics:
    """Statistics as of whole(), for columns that depend on the velocity (samples,) alone, on about this many nodes.

    odd: f(−v) = −f(v). Raises ValueError when nothing moved.
    """
    speed = max(float(velocity.max()), -float(velocity.min()))
    if not speed > 0.0:
        raise ValueError("expected a window in which the joint moves, found the velocity 0 throughout")
    grid, cubics, table = _unit_grid(odd, nodes)
    if len(rows.taps) == 1 and len(velocity) == len(rows.y):  # rows and samples are one
        band, cross, gram = _empty(len(grid), STENCIL, rows)
        columns = rows.fixed, rows.y, rows.weight, rows.gain
        _accumulate(velocity, 1.0 / speed, odd, cubics, table, *columns, band, cross, gram)
    else:
        lowest, weights = np.empty(len(velocity), np.int64), np.empty((len(velocity), STENCIL))
        _interpolate(velocity, 1.0 / speed, odd, cubics, table, lowest, weights)
        band, cross, gram = _empty(len(grid), int(_spread(lowest, rows.first, len(rows.taps))), rows)
        _accumulate_smoothed(lowest, weights, *rows, band, cross, gram)
    zero = np.zeros(len(grid))
    return _statistics(_at(zero, grid * speed, zero), band, cross, gram, len(rows.y))


def _at(position: Floats, velocity: Floats, load: Floats) -> Floats:
    """What a friction law sees of a known motion."""
    signals = np.zeros((len(velocity), 2, SIGNALS))
    signals[:, 0, VALUE] = signals[:, 0, SMOOTH] = position
    signals[:, 0, RATE] = signals[:, 0, SMOOTH_RATE] = velocity
    signals[:, 1, VALUE] = signals[:, 1, SMOOTH] = load
    return signals


def _empty(nodes: int, width: int, rows: WindowRows) -> tuple[Floats, Floats, Floats]:
    count = rows.fixed.shape[1] + 1
    return np.zeros((nodes, width)), np.zeros((nodes, count)), np.zeros((count, count))


def _statistics(signals: Floats, band: Floats, cross: Floats, gram: Floats, rows: int) -> Statistics:
    gram += np.triu(gram, 1).T
    return Statistics(signals, np.ascontiguousarray(band.T), np.ascontiguousarray(cross.T), gram, rows)


@lru_cache(maxsize=16)
def _unit_grid(odd: bool, nodes: int) -> tuple[Floats, Floats, Integers]:
    """Nodes for the speed 1, ascending; their cubics; and the table of intervals.

    Cubics (nodes, STENCIL + 1, STENCIL): of the one that begins at a node, rows of the coefficients in t of its four
    Lagrange polynomials, and in the last row the middle and 1 / half-width of its stretch, on which −1 ≤ t ≤ 1. Table:
    the first node of the cubic whose middle third is nearest, for CELLS equal cells of |v|, then as many of v < 0.
    The nodes of an odd law begin at 0; else there are two smooth pieces, either side of rest, and no cubic spans both.
    """
    half = max(STENCIL, nodes if odd else nodes // 2)
    grid = FINE * np.sinh(np.linspace(0.0, np.arcsinh(1.0 / FINE), half))
    grid[-1] = 1.0
    if not odd:
        grid[0] = NEXT_TO_REST
    interval = np.searchsorted(grid, (np.arange(CELLS + 1) + 0.5) / CELLS) - 1
    table = np.clip(interval - 1, 0, half - STENCIL)
    if not odd:
        grid = np.concatenate([-grid[::-1], grid])
        table = np.concatenate([half + table, half - STENCIL - table])
    count = len(grid)
    x = grid[np.minimum(np.arange(count), count - STENCIL)[:, np.newaxis] + np.arange(STENCIL)]
    middle, halfwidth = 0.5 * (x[:, 0] + x[:, -1]), 0.5 * (x[:, -1] - x[:, 0])
    t = (x - middle[:, np.newaxis]) / halfwidth[:, np.newaxis]
    cubics = np.zeros((count, STENCIL + 1, STENCIL))
    cubics[:, :STENCIL] = np.linalg.inv(t[:, :, np.newaxis] ** np.arange(STENCIL)).transpose(0, 2, 1)
    cubics[:, STENCIL, 0], cubics[:, STENCIL, 1] = middle, 1.0 / halfwidth
    return grid, cubics, table


@inline
def _locate(
    velocity: Floats, per_speed: float, odd: bool, cubics: Floats, table: Integers, lowest: Integers, place: Floats
) -> None:
    """The first node of the cubic that each sample is interpolated with, and its t there."""
    for sample in range(len(velocity)):
        v = velocity[sample] * per_speed
        cell = min(int(abs(v) * CELLS), CELLS)
        x = abs(v) if odd else v
        k = table[cell + CELLS + 1 if v < 0.0 and not odd else cell]
        lowest[sample] = k
        place[sample] = (x - cubics[k, STENCIL, 0]) * cubics[k, STENCIL, 1]


@kernel(f"void({READ}, f8, b1, f8[:, :, ::1], i8[::1], i8[::1], f8[:, ::1])")
def _interpolate(
    velocity: Floats,
    per_speed: float,
    odd: bool,
    cubics: Floats,
    table: Integers,
    lowest: Integers,
    weights: Floats,
) -> None:
    """The four nodes of each sample, and their weights."""
    place = np.empty(len(velocity))
    _locate(velocity, per_speed, odd, cubics, table, lowest, place)
    for sample in range(len(velocity)):
        k, t = lowest[sample], place[sample]
        sign = -1.0 if odd and velocity[sample] < 0.0 else 1.0
        for i in range(STENCIL):
            c = cubics[k, i]
            weights[sample, i] = sign * (c[0] + t * (c[1] + t * (c[2] + t * c[3])))


@inline
def _expand(cubics: Floats, squares: Floats, products: Floats, band: Floats, cross: Floats) -> None:
    """Turn moments into sums at nodes: band[k + i, j − i] = Σ_pq C_ip C_jq m_(p+q), cross[k + i] = Σ_p C_ip m_p."""
    m, h = np.empty(2 * STENCIL - 1), np.empty(STENCIL)
    for k in range(len(cubics)):
        for p in range(len(m)):
            m[p] = squares[0, k, p] + squares[1, k, p]
        if m[0] == 0.0:
            continue
        for i in range(STENCIL):
            c0, c1, c2, c3 = cubics[k, i, 0], cubics[k, i, 1], cubics[k, i, 2], cubics[k, i, 3]
            for q in range(STENCIL):
                h[q] = c0 * m[q] + c1 * m[q + 1] + c2 * m[q + 2] + c3 * m[q + 3]
            for j in range(i, STENCIL):
                entry = cubics[k, j, 0] * h[0] + cubics[k, j, 1] * h[1]
                band[k + i, j - i] += entry + cubics[k, j, 2] * h[2] + cubics[k, j, 3] * h[3]
            for x in range(products.shape[2]):
                for p in range(STENCIL):
                    cross[k + i, x] += cubics[k, i, p] * (products[0, k, x, p] + products[1, k, x, p])


@kernel(
    f"void({READ}, f8, b1, f8[:, :, ::1], i8[::1], f8[:, ::1], {READ}, {READ}, {READ}, "
    "f8[:, ::1], f8[:, ::1], f8[:, ::1])"
)
def _accumulate(
    velocity: Floats,
    per_speed: float,
    odd: bool,
    cubics: Floats,
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

    A stretch's weights are cubics in t, so their products need only the moments Σ t⁰ … Σ t⁶ of its rows, and Σ x t⁰ …
    Σ x t³ of every column x: fewer sums than products of weights. Every other row adds to sums of its own, since
    neighbouring rows meet in the same and would wait for each other.
    """
    columns, nodes = fixed.shape[1] + 1, len(cubics)
    lowest, place = np.empty(BLOCK, np.int64), np.empty(BLOCK)
    factor, f = np.empty(BLOCK), np.empty((columns, BLOCK))
    squares, products = np.zeros((2, nodes, 8)), np.zeros((2, nodes, columns, STENCIL))
    for begin in range(0, len(y), BLOCK):
        count = min(BLOCK, len(y) - begin)
        _locate(velocity[begin : begin + count], per_speed, odd, cubics, table, lowest, place)
        for row in range(count):
            sign = -1.0 if odd and velocity[begin + row] < 0.0 else 1.0
            factor[row] = sign * weight[begin + row] * gain[begin + row]
        for i in range(columns):
            for row in range(count):
                f[i, row] = weight[begin + row] * (fixed[begin + row, i] if i < columns - 1 else y[begin + row])
            for j in range(i + 1):
                gram[j, i] += dot(f[j, :count], f[i, :count])
        for row in range(count):
            t, h, k = place[row], row % 2, lowest[row]
            t2, g = t * t, factor[row] * factor[row]
            g2, g4 = g * t2, g * t2 * t2
            squares[h, k, 0] += g
            squares[h, k, 1] += g * t
            squares[h, k, 2] += g2
            squares[h, k, 3] += g2 * t
            squares[h, k, 4] += g4
            squares[h, k, 5] += g4 * t
            squares[h, k, 6] += g4 * t2
            for i in range(columns):
                g = factor[row] * f[i, row]
                gt = g * t
                products[h, k, i, 0] += g
                products[h, k, i, 1] += gt
                products[h, k, i, 2] += g * t2
                products[h, k, i, 3] += gt * t2
    _expand(cubics, squares, products, band, cross)


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
