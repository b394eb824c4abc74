"""A pin in a bearing with clearance, in contact: linear in inertia, first moments, friction and clearance.

The pin lies where the load presses it, e = c u, so that its acceleration only shifts gravity (quasi-static):

    L = g + [ω²(x l + y t) − α(x t − y l)]/m                    what the link asks of its pin, per mass
    u = rot(L/|L|, −atan μ'),   μ' = μ tanh(ω R/v_m),   F_n = m |L|/√(1 + μ'²)
    τ = J α + b ω + o − x t·g + y l·g + μ R F_n tanh(ω R/v_m) + c (x t·ü − y l·ü)

x = m s_x, y = m s_y are first moments; l, t the link's axes in the bearing's plane. u depends on μ, x, y: a few passes.
Three variants show what modelling the clearance is worth: `ideal` with sign(ω), `control` with the same smooth friction
and no load, and `load` with the load too; `clearance` has all (design: clearance, A).
"""

from typing import Final, Literal, NamedTuple

import numpy as np

from estimators.quantities import Floats

Sibling = Literal["ideal", "control", "load", "clearance"]
SIBLINGS: Final[tuple[Sibling, ...]] = ("ideal", "control", "load", "clearance")
# columns, and what each is multiplied with
INERTIA: Final = 0  # J, kg·m²
VISCOUS: Final = 1  # b, N·m·s/rad
OFFSET: Final = 2  # o, N·m
MOMENT_X: Final = 3  # x, kg·m
MOMENT_Y: Final = 4  # y, kg·m
FRICTION: Final = 5  # μ
CLEARANCE: Final = 6  # c, m
NAMES: Final = ("inertia", "viscous", "offset", "moment_x", "moment_y", "friction", "clearance")


class Known(NamedTuple):
    """What CAD says of the joint."""

    mass: float  # kg, of all that the pin carries
    radius: float  # m, R of the pin
    slip: float  # m/s, v_m at which the friction is all but full
    gravity: float  # m/s², in the bearing's plane, along −x; 0: the axis is vertical


class Path(NamedTuple):
    """One run: (rows,) each, smoothed as the caller thinks right."""

    angle: Floats
    speed: Floats
    acceleration: Floats


def load(path: Path, known: Known, moment_x: float, moment_y: float) -> Floats:
    """L, (rows, 2), m/s²."""
    l, t = axes(path)  # noqa: E741
    centre = (moment_x * l + moment_y * t) / known.mass
    across = (moment_x * t - moment_y * l) / known.mass
    gravity = np.array([-known.gravity, 0.0])
    return np.asarray(gravity + path.speed[:, None] ** 2 * centre - path.acceleration[:, None] * across)


def axes(path: Path) -> tuple[Floats, Floats]:
    """l and t, (rows, 2) each."""
    c, s = np.cos(path.angle), np.sin(path.angle)
    return np.column_stack([c, s]), np.column_stack([-s, c])


def slipping(path: Path, known: Known) -> Floats:
    """tanh(ω R/v_m), (rows,)."""
    return np.asarray(np.tanh(path.speed * known.radius / known.slip))


def direction(path: Path, known: Known, theta: Floats) -> tuple[Floats, Floats]:
    """u (rows, 2), where the pin lies, and F_n (rows,), N, for the friction and first moments in theta."""
    L = load(path, known, theta[MOMENT_X], theta[MOMENT_Y])
    length = np.maximum(np.hypot(L[:, 0], L[:, 1]), 1e-9)
    slope = theta[FRICTION] * slipping(path, known)
    c, s = 1.0 / np.sqrt(1.0 + slope**2), -slope / np.sqrt(1.0 + slope**2)
    x, y = L[:, 0] / length, L[:, 1] / length
    return np.column_stack([c * x - s * y, s * x + c * y]), known.mass * length * c


def columns(path: Path, known: Known, sibling: Sibling, theta: Floats, period: float) -> Floats:
    """(rows, 7); a sibling without clearance has zeros there. theta: of the pass before; period: s between rows."""
    l, t = axes(path)  # noqa: E741
    phi = np.zeros((len(path.angle), len(NAMES)))
    phi[:, INERTIA], phi[:, VISCOUS], phi[:, OFFSET] = path.acceleration, path.speed, 1.0
    phi[:, MOMENT_X], phi[:, MOMENT_Y] = known.gravity * t[:, 0], -known.gravity * l[:, 0]
    u, normal = direction(path, known, theta)
    if sibling == "ideal":
        phi[:, FRICTION] = known.radius * known.mass * 9.81 * np.sign(path.speed)
    elif sibling == "control":
        slip = slipping(path, known)
        phi[:, FRICTION] = known.radius * known.mass * 9.81 * slip / np.sqrt(1.0 + (theta[FRICTION] * slip) ** 2)
    else:
        phi[:, FRICTION] = known.radius * normal * slipping(path, known)
    if sibling == "clearance":
        second = np.zeros_like(u)
        second[1:-1] = np.diff(u, 2, axis=0) / period**2
        phi[:, CLEARANCE] = theta[MOMENT_X] * np.sum(t * second, axis=1) - theta[MOMENT_Y] * np.sum(l * second, axis=1)
    return phi
