"""Multilevel coordinate search: the box is split along one coordinate at a time, best boxes of every level first.

Huyer & Neumaier, Global optimization by multilevel coordinate search, J. Global Optim. 14:331–355 (1999). Needs no
derivatives, keeps a record of every region (so it is global in the limit), and finishes promising boxes with local
searches. Where the paper is silent it follows the authors' MATLAB version 2.0.
"""

import ctypes
from collections.abc import Callable
from typing import Final, Literal

import numba
import numpy as np
from pydantic import Field

from estimators.base import Floats, Settings
from estimators.search.base import Compiled, Problem, Status, Stop
from estimators.search.multilevel import sweeps
from estimators.search.multilevel.boxes import PROGRESS, ROWS, SIZES, SWEEPS
from estimators.search.multilevel.evaluation import (
    ABANDONED,
    BEST,
    BY_STAGE,
    EVALUATIONS,
    NONFINITE,
    REACHED,
    STOP,
    TARGET,
    Ints,
    interpreted,
)


class Mcs(Settings):
    """Settings; those left out follow the number n of dimensions."""

    kind: Literal["mcs"] = "mcs"
    levels: int | None = Field(None, description="s_max, at least n + 3; default 5 n + 10")
    stall: int | None = Field(None, ge=1, description="stop after so many sweeps without progress; default 3 n")
    local_steps: int = Field(50, ge=0, description="steps of one local search; 0: no local searches")
    gamma: float = Field(2.220446049250313e-16, ge=0, description="stop of the local search on its expected gain")
    conformance: bool = Field(False, description="count for count as v2.0: its ranking, its stops")

    def search(self, problem: Problem, seed: int) -> Status:
        """Search; nothing is random, so seed is not used."""
        return _Run(self, problem).run()


class _Run:
    """The arrays of one run, and the objective behind them."""

    def __init__(self, settings: Mcs, problem: Problem) -> None:
        n = problem.lower.size
        self.problem = problem
        levels = settings.levels or 5 * n + 10
        if levels < n + 3:
            raise ValueError(f"mcs: levels must be at least {n + 3} in {n} dimensions, got {levels}")
        self.list_x, self.start = initial_list(problem)
        longest = self.list_x.shape[1]
        self.room = levels * max(4, 2 * longest) + n * 2 * longest
        self.options = np.array([settings.conformance, settings.local_steps, settings.stall or 3 * n, self.room])
        self.tolerances = np.array([settings.gamma, 100.0 if settings.conformance else 1000.0, 0.0])
        self.x = problem.lower_all.copy()
        self.count = np.zeros(5, np.int64)
        self.count[:] = 0, problem.budget, 0, 0, settings.conformance
        self.value = np.array([np.inf, problem.target])
        self.best = problem.lower.copy()
        self.raised: BaseException | None = None
        self.levels, self.n = levels, n

    def run(self) -> Status:
        n = self.n
        size = np.zeros(SIZES, np.int64)
        capacity = 4 * self.room
        boxes = [
            np.zeros((capacity, ROWS, n)),
            np.zeros(capacity),
            np.zeros((capacity, n), np.int64),
            np.zeros(capacity, np.int64),
            np.zeros(capacity, np.int64),
        ]
        basket = [np.zeros((capacity, n)), np.zeros(capacity), np.zeros((capacity, n))]
        f = self.problem.f.function
        from estimators.search.multilevel.evaluation import Pointer
        from estimators.search.multilevel.line_search import line_search
        from estimators.search.multilevel.local import local_search
        fs = (f, local_search, line_search)
        if not numba.config.DISABLE_JIT: fs = [Pointer(g) for g in fs]
        data = self.problem.f.data
        while True:
            outcome = sweeps.sweep(
                *fs, data, self.problem.lower, self.problem.upper, np.flatnonzero(self.problem.free), self.x, self.best,
                self.value, self.count, *boxes, np.zeros(self.levels, np.int64), np.zeros((self.room, n)), np.zeros(self.room), size,
                self.list_x, np.zeros_like(self.list_x), np.full(n, 3), self.start, np.zeros(n, np.int64), *basket, self.options, self.tolerances)
            if outcome != sweeps.FULL:
                break
            boxes = [np.concatenate([b, np.zeros_like(b)]) for b in boxes]
            basket = [np.concatenate([b, np.zeros_like(b)]) for b in basket]
        self.problem.evaluations = int(self.count[EVALUATIONS])
        self.problem.best, self.problem.value = self.x*0, self.value[0]
        self.problem.best[self.problem.free] = self.best
        self.size = size
        return {sweeps.STALLED: Status.STALLED, sweeps.COMPLETE: Status.COMPLETE, 0: Status.TARGET if self.count[STOP]==REACHED else Status.BUDGET}[outcome]


def initial_list(problem: Problem):
    lower, upper = problem.lower, problem.upper
    return np.column_stack([lower, .5*(lower+upper), upper]), np.full(lower.size, 1)
