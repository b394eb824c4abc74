"""CMA-ES: a cloud of normal points that learns the shape of the valley it is in, begun anew with twice as many.

    x_k = m + σ N(0, C),   m ← Σ w_i x_i   over the better half, in order
    σ by the length of the path of m,  C by that path and by the better half's steps

N. Hansen, "The CMA evolution strategy: a tutorial", arXiv:1604.00772, with its default constants; restarts with doubled
population after A. Auger, N. Hansen, IEEE Congress on Evolutionary Computation 2005, 1769–1776.

Where they leave it open: the box is scaled to a side of one; a point outside it is put on its edge, and is learnt from
there; the first cloud is around the start or the middle, later ones around random points. A cloud is at its end when
it is NARROW, when its values do not differ, or when its axes differ by more than rounding allows.
"""

from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field

from estimators.quantities import Floats, Settings
from estimators.search.base import SearchProblem, SearchStatus

#: 1, argued: Largest deviation of a cloud, of the box, below which it has arrived.
NARROW: Final = 1e-9
#: 1, argued: Range of a generation's values, of their size, below which they do not differ: rounding of a sum.
FLAT: Final = 1e-14
#: 1, derived: Ratio of a cloud's largest to its smallest variance beyond which its eigenvectors are rounding.
ODD: Final = 1e14


class CmaEs(Settings):
    """Hansen's defaults, restarts with doubled population."""

    kind: Literal["cma"] = "cma"
    population: Annotated[int, Field(ge=4)] | None = None  # 4 + 3 ln n
    step: Annotated[float, Field(gt=0)] = 0.3  # σ to begin with, of the box
    restarts: bool = True  # else it has stalled when the first cloud is at its end

    def search(self, problem: SearchProblem, seed: int) -> SearchStatus:
        """Search until the budget or the target ends it."""
        rng, (lower, upper) = np.random.default_rng(seed), problem.region()
        n = len(lower)
        population = self.population or 4 + int(3.0 * np.log(n))
        mean = 0.5 * np.ones(n) if problem.start is None else (problem.start - lower) / (upper - lower)
        if problem.start is not None:
            problem.evaluate(problem.start)
        while True:
            _Cloud(mean, self.step, population).play(problem, lower, upper - lower, rng)
            if not self.restarts:
                return SearchStatus.STALLED
            population, mean = 2 * population, rng.uniform(size=n)


class _Cloud:
    """One run; numbers of equations are the tutorial's."""

    def __init__(self, mean: Floats, step: float, population: int) -> None:
        n = len(mean)
        self.mean, self.step, self.population = mean.copy(), step, population
        half = population // 2
        weights = np.log(0.5 * (population + 1)) - np.log(np.arange(1, half + 1))  # (49)
        self.weights = weights / weights.sum()
        self.mass = mass = 1.0 / float(np.sum(self.weights**2))  # μ_eff
        self.c_path = (mass + 2.0) / (n + mass + 5.0)  # (55)
        self.damping = 1.0 + 2.0 * max(0.0, np.sqrt((mass - 1.0) / (n + 1.0)) - 1.0) + self.c_path
        self.c_shape = (4.0 + mass / n) / (n + 4.0 + 2.0 * mass / n)  # (56)
        self.c_one = 2.0 / ((n + 1.3) ** 2 + mass)  # (57)
        self.c_rank = min(1.0 - self.c_one, 2.0 * (mass - 2.0 + 1.0 / mass) / ((n + 2.0) ** 2 + mass))  # (58)
        self.length = np.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n**2))  # E‖N(0, I)‖
        self.path, self.shape_path, self.C = np.zeros(n), np.zeros(n), np.eye(n)
        self.generation = 0

    def play(self, problem: SearchProblem, low: Floats, width: Floats, rng: np.random.Generator) -> None:
        """Generation after generation until this cloud is at its end."""
        bottom, top = (problem.lower - low) / width, (problem.upper - low) / width
        while True:
            variances, axes = np.linalg.eigh(self.C)
            deviations = np.sqrt(np.maximum(variances, 0.0))
            if self.step * deviations[-1] < NARROW or not variances[-1] <= ODD * variances[0]:
                return
            drawn = rng.standard_normal((self.population, len(self.mean))) * deviations
            points = np.clip(self.mean + self.step * drawn @ axes.T, bottom, top)
            values = problem.values(low + width * points)
            finite = values[np.isfinite(values)]
            if not len(finite) or not np.ptp(finite) > FLAT * abs(problem.value):
                return
            best = np.argsort(values, kind="stable")[: len(self.weights)]
            self._learn((points[best] - self.mean) / self.step, axes, deviations)

    def _learn(self, steps: Floats, axes: Floats, deviations: Floats) -> None:
        """Move and reshape; steps: (half, n) of the better half, in order, over σ."""
        n, mean_step = len(self.mean), self.weights @ steps
        self.generation += 1
        self.mean = self.mean + self.step * mean_step  # (42)
        whitened = axes @ ((axes.T @ mean_step) / deviations)
        self.path = (1 - self.c_path) * self.path + np.sqrt(self.c_path * (2 - self.c_path) * self.mass) * whitened
        fresh = 1.0 - (1.0 - self.c_path) ** (2 * self.generation)
        straight = float(np.linalg.norm(self.path)) / np.sqrt(fresh) < (1.4 + 2.0 / (n + 1.0)) * self.length  # h_σ
        gain = straight * np.sqrt(self.c_shape * (2.0 - self.c_shape) * self.mass)
        self.shape_path = (1.0 - self.c_shape) * self.shape_path + gain * mean_step  # (45)
        forgotten = (1.0 - straight) * self.c_shape * (2.0 - self.c_shape)
        kept = 1.0 + self.c_one * forgotten - self.c_one - self.c_rank
        self.C = kept * self.C + self.c_one * np.outer(self.shape_path, self.shape_path)  # (47)
        self.C += self.c_rank * (steps.T * self.weights) @ steps
        self.step *= float(np.exp(self.c_path / self.damping * (np.linalg.norm(self.path) / self.length - 1.0)))  # (44)
