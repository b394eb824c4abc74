"""The population searches step by step: every batch that the objective hears is what the papers allow, no more.

The tests keep the population themselves, from the points and values of each batch and the published rules alone. Where
a rule draws a random number, that number is recovered from the points, and its distribution is compared with the
published one. A p-value below RARE would be one run in a thousand, and the seeds are fixed.
"""

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
import scipy  # loads its parts when they are used
from numpy.typing import NDArray
from scipy.special import erf

from estimators.quantities import Floats
from estimators.search import minimise
from estimators.search.base import Search, batch
from estimators.search.bees import POINTING, Bees
from estimators.search.chaotic_cuckoo import ChaoticCuckoo
from estimators.search.cuckoo import Cuckoo
from estimators.search.population import levy
from estimators.search.swarm import ARM, Swarm

RARE = 1e-3
SPREAD = 0.696575  # Mantegna's σ_u for the index 1.5, as tabulated in his paper
REACH = 10.0  # half width of the region in which a search of an unbounded box draws its first points


class Batch(NamedTuple):
    """The points that were evaluated together, and their values."""

    points: Floats
    values: Floats


def heard(
    search: Search,
    values: Callable[[Floats, int], Floats],
    n: int,
    batches: int,
    *,
    wall: float = math.inf,
    seed: int = 7,
) -> list[Batch]:
    """The first batches of a search of n dimensions; values: of points, and the number of the batch."""
    found: list[Batch] = []

    @batch
    def f(points: Floats) -> Floats:
        found.append(Batch(points.copy(), values(points, len(found))))
        return found[-1].values.copy()

    ends = np.full(n, wall)
    minimise(search, f, -ends, ends, budget=10**9, seed=seed, callback=lambda *_: len(found) >= batches)
    return found


def rugged(points: Floats, _number: int = 0) -> Floats:
    """A function with many minima around its least one."""
    value: Floats = np.sum((points - 1.0) ** 2 + 3.0 * np.cos(4.0 * points), axis=1)
    return value


def never_better(first: Floats) -> Callable[[Floats, int], Floats]:
    """Given values for the first batch, and infinity for all that follow: the population stays where it is."""
    return lambda points, number: first if number == 0 else np.full(len(points), np.inf)


def differs(one: Floats, other: Floats) -> NDArray[np.intp]:
    """The coordinates in which two points differ."""
    return np.flatnonzero(one != other)


# --- bees ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "allowed"), [(3, 3), (None, 5 * 3)])
def test_bees_try_one_coordinate_keep_what_is_better_and_leave_the_source_that_failed_most(
    limit: int | None, allowed: int
) -> None:
    sources, n = 5, 3
    run = heard(Bees(sources=sources, limit=limit), rugged, n, 600, wall=6.0)
    x, values, failures = run[0].points.copy(), run[0].values.copy(), np.zeros(sources, np.int64)
    at, scouts, onlookers = 1, 0, 0
    while at + 2 < len(run):
        for phase in range(2):
            tried = run[at]
            assert len(tried.points) == sources
            before = x.copy()
            for bee, (point, value) in enumerate(zip(*tried, strict=True)):
                near = [source for source in range(sources) if len(differs(point, before[source])) <= 1]
                source = bee if phase == 0 else near[0]
                assert source in near, "a bee changes one coordinate of its source"
                for coordinate in differs(point, before[source]):
                    moved = point[coordinate] - before[source, coordinate]
                    apart = np.abs(before[:, coordinate] - before[source, coordinate]).max()
                    assert abs(moved) <= apart * (1 + 1e-12)
                if value < values[source]:
                    x[source], values[source], failures[source] = point, value, 0
                else:
                    failures[source] += 1
            at, onlookers = at + 1, onlookers + phase
        spent = int(np.argmax(failures))
        if failures[spent] > allowed:
            assert len(run[at].points) == 1, "a scout goes alone, as soon as the limit is passed"
            x[spent], values[spent], failures[spent] = run[at].points[0], run[at].values[0], 0
            at, scouts = at + 1, scouts + 1
    assert scouts >= 5
    assert onlookers >= 200


def test_a_bee_goes_between_minus_and_plus_the_distance_to_any_other_source() -> None:
    sources, n = 5, 3
    run = heard(Bees(sources=sources, limit=10**6), never_better(np.zeros(sources)), n, 800)
    x, shares, coordinates = run[0].points, [], np.zeros(n, np.int64)
    for tried in run[1::2]:
        for source, point in enumerate(tried.points):
            (coordinate,) = differs(point, x[source])
            moved = point[coordinate] - x[source, coordinate]
            apart = np.delete(np.abs(x[:, coordinate] - x[source, coordinate]), source)
            # what a uniform step of each neighbour makes of |moved|, on average over the neighbours, is uniform
            shares.append(math.copysign(np.mean(np.minimum(1.0, abs(moved) / apart)), moved))
            coordinates[coordinate] += 1
    assert scipy.stats.kstest(shares, "uniform", (-1.0, 2.0)).pvalue > RARE
    assert scipy.stats.chisquare(coordinates).pvalue > RARE


def test_a_bee_goes_towards_the_other_source_as_often_as_away_from_it() -> None:
    run = heard(Bees(sources=2, limit=10**6), never_better(np.zeros(2)), 3, 800)
    x, shares = run[0].points, []
    for tried in run[1::2]:
        for source, point in enumerate(tried.points):
            (coordinate,) = differs(point, x[source])
            apart = x[source] - x[1 - source]
            shares.append((point - x[source])[coordinate] / apart[coordinate])
    assert scipy.stats.kstest(shares, "uniform", (-1.0, 2.0)).pvalue > RARE


@pytest.mark.parametrize(
    ("first", "fitness"),
    [
        ([-2.0, -0.5, 0.0, 1.0, 4.0], [3.0, 1.5, 1.0, 0.5, 0.2]),  # 1 + |F| below zero, 1/(1 + F) from zero on
        ([1.0, np.inf, 3.0, 0.0, 1.0], [0.5, 0.0, 0.25, 1.0, 0.5]),
        ([np.inf] * 5, [1.0] * 5),
    ],
)
def test_onlookers_choose_a_source_with_a_chance_proportional_to_its_fitness(
    first: list[float], fitness: list[float]
) -> None:
    run = heard(Bees(sources=5, limit=10**6), never_better(np.array(first)), 3, 1000)
    x, chosen = run[0].points, np.zeros(5, np.int64)
    for tried in run[2::2]:
        for point in tried.points:
            (source,) = (source for source in range(5) if len(differs(point, x[source])) == 1)
            chosen[source] += 1
    possible = np.array(fitness) > 0.0
    assert (chosen[~possible] == 0).all()
    expected = chosen.sum() * np.array(fitness)[possible] / np.sum(fitness)
    assert scipy.stats.chisquare(chosen[possible], expected).pvalue > RARE


def test_a_scout_may_land_anywhere_in_the_box() -> None:
    run = heard(Bees(sources=2, limit=1), never_better(np.zeros(2)), 2, 1500, wall=3.0)
    landed = np.concatenate([one.points for one in run if len(one.points) == 1])
    assert len(landed) > 300
    assert scipy.stats.kstest(landed.ravel(), "uniform", (-3.0, 6.0)).pvalue > RARE


def test_the_pointing_mechanism_has_the_colony_that_its_paper_prints() -> None:
    assert Bees(sources=100, limit=600) == POINTING
    assert len(heard(Bees(), rugged, 2, 1)[0].points) == 10


# --- cuckoos ------------------------------------------------------------------------------------------------------


def pair_of(step: Floats, x: Floats) -> tuple[float, NDArray[np.intp]]:
    """r ≥ 0 with step = r (x_j − x_k) in every coordinate that moved, for some pair of nests; and these coordinates."""
    moved = np.flatnonzero(step)
    apart = x[:, None, moved] - x[None, :, moved]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = step[moved] / apart
    possible = (np.isfinite(share) & (share > 0.0)).all(axis=2)  # a nest has no distance from itself
    share[~possible] = 1.0
    wrong = np.where(possible, np.ptp(share, axis=2) / share.max(axis=2), np.inf)
    j, k = np.unravel_index(np.argmin(wrong), wrong.shape)
    assert wrong[j, k] < 1e-6, "the step is not along the way from one nest to another"
    return float(share[j, k].mean()), moved


def test_a_cuckoo_flies_from_every_nest_but_the_best_and_what_is_better_stays() -> None:
    run = heard(Cuckoo(nests=8), rugged, 6, 300)
    x, values = run[0].points.copy(), run[0].values.copy()
    left = 0
    for number, (points, found) in enumerate(run[1:]):
        steps, best = points - x, int(np.argmin(values))
        if number % 2 == 0:  # flights
            assert (steps[best] == 0.0).all()
            assert (np.delete(steps, best, axis=0) != 0.0).any(axis=1).all()
        else:  # nests that are found
            for step in steps[np.count_nonzero(steps, axis=1) >= 2]:
                share, _ = pair_of(step, x)
                assert 0.0 < share < 1.0
                left += 1
        better = found < values
        x[better], values[better] = points[better], found[better]
    assert left > 200
    assert values.min() < run[0].values.min()


@pytest.mark.parametrize(
    ("search", "share"),
    [
        (Cuckoo(), 0.25),
        (Cuckoo(as_programmed=True), 0.75),
        (Cuckoo(abandoned=0.1), 0.1),
        (ChaoticCuckoo(nests=15, emotion=False), 0.4),
    ],
    ids=str,
)
def test_a_fraction_of_the_coordinates_is_abandoned(search: Search, share: float) -> None:
    nests, n, generations = 15, 10, 200
    run = heard(search, never_better(np.arange(nests, dtype=float)), n, 1 + 2 * generations)
    moved = np.array([np.count_nonzero(one.points - run[0].points) for one in run[2::2]])
    expected = share * (1.0 - 1.0 / nests)  # a nest that is drawn in both permutations gives no step
    deviation = math.sqrt(share * (1 - share) / (nests * n * generations) + share**2 / nests / (nests * generations))
    assert moved.sum() / (nests * n * generations) == pytest.approx(expected, abs=4.0 * deviation)


@pytest.mark.parametrize("search", [Cuckoo(as_programmed=True), Cuckoo(nests=15, abandoned=0.6)], ids=str)
def test_a_found_nest_moves_any_share_of_the_way_between_two_others(search: Search) -> None:
    run = heard(search, never_better(np.arange(15.0)), 10, 1 + 2 * 60)
    x = run[0].points
    steps = np.concatenate([one.points - x for one in run[2::2]])
    shares = [pair_of(step, x)[0] for step in steps if np.count_nonzero(step) >= 3]
    assert len(shares) > 700
    assert scipy.stats.kstest(shares, "uniform").pvalue > RARE


def mantegna(rng: np.random.Generator, count: int) -> Floats:
    """Steps of the index 1.5, one by one as his paper says."""
    return np.array([rng.normal(0.0, SPREAD) / abs(rng.normal()) ** (1.0 / 1.5) for _ in range(count)])


def test_flights_are_levy_steps_scaled_by_the_distance_to_the_best_nest() -> None:
    run = heard(Cuckoo(step=0.05), never_better(np.arange(15.0)), 10, 1 + 2 * 150)
    x = run[0].points
    found = np.concatenate([((one.points - x)[1:] / (x - x[0])[1:]).ravel() for one in run[1::2]])
    rng = np.random.default_rng(11)
    wanted = 0.05 * mantegna(rng, 60_000) * rng.normal(size=60_000)
    assert scipy.stats.ks_2samp(found, wanted).pvalue > RARE


def test_levy_steps_have_the_distribution_of_mantegnas_quotient() -> None:
    """P(|u| ≤ t |v|^(1/λ)), integrated over v; at the index 1 the quotient of two normal numbers is Cauchy's."""
    v = (np.arange(800) + 0.5) * 0.01
    weight = 2.0 * np.exp(-0.5 * v**2) / math.sqrt(2.0 * math.pi) * 0.01

    def below(t: Floats) -> Floats:
        inside: Floats = 0.5 + 0.5 * erf(t[:, None] * v ** (1.0 / 1.5) / (SPREAD * math.sqrt(2.0))) @ weight
        return inside

    assert scipy.stats.kstest(levy(np.random.default_rng(3), (5000,), 1.5), below).pvalue > RARE
    assert scipy.stats.kstest(levy(np.random.default_rng(3), (5000,), 1.0), "cauchy").pvalue > RARE


def test_the_step_size_of_the_chaotic_cuckoo_follows_the_tent_map() -> None:
    nests, n, tent, size = 25, 2000, 0.9, 0.25
    search = ChaoticCuckoo(nests=nests, tent=tent, step=size, emotion=False)
    run = heard(search, never_better(np.arange(float(nests))), n, 25)
    x = run[0].points
    usual = float(np.median(np.abs(mantegna(np.random.default_rng(5), 200_000))))
    # of 48,000 ratios the median is known to half a percent
    z = [np.median(np.abs((one.points - x)[1:] / (x - x[0])[1:])) / usual / size for one in run[1::2]]
    assert min(z) < 0.5 < max(z), "both sides of the tent were seen"
    for before, after in itertools.pairwise(z):
        assert after == pytest.approx(2.0 * tent * min(before, 1.0 - before), abs=0.03)
    shares = [pair_of(step[:6], x[:, :6])[0] / one / size for one, found in zip(z, run[2::2], strict=True)
              for step in found.points - x if np.count_nonzero(step[:6]) >= 2]  # fmt: skip
    assert scipy.stats.kstest(shares, "uniform").pvalue > RARE


def test_a_worse_nest_is_accepted_as_often_as_the_temperature_allows() -> None:
    """T_k = 0.02·|F_best|·(1 − k/K): with F_best = −10 and K = 2 that is 0.2, then 0.1, then nothing."""
    nests, n, worse = 2000, 6, 0.2 * math.log(2.0)
    search = ChaoticCuckoo(nests=nests, generations=2)

    def accepted(generation: int) -> float:
        """Share of the nests that took the flight of this generation, which was worse by `worse`."""
        at = 1 + 2 * generation

        def values(points: Floats, number: int) -> Floats:
            if number == 0:
                return np.array([-10.0] + [0.0] * (nests - 1))
            return np.full(len(points), worse if number == at else np.inf)

        run = heard(search, values, n, at + 2)
        first, flown, then = run[0].points[1:], run[at].points[1:], run[at + 1].points[1:]
        stayed, went = (np.count_nonzero(then == where, axis=1) for where in (first, flown))
        told = np.maximum(stayed, went) > 0  # some coordinate was not abandoned after that
        return float(np.mean((went > stayed)[told]))

    for generation, share in ((0, 0.5), (1, 0.25), (2, 0.0)):
        assert accepted(generation) == pytest.approx(share, abs=4.0 * math.sqrt(share * (1 - share) / nests))


def test_dings_cuckoos_are_as_printed() -> None:
    printed = {"nests": 25, "abandoned": 0.4, "step": 0.25, "exponent": 1.5, "tent": 0.6, "generations": 200}
    assert ChaoticCuckoo().model_dump(exclude={"kind", "emotion"}) == printed
    assert Cuckoo().model_dump(exclude={"kind"}) == {
        "nests": 15, "abandoned": 0.25, "step": 0.01, "exponent": 1.5, "as_programmed": False,
    }  # fmt: skip


# --- swarms -------------------------------------------------------------------------------------------------------


def leaders(values: Floats, neighbours: int) -> list[int]:
    """For each particle, the number of the best one among those that it knows."""
    count = len(values)
    known = [[(i + j) % count for j in range(-neighbours, neighbours + 1)] for i in range(count)]
    return [min(range(count) if neighbours == 0 else one, key=lambda k: values[k]) for one in known]


@pytest.mark.parametrize("neighbours", [0, 2])
def test_a_particle_is_drawn_to_its_own_best_place_and_to_its_leaders(neighbours: int) -> None:
    search = Swarm(particles=9, neighbours=neighbours)
    run = heard(search, rugged, 4, 200)
    x, own, values = run[0].points, run[0].points.copy(), run[0].values.copy()
    v = None
    for points, found in run[1:]:
        step = points - x
        if v is not None:
            to_own, to_leader = own - x, own[leaders(values, neighbours)] - x
            low = 0.7298 * v + 1.49618 * (np.minimum(to_own, 0.0) + np.minimum(to_leader, 0.0))
            high = 0.7298 * v + 1.49618 * (np.maximum(to_own, 0.0) + np.maximum(to_leader, 0.0))
            assert (step >= np.maximum(low, -REACH) - 1e-9).all()
            assert (step <= np.minimum(high, REACH) + 1e-9).all()
        v, x = step, points
        better = found < values
        own[better], values[better] = points[better], found[better]
    assert values.min() < run[0].values.min()


def test_who_is_opposite_in_the_ring_is_not_known() -> None:
    """Four particles, one neighbour either way: the particle opposite the best is drawn to the better neighbour."""
    search = Swarm(particles=4, inertia=0.5, cognitive=0.0, social=0.2, neighbours=1)
    own, before, then = (one.points for one in heard(search, never_better(np.arange(4.0)), 200, 4)[:3])
    step = (then - before) - 0.5 * (before - own)
    goal = own[1] - before[2]  # of 1 and 3 beside it
    assert ((step[2] / goal > 0.0) & (step[2] / goal < 0.2)).all()


@pytest.mark.parametrize(("cognitive", "social", "neighbours"), [(0.2, 0.0, 0), (0.0, 0.2, 0), (0.0, 0.2, 1)])
def test_the_pull_is_a_uniform_share_of_its_coefficient_in_each_coordinate(
    cognitive: float, social: float, neighbours: int
) -> None:
    count = 12
    search = Swarm(particles=count, inertia=0.5, cognitive=cognitive, social=social, neighbours=neighbours)
    first = np.random.default_rng(2).permutation(count).astype(float)
    run = heard(search, never_better(first), 20, 5)
    own, a, b, c = (one.points for one in run[:4])
    goal = own if cognitive else own[leaders(first, neighbours)]
    shares = ((c - b) - 0.5 * (b - a)) / (0.2 * (goal - b))
    assert scipy.stats.kstest(shares[np.abs(goal - b) > 1e-6], "uniform").pvalue > RARE


def test_without_pull_a_particle_slows_down_by_its_inertia_and_stops_at_a_wall() -> None:
    run = heard(Swarm(particles=30, inertia=0.9, cognitive=0.0, social=0.0), rugged, 5, 30, wall=4.0)
    x = np.array([one.points for one in run])
    assert scipy.stats.kstest(x[0].ravel(), "uniform", (-4.0, 8.0)).pvalue > RARE
    v = np.diff(x, axis=0)
    inside = (np.abs(x[1:]) < 4.0).all(axis=0)  # coordinates that never meet a wall
    np.testing.assert_allclose(v[1:][:, inside], 0.9 * v[:-1][:, inside], rtol=1e-6, atol=1e-12)
    hit = np.abs(x) == 4.0
    assert hit.any()
    assert (hit[1:] >= hit[:-1]).all(), "what has met a wall stays there: it has lost that speed"
    free = heard(Swarm(particles=30, inertia=0.9, cognitive=0.0, social=0.0), rugged, 20, 2)
    steps = (free[1].points - free[0].points) / 0.9
    assert scipy.stats.kstest(steps.ravel(), "uniform", (-REACH, 2.0 * REACH)).pvalue > RARE, (
        "half of the box either way"
    )


def test_a_particle_that_meets_a_wall_has_lost_its_speed_there() -> None:
    """With a social pull alone and no luck, the first step after the wall is a share of the way to the leader."""
    count, social = 12, 0.2
    search = Swarm(particles=count, inertia=0.9, cognitive=0.0, social=social)
    run = heard(search, never_better(np.arange(float(count))), 40, 4, wall=4.0)
    own, before, then = (one.points for one in run[:3])
    hit = np.abs(before) == 4.0
    assert np.count_nonzero(hit) > 20
    share = (then - before)[hit] / (own[0] - before)[hit]
    assert scipy.stats.kstest(share / social, "uniform").pvalue > RARE, "none of it is used up by a speed into the wall"


def test_no_particle_is_faster_than_half_the_box() -> None:
    run = heard(Swarm(particles=10, social=50.0), rugged, 3, 40)
    steps = np.abs(np.diff([one.points for one in run], axis=0))
    assert steps.max() == pytest.approx(REACH, rel=1e-9)
    assert np.count_nonzero(steps > 0.999 * REACH) > 20


def test_swarms_are_as_printed() -> None:
    printed = {"particles": 25, "inertia": 0.5, "cognitive": 0.2, "social": 0.2, "neighbours": 0}
    assert ARM.model_dump(exclude={"kind"}) == printed
    usual = {"particles": 20, "inertia": 0.7298, "cognitive": 1.49618, "social": 1.49618, "neighbours": 0}
    assert Swarm().model_dump(exclude={"kind"}) == usual
