"""The residual ρ(s) of a window as a search sees it: compiled, with all it needs, and its visits, in one array.

A search (estimators/search) knows a box and a function of a point. On a table (eta_grid.py) a value costs about as
much as the search's own book-keeping; without one the law is called on the window's nodes or samples. Every visit is
written down, since the best point alone does not show the other valleys.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from estimators.models.friction.base import fill_law
from estimators.numerics.jit import INTERPRETED, inline, inline_always, kernel
from estimators.numerics.nnls import Integers, nnls
from estimators.numerics.normal_equations import copy, normal_equations
from estimators.quantities import Floats
from estimators.refit.eta_grid import read
from estimators.refit.settings import POINTS
from estimators.refit.variable_projection import ProjectionProblem
from jointwatch_numba.layout import pointer
from jointwatch_numba.matrix import as_matrix, as_vector

#: 1, argued: Share of the box by which two visits must differ to begin a descent each.
DISTINCT: Final = 0.1

OBJECTIVE: Final = "f8(f8[::1], f8[::1])"  # a search's: a point s (q,), and the packed array


class _Head(NamedTuple):
    """The head of a packed array, as integers."""

    law: int  # address of the law's kernel; uncompiled, its number in LAWS
    columns: int  # the law has
    constants: int  # lengths from here on
    nodes: int
    moving: int
    owners: int
    etas: int
    width: int  # of the band
    cross: int
    block: int
    signed: int
    lattice: int  # points a side of the table, 0: there is none
    stored: int  # columns of the table
    signals: int  # numbers of one node
    room: int  # visits that can be written down
    visits: int  # so far


HEAD: Final = len(_Head._fields)
LAWS: Final[dict[int, Any]] = {}  # uncompiled kernels by number, which an array of numbers cannot hold


class SurveyTable(NamedTuple):
    """Normal equations of the columns stored on a lattice of η, eta_grid.py."""

    gram: Floats  # (stored, stored)
    right: Floats  # (stored,)
    size: Floats  # (stored,)
    lattice: int  # points a side


NO_TABLE: Final = SurveyTable(np.zeros((0, 0)), np.zeros(0), np.zeros(0), 0)


def pack(p: ProjectionProblem, law: Any, table: SurveyTable, visits: int) -> Floats:
    """One array for on_table or on_window; law: its kernel; visits: how many can be written down."""
    nodes = 0 if table.lattice else len(p.signals)
    words = np.array(
        _Head(
            law=_address(law),
            columns=p.columns,
            constants=len(p.constants),
            nodes=nodes,
            moving=len(p.moving),
            owners=len(p.owner),
            etas=p.scale.shape[1],
            width=len(p.band),
            cross=len(p.cross),
            block=len(p.block),
            signed=len(p.signed),
            lattice=table.lattice,
            stored=len(table.right),
            signals=p.signals[0].size,
            room=visits,
            visits=0,
        ),
        np.int64,
    )
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

    head: _Head
    words: Integers  # of the head, where it is written
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


@inline_always
def _unpack(data: Floats) -> _Packed:
    words = data[:HEAD].view(np.int64)
    head = _Head(
        words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7], words[8], words[9], words[10],
        words[11], words[12], words[13], words[14], words[15],
    )  # fmt: skip
    nodes, q, n, stored = head.nodes, head.etas, head.block, head.stored
    width, rows = (head.width, head.cross) if nodes > 0 else (0, 0)
    a = HEAD
    b = a + head.moving
    c = b + head.owners
    d = c + head.signed
    e = d + head.constants
    f = e + 3 * q
    g = f + n * n
    h = g + stored * stored
    i = h + stored
    j = i + stored
    k = j + nodes * head.signals
    m = k + width * nodes
    o = m + rows * nodes
    return _Packed(
        head,
        words,
        data[a:b].view(np.int64),
        data[b:c].view(np.int64),
        data[c:d].view(np.int64),
        data[d:e],
        as_matrix(data[e:f], 3, q),
        as_matrix(data[f:g], n, n),
        as_matrix(data[g:h], stored, stored),
        data[h:i],
        data[i:j],
        data[j:k].reshape((nodes, 2, head.signals // 2)),
        as_matrix(data[k:m], width, nodes),
        as_matrix(data[m:o], rows, nodes),
        data[o:],
    )


@inline_always
def _visited(p: _Packed, s: Floats, value: float) -> float:
    """Write a visit down; returns its value."""
    q, number = len(s), p.words[HEAD - 1]
    if number < p.head.room:
        p.visits[number * (1 + q)] = value
        for k in range(q):
            p.visits[number * (1 + q) + 1 + k] = s[k]
        p.words[HEAD - 1] = number + 1
    return value


@inline
def _scratch(p: _Packed) -> _Scratch:
    """What a value is computed in, after the visits: nothing is allocated."""
    n, m = len(p.signed), len(p.moving)
    a = p.head.room * (1 + p.head.etas)
    b = a + n * n
    c = b + n
    d = c + n
    e = d + n
    f = e + n
    g = f + (n + 1) * n
    v = p.visits
    return _Scratch(
        as_matrix(v[a:b], n, n),
        v[b:c],
        v[c:d],
        v[d:e],
        v[e:f].view(np.int64),
        as_matrix(v[f:g], n + 1, n),
        as_matrix(v[g:], m, POINTS + 1),
    )


@inline
def _rho(p: _Packed, a: _Scratch) -> float:
    yy = p.block[-1, -1]
    value = yy - nnls(a.K, a.c, p.signed, a.size, yy, a.theta, a.state, a.factor)
    return value if np.isfinite(value) else np.inf


@kernel(OBJECTIVE)
def on_table(s: Floats, data: Floats) -> float:
    """ρ as the table has it."""
    p = _unpack(as_vector(data))
    a = _scratch(p)
    read(p.gram, p.right, p.stored, p.head.lattice, p.owner, p.scale, s, a.K, a.c, a.size, a.weights)
    return _visited(p, s, _rho(p, a))


@kernel(OBJECTIVE)
def on_window(s: Floats, data: Floats) -> float:
    """ρ on the window's nodes or samples."""
    p = _unpack(as_vector(data))
    m, q = len(p.moving), len(s)
    eta, every = np.empty(q), np.empty((p.head.columns, len(p.signals)))
    for k in range(q):
        eta[k] = np.exp(s[k]) if p.scale[2, k] > 0.0 else s[k]
    fill_law(_kernel_at(p.head.law), p.signals, 0, 1, p.constants, eta, every.T)
    M, a = np.empty((m, len(p.signals))), _scratch(p)
    for column in range(m):
        copy(every[p.moving[column]], M[column])
    normal_equations(M, p.band, p.cross, p.block, a.K, a.c, a.size)
    return _visited(p, s, _rho(p, a))


@kernel("i8(f8[::1], f8[:, ::1])")
def lowest_visits(data: Floats, where: Floats) -> int:
    """Fill where (starts, q) with the lowest visits that differ by DISTINCT of the box; returns how many."""
    p = _unpack(as_vector(data))
    q, number = where.shape[1], p.head.visits
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
