"""What the population searches share: where they begin, Lévy steps, and keeping the better."""

from math import gamma, pi, sin

import numpy as np

from estimators.quantities import Floats
from estimators.search.base import SearchProblem


def first_population(problem: SearchProblem, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Uniform points (count, dimensions) and their values (count,); the problem's start is the first of them."""
    lower, upper = problem.region()
    points = rng.uniform(lower, upper, (count, len(lower)))
    if problem.start is not None:
        points[0] = problem.start
    return points, problem.values(points)


def levy(rng: np.random.Generator, shape: tuple[int, ...], exponent: float) -> Floats:
    """Heavy-tailed steps of index λ: u / |v|^(1/λ) of Mantegna, Physical Review E 49:4677, 1994."""
    half = (1.0 + exponent) / 2.0
    spread = gamma(1.0 + exponent) * sin(pi * exponent / 2.0) / (gamma(half) * exponent * 2.0 ** (half - 1.0))
    u = rng.normal(size=shape) * spread ** (1.0 / exponent)
    steps: Floats = u / np.abs(rng.normal(size=shape)) ** (1.0 / exponent)
    return steps


def replace(points: Floats, values: Floats, others: Floats, theirs: Floats) -> None:
    """Put others (points, dimensions) and their values in the place of what is worse."""
    better = theirs < values
    points[better] = others[better]
    values[better] = theirs[better]
