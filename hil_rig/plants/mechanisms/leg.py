"""A leg of seven links in three loops with one drive and friction in every joint, in real time (Guo 2024, second case).

Only the drive's angle is integrated, so the loops cannot drift apart: Newton's method closes them at every step,
q̇ = B ω, and (BᵀM B) α = τ + Bᵀ(…). λ of the cut joints follows from the passive rows, their friction from λ of the
previous step.
"""

from collections.abc import Sequence
from typing import Annotated, Final, NamedTuple

import numpy as np
from pydantic import Field as Setting

from hil_rig.plants.base import Floats, Jump, Parameters, Plant, PlantSettings, RigError, SimulatedPlant
from hil_rig.plants.jit import inline, kernel
from hil_rig.plants.mechanisms.newton_euler import Bodies, PlantTree, bodies_of, forces, solve, torque, tree
from hil_rig.plants.mechanisms.shared import LOCKED, SETTLES, Driven, Shared
from jointwatch_numba.layout import Integers, Layout, Vector

LINKS: Final = ("thigh", "shin", "coupler", "tie", "lower", "rocker", "crank")  # A … G; the crank is driven
CRANK: Final = 6
SUBSTEPS: Final = 2  # per sample
EPSILON: Final = 1e-3  # rad/s
CUTS: Final = np.array([[2, 3], [3, 5], [5, 6]], np.int64)
TIPS: Final = np.array(  # m, position of each cut on both of its links
    [
        [[-0.0375, 0.0249], [-0.0457, -0.0306]],
        [[-0.0457, -0.0306], [0.049, -0.01]],
        [[-0.049, 0.01], [-0.0069, -0.0445]],
    ]
)
CONTRACTION: Final = 72.0  # of the fixed-point iteration, per m of μ R_p: measured on this mechanism
FRICTION: Final = ("pin", "mu", "mu_static", "stribeck", "viscous")


def published() -> PlantTree:
    """The links of the paper's table, with its four decimals of the centres of mass."""
    x = np.array(
        [[0, 0], [0.0737, -0.0676], [-0.0451, -0.0217], [0.0368, -0.0338], [-0.05, 0], [-0.0079, -0.0544], [-0.1, 0]]
    )
    c = np.array(
        [[0.0369, -0.0338], [-0.0451, -0.0217], [-0.0187, 0.0124], [-0.0229, -0.0153], [-0.0039, -0.0272], [0, 0],
         [-0.0034, -0.0222]]
    )  # fmt: skip
    masses = np.array([2, 2, 1, 1.2, 1.2, 2, 1])
    sizes = {2.0: (0.005, 0.04, 0.04), 1.0: (0.002, 0.01, 0.01), 1.2: (0.003, 0.02, 0.02)}
    inertias = np.zeros((7, 6))
    inertias[:, :3] = [sizes[float(m)] for m in masses]
    zero = np.zeros((7, 1))
    axes = np.tile([0.0, 0.0, 1.0], (7, 1))
    return tree([-1, 0, 1, 0, -1, 4, -1], axes, np.hstack([x, zero]), masses, np.hstack([c, zero]), inertias)


class LegSettings(PlantSettings):
    """Arms in m, friction dimensionless, N·m·s/rad; the same for all ten joints."""

    pin: float = Setting(default=0.005, gt=0, description="R_p, m")
    mu: float = Setting(default=0.05, ge=0, description="μ_c")
    mu_static: float = Setting(default=0.05, ge=0, description="μ_s")
    stribeck: float = Setting(default=0.1, gt=0, description="ω_s, rad/s")
    viscous: float = Setting(default=0.01, ge=0, description="c_v, N·m·s/rad")
    amplitude: float = Setting(default=0.5, gt=0, le=1.2, description="rad, of the crank")
    frequency: float = Setting(default=0.5, gt=0, description="Hz")
    rate: float = Setting(default=1000.0, gt=0, description="Hz")
    bits: int = Setting(default=20, ge=8, le=28)
    torque_noise: float = Setting(default=0.005, ge=0, description="N·m, standard deviation, white")

    def robot(self, joints: int, seed: int, jumps: Sequence[Jump]) -> dict[str, Plant]:
        """Build the only driven joint."""
        if joints != 1:
            raise RigError(f"expected --joints 1, since this mechanism has one drive, found --joints {joints}")
        noise = np.array([0.0, self.torque_noise])
        shared = Shared(Leg(self, jumps), 1)
        rng = np.random.default_rng([seed, 1])
        return {
            "joint1": Driven(
                shared,
                0,
                self.rate,
                self.bits,
                noise,
                (0, 1),
                (),
                rng,
                {"kind": "rigid", "gravity_sin": True, "gravity_cos": True},
            )
        }


class LegState(Layout):
    """The state of motion of the leg."""

    angles: Annotated[Vector, "links"]  # rad, of the tree's joints; the last is the crank's
    forces: Annotated[Vector, "constraints"]  # λ, N, x and y of each cut, in the previous step
    speed: float  # rad/s, of the crank
    time: float = 0.0  # steps


class LegRoom(NamedTuple):
    """Working memory of a step; n links, c constraints."""

    bodies: Bodies
    open: Floats  # (c,) φ, m: how far the cuts are open
    jacobian: Floats  # (c, n) ∂φ/∂q, m/rad
    bias: Floats  # (c,) m/s², φ̈ from the accelerations in bodies
    matrix: Floats  # (c, c) for `solve`
    right: Floats  # (c,) for `solve`
    ratio: Floats  # (n,) B: q̇ = B ω
    rate: Floats  # (n,) rad/s
    curve: Floats  # (n,) rad/s², q̈ if the crank does not accelerate
    second: Floats  # (n,) rad/s², q̈
    rub: Floats  # (n + cuts,) N·m, friction of the tree's joints, then of the cuts
    still: Floats  # (n,) zeros
    weightless: Floats  # (3,) zeros
    up: Floats  # (3,) m/s², acceleration of the base less gravity


class Leg(SimulatedPlant):
    """The simulation; columns: the crank's angle, torque and speed, the ideal torque, λ (6), the widest |φ| (m)."""

    columns, substeps = 11, SUBSTEPS

    def __init__(self, settings: LegSettings, jumps: Sequence[Jump]) -> None:
        values = {name: float(getattr(settings, name)) for name in FRICTION}
        self.physics = Parameters(values, settings.rate, jumps, {"friction": ("mu", "mu_static")})
        self._tree, self.rate = published(), settings.rate
        self._amplitude, self._omega = settings.amplitude, 2 * np.pi * settings.frequency
        self._state = LegState.zeros(links=len(LINKS), constraints=2 * len(CUTS))
        self._state.speed = self._amplitude * self._omega
        self._settles()

    def integrate(self, step: float, out: Floats) -> None:
        motion = (self._amplitude, self._omega, step)
        _run(self._tree, CUTS, TIPS, self._settles(), *motion, self._state, out)

    def _settles(self) -> Floats:
        """Return the constants of the friction. Raises RigError if the joints are self-locking."""
        pin, mu, static = self.physics.values[:3]
        if not CONTRACTION * max(mu, static) * pin < SETTLES:
            raise RigError(LOCKED)
        return self.physics.values


@inline
def _room(n: int, cuts: int) -> LegRoom:
    c = 2 * cuts
    return LegRoom(
        bodies_of(n),
        np.empty(c),
        np.empty((c, n)),
        np.empty(c),
        np.empty((c, c)),
        np.empty(c),
        np.zeros(n),
        np.empty(n),
        np.zeros(n),
        np.empty(n),
        np.empty(n + cuts),
        np.zeros(n),
        np.zeros(3),
        np.array([0.0, 9.8, 0.0]),
    )


@inline
def _loops(links: PlantTree, cuts: Integers, tips: Floats, room: LegRoom) -> None:
    """Fill φ, J and φ̈ from the accelerations in bodies."""
    bodies, phi, J, bias = room.bodies, room.open, room.jacobian, room.bias
    for cut in range(len(cuts)):
        for k in range(2):
            phi[2 * cut + k] = bias[2 * cut + k] = 0.0
            J[2 * cut + k, :] = 0.0
        for side in range(2):
            sign = 1.0 - 2.0 * side
            link = cuts[cut, side]
            turn, origin, pull = bodies.rotation[link], bodies.origin[link], bodies.pull[link]
            x, y = tips[cut, side, 0], tips[cut, side, 1]
            dx, dy = turn[0, 0] * x + turn[0, 1] * y, turn[1, 0] * x + turn[1, 1] * y
            px, py = origin[0] + dx, origin[1] + dy
            w, a = bodies.spin[link, 2], bodies.twist[link, 2]
            phi[2 * cut] += sign * px
            phi[2 * cut + 1] += sign * py
            bias[2 * cut] += sign * (pull[0] - a * dy - w * w * dx)
            bias[2 * cut + 1] += sign * (pull[1] + a * dx - w * w * dy)
            i = link
            while i >= 0:
                J[2 * cut, i] -= sign * (py - bodies.origin[i, 1])
                J[2 * cut + 1, i] += sign * (px - bodies.origin[i, 0])
                i = links.parent[i]


@inline
def _passive(room: LegRoom, right: Floats) -> None:
    """Solve J_p x = right over the passive joints; room.right then has x."""
    c = len(room.right)
    for i in range(c):
        room.right[i] = right[i]
        for j in range(c):
            room.matrix[i, j] = room.jacobian[i, j]
    solve(room.matrix, room.right, c)


@inline
def _close(links: PlantTree, cuts: Integers, tips: Floats, q: Floats, room: LegRoom) -> float:
    """Close the loops for the crank's angle by Newton's method; returns the largest remaining opening, m."""
    off = 0.0
    for _ in range(6):
        forces(links, room.weightless, q, room.still, room.still, room.bodies)
        _loops(links, cuts, tips, room)
        off = 0.0
        for i in range(len(room.open)):
            off = max(off, abs(room.open[i]))
        if off < 1e-14:
            break
        _passive(room, room.open)
        for i in range(len(room.right)):
            q[i] -= room.right[i]
    return off


@inline
def _move(links: PlantTree, cuts: Integers, tips: Floats, q: Floats, w: float, room: LegRoom) -> None:
    """Fill ratio B, rate B ω and curve for the crank's speed w (rad/s)."""
    c, crank = len(room.right), links.links - 1
    _passive(room, room.jacobian[:, crank])
    for i in range(c):
        room.ratio[i] = -room.right[i]
    room.ratio[crank] = 1.0
    for i in range(links.links):
        room.rate[i] = room.ratio[i] * w
    forces(links, room.weightless, q, room.rate, room.still, room.bodies)
    _loops(links, cuts, tips, room)
    _passive(room, room.bias)
    for i in range(c):
        room.curve[i] = -room.right[i]


@inline
def _felt(room: LegRoom) -> float:
    """Torque Bᵀτ of the forces in bodies at the crank, N·m."""
    felt = 0.0
    for i in range(len(room.ratio)):
        felt += room.ratio[i] * torque(room.bodies, i)
    return felt


@inline
def _friction(links: PlantTree, cuts: Integers, numbers: Floats, lam: Floats, room: LegRoom) -> float:
    """Fill the friction of all joints for the forces in bodies and λ; returns its torque at the crank, N·m."""
    pin, mu, static, stribeck, viscous = numbers
    n, bodies = links.links, room.bodies
    for joint in range(n + len(cuts)):
        if joint < n:
            fx, fy, speed = bodies.force[joint, 0], bodies.force[joint, 1], room.rate[joint]
            for cut in range(len(cuts)):
                for side in range(2):
                    i = cuts[cut, side]
                    while i >= 0 and i != joint:
                        i = links.parent[i]
                    if i == joint:  # λ acts on the first link of a cut, which reduces the load of the joint
                        fx -= (1.0 - 2.0 * side) * lam[2 * cut]
                        fy -= (1.0 - 2.0 * side) * lam[2 * cut + 1]
        else:
            cut = joint - n
            fx, fy = lam[2 * cut], lam[2 * cut + 1]
            speed = bodies.spin[cuts[cut, 0], 2] - bodies.spin[cuts[cut, 1], 2]
        now = mu + (static - mu) * np.exp(-((speed / stribeck) ** 2))
        room.rub[joint] = now * pin * np.sqrt(fx * fx + fy * fy) * np.tanh(speed / EPSILON) + viscous * speed
    against = 0.0  # Σ τ_f,k ∂(relative angle k)/∂(crank)
    for i in range(n):
        against += room.rub[i] * room.ratio[i]
    for cut in range(len(cuts)):
        for side in range(2):
            i = cuts[cut, side]
            while i >= 0:
                against += (1.0 - 2.0 * side) * room.rub[n + cut] * room.ratio[i]
                i = links.parent[i]
    return against


@inline
def _constrain(links: PlantTree, cuts: Integers, lam: Floats, room: LegRoom) -> None:
    """Fill λ from the passive rows, M q̈ + h + friction = Jᵀλ, for the forces in bodies."""
    n, c = links.links, len(lam)
    for i in range(c):
        room.right[i] = torque(room.bodies, i) + room.rub[i]
        for j in range(c):
            room.matrix[i, j] = room.jacobian[j, i]
    for cut in range(len(cuts)):
        for side in range(2):
            i = cuts[cut, side]
            while i >= 0:
                if i != n - 1:
                    room.right[i] += (1.0 - 2.0 * side) * room.rub[n + cut]
                i = links.parent[i]
    solve(room.matrix, room.right, c)
    for i in range(c):
        lam[i] = room.right[i]


@kernel((PlantTree, "i8[:, ::1]", "f8[:, :, ::1]", "f8[::1]", "f8", "f8", "f8", LegState, "f8[:, ::1]"))
def _run(
    links: PlantTree,
    cuts: Integers,
    tips: Floats,
    numbers: Floats,
    amplitude: float,
    omega: float,
    step: float,
    state: LegState,
    out: Floats,
) -> None:
    n, q, lam = links.links, state.angles, state.forces
    crank, room = n - 1, _room(n, len(cuts))
    for row in range(len(out)):
        for substep in range(SUBSTEPS):
            w = state.speed
            off = _close(links, cuts, tips, q, room)
            _move(links, cuts, tips, q, w, room)
            forces(links, room.weightless, q, room.still, room.ratio, room.bodies)
            inertia = _felt(room)
            forces(links, room.up, q, room.rate, room.curve, room.bodies)
            pull = _felt(room)
            against = _friction(links, cuts, numbers, lam, room)
            phase = omega * (state.time * step)
            wanted, speed = amplitude * np.sin(phase), amplitude * omega * np.cos(phase)
            drive = pull + inertia * (900.0 * (wanted - q[crank]) + 60.0 * (speed - w))
            a = (drive - pull - against) / inertia
            for i in range(n):
                room.second[i] = room.ratio[i] * a + room.curve[i]
            forces(links, room.up, q, room.rate, room.second, room.bodies)
            _constrain(links, cuts, lam, room)
            if substep == 0:
                out[row, 0], out[row, 1], out[row, 2], out[row, 3] = q[crank], drive, w, pull + inertia * a
                out[row, 4:10] = lam
                out[row, 10] = off
            state.speed = w + step * a
            for i in range(n):
                q[i] += step * (w + step * a) * room.ratio[i]
            state.time += 1.0
