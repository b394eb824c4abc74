"""Residual attribution: when causes compete for the unexplained torque of a whole robot, and what follows from it.

Each half second ("look") the residual of what is explained so far is compared with the usual one. Where it has been
larger for long enough that a cause might be certain, all of causes/catalogue.py compete, and the best is reported once
it has been the best for as many looks as it asks for. A cause that the model has (friction, offset, links) is then
learnt; one that it has not (a payload, a slip) is applied in addition to it (docs/decisions/027-findings-compete.md).
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.robots.tree import PARAMETERS
from estimators.models.robots.whole_robot import WholeRobot
from estimators.numerics.nnls import Integers
from estimators.online.robot.block import LOOK
from estimators.online.robot.findings.carried import NO_PAYLOAD, Payload
from estimators.online.robot.findings.causes.base import Fitted, RobotKnowledge
from estimators.online.robot.findings.causes.catalogue import catalogue
from estimators.online.robot.findings.causes.payload import PayloadCause
from estimators.online.robot.findings.causes.torque_constant import TorqueConstant
from estimators.online.robot.findings.columns import CauseColumns, slip_columns, spring_columns, tilt_columns
from estimators.online.robot.findings.competition import BETTER, CERTAIN, Standing, compete, refitted
from estimators.online.robot.findings.explanation import BODY, Explanation
from estimators.online.robot.findings.looks import FADE, Looks, Sums, sums_of
from estimators.quantities import Floats
from estimators.thresholds import RIDGE

Flags = NDArray[np.bool_]

#: 1, argued: Share of a look, its end: what is over by then needs no explanation.
LATE: Final = 0.4
#: 1, argued: Squares at the end of a look over the usual ones, from which something lasts: chance doubles them rarely.
LASTING: Final = 2.0
#: looks, argued: Looks that are kept before causes compete: a change begins within the last ones.
BEFORE: Final = 2
#: looks, argued: Looks after a mark, within which another mark belongs to the same event.
MARKED: Final = 20
#: looks, argued: Looks in a row that make a cause suspected: a push of a second is of two looks, and ends in the next.
SUSPECT: Final = 2
#: looks, argued: Looks without anything unexplained after which what was examined is over: three seconds.
CALM: Final = 6
#: deviations, argued: Deviations of the excess by which a competition opens: chance costs time only, once in a hundred.
CHANCE: Final = 2.5
#: deviations, argued: Deviations of friction beyond its law that are usual (decision 021).
BEYOND: Final = 2.0
#: looks, argued: Looks of a start that say nothing yet: its low-passes settle.
SETTLED: Final = 2
#: 1, argued: Times the usual variance that a start may add to it: beyond that something is wrong, and not usual.
MOST: Final = 25.0
# causes that are not learnt: they are applied in addition to the model, until they are over
BESIDE_MODEL: Final = frozenset({"payload", "torque_constant", "encoder_slip", "base_tilt", "spring"})
DRIFTS: Final = frozenset({"friction", "offset"})  # of the model, and learnt where they are no finding


LeavesLaw = Callable[[tuple[int, ...], int], bool]  # of joints, over the last looks: has a friction another shape?


class LookRows(NamedTuple):
    """Rows of one look; 0 where a joint says nothing."""

    X: Floats  # (rows, n, q)
    Y: Floats  # (rows, n, 10) the last link's columns
    torque: Floats  # (rows, n) less a compensation's
    u: Floats  # (rows, n) residual of all that is explained
    there: Floats  # (rows, n) 1 where a joint's friction is that of motion
    motion: Floats  # (3, rows, n) q, dq, ddq
    pulls: Floats  # (k,) what the encoders' steps add to Σ W Zᵀr


class AttributionVerdict(NamedTuple):
    """Verdict on the residual: its cause, and whether that is new, has ended, or is learnt without a report."""

    fitted: Fitted
    ends: bool  # something that was applied in addition to the model is gone
    silent: bool  # no finding: friction of the model, or the torque's zero, has drifted, and is learnt
    text: str
    instead: Fitted | None = None  # what was applied until now by mistake

    @property
    def beside_model(self) -> bool:
        """Whether it is applied in addition to the model, and is not learnt."""
        return self.fitted.cause.name in BESIDE_MODEL


class ResidualAttribution:
    """Gathers looks while some torque is unexplained, and finds its cause."""

    def __init__(
        self, model: WholeRobot, prior: Floats, correlation: Floats, reach: Floats, scale: float
    ) -> None:  # fmt: skip
        """prior: (p, p) covariance of θ before any motion; correlation, reach: (n,); scale: see Explanation."""
        n, q = model.tree.size(), model.size + model.tree.size()
        self._model, self._correlation, self._reach = model, correlation, reach
        self.columns = CauseColumns(q, n)
        self._places = self.columns.of_joints(model)
        self._prior = np.eye(q)
        self._prior[: len(prior), : len(prior)] = prior
        self.causes = catalogue(n)
        self.explanation = Explanation(model, self.columns, scale)
        self.discrepancy = np.zeros(n)
        """(n,) deviation of what friction has beyond its law, N·m (N)."""
        self.covariance = np.zeros((q, q))
        """(q, q) of θ and the lags: what is not known of it is no change."""
        self.theta, self.bodies = np.zeros(q), np.zeros((n, PARAMETERS))
        """(q,) θ and the lags by which residuals are; (n, 10) the links by it."""
        self.looks = Looks()
        self._recent: deque[LookRows] = deque(maxlen=BEFORE)
        self._usual, self._level = np.ones(n), np.ones(n)
        self._starting = True
        self._shares: list[Floats] = []  # of each look of the start, (n,): squares over those of the usual residual
        self.open, self._marked, self._ended = False, MARKED + 1, False
        self._excess, self._spread = np.zeros((2, n + 1))  # faded, of each joint and of all, and its variance
        self._beyond: deque[Floats] = deque(maxlen=CALM)  # the same of each of the last looks, (2, n + 1)
        self._over = 0  # looks in a row at whose end nothing is unexplained
        self._troubled = 0  # looks since what is applied in addition to the model explained all, or since the first
        self._lasts, self._suspect, self._times = False, ("", tuple[int, ...]()), 0
        self._others = ("", tuple[int, ...]()), 0  # what explains more than what holds, and looks in a row in which
        self.standing: Standing | None = None
        self.doubted_units = np.zeros(n)
        """(n,) relative deviation of each joint's torque unit, by a change that friction has been taught instead."""
        self._other_units = np.zeros((2, n))  # looks in a row in which another unit explains as much; the largest then

    @property
    def payload(self) -> Payload:
        """The body that is carried."""
        return self.explanation.payload

    @property
    def units(self) -> Floats:
        """Variance (n,) of the usual residual, times the rows that count as one."""
        return np.asarray(self._usual * self._correlation)

    @property
    def suspects(self) -> bool:
        """Whether looks in a row have said that what is examined is no contact."""
        return self.open and self._times >= SUSPECT and self._suspect[0] != "contact"

    @property
    def over(self) -> bool:
        """Whether what was unexplained has passed."""
        return not self.open or self._over >= SUSPECT

    def absorb(self, rows: LookRows, variance: Floats) -> None:
        """Take a look; variance: (n,) R of the residual where nothing is wrong."""
        self._usual = self._level * variance + (BEYOND * self.discrepancy) ** 2
        units = self.units
        moved = rows.there.sum(axis=0)
        if self._starting:
            self._shares.append(
                np.where(moved > 0.0, (rows.u**2).sum(axis=0) / (self._usual * np.maximum(moved, 1.0)), np.nan)
            )
        late = rows.u[-round(LATE * len(rows.u)) :]
        usual = float((rows.there[-len(late) :].sum(axis=0) / self._correlation).sum())
        self._lasts = float(((late**2).sum(axis=0) / units).sum()) > LASTING * usual
        self._over = 0 if self._lasts else self._over + 1
        alike = rows.there.sum(axis=0) / self._correlation
        beyond = (rows.u**2).sum(axis=0) / units - alike
        self._add(np.append(beyond, beyond.sum()), 2.0 * np.append(alike, alike.sum()))
        self._marked += 1
        self._troubled = 0 if self.explanation.holding and self._passed() else self._troubled + 1
        self._recent.append(rows)
        if not self.open and (_large(self._excess, self._spread) or _large(*self._beyond[-1])):
            self._open()
        elif self.open and not self.explanation.holding and self._passed():
            self._close()
        elif self.open:
            self.looks.absorb(self._summed(rows))
        if self._ended:
            self.looks.begin()
            self._ended = False

    def _add(self, beyond: Floats, variance: Floats) -> None:
        """Add by how much a look exceeds the usual, (n + 1,) for each joint and for all.

        Where a joint's residual is less than usual, the excess counts from that level on: otherwise a usual residual
        that is too large, of this joint or another, would hide for long what happens to one.
        """
        self._beyond.append(np.array((beyond, variance)))
        self._excess, self._spread = FADE * self._excess + beyond, FADE**2 * self._spread + variance
        less = self._excess[:-1] <= 0.0
        self._excess[:-1][less], self._spread[:-1][less] = 0.0, 0.0

    def _passed(self) -> bool:
        """Whether nothing was unexplained in the last looks."""
        return len(self._beyond) == CALM and not _large(*np.sum(self._beyond, axis=0))

    def _open(self) -> None:
        self.open = True
        self.looks.clear()
        for one in self._recent:
            self.looks.absorb(self._summed(one))

    def _close(self) -> None:
        self.looks.clear()
        self.open, self.standing = False, None
        self._excess[:] = self._spread[:] = 0.0

    def _summed(self, rows: LookRows) -> Sums:
        Z = self._columns_of(rows.X, rows.Y, rows.motion)
        return sums_of(Z, rows.torque, rows.there, rows.motion[1], rows.pulls, self._places)

    def _columns_of(self, X: Floats, Y: Floats, motion: Floats) -> Floats:
        """All columns (rows, n, k); arguments as of LookRows."""
        columns = self.columns
        Z = np.empty((len(X), columns.n, columns.size))
        bodies = self.bodies.copy()
        bodies[-1] += self.explanation.carried
        Z[:, :, columns.theta], Z[:, :, columns.body] = X, Y
        Z[:, :, columns.slips] = slip_columns(self._model, bodies, *motion)
        Z[:, :, columns.tilts] = tilt_columns(self._model, bodies, motion[0])
        Z[:, :, columns.springs] = spring_columns(motion[0])
        predicted = X @ self.theta  # by the model alone, without what is added to it: as Explanation.torque
        Z[:, :, columns.gains] = predicted[:, :, None] * np.eye(columns.n)
        return Z

    def variance(self, X: Floats, Y: Floats, motion: Floats, changing: bool) -> Floats:
        """Variance (n,) of the torque of one row that is explained by what is applied in addition to the model.

        changing: whether what is not known of θ counts, too; others as of LookRows, of one row.
        """
        found = np.zeros(self.columns.n)
        if self.explanation.holding:
            found += self.explanation.variance(self._columns_of(X, Y, motion)[0])
        if changing:
            found += np.einsum("jk,kl,jl->j", X[0], self.covariance, X[0])
        return np.maximum(found, 0.0)

    def mark(self) -> None:
        """Note that a residual is beyond its threshold: a change may begin now."""
        certain = self.standing is not None and self.standing.certain
        if self._marked > MARKED and not certain and not self.explanation.holding:
            self._marked = 0
            self.looks.begin()

    def end_mark(self) -> None:
        """Note that the residual is within its threshold again, and no lasting cause was found.

        A disturbance without an explanation would hide a lasting one, so the long window begins after its last look;
        where a shorter window has a cause, it begins with that window.
        """
        standing = self.standing
        certain = standing is not None and standing.certain
        self._ended = not certain and not self.explanation.holding
        if standing is not None and certain and not self.explanation.holding:
            self.looks.only(standing.window.looks)

    def known(self, bare: bool = False) -> RobotKnowledge:
        """What is known of the robot when causes are judged now; bare: as if nothing were added to the model."""
        jitter = RIDGE * np.maximum(np.diag(self.covariance), RIDGE)
        root = np.asarray(np.linalg.cholesky(self.covariance + np.diag(jitter)), np.float64)
        held = np.zeros(self.columns.size) if bare else self.explanation.psi
        return RobotKnowledge(
            self._model, self.columns, self.theta, root, self._prior, self._reach, held, self.bodies,
            self._starting, min(self.looks.count, self._troubled), self._one_way(),
        )  # fmt: skip

    def _one_way(self) -> Flags:
        """Joints (n,) that have moved one way only since a change may have begun: no row that counts is of another."""
        since = self.looks.since
        return np.zeros(self.columns.n, np.bool_) if since is None else since.sums.rarer < self._correlation

    def verdict(self, leaves: LeavesLaw | None = None, beyond: Flags | None = None) -> AttributionVerdict | None:
        """The verdict that is certain by now, or None.

        leaves: whether friction has left the shape of its law; then a search of that law follows, and none of its
        coefficients are reported; beyond: (n,) joints whose residual is or was just beyond its threshold: its cause
        is a finding, however small.
        """
        if not self.open:
            return None
        known = self.known()
        self._refine(known)
        psi = self.explanation.psi.copy()
        psi[self.columns.theta] = self.theta
        self.standing = compete(self.causes, known, psi, self.looks.windows(), self._usual, self._correlation)
        standing = self.standing
        self._doubt_units(standing)
        instead = self._instead_of(known, standing)
        if instead is not None:
            return instead
        best = self._chosen(standing)
        if standing is None or best is None:
            if standing is None or self._suspect not in [(one.cause.name, one.cause.joints) for one in standing.rivals]:
                self._suspect, self._times = ("", ()), 0  # otherwise this look is no evidence for it or against it
            return None
        drifts = best.cause.name in DRIFTS
        seen = not drifts and not self._starting and beyond is not None and _any_of(best.cause.joints, beyond)
        silent = not standing.notable and not seen
        if (silent and (not drifts or self._starting)) or (standing.notable and not self._lasts):
            return None
        key = best.cause.name, best.cause.joints
        self._times = self._times + 1 if key == self._suspect else 1
        self._suspect = key
        if best.cause.name == "contact" or self._times < best.cause.looks:
            return None
        if best.cause.name == "friction" and leaves is not None and leaves(best.cause.joints, self._times - 1):
            return None  # the first of these looks may hold the change itself
        return self._decide(known, best, standing.window.looks, silent)

    def _chosen(self, standing: Standing | None) -> Fitted | None:
        """The cause that is decided; one that is applied already, where that explains as much."""
        if standing is None or not standing.certain:
            return None
        holding = self.explanation.holding
        holds = [one for one in standing.rivals if (one.cause.name, one.cause.joints) in holding]
        return holds[0] if holds else standing.best if standing.decided else None

    def _instead_of(self, known: RobotKnowledge, standing: Standing | None) -> AttributionVerdict | None:
        """A cause that explains all rows since then better than the one that is applied; None without.

        The applied cause was decided by a few looks, in which another may not have been possible yet. It competes anew
        while it leaves a residual that certainly has a cause, or has values that are not possible.
        """
        since, holding = self.looks.since, self.explanation.holding
        bare = replace(known, held=np.zeros(self.columns.size), looks=self.looks.count)
        held = next(iter(holding.values())) if len(holding) == 1 and BODY not in holding else None
        troubled = standing is not None and standing.certain
        if held is None or since is None or not (troubled or not held.possible(bare)):
            self._others = ("", ()), 0
            return None
        psi = np.zeros(self.columns.size)
        psi[self.columns.theta] = self.theta
        anew = compete(self.causes, bare, psi, [since], self._usual, self._correlation)
        key = ("", tuple[int, ...]())
        if anew is not None and anew.decided and anew.notable and anew.fitted[0].cause.name != "contact":
            key = anew.fitted[0].cause.name, anew.fitted[0].cause.joints
        key = ("", ()) if key in holding else key
        times = self._others[1] + 1 if key == self._others[0] else 1
        self._others = key, times
        if anew is None or not key[0] or times < anew.fitted[0].cause.looks:
            return None
        self.explanation.end(held)
        return self._decide(bare, anew.fitted[0], since.looks, False)._replace(instead=held)

    def _doubt_units(self, standing: Standing | None) -> None:
        """Note by how much the unit of a joint's torque may have changed where that is too small to be a finding.

        The joint's friction learns such a change where the rest of its torque does not contradict that, and the rows
        do not show which of the two has changed.
        """
        looks, largest = self._other_units
        suspects = {}
        if standing is not None and standing.certain and not standing.notable and not self._starting:
            suspects = {one.cause.joints[0]: one for one in standing.rivals if isinstance(one.cause, TorqueConstant)}
        for j in range(len(looks)):
            if j not in suspects:
                looks[j] = largest[j] = 0.0
                continue
            looks[j] += 1.0
            largest[j] = max(largest[j], abs(float(suspects[j].values[0])))
            if looks[j] >= suspects[j].cause.looks:
                self.doubted_units[j] = max(self.doubted_units[j], largest[j])

    def _decide(self, known: RobotKnowledge, best: Fitted, looks: int, silent: bool) -> AttributionVerdict:
        text, ends = best.cause.words(known, best), False
        self.looks.only(looks)
        self._suspect, self._times = ("", ()), 0
        self._excess[:] = self._spread[:] = 0.0
        if best.cause.name in BESIDE_MODEL:
            before = self.explanation.holding.get((best.cause.name, best.cause.joints))
            if before is not None and before.cause == best.cause:
                ends = best.cause.is_over(known, before.values, best.values)
            if ends and before is not None:
                text = text if before.cause.name == "payload" else f"no longer: {before.cause.words(known, before)}"
                self.explanation.end(best)
            else:
                self._hold(known, best)
        if ends or best.cause.name not in BESIDE_MODEL:
            self.looks.clear()
            self.open = bool(self.explanation.holding)
        return AttributionVerdict(best, ends, silent, text)

    def _hold(self, known: RobotKnowledge, fitted: Fitted) -> None:
        before = self.explanation.holding.get((fitted.cause.name, fitted.cause.joints))
        psi = self.explanation.psi - (0.0 if before is None else before.moved)
        psi[self.columns.theta] = self.theta
        since = self.looks.since
        assert since is not None
        forms = refitted(fitted.cause.forms, known, psi, since, self._usual, self._correlation)
        bare = replace(known, held=np.zeros(self.columns.size))
        same = next(one for one in forms if one.cause == fitted.cause)
        fit = [one for one in forms if one is same or one.possible(bare)]
        best = max(fit, key=lambda one: one.evidence)
        held = best if best.evidence - same.evidence > BETTER else same
        self.explanation.hold(held, [one for one in fit if one is not held])

    def _refine(self, known: RobotKnowledge) -> None:
        for one in list(self.explanation.holding.values()):
            if self.looks.since is not None:
                self._hold(known, one)

    def keep(self) -> Floats:
        """The payload that is applied, (11, 10): its parameters, then their covariance; (0, 10) without one."""
        fitted = self.explanation.holding.get(BODY)
        return np.zeros((0, PARAMETERS)) if fitted is None else np.vstack([fitted.values, fitted.covariance])

    def resume(self, saved: Floats, variance: Floats) -> Fitted | None:
        """Apply the payload that `keep` gave; variance: (n,) R. Its information counts as one look, and fades alike."""
        self._usual = variance + (BEYOND * self.discrepancy) ** 2
        if not len(saved):
            return None
        cause, known = PayloadCause(), self.known(bare=True)
        fitted = Fitted(cause, saved[0], saved[1:], 0.0, cause.moves(known))
        self.explanation.hold(fitted)
        self.looks.resume(_as_look(fitted, cause.prior(known), self.columns, self._places, float(self.units[0])))
        self.open = True
        return fitted

    def gather_anew(self) -> None:
        """Forget the usual residual of the start so far."""
        self._shares = []

    def settle(self) -> None:
        """End the start: its residual, look by look, is the usual one on this motion.

        Looks by which something is held stay: without them it would be known by the next half second alone.
        """
        shares = np.array(self._shares[SETTLED:] or [np.ones(self.columns.n)])
        finite = [one[np.isfinite(one)] for one in shares.T]
        median = np.array([float(np.median(one)) if len(one) else 1.0 for one in finite])
        self._level = np.clip(median, 1.0, MOST)
        self._shares, self._starting = [], False
        if not self.explanation.holding:
            self.forget()

    def forget(self) -> None:
        """Forget the gathered looks; causes that are applied stay."""
        self.looks.clear()
        self._recent.clear()
        self.open = bool(self.explanation.holding)
        self._suspect, self._times = ("", ()), 0
        self._excess[:] = self._spread[:] = 0.0
        self.standing = None


def _as_look(fitted: Fitted, prior: Floats, columns: CauseColumns, places: Integers, unit: float) -> Sums:
    """Information on a payload beyond its prior (10, 10), as if it came from the first joint in one look."""
    inverse = np.linalg.inv(fitted.covariance)
    information, pull = inverse - np.linalg.inv(prior), inverse @ fitted.values
    n, own = places.shape
    G, d, first = np.zeros((n, own, own)), np.zeros((n, own)), int(np.searchsorted(places[0], columns.body.start))
    body = slice(first, first + PARAMETERS)  # all joints have these columns
    G[0, body, body], d[0, body] = unit * information, unit * pull
    squares = np.zeros(n)
    squares[0] = unit * float(pull @ np.linalg.lstsq(information, pull)[0])
    return Sums(G, d, squares, np.zeros(n), np.zeros(columns.size), np.zeros(n), places)


def _any_of(joints: tuple[int, ...], those: Flags) -> bool:
    return bool((those[list(joints)] if joints else those).any())


def _large(excess: Floats, variance: Floats) -> bool:
    """Whether any of these weighted squares beyond the usual may be a finding, and is not chance; of any shape."""
    return bool((excess > np.maximum(2.0 * CERTAIN, CHANCE * np.sqrt(variance))).any())


def torque_scale(theta: Floats, covariance: Floats) -> float:
    """Relative deviation to which links known by a prior show what the torque's unit is; (base,), (base, base)."""
    return 1.0 / math.sqrt(max(float(theta @ np.linalg.solve(covariance, theta)), 1.0))


def pulls_of(columns: CauseColumns, found: Sequence[Floats] | None) -> Floats:
    """What the encoders' steps add to the sums, (k,); found: (n, p) of θ and (10,) of the payload, or None."""
    pulls = np.zeros(columns.size)
    if found is not None:
        own, load = found
        pulls[: own.shape[1]], pulls[columns.body] = own.sum(axis=0), load
    return pulls


__all__ = ["LOOK", "NO_PAYLOAD", "AttributionVerdict", "LookRows", "ResidualAttribution", "pulls_of", "torque_scale"]
