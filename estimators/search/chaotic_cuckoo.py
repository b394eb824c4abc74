"""Improved cuckoo search of Ding et al.: step size by a chaotic map, a worse nest accepted now and then.

    z ← 2γ·min(z, 1 − z),  α_k = α0·z                                              (7), tent map
    x' = x + α_k · L ⊗ (x − best)                                                  (9), Mantegna's steps
    x' = x + α_k · U(0, 1) · H(p_a − ε) ⊗ (x_j − x_l)                              (8), two random permutations
    a worse x' is accepted with probability exp(−(F' − F) / T_k),  T_k = 0.02·|F_best|·(1 − k/K)     for (12)

Ding, Chen et al., "Nonlinear friction and dynamical identification for a robot manipulator with improved cuckoo search
algorithm", Journal of Robotics 2018, 8219123. Its settings are the defaults.

Where the paper leaves it open or cannot be computed:
- (9) prints the density of the Lévy distribution, not a step: Mantegna's steps, as in cuckoo.py.
- (7) with the printed γ = 0.6 soon moves z within [0.48, 0.6] only, which is hardly chaotic: kept as printed.
- (12), the "emotion" by which worse nests survive, takes the exponential of a difference of costs, then its logarithm,
  and compares it with nothing: read as annealed acceptance, temperature falling to 0 at generation K. The best nest is
  never replaced by a worse one; T_k from |F_best|, for costs below 0.
- "higher objective" means lower: all costs are minimised.
"""

from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field

from estimators.quantities import Floats, Settings
from estimators.search.base import SearchProblem, SearchStatus
from estimators.search.population import first_population, levy

WARMTH: Final = 0.02  # T_0 / |F_best|


class ChaoticCuckoo(Settings):
    """Ding's settings."""

    kind: Literal["chaotic_cuckoo"] = "chaotic_cuckoo"
    nests: Annotated[int, Field(ge=3)] = 25
    abandoned: Annotated[float, Field(ge=0, le=1)] = 0.4  # p_a
    step: Annotated[float, Field(gt=0)] = 0.25  # α0
    exponent: Annotated[float, Field(gt=1, lt=2)] = 1.5  # λ
    tent: Annotated[float, Field(gt=0.5, le=1)] = 0.6  # γ
    generations: Annotated[int, Field(ge=1)] = 200  # K; afterwards only better nests are accepted
    emotion: bool = True  # (12)

    def search(self, problem: SearchProblem, seed: int) -> SearchStatus:
        """Search until the budget or the target ends it."""
        rng = np.random.default_rng(seed)
        nests, values = first_population(problem, self.nests, rng)
        z, k = rng.random(), 0
        while True:
            z = 2.0 * self.tent * min(z, 1.0 - z)
            alpha = self.step * z
            warmth = WARMTH * max(0.0, 1.0 - k / self.generations) if self.emotion else 0.0
            flights = alpha * levy(rng, nests.shape, self.exponent) * (nests - nests[np.argmin(values)])
            _settle(problem, nests, values, nests + flights, warmth, rng)
            between = nests[rng.permutation(self.nests)] - nests[rng.permutation(self.nests)]
            found = rng.random(nests.shape) < self.abandoned
            steps = alpha * rng.random((self.nests, 1)) * found * between
            _settle(problem, nests, values, nests + steps, warmth, rng)
            k += 1


def _settle(
    problem: SearchProblem, nests: Floats, values: Floats, places: Floats, warmth: float, rng: np.random.Generator
) -> None:
    places = np.clip(places, problem.lower, problem.upper)
    theirs = problem.values(places)
    best = int(np.argmin(values))
    temperature = warmth * abs(values[best])
    accepted = theirs < values
    if temperature > 0.0 and np.isfinite(temperature):
        worse = np.full(len(values), np.inf)
        np.subtract(theirs, values, out=worse, where=np.isfinite(theirs) & ~accepted)
        accepted |= (rng.random(len(values)) < np.exp(-worse / temperature)) & (np.arange(len(values)) != best)
    nests[accepted] = places[accepted]
    values[accepted] = theirs[accepted]
