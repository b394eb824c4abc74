"""Back-and-forth trajectories: triangular velocity, or triangular position with rounded corners.

Both have a trapezoidal velocity with period T: from −V to V in the ramp time r, constant, and back. r = T/2 gives the
triangular velocity, a short r the triangular position. At t = 0 the velocity is zero and rising, and the position is at
its lowest.
"""

import math
from typing import Literal

import numpy as np
from pydantic import Field

from hil_rig.plants.base import Floats, FrozenSettings
from hil_rig.plants.jit import inline

DITHER = (0.012, 1.1, 0.004, 2.3, 0.0015, 3.7)  # rad, Hz, …: improves excitation at the price of some vibration


class Trajectory(FrozenSettings):
    """The reference motion of the joint."""

    kind: Literal["velocity", "position"] = "velocity"  # which of them is triangular
    speed: float = Field(default=1.0, gt=0, description="rad/s, peak")
    period: float = Field(default=8.0, gt=0, description="s")
    corner: float = Field(default=0.1, gt=0, description="s, duration of a reversal of the triangular position")
    dither: float = Field(default=0.0, ge=0, description="× (12, 4, 1.5 mrad at 1.1, 2.3, 3.7 Hz)")

    def constants(self) -> Floats:
        """The constants of `reference`: V, T, r, dither."""
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
