"""Friction that differs from the model's: of one joint, of every joint by a common factor, or of several joints."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from estimators.models.friction.base import FrictionLaw
from estimators.numerics.nnls import Integers
from estimators.online.robot.findings.causes.base import DOUBT, LOOKS, Cause, Fitted, RobotKnowledge
from estimators.online.robot.findings.causes.steady_torque import LASTS
from estimators.quantities import Floats

#: 1, argued: One deviation of a friction's change, relative: a cold gear has half more, a worn one half.
CHANGES: Final = 0.5
#: 1, argued: Shares of the highest speed seen at which friction must be no drive.
SPEEDS: Final = (0.1, 0.5)
#: 1, argued: Relative difference of two columns at SPEEDS, below which sliding does not tell their coefficients apart.
ALIKE: Final = 0.01


def sizes(known: RobotKnowledge, j: int) -> Floats:
    """The value of each coefficient that would give joint j's friction at half the speed seen, (own,).

    Alone, or with those that a joint which slides does not tell from it, such as stops: they share its square, so that
    together they are as large. For a joint that never moved and has no friction so far: its deviation by the prior.
    """
    if j not in known.sizes:
        known.sizes[j] = _sizes(known, j)
    return known.sizes[j]


def _sizes(known: RobotKnowledge, j: int) -> Floats:
    slow, columns = np.abs(known.friction_columns(j, np.array(SPEEDS) * known.reach[j]))
    place = known.friction_terms(j)
    theta = np.abs(known.theta[place])
    torque = float(columns @ theta)
    if not theta.any():
        return np.asarray(np.sqrt(np.diag(known.prior)[place]))
    alike = [np.isclose(one[:, np.newaxis], one, rtol=ALIKE, atol=0.0) for one in (slow, columns)]
    share = np.sqrt(np.logical_and(*alike).sum(axis=1))
    alone = np.where(columns > 0.0, torque / np.where(columns > 0.0, columns, 1.0), 0.0)
    return np.asarray(np.maximum(alone / share, theta))


def brakes(known: RobotKnowledge, j: int, change: Floats, deviations: Floats) -> bool:
    """Whether joint j's friction still brakes after a change of its coefficients; deviations: (own,) of it."""
    columns = known.friction_columns(j, np.array(SPEEDS) * known.reach[j])
    slack = DOUBT * np.sqrt((columns**2) @ deviations**2)
    return bool((columns @ (known.theta[known.friction_terms(j)] + change) >= -slack).all())


@dataclass(frozen=True, slots=True)
class JointFriction(Cause):
    """The friction of these joints, each coefficient by itself."""

    joints: tuple[int, ...]
    name: str = "friction"
    looks: int = LOOKS

    def places(self, known: RobotKnowledge) -> Integers:
        """Coefficients of the laws, joint by joint."""
        return np.concatenate([known.friction_terms(j) for j in self.joints])

    def prior(self, known: RobotKnowledge) -> Floats:
        """Each may change the friction by CHANGES."""
        return self.root(known) ** 2

    def root(self, known: RobotKnowledge) -> Floats:
        """The root of the prior, which is diagonal.

        Of a joint that has moved one way only, friction and a torque that acts on it, such as a zero that creeps, are
        one, as long as the latter may be a push.
        """
        pushed = known.one_way & (known.looks < LASTS and not known.starting)
        return np.diag(np.concatenate([CHANGES * sizes(known, j) * (not pushed[j]) for j in self.joints]))

    def possible(self, known: RobotKnowledge, values: Floats, deviations: Floats) -> bool:
        """Whether friction brakes everywhere."""
        ends = np.cumsum([len(known.friction_terms(j)) for j in self.joints])[:-1]
        parts = zip(self.joints, np.split(values, ends), np.split(deviations, ends), strict=True)
        return all(brakes(known, j, change, spread) for j, change, spread in parts)

    def words(self, known: RobotKnowledge, fitted: Fitted) -> str:
        """Coefficients before and after, of one joint; of several their names."""
        return _words(known, self.joints, fitted.moved)


@dataclass(frozen=True, slots=True)
class CommonFriction(Cause):
    """The friction of all joints by one factor for each kind of coefficient: temperature, grease."""

    joints: tuple[int, ...]
    name: str = "friction"
    looks: int = LOOKS

    def places(self, known: RobotKnowledge) -> None:
        """They move together."""

    def moves(self, known: RobotKnowledge) -> Floats:
        """One column for each kind of coefficient: all of that kind, as they are."""
        kinds = known.model.kinds
        found = np.zeros((known.columns.size, len(kinds)))
        for k, places in enumerate(kinds):
            found[places, k] = known.theta[places]
        there = found.any(axis=0)
        return found[:, there] if there.any() else found

    def prior(self, known: RobotKnowledge) -> Floats:
        """Each kind may change by CHANGES of itself."""
        return CHANGES**2 * np.eye(self.moves(known).shape[1])

    def possible(self, known: RobotKnowledge, values: Floats, deviations: Floats) -> bool:
        """Whether none of them is negative."""
        return bool((values >= -1.0 - DOUBT * deviations).all())

    def words(self, known: RobotKnowledge, fitted: Fitted) -> str:
        """Names the joints whose friction has changed."""
        return _words(known, self.joints, fitted.moved)


def share_of_friction(name: str, change: float, before: float) -> str:
    """A joint's change of friction in words; a joint that had none has infinitely more."""
    return f"{name} {100.0 * change / before if before else np.inf:+.0f} %"


def _words(known: RobotKnowledge, joints: tuple[int, ...], moved: Floats) -> str:
    names = known.model.robot.names
    if len(joints) == 1:
        own = known.friction_terms(joints[0])
        before = known.theta[own]
        changes = in_words(known.model.law_of(joints[0]), before, before + moved[own])
        return f"the friction of {names[joints[0]]} has changed: {changes}"
    shares = []
    for j in joints:
        columns, places = known.friction_columns(j, np.array([SPEEDS[1] * known.reach[j]]))[0], known.friction_terms(j)
        torque, change = float(columns @ known.theta[places]), float(columns @ moved[places])
        shares.append(share_of_friction(names[j], change, torque))
    return f"the friction of {len(joints)} joints has changed, at half their speed: {', '.join(shares)}"


def in_words(law: FrictionLaw, before: Floats, after: Floats) -> str:
    """Sentence about a changed friction, coefficient by coefficient of its law."""
    each = zip(law.parameters, before, after, strict=True)
    return ", ".join(f"{one.name} {old:.3g} → about {new:.3g} {one.unit}" for one, old, new in each)
