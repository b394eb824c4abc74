"""An arm of rigid links with PID control, friction with an optional arctangent, pushes on joints, and a hose.

    M(q) q̈ + h(q, q̇) = τ − τ_f + push − k (q − rest)          τ = u − J q̈
    τ_f = f0 + fc tanh(q̇/ε) + fv q̇ + fa atan(fb q̇)

u is the torque of the controller, held for a sample; τ, the torque after the rotors J, is logged when it begins to act.
A sample takes ten semi-implicit steps.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final

import numpy as np

from hil_rig.plants.base import Floats, Jump, RigError, encoder
from hil_rig.plants.jit import kernel
from hil_rig.plants.robots.arm import Arm
from hil_rig.plants.robots.dynamics import (
    COSINE,
    GRAVITY,
    OFFSET,
    SINE,
    geometry,
    inverse,
    inverse_dynamics,
    mass_matrices,
    masses,
    place,
    scratch,
    solve,
)
from hil_rig.plants.robots.fourier import FourierSeries, reference
from jointwatch_numba.layout import Layout, Vector

SUBSTEPS: Final = 10  # per sample
SMOOTH: Final = 5e-3  # ε, rad/s
FRICTION: Final = ("offset", "coulomb", "viscous", "bend", "bend_rate", "push")  # f0, fc, fv, fa, fb, push: in order
HOSE: Final = ("spring", "rest")  # k in N·m/rad, and the angle at which it does not pull; columns after FRICTION
GROUPS: Final = {"linear": ("offset", "coulomb", "viscous", "bend"), "friction": ("coulomb", "viscous", "bend")}
# quantities of `exact`, each per joint
POSITION: Final = 0  # rad
SPEED: Final = 1  # rad/s
TORQUE: Final = 2  # N·m, after the rotor
DRAG: Final = 3  # N·m, friction


class RigidArmState(Layout):
    """The state of motion of the arm, and of its controller."""

    position: Annotated[Vector, "joints"]  # rad
    speed: Annotated[Vector, "joints"]  # rad/s
    integral: Annotated[Vector, "joints"]  # N·m, of the controller
    time: float = 0.0  # steps


class RigidArm(Arm):
    """The arm in motion; `exact` gives (count, joints, 4): POSITION (rad), SPEED (rad/s), TORQUE, DRAG (N·m)."""

    def __init__(
        self,
        rows: Floats,
        links: Floats,
        friction: Mapping[str, Sequence[float]],
        series: FourierSeries,
        rate: float,
        bandwidth: float,
        jumps: Sequence[Jump],
        rotors: Floats | None = None,
    ) -> None:
        """Make the arm.

        rows: (n, 4) α, a, d, offset; links: (n, LINK); friction: FRICTION of each joint; bandwidth: rad/s; rotors: (n,)
        J at the joint, kg·m², before the torque sensor; none if the torque is that of the drive.
        """
        n = len(rows)
        values = [{key: float(friction[key][j]) for key in FRICTION} | dict.fromkeys(HOSE, 0.0) for j in range(n)]
        super().__init__(rate, values, links, jumps, GROUPS)
        self.geometry = geometry(rows)
        self.series = series
        self._state = RigidArmState.zeros(joints=n)
        self._state.position[:] = series.at(np.zeros(1))[0]
        weight, none = np.empty((1, n)), np.zeros((1, n))
        inverse_dynamics(self.geometry, links, GRAVITY, self._state.position.reshape(1, -1), none, none, weight)
        self._state.integral[:] = weight[0]
        self._rotors = np.zeros(n) if rotors is None else rotors
        M = np.empty((1, n, n))
        mass_matrices(self.geometry, links, np.zeros((1, n)), M)
        self._gains = np.ascontiguousarray(
            np.outer(np.diag(M[0]) + self._rotors, (2.0 * bandwidth**2, 2.0 * bandwidth, 0.5 * bandwidth**3))
        )

    def simulate(self, values: Floats, links: Floats, count: int) -> Floats:
        """Simulate count rows with these values; see the class for the columns."""
        out = np.empty((count, self.joints, 4))
        step = 1 / (self.rate * SUBSTEPS)
        drag, amplitude = np.ascontiguousarray(values), self.series.amplitude
        motion = (amplitude, self.series.omega)
        _run(self._tilted(), links, drag, self._gains, self._rotors, step, *motion, self._state, out)
        if not np.isfinite(out[-1]).all():
            raise RigError("the simulation of the arm diverged: its controller cannot hold this load or motion")
        return out

    def _tilted(self) -> Floats:
        """The present geometry: tilting the base tilts the first axis, which is along the base's z."""
        (tilt, about), now = self.base(), self.geometry.copy()
        if tilt:
            now[0, [COSINE, SINE]] = np.cos(tilt), np.sin(tilt)
            now[0, OFFSET] -= about  # the remaining rotation is about the vertical, which changes no torque
        return now

    def encoded(self, exact: Floats, bits: int) -> Floats:
        """Positions (count, joints), rad, as measured by encoders of 2^bits steps per turn."""
        return encoder(exact[:, :, POSITION], bits)


@kernel(
    (*("f8[:, ::1]",) * 4, "f8[::1]", "f8", "f8[:, ::1]", "f8", RigidArmState, "f8[:, :, ::1]"),
)
def _run(
    arm: Floats,
    links: Floats,
    drag: Floats,
    gains: Floats,
    rotors: Floats,
    step: float,
    amplitude: Floats,
    omega: float,
    state: RigidArmState,
    out: Floats,
) -> None:
    n = len(arm)
    room = scratch(n)
    q, dq, ddq, still = np.empty(n), np.empty(n), np.empty(n), np.zeros(n)
    torque, friction, bias = np.empty(n), np.empty(n), np.empty(n)
    for row in range(len(out)):
        reference(amplitude, omega, state.time * step, q, dq, ddq)
        for j in range(n):
            error = q[j] - state.position[j]
            state.integral[j] += gains[j, 2] * error * step * SUBSTEPS
            torque[j] = state.integral[j] + gains[j, 0] * error + gains[j, 1] * (dq[j] - state.speed[j])
        for substep in range(SUBSTEPS):
            for j in range(n):
                q[j], dq[j] = state.position[j], state.speed[j]
                offset, dry, viscous, bend, sharp = drag[j, 0], drag[j, 1], drag[j, 2], drag[j, 3], drag[j, 4]
                dry = offset + dry * np.tanh(dq[j] / SMOOTH)
                friction[j] = dry + viscous * dq[j] + bend * np.arctan(sharp * dq[j])
            place(arm, q, room)
            inverse(links, dq, still, GRAVITY, room, bias)
            masses(links, room)
            for j in range(n):
                room.mass[j, j] += rotors[j]
                bias[j] = torque[j] + drag[j, 5] - drag[j, 6] * (q[j] - drag[j, 7]) - friction[j] - bias[j]
            solve(room.mass, bias)
            for j in range(n):
                if substep == 0:
                    out[row, j, POSITION], out[row, j, SPEED] = state.position[j], state.speed[j]
                    out[row, j, TORQUE], out[row, j, DRAG] = torque[j] - rotors[j] * bias[j], friction[j]
                state.speed[j] += step * bias[j]
                state.position[j] += step * state.speed[j]
            state.time += 1.0  # in steps
