"""Causes compete: the evidence of each for one window of the residual, and which is reported.

    r = X θ' + Z_h δ_h + e      θ' ~ N(0, P_θ), δ_h ~ N(0, P_h), e_j ~ N(0, σ_j² R_j c_j)
    log evidence over nothing at all:   L_h = ½ bᵀ C b − ½ log det(1 + P_h S)      C = (S + P_h⁻¹)⁻¹

S and b are the sums of Z_h after θ' has explained what it can: what is not known of θ is no finding. c_j rows count as
one. σ_j ≥ 1 is what the best cause leaves of joint j's residual over the usual, which is believed for NU rows: where
the model is wrong in a way that no cause has, all evidence shrinks. A cause is reported only where it is better than
nothing by CERTAIN, than every cause of another name by BETTER, and explains EXPLAINS of what is unexplained.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from estimators.online.robot.findings.causes.base import Cause, Fitted, Prepared, RobotKnowledge
from estimators.online.robot.findings.looks import Sums, Window
from estimators.quantities import Floats

#: nats, argued: Evidence over nothing. Two looks a second are 7200 chances an hour for some forty causes, of which one
#: look in ten is new: ln(7200 · 40 / 10) = 10.3 for one false finding an hour.
CERTAIN: Final = 10.3
#: nats, argued: Evidence over the next cause: odds of twenty to one, so that nineteen of twenty are right.
BETTER: Final = 3.0
#: 1, argued: Share of the unexplained square that a cause explains.
EXPLAINS: Final = 0.8
#: 1, argued: Squares that a cause explains over the usual ones: with three the rms of the residual has doubled. What is
#: smaller is within what the model usually leaves, and is learnt as the model's own.
NOTABLE: Final = 3.0
#: rows, argued: Independent rows that the usual variance is worth on another motion: known to a factor of two.
NU: Final = 8.0
#: 1, argued: Passes of σ and the causes: the second changes σ by some per cent.
PASSES: Final = 2


@dataclass(frozen=True, slots=True)
class Standing:
    """How causes stand in one window."""

    window: Window
    fitted: tuple[Fitted, ...]  # those that are possible, the best first
    excess: float  # weighted squares beyond the usual that nothing explains
    explained: float  # of it by the best
    usual: float  # weighted squares that are usual, of the joints whose residual the best makes smaller
    scale: Floats  # (n,) σ²

    @property
    def best(self) -> Fitted | None:
        """The likeliest, reported or not; None where none is possible."""
        return self.fitted[0] if self.fitted else None

    @property
    def rivals(self) -> tuple[Fitted, ...]:
        """Causes that fit as well: the best of each name within BETTER of the best."""
        found: dict[str, Fitted] = {}
        for one in self.fitted:
            found.setdefault(one.cause.name, one)
        return tuple(one for one in found.values() if self.fitted[0].evidence - one.evidence < BETTER)

    @property
    def certain(self) -> bool:
        """Whether some cause is better than nothing."""
        best = self.best
        return best is not None and best.evidence > CERTAIN and self.explained > EXPLAINS * self.excess

    @property
    def notable(self) -> bool:
        """Whether the residual is larger than the usual one by so much that it is a finding."""
        return self.explained > NOTABLE * self.usual

    @property
    def decided(self) -> bool:
        """Whether the best is better than every cause of another name."""
        return self.certain and len(self.rivals) == 1


def compete(
    causes: Sequence[Cause], known: RobotKnowledge, psi: Floats, windows: Sequence[Window], usual: Floats, alike: Floats
) -> Standing | None:  # fmt: skip
    """The window that shows most, and how the causes stand in it; None without a window.

    psi: (k,) what is explained already; usual: (n,) variance of the residual; alike: (n,) rows that count as one.
    """
    every = [Prepared.of(one, known) for one in causes]
    found = [_stand(every, known, psi, window, usual, alike) for window in windows]
    return max(found, key=lambda one: one.best.evidence if one.best else -np.inf, default=None)


@dataclass(frozen=True, slots=True)
class _Problem:
    """Sums of a window against what is explained already, and what θ explains of them."""

    known: RobotKnowledge
    G: Floats  # (n, k, k)
    c: Floats  # (n, k)
    squares: Floats  # (n,)
    pulls: Floats  # (k,)
    units: Floats  # (n,) variance of the residual times rows that count as one

    def without_theta(self, scale: Floats) -> tuple[Floats, Floats, Floats]:
        """S (k, k) and b (k,) after θ, and the inverse information of θ (q, q); scale: (n,) σ²."""
        weights, theta = 1.0 / (scale * self.units), self.known.columns.theta
        G = np.tensordot(weights, self.G, 1)
        b = weights @ self.c - self.pulls
        L = self.known.root
        inverse = L @ np.linalg.solve(np.eye(L.shape[1]) + L.T @ G[theta, theta] @ L, L.T)
        gain = G[:, theta] @ inverse
        return G - gain @ G[theta], b - gain @ b[theta], inverse

    def left(self, moved: Floats, inverse: Floats, scale: Floats) -> Floats:
        """Weighted squares (n,) that ψ + moved leaves, θ following it; inverse: of θ's information (q, q)."""
        weights, theta = 1.0 / (scale * self.units), self.known.columns.theta
        b = weights @ self.c - self.pulls - np.tensordot(weights, self.G, 1) @ moved
        whole = moved.copy()
        whole[theta] += inverse @ b[theta]
        left = self.squares - 2.0 * self.c @ whole + np.einsum("k,jkl,l->j", whole, self.G, whole)
        return np.asarray(np.maximum(left, 0.0) / self.units)


def _problem(known: RobotKnowledge, psi: Floats, sums: Sums, units: Floats) -> _Problem:
    c = sums.d - sums.G @ psi
    squares = sums.squares - (sums.d + c) @ psi
    return _Problem(known, sums.G, c, squares, sums.pulls, units)


def _stand(
    causes: Sequence[Prepared], known: RobotKnowledge, psi: Floats, window: Window, usual: Floats, alike: Floats
) -> Standing:  # fmt: skip
    problem = _problem(known, psi, window.sums, usual * alike)
    rows, scale, still = window.sums.rows / alike, np.ones(len(usual)), np.zeros_like(psi)
    mine = [one for one in causes if one.cause.lasts(known.looks, known.starting)]
    fitted: list[Fitted] = []
    for _ in range(PASSES):
        S, b, inverse = problem.without_theta(scale)
        fitted = _best(known, [fit(one, S, b) for one in mine])
        left = problem.left(fitted[0].moved if fitted else still, inverse, scale)
        scale = np.maximum((NU + left) / (NU + rows), 1.0)
    nothing = problem.left(still, inverse, scale)
    gained = nothing - left
    usual_there = float(rows[gained > 0.0].sum())
    return Standing(
        window, tuple(fitted), float(nothing.sum() - rows.sum()), float(gained.sum()), usual_there, scale
    )  # fmt: skip


def refitted(cause: Cause, known: RobotKnowledge, psi: Floats, window: Window, usual: Floats, alike: Floats) -> Fitted:
    """A cause by one window, where ψ lacks it."""
    problem = _problem(known, psi, window.sums, usual * alike)
    rows, scale = window.sums.rows / alike, np.ones(len(usual))
    for _ in range(PASSES):
        S, b, inverse = problem.without_theta(scale)
        fitted = fit(Prepared.of(cause, known), S, b)
        scale = np.maximum((NU + problem.left(fitted.moved, inverse, scale)) / (NU + rows), 1.0)
    return fitted


def _best(known: RobotKnowledge, every: Sequence[Fitted]) -> list[Fitted]:
    """The possible causes that are better than nothing, the best first, as far as they may be its rivals."""
    found: list[Fitted] = []
    for one in sorted(every, key=lambda each: -each.evidence):
        if one.evidence <= (found[0].evidence - BETTER if found else 0.0) or one.evidence <= 0.0:
            break
        if one.cause.possible(known, one.values, np.sqrt(np.diag(one.covariance))):
            found.append(one)
    return found


def fit(cause: Prepared, S: Floats, b: Floats) -> Fitted:
    """A cause's coefficients and evidence; S: (k, k), b: (k,) of all columns."""
    T, L = cause.moves, cause.root
    own, pull = T.T @ S @ T, T.T @ b
    inner = np.eye(len(L)) + L.T @ own @ L
    C = L @ np.linalg.solve(inner, L.T)
    values = C @ pull
    evidence = 0.5 * float(pull @ values) - 0.5 * float(np.linalg.slogdet(inner)[1])
    return Fitted(cause.cause, values, C, evidence, T)
