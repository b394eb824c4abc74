"""A rigid joint with effects that simple models omit: friction with memory, ripple, warming, a changing load, rest.

    J q̈ = τ − Fv q̇ − F(q̇, history) − offset − A sin q − B cos q − R sin(n q)

F is Coulomb friction that truly sticks; LuGre's bristles, F = σ0 z + σ1 ż with ż = q̇ − σ0 |q̇| z/g, g = Fc + (Fs − Fc)
exp(−(q̇/v_s)²) (Canudas de Wit, Olsson, Åström, Lischinsky, IEEE Trans. Autom. Control 40:419–425, 1995, equations
(1)–(3)); presliding hysteresis, springs in parallel that slip one after the other (Prandtl–Ishlinskii stops); or a law
without memory, F = Fc tanh(q̇/ω1) + C2 q̇ exp(−|q̇/v_s|), as identified with `tanh_stribeck`.
Integration as in rigid.py.
"""

from collections.abc import Sequence
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field

from hil_rig.plants.base import Floats, FrozenSettings, Jump, Parameters, SimulatedPlant
from hil_rig.plants.jit import kernel
from hil_rig.plants.trajectory import Trajectory, reference
from jointwatch_numba.layout import Layout, Vector

SUBSTEPS: Final = 20  # per sample
COLUMNS: Final = ("position", "velocity", "acceleration", "torque")  # of `exact`
KINDS: Final = ("sticks", "lugre", "stops", "stribeck")
STOPS: Final = ((0.4, 0.0015), (0.35, 0.008), (0.25, 0.04))  # share of Fc, rad at which each slips


class ImperfectSettings(FrozenSettings):
    """A joint of a middle-sized arm; units: kg·m², N·m·s/rad, N·m."""

    inertia: float = 2.0
    viscous: float = 8.0
    coulomb: float = 5.0
    offset: float = -1.5
    gravity_sin: float = 12.0
    gravity_cos: float = 3.0
    friction: Literal["sticks", "lugre", "stops", "stribeck"] = "sticks"
    bristle: float = Field(default=1000.0, gt=0, description="σ0, N·m/rad")
    bristle_damping: float = Field(default=5.0, ge=0, description="σ1, N·m·s/rad")
    breakaway: float = Field(default=6.5, gt=0, description="Fs, N·m")
    stribeck: float = Field(default=0.05, gt=0, description="v_s, rad/s")
    smooth: float = Field(default=0.05, gt=0, description="ω1, rad/s")
    extra: float = Field(default=0.0, ge=0, description="C2, N·m·s/rad")
    ripple: float = Field(default=0.0, description="R, N·m")
    ripples: float = Field(default=2.0, gt=0, description="n, a turn")
    warming: float = Field(default=0.0, ge=0, lt=1, description="share of Coulomb friction that is lost …")
    warm: float = Field(default=1800.0, gt=0, description="… until then, s, at a constant rate")
    rest: tuple[float, float] = Field(default=(1e9, 1e9), description="s, from the turn after the first to the second")
    trajectory: Trajectory = Trajectory()
    stiffness: float = Field(default=4000.0, gt=0, description="N·m/rad, of the controller")
    damping: float = Field(default=200.0, ge=0, description="N·m·s/rad, of the controller")


class ImperfectState(Layout):
    """The state of motion of the joint."""

    position: float  # rad
    between: float = 0.0  # rad/s, half a step ago
    acceleration: float = 0.0  # rad/s²
    time: float = 0.0  # steps
    bristle: float = 0.0  # rad, of LuGre's friction
    deflections: Annotated[Vector, "stops"]  # rad, of each stop


class Imperfect(SimulatedPlant):
    """One joint in motion, sampled at 1 kHz."""

    rate = 1000.0
    columns, substeps = len(COLUMNS), SUBSTEPS

    def __init__(self, settings: ImperfectSettings, jumps: Sequence[Jump] = ()) -> None:
        names = ("inertia", "viscous", "coulomb", "offset", "gravity_sin", "gravity_cos")
        values = {name: float(getattr(settings, name)) for name in names}
        self.physics = Parameters(values, self.rate, jumps, {"payload": ("inertia", "gravity_sin")})
        self._settings = settings
        one = settings
        bristles = (one.bristle, one.bristle_damping, one.breakaway / one.coulomb, one.stribeck)
        slow = one.warming / one.warm
        half = one.trajectory.period / 2.0
        rest = [half * np.ceil(end / half) for end in one.rest]
        self._constants = np.array(
            [one.stiffness, one.damping, KINDS.index(one.friction), *bristles, one.ripple, one.ripples, slow, one.warm]
            + rest
            + [one.smooth, one.extra]
        )
        self._trajectory = settings.trajectory.constants()
        self._state = ImperfectState.zeros(position=settings.trajectory.lowest(), stops=len(STOPS))
        self._stops = np.array(STOPS)

    def integrate(self, step: float, out: Floats) -> None:
        _run(self.physics.values, self._constants, self._trajectory, self._stops, step, self._state, out)

    def truth(self) -> dict[str, float]:
        """Return the values that a rigid model should find now."""
        now, one = self.physics.as_dict(), self._settings
        seconds = self._state.time / (self.rate * SUBSTEPS)
        now["coulomb"] *= 1.0 - one.warming * min(seconds / one.warm, 1.0)
        return now | (
            {"stribeck": one.extra, "omega_tanh": one.smooth, "omega_stribeck": one.stribeck}
            if one.friction == "stribeck"
            else {}
        )


@kernel(("f8[::1]", "f8[::1]", "f8[::1]", "f8[:, ::1]", "f8", ImperfectState, "f8[:, ::1]"))
def _run(
    parameters: Floats,
    constants: Floats,
    trajectory: Floats,
    stops: Floats,
    step: float,
    state: ImperfectState,
    out: Floats,
) -> None:
    J, Fv, Fc, offset, A, B = parameters
    kp, kd, kind, s0, s1, breakaway, vs, ripple, ripples, slow, warm, rest, moving, smooth, extra = constants
    for row in range(len(out)):
        for substep in range(SUBSTEPS):
            q, between, t = state.position, state.between, state.time * step
            v = between + step / 2 * state.acceleration
            wanted, speed = reference(trajectory, t if t < rest else rest + max(t - moving, 0.0))
            torque = kp * (wanted - q) + kd * (speed - v)
            coulomb = Fc * (1.0 - slow * min(t, warm))
            other = Fv * v + offset + A * np.sin(q) + B * np.cos(q) + ripple * np.sin(ripples * q)
            dry = 0.0
            if kind == 1:
                z, g = state.bristle, coulomb * (1.0 + (breakaway - 1.0) * np.exp(-((v / vs) ** 2)))
                rate = v - s0 * abs(v) / g * z
                dry = s0 * z + s1 * rate
                state.bristle = z + step * rate
            elif kind == 2:
                for i in range(len(stops)):
                    d = state.deflections[i] + step * v
                    d = min(max(d, -stops[i, 1]), stops[i, 1])
                    state.deflections[i] = d
                    dry += coulomb * stops[i, 0] * d / stops[i, 1]
            elif kind == 3:
                dry = coulomb * np.tanh(v / smooth) + extra * v * np.exp(-abs(v / vs))
            free = between + step / J * (torque - other - dry)
            after = free
            if kind == 0:
                after -= np.sign(free) * min(abs(free), step / J * coulomb)
            state.acceleration = (after - between) / step
            if substep == 0:
                out[row, 0] = q
                out[row, 1] = (between + after) / 2
                out[row, 2] = state.acceleration
                out[row, 3] = torque
            state.position = q + step * after
            state.between = after
            state.time += 1.0  # counted in steps, which is exact for centuries
