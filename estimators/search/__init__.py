"""The catalogue of searches, and the one way to run one."""

from collections.abc import Callable
from math import inf
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from estimators.quantities import Floats
from estimators.search.base import Callback, Minimum, Search, SearchOver, SearchProblem, SearchStatus
from estimators.search.bees import Bees
from estimators.search.chaotic_cuckoo import ChaoticCuckoo
from estimators.search.cma import CmaEs
from estimators.search.cuckoo import Cuckoo
from estimators.search.mcs import Mcs
from estimators.search.swarm import Swarm

SEARCHES: Final[dict[str, type[Search]]] = {
    "mcs": Mcs,
    "cuckoo": Cuckoo,
    "chaotic_cuckoo": ChaoticCuckoo,
    "swarm": Swarm,
    "bees": Bees,
    "cma": CmaEs,
}


def minimise(
    name: str | Search,
    f: Callable[[Floats], Any],
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    budget: int,
    target: float | None = None,
    seed: int = 0,
    start: ArrayLike | None = None,
    callback: Callback | None = None,
) -> Minimum:
    """Search the box [lower, upper] for the global minimum of f.

    name: a key of SEARCHES, or settings. f: takes x (dimensions,) and returns a number; marked with @batch, takes
    (points, dimensions) and returns (points,); or a Compiled. lower, upper: (dimensions,), finite or infinite; equal
    bounds fix a coordinate. budget: evaluations, never exceeded. target: stop at a value ≤ it. start: a guess
    (dimensions,) in the box. callback(evaluations, best x, best value), after every evaluation or batch, cancels by
    returning True. Non-finite values of f count as +∞. Deterministic for a seed.
    Raises ValueError on a box, start, target or budget that makes no sense, KeyError on an unknown name, and whatever f
    raises.
    """
    if isinstance(name, str) and name not in SEARCHES:
        raise KeyError(f"no search is called {name!r}; there are {', '.join(SEARCHES)}")
    search = SEARCHES[name]() if isinstance(name, str) else name
    low, high = _box(lower, upper)
    guess = None if start is None else _start(start, low, high)
    if budget < 1:
        raise ValueError(f"the budget must be at least one evaluation, got {budget}")
    if target is not None and np.isnan(target):
        raise ValueError("the target is NaN")
    problem = SearchProblem(
        f, low, high, budget=budget, target=-np.inf if target is None else target, start=guess, callback=callback
    )
    try:
        if not problem.free.any():
            problem.values(np.empty((1, 0)))
            return problem.minimum(SearchStatus.COMPLETE)
        return problem.minimum(search.search(problem, seed))
    except SearchOver as stop:
        return problem.minimum(stop.status)


def _box(lower: ArrayLike, upper: ArrayLike) -> tuple[Floats, Floats]:
    low, high = (np.atleast_1d(np.array(bound, dtype=float)) for bound in (lower, upper))
    if low.ndim != 1 or low.shape != high.shape or low.size == 0:
        raise ValueError(f"lower and upper must have one shape (dimensions,), got {low.shape} and {high.shape}")
    for i, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        if not a <= b or a == inf or b == -inf:  # NaN compares with nothing
            raise ValueError(f"coordinate {i}: expected lower ≤ upper, got [{a}, {b}]")
    return low, high


def _start(start: ArrayLike, lower: Floats, upper: Floats) -> Floats:
    x = np.atleast_1d(np.array(start, dtype=float))
    if x.shape != lower.shape:
        raise ValueError(f"the start must have shape {lower.shape}, got {x.shape}")
    outside = ~(np.isfinite(x) & (x >= lower) & (x <= upper))
    if outside.any():
        i = int(np.argmax(outside))
        raise ValueError(f"the start's coordinate {i} is {x[i]}, outside [{lower[i]}, {upper[i]}]")
    return x
