"""Causes compete: the evidence of each for one window of the residual, and which is reported.

    r = X θ' + Z_h δ_h + e      θ' ~ N(0, P_θ), δ_h ~ N(0, P_h), e_j ~ N(0, σ_j² R_j c_j)
    log evidence over nothing at all:   L_h = ½ bᵀ C b − ½ log det(1 + P_h S) − rarity      C = (S + P_h⁻¹)⁻¹

S and b are the sums of Z_h after θ' has explained what it can: what is not known of θ is no finding. c_j rows count as
one. σ_j ≥ 1 is what the best cause leaves of joint j's residual over the usual, which is believed for NU rows: where
the model is wrong in a way that no cause has, all evidence shrinks. A cause is reported only where it is better than
nothing by CERTAIN, than every cause of another name by BETTER, and explains EXPLAINS of what is unexplained. Where all
that is unexplained is less than a certain cause explains, none is fitted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

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
    """The window that shows most, and how the causes stand in it; None where no window could show one for certain.

    psi: (k,) what is explained already; usual: (n,) variance of the residual; alike: (n,) rows that count as one.
    """
    problems = [(window, _problem(known, psi, window.sums, usual * alike)) for window in windows]
    open_ones = [(*one, following) for one in problems if not one[1].hopeless(following := one[1].follow())]
    every = [Prepared.of(one, known) for one in causes if one.lasts(known.looks, known.starting)] if open_ones else []
    found = [_stand(every, *one, alike) for one in open_ones]
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

    def follow(self, scale: Floats | float = 1.0) -> "_ThetaFollows":
        """How θ follows what it can explain; scale: (n,) σ²."""
        weights, theta, L = 1.0 / (scale * self.units), self.known.columns.theta, self.known.root
        G = np.tensordot(weights, self.G, 1)
        B = L.T @ G[theta]
        return _ThetaFollows(G, weights @ self.c - self.pulls, B, np.eye(L.shape[1]) + B[:, theta] @ L)

    def hopeless(self, following: "_ThetaFollows") -> bool:
        """Whether no cause can be CERTAIN, as all squares that θ leaves, and how far it went for it, are too few.

        L_h ≤ ½ min over θ' of |r − X θ'|² + |L⁻¹ θ'|², and σ ≥ 1 makes that less.
        """
        if self.pulls.any():  # their pull is no square
            return False
        own = self.known.root.T @ following.b[self.known.columns.theta]
        least = float((self.squares / self.units).sum() - own @ np.linalg.solve(following.inner, own))
        return least <= 2.0 * CERTAIN

    def left(self, moved: Floats, inner: Floats, scale: Floats) -> Floats:
        """Weighted squares (n,) that ψ + moved leaves, θ following it; inner: see _ThetaFollows."""
        weights, theta, L = 1.0 / (scale * self.units), self.known.columns.theta, self.known.root
        b = weights @ (self.c - self.G @ moved) - self.pulls
        whole = moved.copy()
        whole[theta] += L @ np.linalg.solve(inner, L.T @ b[theta])
        left = self.squares - 2.0 * self.c @ whole + (self.G @ whole) @ whole
        return np.asarray(np.maximum(left, 0.0) / self.units)


class _ThetaFollows(NamedTuple):
    """Weighted sums of a window, and how θ follows them by its covariance L Lᵀ."""

    G: Floats  # (k, k)
    b: Floats  # (k,)
    B: Floats  # (q, k) Lᵀ G, of θ's rows
    inner: Floats  # (q, q) 1 + Lᵀ G L

    def without_theta(self, known: RobotKnowledge) -> tuple[Floats, Floats]:
        """S (k, k) and b (k,) after θ."""
        X = np.linalg.solve(self.inner, self.B)
        return self.G - self.B.T @ X, self.b - X.T @ (known.root.T @ self.b[known.columns.theta])


def _problem(known: RobotKnowledge, psi: Floats, sums: Sums, units: Floats) -> _Problem:
    c = sums.d - sums.G @ psi
    squares = sums.squares - (sums.d + c) @ psi
    return _Problem(known, sums.G, c, squares, sums.pulls, units)


def _stand(
    causes: Sequence[Prepared], window: Window, problem: _Problem, following: _ThetaFollows, alike: Floats
) -> Standing:  # fmt: skip
    rows, scale, still = window.sums.rows / alike, np.ones(len(alike)), np.zeros(len(problem.pulls))
    for number in range(PASSES):
        following = problem.follow(scale) if number else following
        S, b = following.without_theta(problem.known)
        fitted = _best(problem.known, [_weighed(one, S, b) for one in causes])
        left = problem.left(fitted[0].moved if fitted else still, following.inner, scale)
        before, scale = scale, np.maximum((NU + left) / (NU + rows), 1.0)
        if (scale == before).all():
            break
    nothing = problem.left(still, following.inner, scale)
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
        following = problem.follow(scale)
        fitted = _weighed(Prepared.of(cause, known), *following.without_theta(known)).fitted()
        scale = np.maximum((NU + problem.left(fitted.moved, following.inner, scale)) / (NU + rows), 1.0)
    return fitted


class _Weighed(NamedTuple):
    """A cause's coefficients and evidence; its covariance is asked of few."""

    prepared: Prepared
    values: Floats  # (k,)
    evidence: float
    inner: Floats  # (k, k) 1 + Lᵀ S L

    def fitted(self) -> Fitted:
        """With its covariance."""
        cause, L = self.prepared, self.prepared.root
        return Fitted(cause.cause, self.values, L @ np.linalg.solve(self.inner, L.T), self.evidence, cause.moves)


def _best(known: RobotKnowledge, every: Sequence[_Weighed]) -> list[Fitted]:
    """The possible causes that are better than nothing, the best first, as far as they may be its rivals."""
    found: list[Fitted] = []
    for one in sorted(every, key=lambda each: -each.evidence):
        if one.evidence <= (found[0].evidence - BETTER if found else 0.0) or one.evidence <= 0.0:
            break
        fitted = one.fitted()
        if fitted.cause.possible(known, fitted.values, np.sqrt(np.diag(fitted.covariance))):
            found.append(fitted)
    return found


def _weighed(cause: Prepared, S: Floats, b: Floats) -> _Weighed:
    """Weigh a cause; S: (k, k), b: (k,) of all columns."""
    places, T, L = cause.places, cause.moves, cause.root
    own, pull = (T.T @ S @ T, T.T @ b) if places is None else (S[places[:, None], places], b[places])
    inner = np.eye(len(L)) + L.T @ own @ L
    values = L @ np.linalg.solve(inner, L.T @ pull)
    size = math.log(inner[0, 0]) if len(L) == 1 else float(np.linalg.slogdet(inner)[1])
    return _Weighed(cause, values, 0.5 * float(pull @ values) - 0.5 * size - cause.cause.rarity, inner)
