"""The parts of multilevel coordinate search against independent answers."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.search.multilevel.boxes import subinterval
from estimators.search.multilevel.lists import drawn_in, ends, nearer, sixths
from estimators.search.multilevel.quadratic import box_minimum


def value(p, g, G):
    return g @ p + 0.5 * p @ G @ p


def least(g, G, low, high):
    """The global minimum over the box: the least value over all faces, at the stationary point of each."""
    best = 0.0
    for face in itertools.product((-1, 0, 1), repeat=len(g)):
        free = np.array(face) == 0
        p = np.where(np.array(face) < 0, low, high)
        p[free] = 0.0
        if free.any():
            p[free] = np.linalg.lstsq(G[np.ix_(free, free)], -(g + G @ p)[free], rcond=None)[0]
        if np.all((p >= low) & (p <= high)):
            best = min(best, value(p, g, G))
    return best


def programme(seed, n):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    return rng.normal(size=n), A, -rng.uniform(0.0, 2.0, n), rng.uniform(0.0, 2.0, n)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 5))
def test_a_convex_programme_ends_at_its_global_minimum(seed, n):
    g, A, low, high = programme(seed, n)
    G = A @ A.T + 0.01 * np.eye(n)
    p = box_minimum(g, G, low, high)
    assert np.all((p >= low) & (p <= high))
    assert value(p, g, G) == pytest.approx(least(g, G, low, high), rel=1e-9, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 5))
def test_an_indefinite_programme_ends_where_no_coordinate_can_gain(seed, n):
    g, A, low, high = programme(seed, n)
    G = A + A.T
    p = box_minimum(g, G, low, high)
    assert np.all((p >= low) & (p <= high))
    for i in range(n):
        for x in np.linspace(low[i], high[i], 41):
            moved = p.copy()
            moved[i] = x
            assert value(moved, g, G) >= value(p, g, G) - 1e-9


@pytest.mark.parametrize("seed", [*range(20), 1679, 1721, 2343, 2540, 2687])
def test_every_programme_ends_where_its_slope_is_zero_inside_and_outwards_on_the_bounds(seed):
    """The last five, of 3000 drawn, meet a bound with their last step in the free coordinates, and have to go on."""
    rng = np.random.default_rng(seed)
    n = 1 + seed % 6
    A, g = rng.normal(size=(n, n)), rng.normal(size=n)
    G = A @ A.T if seed % 3 == 0 else A + A.T if seed % 3 == 1 else A @ A.T * 10.0 ** rng.uniform(-3, 3, (n, 1))
    G = G if seed % 3 < 2 else G + G.T
    low = -rng.uniform(0, 2, n) * 10.0 ** rng.uniform(-2, 2)
    high = rng.uniform(0, 2, n) * 10.0 ** rng.uniform(-2, 2)
    low[rng.random(n) < 0.2] = 0.0
    p = box_minimum(g, G, low, high)
    slope, scale = g + G @ p, np.abs(g) + np.abs(G) @ np.abs(p) + np.abs(np.diag(G))
    beyond = np.where(p <= low, np.maximum(-slope, 0.0), np.where(p >= high, np.maximum(slope, 0.0), np.abs(slope)))
    assert (beyond <= 1e-12 * scale).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_model_that_is_not_finite_has_no_step(bad):
    with np.errstate(invalid="ignore"):  # as where a whole search runs uncompiled
        assert np.array_equal(box_minimum(np.array([1.0, bad]), np.eye(2), -np.ones(2), np.ones(2)), np.zeros(2))


def test_lists():
    low, high = np.array([-6.0, 0.0]), np.array([6.0, 12.0])
    assert ends(low, high).tolist() == [[-6, 0, 6], [0, 6, 12]]
    assert sixths(low, high).tolist() == [[-4, 0, 4], [2, 6, 10]]
    far = drawn_in(np.array([-np.inf, 2.0, -np.inf, 0.0]), np.array([np.inf, np.inf, -3.0, 5.0]))
    assert far.tolist() == [[-1, 0, 1], [2, 11, 20], [-30, -16.5, -3], [0, 2.5, 5]]


@pytest.mark.parametrize(
    ("x", "y", "near"),
    [
        *((0.0, np.inf, 1.0), (0.0, -900.0, -900.0), (2.0, -1e9, -20.0), (2.0, 9.0, 9.0)),
        *((2.0, 1900.0, 1900.0), (-2.0, -600.0, -600.0), (0.5, 700.0, 5.0)),
    ],
)
def test_far_ends_are_drawn_in(x, y, near):
    assert nearer(x, y) == near


@pytest.mark.parametrize(
    ("x", "y", "near"),
    [
        (0.0, np.inf, 1.0), (0.0, -1000.0, -1000.0), (0.0, -1000.5, -1.0), (1e-4, 1000.0, 1000.0),
        (2.0, 2000.0, 2000.0), (-2.0, -2000.0, -2000.0), (2.0, -2001.0, -20.0), (-3.0, np.inf, 30.0),
    ],
)  # fmt: skip
def test_a_far_end_of_a_box_is_drawn_in_beyond_a_thousand_times_the_point(x, y, near):
    """As `subint` of the authors' program, version 2.0."""
    assert subinterval(x, y, 1000.0) == near
