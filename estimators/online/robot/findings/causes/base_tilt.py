"""A base that is tilted against the model's: gravity has another direction in its frame.

It competes from the first look on: a bolted base tilts permanently, a mobile one within a second.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from estimators.numerics.nnls import Integers
from estimators.online.robot.findings.causes.base import LOOKS, Cause, Fitted, RobotKnowledge
from estimators.online.robot.findings.columns import TILTS
from estimators.quantities import Floats

#: rad, argued: One deviation of a tilt about either axis: three degrees.
TILT: Final = 0.05
#: rad, argued: Beyond it the base is mounted in another way, and the columns, which are a derivative, do not hold.
MOST: Final = 0.5


@dataclass(frozen=True, slots=True)
class BaseTilt(Cause):
    """The base is tilted."""

    joints: tuple[int, ...] = ()
    name: str = "base_tilt"
    looks: int = LOOKS

    def places(self, known: RobotKnowledge) -> Integers:
        """Both axes."""
        return np.arange(known.columns.tilts.start, known.columns.tilts.stop)

    def prior(self, known: RobotKnowledge) -> Floats:
        """One deviation is TILT about each axis."""
        return TILT**2 * np.eye(TILTS)

    def possible(self, known: RobotKnowledge, values: Floats, deviations: Floats) -> bool:
        """Whether it is small."""
        return bool(np.linalg.norm(values) <= MOST)

    def words(self, known: RobotKnowledge, fitted: Fitted) -> str:
        """The tilt and its axes, as a sentence."""
        x, y = np.degrees(fitted.values)
        return f"the base is tilted by {x:+.2g}° about its x and {y:+.2g}° about its y"
