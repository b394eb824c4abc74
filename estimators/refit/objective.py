"""The residual ρ(s) of a window as a search sees it: compiled, with all it needs, and its visits, in one array.

A search (estimators/search) knows a box and a function of a point. On a table (eta_grid.py) a value costs about as
much as the search's own book-keeping; without one the law is called on the window's nodes or samples. Every visit is
written down, since the best point alone says nothing of the other valleys.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from estimators.models.friction.base import fill_law
from estimators.numerics.jit import INTERPRETED, inline, kernel
from estimators.numerics.nnls import Integers, nnls
from estimators.numerics.normal_equations import copy, normal_equations
from estimators.quantities import Floats
from estimators.refit.eta_grid import read
from estimators.refit.settings import POINTS
from estimators.refit.variable_projection import ProjectionProblem
from jointwatch_layout import pointer

#: 1, argued: Share of the box by which two visits must differ to begin a descent each.
DISTINCT: Final = 0.1

OBJECTIVE: Final = "f8(f8[::1], f8[::1])"  # a search's: a point s (q,), and the packed array

# the head of a packed array, as integers
LAW: Final = 0  # address of the law's kernel; uncompiled, its number in LAWS
COLUMNS: Final = 1
SEPARATE: Final = 2
CONSTANTS: Final = 3  # lengths from here on
NODES: Final = 4
MOVING: Final = 5
OWNERS: Final = 6
ETAS: Final = 7
WIDTH: Final = 8
CROSS: Final = 9
BLOCK: Final = 10
SIGNED: Final = 11
LATTICE: Final = 12  # points a side of the table, 0: there is none
STORED: Final = 13  # columns of the table
VISITS: Final = 14  # so far
SIGNALS: Final = 15  # numbers of one node
ROOM: Final = 16  # visits that can be written down
HEAD: Final = 17

LAWS: Final[dict[int, Any]] = {}  # uncompiled kernels by number, which an array of numbers cannot hold


class Table(NamedTuple):
    """Normal equations of the columns stored on a lattice of η, eta_grid.py."""

    gram: Floats  # (stored, stored)
    right: Floats  # (stored,)
    size: Floats  # (stored,)
    lattice: int  # points a side


NO_TABLE: Final = Table(np.zeros((0, 0)), np.zeros(0), np.zeros(0), 0)


def pack(p: ProjectionProblem, law: Any, table: Table, visits: int) -> Floats:
    """One array for on_table or on_window; law: its kernel; visits: how many can be written down."""
    nodes = 0 if table.lattice else len(p.signals)
    words = np.zeros(HEAD, np.int64)
    words[LAW], words[COLUMNS], words[SEPARATE] = _address(law), p.columns, p.separate
    words[CONSTANTS : STORED + 1] = (
        len(p.constants), nodes, len(p.moving), len(p.owner), p.scale.shape[1], len(p.band), len(p.cross),
        len(p.block), len(p.signed), table.lattice, len(table.right),
    )  # fmt: skip
    words[SIGNALS], words[ROOM] = p.signals[0].size, visits
    n = len(p.signed)
    scratch = n * (2 * n + 5) + len(p.moving) * (POINTS + 1)
    head = [words, p.moving, p.owner, p.signed]
    body = [p.constants, p.scale, p.block, table.gram, table.right, table.size]
    if nodes:
        body += [p.signals, p.band, p.cross]
    parts = [part.view(np.float64) for part in head] + [part.ravel() for part in body]
    return np.concatenate([*parts, np.empty(visits * (1 + p.scale.shape[1]) + scratch)])


def _address(law: Any) -> int:
    if not INTERPRETED:
        return int(pointer(law).__wrapper_address__())
    LAWS[id(law)] = law
    return id(law)


if INTERPRETED:

    def _kernel_at(number: int) -> Any:
        return LAWS[int(number)]

else:

    @inline
    def _kernel_at(number: int) -> Any:
        return number


class _Packed(NamedTuple):
    """A packed array, taken apart; views."""

    words: Integers
    moving: Integers
    owner: Integers
    signed: Integers
    constants: Floats
    scale: Floats
    block: Floats
    gram: Floats
    right: Floats
    stored: Floats
    signals: Floats
    band: Floats
    cross: Floats
    visits: Floats


class _Scratch(NamedTuple):
    K: Floats
    c: Floats
    size: Floats
    theta: Floats
    state: Integers
    factor: Floats
    weights: Floats


@inline
def _unpack(data: Floats) -> _Packed:
    words = data[:HEAD].view(np.int64)
    nodes, q, n, stored = words[NODES], words[ETAS], words[BLOCK], words[STORED]
    width, rows = (words[WIDTH], words[CROSS]) if nodes > 0 else (0, 0)
    a = HEAD
    b = a + words[MOVING]
    c = b + words[OWNERS]
    d = c + words[SIGNED]
    e = d + words[CONSTANTS]
    f = e + 3 * q
    g = f + n * n
    h = g + stored * stored
    i = h + stored
    j = i + stored
    k = j + nodes * words[SIGNALS]
    m = k + width * nodes
    o = m + rows * nodes
    return _Packed(
        words,
        data[a:b].view(np.int64),
        data[b:c].view(np.int64),
        data[c:d].view(np.int64),
        data[d:e],
        data[e:f].reshape((3, q)),
        data[f:g].reshape((n, n)),
        data[g:h].reshape((stored, stored)),
        data[h:i],
        data[i:j],
        data[j:k].reshape((nodes, 2, words[SIGNALS] // 2)),
        data[k:m].reshape((width, nodes)),
        data[m:o].reshape((rows, nodes)),
        data[o:],
    )


@inline
def _visited(p: _Packed, s: Floats, value: float) -> float:
    """Write a visit down; returns its value."""
    q, number = len(s), p.words[VISITS]
    if number < p.words[ROOM]:
        p.visits[number * (1 + q)] = value
        for k in range(q):
            p.visits[number * (1 + q) + 1 + k] = s[k]
        p.words[VISITS] = number + 1
    return value


@inline
def _scratch(p: _Packed) -> _Scratch:
    """What a value is computed in, behind the visits: nothing is allocated."""
    n, m = len(p.signed), len(p.moving)
    a = p.words[ROOM] * (1 + p.words[ETAS])
    b = a + n * n
    c = b + n
    d = c + n
    e = d + n
    f = e + n
    g = f + (n + 1) * n
    v = p.visits
    return _Scratch(
        v[a:b].reshape((n, n)),
        v[b:c],
        v[c:d],
        v[d:e],
        v[e:f].view(np.int64),
        v[f:g].reshape((n + 1, n)),
        v[g:].reshape((m, POINTS + 1)),
    )


@inline
def _rho(p: _Packed, a: _Scratch) -> float:
    yy = p.block[-1, -1]
    value = yy - nnls(a.K, a.c, p.signed, a.size, yy, a.theta, a.state, a.factor)
    return value if np.isfinite(value) else np.inf


@kernel(OBJECTIVE)
def on_table(s: Floats, data: Floats) -> float:
    """ρ as the table has it."""
    p = _unpack(data)
    a = _scratch(p)
    read(p.gram, p.right, p.stored, p.words[LATTICE], p.owner, p.scale, s, a.K, a.c, a.size, a.weights)
    return _visited(p, s, _rho(p, a))


@kernel(OBJECTIVE)
def on_window(s: Floats, data: Floats) -> float:
    """ρ on the window's nodes or samples."""
    p = _unpack(data)
    m, q = len(p.moving), len(s)
    eta, every = np.empty(q), np.empty((p.words[COLUMNS], len(p.signals)))
    for k in range(q):
        eta[k] = np.exp(s[k]) if p.scale[2, k] > 0.0 else s[k]
    fill_law(_kernel_at(p.words[LAW]), p.signals, 0, 1, p.constants, eta, every.T)
    M, a = np.empty((m, len(p.signals))), _scratch(p)
    for column in range(m):
        copy(every[p.moving[column]], M[column])
    normal_equations(M, p.band, p.cross, p.block, a.K, a.c, a.size)
    return _visited(p, s, _rho(p, a))


@kernel("i8(f8[::1], f8[:, ::1])")
def lowest_visits(data: Floats, where: Floats) -> int:
    """Fill where (starts, q) with the lowest visits that differ by DISTINCT of the box; returns how many."""
    p = _unpack(data)
    q, number = where.shape[1], p.words[VISITS]
    taken, found = np.zeros(number, np.bool_), 0
    while found < len(where):
        best = -1
        for i in range(number):
            value = p.visits[i * (1 + q)]
            if not taken[i] and np.isfinite(value) and (best < 0 or value < p.visits[best * (1 + q)]):
                best = i
        if best < 0:
            break
        for k in range(q):
            where[found, k] = p.visits[best * (1 + q) + 1 + k]
        found += 1
        for i in range(number):
            near = True
            for k in range(q):
                width = p.scale[1, k] - p.scale[0, k]
                away = p.visits[i * (1 + q) + 1 + k] - p.visits[best * (1 + q) + 1 + k]
                near = near and abs(away) <= DISTINCT * width
            taken[i] = taken[i] or near
    return found
