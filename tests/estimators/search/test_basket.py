"""The basket of minima, and the sample, against the paper: which valley is new, and what is kept of an old one."""

import math
from collections.abc import Callable

import numba
import numpy as np
import pytest

from estimators.numerics.jit import INTERPRETED, kernel
from estimators.quantities import Floats
from estimators.search import minimise
from estimators.search.mcs import Mcs
from estimators.search.multilevel.basket import Basket, consider, is_new_valley, keep
from estimators.search.multilevel.boxes import BASKET, SIZES
from estimators.search.multilevel.evaluation import BUDGET, COUNTS, EVALUATIONS, FLOATS, FUNCTION, INTS, Ints, Objective
from hil_rig.papers.searches.test_functions import FUNCTIONS
from jointwatch_layout import pointer

pytestmark = pytest.mark.interpreted

(CAMEL,) = (function for function in FUNCTIONS if function.name == "Six-hump camel")


def camel(x: Floats) -> float:
    """Six valleys, written out once more."""
    a, b = x
    return float(4.0 * a**2 - 2.1 * a**4 + a**6 / 3.0 + a * b - 4.0 * b**2 + 4.0 * b**4)


MATRIX = numba.types.Array(numba.float64, 2, "C")


@kernel(
    numba.types.Tuple((numba.boolean, numba.float64))(
        *(numba.boolean, FUNCTION, FLOATS, FLOATS, FLOATS, INTS, FLOATS, FLOATS, FLOATS, INTS),
        *(MATRIX, FLOATS, MATRIX, INTS, FLOATS, numba.float64),
    )
)
def judged(
    after: bool,
    f: Callable[[Floats, Floats], float],
    data: Floats,
    lower: Floats,
    upper: Floats,
    free: Ints,
    handed: Floats,
    best: Floats,
    value: Floats,
    counts: Ints,
    point: Floats,
    point_value: Floats,
    considered: Floats,
    size: Ints,
    x: Floats,
    at_x: float,
) -> tuple[bool, float]:
    """Ask the basket before a local search, or after it; as a whole search does, whose kernel has flat arguments."""
    objective = Objective(f, data, lower, upper, free, handed, best, value, counts)
    basket = Basket(point, point_value, considered, size)
    if after:
        keep(objective, basket, x, at_x)
        return True, at_x
    return is_new_valley(objective, basket, x, at_x)


class Ours:
    """A basket with minima at these points, and room for one more, of the six-hump camel over its box."""

    def __init__(self, points: Floats) -> None:
        self.counts, self.size = np.zeros(COUNTS, np.int64), np.zeros(SIZES, np.int64)
        self.counts[BUDGET], self.size[BASKET] = 10**6, len(points)
        self.point, self.value = np.zeros((len(points) + 1, 2)), np.zeros(len(points) + 1)
        self.point[:-1], self.value[:-1] = points, [camel(one) for one in points]

    def ask(self, after: bool, x: Floats) -> tuple[bool, float]:
        """x may move."""
        f = CAMEL.f.function if INTERPRETED else pointer(CAMEL.f.function)
        room, state = [np.zeros(2), np.zeros(2), np.array([np.inf, -np.inf])], [self.counts, self.point, self.value]
        ends = CAMEL.lower, CAMEL.upper, np.arange(2)
        new, value = judged(after, f, np.zeros(1), *ends, *room, *state, np.zeros((4, 2)), self.size, x, camel(x))
        return bool(new), float(value)


def by_distance(points: Floats, x: Floats) -> list[int]:
    return sorted(range(len(points)), key=lambda k: math.dist(points[k], x))


def opens(points: Floats, x: Floats) -> tuple[bool, Floats, float, int, str]:
    """§5.4 before a local search: whether the valley is new, where to begin, f there, evaluations, what happened."""
    f, looks, path = camel(x), 0, ""
    for k in by_distance(points, x):
        w, fw = points[k], camel(points[k])
        if fw > f:
            path += "higher "
            continue
        y, z = x + (w - x) / 3.0, x + 2.0 * (w - x) / 3.0
        looks += 1
        if camel(y) > f:
            path += "hill "
            continue
        looks += 1
        if camel(z) > max(camel(y), fw):
            if camel(y) < f:
                path += "nearer "
                x, f = y, camel(y)
        elif camel(y) < min(camel(z), fw) or camel(z) < min(camel(y), fw):
            path += "between "
            x, f = min((y, z), key=camel), min(camel(y), camel(z))
        else:
            return False, x, f, looks, path + "known"
    return True, x, f, looks, path


def kept(points: Floats, x: Floats) -> tuple[list[Floats], int, str]:
    """§5.4 after a local search: what is in the basket then, evaluations, and what happened."""
    looks, f = 0, camel(x)
    for k in by_distance(points, x):
        w = points[k]
        y, z = x + (w - x) / 3.0, x + 2.0 * (w - x) / 3.0
        looks += 1
        if camel(y) > max(camel(w), f):
            continue
        looks += 1
        if camel(z) > max(camel(y), camel(w)):
            continue
        best = min((x, y, z, w), key=camel)
        which = "xyzw"[next(i for i, one in enumerate((x, y, z, w)) if one is best)]
        return [best if i == k else one for i, one in enumerate(points)], looks, which
    return [*points, x], looks, "new"


def drawn(seed: int) -> tuple[Floats, Floats]:
    """Some minima of the basket, and a point."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(CAMEL.lower, CAMEL.upper, (int(rng.integers(1, 4)), 2))
    x = rng.uniform(CAMEL.lower, CAMEL.upper)
    return np.where(rng.random((len(points), 1)) < 0.5, points, 0.6 * points), (0.5 * x if seed % 2 else x)


def test_a_valley_is_new_where_the_way_to_every_known_minimum_rises() -> None:
    seen: set[str] = set()
    for seed in range(400):
        points, x = drawn(seed)
        new, start, f, looks, path = opens(points, x.copy())
        ours, place = Ours(points), x.copy()
        assert ours.ask(False, place) == (new, pytest.approx(f, abs=1e-9)), seed
        np.testing.assert_allclose(place, start, atol=1e-12)
        assert ours.counts[EVALUATIONS] == looks
        seen.update(path.split())
    assert seen == {"higher", "hill", "nearer", "between", "known"}


def test_a_minimum_of_a_known_valley_takes_the_place_of_the_worse_one() -> None:
    seen: set[str] = set()
    for seed in range(400):
        points, x = drawn(seed)
        wanted, looks, which = kept(points, x)
        ours = Ours(points)
        ours.ask(True, x)
        assert ours.size[BASKET] == len(wanted)
        np.testing.assert_allclose(ours.point[: len(wanted)], wanted, atol=1e-12, err_msg=f"{seed}")
        np.testing.assert_allclose(ours.value[: len(wanted)], [camel(one) for one in wanted], atol=1e-9)
        assert ours.counts[EVALUATIONS] == looks
        seen.add(which)
    assert seen == {"x", "y", "z", "w", "new"}


def test_a_point_is_considered_once() -> None:
    ours = Basket(np.zeros((1, 2)), np.zeros(1), np.zeros((4, 2)), np.zeros(SIZES, np.int64))
    one, other = np.array([0.5, 1.0]), np.array([0.5, -1.0])
    assert [consider(ours, x) for x in (one, other, one, other)] == [True, True, False, False]


@pytest.mark.parametrize(("n", "ratio"), [(1, 1.618033988749895), (2, 1.324717957244746), (3, 1.2207440846057596)])
def test_every_second_sweep_ends_with_a_low_discrepancy_sample_of_the_box(n: int, ratio: float) -> None:
    """The additive recurrence of the generalised golden ratio, ratioⁿ⁺¹ = ratio + 1, four points a dimension."""
    points: list[Floats] = []

    def f(x: Floats) -> float:
        points.append(x)
        return float(np.sum(np.cos(3.0 * x) + 0.1 * x))

    low, high = -2.0, 6.0
    minimise(Mcs(local_steps=0), f, [low] * n, [high] * n, budget=400, seed=4)
    turn = ratio ** -np.arange(1.0, n + 1.0)
    parts = (np.array(points) - low) / (high - low)
    off = np.abs((np.diff(parts, axis=0) - turn + 0.5) % 1.0 - 0.5).max(axis=1)
    samples = [len(run) + 1 for run in "".join("s" if one < 1e-9 else " " for one in off).split()]
    assert len(samples) > 5
    assert set(samples[:-1]) == {4 * n}, "of the last one the budget may have been spent"
