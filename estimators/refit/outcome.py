"""A refit: one that is under way, one that has ended, and its result; plain data."""

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from estimators.models.friction.base import FrictionSettings
from estimators.quantities import Floats


@dataclass(frozen=True, slots=True)
class SearchReport:
    """How η was found, and the second-best minimum."""

    method: str  # name of the global search
    visits: int  # points at which it has looked, on a table or by evaluations
    evaluations: int  # of the residual, on the window or its nodes
    runner_up: dict[str, float]  # η by name; empty where there is none
    gap: float  # χ² by which the runner-up is worse; infinite where there is none

    @property
    def plain(self) -> dict[str, Any]:
        """The report as an event's map; a runner-up, and how much worse it is, only where there is one."""
        found = {"method": self.method, "visits": self.visits, "evaluations": self.evaluations}
        return found | ({"runner_up": self.runner_up, "gap": self.gap} if self.runner_up else {})


@dataclass(frozen=True, slots=True)
class RefitOutcome:
    """The result of a refit on a window."""

    theta: Floats  # (parameters,)
    eta: Floats  # (nonlinear,)
    covariance: Floats  # of θ, η
    noise: Floats  # (outputs,) residual variances
    residual: float  # mean square, whitened with the job's own noise, per degree of freedom
    condition: float
    evaluations: int
    at_zero: tuple[str, ...]  # coefficients that would be negative
    edge: tuple[str, ...]  # η at an end of their range
    ambiguous: str | None
    columns: Floats  # (rows, moving) the moving columns under eta, as NonlinearBlock.refill has them
    learnt: dict[str, Any]  # values of the learner's state (restart.py); empty where there is none
    search: "SearchReport | None" = None  # how η was found
    law: FrictionSettings | None = None  # another one than the joint's, that explains the window better
    steps: Floats | None = None  # covariance of [θ s] that is owed to an encoder's steps; None: they are not known
    white: Floats | None = None  # variances of [θ s] that steps would give which are shifted anew at each instant
    slopes: Floats | None = None  # (rows, moving, nonlinear) of the columns under eta, as NonlinearBlock.slopes
    imitated: dict[str, float] = field(default_factory=dict)  # errors of known constants that they pass for, rms


class Pending(NamedTuple):
    """A refit that is under way."""

    future: "Future[RefitOutcome]"
    purpose: str  # start, change, confirmation, drift
    first: int  # numbers of the window's first row, and after its last
    last: int
    epoch: int
    text: str  # the window in words
    window: tuple[int, int] | None  # ns, likewise


class EndedRefit(NamedTuple):
    """A refit that has ended: its outcome, or the reason why there is none."""

    outcome: RefitOutcome | None
    reason: str
    pending: Pending
