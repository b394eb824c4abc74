"""A link on a pin in a bearing with clearance, with fully integrated contact (5 µs): the truth for clearance.

The link has mass m, its centre of mass at s from the pin, and inertia J about the pin; e is the pin's position in the
bearing, n = e/|e|, δ = |e| − c::

    F = −F_n n + F_t t_n,   F_t = −μ F_n tanh(v_t/v_m),   v_t = ė·t_n + ω R₂
    f = F + m g + m s ω² l,   h = τ + R₂ F_t + m s t·g
    α = (h − s t·f)/(J − m s²),   ë = f/m − s α t                   l along the link, t across it
    F_n = K δ^1.5 (1 + 3/4 (1 − c_e²) δ̇/δ̇⁻) ≥ 0, or K_m(δ) δ with the same damping and C_n δ̇ (asperities.py)

The controller (PD and feed-forward) sets its torque every millisecond and holds it. Design: clearance, A.
"""

from collections.abc import Callable
from typing import Final, Literal

import numpy as np
from pydantic import Field

from hil_rig.plants.base import Floats, FrozenSettings, encoder
from hil_rig.plants.jit import kernel
from hil_rig.plants.mechanisms.asperities import rough, rough_table
from hil_rig.plants.mechanisms.contact import Steel
from jointwatch_numba.layout import Layout

TICK: Final = 1e-3  # s
GRAVITY: Final = 9.81
COLUMNS: Final = (
    "angle",
    "torque",
    "e_x",
    "e_y",
    "normal",
    "power",
    "speed",
)  # of a tick: values at its beginning, and the torque that is held during it
SLOWEST: Final = 1e-3  # m/s, least speed of an impact


class JournalState(Layout):
    """The state of motion of a link on its pin."""

    ex: float  # m, the pin's position in the bearing
    ey: float  # m
    vx: float = 0.0  # m/s, of the pin
    vy: float = 0.0  # m/s
    angle: float = 0.0  # rad
    speed: float = 0.0  # rad/s
    met: float = -1.0  # m/s, speed at which the surfaces met; negative while they do not touch


class Journal(FrozenSettings):
    """The first joint of the pointing mechanism; its second joint is locked."""

    mass: float = Field(default=3.0, gt=0, description="kg")
    offset: float = Field(default=0.063, description="m, s")
    inertia: float = Field(default=0.0365, gt=0, description="kg·m², about the pin")
    steel: Steel = Steel()
    friction: float = Field(default=0.1, ge=0, description="μ")
    slip: float = Field(default=1e-3, gt=0, description="m/s, v_m")
    vertical: bool = Field(default=False, description="the axis is vertical: no gravity in the bearing's plane")
    stiffness: Literal["hertz", "fractal"] = "hertz"
    step: float = Field(default=5e-6, gt=0, description="s")
    proportional: float = Field(default=200.0, ge=0, description="N·m/rad")
    derivative: float = Field(default=3.0, ge=0, description="N·m·s/rad")

    def constants(self) -> Floats:
        """Return the constants of the kernel."""
        steel = self.steel
        loss = 0.75 * (1.0 - steel.restitution**2)
        head = (self.mass, self.offset, self.inertia, steel.pin, steel.clearance, steel.hertz(), loss)
        gravity = 0.0 if self.vertical else GRAVITY
        return np.array([*head, self.friction, self.slip, gravity, self.step, self.proportional, self.derivative])

    def table(self) -> Floats:
        """Return the kernel's table (points, 3): ln δ, K_m and C_n of a rough surface; empty for Hertz."""
        return np.zeros((0, 3)) if self.stiffness == "hertz" else rough_table(self.steel, self.mass, self.friction)

    def play(self, reference: Floats) -> Floats:
        """Follow a reference (ticks, 3): angle, velocity, acceleration. Returns (ticks, COLUMNS).

        The motion begins on the reference and in contact.
        """
        angle, speed, second = reference[0]
        pull = self.offset * (speed**2 * np.exp(1j * angle) - 1j * second * np.exp(1j * angle))
        pull -= 0.0 if self.vertical else GRAVITY
        place = self.steel.clearance * (1.0 + 1e-3) * (pull / abs(pull) if abs(pull) > 0.0 else -1.0)
        state = JournalState(ex=place.real, ey=place.imag, angle=angle, speed=speed, met=SLOWEST)
        out = np.empty((len(reference), len(COLUMNS)))
        _run(self.constants(), self.table(), reference, state, out)
        return out


class Measured(FrozenSettings):
    """Sensors at the joint."""

    bits: int = Field(default=20, ge=8, le=28)
    torque: float = Field(default=1e-4, ge=0, description="N·m, standard deviation, white")
    ring: float = Field(default=0.03, gt=0, description="m, radius of the link's ring encoder")

    def of(self, played: Floats, rng: np.random.Generator) -> Floats:
        """Measure (ticks, 3): motor angle, torque of the tick, and the ring's angle by one read head."""
        torque = played[:, 1] + self.torque * rng.standard_normal(len(played))
        ring = encoder(played[:, 0] + played[:, 3] / self.ring, self.bits)
        return np.column_stack([encoder(played[:, 0], self.bits), torque, ring])


def chirp(seconds: float, start: float, end: float, amplitude: float) -> Floats:
    """A sine whose frequency (Hz) sweeps, (ticks, 3); it begins at full speed and never rests without acceleration."""
    t: Floats = np.asarray(np.arange(round(seconds / TICK)) * TICK, np.float64)

    def angle(t: Floats) -> Floats:
        return np.asarray(amplitude * np.sin(2 * np.pi * (start + (end - start) * t / (2 * seconds)) * t))

    return _with_rates(angle, t)


A_1: Final = (0.243, -6.5e-10, -0.028, -0.033, -0.005)  # Sun 2021, Table 1
B_1: Final = (-0.113, -0.01, 0.001, 0.013, -0.003)
A_2: Final = (0.251, -0.029, -0.016, -0.015, -0.017)
B_2: Final = (0.372, -0.037, -0.033, 0.003, 0.001)
CENTRES: Final = (0.111, -0.306)


def published(seconds: float, axis: int = 0, phase: float = 0.0) -> Floats:
    """The slow trajectory of the paper, (36), of one of its axes, with a period of 20 s: (ticks, 3)."""
    a, b = (A_1, A_2)[axis], (B_1, B_2)[axis]
    t: Floats = np.asarray(np.arange(round(seconds / TICK)) * TICK + phase, np.float64)
    w = 2 * np.pi / 20.0
    k = np.arange(1, 6)[:, np.newaxis] * w
    sine, cosine = np.sin(k * t), np.cos(k * t)
    one, other = np.array(a)[:, np.newaxis], np.array(b)[:, np.newaxis]
    angle = CENTRES[axis] + (one * sine + other * cosine).sum(axis=0)
    speed = (k * (one * cosine - other * sine)).sum(axis=0)
    return np.column_stack([angle, speed, (-k * k * (one * sine + other * cosine)).sum(axis=0)])


def sines(seconds: float, frequencies: tuple[float, ...], amplitudes: tuple[float, ...]) -> Floats:
    """A sum of sines of several frequencies (Hz), (ticks, 3): at some instants the pin has no load."""
    t: Floats = np.asarray(np.arange(round(seconds / TICK)) * TICK, np.float64)

    def angle(t: Floats) -> Floats:
        x = np.clip(t, 0.0, 1.0)
        fade = x * x * x * (10.0 + x * (6.0 * x - 15.0))
        parts = (a * np.sin(2 * np.pi * f * t) for f, a in zip(frequencies, amplitudes, strict=True))
        return np.asarray(fade * np.sum(list(parts), axis=0))

    return _with_rates(angle, t)


def _with_rates(angle: Callable[[Floats], Floats], t: Floats) -> Floats:
    step = 1e-4
    early, now, late = angle(t - step), angle(t), angle(t + step)
    return np.column_stack([now, (late - early) / (2 * step), (late - 2 * now + early) / step**2])


@kernel(("f8[::1]", "f8[:, ::1]", "f8[:, ::1]", JournalState, "f8[:, ::1]"))
def _run(constants: Floats, table: Floats, reference: Floats, state: JournalState, out: Floats) -> None:
    m, s, J, R, c, K, loss, mu, slip, gravity, step, kp, kd = constants
    count = max(1, round(TICK / step))
    step = TICK / count
    for row in range(len(out)):
        wanted, speed, second = reference[row]
        q, w = state.angle, state.speed
        held = kp * (wanted - q) + kd * (speed - w) + J * second - m * s * gravity * np.sin(wanted)
        held_power = normal = 0.0
        out[row, 0], out[row, 1], out[row, 2], out[row, 3], out[row, 6] = q, held, state.ex, state.ey, w
        for substep in range(count):
            q, w = state.angle, state.speed
            lx, ly = np.cos(q), np.sin(q)
            tx, ty = -ly, lx
            ex, ey = state.ex, state.ey
            far = np.sqrt(ex * ex + ey * ey)
            depth = far - c
            normal = tangent = 0.0
            nx = ny = 0.0
            if depth > 0.0:
                nx, ny = ex / far, ey / far
                meets = state.vx * nx + state.vy * ny
                if state.met < 0.0:
                    state.met = max(meets, SLOWEST)
                rubs = 0.0
                if len(table) == 0:
                    normal = K * depth * np.sqrt(depth)
                else:
                    stiffness, rubs = rough(table, depth)
                    normal = stiffness * depth
                normal = max(0.0, normal * (1.0 + loss * meets / state.met) + rubs * meets)
                slides = -state.vx * ny + state.vy * nx + w * R
                tangent = -mu * normal * np.tanh(slides / slip)
                held_power += tangent * slides - normal * meets
            else:
                state.met = -1.0
            if substep == 0:
                out[row, 4] = normal
            fx = -normal * nx - tangent * ny - m * gravity + m * s * w * w * lx
            fy = -normal * ny + tangent * nx + m * s * w * w * ly
            h = held + R * tangent - m * s * gravity * tx
            alpha = (h - s * (tx * fx + ty * fy)) / (J - m * s * s)
            state.vx += step * (fx / m - s * alpha * tx)
            state.vy += step * (fy / m - s * alpha * ty)
            state.speed = w + step * alpha
            state.ex += step * state.vx
            state.ey += step * state.vy
            state.angle = q + step * state.speed
        out[row, 5] = held_power / count


def collide(journal: Journal, speed: float) -> float:
    """Restitution of a pin that hits its bearing at this speed (m/s) without rotation or friction."""
    alone = journal.model_copy(
        update={"offset": 0.0, "friction": 0.0, "vertical": True, "step": 2e-7, "proportional": 0.0}
    )
    state = JournalState(ex=-journal.steel.clearance, ey=0.0, vx=-speed)
    out = np.empty((1, len(COLUMNS)))
    for _ in range(20):
        _run(alone.constants(), alone.table(), np.zeros((1, 3)), state, out)
        if np.hypot(state.ex, state.ey) < alone.steel.clearance and state.vx > 0.0:
            return float(state.vx / speed)
    raise RuntimeError("the pin did not come back")


def drift(journal: Journal, seconds: float) -> Floats:
    """Energy (ticks,), J, of a link without drive that is thrown into its bearing."""
    s, m = journal.offset, journal.mass
    free = journal.model_copy(update={"vertical": True, "proportional": 0.0, "derivative": 0.0, "step": 2.5e-6})
    state = JournalState(ex=0.0, ey=0.0, vx=0.05, vy=-0.03, angle=0.3, speed=5.0)
    out, energy = np.empty((1, len(COLUMNS))), []
    stiffness, c = journal.steel.hertz(), journal.steel.clearance
    for _ in range(round(seconds / TICK)):
        q, w = state.angle, state.speed
        vx, vy = state.vx - s * w * np.sin(q), state.vy + s * w * np.cos(q)
        deep = max(np.hypot(state.ex, state.ey) - c, 0.0)
        kinetic = 0.5 * m * (vx**2 + vy**2) + 0.5 * (journal.inertia - m * s * s) * w**2
        energy.append(kinetic + 0.4 * stiffness * deep**2.5)
        _run(free.constants(), free.table(), np.zeros((1, 3)), state, out)
    return np.array(energy)
