"""Multilevel coordinate search against its published counts, and beyond them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from estimators.search import minimise
from estimators.search.base import Compiled, SearchStatus
from estimators.search.mcs import Mcs
from hil_rig.papers.searches.test_functions import FUNCTIONS, shifted_boxes

each_function = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
LEGACY = Mcs(legacy_rank=True)


def run(search, function, box=None, target=True, **more):
    lower, upper = box or (function.lower, function.upper)
    goal = function.target if target else None
    return minimise(search, function.f, lower, upper, **({"budget": 12_000, "target": goal} | more))


@each_function
def test_counts_of_version_2(function):
    found = run(LEGACY, function)
    assert (found.evaluations, found.status) == (function.conformance, SearchStatus.TARGET)


@each_function
def test_first_hits_of_version_2(function):
    values = []

    def f(x):
        values.append(function.f(x))
        return values[-1]

    found = minimise(LEGACY, f, function.lower, function.upper, budget=12_000, target=function.target)
    assert found.evaluations == function.conformance
    assert 1 + next(k for k, value in enumerate(values) if value <= function.target) == function.first


# counts of version 2.0 under Octave for other lists; Shubert's values tie, and there the last bit of a value decides
SIXTHS = {"Shekel 5": 88, "Shekel 7": 132, "Shekel 10": 103, "Goldstein–Price": 54, "Branin": 40, "Six-hump camel": 41}
UNBOUNDED = {"Goldstein–Price": 78, "Branin": 39, "Six-hump camel": 44}


@pytest.mark.parametrize("name", SIXTHS)
def test_counts_of_version_2_from_sixths(name):
    (function,) = (function for function in FUNCTIONS if function.name == name)
    found = run(Mcs(legacy_rank=True, initial=2), function)
    assert (found.evaluations, found.status) == (SIXTHS[name], SearchStatus.TARGET)


@pytest.mark.parametrize("name", UNBOUNDED)
def test_counts_of_version_2_without_bounds(name):
    (function,) = (function for function in FUNCTIONS if function.name == name)
    everywhere = np.full(2, np.inf)
    found = run(Mcs(legacy_rank=True, initial=((-10.0, 0.0, 10.0),) * 2), function, (-everywhere, everywhere))
    assert (found.evaluations, found.status) == (UNBOUNDED[name], SearchStatus.TARGET)


def test_the_papers_ranking_changes_shekel_5_alone():
    counts = {function.name: run(Mcs(published=True), function).evaluations for function in FUNCTIONS}
    # the target is looked at after every evaluation here, so these are first hits
    assert counts.pop("Shekel 5") == 131
    assert counts == {function.name: function.first for function in FUNCTIONS[1:]}


def test_first_points_are_the_list():
    points = []

    def f(x):
        points.append(tuple(x))
        return (x[0] - 10.0) ** 2 + x[1]

    minimise(Mcs(), f, [-5.0, 0.0], [10.0, 15.0], budget=5)
    assert points == [(2.5, 7.5), (-5.0, 7.5), (10.0, 7.5), (10.0, 0.0), (10.0, 15.0)]


@pytest.mark.compiled
@each_function
def test_on_shifted_boxes_the_default_is_no_slower_than_the_paper_and_never_fails(function):
    boxes = shifted_boxes(function, 100)
    ours = [run(Mcs(stall=10_000), function, box) for box in boxes]
    paper = [run(Mcs(published=True, stall=10_000), function, box, budget=3000) for box in boxes]
    assert all(one.status == SearchStatus.TARGET for one in ours)
    # 36 to 35.5 on Branin; below on all others
    assert np.median([one.evaluations for one in ours]) <= 1.05 * np.median([one.evaluations for one in paper])


# what the default evaluates on boxes of shifted_boxes(…, 6, seed=9): only those whose counts are the same when every
# value is off by up to four units in its last place. Another count is another algorithm, to be measured anew
TO_THE_TARGET = {
    "Shekel 5": (224, 605, 115, 299, 436, 790),
    "Shekel 7": (189, 246, 131, 249, 346, 1120),
    "Shekel 10": (259, 223, 112, 227, 243, None),
    "Hartman 3": (53, 112, 77, 80, 102, 103),
    "Hartman 6": (264, 76, 240, 95, 94, 99),
    "Goldstein–Price": (41, None, 94, None, None, None),
    "Branin": (34, 37, 31, None, 32, None),
    "Six-hump camel": (36, 40, None, 28, 33, 41),
}
TO_THE_TARGET_BY_LINES = {
    "Shekel 5": (None, 158, None, None, None, None),
    "Shekel 7": (194, None, 309, None, 214, None),
    "Shekel 10": (None, None, 229, None, None, None),
    "Hartman 3": (56, 130, 64, 106, 50, None),
    "Hartman 6": (91, 83, 246, None, None, None),
    "Branin": (36, 33, None, 34, 31, 85),
    "Six-hump camel": (56, 37, 45, 45, 60, None),
}
TO_ITS_OWN_STOP = {
    "Shekel 5": (None, None, 1380, None, None, None),
    "Shekel 7": (1702, None, None, None, None, None),
    "Shekel 10": (1711, None, 1552, None, None, None),
    "Hartman 3": (722, None, 762, 748, None, 753),
    "Hartman 6": (None, None, 1607, None, None, None),
}


@pytest.mark.parametrize(
    ("search", "target", "counts"),
    [
        (Mcs(), True, TO_THE_TARGET),
        (Mcs(initial=3), True, TO_THE_TARGET_BY_LINES),
        (Mcs(), False, TO_ITS_OWN_STOP),
    ],
    ids=["to the target", "by lines", "to its own stop"],
)
def test_the_default_evaluates_as_often_as_it_was_measured_to(search, target, counts):
    for function in FUNCTIONS:
        boxes = shifted_boxes(function, 6, seed=9)
        for box, count in zip(boxes, counts.get(function.name, (None,) * 6), strict=True):
            if count is not None:
                assert run(search, function, box, target=target, budget=20_000).evaluations == count, function.name


def test_a_long_list_in_many_dimensions_has_room_for_what_one_sweep_makes():
    """Every coordinate is split at ten values in the first sweep."""
    values = tuple(np.linspace(-4.0, 4.0, 10))
    ends = np.full(8, 5.0)
    found = minimise(Mcs(initial=(values,) * 8), lambda x: float(np.sum((x - 0.3) ** 2)), -ends, ends, budget=4000)
    assert found.value < 1e-6


@pytest.mark.compiled
@each_function
def test_left_to_its_own_stop_it_succeeds_on_99_boxes_of_100(function):
    found = [run(Mcs(), function, box, target=False, budget=20_000) for box in shifted_boxes(function, 100)]
    assert sum(one.value <= function.target for one in found) >= 99
    assert {one.status for one in found} == {SearchStatus.STALLED}


@pytest.mark.compiled
def test_the_published_algorithm_stays_in_the_wide_valley_of_hartman_6():
    (function,) = (function for function in FUNCTIONS if function.name == "Hartman 6")
    boxes = shifted_boxes(function, 50)
    missed = [box for box in boxes if run(Mcs(published=True, stall=1000), function, box, budget=4000).value > -3.3]
    assert 1 <= len(missed) <= 8
    assert all(run(Mcs(), function, box, target=False, budget=20_000).value <= function.target for box in missed)


@each_function
def test_python_and_compiled_objectives_take_the_same_path(function):
    one = run(Mcs(), function, budget=150)
    other = minimise(Mcs(), lambda x: function.f(x), function.lower, function.upper, budget=150, target=function.target)
    assert one.evaluations == other.evaluations
    assert one.value == other.value
    assert np.array_equal(one.x, other.x)


@pytest.mark.parametrize("initial", [0, 1, 2, 3, ((-1.5, -0.3, 0.4, 1.0), (-1.9, 0.1, 1.0))])
def test_every_initialisation_list_leads_to_the_minimum(initial):
    (function,) = (function for function in FUNCTIONS if function.name == "Goldstein–Price")
    found = run(Mcs(initial=initial), function, budget=1000)
    assert found.status == SearchStatus.TARGET


def test_line_searches_begin_at_the_point_nearest_to_zero_and_evaluate_nothing_twice():
    points = []

    def f(x):
        points.append(tuple(x))
        return float(np.sum(np.cos(2.0 * x) + 0.1 * x))

    minimise(Mcs(initial=3, local_steps=0), f, [-4.0, 1.0], [5.0, 9.0], budget=40)
    assert points[0] == (0.0, 1.0)
    assert len(set(points)) == len(points)


def test_a_start_with_a_scale_makes_the_list():
    points = []

    def f(x):
        points.append(x[0])
        return float(x[0] ** 2)

    minimise(Mcs(scale=(0.5,)), f, [-4.0], [5.0], budget=3, start=[1.0])
    assert points == [1.0, 0.5, 1.5]
    points.clear()
    minimise(Mcs(), f, [-4.0], [5.0], budget=3, start=[5.0])
    assert points == [5.0, -4.0, 0.5]
    points.clear()
    minimise(Mcs(), f, [-4.0], [5.0], budget=3, start=[-4.0])
    assert points == [-4.0, 0.5, 5.0]


def test_a_list_may_reach_from_bound_to_bound():
    points = []

    def f(x):
        points.append(x[0])
        return float(x[0])

    minimise(Mcs(initial=((-4.0, 0.0, 2.0, 5.0),), initial_start=(3,)), f, [-4.0], [5.0], budget=4)
    assert points[0] == 5.0
    assert sorted(points) == [-4.0, 0.0, 2.0, 5.0]


@pytest.mark.parametrize("search", [Mcs(), Mcs(initial=3), Mcs(published=True)], ids=["beyond", "lines", "published"])
@pytest.mark.parametrize("factor", [1024.0, 1.0 / 1024.0])
def test_the_unit_of_the_values_does_not_matter(search, factor):
    """Times a power of two, which rounds nothing: not a point is another one."""

    def points(unit):
        found = []

        def f(x):
            found.append(tuple(x))
            return unit * float(30.0 + (x[0] - 0.7) ** 2 + 0.3 * (x[1] + 0.4) ** 4 + np.sin(3.0 * x[0]) * x[1])

        minimise(search, f, [-4.0, -3.0], [5.0, 6.0], budget=400)
        return found

    assert points(factor) == points(1.0)


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (Mcs(levels=4), "levels must be at least 5 in 2 dimensions, got 4"),
        (Mcs(initial=((0.0, 1.0), (0.0, 0.5, 1.0))), "at least three ascending values"),
        (Mcs(initial=((0.0, 0.7, 0.5), (0.0, 0.5, 1.0))), "at least three ascending values"),
        (Mcs(initial=((0.0, 0.5, 1.5), (0.0, 0.5, 1.0))), r"values in \[0.0, 1.0\]"),
        (Mcs(initial=((0.0, 0.5, 1.0),)), "expected 2 initialisation lists, got 1"),
        (Mcs(initial=((0.0, 0.5, 1.0), (0.0, 0.5, 1.0)), initial_start=(1, 3)), "index of one of them"),
    ],
)
def test_settings_that_do_not_fit_are_an_error(search, message):
    with pytest.raises(ValueError, match=message):
        minimise(search, lambda x: 0.0, [0.0, 0.0], [1.0, 1.0], budget=10)


def test_lists_that_need_ends_want_finite_bounds():
    with pytest.raises(ValueError, match="list 2 needs finite bounds"):
        minimise(Mcs(initial=2), lambda x: 0.0, [0.0], [np.inf], budget=10)


def test_unknown_settings_are_an_error():
    with pytest.raises(ValidationError):
        Mcs.model_validate({"kind": "mcs", "sweeps": 3})


def test_one_dimension_ends_at_the_global_minimum():
    found = minimise(Mcs(), lambda x: float(np.sin(5.0 * x[0]) + 0.1 * (x[0] - 1.0) ** 2), [-6.0], [7.0], budget=2000)
    grid = np.linspace(-6.0, 7.0, 200_001)
    assert found.status == SearchStatus.STALLED
    assert found.value <= np.min(np.sin(5.0 * grid) + 0.1 * (grid - 1.0) ** 2) + 1e-9


def test_without_local_searches_and_progress_the_division_is_complete():
    found = minimise(Mcs(published=True, local_steps=0, levels=6, stall=1000), lambda x: 1.0, [0.0], [1.0], budget=5000)
    assert found.status == SearchStatus.COMPLETE


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 3),
    budget=st.integers(1, 120),
    published=st.booleans(),
    hole=st.floats(-1.0, 2.0),
)
def test_holes_and_steps_in_the_objective_do_no_harm(seed, n, budget, published, hole):
    rng = np.random.default_rng(seed)
    centre, low = rng.uniform(-1.0, 1.0, n), rng.uniform(-3.0, -1.0, n)
    high = low + rng.choice([1e-12, 1e-3, 1.0, 4.0, 1e6], n)
    seen = []

    def f(x):
        seen.append(x)
        value = np.floor(4.0 * np.sum((x - centre) ** 2)) / 4.0
        return np.inf if value > hole + 1.0 else float(value)

    found = minimise(Mcs(published=published), f, low, high, budget=budget)
    assert found.evaluations == len(seen) <= budget
    assert all(np.all((x >= low) & (x <= high)) for x in seen)
    assert found.value == min(map(f, list(seen)))


WARM = """
import numpy as np
from numba.core import event

class Compilations(event.Listener):
    def on_start(self, event): print("compiles", event.data["dispatcher"].py_func.__name__)
    def on_end(self, event): pass

event.register("numba:compile", Compilations())
from estimators.search import minimise
from hil_rig.papers.searches.test_functions import FUNCTIONS
function = FUNCTIONS[4]
found = minimise("mcs", function.f, function.lower, function.upper, budget=5000, target=function.target)
again = minimise("mcs", lambda x: float(x @ x), function.lower, function.upper, budget=100)
print("found", found.status)
"""


@pytest.mark.compiled
def test_a_warm_start_compiles_nothing():
    root = Path(__file__).parents[3]  # importing this module has filled the cache
    environment = os.environ | {"PYTHONPATH": str(root)}
    ran = subprocess.run([sys.executable, "-c", WARM], capture_output=True, text=True, cwd=root, env=environment)
    assert (ran.stdout, ran.stderr) == ("found target\n", "")


def test_a_compiled_objective_has_its_data():
    function = FUNCTIONS[0]
    assert isinstance(function.f, Compiled)
    assert function.f(np.full(4, 4.0)) == pytest.approx(function.minimum, abs=1e-4)


@pytest.mark.interpreted
def test_a_line_without_slope_and_curvature_is_no_division_by_zero_without_a_compiler():
    def f(x):
        return float(np.sum(np.sin(3.0 * x) + 0.1 * (x - 1.0) ** 2))

    found = minimise(Mcs(), f, [-8.0], [1.654655165844124e-232], budget=39)
    assert found.evaluations == 39
    assert found.value <= min(f(x) for x in np.linspace(-8.0, 0.0, 40))
