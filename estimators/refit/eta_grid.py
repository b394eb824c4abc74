"""The table of a survey: normal equations of columns stored on a lattice of η, read between its points.

Where every moving column depends on one η only, the normal equations at any s are a congruence of those of all stored
columns: K(s) = L(s) K_table L(s)ᵀ, with six-point Lagrange weights L in s, and with their derivatives those of M′.
"""

from math import prod
from typing import Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.numerics.nnls import Integers
from estimators.quantities import Floats
from estimators.refit.settings import POINTS

#: 1, derived: One over the differences of a node of the interpolation from the others, multiplied.
PER_PRODUCT: Final = tuple(1.0 / prod(i - j for j in range(POINTS) if j != i) for i in range(POINTS))


@inline
def lagrange(t: float, w: Floats, slope: Floats) -> None:
    """Weights of the values at 0 … 5 for the polynomial and its derivative at t."""
    for i in range(POINTS):
        product, scale, change = 1.0, 1.0, 0.0
        for j in range(POINTS):
            if j != i:
                change = change * (t - j) + product
                product *= t - j
                scale *= i - j
        w[i] = product / scale
        slope[i] = change / scale


@inline
def interpolate(
    table: Floats,
    tc: Floats,
    ts: Floats,
    lattice: int,
    owner: Integers,
    scale: Floats,
    s: Floats,
    m: int,
    K: Floats,
    c: Floats,
    size: Floats,
) -> None:
    """Normal equations of [F M M′] at s, (f + 2m) columns, from those of [F, stored columns].

    Stored column f + c·lattice + i: moving column c at lattice point i of its η; scale: (3, q) lower and upper s first.
    """
    f = len(tc) - m * lattice
    W, base = np.empty((2 * m, POINTS)), np.empty(2 * m, np.int64)
    for column in range(m):
        k = owner[column]
        per_s = (lattice - 1) / (scale[1, k] - scale[0, k])
        u = (s[k] - scale[0, k]) * per_s
        first = min(max(int(u) - POINTS // 2 + 1, 0), lattice - POINTS)
        lagrange(u - first, W[column], W[m + column])
        W[m + column] *= per_s
        base[column] = base[m + column] = f + column * lattice + first
        size[f + column] = size[f + m + column] = ts[f + column * lattice + min(max(int(u + 0.5), 0), lattice - 1)]
    for i in range(f):
        c[i], size[i] = tc[i], ts[i]
        for j in range(f):
            K[i, j] = table[i, j]
    for a in range(2 * m):
        total = 0.0
        for i in range(POINTS):
            total += W[a, i] * tc[base[a] + i]
        c[f + a] = total
        for j in range(f):
            total = 0.0
            for i in range(POINTS):
                total += W[a, i] * table[base[a] + i, j]
            K[f + a, j] = K[j, f + a] = total
        for b in range(a + 1):
            total = 0.0
            for i in range(POINTS):
                inner = 0.0
                for j in range(POINTS):
                    inner += W[b, j] * table[base[a] + i, base[b] + j]
                total += W[a, i] * inner
            K[f + a, f + b] = K[f + b, f + a] = total


@inline
def read(
    table: Floats,
    tc: Floats,
    ts: Floats,
    lattice: int,
    owner: Integers,
    scale: Floats,
    s: Floats,
    K: Floats,
    c: Floats,
    size: Floats,
    W: Floats,
) -> None:
    """Normal equations of [F M] alone at s, as interpolate(), for a search that reads often.

    W: (m, POINTS + 1) scratch.
    """
    m = len(owner)
    f = len(tc) - m * lattice
    for column in range(m):
        k, w = owner[column], W[column]
        u = (s[k] - scale[0, k]) * (lattice - 1) / (scale[1, k] - scale[0, k])
        first = min(max(int(u) - POINTS // 2 + 1, 0), lattice - POINTS)
        t = u - first
        left = 1.0
        for i in range(POINTS):  # Π (t − j) over j < i
            w[i] = left
            left *= t - i
        right = 1.0
        for i in range(POINTS - 1, -1, -1):  # and over j > i
            w[i] *= right * PER_PRODUCT[i]
            right *= t - i
        base = f + column * lattice + first
        w[POINTS] = base
        size[f + column] = ts[f + column * lattice + min(max(int(u + 0.5), 0), lattice - 1)]
        total = 0.0
        for i in range(POINTS):
            total += w[i] * tc[base + i]
        c[f + column] = total
        for j in range(f):
            total = 0.0
            for i in range(POINTS):
                total += w[i] * table[base + i, j]
            K[f + column, j] = K[j, f + column] = total
        for other in range(column + 1):
            v = W[other]
            at, total = int(v[POINTS]), 0.0
            for i in range(POINTS):
                row, inner = table[base + i], 0.0
                for j in range(POINTS):
                    inner += v[j] * row[at + j]
                total += w[i] * inner
            K[f + column, f + other] = K[f + other, f + column] = total
    for i in range(f):
        c[i], size[i] = tc[i], ts[i]
        for j in range(f):
            K[i, j] = table[i, j]


@inline
def starts(values: Floats, lattice: int, dimensions: int, found: Integers) -> int:
    """Where to begin on values (latticeᵈ,), lowest first: fills found, returns how many, at most its length.

    The local minima, against neighbours along the axes, and the best point of every other slice of every axis: a
    narrow oblique valley can hold two bottoms and still fall all the way from point to point of the lattice.
    """
    slices = np.full((dimensions, lattice), -1)
    for point in range(len(values)):
        stride = 1
        for k in range(dimensions):
            i = point // stride % lattice
            if i % 2 == 0 and (slices[k, i] < 0 or values[point] < values[slices[k, i]]):
                slices[k, i] = point
            stride *= lattice
    count = 0
    for point in range(len(values)):
        minimum, best = True, False
        stride = 1
        for k in range(dimensions):
            i = point // stride % lattice
            before = i > 0 and values[point - stride] <= values[point]
            after = i < lattice - 1 and values[point + stride] < values[point]
            minimum = minimum and not before and not after
            best = best or slices[k, i] == point
            stride *= lattice
        if not ((minimum or best) and np.isfinite(values[point])):
            continue
        place = min(count, len(found))
        while place > 0 and values[found[place - 1]] > values[point]:
            if place < len(found):
                found[place] = found[place - 1]
            place -= 1
        if place < len(found):
            found[place] = point
            count = min(count + 1, len(found))
    return count
