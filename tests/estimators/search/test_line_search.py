"""Single steps of the line search, against polynomials through the same values."""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from numpy.polynomial import Polynomial

from estimators.numerics.jit import INTERPRETED, kernel
from estimators.quantities import Floats
from estimators.search.multilevel.evaluation import BUDGET, COUNTS, FLOATS, FUNCTION, INTS, Ints, Objective
from estimators.search.multilevel.line.line import CAP, LOCALS, MOST, POINTS, SEARCH, Line, Search
from estimators.search.multilevel.line.search import line_search
from hil_rig.papers.searches.test_functions import FUNCTIONS
from jointwatch_layout import pointer

pytestmark = pytest.mark.interpreted

(CAMEL,) = (function for function in FUNCTIONS if function.name == "Six-hump camel")
REACH = 1e4  # of the box, either way
SIGNATURE: Any = numba.int64(SEARCH, FUNCTION, *[FLOATS] * 3, INTS, *[FLOATS] * 3, INTS, *[FLOATS] * 5, INTS, FLOATS)


@kernel(SIGNATURE)
def searched(
    search: Search,
    f: Callable[[Floats, Floats], float],
    data: Floats,
    lower: Floats,
    upper: Floats,
    free: Ints,
    handed: Floats,
    best: Floats,
    value: Floats,
    counts: Ints,
    base: Floats,
    direction: Floats,
    a: Floats,
    given: Floats,
    reach: Floats,
    size: Ints,
    x: Floats,
) -> int:
    """A line search as a local search asks for one, whose kernel has flat arguments, too."""
    objective = Objective(f, data, lower, upper, free, handed, best, value, counts)
    return search(objective, Line(base, direction, a, given, reach, size, x))


def tried(steps: Floats, values: Floats, cap: int, ends: tuple[float, float] = (-REACH, REACH)) -> Floats:
    """The steps that it adds to these, whose values are given; ends: of the box, from the base on."""
    base, counts, size = np.array([0.1, 0.1]), np.zeros(COUNTS, np.int64), np.zeros(5, np.int64)
    counts[BUDGET], size[POINTS], size[CAP], size[LOCALS] = 1000, len(steps), cap, 1
    a, given = np.zeros(MOST), np.zeros(MOST)
    a[: len(steps)], given[: len(steps)] = steps, values
    f, search = CAMEL.f.function, line_search
    whole = f if INTERPRETED else pointer(f), np.zeros(1), base + ends[0], base + ends[1], np.arange(2), np.zeros(2)
    state = np.zeros(2), np.array([np.inf, -np.inf]), counts
    line = base, np.array([1.0, 0.0]), a, given, np.zeros(2), size, np.zeros(2)
    searched(search if INTERPRETED else pointer(search), *whole, *state, *line)  # type: ignore[arg-type]
    return np.setdiff1d(a[: size[POINTS]], steps)


def single(values: Floats) -> bool:
    """Whether these values show one minimum, inside."""
    lower = np.flatnonzero((values[1:-1] < values[:-2]) & (values[1:-1] < values[2:]))
    return len(lower) == 1 and values[0] > values[1] and values[-1] > values[-2]


def test_five_values_with_one_minimum_are_followed_by_the_minimiser_of_their_quartic() -> None:
    """Of two one beyond the list where it is foretold to be below the worst value; else the lower one."""
    rng, seen = np.random.default_rng(8), {"one": 0, "beyond left": 0, "beyond right": 0, "left": 0, "right": 0}
    while min(seen.values()) < 12:
        steps = np.sort(rng.uniform(-3.0, 3.0, 5))
        values = rng.uniform(0.0, 1.0, 5) * rng.choice([1.0, 20.0])
        if np.diff(steps).min() < 0.2 or not single(values):
            continue
        quartic = Polynomial.fit(steps, values, 4).convert()
        if quartic.coef[4] < 1e-3:
            continue
        roots = quartic.deriv().roots()
        flat = np.sort(roots[np.abs(roots.imag) < 1e-9].real)
        if len(flat) == 1:
            wanted, which = flat[0], "one"
        elif flat[-1] > steps[-1] and quartic(flat[-1]) < values.max():
            wanted, which = flat[-1], "beyond right"
        elif flat[0] < steps[0] and quartic(flat[0]) < values.max():
            wanted, which = flat[0], "beyond left"
        else:
            wanted, which = min(flat[0], flat[-1], key=quartic), "left"
            which = "left" if wanted == flat[0] else "right"
        seen[which] += 1
        added = tried(steps, values, 6)
        assert np.abs(added - wanted).min() < 1e-6 * max(1.0, abs(wanted)), which


def test_three_values_are_followed_by_the_minimiser_of_their_parabola() -> None:
    rng, inside, outside = np.random.default_rng(9), 0, 0
    while min(inside, outside) < 20:
        steps, values = np.sort(rng.uniform(-3.0, 3.0, 3)), rng.uniform(0.0, 1.0, 3)
        parabola = Polynomial.fit(steps, values, 2).convert()
        if np.diff(steps).min() < 0.3 or parabola.coef[2] < 1e-3:
            continue
        wanted, span = -0.5 * parabola.coef[1] / parabola.coef[2], steps[2] - steps[0]
        if np.abs(steps - wanted).min() <= 0.1 * span:
            continue  # too near to a known step
        inside, outside = inside + (steps[0] < wanted < steps[2]), outside + (not steps[0] < wanted < steps[2])
        wanted = float(np.clip(wanted, steps[0] - 10.0 * span, steps[2] + 10.0 * span))
        assert tried(steps, values, 4).tolist() == [pytest.approx(wanted, rel=1e-9, abs=1e-9)]


@pytest.mark.parametrize(
    ("steps", "values", "wanted"),
    [
        ([0.0, 1.0, 2.0], [2.0, 1.0, 0.5], 2.5),  # the vertex at 2.5 is beyond the list, in the box
        ([0.0, 1.0, 2.0], [1.0, 0.0, 1.0], 0.5),  # it is a known step: the interval beside it is halved
        ([0.0, 1.0, 3.0], [1.0, 0.0, 4.0], 2.0),  # of these the wider one
        ([0.0, 2.0, 3.0], [4.0, 0.0, 1.0], 1.0),
        ([0.0, 1.0, 2.0], [2.0, 1.0, 0.0], 12.0),  # it goes straight down: ten times the last stretch beyond
        ([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], -10.0),
        ([0.0, 1.0, 2.0], [1.0, 2.0, 1.5], -10.0),  # no parabola, and the left end is the lower one
        ([0.0, 1.0, 2.0], [1.5, 2.0, 1.0], 12.0),
    ],
)
def test_where_no_parabola_helps_it_halves_or_goes_ten_times_as_far(
    steps: list[float], values: list[float], wanted: float
) -> None:
    added = tried(np.array(steps), np.array(values), 4)  # and perhaps another one, nearer to step 0
    assert np.abs(added - wanted).min() < 1e-9


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_vertex_far_away_is_drawn_in_to_ten_times_the_length_of_the_list(side: float) -> None:
    steps = side * np.array([1.0, 2.0, 3.0])
    values = 1e-4 * (steps - side * 500.0) ** 2
    order = np.argsort(steps)
    added = tried(steps[order], values[order], 4)
    assert np.abs(added - side * 23.0).min() < 1e-9


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_no_step_leaves_the_box(side: float) -> None:
    ends = (-3.0, 5.0) if side > 0 else (-5.0, 3.0)
    values = np.array([2.0, 1.0, 0.0])[:: int(side)]
    added = tried(np.sort(side * np.array([0.0, 1.0, 2.0])), values, 4, ends)
    assert added.tolist() == [5.0 * side]
