"""The picture of `jointwatch reproduce er16`."""

from pathlib import Path
from typing import Final

import numpy as np

from hil_rig.plants.base import Floats
from hil_rig.plants.robots.er16 import FRICTION, JOINTS

PERIOD: Final = 20.0  # s
METHODS: Final = {
    "ics": "improved cuckoo search",
    "cs": "cuckoo search",
    "pso": "swarm 0.72, 1.49",
    "pso_published": "swarm as published",
    "varpro": "variable projection",
    "physical": "the same, fc, fv, fa ≥ 0",
    "smoothed": "variable projection after (15) three times",
    "linear": "linear friction",
}


def plot(path: Path, found: dict[str, Floats]) -> None:
    """Torque and error of the held-out run, the friction curves, and the searches' convergence (Figure 5)."""
    from matplotlib.figure import Figure as Canvas

    torque = found["test_torque"]
    times = np.arange(len(torque)) / len(torque) * PERIOD
    speed = np.linspace(-0.8, 0.8, 401)
    canvas = Canvas(figsize=(13, 12), layout="constrained")
    axes = canvas.subplots(4, JOINTS)
    for one in axes[3][1:]:
        one.remove()
    for name, colour in (("ics", "C1"), ("cs", "C2"), ("pso_published", "0.5"), ("pso", "C4")):
        curves = found[f"{name}_curves"]
        axes[3][0].plot(np.median(curves, axis=0), color=colour, linewidth=1.2, label=METHODS[name])
        axes[3][0].fill_between(
            range(curves.shape[1]), curves.min(axis=0), curves.max(axis=0), color=colour, alpha=0.15
        )
    axes[3][0].set_yscale("log")
    axes[3][0].set_xlabel("iteration (Figure 5; median and extremes of 10)")
    axes[3][0].grid(alpha=0.3)
    for j in range(JOINTS):
        above, middle, below = axes[0][j], axes[1][j], axes[2][j]
        above.plot(times, torque[:, j], color="0.7", linewidth=1.5, label="measured")
        above.plot(times, found["varpro_test"][:, j], color="C0", linewidth=0.8, label="bent friction")
        above.set_title(f"joint {j + 1}")
        for name, colour in (("linear", "0.6"), ("ics", "C1"), ("varpro", "C0")):
            middle.plot(times, torque[:, j] - found[f"{name}_test"][:, j], color=colour, linewidth=0.7, label=name)
            f0, fc, fv, fa, fb = found[f"{name}_x"][-5 * JOINTS :].reshape(JOINTS, 5)[j]
            drag = f0 + fc * np.sign(speed) + fv * speed + fa * np.arctan(fb * speed)
            below.plot(speed, drag, color=colour, linewidth=1.0, label=name)
        f0, fc, fv, fa, fb = (FRICTION[key][j] for key in ("offset", "coulomb", "viscous", "bend", "bend_rate"))
        drag = f0 + fc * np.sign(speed) + fv * speed + fa * np.arctan(fb * speed)
        below.plot(speed, drag, "k--", linewidth=0.8, label="truth")
        above.set_xlabel("time, s")
        middle.set_xlabel("time, s")
        below.set_xlabel("speed, rad/s")
        for one in (above, middle, below):
            one.grid(alpha=0.3)
    for row, word in enumerate(("torque, N·m", "error of a motion not learnt from, N·m", "friction, N·m", "F, N·m")):
        axes[row][0].set_ylabel(word)
        axes[row][0].legend(frameon=False, fontsize=8)
    canvas.savefig(path, dpi=110)
