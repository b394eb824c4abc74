"""The body that a robot carries: mass, centre and inertia with their deviations, within what is physically possible."""

from functools import cache
from typing import Final, NamedTuple

import numpy as np

from estimators.models.robots.inertia import metric, nearest_physical, parameters_of, pseudo_inertia, standard
from estimators.quantities import Floats

#: kg and m, argued: Prior deviations of a payload's mass and size.
TOOL: Final = (5.0, 0.15)
#: 1, argued: Share of the prior's deviation below which an inertia counts as measured: three quarters of the variance.
MEASURED: Final = 0.5


class Payload(NamedTuple):
    """Declares a body that the last link carries in addition to the model's."""

    mass: float  # kg
    mass_deviation: float
    centre: Floats  # (3,) m, in the last link's frame; NaN where the mass is within its deviation
    centre_deviation: Floats  # (3,)
    carried: bool  # certain enough to be counted
    inertia: Floats = np.full(
        6, np.nan
    )  # (6,) xx, xy, yy, xz, yz, zz, kg·m² about its centre; NaN where the motion does not identify it
    inertia_deviation: Floats = np.full(6, np.inf)  # (6,)


NO_PAYLOAD: Final = Payload(0.0, np.inf, np.full(3, np.nan), np.full(3, np.inf), False)


@cache
def tool_prior() -> Floats:
    """Covariance (10, 10) of a payload before any motion, from the pullback metric of the inertia of a tool."""
    mass, size = TOOL
    return np.asarray(np.linalg.inv(metric(standard(mass, np.zeros(3), mass * size**2 * np.eye(3)))), np.float64)


def as_payload(values: Floats, covariance: Floats, scale: float) -> Payload:
    """A body's ten parameters (10,) with deviations; where no body can have them, those of the nearest that can exist.

    Deviations are those of `values`, before that. scale: relative deviation of the torque. A negative mass, of a body
    that the model has and the robot lacks, is left as it is.
    """
    deviation = float(np.sqrt(covariance[0, 0] + (scale * values[0]) ** 2))
    if abs(values[0]) < deviation:
        return NO_PAYLOAD._replace(mass=float(values[0]), mass_deviation=deviation)
    body = nearest_physical(values, covariance) if values[0] > 0.0 else values
    mass = float(body[0])
    centre = body[1:4] / mass
    jacobian = np.column_stack([-centre / mass, np.eye(3) / mass])
    around = np.sqrt(np.diag(jacobian @ covariance[:4, :4] @ jacobian.T))
    found = Payload(mass, deviation, centre, around, False)
    if mass < 0.0:
        return found
    inertia, its = _inertia(body, covariance, scale)
    return found._replace(inertia=inertia, inertia_deviation=its)


def _inertia(body: Floats, covariance: Floats, scale: float) -> tuple[Floats, Floats]:
    """Inertia about the centre and its deviations, (6,) each, as far as the motion identifies them."""
    mass, h = body[0], body[1:4]
    about = parameters_of(pseudo_inertia(body) - np.pad(np.outer(h, h) / mass, (0, 1)))[4:]
    jacobian = np.zeros((len(about), len(body)))
    jacobian[:, 0] = _lever(h, h) / mass**2
    jacobian[:, 1:4] = np.column_stack([-2.0 * _lever(h, axis) / mass for axis in np.eye(3)])
    jacobian[:, 4:] = np.eye(len(about))
    known, before = (np.sqrt(np.diag(jacobian @ one @ jacobian.T)) for one in (covariance, tool_prior()))
    measured = known < MEASURED * before
    deviation = np.sqrt(known**2 + (scale * about) ** 2)
    return np.where(measured, about, np.nan), np.where(measured, deviation, np.inf)


def _lever(a: Floats, b: Floats) -> Floats:
    """a·b 1 − (a bᵀ + b aᵀ)/2 as six numbers: the inertia of a point, and its derivative."""
    matrix = a @ b * np.eye(3) - 0.5 * (np.outer(a, b) + np.outer(b, a))
    six: Floats = matrix[np.array([0, 0, 1, 0, 1, 2]), np.array([0, 1, 1, 2, 2, 2])]
    return six
