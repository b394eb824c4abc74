"""Friction discrepancy: by how much the friction of a robot's joints differs from its law, and what that does to θ.

    τ = X θ + B d + …      B: hats over |q̇| at KNOTS of the speed seen, times the direction

d is not learnt: it has the deviation D, the same at every knot of a joint. D² is the sum over all knots of the squared
residual beyond chance, that is beyond its long-run variance and the encoders' steps (shifted quantiser): the law has
followed d as far as it could, so one knot alone shows too little. D is at least that of the identification.
The error of θ for each d is followed block by block, as that of a considered parameter (Schmidt 1966):

    S ← a S      S ← S + P XᵀW (B − X S)      friction c θ is off by (c S − B) d

What the identification's own d has done to the θ that it gave, C Cᵀ in all, is considered alike, and goes with what
is taught:      C ← a C      C ← C − P XᵀW X C

If D explains more than a GOOD share of a joint's torque, the misfit is reported as a reason.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.nnls import Integers
from estimators.quantisation.shifted_quantiser import PLACES
from estimators.quantities import Floats
from estimators.reasons import Reason
from estimators.recursive.prior_bounded import PriorBounded
from estimators.thresholds import GOOD, MISFIT_OVER

#: 1, argued: Speeds over the highest speed seen at which friction may differ from its law (decision 021).
KNOTS: Final = np.array((0.05, 0.1, 0.2, 0.5, 1.0))
SUMS: Final = 3 + PLACES  # of `seen`
HATS: Final = np.eye(len(KNOTS))
#: 1, argued: Mean weight of a knot below which the motion shows little of it.
TOUCHED: Final = 0.5
#: deviations², derived: By chance one of five knots is beyond it once in a hundred times: χ² at 1 % / 5 (decision 021,
#: point 2).
CHANCE: Final = 9.5
#: 1, argued: Weight of the past after a block: a hundred blocks count, which are many periods of a motion.
FADE: Final = 0.99

FrictionColumns = tuple[Integers, Floats]  # of one joint: places in θ (own,), columns of them (k, own)


class FrictionDiscrepancy:
    """Follows friction beyond its law for n joints, and the error of q parameters by it, lags included."""

    def __init__(self, reach: Floats, parameters: int, known: Floats | None, identified: Floats | None = None) -> None:
        """reach: (n,) rad/s (m/s) seen; known: (n,) D by the identification, N·m (N).

        identified: (p, p) covariance of the first p parameters by friction beyond its law in the identification.
        """
        n, k = len(reach), len(KNOTS)
        self._reach = reach
        self._known = np.zeros(n) if known is None else known
        self.moved = np.zeros((parameters, n, k))
        """S (q, n, knots)."""
        self.identified = np.zeros((parameters, parameters))
        """C (q, q)."""
        if identified is not None:
            p = len(identified)
            values, vectors = np.linalg.eigh(identified)
            self.identified[:p, :p] = vectors * np.sqrt(np.maximum(values, 0.0))
        self.seen = np.zeros((SUMS, n, k))
        """Σ B r, Σ |B|, Σ B², and Σ B u of each place that an encoder's steps may lie at, faded: (…, n, knots)."""
        self._chance, self._power = np.full(n, np.inf), np.zeros((2, n))  # power: Σ τ², and rows
        self._named: NDArray[np.bool_] = np.zeros(n, np.bool_)
        self._matters = False
        self.spread = self._known
        """D (n,), N·m (N)."""

    def resume(self, spread: Floats, moved: Floats, seen: Floats, identified: Floats) -> None:
        """Continue with the D, S, sums and C of an earlier discrepancy."""
        self.spread, self.moved, self.seen, self.identified = spread, moved, seen, identified

    def notice(self, dq: Floats, r: Floats, torque: Floats, variance: Floats, u: Floats | None = None) -> None:
        """Take a block: speeds, residuals and torques (rows, n), 0 where a row is not used.

        variance: (n,) R c of r; u: (rows, PLACES, n) torque of shifted encoders, None where they have no steps.
        """
        B = self._columns(dq)
        self.seen *= FADE
        self.seen[:3] += np.einsum("tnk,tn->nk", B, r), np.abs(B).sum(axis=0), (B**2).sum(axis=0)
        if u is not None:
            self.seen[3:] += np.einsum("tnk,tpn->pnk", B, u)
        self._chance = CHANCE * variance
        self._power = FADE * self._power + np.stack([(torque**2).sum(axis=0), np.count_nonzero(torque, axis=0)])
        self.spread = np.sqrt(np.maximum(self._squares().sum(axis=1), self._known**2))
        self._named = self._share() > np.where(self._named, MISFIT_OVER, 1.0) * GOOD
        self._matters = self.share > (MISFIT_OVER if self._matters else 1.0) * GOOD

    def _squares(self) -> Floats:
        """Squared residual at each knot beyond chance: (n, knots)."""
        pulled, touched, rows = self.seen[:3]
        rows = np.maximum(rows, TOUCHED * touched)
        whole = np.where(rows > 0.0, rows, np.inf)
        steps = CHANCE * (self.seen[3:] ** 2).mean(axis=0)
        return np.asarray(np.maximum((pulled**2 - steps) / whole**2 - self._chance[:, None] / whole, 0.0))

    def _share(self) -> Floats:
        """Share of each joint's torque that the discrepancy explains in the rows so far: (n,)."""
        found, power = self._powers()
        return np.asarray(np.sqrt(found / np.where(power > 0.0, power, np.inf)))

    @property
    def share(self) -> float:
        """This share, of the torque of all joints together."""
        found, power = self._powers()
        return float(np.sqrt(found.sum() / power.sum())) if power.sum() > 0.0 else 0.0

    def _powers(self) -> tuple[Floats, Floats]:
        """Mean squares of the discrepancy and of the torque, (n,) each."""
        rows = self.seen[1]
        found = (self._squares() * rows).sum(axis=1) / np.maximum(rows.sum(axis=1), 1.0)
        return found, np.asarray(self._power[0] / np.maximum(self._power[1], 1.0))

    def absorb(self, learner: PriorBounded, X: Floats, dq: Floats, weights: Floats) -> None:
        """Follow a block that the learner has just learnt: X (rows, n, q), dq (rows, n), weights (n,)."""
        S, C = self.moved * learner.fade[:, None, None], self.identified * learner.fade[:, None]
        weighted, flat = X * weights[:, None], X.reshape(-1, X.shape[2])
        information = weighted.reshape(flat.shape).T @ flat
        right = (weighted.transpose(1, 2, 0) @ self._columns(dq).swapaxes(0, 1)).swapaxes(0, 1)
        right -= (information @ S.reshape(len(S), -1)).reshape(S.shape)
        self.moved = S + np.tensordot(learner.covariance, right, 1)
        self.identified = C - learner.covariance @ (information @ C)

    def forget(self, which: Integers) -> None:
        """Set the errors of these parameters to zero: they have been found anew."""
        self.moved[which] = self.identified[which] = 0.0

    def reasons(self, names: tuple[str, ...], units: tuple[str, ...], anyway: bool) -> tuple[Reason, ...]:
        """Reasons for the joints whose discrepancy is too large, where all torque is off by too much because of them.

        anyway: whether too much of all torque is unexplained, to which they contribute.
        """
        return tuple(
            self._reason(j, names[j], units[j])
            for j in map(int, np.flatnonzero(self._named))
            if self._matters or anyway
        )

    def _reason(self, j: int, name: str, unit: str) -> Reason:
        where = int(np.argmax(self._squares()[j]))
        off, speed = self.seen[0, j, where] / self.seen[1, j, where], float(KNOTS[where] * self._reach[j])
        numbers = {"torque": float(off), "speed": speed, "percent": 100.0 * float(self._share()[j])}
        words = {"unit": unit, "rate": "rad/s" if unit == "N·m" else "m/s"}
        return Reason("friction_beyond_law", name, numbers, words)

    @property
    def variance(self) -> Floats:
        """Variance of θ (q,) that friction beyond its law causes."""
        return np.asarray(np.einsum("qnk,n->q", self.moved**2, self.spread**2) + (self.identified**2).sum(axis=1))

    def of_friction(self, speeds: Floats, friction: Sequence[FrictionColumns]) -> Floats:
        """Variance (n, k) of the friction by these columns at speeds (n, k)."""
        at = self._columns(speeds.T)
        found = np.empty_like(speeds)
        for j, (place, columns) in enumerate(friction):
            off = np.tensordot(columns, self.moved[place], 1)
            off[:, j] -= at[:, j]
            found[j] = np.einsum("knb,n->k", off**2, self.spread**2)
            found[j] += ((columns @ self.identified[place]) ** 2).sum(axis=1)
        return found

    def _columns(self, dq: Floats) -> Floats:
        """B (rows, n, knots), 0 where dq (rows, n) is."""
        share = np.abs(dq) / self._reach
        hats = np.stack([np.interp(share, KNOTS, one) for one in HATS], axis=2)
        return np.asarray(hats * np.sign(dq)[:, :, None])
