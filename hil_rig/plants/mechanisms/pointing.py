"""A pointing mechanism of two axes whose first bearing has clearance, with fully integrated contact, in real time.

    joint 1 turns about Z₀ (gravity along −X₀), joint 2 across it at L₁ (MDH: (0, 0), (90°, L₁)); e is the first pin's
    position in its bearing, and its acceleration ë moves the whole chain. Four equations for (ë_x, ë_y, α, β̈): the
    chain's force on the pin is that of the contact; τ₁ + R₂ F_t, and τ₂ less its friction, are the chain's torques.
    The contact is that of journal.py.

With `reduced` the pin follows the load instead, e = c·(its direction) with F_n of the previous step, for slow motion
and long runs. Sun et al., Robotics 2021, 10, 36; the values are theirs, L₁ = 0.1 m is assumed.
"""

from collections.abc import Sequence
from typing import Annotated, Final, Literal, NamedTuple

import numpy as np
from pydantic import Field as Setting

from hil_rig.messages import MessageField
from hil_rig.plants.base import Floats, Jump, Parameters, Plant, PlantSettings, RigError, SimulatedPlant
from hil_rig.plants.jit import inline, kernel
from hil_rig.plants.mechanisms.asperities import rough, rough_table
from hil_rig.plants.mechanisms.contact import Steel
from hil_rig.plants.mechanisms.data_sheet import urdf
from hil_rig.plants.mechanisms.journal import A_1, A_2, B_1, B_2, CENTRES, GRAVITY, SLOWEST, TICK
from hil_rig.plants.mechanisms.newton_euler import Bodies, PlantTree, bodies_of, forces, solve, torque, tree
from hil_rig.plants.mechanisms.shared import Driven, Shared
from jointwatch_numba.layout import Layout, Matrix, Vector

NUMBERS: Final = ("clearance", "mu", "slip", "pin", "stiffness", "loss", "coulomb_2", "slip_2")
# columns of `exact`; those of two axes or components have two
ANGLES: Final = 0  # and 1, rad
TORQUES: Final = 2  # and 3, N·m, held for a tick
PLACE: Final = 4  # and 5, m, e of the first pin
NORMAL: Final = 6  # N
POWER: Final = 7  # W, of the contact
RING: Final = 8  # rad, the first joint's ring encoder
SPEEDS: Final = 9  # and 10, rad/s
COLUMNS: Final = 11
STEP: Final = 5e-5  # N·m, resolution of the torque on the wire
FRESH: Final = 10  # steps for which the mass matrix is kept, while the links move by micrometres


class PointingMotion(Layout):
    """Two Fourier series of five harmonics, and the settings of controller, integration and sensor."""

    sines: Annotated[Matrix, "axes", "harmonics"]  # rad
    cosines: Annotated[Matrix, "axes", "harmonics"]  # rad
    centres: Annotated[Vector, "axes"]  # rad
    omega: float  # rad/s, of the first harmonic
    step: float  # s, approximately
    ring: float  # m, radius of the ring encoder
    reduced: bool  # the contact follows the load


class PointingRoom(NamedTuple):
    """Working memory of a step; the four unknowns are ë_x, ë_y and the accelerations of both joints."""

    bodies: Bodies
    mass: Floats  # (4, 4)
    matrix: Floats  # (4, 4) for `solve`
    right: Floats  # (4,) for `solve`: forces (N) and torques (N·m), then accelerations
    wanted: Floats  # (3, 2) rad, rad/s, rad/s²
    held: Floats  # (2,) N·m, the controllers' torques
    still: Floats  # (2,) zeros
    unit: Floats  # (2,) rad/s², of one joint at a time
    base: Floats  # (3,) m/s², of the base in one direction at a time


class PointingState(Layout):
    """The state of motion of the mechanism."""

    angles: Annotated[Vector, "2"]  # rad
    rates: Annotated[Vector, "2"]  # rad/s
    place: Annotated[Vector, "2"]  # m, e, position of the first pin in its bearing
    drift: Annotated[Vector, "2"]  # m/s, ė
    met: float = SLOWEST  # m/s at which the surfaces met, negative while they do not touch; reduced: N, normal force
    time: float = 0.0  # ticks


class PointingSettings(PlantSettings):
    """The values of the paper; those that it does not give are chosen."""

    mass_1: float = Setting(default=2.1391, gt=0, description="kg")
    centre_1: float = Setting(default=0.04821, description="m")
    inertia_1: float = Setting(default=0.0175, gt=0, description="Izz₁, kg·m², about joint 1")
    mass_2: float = Setting(default=0.8596, gt=0, description="kg")
    centre_2: float = Setting(default=0.03419, description="m")
    Ixx_2: float = Setting(default=0.00467, gt=0, description="kg·m², about joint 2")
    Iyy_2: float = Setting(default=0.00533, gt=0)
    Izz_2: float = Setting(default=0.00181, gt=0)
    reach: float = Setting(default=0.1, gt=0, description="L₁, m")
    clearance: float = Setting(default=50e-6, gt=0, description="m")
    mu: float = Setting(default=0.1, ge=0)
    slip: float = Setting(default=2e-4, gt=0, description="v_m, m/s")
    coulomb_2: float = Setting(default=0.01, ge=0, description="N·m, joint 2")
    slip_2: float = Setting(default=0.02, gt=0, description="rad/s, joint 2")
    vertical: bool = Setting(default=False, description="joint 1 is vertical: gravity along it")
    contact: Literal["full", "reduced"] = "full"
    surface: Literal["hertz", "fractal"] = Setting(default="hertz", description="smooth, or asperities: (1)–(26)")
    amplitude: float = Setting(default=1.0, gt=0, description="× the published trajectory")
    period: float = Setting(default=20.0, gt=0, description="s, of the trajectory")
    rate: float = Setting(default=1000.0, ge=1000.0, le=1000.0, description="Hz, of the controller and its torque")
    step: float = Setting(default=1e-5, gt=0, le=1e-4, description="s")
    bits: int = Setting(default=20, ge=8, le=28)
    torque_noise: float = Setting(default=1e-4, ge=0, description="N·m, standard deviation, white")
    ring_radius: float = Setting(default=0.03, gt=0, description="m, of the link's ring encoder with one read head")
    sensors: Literal["near", "ring"] = Setting(
        default="near",
        description="sensors of the first pin: two proximity sensors, or the link's ring as second encoder",
    )

    def robot(self, joints: int, seed: int, jumps: Sequence[Jump]) -> dict[str, Plant]:
        """Build both joints; the first has a ring encoder and two proximity sensors."""
        if joints != 2:
            raise RigError(f"expected --joints 2, since this mechanism has two axes, found --joints {joints}")
        shared = Shared(Pointing(self, jumps), 2)
        noise = np.array([0.0, self.torque_noise, 0.0, 1e-7, 1e-7])
        ring = MessageField("ring", 32, "counts", counts_per_rev=1 << self.bits)
        near = [MessageField(name, 32, "m", 1e-9) for name in ("near_x", "near_y")]
        by_ring = self.sensors == "ring"
        extra = [(ring, "link_position" if by_ring else "", 1.0)]
        extra += [(field, "" if by_ring else field.name, 1.0) for field in near]
        tables = {"clearance": self._bearing()} if by_ring else {}
        model = {"kind": "rigid", "gravity_sin": True, "gravity_cos": True}
        one, other = (np.random.default_rng([seed, node]) for node in (1, 2))
        columns = (ANGLES, TORQUES, RING, PLACE, PLACE + 1)
        first = Driven(shared, 0, self.rate, self.bits, noise, columns, extra, one, model, STEP, tables)
        second = Driven(shared, 1, self.rate, self.bits, noise[:2], (ANGLES + 1, TORQUES + 1), (), other, model, STEP)
        return {"joint1": first, "joint2": second}

    def _bearing(self) -> dict[str, float]:
        """Return the first bearing's table of the configuration."""
        tree = self.tree()
        centre = float(tree.mass @ [self.centre_1, self.reach + self.centre_2] / tree.mass.sum())
        pull = {} if self.vertical else {"centre": centre}
        return {"ring_radius": self.ring_radius, "gravity": 0.0 if self.vertical else GRAVITY, **pull}

    def data_sheet(self) -> str:
        """Return a URDF with exact lengths and approximate bodies; the base's x is up if joint 1 is horizontal."""
        return urdf("pointing", self.tree(), "0 0 0" if self.vertical else f"0 {-np.pi / 2:.9f} 0")

    def tree(self) -> PlantTree:
        """Return the links for the kernels: inertia about their centres, in axes parallel to the base's at zero."""
        x = np.array([1.0, 0.0, 0.0])
        inertias = np.zeros((2, 6))
        inertias[0, 2] = self.inertia_1 - self.mass_1 * self.centre_1**2
        shift = self.mass_2 * self.centre_2**2  # about joint 2: y₂ lies along Z₀, z₂ along −Y₀
        inertias[1, :3] = self.Ixx_2, self.Izz_2 - shift, self.Iyy_2 - shift
        centres = np.stack([self.centre_1 * x, self.centre_2 * x])
        axes = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
        return tree(
            [-1, 0], axes, np.stack([0 * x, self.reach * x]), np.array([self.mass_1, self.mass_2]), centres, inertias
        )


class Pointing(SimulatedPlant):
    """The simulation; the kernel chooses its own steps."""

    columns, substeps = COLUMNS, 1

    def __init__(self, settings: PointingSettings, jumps: Sequence[Jump]) -> None:
        steel = Steel(clearance=settings.clearance)
        values = {name: float(getattr(settings, name)) for name in ("clearance", "mu", "slip", "coulomb_2", "slip_2")}
        values |= {"pin": steel.pin, "stiffness": steel.hertz(), "loss": 0.75 * (1 - steel.restitution**2)}
        values = {name: values[name] for name in NUMBERS}
        self.physics = Parameters(values, settings.rate, jumps, {"friction": ("mu", "coulomb_2")})
        self._tree, self.rate = settings.tree(), settings.rate
        smooth = settings.surface == "hertz"
        self._table = np.zeros((0, 3)) if smooth else rough_table(steel, float(self._tree.mass.sum()), settings.mu)
        along = 0.0 if settings.vertical else GRAVITY
        self._up = np.array([along, 0.0, GRAVITY - along])
        self._motion = PointingMotion(
            sines=np.array([A_1, A_2]) * settings.amplitude,
            cosines=np.array([B_1, B_2]) * settings.amplitude,
            centres=np.array(CENTRES) * settings.amplitude,
            omega=2 * np.pi / settings.period,
            step=settings.step,
            ring=settings.ring_radius,
            reduced=settings.contact == "reduced",
        )
        self._state = PointingState.zeros()
        self._state.place[0] = -settings.clearance * (1.0 + 1e-3)

    def integrate(self, _step: float, out: Floats) -> None:
        _run(self._tree, self._up, self.physics.values, self._table, self._motion, self._state, out)


@inline
def _room() -> PointingRoom:
    return PointingRoom(
        bodies_of(2),
        np.empty((4, 4)),
        np.empty((4, 4)),
        np.empty(4),
        np.empty((3, 2)),
        np.empty(2),
        np.zeros(2),
        np.zeros(2),
        np.zeros(3),
    )


@inline
def _wish(motion: PointingMotion, t: float, wanted: Floats) -> None:
    """Fill positions, velocities and accelerations (3, 2) of the trajectory at time t (s)."""
    for axis in range(2):
        wanted[0, axis], wanted[1, axis], wanted[2, axis] = motion.centres[axis], 0.0, 0.0
        for k in range(motion.sines.shape[1]):
            w = motion.omega * (k + 1)
            sine, cosine = np.sin(w * t), np.cos(w * t)
            one, other = motion.sines[axis, k], motion.cosines[axis, k]
            wanted[0, axis] += one * sine + other * cosine
            wanted[1, axis] += w * (one * cosine - other * sine)
            wanted[2, axis] -= w * w * (one * sine + other * cosine)


@inline
def _weigh(links: PlantTree, q: Floats, room: PointingRoom) -> None:
    """Fill the mass matrix of the four unknowns."""
    bodies, mass = room.bodies, room.mass
    for j in range(4):
        room.base[0], room.base[1] = (1.0 if j == 0 else 0.0), (1.0 if j == 1 else 0.0)
        room.unit[0], room.unit[1] = (1.0 if j == 2 else 0.0), (1.0 if j == 3 else 0.0)
        forces(links, room.base, q, room.still, room.unit, bodies)
        mass[0, j], mass[1, j] = bodies.force[0, 0], bodies.force[0, 1]
        mass[2, j], mass[3, j] = torque(bodies, 0), torque(bodies, 1)


@inline
def _glide(numbers: Floats, state: PointingState, room: PointingRoom) -> float:
    """Compute a step's accelerations with the pin where the load presses it; returns the contact's power, W."""
    c, mu, slip, R, _stiffness, _loss, _coulomb_2, _slip_2 = numbers
    mass, A, b, v = room.mass, room.matrix, room.right, state.rates
    tangent = -mu * state.met * np.tanh(v[0] * R / slip)
    b[2] += R * tangent
    A[:, :] = mass
    A[0, 0], A[1, 1] = 1.0, 1.0  # the pin's motion in the bearing is slow enough to be neglected
    A[0, 1] = A[0, 2] = A[0, 3] = A[1, 0] = A[1, 2] = A[1, 3] = A[2, 0] = A[2, 1] = A[3, 0] = A[3, 1] = 0.0
    px, py = b[0], b[1]
    b[0] = b[1] = 0.0
    solve(A, b, 4)
    px -= mass[0, 2] * b[2] + mass[0, 3] * b[3]
    py -= mass[1, 2] * b[2] + mass[1, 3] * b[3]
    pull = np.sqrt(px * px + py * py)
    slope = mu * np.tanh(v[0] * R / slip)
    cosine, sine = 1.0 / np.sqrt(1.0 + slope * slope), -slope / np.sqrt(1.0 + slope * slope)
    state.place[0] = c * (cosine * px - sine * py) / max(pull, 1e-12)
    state.place[1] = c * (sine * px + cosine * py) / max(pull, 1e-12)
    state.met = pull * cosine
    return float(tangent * v[0] * R)


@inline
def _touch(numbers: Floats, table: Floats, state: PointingState, room: PointingRoom) -> tuple[float, float]:
    """Compute a step's accelerations with the pin free in its bearing; returns normal force, N, and its power, W."""
    c, mu, slip, R, K, loss, _coulomb_2, _slip_2 = numbers
    b, drift = room.right, state.drift
    ex, ey = state.place[0], state.place[1]
    far = np.sqrt(ex * ex + ey * ey)
    nx, ny = ex / max(far, 1e-12), ey / max(far, 1e-12)
    depth = far - c
    normal = tangent = power = 0.0
    if depth > 0.0:
        meets = drift[0] * nx + drift[1] * ny
        if state.met < 0.0:
            state.met = max(meets, SLOWEST)
        normal, rubs = K * depth * np.sqrt(depth), 0.0
        if len(table) > 0:
            stiffness, rubs = rough(table, depth)
            normal = stiffness * depth
        normal = max(0.0, normal * (1.0 + loss * meets / state.met) + rubs * meets)
        slides = -drift[0] * ny + drift[1] * nx + state.rates[0] * R
        tangent = -mu * normal * np.tanh(slides / slip)
        power = tangent * slides - normal * meets
    else:
        state.met = -1.0
    b[0] += -normal * nx - tangent * ny
    b[1] += -normal * ny + tangent * nx
    b[2] += R * tangent
    room.matrix[:, :] = room.mass
    solve(room.matrix, b, 4)
    return normal, power


@inline
def _hold(links: PlantTree, gravity: Floats, motion: PointingMotion, state: PointingState, room: PointingRoom) -> None:
    """Fill the controllers' torques of a tick; the motion begins on the trajectory."""
    wanted = room.wanted
    _wish(motion, state.time * TICK, wanted)
    if state.time == 0.0:
        for axis in range(2):
            state.angles[axis], state.rates[axis] = wanted[0, axis], wanted[1, axis]
    forces(links, gravity, wanted[0], wanted[1], wanted[2], room.bodies)
    for axis in range(2):
        inertia = 0.035 if axis == 0 else 0.003
        off, late = wanted[0, axis] - state.angles[axis], wanted[1, axis] - state.rates[axis]
        room.held[axis] = torque(room.bodies, axis) + inertia * (5000.0 * off + 80.0 * late)


@kernel((PlantTree, "f8[::1]", "f8[::1]", "f8[:, ::1]", PointingMotion, PointingState, "f8[:, ::1]"))
def _run(
    links: PlantTree,
    gravity: Floats,
    numbers: Floats,
    table: Floats,
    motion: PointingMotion,
    state: PointingState,
    out: Floats,
) -> None:
    _clearance, _mu, _slip, _pin, _stiffness, _loss, coulomb, slip_2 = numbers  # in the order of NUMBERS
    count = 4 if motion.reduced else max(1, round(TICK / motion.step))
    step = TICK / count
    room = _room()
    bodies, b, held, q, v = room.bodies, room.right, room.held, state.angles, state.rates
    for row in range(len(out)):
        _hold(links, gravity, motion, state, room)
        power = 0.0
        for substep in range(count):
            if substep % FRESH == 0:
                _weigh(links, q, room)
            forces(links, gravity, q, v, room.still, bodies)
            b[0], b[1], b[2], b[3] = -bodies.force[0, 0], -bodies.force[0, 1], -torque(bodies, 0), -torque(bodies, 1)
            b[2] += held[0]
            b[3] += held[1] - coulomb * np.tanh(v[1] / slip_2)
            ex, ey, normal = state.place[0], state.place[1], state.met
            if motion.reduced:
                power += _glide(numbers, state, room)
            else:
                normal, spent = _touch(numbers, table, state, room)
                power += spent
            if substep == 0:
                out[row, ANGLES], out[row, ANGLES + 1], out[row, RING] = q[0], q[1], q[0] + ey / motion.ring
                out[row, TORQUES], out[row, TORQUES + 1] = held[0], held[1]
                out[row, PLACE], out[row, PLACE + 1], out[row, NORMAL] = ex, ey, normal
                out[row, SPEEDS], out[row, SPEEDS + 1] = v[0], v[1]
            if not motion.reduced:
                for k in range(2):
                    state.drift[k] += step * b[k]
                    state.place[k] += step * state.drift[k]
            for k in range(2):
                v[k] += step * b[2 + k]
                q[k] += step * v[k]
        out[row, POWER] = power / count
        state.time += 1.0
