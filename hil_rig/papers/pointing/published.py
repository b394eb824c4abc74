"""Table 3 of Sun et al., Robotics 2021, 10, 36: system value, with clearance, ideal model; and its error ratios.

The printed rows "Ls1 = 2.1391 m" and "m1 = 0.04821 kg" are exchanged, as their magnitudes and Table 3's order show.
"""

from typing import Final

import numpy as np

from hil_rig.plants.base import Floats

TABLE_3: Final[dict[str, tuple[float, float, float]]] = {  # kg·m², kg, m
    "Ixx2": (0.00467, 0.00685, 0.00077),
    "Ixy2": (0.0, 0.00803, 0.00343),
    "Ixz2": (0.0, 0.00296, 0.00783),
    "Iyy2": (0.00533, 0.00967, 0.00474),
    "Iyz2": (0.0, 0.00189, 0.00340),
    "Izz2": (0.00181, 0.00131, 0.00640),
    "m2": (0.8596, 0.84191, 0.82352),
    "Ls2": (0.03419, 0.03394, 0.03274),
    "Izz1": (0.0175, 0.00834, 0.00486),
    "m1": (2.1391, 2.13699, 2.08471),
    "Ls1": (0.04821, 0.04815, 0.05241),
}
RATIOS: Final = (0.55897, 2.34111, 0.37803, 7.427356, 0.55588, 0.10893, 0.49029, 0.17241, 0.72468, 0.03879, 0.01425)


def parameters(standard: Floats) -> Floats:
    """Table 3's eleven parameters, from the standard parameters of both links.

    standard: (2, 10) m mx my mz Ixx Ixy Iyy Ixz Iyz Izz, in axes that are parallel to the base's at zero, where the
    paper's y₂ is along z and its z₂ along −y.
    """
    one, two = standard
    xx, xy, yy, xz, yz, zz = two[4:]
    return np.array([xx, xz, -xy, zz, -yz, yy, two[0], two[1] / two[0], one[9], one[0], one[1] / one[0]])
