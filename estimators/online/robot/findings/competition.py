"""Causes compete: the evidence of each for one window of the residual, and which is reported.

    r = X θ' + Z_h δ_h + e      θ' ~ N(0, P_θ), δ_h ~ N(0, P_h), e_j ~ N(0, σ_j² R_j c_j)
    log evidence over nothing at all:   L_h = ½ bᵀ C b − ½ log det(1 + P_h S) − rarity      C = (S + P_h⁻¹)⁻¹

S and b are the sums of Z_h after θ' has explained what it can: an uncertainty of θ is no finding. c_j rows count as
one. σ_j ≥ 1 is the residual of joint j that the best cause leaves, over the usual one, which has the weight of NU rows:
where the model is wrong in a way that no cause describes, all evidence shrinks. A cause is reported only where it is
better than nothing by CERTAIN, than every cause of another name by BETTER, and explains EXPLAINS of what is
unexplained. Where less is unexplained than a certain cause would explain, none is fitted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from estimators.numerics.cholesky import backwards, forwards
from estimators.online.robot.findings.causes.base import Cause, Fitted, Prepared, RobotKnowledge
from estimators.online.robot.findings.looks import Sums, Window
from estimators.quantities import Floats

#: nats, argued: Evidence compared with no cause. Two looks a second are 7200 chances an hour for some forty causes, of
#: which one look in ten is new: ln(7200 · 40 / 10) = 10.3 for one false finding an hour.
CERTAIN: Final = 10.3
#: nats, argued: Evidence over the next cause: odds of twenty to one, so that nineteen of twenty are right.
BETTER: Final = 3.0
#: 1, argued: Share of the unexplained square that a cause explains.
EXPLAINS: Final = 0.8
#: 1, argued: Squares that a cause explains over the usual ones: with three the rms of the residual has doubled. A
#: smaller change is within the model's usual residual, and is learnt as one of the model.
NOTABLE: Final = 3.0
#: rows, argued: Weight of the usual variance on another motion, in independent rows: it is known to a factor of two.
NU: Final = 8.0
#: 1, argued: Steps of conjugate gradients that may show that no cause can be certain: each costs a fiftieth of the
#: exact answer, and the squares of a window that say nothing are left by two of them in most cases.
STEPS: Final = 3
#: 1, argued: Passes of σ and the causes: the second changes σ by some per cent.
PASSES: Final = 2


@dataclass(frozen=True, slots=True)
class Standing:
    """Ranking of the causes in one window."""

    window: Window
    fitted: tuple[Fitted, ...]  # the possible ones, the best first
    excess: float  # weighted squares beyond the usual that no cause explains
    explained: float  # the part of it that the best explains
    usual: float  # usual weighted squares of the joints whose residual the best makes smaller
    scale: Floats  # (n,) σ²

    @property
    def best(self) -> Fitted | None:
        """The likeliest cause, reported or not; None where none is possible."""
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
        """Whether some cause is certainly better than no cause."""
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
    """Rank the causes in the window that shows most; None where no window could show one for certain.

    psi: (k,) coefficients of what is explained already; usual: (n,) variance of the residual; alike: (n,) rows that
    count as one.
    """
    problems = [(window, _Problem(known, psi, window.sums, usual * alike)) for window in windows]
    maybe = [one for one in problems if not one[1].soon_hopeless()]
    if not maybe:
        return None
    following = [(*one, one[1].follow()) for one in maybe]
    open_ones = [one for one in following if not one[1].hopeless(one[2])]
    every = [Prepared.of(one, known) for one in causes if one.lasts(known.looks, known.starting)] if open_ones else []
    found = [_stand(every, *one, alike) for one in open_ones]
    return max(found, key=lambda one: one.best.evidence if one.best else -np.inf, default=None)


class _Problem:
    """Sums of a window without what is explained already, and what θ explains of them."""

    def __init__(self, known: RobotKnowledge, psi: Floats, sums: Sums, units: Floats) -> None:
        """psi: (k,); units: (n,) variance of the residual times rows that count as one."""
        self.known, self.sums, self.units = known, sums, units
        self.c, self.squares = sums.against(psi)
        self._usual: tuple[Floats, Floats] | None = None

    def weighed(self, scale: Floats | None = None) -> tuple[Floats, Floats]:
        """Weighted sums (k, k) and (k,); scale: (n,) σ², None: 1 each."""
        if scale is not None:
            return self.sums.weighed(1.0 / (scale * self.units), self.c)
        if self._usual is None:
            self._usual = self.sums.weighed(1.0 / self.units, self.c)
        return self._usual

    def follow(self, scale: Floats | None = None) -> "_ThetaFollows":
        """How θ follows what it can explain; scale: as of `weighed`."""
        (G, b), theta, L = self.weighed(scale), self.known.columns.theta, self.known.root
        passed = L.T @ np.column_stack([G[theta], b[theta]])
        root = np.asarray(np.linalg.cholesky(np.eye(L.shape[1]) + passed[:, theta] @ L), np.float64)
        forwards(root, passed)
        return _ThetaFollows(G, b, root, passed)

    def soon_hopeless(self) -> bool:
        """Whether a few steps of conjugate gradients already show that no cause can be certain.

        Each gives a θ' that explains some of the squares: the rest is more than the best one leaves.
        """
        if self.sums.pulls.any():
            return False
        (G, b), theta, L = self.weighed(), self.known.columns.theta, self.known.root
        G, left = G[theta, theta], float((self.squares / self.units).sum())
        r = L.T @ b[theta]
        way, size = r, float(r @ r)
        for _ in range(STEPS):
            if left <= 2.0 * CERTAIN or size == 0.0:
                break
            bent = way + L.T @ (G @ (L @ way))
            step = size / float(way @ bent)
            left -= step * size
            r = r - step * bent
            before, size = size, float(r @ r)
            way = r + size / before * way
        return left <= 2.0 * CERTAIN

    def hopeless(self, following: "_ThetaFollows") -> bool:
        """Whether no cause can be CERTAIN: the squares that θ leaves, and the cost of moving it, are too small.

        L_h ≤ ½ min over θ' of |r − X θ'|² + |L⁻¹ θ'|², and σ ≥ 1 makes that less.
        """
        if self.sums.pulls.any():  # the pull of encoder steps is no square
            return False
        least = float((self.squares / self.units).sum() - (following.passed[:, -1] ** 2).sum())
        return least <= 2.0 * CERTAIN

    def left(self, moved: Floats, following: "_ThetaFollows") -> Floats:
        """Weighted squares (n,) that ψ + moved leaves, θ following it."""
        whole = moved.copy()
        whole[self.known.columns.theta] += self.known.root @ following.theta(moved)
        own = whole[self.sums.places]
        left = self.squares - ((2.0 * self.c - (self.sums.G @ own[:, :, None])[:, :, 0]) * own).sum(axis=1)
        return np.asarray(np.maximum(left, 0.0) / self.units)


class _ThetaFollows(NamedTuple):
    """Weighted sums of a window, and the move of θ by them with covariance L Lᵀ, with 1 + Lᵀ G L = R Rᵀ."""

    G: Floats  # (k, k)
    b: Floats  # (k,)
    root: Floats  # (q, q) R
    passed: Floats  # (q, k + 1) R⁻¹ Lᵀ [G b], of θ's rows

    def without_theta(self) -> tuple[Floats, Floats]:
        """S (k, k) and b (k,) after θ."""
        taken = self.passed.T @ self.passed
        return self.G - taken[:-1, :-1], self.b - taken[:-1, -1]

    def theta(self, moved: Floats) -> Floats:
        """How far θ goes, L⁻¹ θ' (q,), where ψ has moved by this (k,)."""
        found = self.passed[:, -1] - self.passed[:, :-1] @ moved
        backwards(self.root, found)
        return found


def _stand(
    causes: Sequence[Prepared], window: Window, problem: _Problem, following: _ThetaFollows, alike: Floats
) -> Standing:  # fmt: skip
    rows, scale, still = window.sums.rows / alike, np.ones(len(alike)), np.zeros(len(window.sums.pulls))
    for number in range(PASSES):
        following = problem.follow(scale) if number else following
        S, b = following.without_theta()
        weighed = [_weighed(one, S, b) for one in causes]
        fitted = _simplest(problem, following, scale, _best(problem.known, weighed), weighed)
        left = problem.left(fitted[0].moved if fitted else still, following)
        before, scale = scale, np.maximum((NU + left) / (NU + rows), 1.0)
        if (scale == before).all():
            break
    nothing = problem.left(still, following)
    gained = nothing - left
    usual_there = float(rows[gained > 0.0].sum())
    return Standing(
        window, tuple(fitted), float(nothing.sum() - rows.sum()), float(gained.sum()), usual_there, scale
    )  # fmt: skip


def refitted(
    causes: Sequence[Cause], known: RobotKnowledge, psi: Floats, window: Window, usual: Floats, alike: Floats
) -> list[Fitted]:
    """Fit causes, in their order, to one window, where ψ does not contain them; σ is that of the likeliest."""
    problem = _Problem(known, psi, window.sums, usual * alike)
    rows, scale = window.sums.rows / alike, np.ones(len(usual))
    prepared = [Prepared.of(one, known) for one in causes]
    for _ in range(PASSES):
        following = problem.follow(scale)
        S, b = following.without_theta()
        fitted = [_weighed(one, S, b).fitted(known) for one in prepared]
        best = max(fitted, key=lambda one: one.evidence)
        scale = np.maximum((NU + problem.left(best.moved, following)) / (NU + rows), 1.0)
    return fitted


class _Weighed(NamedTuple):
    """A cause's evidence; its coefficients are computed for few."""

    prepared: Prepared
    evidence: float
    root: Floats  # (k, k) C of 1 + Lᵀ S L = C Cᵀ
    passed: Floats  # (k,) C⁻¹ Lᵀ b

    def fitted(self, known: RobotKnowledge) -> Fitted:
        """Its coefficients with their covariance."""
        cause, L = self.prepared, self.prepared.root
        moves = cause.cause.moves(known) if cause.together is None else cause.together
        spread = L.T.copy()
        forwards(self.root, spread)
        return Fitted(cause.cause, spread.T @ self.passed, spread.T @ spread, self.evidence, moves)


def _best(known: RobotKnowledge, every: Sequence[_Weighed]) -> list[Fitted]:
    """The possible causes that are better than none, the best first, as long as they may be its rivals."""
    found: list[Fitted] = []
    for one in sorted(every, key=lambda each: -each.evidence):
        if one.evidence <= (found[0].evidence - BETTER if found else 0.0) or one.evidence <= 0.0:
            break
        fitted = one.fitted(known)
        if fitted.possible(known):
            found.append(fitted)
    return found


def _simplest(
    problem: _Problem, following: _ThetaFollows, scale: Floats, fitted: list[Fitted], weighed: Sequence[_Weighed]
) -> list[Fitted]:
    """Fitted causes, the best first, without one that has a special case which leaves no more than chance does.

    Each further coefficient takes one square off by chance. By how much its prior is narrower than that of the special
    case is no evidence: whoever carries a body moves links that are heavier.
    """
    rich = next((one for one in fitted if one.cause.simpler), None)
    if rich is None or fitted[0].cause.name not in (rich.cause.name, rich.cause.simpler):
        return fitted
    least = float((problem.left(rich.moved, following) / scale).sum())
    for one in weighed:
        if one.prepared.cause.name != rich.cause.simpler or one.evidence <= CERTAIN:
            continue
        special = one.fitted(problem.known)
        more = float((problem.left(special.moved, following) / scale).sum()) - least
        if special.possible(problem.known) and more < 2.0 * CERTAIN + len(rich.values) - len(special.values):
            both = rich.cause.name, special.cause.name
            return [special, *(other for other in fitted if other.cause.name not in both)]
    return fitted


def _weighed(cause: Prepared, S: Floats, b: Floats) -> _Weighed:
    """Weigh a cause; S: (k, k), b: (k,) of all columns."""
    if cause.cause.any_size:
        cause = _as_large_as_seen(cause, S, b)
    places, T, L, rarity = cause.places, cause.together, cause.root, cause.cause.rarity
    if places is not None and len(places) == 1:
        at, one = int(places[0]), float(L[0, 0])
        root = math.sqrt(1.0 + one * float(S[at, at]) * one)
        passed = one * float(b[at]) / root
        return _Weighed(cause, 0.5 * passed * passed - math.log(root) - rarity, np.array([[root]]), np.array([passed]))
    if places is None:
        assert T is not None
        own, pull = T.T @ S @ T, T.T @ b
    else:
        own, pull = S[places[:, None], places], b[places]
    inner = np.asarray(np.linalg.cholesky(np.eye(len(L)) + L.T @ own @ L), np.float64)
    found = (L.T @ pull)[:, None]
    forwards(inner, found)
    size = float(np.log(np.diag(inner)).sum())
    return _Weighed(cause, 0.5 * float((found**2).sum()) - size - rarity, inner, found[:, 0])


def _as_large_as_seen(cause: Prepared, S: Floats, b: Floats) -> Prepared:
    """A cause whose prior's deviations are no less than its coefficients by this window; arguments as of `_weighed`.

    How large it is, nobody knows before: each size is as likely by its logarithm, and the likeliest counts.
    """
    assert cause.places is not None
    L, places = cause.root, cause.places
    own, pull = S[places[:, None], places], b[places]
    found = L @ np.linalg.solve(np.eye(len(L)) + L.T @ own @ L, L.T @ pull)
    return cause._replace(root=np.diag(np.maximum(np.diag(L), np.abs(found))))
