"""Artificial bee colony: food sources tried in one coordinate at a time, the better ones more often, spent ones left.

    employed: v_id = x_id + U(−1, 1)·(x_id − x_jd),   j ≠ i and d at random, kept where it is better
    onlookers: the same, from a source drawn with probability ∝ fitness = 1/(1 + F), or 1 + |F| where F < 0
    scout: the source that failed most often, once that is more than `limit` times, becomes a random point

Karaboga, "An idea based on honey bee swarm for numerical optimization", TR06, Erciyes University 2005; Karaboga &
Basturk, J. Global Optimization 39:459–471, 2007, whose colony of 20 and limit = sources × dimensions are the defaults.
POINTING is the setting of Sun et al. (Robotics 2021, 10, 36) for their pointing mechanism.

Where the papers leave it open:
- Sun (44) prints rand = U(0, 1), which only ever moves away from the neighbour; Karaboga's U(−1, 1) is taken.
- Sun (43) needs a fitness to be maximised, (42) is a cost: fitness as above.
- Each phase is one batch: its bees do not see each other's finds; of several at one source the best is kept, and each
  that failed there counts.
- A coordinate that leaves the box is put on its edge. At most one scout a cycle.
"""

from typing import Annotated, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from estimators.quantities import Floats, Settings
from estimators.search.base import SearchProblem, SearchStatus
from estimators.search.population import first_population


class Bees(Settings):
    """Karaboga's settings."""

    kind: Literal["bees"] = "bees"
    sources: Annotated[int, Field(ge=2)] = 10  # as many employed bees, and as many onlookers
    limit: Annotated[int, Field(ge=1)] | None = None  # failures before a source is left; None: sources × dimensions

    def search(self, problem: SearchProblem, seed: int) -> SearchStatus:
        """Search until the budget or the target ends it."""
        rng = np.random.default_rng(seed)
        x, values = first_population(problem, self.sources, rng)
        failures = np.zeros(self.sources, np.int64)
        limit = self.limit or self.sources * x.shape[1]
        lower, upper = problem.region()
        while True:
            _visit(problem, x, values, failures, np.arange(self.sources), rng)
            chances = _fitness(values)
            _visit(problem, x, values, failures, rng.choice(self.sources, self.sources, p=chances), rng)
            spent = int(np.argmax(failures))
            if failures[spent] > limit:
                x[spent] = rng.uniform(lower, upper)
                values[spent] = problem.evaluate(x[spent])
                failures[spent] = 0


def _fitness(values: Floats) -> Floats:
    """Probabilities of the sources."""
    safe = np.where(np.isfinite(values), values, np.inf)
    fitness = np.where(safe < 0.0, 1.0 - safe, 1.0 / (1.0 + np.maximum(safe, 0.0)))
    total = fitness.sum()
    return fitness / total if np.isfinite(total) and total > 0.0 else np.full(len(values), 1.0 / len(values))


def _visit(
    problem: SearchProblem,
    x: Floats,
    values: Floats,
    failures: NDArray[np.int64],
    chosen: NDArray[np.int64],
    rng: np.random.Generator,
) -> None:
    """One bee to each chosen source."""
    bees = np.arange(len(chosen))
    neighbour = (chosen + rng.integers(1, len(x), len(chosen))) % len(x)
    coordinate = rng.integers(0, x.shape[1], len(chosen))
    tried = x[chosen]
    distance = tried[bees, coordinate] - x[neighbour, coordinate]
    tried[bees, coordinate] += rng.uniform(-1.0, 1.0, len(chosen)) * distance
    tried = np.clip(tried, problem.lower, problem.upper)
    found = problem.values(tried)
    for bee, source in enumerate(chosen):
        if found[bee] < values[source]:
            x[source], values[source], failures[source] = tried[bee], found[bee], 0
        else:
            failures[source] += 1


POINTING: Final = Bees(sources=100, limit=600)
