"""Standard parameters that every link could have: part of the prior's metric given as its divergence.

    minimise  ½ Σ_j |y_j − X_j x|² / (R_j c_j)  +  Σ_links [(1 − s)/2 |π − π0|²_H + s (tr(P0⁻¹P) − log det P)] / σ²

P the link's pseudo-inertia. The divergence agrees with the metric to second order at P0, so that s does not change how
strong the prior is, but no P leaves the positive definite cone. s = 1 is the entropic fit; it costs most where there is
little data: a tenth is as safe and stays nearer to the quadratic fit. Damped Newton, R and c renewed four times.
Reference: Lee, Wensing, Park 2020.
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.models.robots.inertia import BASIS, floored, metric, pseudo_inertia
from estimators.models.robots.tree import PARAMETERS
from estimators.models.robots.whole_robot import GUESSED_SPREAD, SPREAD, WholeRobot
from estimators.offline.robot.fit import INDEPENDENT, LONGEST, PASSES, RobotFit
from estimators.offline.robot.rows import RobotRows, Taught, correlation, sums
from estimators.quantities import Floats

SHARE: Final = 0.1  # s
STEPS: Final = 60
CLOSE: Final = 1e-9  # Newton decrement, relative to the objective's scale


class EntropicFit(NamedTuple):
    """Physical links, and the rest of θ."""

    parameters: Floats  # (n, 10)
    theta: Floats  # (p,) the same as base parameters, and φ


def entropic(model: WholeRobot, rows: RobotRows, quadratic: RobotFit, share: float = SHARE) -> EntropicFit:
    """Fit that starts from the links' CAD and from the quadratic fit's weights; share: s."""
    rest, expected = Taught.of(rows, rows.shares()).standing.weighed(quadratic.weights[1])
    rows = rows.teaching()
    count = np.maximum(np.count_nonzero(rows.y, axis=0), 1)
    known = sums(rows)
    n, base, terms = model.tree.size(), model.base, len(model.terms)
    links = PARAMETERS * n
    into = np.zeros((model.size, links + terms))  # x → θ
    into[:base, :links], into[base:, links:] = model.projection.G, np.eye(terms)
    spread = GUESSED_SPREAD if model.robot.guessed else SPREAD
    origin = np.array([floored(one) for one in model.robot.parameters])
    precision = np.linalg.inv(quadratic.prior_covariance[base:, base:])
    near = np.zeros((links, links))
    for i, one in enumerate(origin):
        part = slice(PARAMETERS * i, PARAMETERS * (i + 1))
        near[part, part] = (1.0 - share) / spread**2 * metric(one)
    x = np.concatenate([origin.ravel(), quadratic.theta[base:]])
    free = np.ones(len(x), bool)
    free[links:] = ~quadratic.at_zero[base:]
    signed = np.array([term.low >= 0.0 for term in model.terms], bool)
    variance, independent = quadratic.variance, quadratic.correlation
    for _ in range(PASSES):
        weights = 1.0 / (variance * independent)
        K, c = known.weighed(weights)
        A = into.T @ (K + rest) @ into
        A[links:, links:] += precision
        A[:links, :links] += near
        g = into.T @ (c + expected)
        g[:links] += near @ origin.ravel()
        g[links:] += precision @ quadratic.prior[base:]
        x = _newton(x, A, g, origin, share / spread**2, free)
        wrong = np.flatnonzero(signed & (x[links:] < 0.0)) + links
        if len(wrong):
            x[wrong], free[wrong] = 0.0, False
            x = _newton(x, A, g, origin, share / spread**2, free)
        residual = rows.y - rows.predicted(into @ x)
        variance = np.maximum((residual**2).sum(axis=0) / count, 1e-6 * known.squares / count + 1e-12)
        independent = correlation(residual, rows.piece, LONGEST, INDEPENDENT)
    return EntropicFit(x[:links].reshape(n, PARAMETERS), into @ x)


def _newton(x: Floats, A: Floats, g: Floats, origin: Floats, strength: float, free: np.ndarray) -> Floats:
    """Minimise ½xᵀAx − gᵀx + strength·Σ(tr(P0⁻¹P) − log det P), only free entries of x moving."""
    inverses = [np.linalg.inv(pseudo_inertia(one)) for one in origin]
    pulls = np.concatenate([np.einsum("ij,aji->a", inverse, BASIS) for inverse in inverses])
    links = len(pulls)
    value = _objective(x, A, g, pulls, strength, links)
    for _ in range(STEPS):
        slope, curvature = A @ x - g, A.copy()
        for i in range(links // PARAMETERS):
            part = slice(PARAMETERS * i, PARAMETERS * (i + 1))
            left = np.einsum("ij,ajk->aik", np.linalg.inv(pseudo_inertia(x[part])), BASIS)
            slope[part] += strength * (pulls[part] - np.einsum("aii->a", left))
            curvature[part, part] += strength * np.einsum("aij,bji->ab", left, left)
        step = np.zeros_like(x)
        scale = 1.0 / np.sqrt(np.diag(curvature)[free])
        inside = curvature[np.ix_(free, free)] * scale * scale[:, None]
        step[free] = -scale * np.linalg.solve(inside, scale * slope[free])
        decrement = -float(slope @ step)
        if decrement < CLOSE * (1.0 + abs(value)):
            break
        size = 1.0
        while size > 1e-10:
            trial = _objective(x + size * step, A, g, pulls, strength, links)
            if trial <= value - 0.25 * size * decrement:
                break
            size *= 0.5
        x = x + size * step
        value = _objective(x, A, g, pulls, strength, links)
    return x


def _objective(x: Floats, A: Floats, g: Floats, pulls: Floats, strength: float, links: int) -> float:
    value = 0.5 * float(x @ A @ x) - float(g @ x) + strength * float(pulls @ x[:links])
    for one in x[:links].reshape(-1, PARAMETERS):
        try:
            factor = np.linalg.cholesky(pseudo_inertia(one))
        except np.linalg.LinAlgError:
            return float("inf")
        value -= 2.0 * strength * float(np.log(np.diag(factor)).sum())
    return value
