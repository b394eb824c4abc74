"""The tables of Ding et al., J. Robotics 2018, 8219123: limits, box of the searches, trajectory, costs, correlations.

Table 1 prints only the maxima of the torques. Table 5 excludes two of the paper's own results in Table 3: Izz2 =
44.5863 is outside [−10, 10], fa1 = 32.3929 outside [−30, 30]; `box` widens both bounds. β (A.1) does not say which
column is which. It is read here as a1 … a5, b1 … b5, q0 of (13), with the printed period of 25 s (the printed 0.05 Hz
would be 20 s): of the orders that were tried this one exceeds Table 1's limits least, but it exceeds them.
"""

from pathlib import Path
from typing import Final

import numpy as np

from hil_rig.plants.base import Floats

LOWER: Final = (-180.0, -60.0, -170.0)  # Table 1: °
UPPER: Final = (180.0, 60.0, 80.0)
VELOCITY: Final = (145.0, 105.0, 170.0)  # °/s
ACCELERATION: Final = (50.0, 40.0, 65.0)  # °/s²
TORQUE: Final = (1200.0, 1000.0, 600.0)  # N·m
TABLE_5: Final[dict[str, tuple[float, float]]] = {
    "Izz.joint1": (0.0, 80.0),
    "Ixx.joint2": (-40.0, 40.0),
    "Ixy.joint2": (-10.0, 10.0),
    "Ixz.joint2": (-5.0, 5.0),
    "Iyz.joint2": (-3.0, 3.0),
    "Izz.joint2": (-10.0, 10.0),
    "mx.joint2": (0.0, 100.0),
    "my.joint2": (-20.0, 20.0),
    "Ixx.joint3": (-10.0, 10.0),
    "Ixy.joint3": (-10.0, 10.0),
    "Ixz.joint3": (-10.0, 10.0),
    "Iyz.joint3": (-10.0, 10.0),
    "Izz.joint3": (-30.0, 30.0),
    "mx.joint3": (-10.0, 10.0),
    "my.joint3": (-20.0, 20.0),
}
FRICTION_BOX: Final = (10.0, 10.0, 10.0, 30.0, 10.0), (100.0, 10.0, 150.0, 100.0, 50.0), (20.0, 50.0, 10.0, 10.0, 10.0)
"""Table 5's bounds of f0, fc, fv, fa, fb of joints 1 to 3: ± so much."""
WIDENED: Final = {"Izz.joint2": (0.0, 80.0)}
FIRST_BEND: Final = 40.0  # bound of fa1, instead of 30
COSTS: Final = {"ics": 29.0753, "cs": 30.2513, "pso_published": 31.8865}
TABLE_4: Final = {
    "ics": (99.07, 99.50, 99.67),
    "cs": (98.03, 99.27, 99.28),
    "pso_published": (97.22, 99.10, 99.18),
}
AHEAD: Final = 50  # iterations after which Figure 5 has ICS below the others
BETA: Final = np.array(
    [
        (-0.42, -0.21, -0.17, -0.25, -0.25, -0.08, 0.43, 0.62, 0.21, 0.49, 0.10),
        (0.15, 0.45, -0.12, -0.35, 0.12, 0.44, 0.67, 0.01, 0.04, 0.01, -0.12),
        (-0.24, -0.24, 0.23, 0.10, -0.09, 0.21, 0.21, 0.03, 0.93, -0.23, -0.34),
    ]
)
BETA_PERIOD: Final = 25.0  # s


def box(names: list[str], printed: bool = False) -> tuple[Floats, Floats]:
    """Lower and upper bounds of the base parameters `names`, then of each joint's five friction parameters."""
    links = [TABLE_5[name] if printed else WIDENED.get(name, TABLE_5[name]) for name in names]
    own = np.array(FRICTION_BOX)
    if not printed:
        own[0, 3] = FIRST_BEND
    reach = own.ravel()
    low, high = np.array(links).T
    return np.concatenate([low, -reach]), np.concatenate([high, reach])


def write_beta(file: Path) -> None:
    """Write β as `jointwatch excite --check` reads it: q0, then velocities a (l w) and −b (l w)."""
    order = 2 * np.pi / BETA_PERIOD * np.arange(1, 6)
    lines = [",".join(["joint", "frequency", "q0", *(f"{letter}{k}" for letter in "ab" for k in range(1, 6))])]
    for j, row in enumerate(BETA):
        values = [1.0 / BETA_PERIOD, row[10], *(row[:5] * order), *(-row[5:10] * order)]
        lines.append(",".join([f"joint{j + 1}", *(repr(float(one)) for one in values)]))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
