"""Random point-to-point motion: smooth moves between targets, each as fast as the limits allow, with rests between."""

from typing import Final

import numpy as np
from pydantic import Field

from hil_rig.plants.base import Floats, FrozenSettings
from hil_rig.plants.jit import inline

LEGS: Final = 4096  # number of moves before the motion repeats: more than an hour
PEAK_SPEED: Final = 1.875  # of s = 10x³ − 15x⁴ + 6x⁵, in distance/duration
PEAK_ACCELERATION: Final = 10.0 / np.sqrt(3.0)  # in distance/duration²


class PointToPoint(FrozenSettings):
    """The range, speed and rest of the motion."""

    reach: float = Field(default=1.0, gt=0, description="rad to either side of the centre")
    speed: float = Field(default=1.5, gt=0, description="rad/s at most")
    acceleration: float = Field(default=8.0, gt=0, description="rad/s² at most")
    rest: float = Field(default=0.1, ge=0, description="s between moves")

    def table(self, rng: np.random.Generator, centre: float = 0.0) -> Floats:
        """Draw the moves, (LEGS + 1, 3): start, s, previous target, rad, duration, s; the last row closes the cycle."""
        points = centre + rng.uniform(-self.reach, self.reach, LEGS + 1)
        points[-1] = points[0]
        distance = np.abs(np.diff(points))
        duration = np.maximum(
            PEAK_SPEED * distance / self.speed, np.sqrt(PEAK_ACCELERATION * distance / self.acceleration)
        )
        duration = np.append(np.maximum(duration, 1e-3), 0.0)
        starts = np.concatenate([[0.0], np.cumsum(duration[:-1] + self.rest)])
        return np.column_stack([starts, points, duration])


@inline
def target(table: Floats, leg: int, time: float) -> tuple[int, float, float]:
    """Return the number of the move at a time (s), position (rad) and velocity (rad/s).

    leg: number of the previous move.
    """
    last = len(table) - 1
    t = time % table[last, 0]
    i = leg
    if t < table[i, 0]:
        i = 0
    while i < last - 1 and t >= table[i + 1, 0]:
        i += 1
    way, duration = table[i + 1, 1] - table[i, 1], table[i, 2]
    x = (t - table[i, 0]) / duration
    if x >= 1.0:
        return i, table[i + 1, 1], 0.0
    s = x * x * x * (10.0 + x * (6.0 * x - 15.0))
    return i, table[i, 1] + way * s, way * 30.0 * x * x * (1.0 + x * (x - 2.0)) / duration
