"""Friction beyond its law: its size in recordings, and the error of θ that it may cause.

    τ = X θ + B d + …      B: hats over |q̇| at KNOTS of the speed seen, of each direction of each joint, and over the
                           places seen, times the direction

No law bends as a gear does, or differs by place as one does. What it lacks is the same wherever the joint has that
speed or place, so it does not average out over rows or blocks of time, and another motion, which has others, leads to
another θ. d is not learnt, as a law with memory or another pose may explain the same rows, but considered (Schmidt
1966): θ without it is off by −S d, S = P XᵀW B. Of d the rows tell in addition to θ

    M = BᵀW(B − X S),  g = (B − X S)ᵀW r      d ~ N(C g, C),  C = (M + D⁻²)⁻¹

where D, one of each joint's speeds and one of its places, is what makes the rows likeliest (MacKay, Neural Computation
4:415–447, 1992: D² is the mean of d² + C). What they do not tell stays as large as D, and what they show is stated as
a deviation, too, as it is not learnt: the second moment of d is C + C g (C g)ᵀ.
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.offline.robot.fit import RobotFit
from estimators.offline.robot.rows import RobotRows
from estimators.online.robot.findings.friction_discrepancy import KNOTS
from estimators.quantities import Floats

HATS: Final = np.eye(len(KNOTS))
PLACES: Final = np.eye(6)  # of the range seen: a wave of a half of it is followed
PASSES: Final = 10  # of D: where rows show nothing it would fall further, slowly, and counts for little already
FRICTION: Final = 3.0  # squares of friction over the variance of the torque that it holds at rest
LEAST: Final = 1e-9  # of what the law leaves: D that is as good as none


class BeyondLaw(NamedTuple):
    """What rows that taught θ show of it; k = knots of both directions and places."""

    deviations: Floats  # (n,) of d at the knots of the speed, rms, N·m (N)
    hats: Floats  # (rows, n, k) B
    moved: Floats  # (p, n, k) S
    root: Floats  # (n k, n k + 1) of the second moment of d
    fastest: Floats  # (n,) rad/s (m/s) of these rows
    places: tuple[Floats, Floats]  # (n,) rad (m) lowest and highest of these rows

    @property
    def covariance(self) -> Floats:
        """Covariance of θ (p, p) that this friction adds to that of noise."""
        return self.of(self.moved)

    def of(self, moved: Floats) -> Floats:
        """Covariance of what d moves so: (m, n, k) → (m, m)."""
        scaled = moved.reshape(len(moved), -1) @ self.root
        return np.asarray(scaled @ scaled.T)

    def spread(self, rows: RobotRows) -> Floats:
        """Variance (rows, n) of a prediction by θ of any rows: this friction, less the part that θ has taken up."""
        hats, k = _hats(rows, self.fastest, self.places), self.moved.shape[2]
        moved, found = self.moved.reshape(len(self.moved), -1) @ self.root, np.empty_like(rows.y)
        for j in range(found.shape[1]):
            left = hats[:, j] @ self.root[j * k : (j + 1) * k] - rows.X[:, j] @ moved
            found[:, j] = (left**2).sum(axis=1)
        return found


def beyond_law(rows: RobotRows, found: RobotFit) -> BeyondLaw:
    """The friction beyond the law in these rows, from the θ that was learnt from them."""
    places = rows.q.min(axis=0), rows.q.max(axis=0)
    rows = rows.teaching()
    rows = rows._replace(slides=rows.teaches)
    residual, weights = rows.y - rows.predicted(found.theta), found.weights[0]
    fastest = np.maximum(np.abs(rows.dq).max(axis=0, initial=0.0), 1e-9)
    B = _hats(rows, fastest, places)
    n, k = B.shape[1:]
    right = np.empty((rows.X.shape[2], n * k))  # XᵀW B
    M, g, pull = np.zeros((n * k, n * k)), np.zeros(n * k), np.zeros(len(right))
    for j in range(n):
        own, weighed = slice(j * k, (j + 1) * k), weights[j] * B[:, j].T
        right[:, own], M[own, own], g[own] = (weighed @ rows.X[:, j]).T, weighed @ B[:, j], weighed @ residual[:, j]
        pull += weights[j] * (rows.X[:, j].T @ residual[:, j])
    S = np.linalg.solve(found.information, right)
    root = _told(M - right.T @ S, g - S.T @ pull, found.variance, FRICTION * found.holding, k)
    squares = (root**2).sum(axis=1).reshape(n, k)[:, : 2 * len(KNOTS)]
    moved = np.asarray(S.reshape(-1, n, k), np.float64)
    return BeyondLaw(np.sqrt(squares.mean(axis=1)), B, moved, root, fastest, places)


def _told(M: Floats, g: Floats, variance: Floats, most: Floats, k: int) -> Floats:
    """Root (n k, n k + 1) of the second moment of d, with the D that makes the rows likeliest: of C, and its mean.

    variance: (n,) of the residual; most: (n,) mean square of the law's friction, which what it lacks does not exceed.
    """
    speeds = 2 * len(KNOTS)
    sizes = [speeds, k - speeds] * len(variance)
    group = np.repeat(np.arange(len(sizes)), sizes)
    least = LEAST**2 * np.repeat(variance, k) + np.finfo(np.float64).tiny
    largest = np.maximum(np.repeat(most, k), least)
    squares = np.clip(np.repeat(variance, k), least, largest)
    for _ in range(PASSES):
        root = np.linalg.inv(np.linalg.cholesky(M + np.diag(1.0 / squares))).T
        root = np.column_stack([root, root @ (root.T @ g)])
        squares = np.clip((np.bincount(group, (root**2).sum(axis=1)) / sizes)[group], least, largest)
    return np.asarray(root)


def _hats(rows: RobotRows, fastest: Floats, places: tuple[Floats, Floats]) -> Floats:
    """B of each joint (rows, n, k), speeds forwards, backwards and places; 0 where it stands.

    fastest: (n,) speed of K = 1; places: (n,) of the first and the last hat.
    """
    lowest, highest = places
    share = np.abs(rows.dq) / fastest
    place = (rows.q - lowest) / np.maximum(highest - lowest, 1e-9)
    hats: Floats = np.stack([np.interp(share, KNOTS, one) for one in HATS], axis=2) * rows.slides[:, :, np.newaxis]
    ends = np.linspace(0.0, 1.0, len(PLACES))
    there = np.stack([np.interp(place, ends, one) for one in PLACES], axis=2) * rows.slides[:, :, np.newaxis]
    direction = np.sign(rows.dq)[:, :, np.newaxis]
    return np.concatenate([hats * (direction > 0.0), -hats * (direction < 0.0), direction * there], axis=2)
