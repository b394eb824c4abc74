"""The tables of Liu et al., Actuators 2023, 12, 454: limits of the joints, excitation, residuals.

Table 3's motion follows (15): θ(t) = θ0 + Σ a/(w l) sin(w l t) − b/(w l) cos(w l t), a, b in rad/s. The paper says
both "0.02 Hz" and "cycle 20 s"; its coefficients satisfy θ(0) = 0 of (18) with w = 0.314 to 0.317 rad/s: 0.05 Hz.
"""

from pathlib import Path
from typing import Final

import numpy as np

from hil_rig.plants.robots.fourier import MotionLimits

FREQUENCY: Final = 0.05  # Hz
TABLE_1: Final = MotionLimits(  # positions, velocities, accelerations: ± so much
    np.radians((120.0, 90.0, 60.0, 120.0, 120.0, 120.0)),
    np.radians((100.0, 60.0, 60.0, 80.0, 80.0, 80.0)),
    np.radians((120.0, 120.0, 120.0, 120.0, 120.0, 120.0)),
)
TABLE_2: Final = {"cond": 189.4012, "block": 162.2440}  # cond of the regressor, by the criterion that was minimised
TABLE_3: Final = np.array(  # a1 … a5, b1 … b5 (rad/s), θ0 (rad); a column a joint
    [
        (0.0046, -0.0406, -0.1772, -0.1704, -0.0210, 0.0673),
        (-0.0074, 0.0597, 0.0661, 0.1161, -0.1317, 0.2685),
        (0.4845, 0.2492, 0.1019, -0.1703, 0.3614, 0.1682),
        (-0.5103, 0.0678, 0.0189, 0.1426, -0.1994, -0.4241),
        (0.0286, -0.3361, -0.0097, 0.0820, -0.0094, -0.0763),
        (-0.0053, -0.0234, -0.0001, 0.0088, 0.1460, 0.1335),
        (-0.0182, -0.2122, -0.0583, -0.3357, -0.3491, 0.0677),
        (0.6963, 0.1619, 0.0450, 0.1996, 0.3639, 0.0942),
        (-0.3354, -0.1082, 0.1273, 0.1731, -0.1008, -0.2907),
        (-0.1411, 0.0789, -0.1056, -0.1257, -0.0273, 0.1227),
        (0.3361, -0.2762, -0.0112, -0.2369, 0.1976, 0.4777),
    ]
)
TABLE_4: Final = {  # rms of the torque's error, N·m
    "wls": (2.3376, 2.1278, 1.5395, 0.3361, 0.7101, 0.2578),
    "ours": (1.9594, 1.7345, 1.1609, 0.3027, 0.5852, 0.2096),
}


def gains() -> list[float]:
    """Per cent by which Table 4's second row is below its first, for each joint."""
    return [100.0 * (1.0 - ours / wls) for wls, ours in zip(TABLE_4["wls"], TABLE_4["ours"], strict=True)]


def write_trajectory(file: Path) -> None:
    """Write Table 3 as `jointwatch excite --check` and the rigs read it."""
    names = ["joint", "frequency", "q0", *(f"{letter}{k}" for letter in "ab" for k in range(1, 6))]
    lines = [",".join(names)]
    for j, column in enumerate(TABLE_3.T):
        values = [FREQUENCY, column[-1], *column[:-1]]
        lines.append(",".join([f"joint{j + 1}", *(repr(float(one)) for one in values)]))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
