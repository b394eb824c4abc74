"""The population searches do what their papers say; what every search must do is in tests/contracts."""

import numpy as np
import pytest

from estimators.search import chaotic_cuckoo, minimise
from estimators.search.base import Search, SearchStatus, batch
from estimators.search.bees import POINTING, Bees
from estimators.search.chaotic_cuckoo import ChaoticCuckoo, _settle
from estimators.search.cuckoo import Cuckoo
from estimators.search.population import levy
from estimators.search.swarm import ARM, Swarm

ALL = (Cuckoo(), Cuckoo(as_programmed=True), ChaoticCuckoo(), Swarm(), Swarm(neighbours=2), Bees())
LOW, HIGH = np.array([-5.0, 0.0]), np.array([10.0, 15.0])


@batch
def branin(points):
    x, y = points.T
    bend = y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6
    return bend**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10


@pytest.mark.parametrize("search", ALL, ids=str)
def test_finds_branins_minimum(search: Search) -> None:
    found = minimise(search, branin, LOW, HIGH, budget=20_000, target=0.397887 * 1.0001, seed=1)
    assert found.status is SearchStatus.TARGET
    assert branin(found.x[np.newaxis])[0] == found.value


@pytest.mark.parametrize("search", ALL, ids=str)
def test_a_generation_is_one_batch_and_a_seed_decides_all(search: Search) -> None:
    sizes = []

    @batch
    def f(points):
        sizes.append(len(points))
        return branin(points)

    one = minimise(search, f, LOW, HIGH, budget=500, seed=3)
    assert sum(sizes) == one.evaluations == 500
    assert max(sizes) == sizes[0] >= 10
    again = minimise(search, branin, LOW, HIGH, budget=500, seed=3)
    assert np.array_equal(one.x, again.x)
    assert not np.array_equal(one.x, minimise(search, branin, LOW, HIGH, budget=500, seed=4).x)


@pytest.mark.parametrize("search", ALL, ids=str)
def test_walls_of_infinity_and_an_open_box_do_no_harm(search: Search) -> None:
    def f(x):
        return np.inf if x[0] < 0 else np.nan if x[1] < 0 else -np.inf if x[0] > 50 else float(np.sum((x - 1) ** 2))

    found = minimise(search, f, [-np.inf, -4.0], [np.inf, 4.0], budget=3000, seed=2)
    assert found.nonfinite > 0
    assert found.value < 0.5


@pytest.mark.parametrize("search", ALL, ids=str)
def test_the_start_is_the_first_point(search: Search) -> None:
    seen = []
    minimise(search, lambda x: seen.append(x.copy()) or 1.0, LOW, HIGH, budget=40, start=[2.5, 7.5])
    assert np.array_equal(seen[0], [2.5, 7.5])


def test_levy_steps_have_the_tail_of_their_index() -> None:
    steps = np.sort(np.abs(levy(np.random.default_rng(0), (400_000,), 1.5)))
    tail = steps[-4000:]
    hill = 1.0 / np.mean(np.log(tail / tail[0]))  # Hill's estimate of λ
    assert hill == pytest.approx(1.5, abs=0.1)
    assert np.median(steps) == pytest.approx(0.70, abs=0.1)  # Mantegna: scale near that of the stable law


def test_heat_accepts_worse_nests_but_never_instead_of_the_best() -> None:
    class Flat:
        lower, upper = np.zeros(2), np.ones(2)

        def values(self, points):
            return np.full(len(points), 1.001)

    nests, values = np.full((50, 2), 0.5), np.linspace(1.0, 1.0005, 50)
    places = np.random.default_rng(0).random((50, 2))
    _settle(Flat(), nests, values, places.copy(), 1.0, np.random.default_rng(1))
    assert values[0] == 1.0
    assert (nests[0] == 0.5).all()
    assert (values[1:] == 1.001).sum() > 40
    cold = np.linspace(1.0, 1.0005, 50)
    _settle(Flat(), np.full((50, 2), 0.5), cold, places, 0.0, np.random.default_rng(1))
    assert cold.max() == 1.0005


def test_nests_fly_about_the_best_one_which_stays_where_it_is() -> None:
    """Steps are as long as a nest is away from it: the first flight of the best is none."""
    seen = []

    @batch
    def bowl(points):
        seen.append(points.copy())
        return ((points - 4.0) ** 2).sum(axis=1)

    minimise(ChaoticCuckoo(nests=20), bowl, LOW, HIGH, budget=40, seed=3)
    nests = np.concatenate(seen)[:20]
    flown = np.concatenate(seen)[20:40]
    best = int(np.argmin(((nests - 4.0) ** 2).sum(axis=1)))
    np.testing.assert_array_equal(flown[best], nests[best])
    assert (np.delete(flown, best, axis=0) != np.delete(nests, best, axis=0)).any(axis=1).all()


@pytest.mark.parametrize("emotion", [True, False])
def test_worse_nests_survive_less_and_less_and_none_once_the_generations_are_over(emotion, monkeypatch) -> None:
    warm = []

    def settle(problem, nests, values, places, warmth, rng):
        warm.append(warmth)
        _settle(problem, nests, values, places, warmth, rng)

    monkeypatch.setattr(chaotic_cuckoo, "_settle", settle)
    minimise(ChaoticCuckoo(nests=10, generations=4, emotion=emotion), branin, LOW, HIGH, budget=150, seed=1)
    falling = [0.02, 0.02, 0.015, 0.015, 0.01, 0.01, 0.005, 0.005]
    expected = np.zeros(len(warm))
    expected[:8] = falling if emotion else 0.0
    assert len(warm) >= 12
    np.testing.assert_allclose(warm, expected, atol=1e-15)


def test_the_printed_swarm_stands_still_before_it_is_there() -> None:
    def reached(search):
        return [minimise(search, branin, LOW, HIGH, budget=4000, seed=seed).value < 0.39790 for seed in range(12)]

    assert sum(reached(Swarm())) > sum(reached(ARM))


def test_a_spent_source_is_left_after_its_limit() -> None:
    sizes = []

    @batch
    def flat(points):
        sizes.append(len(points))
        return np.zeros(len(points))

    minimise(Bees(sources=5, limit=3), flat, LOW, HIGH, budget=400)
    assert sizes.count(1) > 10  # a scout is a batch of its own
    assert POINTING.limit == 600
    sizes.clear()
    minimise(POINTING, flat, LOW, HIGH, budget=2000)
    assert sizes.count(1) == 0
