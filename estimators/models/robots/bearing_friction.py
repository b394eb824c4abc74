"""Friction that the constraint forces of a joint's own bearing make, a law of the whole robot's model only.

    τ_f = c ω + [C + r f_r + a f_a + b m_b] s + [C' + r' f_r + a' f_a + b' m_b] e s,    s = tanh(ω/ε), e = exp(−ω²/ω_s²)

f_r, f_a and m_b are the radial and axial force and the bending moment that the rigid body puts on the joint; of a slide
f_a is the moment about it. r = μ R_p, a = μ R_n and b = μ R_p/R_b are not negative; C is what needs no load. With
`stribeck` the primed columns are there too: μ_s − μ_c times the same arms. Guo, Ju, Wang, Aerospace 2024, 11, 368,
eqs. (42), (52). A motion that presses evenly makes columns alike: what it cannot tell apart is named by `identify`.
"""

import math
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field

from estimators.models.friction.base import (
    LOADS,
    NOTHING,
    REVERSALS,
    SIGNATURE,
    FrictionLaw,
    FrictionSettings,
    coulomb,
    numbers,
    viscous,
)
from estimators.models.robots.newton_euler import newton_euler
from estimators.models.robots.tree import AXIS, OFFSET, PRISMATIC, Tree
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import RATE, SMOOTH, SMOOTH_RATE

GUO: Final = "Guo 2024"
CARRIED: Final = 4  # loads of a joint: its torque (force), f_r, f_a, m_b


class BearingSettings(FrictionSettings):
    """Which columns, and the two speeds that they take as known."""

    kind: Literal["bearing"] = "bearing"
    coulomb: bool = True
    stribeck: Annotated[float, Field(ge=0.001, le=5.0)] | None = None  # ω_s, rad/s (m/s); None: no such columns
    transition: Annotated[float, Field(gt=0.0, le=0.5)] = 0.001  # ε, rad/s (m/s)

    def law(self, axis: Axis) -> FrictionLaw:
        """The law in the units of this axis."""
        turns = axis is Axis.ROTARY
        pressed = (
            ("radial", "m" if turns else "1", "μ R_p, friction by the force across the axis"),
            ("axial", "m" if turns else "1/m", "μ R_n, friction by the force along the axis"),
            ("bending", "1" if turns else "1/m", "μ R_p/R_b, friction by the bending moment"),
        )
        rubbing = (coulomb(axis, f"{GUO} (42), the part without load"),) * self.coulomb + tuple(
            Parameter(name, unit, 0.0, math.inf, f"{GUO} (42)", words, LOADS) for name, unit, words in pressed
        )
        slow = tuple(
            one._replace(name=f"{one.name}_stribeck", equation=f"{GUO} (52)", needs=REVERSALS) for one in rubbing
        )
        parameters = (viscous(axis, f"{GUO} (42), c_v"), *rubbing, *slow * (self.stribeck is not None))
        constants = numbers(self.coulomb, self.stribeck or 0.0, self.transition)
        return FrictionLaw(parameters, (), NOTHING, constants, kernel=_fill, loads=CARRIED)


def carried(robot: Tree, parameters: Floats, q: Floats, dq: Floats, ddq: Floats) -> Floats:
    """What the rigid body puts on every joint: (rows, n, CARRIED) torque (force), f_r, f_a, m_b; SI.

    parameters: (n, 10) standard; q, dq, ddq: (rows, n).
    """
    n = robot.size()
    tau, wrench = np.empty((len(q), n)), np.empty((len(q), n, 6))
    q, dq, ddq, parameters = (np.ascontiguousarray(one) for one in (q, dq, ddq, parameters))
    newton_euler(*robot, q, dq, ddq, parameters, np.zeros((0, n, 6)), tau, wrench)
    axis = robot.geometry[:, AXIS:OFFSET]
    along, about = (np.einsum("rnk,nk->rn", part, axis) for part in (wrench[..., :3], wrench[..., 3:]))
    across = np.linalg.norm(wrench[..., :3] - along[..., None] * axis, axis=2)
    bent = np.linalg.norm(wrench[..., 3:] - about[..., None] * axis, axis=2)
    return np.stack([tau, across, np.abs(np.where(robot.kind == PRISMATIC, about, along)), bent], axis=2)


@kernel(SIGNATURE)
def _fill(signals: Floats, position: int, load: int, constants: Floats, _eta: Floats, columns: Floats) -> None:
    with_coulomb, width, transition = constants
    first = 2 if with_coulomb > 0.0 else 1
    for row in range(len(signals)):
        v = signals[row, position, SMOOTH_RATE]
        s = np.tanh(v / transition)
        columns[row, 0] = signals[row, position, RATE]
        if with_coulomb > 0.0:
            columns[row, 1] = s
        for kind in range(CARRIED - 1):
            columns[row, first + kind] = signals[row, load + 1 + kind, SMOOTH] * s
        if width > 0.0:
            peak = np.exp(-((v / width) ** 2))
            rubbing = first - 1 + CARRIED - 1
            for k in range(rubbing):
                columns[row, 1 + rubbing + k] = peak * columns[row, 1 + k]
