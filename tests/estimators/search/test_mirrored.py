"""A search in a mirror: what is left and what is right makes no difference to a line search or to a local search.

A direction turned round with its steps negated is the same line, so the same points are looked at; one step alone is
an exception: the first look goes to the right. A local search of f(−x) from −x ends at the mirrored minimum.
"""

import numpy as np
import pytest

from estimators.numerics.jit import kernel
from estimators.quantities import Floats
from estimators.search.base import OBJECTIVE
from estimators.search.multilevel.evaluation import REACHED, RUNNING, SPENT, Objective, SearchRules, evaluate
from estimators.search.multilevel.line.line import MOST, Line
from estimators.search.multilevel.line.search import line_search
from estimators.search.multilevel.local import LocalSearch, local_search
from estimators.search.multilevel.model import LocalModel
from estimators.search.multilevel.quadratic import box_minimum
from hil_rig.papers.searches.test_functions import FUNCTIONS

# Where the model is flat, its gain is 0 / 0: a compiled kernel says nothing of it, NumPy's scalars warn.
FLAT = "ignore:(divide by zero|invalid value) encountered in scalar divide:RuntimeWarning"
pytestmark = [pytest.mark.interpreted, pytest.mark.filterwarnings(FLAT)]

(CAMEL,) = (function for function in FUNCTIONS if function.name == "Six-hump camel")


@kernel(OBJECTIVE)
def valley(x: Floats, data: Floats) -> float:
    """data: for each coordinate its sign, centre and weight, then how strongly neighbours are tied, and the ripple."""
    n = x.size
    total = 0.0
    for i in range(n):
        y = data[3 * i] * x[i] - data[3 * i + 1]
        total += data[3 * i + 2] * y * y + 0.3 * y**4 + data[3 * n + 1] * np.cos(3.0 * y)
        if i > 0:
            total += data[3 * n] * y * (data[3 * i - 3] * x[i - 1] - data[3 * i - 2])
    return total


@kernel(OBJECTIVE)
def nowhere(x: Floats, data: Floats) -> float:
    """Finite left of data[0] alone."""
    return x[0] if x[0] < data[0] else np.nan


def objective_of(f: object, data: Floats, low: Floats, high: Floats, budget: int = 5000) -> Objective:
    n = len(low)
    return Objective(
        f=f, data=data, lower=low, upper=high, free=np.arange(n), x=np.zeros(n), best=np.zeros(n), budget=budget
    )


def along_a_line(side: float, seed: int) -> tuple[Floats, Floats, int]:
    """The points that a line search has in the end, on the line turned to this side."""
    rng = np.random.default_rng(seed)
    base, direction = rng.uniform(0.05, 0.9, 2), rng.normal(size=2)
    reach = rng.uniform(1.0, 4.0, 2)
    objective = objective_of(CAMEL.f.function, np.zeros(1), base - reach, base + rng.uniform(1.0, 4.0, 2))
    steps = np.sort(np.concatenate([[0.0], rng.uniform(-0.6, 0.6, int(rng.integers(1, 4)))]))
    values = [CAMEL.f.function(base + a * direction, np.zeros(1)) for a in steps]
    if seed % 3 == 0:
        values = rng.uniform(-1.0, 3.0, len(steps))
    order = np.argsort(side * steps)
    line = Line.zeros(
        base=base,
        direction=side * direction,
        most=MOST,
        points=len(steps),
        cap=int(rng.integers(6, 26)),
        locals=1 if seed % 2 else 5,
    )
    line.a[: len(steps)], line.f[: len(steps)] = (side * steps)[order], np.array(values)[order]
    k = line_search(objective, line)
    assert (np.diff(line.a[: line.points]) >= 0.0).all(), "ascending; an end of the box may be there twice"
    assert line.f[k] == line.f[: line.points].min()
    found = np.sort(side * line.a[: line.points])
    return found, base + np.outer(found, direction), objective.evaluations


@pytest.mark.parametrize("seed", range(60))
def test_a_line_that_is_turned_round_is_searched_at_the_same_points(seed: int) -> None:
    (steps, _, count), (turned, _, other) = along_a_line(1.0, seed), along_a_line(-1.0, seed)
    assert count == other
    np.testing.assert_allclose(turned, steps, rtol=1e-5, atol=1e-6)


def descended(
    data: Floats, start: Floats, low: Floats, high: Floats, tolerance: float
) -> tuple[Floats, float, Objective]:
    """The end of a local search."""
    n = len(start)
    objective = objective_of(valley, data, low, high)
    rules = SearchRules(
        published=tolerance == 0.0, legacy=False, local_steps=50, stall=9, room=100, gamma=2.2e-16,
        tolerance=tolerance, far=1000.0,
    )  # fmt: skip
    x, f = start.copy(), valley(start, data)
    rules.start = f
    search = LocalSearch.zeros(
        objective=objective,
        rules=rules,
        line_search=line_search,
        along=Line.zeros(dimensions=n, most=MOST),
        model=LocalModel.zeros(dimensions=n),
        dimensions=n,
    )
    value = local_search(search, x, f)
    return x, float(value), objective


def shape(seed: int, n: int) -> tuple[Floats, Floats, Floats, Floats]:
    """A valley, a start (on bounds now and then), and a box."""
    rng = np.random.default_rng(100 + seed)
    data = np.concatenate(
        [np.column_stack([np.ones(n), rng.uniform(-1.0, 1.0, n), rng.uniform(0.5, 4.0, n)]).ravel(),
         [rng.uniform(-0.8, 0.8), rng.choice([0.0, 0.4])]]
    )  # fmt: skip
    low, high = -rng.uniform(0.3, 3.0, n), rng.uniform(0.3, 3.0, n)
    start = rng.uniform(low, high)
    on = rng.random(n) < 0.3
    start[on] = np.where(rng.random(n) < 0.5, low, high)[on]
    return data, start, low, high


@pytest.mark.parametrize("seed", [seed for seed in range(16) if seed != 11])  # 11 has two minima: either may be found
def test_a_mirrored_valley_is_descended_to_the_mirrored_minimum(seed: int) -> None:
    n = 1 + seed % 3
    data, start, low, high = shape(seed, n)
    turned = data.copy()
    turned[0 : 3 * n : 3] = -1.0
    x, f, one = descended(data, start, low, high, 0.0)
    y, g, _ = descended(turned, -start, -high, -low, 0.0)
    np.testing.assert_allclose(-y, x, atol=1e-5)
    assert g == pytest.approx(f, abs=1e-9)
    assert f == min(one.value, valley(start, data))


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_coordinate_leaves_its_bound_once_the_others_have_moved(side: float) -> None:
    """At the start f rises from the bound inwards; where the other coordinate is least, it falls."""
    data = np.array([side, 1.0, 1.0, 1.0, 1.0, 1.1, 1.9, 0.0])  # (x − 1)² + 1.1 (y − 1)² + 1.9 (x − 1)(y − 1), quartics
    low, high = np.array([0.0, 0.0]), np.array([4.0, 4.0])
    if side < 0.0:
        low[0], high[0] = -4.0, 0.0
    start = np.array([0.0, 2.5])
    x, f, _ = descended(data, start, low, high, 0.0)
    np.testing.assert_allclose(x, [side, 1.0], atol=1e-4)
    assert f == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_a_mirrored_programme_has_the_mirrored_solution(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 1 + seed % 5
    A, g = rng.normal(size=(n, n)), rng.normal(size=n)
    G = A @ A.T if seed % 2 else A + A.T
    low, high = -rng.uniform(0.0, 2.0, n), rng.uniform(0.0, 2.0, n)
    low[rng.random(n) < 0.2] = 0.0
    side = rng.choice([-1.0, 1.0], n)
    turned = np.where(side > 0.0, low, -high), np.where(side > 0.0, high, -low)
    p = box_minimum(g, G, low, high)
    q = box_minimum(side * g, side[:, None] * G * side, *turned)
    np.testing.assert_allclose(side * q, p, rtol=1e-12, atol=1e-12)


def test_values_that_are_not_finite_are_counted_and_are_no_minimum() -> None:
    objective = objective_of(nowhere, np.array([0.5]), np.array([-2.0]), np.array([2.0]))
    line = Line.zeros(base=np.array([0.4]), direction=np.array([1.0]), most=MOST, points=1, cap=20)
    line.f[0] = 0.4
    k = line_search(objective, line)
    tried = 0.4 + line.a[: line.points]
    assert objective.evaluations == line.points - 1
    assert objective.nonfinite == np.count_nonzero(tried >= 0.5) > 0
    assert (objective.value, objective.best.tolist()) == (line.f[k], [0.4 + line.a[k]])


def test_no_value_is_asked_for_beyond_the_budget() -> None:
    objective = objective_of(CAMEL.f.function, np.zeros(1), np.full(2, -3.0), np.full(2, 3.0), 3)
    values = [evaluate(objective, point) for point in np.random.default_rng(4).uniform(-1.0, 1.0, (5, 2))]
    assert np.isfinite(values[:3]).all()
    assert values[3:] == [np.inf, np.inf]
    assert (objective.evaluations, objective.stop, objective.value) == (3, SPENT, min(values))


@pytest.mark.parametrize(("evaluations", "stop"), [(2, RUNNING), (3, SPENT)])
def test_what_ended_a_search_is_reported_though_its_budget_is_spent_later(evaluations: int, stop: int) -> None:
    objective = objective_of(CAMEL.f.function, np.zeros(1), np.full(2, -3.0), np.full(2, 3.0), 3)
    objective.evaluations, objective.stop = evaluations, REACHED
    assert evaluate(objective, np.zeros(2)) == np.inf
    assert (objective.evaluations, objective.stop) == (evaluations, REACHED)
    objective.stop = RUNNING
    evaluate(objective, np.zeros(2))
    assert objective.stop == stop
