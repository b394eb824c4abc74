"""The global searches of SciPy, run to the same criterion as ours, for comparison."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from scipy import optimize

from estimators.quantities import Floats

BUDGET: Final = 12_000


class Reached(Exception):  # noqa: N818 (the search is over)
    """Raised to end a search: the criterion is met, or the budget is used up."""


class Counted:
    """An objective that counts its evaluations and ends the search by raising Reached."""

    def __init__(self, f: Callable[[Floats], float], target: float, budget: int = BUDGET) -> None:
        self.f, self.target, self.budget = f, target, budget
        self.evaluations, self.found = 0, False

    def __call__(self, x: Any, *_: object) -> float:
        """Evaluate the objective at x."""
        self.evaluations += 1
        value = float(self.f(np.array(x, dtype=float)))
        self.found = value <= self.target
        if self.found or self.evaluations >= self.budget:
            raise Reached
        return value


def _direct(biased: bool) -> Callable[[Counted, Any, int], object]:
    def run(f: Counted, bounds: Any, _seed: int) -> object:
        free: Any = {"maxfun": f.budget, "maxiter": 10**6, "vol_tol": 0.0, "len_tol": 0.0}
        return optimize.direct(f, bounds, locally_biased=biased, **free)

    return run


def _shgo(method: Any) -> Callable[[Counted, Any, int], object]:
    def run(f: Counted, bounds: Any, _seed: int) -> object:
        for n in (32, 64, 128, 256, 512, 1024):
            optimize.shgo(f, bounds, n=n, sampling_method=method)
        return None

    return run


def _annealing(f: Counted, bounds: Any, seed: int) -> object:
    return optimize.dual_annealing(f, bounds, maxiter=100_000, maxfun=f.budget, rng=seed)


def _evolution(f: Counted, bounds: Any, seed: int) -> object:
    return optimize.differential_evolution(f, bounds, rng=seed)


RIVALS: Final[dict[str, Callable[[Counted, Any, int], object]]] = {
    "direct": _direct(True),
    "direct, unbiased": _direct(False),
    "shgo, simplicial": _shgo("simplicial"),
    "shgo, Sobol": _shgo("sobol"),
    "dual annealing": _annealing,
    "differential evolution": _evolution,
}
RANDOM: Final = ("dual annealing", "differential evolution")


def evaluations(
    run: Callable[[Counted, Any, int], object],
    f: Callable[[Floats], float],
    box: tuple[Floats, Floats],
    target: float,
    seed: int = 0,
) -> float:
    """Evaluations until a value ≤ target, +∞ if the search ended without one."""
    counted = Counted(f, target)
    try:
        run(counted, list(zip(*box, strict=True)), seed)
    except Reached:
        pass
    except (SystemError, RuntimeError) as error:  # raised through compiled code
        if not isinstance(error.__cause__, Reached):
            raise
    return counted.evaluations if counted.found else np.inf
