"""Back-and-forth trajectories: triangular velocity, or triangular position with rounded corners.

Both are a trapezoidal velocity: from −V to V in the ramp time r, flat, and back, period T. r = T/2 is the triangular
velocity; a short r the triangular position. At t = 0 the velocity is zero and rising, the position at its lowest.
"""

import math
from typing import Literal

import numpy as np
from pydantic import Field

from hil_rig.plants.base import Floats, FrozenSettings
from hil_rig.plants.jit import inline

DITHER = (0.012, 1.1, 0.004, 2.3, 0.0015, 3.7)  # rad, Hz, …: improves the condition at the price of some shaking


class Trajectory(FrozenSettings):
    """The motion that the joint is commanded to follow."""

    kind: Literal["velocity", "position"] = "velocity"  # which of the two is triangular
    speed: float = Field(default=1.0, gt=0, description="rad/s, peak")
    period: float = Field(default=8.0, gt=0, description="s")
    corner: float = Field(default=0.1, gt=0, description="s that a reversal of the triangular position takes")
    dither: float = Field(default=0.0, ge=0, description="× (12, 4, 1.5 mrad at 1.1, 2.3, 3.7 Hz)")

    def constants(self) -> Floats:
        """V, T, r, dither: what `reference` reads."""
        half = self.period / 2
        ramp = half if self.kind == "velocity" else min(self.corner, half)
        return np.array([self.speed, self.period, ramp, self.dither])

    def lowest(self) -> float:
        """Position at t = 0, rad."""
        speed, period, ramp, _ = self.constants()
        return float(-speed * (period / 2 - ramp / 2) / 2)


@inline
def reference(constants: Floats, t: float) -> tuple[float, float]:
    """Position (rad) and velocity (rad/s) at time t (s)."""
    speed, half, ramp = constants[0], constants[1] / 2, constants[2]
    whole = speed * (half - ramp / 2)
    s = t % (2 * half)
    sign = 1.0
    if s >= half:
        s -= half
        sign = -1.0
    if s < ramp / 2:
        velocity, way = 2 * speed * s / ramp, speed * s * s / ramp
    elif s < half - ramp / 2:
        velocity, way = speed, speed * (s - ramp / 4)
    else:
        velocity, way = 2 * speed * (half - s) / ramp, whole - speed * (half - s) * (half - s) / ramp
    position = sign * (way - whole / 2)
    velocity *= sign
    if constants[3] > 0:
        for i in range(3):
            amplitude, omega = constants[3] * DITHER[2 * i], 2 * math.pi * DITHER[2 * i + 1]
            position += amplitude * math.sin(omega * t)
            velocity += amplitude * omega * math.cos(omega * t)
    return position, velocity
