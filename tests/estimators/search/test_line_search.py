"""Single steps of the line search, against polynomials through the same values."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from estimators.quantities import Floats
from estimators.search.multilevel.evaluation import Objective
from estimators.search.multilevel.line.line import MOST, Line
from estimators.search.multilevel.line.search import line_search
from hil_rig.papers.searches.test_functions import FUNCTIONS

pytestmark = pytest.mark.interpreted

(CAMEL,) = (function for function in FUNCTIONS if function.name == "Six-hump camel")
REACH = 1e4  # of the box, either way


def tried(
    steps: Floats, values: Floats, cap: int, ends: tuple[float, float] = (-REACH, REACH), local: int = 1
) -> Floats:
    """The steps that it adds to these, whose values are given.

    ends: of the box, from the base on; local: minima that are refined; of one a parabola is tried before all else.
    """
    base = np.array([0.1, 0.1])
    objective = Objective(
        f=CAMEL.f.function,
        data=np.zeros(1),
        lower=base + ends[0],
        upper=base + ends[1],
        free=np.arange(2),
        x=np.zeros(2),
        best=np.zeros(2),
        budget=1000,
    )
    line = Line.zeros(base=base, direction=np.array([1.0, 0.0]), most=MOST, points=len(steps), cap=cap, locals=local)
    line.a[: len(steps)], line.f[: len(steps)] = steps, values
    line_search(objective, line)
    return np.setdiff1d(line.a[: line.points], steps)


def single(values: Floats) -> bool:
    """Whether these values show one minimum, inside."""
    lower = np.flatnonzero((values[1:-1] < values[:-2]) & (values[1:-1] < values[2:]))
    return len(lower) == 1 and values[0] > values[1] and values[-1] > values[-2]


@pytest.mark.compiled
def test_five_values_with_one_minimum_are_followed_by_the_minimiser_of_their_quartic() -> None:
    """With two minima one beyond the list is tried if foretold to be below the worst value, else the lower one."""
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


GOLDEN = 0.5 * (5.0**0.5 - 1.0)


@pytest.mark.parametrize(
    ("steps", "values", "wanted"),
    [
        ([0.0, 10.0, 11.0, 14.0], [0.0, 1.0, 1.05, 2.0], 10.0 * (1.0 - GOLDEN)),  # nearer to the lower end
        ([0.0, 3.0, 4.0, 14.0], [2.0, 1.05, 1.0, 0.0], 4.0 + 10.0 * GOLDEN),
        ([0.0, 3.0, 4.0, 14.0], [0.0, 0.2, 0.25, 0.25], 9.0),
    ],
)
def test_where_the_ends_are_bounds_the_widest_interval_is_cut_in_the_golden_section(
    steps: list[float], values: list[float], wanted: float
) -> None:
    added = tried(np.array(steps), np.array(values), 5, (0.0, 14.0))
    assert np.abs(added - wanted).min() < 1e-9


@pytest.mark.parametrize(
    ("steps", "values", "wanted"),
    [
        ([0.0, 6.0, 10.0, 14.0], [0.5, 2.0, 0.0, 1.0], 6.0 * (1.0 - GOLDEN)),
        ([0.0, 4.0, 8.0, 14.0], [1.0, 0.0, 2.0, 0.5], 8.0 + 6.0 * GOLDEN),
    ],
)
def test_nearer_to_the_best_than_another_minimum_no_interval_counts_as_wider(
    steps: list[float], values: list[float], wanted: float
) -> None:
    """The widths are over the distance from the best, which is at least that of the nearest other minimum, here 10."""
    added = tried(np.array(steps), np.array(values), 5, (0.0, 14.0), local=2)
    assert np.abs(added - wanted).min() < 1e-9


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("values", [[0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 2.0, 3.0, 3.0]])
def test_a_line_that_only_rises_from_the_bound_is_left_at_once(values: list[float], side: float) -> None:
    steps, ends = side * np.arange(5.0), (0.0, 4.0) if side > 0.0 else (-4.0, 0.0)
    order = np.argsort(steps)
    assert len(tried(steps[order], np.array(values)[order], 12, ends)) == 0
