"""What a joint's bearing carries, and the friction that this load makes.

    f_a = |f·z|,  f_r = |f − (f·z) z|,  m_b = |m − (m·z) z|                         of the wrench (f, m) at its origin
    revolute    T_N = R_p f_r + R_n f_a + (R_p/R_b) m_b          N·m
    prismatic   F_N = f_r + m_b/L + |m·z|/R_n                    N
    μ = μ_c + (μ_s − μ_c) exp(−(ω/ω_s)²),   τ_f = μ T_N tanh(ω/ε) + c_v ω                    (Guo 2024, (42), (52))

R_p pin radius, R_n friction arm, R_b bending reaction arm: the quantities of ADAMS' JOINT/FRICTION. μ_s = μ_c leaves
Coulomb and viscous friction. T_N does not depend on the torque about the axis.
"""

from typing import Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.quantities import Floats

# columns of bearing (joints, BEARING)
PIN: Final = 0  # R_p, m; of a prismatic joint its overlap L
FRICTION_ARM: Final = 1  # R_n, m
BENDING_ARM: Final = 2  # R_b, m
MU: Final = 3  # μ_c
EXTRA: Final = 4  # μ_s − μ_c
STRIBECK: Final = 5  # ω_s, rad/s (m/s)
VISCOUS: Final = 6  # c_v, N·m·s/rad (N·s/m)
BEARING: Final = 7
# columns of loads (joints, LOADS)
RADIAL: Final = 0  # f_r, N
AXIAL: Final = 1  # f_a, N; of a prismatic joint |m·z|, N·m
BENDING: Final = 2  # m_b, N·m
NORMAL: Final = 3  # T_N, N·m (F_N, N)
RUB: Final = 4  # τ_f, N·m (N)
LOADS: Final = 5


@inline
def resolve(force: Floats, moment: Floats, axis: Floats, slides: bool, bearing: Floats, loads: Floats) -> None:
    """Fill RADIAL, AXIAL, BENDING and NORMAL; force, moment, axis: (3,) in any common axes."""
    f = force[0] * axis[0] + force[1] * axis[1] + force[2] * axis[2]
    m = moment[0] * axis[0] + moment[1] * axis[1] + moment[2] * axis[2]
    across = bent = 0.0
    for k in range(3):
        across += (force[k] - f * axis[k]) ** 2
        bent += (moment[k] - m * axis[k]) ** 2
    loads[RADIAL], loads[AXIAL], loads[BENDING] = np.sqrt(across), abs(f), np.sqrt(bent)
    if slides:
        loads[AXIAL] = abs(m)  # a slide is pressed by force, by bending, and by the moment about its axis
        loads[NORMAL] = loads[RADIAL] + loads[BENDING] / bearing[PIN] + loads[AXIAL] / bearing[FRICTION_ARM]
    else:
        loads[NORMAL] = bearing[PIN] * loads[RADIAL] + bearing[FRICTION_ARM] * loads[AXIAL]
        loads[NORMAL] += bearing[PIN] / bearing[BENDING_ARM] * loads[BENDING]


@inline
def rub(bearing: Floats, normal: float, speed: float, epsilon: float) -> float:
    """τ_f, N·m (or N) against a relative speed, rad/s (m/s)."""
    mu = bearing[MU]
    if bearing[EXTRA] != 0.0:
        mu += bearing[EXTRA] * np.exp(-((speed / bearing[STRIBECK]) ** 2))
    return float(mu * normal * np.tanh(speed / epsilon) + bearing[VISCOUS] * speed)
