"""A rigid joint under a position controller: J·q̈ = τ − Fv·q̇ − Fc·sign(q̇) − offset − A·sin q − B·cos q − R·sin(n q).

Fc may depend on the joint's temperature T, Fc + c·(T − 20 °C), which rises like that of a body with constant heating.

Integration: leapfrog at 20 kHz (positions on the step, velocities between the steps), the velocity on the step
predicted for the damping; dry friction removes at most the present momentum, so the joint really sticks. A sample
contains the torque at that instant, and central differences of the positions satisfy the equation exactly.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from pydantic import Field as Setting

from hil_rig.messages import Message, MessageField
from hil_rig.plants.base import Floats, Jump, Parameters, PlantSettings, Role, SimulatedPlant, encoder
from hil_rig.plants.jit import kernel
from hil_rig.plants.trajectory import Trajectory, reference
from jointwatch_numba.layout import Layout

SUBSTEPS: Final = 20  # per sample
COLD: Final = 20.0  # °C
MODEL: Final = {"kind": "rigid", "gravity_sin": True, "gravity_cos": True}
ARM: Final = 7  # number of joints; further joints form another arm of the same size
COLUMNS: Final = ("position", "velocity", "acceleration", "torque")  # of `exact`


class RigidPlantSettings(PlantSettings):
    """A joint of a middle-sized arm; units: kg·m², N·m·s/rad, N·m."""

    inertia: float = Setting(default=2.0, gt=0)
    viscous: float = Setting(default=8.0, ge=0)
    coulomb: float = Setting(default=5.0, ge=0)
    offset: float = -1.5
    gravity_sin: float = 12.0
    gravity_cos: float = 3.0
    ripple: float = Setting(default=0.0, description="R, N·m")
    ripples: float = Setting(default=2.0, gt=0, description="n, cycles a turn")
    coulomb_temperature: float = Setting(default=0.0, le=0, description="c, N·m/K; not 0: there is a thermometer")
    rise: float = Setting(default=15.0, ge=0, le=60, description="K above 20 °C, at the end …")
    heating: float = Setting(default=300.0, gt=0, description="… and s in which 63 % of it have come")
    trajectory: Trajectory = Trajectory()
    rate: float = Setting(default=1000.0, gt=0, description="Hz")
    stiffness: float = Setting(default=4000.0, gt=0, description="N·m/rad, of the controller")
    damping: float = Setting(default=200.0, ge=0, description="N·m·s/rad, of the controller")
    encoder_bits: int = Setting(default=20, ge=8, le=28)
    torque_constant: float = Setting(default=8.0, gt=0, description="N·m/A")
    torque_noise: float = Setting(default=0.2, ge=0, description="N·m, standard deviation, white")

    def build(self, node: int, seed: int, jumps: Sequence[Jump]) -> "RigidPlant":
        """Build a joint: each further joint of an arm is smaller, and its motion has its own, slightly longer
        period."""
        names = (
            "inertia",
            "viscous",
            "coulomb",
            "offset",
            "gravity_sin",
            "gravity_cos",
            "ripple",
            "coulomb_temperature",
        )
        arm, place = divmod(node - 1, ARM)
        size = 0.75**place
        values = {name: size * float(getattr(self, name)) for name in names}
        trajectory = self.trajectory.model_copy(
            update={"period": self.trajectory.period * (1 + 0.1 * place + 0.01 * arm)}
        )
        smaller = {"stiffness": size * self.stiffness, "damping": size * self.damping}
        smaller |= {"torque_noise": size * self.torque_noise}
        return RigidPlant(self.model_copy(update=values | smaller | {"trajectory": trajectory}), node, seed, jumps)


class RigidState(Layout):
    """The state of motion of a rigid joint."""

    position: float  # rad
    between: float = 0.0  # rad/s, half a step ago
    acceleration: float = 0.0  # rad/s²
    time: float = 0.0  # steps


class RigidPlant(SimulatedPlant):
    """One rigid joint in motion."""

    columns, substeps = len(COLUMNS), SUBSTEPS

    def __init__(self, settings: RigidPlantSettings, node: int, seed: int, jumps: Sequence[Jump]) -> None:
        self.rate = settings.rate
        self._settings = settings
        names = ("inertia", "viscous", "coulomb", "offset", "gravity_sin", "gravity_cos")
        values = {name: float(getattr(settings, name)) for name in names}
        self.physics = Parameters(values, settings.rate, jumps, {"linear": names})
        one, warms = settings, settings.coulomb_temperature != 0.0
        self._control = np.array(
            [one.stiffness, one.damping, one.ripple, one.ripples, one.coulomb_temperature, one.rise, one.heating]
        )
        terms = ({"ripple": (one.ripples,)} if one.ripple else {}) | ({"temperature": COLD} if warms else {})
        self.model: Mapping[str, Any] = MODEL | terms
        self._trajectory = settings.trajectory.constants()
        self._state = RigidState(position=settings.trajectory.lowest())
        self._rng = np.random.default_rng([seed, node])
        counts = 1 << settings.encoder_bits
        fields = (MessageField("position", 32, "counts", counts_per_rev=counts), MessageField("current", 16, "A", 1e-3))
        self.messages: tuple[Message, ...] = (Message("STATE", fields),)
        self.roles: Mapping[str, Role] = {
            "position": Role("STATE.position"),
            "torque": Role("STATE.current", settings.torque_constant),
        }
        if warms:
            self.messages += (Message("WARMTH", (MessageField("temperature", 16, "°C", 0.1),), rank=1),)
            self.roles = {**self.roles, "temperature": Role("WARMTH.temperature")}

    def integrate(self, step: float, out: Floats) -> None:
        _run(self.physics.values, self._control, self._trajectory, step, self._state, out)

    def rows(self, count: int) -> Floats:
        """Return (count, 2 or 3): position (rad), current (A), and with a thermometer the temperature (°C)."""
        t = (self._state.time / SUBSTEPS + np.arange(count)) / self.rate
        exact, one = self.exact(count), self._settings
        noise = self._settings.torque_noise * self._rng.standard_normal(count)
        position = encoder(exact[:, 0], self._settings.encoder_bits)
        warmth = (COLD + one.rise * (1.0 - np.exp(-t / one.heating)),) * (one.coulomb_temperature != 0.0)
        return np.column_stack((position, (exact[:, 3] + noise) / one.torque_constant, *warmth))

    def truth(self) -> Mapping[str, float]:
        """Return the parameters, and the ripple if there is one."""
        one = self._settings
        name = f"ripple{one.ripples:.8g}".replace(".", "_")
        ripple = {f"{name}_sin": one.ripple, f"{name}_cos": 0.0} if one.ripple else {}
        warmth = {"coulomb_temperature": one.coulomb_temperature, "viscous_temperature": 0.0}
        return self.physics.as_dict() | ripple | (warmth if one.coulomb_temperature else {})

    def parameters(self) -> Mapping[str, float]:
        """Return the true parameters."""
        return self.truth()


@kernel(("f8[::1]", "f8[::1]", "f8[::1]", "f8", RigidState, "f8[:, ::1]"))
def _run(parameters: Floats, control: Floats, trajectory: Floats, step: float, state: RigidState, out: Floats) -> None:
    J, Fv, Fc, offset, A, B = parameters
    kp, kd, ripple, ripples, slope, rise, heating = control
    for row in range(len(out)):
        dry = max(Fc + slope * rise * (1.0 - np.exp(-state.time * step / heating)), 0.0)
        for substep in range(SUBSTEPS):
            q, between = state.position, state.between
            v = between + step / 2 * state.acceleration
            wanted, speed = reference(trajectory, state.time * step)
            torque = kp * (wanted - q) + kd * (speed - v)
            wave = ripple * np.sin(ripples * q)
            free = between + step / J * (torque - Fv * v - offset - A * np.sin(q) - B * np.cos(q) - wave)
            after = free - np.sign(free) * min(abs(free), step / J * dry)
            state.acceleration = (after - between) / step
            if substep == 0:
                out[row, 0] = q
                out[row, 1] = (between + after) / 2
                out[row, 2] = state.acceleration
                out[row, 3] = torque
            state.position = q + step * after
            state.between = after
            state.time += 1.0  # counted in steps, which is exact for centuries
