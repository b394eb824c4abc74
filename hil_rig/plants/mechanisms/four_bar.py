"""A four-bar linkage with one drive, whose four pins have friction that depends on their forces, in real time.

The bars are crank A–B, coupler B–C and rocker C–D; A and D are on the base. C is the intersection of two circles, so
the loop is closed exactly, and speeds and accelerations have closed forms. Newton's and Euler's equations of the three
bars give the crank's acceleration and the four pins' forces: nine equations for nine unknowns. Gravity acts along −y.
"""

from collections.abc import Sequence
from typing import Annotated, Final

import numpy as np
from pydantic import Field as Setting

from hil_rig.plants.base import Floats, Jump, Parameters, Plant, PlantSettings, RigError, SimulatedPlant
from hil_rig.plants.jit import inline, kernel
from hil_rig.plants.mechanisms.newton_euler import solve
from hil_rig.plants.mechanisms.shared import Driven, Shared
from jointwatch_numba.layout import Layout, Vector

SUBSTEPS: Final = 2  # per sample
EPSILON: Final = 1e-3  # rad/s
GRAVITY: Final = 9.81  # m/s²
CRANK, COUPLER, ROCKER, BASE = 0.1, 0.28, 0.22, 0.3  # m, between the pins
LENGTHS: Final = np.array([CRANK, COUPLER, ROCKER, BASE])
MASSES: Final = np.array([0.8, 1.6, 1.2])  # kg, of crank, coupler and rocker
CENTRES: Final = np.array([0.04, 0.15, 0.11])  # m, of mass, along the bar from A, B and D
INERTIAS: Final = np.array([0.001, 0.011, 0.005])  # kg·m², about the centre of mass
FRICTION: Final = ("pin", "mu", "viscous")
PINS: Final = 4
UNKNOWN: Final = 9  # the crank's acceleration, and two forces of each pin


class FourBarSettings(PlantSettings):
    """Friction, equal for all pins, and motion of the crank."""

    pin: float = Setting(default=0.01, gt=0, description="radius of the pins, m")
    mu: float = Setting(default=0.08, ge=0, le=0.3, description="friction coefficient of the pins")
    viscous: float = Setting(default=0.005, ge=0, description="N·m·s/rad of each pin")
    amplitude: float = Setting(default=1.3, gt=0, le=20.0, description="rad, of the crank")
    frequency: float = Setting(default=0.4, gt=0, description="Hz")
    centre: float = Setting(default=0.4, description="rad, of the crank")
    rate: float = Setting(default=1000.0, gt=0, description="Hz")
    bits: int = Setting(default=20, ge=8, le=28)
    torque_noise: float = Setting(default=0.005, ge=0, description="N·m, standard deviation, white")

    def robot(self, joints: int, seed: int, jumps: Sequence[Jump]) -> dict[str, Plant]:
        """Build the only driven joint."""
        if joints != 1:
            raise RigError(f"expected --joints 1, since this mechanism has one drive, found --joints {joints}")
        noise, rng = np.array([0.0, self.torque_noise]), np.random.default_rng([seed, 1])
        model = {"kind": "rigid", "gravity_sin": True, "gravity_cos": True}
        shared = Shared(FourBar(self, jumps), 1)
        return {"joint1": Driven(shared, 0, self.rate, self.bits, noise, (0, 1), (), rng, model)}


class FourBarState(Layout):
    """The state of motion of the linkage."""

    forces: Annotated[Vector, "components"]  # N, x and y of pins A, B, C, D, in the previous step
    angle: float  # rad, of the crank
    speed: float  # rad/s
    time: float = 0.0  # steps


class FourBar(SimulatedPlant):
    """The simulation; columns: the crank's angle, torque and speed, then x and y of the forces of pins A, B, C, D (N).

    A pin's force acts from its first bar on its second, or from the base on the bar: A and D push crank and rocker.
    """

    columns, substeps = 11, SUBSTEPS

    def __init__(self, settings: FourBarSettings, jumps: Sequence[Jump]) -> None:
        values = {name: float(getattr(settings, name)) for name in FRICTION}
        self.physics = Parameters(values, settings.rate, jumps, {"friction": ("mu",)})
        self.rate = settings.rate
        self._motion = np.array([settings.centre, settings.amplitude, 2 * np.pi * settings.frequency])
        self._state = FourBarState.zeros(components=2 * PINS)
        angle, speed, _ = _wanted(self._motion, 0.0)
        self._state.angle, self._state.speed = angle, speed

    def integrate(self, step: float, out: Floats) -> None:
        _run(self.physics.values, self._motion, step, self._state, out)


@kernel("UniTuple(f8, 3)(f8[::1], f8)")
def _wanted(motion: Floats, time: float) -> tuple[float, float, float]:
    """Reference angle, speed and acceleration of the crank."""
    centre, amplitude, omega = motion
    first, second = omega * time, 2.7 * omega * time
    angle = centre + amplitude * (np.sin(first) + 0.3 * np.sin(second))
    speed = amplitude * omega * (np.cos(first) + 0.81 * np.cos(second))
    return angle, speed, -amplitude * omega**2 * (np.sin(first) + 2.187 * np.sin(second))


@inline
def _angles(theta: float) -> tuple[float, float]:
    """Angles of coupler and rocker, with C above the line from B to D."""
    x, y = BASE - CRANK * np.cos(theta), -CRANK * np.sin(theta)
    far = np.sqrt(x * x + y * y)
    along = (COUPLER**2 - ROCKER**2 + far**2) / (2.0 * far)
    off = np.sqrt(COUPLER**2 - along**2)
    cx, cy = (along * x - off * y) / far, (along * y + off * x) / far  # C from B
    return np.arctan2(cy, cx), np.arctan2(cy - y, cx - x)


@inline
def _turning(a: Floats, w: Floats, ratio: Floats, bias: Floats) -> None:
    """Fill the bars' speeds w[1:] from w[0], and their accelerations ratio α + bias, at angles a."""
    across_rocker, across_coupler = np.sin(a[2] - a[1]), np.sin(a[1] - a[2])
    ratio[0], bias[0] = 1.0, 0.0
    ratio[1] = -CRANK * np.sin(a[2] - a[0]) / (COUPLER * across_rocker)
    ratio[2] = CRANK * np.sin(a[1] - a[0]) / (ROCKER * across_coupler)
    w[1], w[2] = ratio[1] * w[0], ratio[2] * w[0]
    c1, c2, c3 = CRANK * w[0] ** 2, COUPLER * w[1] ** 2, ROCKER * w[2] ** 2
    bias[1] = (c1 * np.cos(a[2] - a[0]) + c2 * np.cos(a[2] - a[1]) - c3) / (COUPLER * across_rocker)
    bias[2] = (c3 * np.cos(a[1] - a[2]) - c1 * np.cos(a[1] - a[0]) - c2) / (ROCKER * across_coupler)


@inline
def _rub(numbers: Floats, forces: Floats, w: Floats, rub: Floats) -> None:
    """Fill the friction of pins A, B, C, D, N·m, of the bar after each pin relative to the one before it."""
    pin, mu, viscous = numbers
    turning = (w[0], w[1] - w[0], w[1] - w[2], w[2])
    for k in range(PINS):
        size = np.sqrt(forces[2 * k] ** 2 + forces[2 * k + 1] ** 2)
        rub[k] = mu * pin * size * np.tanh(turning[k] / EPSILON) + viscous * turning[k]


@inline
def _equations(a: Floats, w: Floats, ratio: Floats, bias: Floats, rub: Floats, M: Floats, b: Floats) -> None:
    """Fill M (9, 9) and b (9,) of M (α, A, B, C, D) = b without the drive's torque.

    Pin forces act on the crank as A − B, on the coupler as B − C, on the rocker as D + C.
    """
    M[:], b[:] = 0.0, 0.0
    tip_x, tip_y = -np.sin(a[0]) * CRANK, np.cos(a[0]) * CRANK  # of B, per α
    in_x, in_y = -np.cos(a[0]) * CRANK * w[0] ** 2, -np.sin(a[0]) * CRANK * w[0] ** 2
    for bar in range(3):
        s, c, far = np.sin(a[bar]), np.cos(a[bar]), CENTRES[bar]
        at_x, at_y = -s * far * ratio[bar], c * far * ratio[bar]
        own_x, own_y = -s * far * bias[bar] - c * far * w[bar] ** 2, c * far * bias[bar] - s * far * w[bar] ** 2
        if bar == 1:
            at_x, at_y, own_x, own_y = at_x + tip_x, at_y + tip_y, own_x + in_x, own_y + in_y
        m, row = MASSES[bar], 3 * bar
        M[row, 0], b[row] = m * at_x, -m * own_x
        M[row + 1, 0], b[row + 1] = m * at_y, -m * (own_y + GRAVITY)
        M[row + 2, 0], b[row + 2] = INERTIAS[bar] * ratio[bar], -INERTIAS[bar] * bias[bar]
        first = 0 if bar == 0 else (1 if bar == 1 else 3)
        second = bar + 1 if bar < 2 else 2
        sign = -1.0 if bar < 2 else 1.0
        for pin, way, arm in ((first, 1.0, -far), (second, sign, LENGTHS[bar] - far)):
            column = 1 + 2 * pin
            M[row, column] -= way
            M[row + 1, column + 1] -= way
            M[row + 2, column] += way * arm * s
            M[row + 2, column + 1] -= way * arm * c
    b[2] += -rub[0] + rub[1]
    b[5] += -rub[1] - rub[2]
    b[8] += rub[2] - rub[3]


@kernel(("f8[::1]", "f8[::1]", "f8", FourBarState, "f8[:, ::1]"))
def _run(numbers: Floats, motion: Floats, step: float, state: FourBarState, out: Floats) -> None:
    a, w, ratio, bias, rub = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(PINS)
    M, b, bare, x = np.zeros((UNKNOWN, UNKNOWN)), np.zeros(UNKNOWN), np.zeros((UNKNOWN, UNKNOWN)), np.zeros(UNKNOWN)
    for row in range(len(out)):
        for substep in range(SUBSTEPS):
            a[0], w[0] = state.angle, state.speed
            a[1], a[2] = _angles(a[0])
            _turning(a, w, ratio, bias)
            _rub(numbers, state.forces, w, rub)
            _equations(a, w, ratio, bias, rub, M, b)
            wanted, speed, acceleration = _wanted(motion, state.time * step)
            asked = acceleration + 900.0 * (wanted - a[0]) + 60.0 * (speed - w[0])
            # the torque for this acceleration, from two solutions: without torque and with 1 N·m
            bare[:], x[:] = M, b
            solve(bare, x, UNKNOWN)
            free = x[0]
            bare[:], x[:] = M, b
            x[2] += 1.0
            solve(bare, x, UNKNOWN)
            drive = (asked - free) / (x[0] - free)
            x[:] = b
            x[2] += drive
            solve(M, x, UNKNOWN)
            for k in range(2 * PINS):
                state.forces[k] = x[1 + k]
            if substep == 0:
                out[row, 0], out[row, 1], out[row, 2] = a[0], drive, w[0]
                out[row, 3:11] = state.forces
            state.speed = w[0] + step * x[0]
            state.angle = a[0] + step * state.speed
            state.time += 1.0
