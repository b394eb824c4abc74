"""The basket of minima, and the sample, against the paper: which valley is new, and what is kept of an old one."""

import math

import numpy as np
import pytest

from estimators.numerics.jit import kernel
from estimators.quantities import Floats
from estimators.search import minimise
from estimators.search.mcs import Mcs
from estimators.search.multilevel.basket import Basket, consider, is_new_valley, keep
from estimators.search.multilevel.evaluation import Objective
from hil_rig.papers.searches.test_functions import FUNCTIONS

pytestmark = pytest.mark.interpreted

(CAMEL,) = (function for function in FUNCTIONS if function.name == "Six-hump camel")


def camel(x: Floats) -> float:
    """Six valleys, written out once more."""
    a, b = x
    return float(4.0 * a**2 - 2.1 * a**4 + a**6 / 3.0 + a * b - 4.0 * b**2 + 4.0 * b**4)


@kernel(("b1", Objective, Basket, "f8[::1]", "f8"))
def judged(after: bool, objective: Objective, basket: Basket, x: Floats, at_x: float) -> tuple[bool, float]:
    """Ask the basket before a local search, or after it."""
    if after:
        keep(objective, basket, x, at_x)
        return True, at_x
    return is_new_valley(objective, basket, x, at_x)


class Ours:
    """A basket with minima at these points, and room for one more, of the six-hump camel over its box."""

    def __init__(self, points: Floats) -> None:
        count = len(points)
        self.objective = Objective(
            f=CAMEL.f.function,
            data=np.zeros(1),
            lower=CAMEL.lower,
            upper=CAMEL.upper,
            free=np.arange(2),
            x=np.zeros(2),
            best=np.zeros(2),
            budget=10**6,
        )
        self.basket = Basket.zeros(capacity=count + 1, dimensions=2, count=count)
        self.basket.point[:-1], self.basket.value[:-1] = points, [camel(one) for one in points]

    def ask(self, after: bool, x: Floats) -> tuple[bool, float]:
        """x may move."""
        new, value = judged(after, self.objective, self.basket, x, camel(x))
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
        assert ours.objective.evaluations == looks
        seen.update(path.split())
    assert seen == {"higher", "hill", "nearer", "between", "known"}


def test_a_minimum_of_a_known_valley_takes_the_place_of_the_worse_one() -> None:
    seen: set[str] = set()
    for seed in range(400):
        points, x = drawn(seed)
        wanted, looks, which = kept(points, x)
        ours = Ours(points)
        ours.ask(True, x)
        assert ours.basket.count == len(wanted)
        np.testing.assert_allclose(ours.basket.point[: len(wanted)], wanted, atol=1e-12, err_msg=f"{seed}")
        np.testing.assert_allclose(ours.basket.value[: len(wanted)], [camel(one) for one in wanted], atol=1e-9)
        assert ours.objective.evaluations == looks
        seen.add(which)
    assert seen == {"x", "y", "z", "w", "new"}


def test_a_point_is_considered_once() -> None:
    ours = Basket.zeros(capacity=4, dimensions=2)
    one, other, origin = np.array([0.5, 1.0]), np.array([0.5, -1.0]), np.zeros(2)
    assert [consider(ours, x) for x in (one, other, one, other)] == [True, True, False, False]
    assert [consider(ours, x) for x in (origin, origin)] == [True, False], "rows that are not used hold no point"
    assert ours.seen == 3
    np.testing.assert_array_equal(ours.considered[:3], [one, other, origin])


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
