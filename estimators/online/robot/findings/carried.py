"""The body that a robot carries: mass and centre with their deviations."""

from typing import Final, NamedTuple

import numpy as np

from estimators.quantities import Floats


class Payload(NamedTuple):
    """Declares a body that the last link carries beyond the model."""

    mass: float  # kg
    mass_deviation: float
    centre: Floats  # (3,) m, in the last link's frame; NaN where the mass is within its deviation
    centre_deviation: Floats  # (3,)
    carried: bool  # certain enough to be counted


NO_PAYLOAD: Final = Payload(0.0, np.inf, np.full(3, np.nan), np.full(3, np.inf), False)


def as_payload(values: Floats, covariance: Floats, scale: float) -> Payload:
    """A body's ten parameters (10,) as mass and centre with deviations; scale: relative deviation of the torque."""
    mass = float(values[0])
    deviation = float(np.sqrt(covariance[0, 0] + (scale * mass) ** 2))
    if abs(mass) < deviation:
        return Payload(mass, deviation, np.full(3, np.nan), np.full(3, np.inf), False)
    centre = values[1:4] / mass
    jacobian = np.column_stack([-centre / mass, np.eye(3) / mass])
    spread = np.sqrt(np.diag(jacobian @ covariance[:4, :4] @ jacobian.T))
    return Payload(mass, deviation, centre, spread, False)
