"""Places of each joint's friction in a whole robot's θ, and its columns at given speeds."""

import numpy as np

from estimators.models.robots.whole_robot import WholeRobot
from estimators.numerics.nnls import Integers
from estimators.online.robot.findings.friction_discrepancy import FrictionColumns
from estimators.quantities import Floats


def own_terms(model: WholeRobot, j: int) -> Integers:
    """Places in θ of joint j's own parameters: its friction law, offset, rotor, friction by twist."""
    return model.own[j]


def law_terms(model: WholeRobot, j: int) -> Integers:
    """Places in θ of joint j's friction law, without offset and rotor."""
    return own_terms(model, j)[: len(model.law_of(j).parameters)]


def law_columns(model: WholeRobot, j: int, speeds: Floats) -> Floats:
    """Columns of joint j's friction law at speeds (k,): half the difference of forth and back, (k, own)."""
    law, still = model.law_of(j), np.zeros(len(speeds))
    forth, back = (law.columns(still, sign * speeds, still, law.start) for sign in (1.0, -1.0))
    return np.asarray(0.5 * (forth - back))


def friction_columns(model: WholeRobot, speeds: Floats) -> list[FrictionColumns]:
    """Places in θ of each joint's friction law, and its columns at speeds (n, k)."""
    return [(law_terms(model, j), law_columns(model, j, own)) for j, own in enumerate(speeds)]
