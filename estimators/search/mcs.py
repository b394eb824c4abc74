"""Multilevel coordinate search."""

from typing import Literal

import numpy as np

from estimators.base import Settings
from estimators.search.base import Problem, Status


class Mcs(Settings):
    """(A grid over the first coordinates stands here until the search itself does.)"""

    kind: Literal["mcs"] = "mcs"

    def search(self, problem: Problem, seed: int) -> Status:
        """Random points."""
        rng = np.random.default_rng(seed)
        lower, upper = problem.region()
        while True:
            problem.evaluate(rng.uniform(lower, upper))
