"""Report of a refit: θ, η, their covariance, the runner-up, and the reasons to reject it."""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.friction.base import FrictionLaw
from estimators.models.friction.structure import Structure
from estimators.numerics.normal_equations import unprojected
from estimators.quantities import Floats, Parameter
from estimators.refit.settings import RefitSettings
from estimators.refit.variable_projection import APART, ProjectionProblem
from estimators.refit.velocity_nodes import Statistics

#: 1, derived: Share of the range within which η lies on its edge but for rounding.
EDGE: Final = 1e-9


class Refit(NamedTuple):
    """The result of a refit on a window."""

    names: tuple[str, ...]  # of θ, then of η
    theta: Floats  # fixed, then moving coefficients
    eta: Floats
    covariance: Floats  # (names, names); infinite on the diagonal where the window has no information
    condition: float  # of J with columns of length one
    residual: float  # rms of y − Φθ, whitened
    rows: int
    evaluations: int  # of the residual as a function of η
    fills: int  # of the moving columns over the nodes or the window: what the evaluations cost
    visits: int  # points at which the global search has looked, on a table or by evaluations
    runner_up: Floats | None  # η of the second-best minimum
    gap: float  # by which its χ² is worse; infinite when there is none
    ambiguous: str | None  # why this could be the other minimum
    at_zero: tuple[str, ...]  # coefficients that would be negative and are kept at 0
    edge: tuple[str, ...]  # η at an end of their range

    @property
    def deviations(self) -> Floats:
        """(names,) standard deviations."""
        return np.sqrt(np.diag(self.covariance))


class PreparedWindow(NamedTuple):
    structure: Structure
    statistics: Statistics
    parameters: tuple[Parameter, ...]  # of θ, then η
    order: NDArray[np.int64]  # of the fixed columns in the kernels


class SearchResult(NamedTuple):
    values: Floats  # (minima,) ρ
    where: Floats  # (minima, q) s
    theta: Floats  # of the first: signed fixed, moving
    X: Floats  # (m + derivatives, B) columns and derivatives there
    evaluations: int
    fills: int
    visits: int  # points at which the global search has looked


def report(found: SearchResult, problem: ProjectionProblem, prepared: PreparedWindow, settings: RefitSettings) -> Refit:
    structure, statistics, parameters, order = prepared
    log, s, value = problem.scale[2] > 0.0, found.where[0], max(float(found.values[0]), 0.0)
    m, fixed, q = len(structure.moving), len(order), len(s)
    etas = np.where(log, np.exp(found.where), found.where)
    at_zero = np.zeros(fixed + m + q, bool)
    at_zero[order[fixed - (len(found.theta) - m) :]] = found.theta[:-m] == 0.0
    at_zero[fixed : fixed + m] = found.theta[-m:] == 0.0
    D = np.zeros((q, found.X.shape[1]))
    for j, k in enumerate(structure.owner):
        D[k] += found.theta[len(found.theta) - m + j % m] * found.X[m + j]
    D /= np.where(log, etas[0], 1.0)[:, np.newaxis]  # ∂/∂η = ∂/∂s · ∂s/∂η
    X = np.concatenate([found.X[:m], D])
    A, b = np.empty((fixed + m + q,) * 2), np.empty(fixed + m + q)
    unprojected(X, statistics.band, statistics.cross, statistics.gram, A, b)
    squares = A.diagonal()
    at_zero[fixed + m :] = squares[fixed + m :] <= 0.0
    lengths = np.sqrt(np.where(at_zero, 1.0, squares))
    products = lengths[:, np.newaxis] * lengths
    A, b = A / products, b / lengths
    theta = np.zeros(fixed + m)
    used = (~at_zero[: fixed + m]).nonzero()[0]
    theta[used] = np.linalg.solve(A[used[:, np.newaxis], used], b[used])
    variance = value / (statistics.rows - len(A))
    covariance, condition = _covariance(A, at_zero, variance)
    theta /= lengths[: fixed + m]
    covariance /= products
    names = tuple(parameter.name for parameter in parameters)
    low, high, _ = problem.scale
    apart = np.abs(found.where - s) > APART * np.where(log, 1.0, high - low)
    others = np.flatnonzero((apart & ~at_zero[fixed + m :]).any(axis=1))  # an η that does nothing tells nothing apart
    runner_up, gap = None, math.inf
    if len(others):
        runner_up = etas[others[0]]
        gap = (float(found.values[others[0]]) - value) / variance if variance > 0.0 else math.inf
    at_end = np.minimum(s - low, high - s) <= EDGE * (high - low)
    return Refit(
        names,
        theta,
        etas[0],
        covariance,
        condition,
        math.sqrt(value / statistics.rows),
        statistics.rows,
        found.evaluations,
        found.fills,
        found.visits,
        runner_up,
        gap,
        _doubt(structure.law, runner_up, gap, settings.ambiguity),
        tuple(name for name, out in zip(names[: fixed + m], at_zero[: fixed + m], strict=True) if out),
        tuple(p.name for p, out in zip(structure.law.nonlinear, at_end, strict=True) if out),
    )


def _covariance(A: Floats, at_zero: NDArray[np.bool_], variance: float) -> tuple[Floats, float]:
    """σ²(JᵀJ)⁻¹ of the columns in use, and the condition of J; columns of length one."""
    used = (~at_zero).nonzero()[0]
    block = used[:, np.newaxis], used
    covariance = np.diag(np.where(at_zero, np.inf, 0.0))
    values, vectors = np.linalg.eigh(A[block])
    if values[0] <= 0.0:
        covariance[used, used] = np.inf
        return covariance, math.inf
    covariance[block] = variance * (vectors / values) @ vectors.T
    return covariance, math.sqrt(values[-1] / values[0])


def _doubt(law: FrictionLaw, runner_up: Floats | None, gap: float, limit: float) -> str | None:
    if runner_up is None or gap >= limit:
        return None
    other = ", ".join(f"{p.name} = {value:.4g} {p.unit}" for p, value in zip(law.nonlinear, runner_up, strict=True))
    return f"{other} fits nearly as well: χ² is {gap:.1f} worse, {limit:g} would be clear"
