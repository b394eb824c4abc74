"""The search for the trajectory that tells most of a robot within its limits.

From the best of 300 random candidates: CMA-ES on the logarithm of the criterion, or any search of the catalogue
(estimators/search) in the box ±1 of a joint's coefficients, whose size does not count: CMA-ES needs no box. A search
that is at its end before the time is begins anew with other random numbers.
"""

import math
import time
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from estimators.offline.excitation.criteria import Criteria, Judge, Objective
from estimators.offline.excitation.space import Space
from estimators.offline.excitation.trajectory import Fourier
from estimators.quantities import Floats
from estimators.search import SEARCHES, minimise
from estimators.search.base import REACH, Search
from estimators.search.cma import CmaEs

RANDOM: Final = 300
POPULATION: Final = 16
FIRST_STEP: Final = 0.15  # of a joint's coefficients
CMA: Final = "cma"
NAMES: Final = tuple(SEARCHES)


class FoundTrajectory(NamedTuple):
    """The best trajectory, its criteria, and how it was found."""

    fourier: Fourier
    criteria: Criteria
    evaluations: int
    seconds: float  # by the clock
    processor: float  # s of it that the processor was ours


def search(
    judge: Judge,
    space: Space,
    objective: Objective = "cond",
    seconds: float = 45.0,
    evaluations: int = 1_000_000,
    seed: int = 1,
    progress: Callable[[int, float], None] = lambda _count, _best: None,
    method: str = CMA,
) -> FoundTrajectory:
    """The best trajectory found; progress: called now and then with evaluations so far and the best criterion.

    method: one of NAMES. Raises KeyError on another.
    """
    if method not in NAMES:
        raise KeyError(f"no search is called {method!r}; there are {', '.join(NAMES)}")
    criterion = {"cond": judge.cond, "block": judge.block, "dopt": judge.dopt}[objective]
    logarithm = objective != "dopt"
    began, busy, rng = time.monotonic(), time.process_time(), np.random.default_rng(seed)
    best, value, count = np.zeros(0), math.inf, 0

    def cost(x: Floats) -> float:
        nonlocal best, value, count
        count += 1
        found = criterion(space.motion(x))
        found = math.log(found) if logarithm else found
        if found < value:
            best, value = x.copy(), found
        return found

    def over() -> bool:
        progress(count, math.exp(value) if logarithm else value)
        return time.monotonic() - began > seconds or count >= evaluations

    while True:
        starts = [rng.normal(size=(space.joints, space.numbers)) for _ in range(RANDOM)]
        starts = [(one / np.linalg.norm(one, axis=1, keepdims=True)).ravel() for one in starts]
        first = starts[int(np.argmin([cost(one) for one in starts[: max(1, evaluations - count)]]))]
        draw = int(rng.integers(1, 2**31))
        if not over():
            how: str | Search = method
            box = np.ones_like(first)
            if method == CMA:
                how, box = CmaEs(population=POPULATION, step=FIRST_STEP / (2.0 * REACH), restarts=False), math.inf * box
            minimise(
                how, cost, -box, box, budget=evaluations - count, seed=draw, start=first, callback=lambda *_: over()
            )
        if over():
            fourier = space.fourier(best)
            spent = (time.monotonic() - began, time.process_time() - busy)
            return FoundTrajectory(fourier, judge.all(fourier.grid()), count, *spent)
