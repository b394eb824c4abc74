"""Cuckoo search: Lévy flights about the best nest, and a part of the nests abandoned in every generation.

    x' = x + α0 · L ⊗ (x − best) ⊗ N(0, 1),   L = u / |v|^(1/λ),  u ~ N(0, σ_u²),  v ~ N(0, 1)     (Mantegna's steps)
    x' = x + U(0, 1) · H(p_a − ε) ⊗ (x_j − x_k),   j, k: two random permutations of the nests, ε ~ U(0, 1) each

each kept where it is better. Yang & Deb, "Cuckoo search via Lévy flights", NaBIC 2009, 210–214; "Engineering
optimisation by cuckoo search", Int. J. Mathematical Modelling and Numerical Optimisation 1:330–343, 2010.

Where the papers leave it open:
- 2009 (1) steps by α ⊕ Lévy(λ) without saying which scale; 2010 and the authors' demonstration program by the distance
  to another nest, there the best: taken, with its α0 = 0.01. The best nest itself therefore does not fly.
- A new nest replaces a randomly chosen one in the 2009 listing, its own in the program: its own.
- "A fraction p_a of worse nests are abandoned": the program moves each coordinate with probability 1 − p_a, the text
  abandons with probability p_a: the text (`as_programmed` moves as the program does, and finds faster on every test).
- Nests that leave the box are put on its edge. Two batches of evaluations a generation.
"""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from estimators.quantities import Floats, Settings
from estimators.search.base import SearchProblem, SearchStatus
from estimators.search.population import first_population, levy, replace


class Cuckoo(Settings):
    """Yang & Deb's settings."""

    kind: Literal["cuckoo"] = "cuckoo"
    nests: Annotated[int, Field(ge=3)] = 15
    abandoned: Annotated[float, Field(ge=0, le=1)] = 0.25  # p_a
    step: Annotated[float, Field(gt=0)] = 0.01  # α0
    exponent: Annotated[float, Field(gt=1, lt=2)] = 1.5  # λ
    as_programmed: bool = False

    def search(self, problem: SearchProblem, seed: int) -> SearchStatus:
        """Search until the budget or the target ends it."""
        rng = np.random.default_rng(seed)
        nests, values = first_population(problem, self.nests, rng)
        moved = 1.0 - self.abandoned if self.as_programmed else self.abandoned
        while True:
            best = nests[np.argmin(values)]
            flights = self.step * levy(rng, nests.shape, self.exponent) * (nests - best) * rng.normal(size=nests.shape)
            flights[np.argmin(values)] = 0.0
            self._settle(problem, nests, values, nests + flights)
            between = nests[rng.permutation(self.nests)] - nests[rng.permutation(self.nests)]
            found = rng.random(nests.shape) < moved
            self._settle(problem, nests, values, nests + rng.random((self.nests, 1)) * found * between)

    def _settle(self, problem: SearchProblem, nests: Floats, values: Floats, places: Floats) -> None:
        places = np.clip(places, problem.lower, problem.upper)
        replace(nests, values, places, problem.values(places))
