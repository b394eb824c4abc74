"""The picture of `jointwatch reproduce pointing`: Figures 5 to 8 of the paper, and what clearance seems to explain."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from hil_rig.plants.mechanisms.journal import published

EACH: Final = 200  # evaluations of one cycle: 100 sources, 100 onlookers


def plot(path: Path, content: dict[str, Any]) -> None:
    """Draw torque errors of the three models, and error ratios relative to both references."""
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(13, 8), layout="constrained")
    upper, lower = drawing.subplots(2, 3)
    left, right, bees = lower
    _excitation(upper)
    counts, errors = np.array(content["curve"]).T
    bees.plot(counts / EACH, errors * 1e3)
    bees.set_yscale("log")
    bees.set_xlabel("cycle of the bee colony (Figure 8)")
    bees.set_ylabel("error of its best, mN·m")
    bees.grid(alpha=0.3)
    left.bar(range(3), content["errors"], color=["C3", "C7", "C0"])
    left.set_xticks(range(3), ["ideal:\nsign(ω)", "control:\nsmooth, no\nclearance", "with\nclearance"])
    left.set_ylabel("torque error of joint 1, mN·m")
    against_ideal, against_control = content["ratios"]
    place = np.arange(len(against_ideal))
    right.bar(place - 0.2, against_ideal, 0.4, color="C3", label="relative to sign(ω): looks like a gain")
    right.bar(place + 0.2, against_control, 0.4, color="C7", label="relative to the control: there is none")
    right.axhline(1.0, color="k", linewidth=0.8)
    right.set_yscale("log")
    right.set_ylim(top=4.0)
    right.set_xticks(place, [f"b{i + 1}" for i in place])
    right.set_ylabel("parameter error with clearance / without")
    right.legend(frameon=False, fontsize=8)
    for axes in (left, right):
        axes.grid(axis="y", alpha=0.3)
    drawing.suptitle("Pointing mechanism, Figures 5 to 8: what clearance seems to explain is the friction's shape")
    drawing.savefig(path, dpi=120)


def _excitation(axes: Any) -> None:
    """Draw Figures 5 to 7: angle, velocity and acceleration of both shafts according to Table 1."""
    for axis in range(2):
        moved = published(20.0, axis)
        times = np.arange(len(moved)) * 1e-3
        for place, one in enumerate(axes):
            one.plot(times, moved[:, place], label=f"shafting {axis + 1}")
    for one, name in zip(axes, ("angle, rad (Figure 5)", "rad/s (Figure 6)", "rad/s² (Figure 7)"), strict=True):
        one.set_ylabel(name)
        one.set_xlabel("time, s")
        one.grid(alpha=0.3)
    axes[0].legend(frameon=False)
