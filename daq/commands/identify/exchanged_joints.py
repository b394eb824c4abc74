"""Detects exchanged joints: a model that explains little, and far more if two joints exchange their columns."""

from collections.abc import Sequence
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.robots.description import RobotDescription
from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.least_squares import ordinary
from estimators.offline.robot.fit import relative_error
from estimators.offline.robot.motion import Piece
from estimators.offline.robot.rows import build

#: %, argued: Share of unexplained torque below which the model is good, and exchanged joints are not searched (n²
#: fits).
POOR: Final = 5.0
#: 1, argued: Of the error as the columns were named. With the right names it falls to that of noise and friction, a
#: tenth and less in simulations; a wrong exchange that happens to fit better does not halve it.
FAR_LESS: Final = 0.5
MOTION: Final = ("q", "dq", "ddq", "twist", "noise")  # of a Piece
EXCHANGED: Final = {"columns": (*MOTION, "tau"), "positions": MOTION}


class Exchange(NamedTuple):
    """Two joints, and the unexplained torque (%) as they were named and with their names exchanged."""

    joints: tuple[str, str]
    what: str  # what is exchanged: positions, torques or both
    error: float
    exchanged: float

    def __str__(self) -> str:
        return (
            f"the {self.what} of {' and '.join(self.joints)} look exchanged: with each other's names, "
            f"{self.exchanged:.3g} % of the torque is left unexplained instead of {self.error:.3g} %"
        )


def exchanged_joints(robot: RobotDescription, learnt: Sequence[Piece], error: float) -> Exchange | None:
    """The pair of joints that explain most of the torque if their columns are exchanged; None if there is no such pair.

    error: unexplained torque of the identified model, %.
    """
    if not error > POOR:
        return None
    found = []
    plain = _error(robot, learnt, np.arange(len(robot.joints)), ())
    for i, j in combinations(range(len(robot.joints)), 2):
        if robot.joints[i].axis is not robot.joints[j].axis:
            continue  # one is revolute and one prismatic: their units differ
        order = np.arange(len(robot.joints))
        order[[i, j]] = j, i
        for what, columns in EXCHANGED.items():
            names = robot.names[i], robot.names[j]
            found.append(Exchange(names, what, plain, _error(robot, learnt, order, columns)))
    best = min(found, key=lambda one: one.exchanged, default=None)
    return best if best is not None and best.exchanged < FAR_LESS * plain else None


def _error(robot: RobotDescription, learnt: Sequence[Piece], order: NDArray[np.int64], columns: Sequence[str]) -> float:
    """Unexplained torque, %, by ordinary least squares if the joints have these columns in this order."""
    pieces = [one._replace(**{name: getattr(one, name)[..., order] for name in columns}) for one in learnt]
    rows = build(WholeRobot(robot), pieces)
    theta = ordinary(rows.X[rows.moves], rows.y[rows.moves]).theta
    return relative_error(rows.y, rows.predicted(theta))
