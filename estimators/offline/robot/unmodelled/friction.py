"""Friction beyond its law: how much of it recordings show, and how far off θ may be by it.

    τ = X θ + B d + …      B: hats over |q̇| at KNOTS of the speed seen, of each direction of each joint

No law bends as a gear does. What it lacks is the same wherever the joint has that speed, so it does not average out
over rows or blocks of time, and another motion, which has other speeds, leads to another θ. d is not learnt: it is
considered (Schmidt 1966), of one deviation D at all knots of a joint. θ without it is off by −S d, S = P XᵀW B. The
residual's means at the knots are M d, M = A (B − X S), A the means over a knot's rows; their squares, less those that
noise makes, tell D² by their expectation D² |M|² (method of moments).
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.offline.robot.fit import RobotFit
from estimators.offline.robot.rows import RobotRows
from estimators.online.robot.findings.friction_discrepancy import KNOTS
from estimators.quantities import Floats

HATS: Final = np.eye(len(KNOTS))
TOUCHED: Final = 20.0  # rows, whose hats add up to a knot that is seen: 0.4 s
LEAST: Final = 1e-6  # of d, that a law has not followed: below it nothing is known of d


class BeyondLaw(NamedTuple):
    """What rows that taught θ show of it; k = knots of both directions."""

    deviations: Floats  # (n,) D, N·m (N)
    hats: Floats  # (rows, n, k) B
    moved: Floats  # (p, n, k) S
    fastest: Floats  # (n,) rad/s (m/s) of these rows

    @property
    def covariance(self) -> Floats:
        """Covariance of θ (p, p) that this friction adds to that of noise."""
        return self.of(self.moved)

    def of(self, moved: Floats) -> Floats:
        """Covariance of what d moves so: (m, n, k) → (m, m)."""
        scaled = (moved * self.deviations[:, np.newaxis]).reshape(len(moved), -1)
        return np.asarray(scaled @ scaled.T)

    def spread(self, rows: RobotRows) -> Floats:
        """Variance (rows, n) of a prediction by θ of any rows: what this friction has there, less what θ has of it."""
        left = -np.tensordot(rows.X, self.moved, 1)  # (rows, n, n, k)
        own = np.arange(left.shape[1])
        left[:, own, own] += _hats(rows, self.fastest)
        return np.asarray(np.einsum("tjik,i->tj", left**2, self.deviations**2))


def beyond_law(rows: RobotRows, found: RobotFit) -> BeyondLaw:
    """The friction beyond the law in these rows, from the θ that was learnt from them."""
    rows = rows.teaching()
    residual = rows.y - rows.predicted(found.theta)
    fastest = np.maximum(np.abs(rows.dq).max(axis=0, initial=0.0), 1e-9)
    B = _hats(rows, fastest)
    right = np.einsum("j,tjp,tjk->pjk", found.weights[0], rows.X, B, optimize=True)
    S = np.tensordot(np.linalg.inv(found.information), right, 1)
    D = np.zeros(residual.shape[1])
    for j in range(len(D)):
        own = B[:, j]
        own = own[:, np.abs(own).sum(axis=0) > TOUCHED]
        A = own.T / np.abs(own).sum(axis=0)[:, np.newaxis]
        left = A @ (B[:, j] - rows.X[:, j] @ S[:, j])
        noise = found.variance[j] * found.correlation[j] * (A**2).sum()
        squares, share = ((A @ residual[:, j]) ** 2).sum() - noise, (left**2).sum()
        D[j] = np.sqrt(squares / share) if share > LEAST and squares > 0.0 else 0.0
    return BeyondLaw(D, B, S, fastest)


def _hats(rows: RobotRows, fastest: Floats) -> Floats:
    """B of each joint (rows, n, 2 knots), forwards and backwards; 0 where it stands. fastest: (n,) speed of K = 1."""
    share = np.abs(rows.dq) / fastest
    hats = np.stack([np.interp(share, KNOTS, one) for one in HATS], axis=2) * rows.slides[:, :, np.newaxis]
    direction = np.sign(rows.dq)[:, :, np.newaxis]
    return np.concatenate([hats * (direction > 0.0), -hats * (direction < 0.0)], axis=2)
