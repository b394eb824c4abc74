"""Cause: one possible origin of a residual torque, which competes with the others.

A cause says which columns it moves and how far it usually moves them (its prior), what is physically possible, and
after how many looks it may be reported.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.robots.whole_robot import WholeRobot
from estimators.numerics.nnls import Integers
from estimators.online.robot.findings.columns import CauseColumns
from estimators.online.robot.findings.friction_terms import law_columns, law_terms, own_terms
from estimators.quantities import Floats

#: deviations, argued: Deviations by which a bound may seem to be passed.
DOUBT: Final = 3.0
#: 1, argued: Share of an applied cause that is left at most when it is over.
GONE_BELOW: Final = 0.3
#: looks, argued: Looks in a row that must agree on a lasting cause: two seconds, in which a payload has shown itself.
LOOKS: Final = 4


@dataclass(frozen=True, slots=True)
class RobotKnowledge:
    """What is known of the robot when causes are compared."""

    model: WholeRobot
    columns: CauseColumns
    theta: Floats  # (q,) with the lags
    root: Floats  # (q, q) L of its covariance L Lᵀ
    prior: Floats  # (q, q) of θ before any motion
    reach: Floats  # (n,) rad/s (m/s) of the motion that was taught
    held: Floats  # (columns,) coefficients of what is applied in addition to the model
    bodies: Floats  # (n, 10) standard parameters of the links, without it
    starting: bool  # what is found now may have been there before
    looks: int  # since something has been unexplained
    one_way: NDArray[np.bool_]  # (n,) joints that have moved one way only since
    sizes: dict[int, Floats] = field(default_factory=dict)  # of each joint's friction, once they are asked for

    @property
    def carried(self) -> Floats:
        """The payload that is carried, (10,); 0 where none is."""
        return self.held[self.columns.body]

    def friction_terms(self, j: int) -> Integers:
        """Places in θ of joint j's friction law, without offset and rotor."""
        return law_terms(self.model, j)

    def offset_term(self, j: int) -> int:
        """Place in θ of joint j's offset."""
        return int(own_terms(self.model, j)[len(self.model.law_of(j).parameters)])

    def friction_columns(self, j: int, speeds: Floats) -> Floats:
        """Columns of joint j's friction at speeds (k,): half the difference of forth and back, (k, own)."""
        start, kept = self.model.law_of(j).start, self.model.at_speeds
        now = speeds.tobytes(), start.tobytes()
        if kept.get((j, len(speeds)), (None, None))[0] != now:
            kept[j, len(speeds)] = now, law_columns(self.model, j, speeds)
        return kept[j, len(speeds)][1]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A cause with the coefficients that one window gives it."""

    cause: "Cause"
    values: Floats  # (k,)
    covariance: Floats  # (k, k)
    evidence: float  # nats compared with no cause at all
    moves: Floats  # (columns, k)

    @property
    def moved(self) -> Floats:
        """Change of ψ by it, (columns,)."""
        return np.asarray(self.moves @ self.values)

    def possible(self, known: RobotKnowledge) -> bool:
        """Whether the cause can have these coefficients."""
        return self.cause.possible(known, self.values, np.sqrt(np.diag(self.covariance)))

    @property
    def spread(self) -> Floats:
        """Covariance of that, (columns, columns)."""
        return np.asarray(self.moves @ self.covariance @ self.moves.T)


class Prepared(NamedTuple):
    """A cause as it is fitted now."""

    cause: "Cause"
    root: Floats  # (k, k) L of its prior L Lᵀ
    places: Integers | None  # (k,) of the columns, where each moves alone
    together: Floats | None  # (columns, k) that it moves, where they do not

    @classmethod
    def of(cls, cause: "Cause", known: RobotKnowledge) -> "Prepared":
        """Prepare a cause with what is known now."""
        places = cause.places(known)
        return cls(cause, cause.root(known), places, cause.moves(known) if places is None else None)


class Cause:
    """One cause of the catalogue; unless it says otherwise, it may last for ever and have any coefficients."""

    name: str  # its kind: payload, friction, …; causes of one name do not compete for being named
    joints: tuple[int, ...]  # the joints that it names; empty for a cause of the whole robot
    looks: int  # looks in a row that must agree before it is reported
    rarity: float = 0.0  # nats that its evidence is reduced by, as it is so much rarer than the others
    simpler: str = ""  # name of its special case, which is reported where rows show no more than that
    any_size: bool = False  # whether it may be larger than its prior by any factor: each size is then as likely

    @property
    def forms(self) -> tuple["Cause", ...]:
        """Causes of the same name and joints that more motion may show it to be, itself among them."""
        return (self,)

    def places(self, known: RobotKnowledge) -> Integers | None:
        """Columns whose coefficients it changes one by one, (k,); None where it changes them together."""
        raise NotImplementedError

    def moves(self, known: RobotKnowledge) -> Floats:
        """Columns whose coefficients it changes together, (columns, k)."""
        places = self.places(known)
        assert places is not None
        found = np.zeros((known.columns.size, len(places)))
        found[places, np.arange(len(places))] = 1.0
        return found

    def prior(self, known: RobotKnowledge) -> Floats:
        """Covariance of its coefficients, (k, k)."""
        raise NotImplementedError

    def root(self, known: RobotKnowledge) -> Floats:
        """L of that, L Lᵀ; (k, k)."""
        prior = self.prior(known)
        return np.sqrt(prior) if len(prior) == 1 else np.asarray(np.linalg.cholesky(prior), np.float64)

    def lasts(self, looks: int, starting: bool) -> bool:
        """Whether it may last for so many looks; starting: the disturbance may have begun before the start."""
        return True

    def possible(self, known: RobotKnowledge, values: Floats, deviations: Floats) -> bool:
        """Whether these coefficients (k,) are physically possible within their deviations."""
        return True

    def is_over(self, known: RobotKnowledge, before: Floats, change: Floats) -> bool:
        """Whether the change (k,) takes off all of an applied cause; before: (k,) its coefficients."""
        return float(np.linalg.norm(before + change)) < GONE_BELOW * float(np.linalg.norm(before))

    def main_size(self, fitted: Fitted) -> tuple[float, float]:
        """The number that a joint's record shows, and its deviation: by default the first coefficient."""
        return float(fitted.values[0]), float(np.sqrt(fitted.covariance[0, 0]))

    def words(self, known: RobotKnowledge, fitted: Fitted) -> str:
        """Sentence for a person."""
        raise NotImplementedError
