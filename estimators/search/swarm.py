"""Particle swarm: every particle is drawn to the best place it has seen and to the best that its neighbourhood has.

    v ← w v + c1 U(0, 1) ⊗ (own best − x) + c2 U(0, 1) ⊗ (swarm's best − x),   x ← x + v

Kennedy & Eberhart, IEEE Int. Conf. Neural Networks 1995, 1942–1948, with the constriction of Clerc & Kennedy, IEEE
Trans. Evolutionary Computation 6:58–73, 2002: w = χ = 0.7298, c1 = c2 = 2.05 χ = 1.49618, the default.

The setting that Ding et al. (J. Robotics 2018, 8219123) print for their comparison is ARM: w = 0.5, "acceleration
coefficients 0.2". It stops before it has found anything: such a swarm contracts whatever values its particles find.

Where the papers leave it open: random numbers are drawn for each coordinate; the first velocities are U(−½, ½) of the
box, and no later one is longer than half of it; a particle that leaves the box is put on its edge and loses that
component of its velocity; the best is the whole swarm's (`neighbours` = 0) or that of so many neighbours on either side
of a ring; all particles move at once, one batch of evaluations a generation.
"""

from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field

from estimators.quantities import Floats, Settings
from estimators.search.base import SearchProblem, SearchStatus
from estimators.search.population import first_population, replace

FASTEST: Final = 0.5  # of the box, in one generation


class Swarm(Settings):
    """Constriction setting, 20 particles."""

    kind: Literal["swarm"] = "swarm"
    particles: Annotated[int, Field(ge=2)] = 20
    inertia: Annotated[float, Field(ge=0, lt=1)] = 0.7298  # w
    cognitive: Annotated[float, Field(ge=0)] = 1.49618  # c1
    social: Annotated[float, Field(ge=0)] = 1.49618  # c2
    neighbours: Annotated[int, Field(ge=0)] = 0

    def search(self, problem: SearchProblem, seed: int) -> SearchStatus:
        """Search until the budget or the target ends it."""
        rng = np.random.default_rng(seed)
        lower, upper = problem.region()
        fastest = FASTEST * (upper - lower)
        x, values = first_population(problem, self.particles, rng)
        own = x.copy()
        v = rng.uniform(-fastest, fastest, x.shape)
        while True:
            pull = self.cognitive * rng.random(x.shape) * (own - x)
            pull += self.social * rng.random(x.shape) * (self._leaders(own, values) - x)
            v = np.clip(self.inertia * v + pull, -fastest, fastest)
            x += v
            outside = (x < problem.lower) | (x > problem.upper)
            v[outside] = 0.0
            x = np.clip(x, problem.lower, problem.upper)
            replace(own, values, x, problem.values(x))

    def _leaders(self, own: Floats, values: Floats) -> Floats:
        """The best place that each particle knows of."""
        leaders: Floats
        if self.neighbours == 0 or 2 * self.neighbours + 1 >= self.particles:
            leaders = own[np.argmin(values)]
            return leaders
        reach = np.arange(-self.neighbours, self.neighbours + 1)
        ring = (np.arange(self.particles)[:, np.newaxis] + reach) % self.particles
        leaders = own[ring[np.arange(self.particles), np.argmin(values[ring], axis=1)]]
        return leaders


ARM: Final = Swarm(particles=25, inertia=0.5, cognitive=0.2, social=0.2)  # as Ding et al. print it
