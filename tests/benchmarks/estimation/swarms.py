"""Evaluations to 1e-4 relative error of the swarm searches, beside a kept library's in the same run.

jointwatch bench swarms [--json] [--runs 25]

Median over the runs that reached it within 20,000 evaluations, and how many did. Beside ours stand pygmo's pso, and
NiaPy's artificial bee colony and cuckoo search (Yang's program, α0 = 0.01), with the same numbers of individuals and
the same limits; first evaluation that meets the criterion. pygmo's bee_colony is printed as well, but is another
algorithm: its scout moves a spent source without writing down what the new place is worth, so the source keeps its old
value and roams until it beats it. That helps on Goldstein–Price (ours does the same with that change), hurts elsewhere.
"""

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

try:
    import pygmo
    from niapy.algorithms.basic import ArtificialBeeColonyAlgorithm, CuckooSearch
    from niapy.problems import Problem
    from niapy.task import Task
except ImportError as error:
    sys.exit(f"swarms: needs pygmo and niapy: pip install 'jointwatch[bench]' ({error})")

from estimators.search import minimise
from estimators.search.base import Search, SearchStatus
from estimators.search.bees import Bees
from estimators.search.chaotic_cuckoo import ChaoticCuckoo
from estimators.search.cuckoo import Cuckoo
from estimators.search.swarm import ARM, Swarm
from hil_rig.papers.searches.test_functions import FUNCTIONS, Function

BUDGET: Final = 20_000
NAMES: Final = ("Hartman 3", "Branin", "Six-hump camel", "Goldstein–Price")
FACTOR: Final = 1.3


def ours(search: Search, function: Function, runs: int) -> tuple[float, float]:
    """Median evaluations, part of the runs that succeeded."""
    counts = []
    for seed in range(runs):
        found = minimise(
            search, function.f, function.lower, function.upper, budget=BUDGET, target=function.target, seed=seed
        )
        if found.status is SearchStatus.TARGET:
            counts.append(found.evaluations)
    return float(np.median(counts)) if counts else np.nan, len(counts) / runs


class _Pygmo:
    """A test function as pygmo wants one; it copies its problems, so the count stands outside."""

    calls = first = 0

    def __init__(self, function: Function) -> None:
        self.function = function

    def fitness(self, x: Any) -> list[float]:
        value = float(self.function.f(np.ascontiguousarray(x)))
        _Pygmo.calls += 1
        if value <= self.function.target and not _Pygmo.first:
            _Pygmo.first = _Pygmo.calls
        return [value]

    def get_bounds(self) -> tuple[Any, Any]:
        return self.function.lower, self.function.upper


def theirs(algorithm: Callable[[int], Any], function: Function, runs: int) -> tuple[float, float]:
    """As ours(), of a pygmo algorithm made for a seed; it cannot stop at a target, so it runs through."""
    counts = []
    for seed in range(runs):
        _Pygmo.calls = _Pygmo.first = 0
        population = pygmo.population(pygmo.problem(_Pygmo(function)), size=20, seed=seed)
        pygmo.algorithm(algorithm(seed)).evolve(population)
        if 0 < _Pygmo.first <= BUDGET:
            counts.append(_Pygmo.first)
    return float(np.median(counts)) if counts else np.nan, len(counts) / runs


class _NiaPy(Problem):  # type: ignore[misc]
    """A test function as NiaPy wants one."""

    def __init__(self, function: Function) -> None:
        super().__init__(len(function.lower), function.lower, function.upper)
        self.function, self.calls, self.first = function, 0, 0

    def _evaluate(self, x: Any) -> float:
        self.calls += 1
        value = float(self.function.f(np.ascontiguousarray(x)))
        if value <= self.function.target and not self.first:
            self.first = self.calls
        return value


def niapy(algorithm: Callable[[int], Any], function: Function, runs: int) -> tuple[float, float]:
    """As ours(), of a NiaPy algorithm made for a seed."""
    counts = []
    for seed in range(runs):
        problem = _NiaPy(function)
        algorithm(seed).run(Task(problem=problem, max_evals=BUDGET, cutoff_value=function.target))
        if problem.first:
            counts.append(problem.first)
    return float(np.median(counts)) if counts else np.nan, len(counts) / runs


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--runs", type=int, default=25)
    options = parser.parse_args()
    runs: int = options.runs
    rows = []
    for function in [function for function in FUNCTIONS if function.name in NAMES]:
        pso = theirs(lambda seed: pygmo.pso(gen=BUDGET // 20, seed=seed), function, runs)
        colony = theirs(lambda seed: pygmo.bee_colony(gen=BUDGET // 40, seed=seed), function, runs)
        bees = niapy(lambda seed: ArtificialBeeColonyAlgorithm(20, limit=20, seed=seed), function, runs)
        cuckoo = niapy(lambda seed: CuckooSearch(15, pa=0.25, seed=seed), function, runs)
        for name, search, library, reference in (
            ("swarm", Swarm(), "pygmo pso", pso),
            ("swarm, ring of 4 neighbours", Swarm(neighbours=2), "pygmo pso", pso),
            ("swarm, Ding's setting", ARM, None, None),
            ("bees", Bees(sources=10, limit=20), "NiaPy ABC", bees),
            ("bees, 20 sources, limit 20", Bees(sources=20, limit=20), "pygmo bee_colony", colony),
            ("cuckoo", Cuckoo(), None, None),
            ("cuckoo, as programmed", Cuckoo(as_programmed=True), "NiaPy CS", cuckoo),
            ("chaotic cuckoo", ChaoticCuckoo(), None, None),
            ("chaotic cuckoo, no emotion", ChaoticCuckoo(emotion=False), None, None),
        ):
            median, success = ours(search, function, runs)
            row = {"function": function.name, "search": name, "evaluations": median, "success": success}
            beside = ""
            if reference:
                ratio = median / reference[0]
                row |= {"library": library, "reference": reference[0], "their success": reference[1], "ratio": ratio}
                beside = f"{library:16} {reference[0]:8.0f} {reference[1]:5.0%} {ratio:6.2f}"
            rows.append(row)
            if not options.json:
                print(f"{function.name:16} {name:27} {median:8.0f} {success:5.0%}  {beside}", flush=True)
    if options.json:
        json.dump({"rows": rows, "factor": FACTOR}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
