"""What every search has in common: the box, a start in it, a budget that is used up and not exceeded."""

import numpy as np
import pytest

from estimators.quantities import Floats
from estimators.search import SEARCHES, minimise
from estimators.search.base import SearchOver, SearchProblem, SearchStatus

LOW, HIGH = np.array([-2.0, -1.0, 0.0]), np.array([1.0, 3.0, 2.0])


def bowl(x: Floats) -> float:
    return float(np.sum((x - [0.3, 0.4, 1.1]) ** 2)) + 1.0


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ([0.0, 0.0, 2.1], r"coordinate 2 is 2.1, outside \[0.0, 2.0\]"),
        ([0.0, -1.1, 1.0], r"coordinate 1 is -1.1, outside \[-1.0, 3.0\]"),
        ([np.inf, 0.0, 5.0], r"coordinate 0 is inf, outside \[-2.0, 1.0\]"),
    ],
)
def test_the_first_coordinate_of_a_start_outside_the_box_is_named(start: list[float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        minimise("mcs", bowl, LOW, HIGH, budget=9, start=start)


@pytest.mark.parametrize("budget", [1, 2, 37])
@pytest.mark.parametrize("name", SEARCHES)
def test_every_value_of_a_budget_is_asked_for_and_none_more(name: str, budget: int) -> None:
    asked: list[Floats] = []

    def counted(x: Floats) -> float:
        asked.append(x)
        return bowl(x)

    found = minimise(name, counted, LOW, HIGH, budget=budget)
    assert (found.evaluations, found.status) == (len(asked), SearchStatus.BUDGET)
    assert len(asked) == budget
    assert found.value == min(map(bowl, asked))
    assert all(((x >= LOW) & (x <= HIGH)).all() for x in asked)


def test_of_points_beyond_the_budget_the_first_are_still_evaluated() -> None:
    problem = SearchProblem(bowl, LOW, HIGH, budget=3)
    points = np.random.default_rng(2).uniform(LOW, HIGH, (5, 3))
    np.testing.assert_allclose(problem.values(points[:2]), [bowl(x) for x in points[:2]])
    with pytest.raises(SearchOver) as over:
        problem.values(points[2:])
    assert over.value.status is SearchStatus.BUDGET
    assert problem.evaluations == 3
    with pytest.raises(SearchOver):
        problem.values(points[:1])
    assert problem.evaluations == 3


@pytest.mark.parametrize(
    ("low", "high"), [(1.0, 0.5), (np.nan, 1.0), (0.0, np.nan), (np.inf, np.inf), (-np.inf, -np.inf)]
)
def test_an_interval_without_a_finite_number_is_named(low: float, high: float) -> None:
    with pytest.raises(ValueError, match=r"coordinate 1: expected lower ≤ upper"):
        minimise("mcs", bowl, [-2.0, low, 0.0], [1.0, high, 2.0], budget=9)
