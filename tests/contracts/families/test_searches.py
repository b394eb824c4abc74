"""Every registered search keeps the contract of estimators/search/base.py."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from estimators.search import SEARCHES, minimise
from estimators.search.base import Minimum, SearchStatus, batch
from hil_rig.papers.searches.test_functions import FUNCTIONS

LOW, HIGH = np.array([-2.0, -1.0]), np.array([3.0, 4.0])

every_search = pytest.mark.parametrize("name", list(SEARCHES))


def bowl(x):
    return float(np.sum((x - 0.3) ** 2))


def same(a: Minimum, b: Minimum) -> bool:
    return np.array_equal(a.x, b.x) and a[1:] == b[1:]


@every_search
def test_finds_the_minimum_of_a_bowl(name):
    found = minimise(name, bowl, LOW, HIGH, budget=2000, target=1e-3, seed=1)
    assert found.status == SearchStatus.TARGET
    assert found.value == bowl(found.x) <= 1e-3
    assert found.evaluations <= 2000


@every_search
def test_is_deterministic_for_a_seed(name):
    runs = [minimise(name, bowl, LOW, HIGH, budget=300, seed=7) for _ in range(2)]
    assert same(*runs)


@every_search
@pytest.mark.parametrize("budget", [1, 2, 7, 50])
def test_never_exceeds_the_budget(name, budget):
    points = []

    def f(x):
        points.append(x)
        return bowl(x)

    found = minimise(name, f, LOW, HIGH, budget=budget)
    assert found.evaluations == len(points) <= budget
    assert found.value == min(map(bowl, points))


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    corners=st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50)), min_size=1, max_size=4),
    budget=st.integers(1, 150),
    seed=st.integers(0, 1000),
    spoiled=st.booleans(),
)
@every_search
def test_stays_in_the_box_and_returns_the_best_it_saw(name, corners, budget, seed, spoiled):
    low, high = np.array([sorted(pair) for pair in corners]).T
    seen = []

    def f(x):
        value = float(np.sum(np.sin(3.0 * x) + 0.1 * (x - 1.0) ** 2))
        if spoiled and value > 0.5:
            value = np.nan
        seen.append((x.copy(), value))
        return value

    found = minimise(name, f, low, high, budget=budget, seed=seed)
    assert found.evaluations == len(seen) <= budget
    assert all(np.all((x >= low) & (x <= high)) for x, _ in seen)
    finite = [(value, k) for k, (_, value) in enumerate(seen) if np.isfinite(value)]
    assert found.nonfinite == len(seen) - len(finite)
    if finite:
        value, k = min(finite)
        assert found.value == value
        assert np.array_equal(found.x, seen[k][0])
    else:
        assert found.value == np.inf


@every_search
def test_the_callback_cancels(name):
    heard = []

    def stop(evaluations, x, value):
        heard.append((evaluations, value))
        return evaluations >= 25

    found = minimise(name, bowl, LOW, HIGH, budget=1000, callback=stop)
    assert found.status == SearchStatus.CANCELLED
    assert found.evaluations == heard[-1][0] < 1000
    assert [value for _, value in heard] == sorted((value for _, value in heard), reverse=True)


@every_search
def test_the_callback_hears_every_step_of_a_compiled_objective(name):
    (branin,) = (function for function in FUNCTIONS if function.name == "Branin")
    heard = []

    def stop(evaluations, x, value):
        heard.append(value == branin.f(x))
        return evaluations >= 40

    found = minimise(name, branin.f, branin.lower, branin.upper, budget=1000, callback=stop)
    assert found.status == SearchStatus.CANCELLED
    assert all(heard)
    assert 40 <= found.evaluations < 100
    alone = minimise(name, branin.f, branin.lower, branin.upper, budget=found.evaluations)
    assert np.array_equal(alone.x, found.x)


@every_search
def test_what_the_objective_raises_comes_through(name):
    calls = []

    def f(x):
        calls.append(x)
        if len(calls) == 12:
            raise ZeroDivisionError("no torque")
        return bowl(x)

    with pytest.raises(ZeroDivisionError, match="no torque"):
        minimise(name, f, LOW, HIGH, budget=1000)
    assert len(calls) == 12


@every_search
def test_a_coordinate_of_no_width_is_fixed(name):
    found = minimise(name, bowl, [-2.0, 1.5, -1.0], [3.0, 1.5, 4.0], budget=2000, target=1.45)
    assert found.x[1] == 1.5
    assert found.value <= 1.45
    everything = minimise(name, bowl, [1.0, 1.5], [1.0, 1.5], budget=10)
    assert (everything.evaluations, everything.status) == (1, SearchStatus.COMPLETE)
    assert everything.value == bowl(np.array([1.0, 1.5]))


@every_search
@pytest.mark.parametrize("value", [5.0, np.inf, np.nan])
def test_a_constant_has_a_minimum_everywhere(name, value):
    found = minimise(name, lambda x: value, LOW, HIGH, budget=400)
    assert found.value == (5.0 if value == 5.0 else np.inf)
    assert np.all((found.x >= LOW) & (found.x <= HIGH))
    assert found.nonfinite == (0 if value == 5.0 else found.evaluations)


@every_search
@pytest.mark.parametrize("n", [1, 30])
def test_one_and_thirty_dimensions(name, n):
    low, high = np.full(n, -1.0), np.full(n, 2.0)
    found = minimise(name, bowl, low, high, budget=1500, seed=2)
    assert found.x.shape == (n,)
    assert found.value < (1e-3 if n == 1 else 10.0)  # a random point has 0.8 n on average


@every_search
def test_infinite_bounds(name):
    found = minimise(name, bowl, [-np.inf, -np.inf], [np.inf, 4.0], budget=3000, target=1e-2, seed=3)
    assert found.status == SearchStatus.TARGET


@every_search
def test_a_batch_objective_gives_the_same(name):
    @batch
    def bowls(points):
        return np.sum((points - 0.3) ** 2, axis=1)

    assert same(*(minimise(name, f, LOW, HIGH, budget=400, seed=5) for f in (bowl, bowls)))


@every_search
def test_a_batch_objective_of_the_wrong_shape_is_an_error(name):
    @batch
    def wrong(points):
        return np.zeros((len(points), 2))

    with pytest.raises(ValueError, match=r"must return shape \(\d+,\)"):
        minimise(name, wrong, LOW, HIGH, budget=100)


@every_search
def test_a_start_is_looked_at(name):
    start = np.array([2.7, -0.9])

    def f(x):
        return float(np.sum(np.abs(x - start) ** 0.5))

    assert minimise(name, f, LOW, HIGH, budget=100, start=start).value == 0.0
    assert minimise(name, f, LOW, HIGH, budget=100, start=HIGH).evaluations <= 100


@every_search
@pytest.mark.parametrize(
    ("lower", "upper", "more", "message"),
    [
        ([1.0, 0.0], [0.0, 1.0], {}, r"coordinate 0: expected lower ≤ upper, got \[1.0, 0.0\]"),
        ([0.0, np.nan], [1.0, 1.0], {}, "coordinate 1: expected lower ≤ upper"),
        ([0.0, np.inf], [1.0, np.inf], {}, "coordinate 1: expected lower ≤ upper"),
        ([0.0], [1.0, 1.0], {}, "one shape"),
        ([], [], {}, "one shape"),
        ([0.0, 0.0], [1.0, 1.0], {"budget": 0}, "at least one evaluation, got 0"),
        ([0.0, 0.0], [1.0, 1.0], {"target": np.nan}, "target is NaN"),
        ([0.0, 0.0], [1.0, 1.0], {"start": [0.5]}, r"shape \(2,\), got \(1,\)"),
        ([0.0, 0.0], [1.0, 1.0], {"start": [0.5, 1.5]}, "coordinate 1 is 1.5, outside"),
        ([0.0, 0.0], [1.0, 1.0], {"start": [np.nan, 0.5]}, "coordinate 0 is nan, outside"),
    ],
)
def test_a_box_or_budget_that_makes_no_sense_is_an_error(name, lower, upper, more, message):
    with pytest.raises(ValueError, match=message):
        minimise(name, bowl, lower, upper, **({"budget": 100} | more))


def test_an_unknown_name_is_an_error():
    with pytest.raises(KeyError, match="no search is called 'annealing'; there are mcs, cuckoo"):
        minimise("annealing", bowl, LOW, HIGH, budget=10)


@every_search
def test_settings_are_a_name(name):
    assert same(*(minimise(what, bowl, LOW, HIGH, budget=100) for what in (name, SEARCHES[name]())))
