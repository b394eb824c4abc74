"""Robust z against siblings: the published estimator, and how often a page accuses somebody though all are alike."""

import numpy as np
import pytest

from estimators.numerics.jit import INTERPRETED
from estimators.offline.siblings import ERROR, FEWEST, against_siblings, qn, threshold
from estimators.quantities import Floats
from tests.support.processes.waiting import quickest


@pytest.mark.parametrize("n", [5, 6, 9, 10, 41, 200])
def test_the_spread_is_that_of_normal_values(n: int) -> None:
    """Unbiased, as Rousseeuw and Croux's factors make it; at 82 % efficiency from some dozen values on."""
    draws = np.random.default_rng(n).standard_normal((4000 if n < 50 else 400, n))
    spreads = np.array([qn(one) for one in draws])
    assert spreads.mean() == pytest.approx(1.0, abs=0.03)
    if n > 40:
        assert np.var(spreads) * 2 * n < 1.35 / 0.82


def distances(values: Floats) -> Floats:
    """All distances between two of them, ascending."""
    return np.sort(np.abs(values[:, None] - values[None, :])[np.triu_indices(len(values), 1)])


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9, 10, 11, 40, 301])
def test_the_spread_is_the_brute_force_to_the_last_bit(n: int) -> None:
    """Also with ties, with outliers of 300 decades, and with values that differ by their last bit only."""
    rng = np.random.default_rng(n)
    wide = rng.standard_normal(n) * 10.0 ** rng.uniform(-150, 150, n)
    close = 1.0 + np.finfo(np.float64).eps * rng.integers(0, 4, n)
    half = n // 2 + 1
    rank = half * (half - 1) // 2
    factor = qn(np.arange(n, dtype=np.float64)) / distances(np.arange(n, dtype=np.float64))[rank - 1]
    for values in (rng.standard_normal(n), np.round(rng.standard_normal(n), 1), wide, close, np.full(n, 3.0)):
        assert qn(values) == pytest.approx(factor * distances(values)[rank - 1], rel=1e-14, abs=0.0)


def test_ten_thousand_siblings_take_milliseconds() -> None:
    """All 5·10⁷ distances would take seconds, and 400 MB."""
    values = np.random.default_rng(1).standard_normal(10_000)
    assert qn(values) == pytest.approx(1.0, abs=0.03)
    assert INTERPRETED or quickest(lambda: qn(values), 0.2) < 0.2


def test_half_of_the_siblings_may_be_odd() -> None:
    values = np.random.default_rng(3).normal(5.0, 0.1, 41)
    values[:15] += 50.0
    z = against_siblings(values, np.full(41, 0.01))
    assert (np.abs(z[:15]) > 20).all()
    assert (np.abs(z[15:]) < 5).all()


def test_what_is_known_worse_may_lie_further_off() -> None:
    values = np.append(np.random.default_rng(4).normal(0.0, 1.0, 60), 8.0)
    told = against_siblings(values, np.append(np.full(60, 0.5), 0.5))[-1]
    doubted = against_siblings(values, np.append(np.full(60, 0.5), 8.0))[-1]
    assert told > 6.0
    assert abs(doubted) < 1.2


@pytest.mark.parametrize("robots", [6, 20, 100])
def test_a_page_of_robots_that_are_alike_accuses_somebody_in_one_of_twenty(robots: int) -> None:
    quantities, pages = 24, 100
    draws = np.random.default_rng(robots).standard_normal((pages, quantities, robots))
    limit = threshold(robots, quantities * robots)
    accused = [any((np.abs(against_siblings(q, np.zeros(robots))) > limit).any() for q in page) for page in draws]
    assert np.mean(accused) < ERROR + 3.0 * np.sqrt(ERROR / pages)


def test_the_few_the_missing_and_the_equal() -> None:
    assert np.isnan(against_siblings(np.arange(FEWEST - 1.0), np.zeros(FEWEST - 1))).all()
    found = against_siblings(np.array([1.0, 2.0, 3.0, np.nan, 4.0, 5.0]), np.full(6, np.nan))
    assert np.isnan(found).tolist() == [False, False, False, True, False, False]
    assert against_siblings(np.full(8, 2.5), np.zeros(8)).tolist() == [0.0] * 8
