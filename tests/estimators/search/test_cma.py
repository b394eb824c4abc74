"""Our CMA-ES needs as many evaluations as its author's program, and begins anew where a cloud is at its end."""

import warnings

import numpy as np
import pytest

from estimators.quantities import Floats
from estimators.search import minimise
from estimators.search.base import SearchStatus
from estimators.search.cma import CmaEs

SEEDS = range(1, 10)


def ellipsoid(x: Floats) -> float:
    """Variances from 1 to 10⁶, along no axis of the box."""
    turned = np.linalg.qr(np.random.default_rng(3).normal(size=(len(x), len(x))))[0] @ x
    return float(10.0 ** (6.0 * np.arange(len(x)) / (len(x) - 1)) @ turned**2)


def rosenbrock(x: Floats) -> float:
    return float(np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2))


@pytest.mark.parametrize("f", [ellipsoid, rosenbrock])
def test_it_needs_as_many_evaluations_as_the_authors_program(f) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import cma
    theirs, ours = [], []
    for seed in SEEDS:
        words = {"seed": seed, "verbose": -9, "ftarget": 1e-8, "CMA_active": False}
        strategy = cma.CMAEvolutionStrategy(np.full(5, 0.5), 0.3, words)
        theirs.append(strategy.optimize(f).result.evaluations)
        found = minimise(
            CmaEs(step=0.03, restarts=False), f, np.full(5, -5.0), np.full(5, 5.0),
            budget=50_000, target=1e-8, seed=seed, start=np.full(5, 0.5),
        )  # fmt: skip
        ours.append(found.evaluations if found.status is SearchStatus.TARGET else 50_000)
    assert np.median(ours) == pytest.approx(np.median(theirs), rel=0.25)


def rastrigin(x: Floats) -> float:
    return float(np.sum((x - 1.0) ** 2 + 10.0 * (1.0 - np.cos(2.0 * np.pi * (x - 1.0)))))


def test_a_cloud_in_a_side_valley_begins_anew_with_more_points() -> None:
    low, high = np.full(3, -5.0), np.full(3, 5.0)
    once = [minimise(CmaEs(restarts=False), rastrigin, low, high, budget=50_000, seed=seed) for seed in SEEDS]
    again = [minimise("cma", rastrigin, low, high, budget=50_000, target=1e-6, seed=seed) for seed in SEEDS]
    assert {found.status for found in once} == {SearchStatus.STALLED}
    assert sum(found.value > 0.5 for found in once) >= 3, "the premise: one cloud ends beside the minimum"
    assert all(found.value <= 1e-6 for found in again)


def test_a_minimum_in_a_corner_of_the_box_is_found() -> None:
    found = minimise("cma", lambda x: float(x[0] - 2.0 * x[1]), [-1.0, 0.0], [2.0, 3.0], budget=400, seed=1)
    assert found.x == pytest.approx([-1.0, 3.0], abs=1e-12)


def test_without_a_box_the_first_cloud_is_as_wide_as_it_is_told() -> None:
    seen: list[Floats] = []

    def f(x: Floats) -> float:
        seen.append(x)
        return float(np.sum(x**2))

    free = np.full(4, np.inf)
    minimise(CmaEs(population=400, step=0.15 / 20.0), f, -free, free, budget=401, start=np.full(4, 0.2))
    assert np.std(np.array(seen[1:]), axis=0) == pytest.approx(np.full(4, 0.15), rel=0.15)
