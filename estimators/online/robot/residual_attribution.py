"""Residual attribution: what explains the unexplained torque, a payload or another friction of one joint.

Each half second ("look") the residual is fitted with the last link's ten columns, and for each joint with its friction
columns and an offset, which absorbs a steady push. A payload is reported when its mass is certain and both of the last
two looks agree. A friction is reported after four looks, so that a payload comes first, and only if the joint has moved
either way: an effect in one direction may be a push. See docs/decisions/019-whole-robots-contacts.md, point 1.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.misfit.faded_evidence import FADE, Coefficients, FadedEvidence
from estimators.models.friction.base import FrictionLaw
from estimators.models.robots.inertia import metric, standard
from estimators.models.robots.tree import PARAMETERS
from estimators.models.robots.whole_robot import WholeRobot
from estimators.online.robot.estimate import NO_PAYLOAD, Payload
from estimators.online.robot.friction_discrepancy import FrictionColumns
from estimators.quantities import Floats

#: kg, argued: The least payload that is reported.
MASS: Final = 0.25
#: deviations, argued: Deviations of a payload's mass from which it is reported.
CERTAIN: Final = 4.0
#: kg and m, argued: What a payload may weigh and measure, one deviation.
TOOL: Final = (5.0, 0.15)
#: 1, argued: Relative deviation of a mass that is weighed by motor current: the torque constant is known no better.
CURRENT: Final = 0.1
#: deviations², argued: Squared deviations from which the friction of one joint has changed: six deviations, asked twice
#: a second.
CHANGED: Final = 36.0
#: 1, argued: Share of the larger mass that the smaller of the last two looks says at least; a push does not last.
AGREE: Final = 0.4
#: 1, argued: Share of a look, its end: what is over by then needs no explanation.
LATE: Final = 0.4
#: 1, argued: Share of the payload that the last looks show at most when it is gone.
GONE_BELOW: Final = 0.3
#: looks, argued: Looks in a row that must say that a payload is gone.
GONE_LOOKS: Final = 2
#: looks, argued: Looks in a row that must name the same friction: two seconds.
FRICTION_LOOKS: Final = 4
#: 1, argued: Share of the larger mean residual, forth or back, that the smaller one has at least when friction is the
#: cause.
EITHER: Final = 0.25
#: 1, argued: Share of the unexplained square that an explanation must explain.
SHARE: Final = 0.5
PAYLOAD: Final = -1  # among the causes, joints being 0 … n−1
GONE: Final = -2
NONE: Final = -3


class Attribution(NamedTuple):
    """Declares what has happened: a payload, its end, or another friction of one joint."""

    cause: int  # PAYLOAD, GONE or a joint
    change: Floats  # coefficients: of the payload (10,), of the joint's terms, or ()
    covariance: Floats  # their covariance


class ResidualAttribution:
    """Gathers evidence for each cause, and counts for how many looks the likeliest has been the same."""

    def __init__(self, model: WholeRobot, prior_deviations: Floats, correlation: Floats, motor_side: bool) -> None:
        """prior_deviations: (p,); correlation: (n,) c; motor_side: torque is motor current times a constant."""
        n = model.tree.size()
        self._model, self._correlation, self._motor_side = model, correlation, motor_side
        self._variance = np.ones(n)
        self.terms = [
            np.array([k for k, term in enumerate(model.terms) if term.joints == (j,)], np.int64) for j in range(n)
        ]
        mass, size = TOOL
        self._load = FadedEvidence(metric(standard(mass, np.zeros(3), mass * size**2 * np.eye(3))))
        self._friction = [
            FadedEvidence(np.diag(1.0 / prior_deviations[model.base + terms] ** 2)) for terms in self.terms
        ]
        self.discrepancy = np.zeros(n)
        """(n,) deviation of what friction has beyond its law, N·m (N)."""
        self.covariance = np.zeros((model.size, model.size))
        """(p, p) of θ: what is not known of it is no change."""
        self._directions = np.zeros((2, 2, n))  # forth, back: sum of the residual and rows, faded
        self.payload, self.carried = NO_PAYLOAD, np.zeros(PARAMETERS)
        self._suspect, self._looks = NONE, 0
        self._excess = 0.0  # weighted squares beyond the usual, faded
        self._lasts = False  # the end of the last look is beyond the usual, too
        self._lately = (0.0, 0.0)  # of the last two looks

    def absorb(
        self, X: Floats, Y: Floats, r: Floats, u: Floats, dq: Floats, weights: Floats,
        pulls: Sequence[Floats] | None = None,
    ) -> None:  # fmt: skip
        """Take half a second of rows.

        X: (rows, n, p); Y: (rows, n, 10) the last link's columns; r, u: (rows, n) residual without and with payload;
        dq: (rows, n) speeds, 0 of a joint whose friction is any torque; weights: (n,) 1/(R c); pulls: what steps of the
        encoders add to XᵀWu and, of all joints, to YᵀWr, (n, p) and (10,), where they have steps.
        """
        self._variance = 1.0 / (weights * self._correlation)
        own, load = (None, None) if pulls is None else pulls
        self._load.absorb(Y, r, weights, load)
        for j, (terms, evidence) in enumerate(zip(self.terms, self._friction, strict=True)):
            place = self._model.base + terms
            mine = None if own is None else own[j, place]
            evidence.absorb(X[:, j : j + 1, place], u[:, j : j + 1], weights[j : j + 1], mine)
        ways = np.array([dq > 0.0, dq < 0.0])
        self._directions = FADE * self._directions + np.stack([(ways * u).sum(axis=1), ways.sum(axis=1)], axis=1)
        late = u[-round(LATE * len(u)) :]
        self._lasts = float(weights @ (late**2).sum(axis=0)) > float((len(late) / self._correlation).sum())
        beyond = float(weights @ (u**2).sum(axis=0) - (len(u) / self._correlation).sum())
        self._excess, self._lately = FADE * self._excess + beyond, (self._lately[1], beyond)

    def mark(self) -> None:
        """Note that a residual is beyond its threshold: a change may begin now."""
        for evidence in self._friction:
            evidence.mark()

    def verdict(self) -> Attribution | None:
        """Return the cause that is certain now, or None."""
        found = self._load.change()
        payload = self._as_payload(found)
        limit = max(CERTAIN * payload.mass_deviation, MASS)
        if self.payload.carried:
            self.carried, self.payload = found.values, payload._replace(carried=True)
            now = self._as_payload(self._load.lately())
            gone = abs(now.mass) < max(GONE_BELOW * abs(payload.mass), 0.5 * MASS)
            gone &= abs(payload.mass - now.mass) > CERTAIN * now.mass_deviation  # else these looks do not tell
            cause = GONE if gone else self._likeliest(None)
            if self._again(cause) < (GONE_LOOKS if gone else FRICTION_LOOKS):
                return None
            if gone:
                self.forget()
                return Attribution(GONE, np.zeros(0), np.zeros((0, 0)))
            self._load.only_lately()
            return self._rubs(cause)
        self.payload = payload
        lately = self._load.lately()
        now = self._as_payload(lately)
        certain = abs(payload.mass) > limit or abs(now.mass) > max(CERTAIN * now.mass_deviation, MASS)
        masses = np.array([one.values[0] for one in self._load.looks()])
        certain &= self._lasts and len(masses) > 1 and masses.min() * masses.max() > 0.0
        certain = certain and np.abs(masses).min() > AGREE * np.abs(masses).max()
        cause = self._likeliest(lately if certain else None)
        if self._again(cause) < (1 if cause == PAYLOAD else FRICTION_LOOKS):
            return None
        if cause != PAYLOAD:
            self._load.clear()
            self.payload = NO_PAYLOAD
            return self._rubs(cause)
        self._load.only_lately()
        found = self._load.change()
        self.carried, self.payload = found.values, self._as_payload(found)._replace(carried=True)
        self._begin()
        return Attribution(PAYLOAD, found.values, found.covariance)

    def _rubs(self, joint: int) -> Attribution:
        """Return that a joint's friction has changed, and forget all evidence for frictions.

        The size of the change is that of the looks since it began; earlier ones would make it smaller.
        """
        since = self._friction[joint].since()
        self._begin()
        return Attribution(joint, since.values, since.covariance)

    def _begin(self) -> None:
        """Begin to gather evidence for frictions, and unexplained torque, from zero."""
        for evidence in self._friction:
            evidence.clear()
        self._directions[:] = 0.0
        self._suspect, self._looks, self._excess, self._lately = NONE, 0, 0.0, (0.0, 0.0)

    def forget(self) -> None:
        """Forget all evidence; nothing is carried."""
        self._load.clear()
        self.payload, self.carried = NO_PAYLOAD, np.zeros(PARAMETERS)
        self._begin()

    def friction_terms(self, j: int) -> NDArray[np.int64]:
        """Terms of joint j's friction law, without offset and rotor."""
        return self.terms[j][: len(self._model.law_of(j).parameters)]

    def friction_columns(self, speeds: Floats) -> list[FrictionColumns]:
        """For each joint: places in θ, and columns (k, own) at speeds (n, k), half the difference of forth and back."""
        found, still = [], np.zeros(speeds.shape[1])
        for j, own in enumerate(speeds):
            law, place = self._model.law_of(j), self._model.base + self.friction_terms(j)
            forth, back = (law.columns(still, sign * own, still, law.start) for sign in (1.0, -1.0))
            found.append((place, np.asarray(0.5 * (forth - back))))
        return found

    def _again(self, cause: int) -> int:
        """Count for how many looks in a row this has been the cause; 0 for none."""
        self._looks = self._looks + 1 if cause == self._suspect else 1
        self._suspect = cause
        return self._looks if cause != NONE else 0

    def _likeliest(self, payload: Coefficients | None) -> int:
        """Return the cause that explains at least half of the unexplained torque.

        payload: its coefficients by the last looks, where a mass is certain.
        """
        if payload is not None:
            alone = max(
                one.lately().explained - len(terms) for one, terms in zip(self._friction, self.terms, strict=True)
            )
            if payload.explained - PARAMETERS > max(SHARE * sum(self._lately), alone, 0.0):
                return PAYLOAD
        changes = {j: one.change() for j, one in enumerate(self._friction) if self._either_way(j)}
        scores = {j: one.explained - len(one.values) for j, one in changes.items() if self._is_change(j, one)}
        best = max(scores, key=lambda j: scores[j], default=NONE)
        return best if best != NONE and scores[best] > SHARE * self._excess else NONE

    def _is_change(self, j: int, change: Coefficients) -> bool:
        """Whether the friction of joint j, without its offset, has certainly changed, beyond the usual residual."""
        own = len(self._model.law_of(j).parameters)
        place = self._model.base + self.friction_terms(j)
        values, S = change.values[:own], self._friction[j].S
        P = change.covariance[:own, :own] + self.covariance[np.ix_(place, place)]
        certain = float(values @ np.linalg.solve(P, values)) > CHANGED
        rows = S[own, own]  # the offset's column is 1: rows over R c
        usual = self._variance[j] + CERTAIN**2 * self.discrepancy[j] ** 2
        return certain and float(values @ S[:own, :own] @ values) > rows * usual

    def _either_way(self, j: int) -> bool:
        """Whether joint j's residual is large in both directions, and of opposite signs."""
        (forth, rows), (back, others) = self._directions[:, :, j]
        if rows == 0.0 or others == 0.0:
            return False
        means = np.array([forth / rows, -back / others])
        return bool(means.min() * means.max() > 0.0 and np.abs(means).min() >= EITHER * np.abs(means).max())

    def _as_payload(self, found: Coefficients) -> Payload:
        mass, deviation = float(found.values[0]), float(np.sqrt(found.covariance[0, 0]))
        if self._motor_side:
            deviation = max(deviation, CURRENT * abs(mass))
        if abs(mass) < deviation:
            return Payload(mass, deviation, np.full(3, np.nan), np.full(3, np.inf), False)
        centre = found.values[1:4] / mass
        jacobian = np.column_stack([-centre / mass, np.eye(3) / mass])
        spread = np.sqrt(np.diag(jacobian @ found.covariance[:4, :4] @ jacobian.T))
        return Payload(mass, deviation, centre, spread, False)


def in_words(law: FrictionLaw, before: Floats, after: Floats) -> str:
    """Sentence about a changed friction, coefficient by coefficient of its law."""
    each = zip(law.parameters, before, after, strict=True)
    return ", ".join(f"{one.name} {old:.3g} → about {new:.3g} {one.unit}" for one, old, new in each)
