"""Multilevel coordinate search: the box is split along one coordinate at a time, best boxes of every level first.

Huyer & Neumaier, Global optimization by multilevel coordinate search, J. Global Optim. 14:331–355 (1999). It needs no
derivatives, keeps every region on its books (so it is global in the limit), and finishes promising boxes with local
searches. Where the paper is silent it follows the authors' MATLAB version 2.0. The default goes beyond both where they
fail (multilevel/samples.py) or waste evaluations (multilevel/local.py); `published` is the paper's own algorithm and
`legacy_rank` version 2.0's, count for count.
"""

from typing import Literal

from pydantic import Field

from estimators.quantities import Settings
from estimators.search.base import SearchProblem, SearchStatus
from estimators.search.multilevel.lists import first_values
from estimators.search.multilevel.run import SearchRun

List = tuple[float, ...]


class Mcs(Settings):
    """Settings; n is the number of dimensions of nonzero width."""

    kind: Literal["mcs"] = "mcs"
    initial: Literal[0, 1, 2, 3] | tuple[List, ...] | None = Field(
        default=None,
        description="initialisation list: 0 ends and middle; 1 the same with far ends drawn in; 2 the sixths; 3 by "
        "line searches; or one ascending list per dimension. Default: 0, or 1 where a bound is infinite. "
        "A start given to minimise() replaces all but the last: (lower, start, upper)",
    )
    initial_start: tuple[int, ...] | None = Field(
        default=None, description="index of the first point in each list; the middle"
    )
    scale: List | None = Field(
        default=None, description="with a start: its list is (start − scale, start, start + scale)"
    )
    levels: int | None = Field(default=None, description="s_max, at least n + 3; default 5 n + 10")
    stall: int | None = Field(
        default=None, ge=1, description="sweeps without progress before stopping; default 18, 3 n as published"
    )
    local_steps: int = Field(default=50, ge=0, description="steps of one local search; 0: no local searches")
    gamma: float = Field(default=2.220446049250313e-16, ge=0, description="the paper's stop of the local search")
    tolerance: float = Field(
        default=1e-8, gt=0, description="a local search ends when its next gain will be below this part of all gains"
    )
    published: bool = Field(default=False, description="the paper's algorithm and nothing else")
    legacy_rank: bool = Field(
        default=False, description="version 2.0 count for count: published, its inverse ranking, its stops"
    )

    def search(self, problem: SearchProblem, seed: int) -> SearchStatus:
        """Search; seed shifts the sample. Raises ValueError on levels or lists that do not fit the problem."""
        n = problem.lower.size
        levels = self.levels or 5 * n + 10
        if levels < n + 3:
            raise ValueError(f"mcs: levels must be at least {n + 3} in {n} dimensions, got {levels}")
        published = self.published or self.legacy_rank
        run = SearchRun(
            problem,
            first_values(problem, self.initial, self.initial_start, self.scale),
            levels=levels,
            stall=self.stall or (3 * n if published else 18),
            local_steps=self.local_steps,
            gamma=self.gamma,
            tolerance=0.0 if published else self.tolerance,
            legacy=self.legacy_rank,
            seed=seed,
        )
        return run.run()
