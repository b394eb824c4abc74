"""`jointwatch reproduce tree`: five axes in a tree whose friction depends on the load of their bearings.

Guo, Ju, Wang (Aerospace 2024, 11, 368), first case: every axis starts from rest at 0.2 rad/s²; torque and friction are
compared at some instants with Coulomb–viscous friction, and the Stribeck effect where it shows. Then the rig's tree,
integrated by other equations, is compared with this model, and its friction is identified from the torque of its axes.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.integrate import simpson

from estimators.models.mechanisms.dynamics import ALL, IDEAL
from estimators.models.mechanisms.mechanism import Mechanism, MechanismMotion, build, load
from estimators.numerics.splines import zero_phase_low_pass
from estimators.offline.mechanism_fit import identify
from hil_rig.papers.figures import Figure, Reproduced, main
from hil_rig.plants.base import Floats
from hil_rig.plants.mechanisms.tree5 import JOINTS, Tree5, Tree5Settings

TABLE: Final = Path(__file__).parents[1] / "descriptions" / "tree5.toml"
GUO: Final = {"coulomb": 0.005, "viscous": 0.01, "static": 0.05, "stribeck": 0.03}  # the paper's first table
RAMP: Final = 0.2  # rad/s²
TORQUE: Final = {  # N·m (design: tree and closed chains, §2)
    0.0: (1.8539, 1.1280, 0.1200, 1.2360, 0.1440),
    2.5: (5.1645, 3.4984, -1.0364, -0.0673, 0.5077),
    5.0: (8.0251, 1.9318, 3.6722, 8.1995, -5.3221),
}
FRICTION: Final = {2.5: (0.7552, 0.4986, 0.1825, 0.4127, 0.1660), 5.0: (0.9280, 0.6593, 0.2698, 0.5558, 0.2346)}


def parameters(published: Mapping[str, float], experiment: Mechanism, rig: Mechanism) -> str:
    """A table of the first joint's friction: published, in this experiment and in the rig's file."""
    lines = ["friction of every joint (published; in this experiment; in the rig's file):"]
    for name, value in published.items():
        two = (getattr(one.description.links[0].bearing, name) for one in (experiment, rig))
        lines.append(f"  {name:9} {value:<6g} " + " ".join("–" if one is None else f"{one:<6g}" for one in two))
    arms = (", ".join(f"{getattr(one.description.links[0].bearing, arm):g}" for arm in ("pin", "arm", "bending"))
            for one in (experiment, rig))  # fmt: skip
    return "\n".join([*lines, "  arms R_p, R_n, R_b are not published: " + "; ".join(arms) + " m"])


def paper(static: float | None = None) -> Mechanism:
    """The paper's mechanism with arms of 1 m, which its numbers imply."""
    content = load(TABLE).description.model_dump()
    for link in content["links"]:
        link["bearing"] |= {"pin": 1.0, "arm": 1.0, "bending": 1.0, "coulomb": 0.005, "viscous": 0.01}
        link["bearing"] |= {"static": static, "stribeck": 0.03}
    return build(content)


def ramp(t: Floats) -> MechanismMotion:
    """Accelerate every axis by one constant."""
    one = np.ones((len(t), JOINTS))
    return MechanismMotion(0.5 * RAMP * t[:, None] ** 2 * one, RAMP * t[:, None] * one, RAMP * one)


def table(options: argparse.Namespace) -> Reproduced:
    """Return the figures of the paper, of the power balance, and of the rig's tree."""
    del options
    mechanism = paper()
    figures: list[Figure] = []
    for at, values in TORQUE.items():
        found = mechanism.inverse(ramp(np.array([at])), IDEAL).tau[0]
        figures.append(
            Figure(
                f"ideal torque at {at:g} s: off the reference at most",
                float(np.max(np.abs(found - values))),
                high=1e-4,
                unit="N·m",
            )
        )
    for at, values in FRICTION.items():
        motion = ramp(np.array([at]))
        rubbed = (mechanism.inverse(motion).tau - mechanism.inverse(motion, IDEAL).tau)[0]
        figures.append(
            Figure(
                f"friction at {at:g} s: off the reference at most",
                float(np.max(np.abs(rubbed - values))),
                high=1e-4,
                unit="N·m",
            )
        )
    t = np.arange(0.0, 5.0 + 5e-3, 0.01)
    motion = ramp(t)
    found, energy = mechanism.inverse(motion, ALL), mechanism.energy(motion)
    figures.append(
        Figure("energy after 5 s", float(energy[-1] - energy[0]), 33.5464 - 1e-4, 33.5464 + 1e-4, "J", "33.5464")
    )
    power = ((found.tau - found.loads[:, :, 4]) * motion.dq).sum(axis=1)
    off = abs(float(simpson(power, dx=0.01)) - (energy[-1] - energy[0])) / (energy[-1] - energy[0])
    figures.append(Figure("power balance, 10 ms grid", float(off), high=1e-6, reference="1.5e-6 (trapezoid)"))
    stribeck = paper(0.05).inverse(motion).tau - found.tau
    after = float(np.max(np.abs(stribeck[t > 0.5]))) / float(np.max(np.abs(stribeck)))
    figures.append(Figure("Stribeck after 0.5 s, of its largest", after, high=1e-3, reference="differs only before"))
    words = [_rig(figures), parameters(GUO, paper(0.05), load(TABLE))]
    return Reproduced(figures, words, (t, found.tau, stribeck, motion))


def _rig(figures: list[Figure]) -> str:
    settings = Tree5Settings()
    played = Tree5(settings, 1, []).exact(30_000)
    smooth = zero_phase_low_pass(played[:, : 2 * JOINTS], 2, 60.0, settings.rate)
    dq = np.gradient(smooth[:, :JOINTS], 1 / settings.rate, axis=0)
    ddq = np.gradient(dq, 1 / settings.rate, axis=0)
    part = slice(500, -500, 10)
    motion = MechanismMotion(*(np.ascontiguousarray(one[part]) for one in (smooth[:, :JOINTS], dq, ddq)))
    torque = smooth[part, JOINTS:]
    mechanism = load(TABLE)
    judged = mechanism.inverse(motion, ALL, 1e-3).tau
    size = float(np.sqrt(np.mean(torque**2)))
    figures.append(
        Figure(
            "rig's torque against this model, rms",
            100 * float(np.sqrt(np.mean((judged - torque) ** 2))) / size,
            high=2.0,
            unit="%",
        )
    )
    fit = identify(mechanism, motion, torque, 1e-3)
    found = dict(zip(fit.names, fit.friction, strict=True))
    true = settings.mu * settings.pin
    off = [found[f"radial axis{i}"] / true - 1.0 for i in range(1, JOINTS + 1)]
    figures.append(
        Figure("rig: μ R_p found from the torque, worst axis", 100 * float(np.max(np.abs(off))), high=10.0, unit="%")
    )
    return f"What the rig's torque cannot tell: {'; '.join(fit.remarks)}."


def plot(path: Path, content: Any) -> None:
    """Draw the torque of the five axes, and the contribution of the Stribeck effect in the first 0.8 s."""
    from matplotlib.figure import Figure as Drawing

    t, tau, stribeck, _ = content
    drawing = Drawing(figsize=(9, 6), layout="constrained")
    above, below = drawing.subplots(2, 1)
    for axis in range(JOINTS):
        above.plot(t, tau[:, axis], label=f"axis {axis + 1}")
        below.plot(t, stribeck[:, axis])
    for instant, values in TORQUE.items():
        friction = np.array(FRICTION.get(instant, (0.0,) * JOINTS))
        above.plot([instant] * JOINTS, np.array(values) + friction, "k.", label="reference" if instant == 0.0 else None)
    above.set_ylabel("torque, N·m")
    below.set_ylabel("share of the Stribeck effect, N·m")
    below.set_xlim(0.0, 0.8)
    for axes in (above, below):
        axes.set_xlabel("time, s")
        axes.grid(alpha=0.3)
    above.legend(frameon=False, ncols=2)
    drawing.suptitle("Five axes accelerating at 0.2 rad/s²: torque with friction that depends on the bearings' load")
    drawing.savefig(path, dpi=120)


if __name__ == "__main__":
    sys.exit(main("tree", __doc__, table, plot))
