"""Parts of the local search by themselves: when it has settled, which minimum explains a point, roots of a cubic."""

import itertools
import math

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from estimators.numerics.jit import kernel
from estimators.quantities import Floats
from estimators.search.multilevel.basket import Basket
from estimators.search.multilevel.coordinates import _drop_close, _three_abscissae, leave_bounds
from estimators.search.multilevel.evaluation import Objective, SearchRules
from estimators.search.multilevel.line.line import MOST, Line, put
from estimators.search.multilevel.line.search import line_search
from estimators.search.multilevel.line.steps import _local_minimiser, _stationary
from estimators.search.multilevel.local import LocalSearch, _interior, _settled
from estimators.search.multilevel.model import LocalModel, begin, cross_terms
from estimators.search.multilevel.quadratic import _step
from estimators.search.multilevel.samples import Region, explained
from estimators.search.multilevel.sweeps import _negligible
from hil_rig.papers.searches.test_functions import FUNCTIONS

pytestmark = pytest.mark.interpreted

(CAMEL,) = (function for function in FUNCTIONS if function.name == "Six-hump camel")


def box(low: Floats, high: Floats) -> Objective:
    n = len(low)
    more = {"free": np.arange(n), "x": np.zeros(n), "best": np.zeros(n), "budget": 9}
    return Objective(f=CAMEL.f.function, data=np.zeros(1), lower=np.array(low), upper=np.array(high), **more)


def line_of(steps: Floats, values: Floats, least: float = -100.0, greatest: float = 100.0) -> Line:
    line = Line.zeros(dimensions=2, most=MOST, least_step=least, greatest_step=greatest)
    for a, f in zip(steps, values, strict=True):
        put(line, float(a), float(f))
    return line


@pytest.mark.parametrize(
    ("step", "ratio", "gain", "previous", "settled"),
    [
        ((0.1, -0.2), 1.0, 0.1, 10.0, True),  # the next gain would be 0.001
        ((0.1, -0.2), 1.0, 0.3, 10.0, False),
        ((0.1, -0.2), 1.0, 0.1, 0.4, False),
        ((0.1, -0.2), 1.4, 0.1, 10.0, True),
        ((0.1, -0.2), 0.6, 0.1, 10.0, True),
        ((0.1, -0.2), 1.6, 0.1, 10.0, False),
        ((0.1, -0.2), 0.4, 0.1, 10.0, False),
        ((0.1, -0.2), -1.0, 0.1, 10.0, False),
        ((0.5, -0.2), 1.0, 0.1, 10.0, False),  # to the edge of the box in which the model is trusted
        ((0.1, -0.6), 1.0, 0.1, 10.0, False),
        ((-0.55, 0.2), 1.0, 0.1, 10.0, False),
    ],
)
def test_it_has_settled_where_a_step_inside_was_foretold_and_the_next_gain_is_small(
    step: tuple[float, float], ratio: float, gain: float, previous: float, settled: bool
) -> None:
    """Gains fall with their square: 0.1 after 10 is followed by 0.001, which is small where 0.005 is."""
    line = line_of(np.zeros(0), np.zeros(0))
    line.direction[:] = step
    assert bool(_settled(line, np.array([0.5, 0.6]), ratio, gain, previous, 0.005)) is settled


def test_a_minimum_explains_the_points_near_it_that_are_no_lower_by_widths_of_the_box() -> None:
    rng, seen = np.random.default_rng(2), [0, 0]
    region = Region.zeros(dimensions=2)
    region.width[:] = (2.0, 30.0)
    for _ in range(200):
        basket = Basket.zeros(capacity=3, dimensions=2, count=2)
        basket.point[:], basket.value[:] = rng.uniform(-1.0, 1.0, (3, 2)) * region.width, rng.uniform(0.0, 1.0, 3)
        x, f, near = (
            rng.uniform(-1.0, 1.0, 2) * region.width,
            float(rng.uniform(0.0, 1.0)),
            float(rng.uniform(0.0, 1.0)),
        )
        apart = [math.hypot(*((x - point) / region.width)) for point in basket.point[:2]]
        wanted = any(d * d < near and value <= f for d, value in zip(apart, basket.value[:2], strict=True))
        assert bool(explained(basket, region, x, f, near)) is wanted
        seen[wanted] += 1
    assert min(seen) > 30


def test_a_step_ends_at_the_least_value_of_a_parabola_on_an_interval() -> None:
    cases = itertools.product(
        (-2.0, 0.0, 0.5, 3.0), (-4.0, -1.0, 0.0, 1.0, 4.0), ((-1.0, 2.0), (-3.0, 0.5), (0.0, 1.0))
    )
    for curve, slope, (low, high) in cases:
        t, end = _step(low, high, slope, curve)
        grid = np.linspace(low, high, 3001)
        values = slope * grid + 0.5 * curve * grid**2
        assert slope * t + 0.5 * curve * t * t == pytest.approx(values.min(), abs=1e-6)
        if curve == slope == 0.0:
            assert (t, end) == (0.0, 0), "where nothing is gained it stays"
        else:
            assert end == (-1 if t == low else 1 if t == high else 0)


def test_roots_of_the_slope_of_a_quartic_are_those_of_numpy() -> None:
    rng, seen = np.random.default_rng(6), {1: 0, 3: 0}
    for _ in range(300):
        c1, c2, c3 = rng.normal(size=3) * rng.choice([0.1, 1.0, 10.0], 3)
        c4 = float(rng.uniform(0.1, 3.0))
        roots = Polynomial([c1, 2.0 * c2, 3.0 * c3, 4.0 * c4]).roots()
        real = np.sort(roots[np.abs(roots.imag) < 1e-7 * np.abs(roots).max()].real)
        low, high, count = _stationary(c1, c2, c3, c4)
        if len(real) != count:  # two of them are one but for rounding
            continue
        seen[int(count)] += 1
        assert low == pytest.approx(real[0], rel=1e-6, abs=1e-6)
        if count == 3:
            assert high == pytest.approx(real[-1], rel=1e-6, abs=1e-6)
    assert min(seen.values()) > 50


@pytest.mark.parametrize("m", range(5))
@pytest.mark.parametrize("before", [0, 2])
def test_among_values_of_a_parabola_every_local_step_is_its_vertex(m: int, before: int) -> None:
    """Whichever of the five is the best, and however many stand before them in the list."""
    rng = np.random.default_rng(10 * m + before)
    for _ in range(20):
        steps = np.sort(rng.uniform(-3.0, 3.0, before + 5))
        if np.diff(steps).min() < 0.1:
            continue
        inside = steps[before:]
        gaps = [inside[1] - inside[0], *np.minimum(np.diff(inside)[:-1], np.diff(inside)[1:]), inside[4] - inside[3]]
        vertex = float(inside[m] + 0.3 * gaps[m] * rng.choice([-1.0, 1.0]))
        if m == 0 and before:
            vertex = float(inside[0] + 0.3 * gaps[0])
        possible, step = _local_minimiser(line_of(steps, 2.0 * (steps - vertex) ** 2 - 1.0), before, m)
        assert possible
        assert step == pytest.approx(vertex, abs=1e-9)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_local_step_that_would_leave_the_box_is_none(side: float) -> None:
    """The vertex lies beyond the end of the box, at which the best value is; or the values there do not bend up."""
    steps = side * np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    order, first = np.argsort(steps), 0 if side > 0.0 else 4
    ends = (-0.2, 90.0) if side > 0.0 else (-90.0, 0.2)
    beyond, inside = ((np.abs(steps) + one) ** 2 for one in (0.5, 0.1))
    assert not _local_minimiser(line_of(steps[order], beyond[order], *ends), 0, first)[0]
    possible, step = _local_minimiser(line_of(steps[order], inside[order], *ends), 0, first)
    assert possible
    assert step == pytest.approx(-0.1 * side, abs=1e-9)


def test_steps_that_are_too_close_to_the_best_are_dropped_while_three_are_left() -> None:
    line = line_of(np.array([-2.0, -0.05, 0.0, 0.05, 0.1, 3.0]), np.array([4.0, 1.0, 0.0, 1.0, 2.0, 9.0]))
    _drop_close(line, 0.1)
    assert line.a[: line.points].tolist() == [-2.0, 0.0, 0.1, 3.0], "at that distance it is not too close"
    assert line.f[: line.points].tolist() == [4.0, 0.0, 2.0, 9.0]
    close = line_of(np.array([-0.05, 0.0, 0.05]), np.array([1.0, 0.0, 2.0]))
    _drop_close(close, 0.1)
    assert close.points == 3
    four = line_of(np.array([-0.05, 0.0, 0.05, 0.06]), np.array([1.0, 0.0, 2.0, 3.0]))
    _drop_close(four, 0.1)
    assert four.a[: four.points].tolist() == [0.0, 0.05, 0.06]


def test_coordinates_are_counted_that_are_on_no_bound() -> None:
    low, high = np.array([0.0, -1.0, -1.0, 2.0]), np.array([1.0, 1.0, 1.0, 3.0])
    for x, count in (([0.5, 0.0, 0.0, 2.5], 4), ([0.0, 0.0, 1.0, 2.5], 2), ([1.0, -1.0, 1.0, 2.0], 0)):
        assert _interior(box(low, high), np.array(x)) == count


@pytest.mark.parametrize(
    ("i", "steps", "best", "base", "others"),
    [
        (0, [-2.0, -1.0, 0.0, 3.0], 1, -1.0, (-2.0, 0.0)),  # the first coordinate: the base goes to the best
        (0, [-2.0, -1.0, 0.0, 3.0], 0, -2.0, (-1.0, 0.0)),
        (0, [-2.0, -1.0, 0.0, 3.0], 3, 3.0, (0.0, -1.0)),
        (1, [-2.0, -1.0, 0.0, 3.0], 2, 0.0, (-1.0, 3.0)),
        (1, [-2.0, 0.0, 1.0, 3.0], 2, 0.0, (1.0, 3.0)),  # else it stays: the best, and one beside it that is not 0
        (1, [-2.0, 0.0, 1.0, 3.0], 3, 0.0, (3.0, 1.0)),
        (1, [-2.0, -1.0, 0.0, 3.0], 3, 0.0, (3.0, -1.0)),
        (1, [-2.0, -1.0, 0.0, 3.0], 1, 0.0, (-1.0, -2.0)),
        (1, [-2.0, -1.0, 0.0, 3.0], 0, 0.0, (-2.0, -1.0)),
        (1, [-2.0, 0.0, 1.0, 3.0], 0, 0.0, (-2.0, 1.0)),
    ],
)
def test_the_model_of_a_coordinate_is_of_the_base_and_two_steps_the_best_among_them(
    i: int, steps: list[float], best: int, base: float, others: tuple[float, float]
) -> None:
    values = np.array([5.0, 6.0, 7.0, 8.0])
    values[best] = 1.0
    model, along = LocalModel.zeros(dimensions=2), line_of(np.array(steps), values)
    model.base[:] = model.new[:] = (10.0, 20.0)
    model.value, at = 7.0, float(model.base[i])
    found = _three_abscissae(box(np.full(2, -90.0), np.full(2, 90.0)), model, along, i)
    assert model.base[i] == at + base
    assert (model.left[i], model.right[i]) == (at + others[0], at + others[1])
    assert model.new[i] == at + steps[best]
    assert found == (values[steps.index(others[0])], values[steps.index(others[1])], 1.0)
    assert model.value == (1.0 if i == 0 or steps[best] == 0.0 else 7.0)


@pytest.mark.parametrize("c1", [-32.0, 32.0, -1e-9, 0.5])
@pytest.mark.parametrize("c4", [0.25, 1.0])
def test_the_slope_of_a_pure_quartic_has_its_one_root_at_the_cube_root(c1: float, c4: float) -> None:
    """A polynomial of t⁴ and t alone is flat where 4 c4 t³ = −c1, on either side of zero."""
    low, _, count = _stationary(c1, 0.0, 0.0, c4)
    assert count == 1
    assert low == pytest.approx(math.copysign((abs(c1) / (4.0 * c4)) ** (1.0 / 3.0), -c1), rel=1e-9)


@pytest.mark.parametrize("root", [1e-3, -1e-3, 0.7])
def test_a_small_root_beside_large_ones_is_told_to_its_last_digits(root: float) -> None:
    """(t − root)(t² + 2e5 t + 2e10): Cardano's formula alone is off by 1e-11, which a step of Newton's mends."""
    cubic = Polynomial([-root, 1.0]) * Polynomial([2e10, 2e5, 1.0])
    d, c, b, _ = cubic.coef
    low, _, count = _stationary(4.0 * d, 2.0 * c, 4.0 / 3.0 * b, 1.0)
    assert count == 1
    assert low == pytest.approx(root, rel=1e-12)


@kernel((LocalSearch,))
def left(search: LocalSearch) -> bool:
    """Let every coordinate on a bound try a step inwards."""
    return leave_bounds(search.objective, search.line_search, search.model, search.along)


def rules_of(tolerance: float, start: float) -> SearchRules:
    return SearchRules(
        published=False, legacy=False, local_steps=9, stall=9, room=9, gamma=1e-16, tolerance=tolerance, far=1e3,
        start=start,
    )  # fmt: skip


def descending(i: int, side: float) -> tuple[Objective, LocalModel, float]:
    """The camel on a box whose lower (side −1) or upper end of coordinate i is the base, where f falls inwards."""
    base = np.array([0.4, 0.3])
    low, high = base - 0.5, base + 0.5
    one = box(low, high)
    one.budget = 200
    base[i] = (low if side < 0.0 else high)[i]
    value = float(CAMEL.f.function(base, np.zeros(1)))
    model = LocalModel.zeros(dimensions=2)
    begin(model, base, value)
    return one, model, value


@pytest.mark.parametrize("i", [0, 1])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_coordinate_leaves_either_bound_where_that_is_better_and_stays_where_it_is_not(i: int, side: float) -> None:
    one, model, before = descending(i, side)
    at = model.base.copy()
    inside = at.copy()
    inside[i] -= 1e-4 * side
    falls = bool(CAMEL.f.function(inside, np.zeros(1)) < before)
    rules = rules_of(0.0, before)
    along = line_of(np.zeros(0), np.zeros(0))
    search = LocalSearch.zeros(
        objective=one, rules=rules, line_search=line_search, along=along, model=model, dimensions=2
    )
    assert bool(left(search)) is falls
    assert model.base[1 - i] == at[1 - i], "the other coordinate is on no bound"
    assert one.lower[i] <= model.base[i] <= one.upper[i]
    if falls:
        assert -side * (model.base[i] - at[i]) > 1e-6
        assert model.value == pytest.approx(CAMEL.f.function(model.base, np.zeros(1)), rel=1e-12)
        assert model.value < before
    else:
        assert (model.base[i], model.value) == (at[i], before)


def test_of_values_that_are_as_good_as_the_best_none_takes_its_place() -> None:
    """On the camel f(−x) = f(x): the point at which the cross term is looked for is as good as the best so far."""
    point, base = np.array([0.3, -0.2]), np.array([-0.3, 0.4])
    one, model = box(np.full(2, -3.0), np.full(2, 3.0)), LocalModel.zeros(dimensions=2)
    begin(model, base, float(CAMEL.f.function(base, np.zeros(1))))
    model.left[:], model.right[:] = (0.3, 0.1), (-0.6, 0.6)
    model.g[0], model.new[:] = -1.0, -point  # it is lower to the left of the first coordinate
    model.x[:] = base
    model.x[1] = point[1]
    best = float(CAMEL.f.function(-point, np.zeros(1)))
    assert cross_terms(one, model, 1, best) == (best, -1)
    assert model.new.tolist() == (-point).tolist()
    assert cross_terms(one, model, 1, best + 1e-6) == (best, 0)
    assert model.new.tolist() == point.tolist()


@pytest.mark.parametrize(
    ("tolerance", "start", "gain"), [(1e-3, 5.0, 4e-3), (0.0, 5.0, 0.0), (1e-3, math.inf, 0.0), (0.0, math.inf, 0.0)]
)
def test_a_gain_is_negligible_by_what_was_gained_so_far_and_none_is_where_the_start_had_no_value(
    tolerance: float, start: float, gain: float
) -> None:
    assert _negligible(rules_of(tolerance, start), 1.0) == pytest.approx(gain)
