"""`jointwatch reproduce closed-chain`: a leg of three loops whose friction depends on its constraint forces.

Guo, Ju, Wang (Aerospace 2024, 11, 368), second case: the drive's torque in three positions, without friction, with
friction of the driven joint only, and with friction of all ten joints, which needs a fixed-point iteration. Then the
rig's leg, integrated by other equations, is compared with this model, and its friction is identified from the drive's
torque.
"""

import argparse
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.integrate import simpson

from estimators.models.mechanisms.description import MechanismError
from estimators.models.mechanisms.dynamics import ACTIVE, ALL, IDEAL
from estimators.models.mechanisms.mechanism import Mechanism, MechanismMotion, build, load
from estimators.numerics.splines import zero_phase_low_pass
from estimators.offline.mechanism_fit import identify
from hil_rig.papers.figures import Figure, Reproduced, main, truth
from hil_rig.papers.joint_constraint_forces.tree import parameters
from hil_rig.plants.base import Floats
from hil_rig.plants.mechanisms.leg import CRANK, Leg, LegSettings

TABLE: Final = Path(__file__).parents[1] / "descriptions" / "leg.toml"
PLACES: Final = (0.0, 0.2, 0.4)  # rad, angles of the crank
SPEED: Final = 0.1  # rad/s
REFERENCE: Final = {  # N·m (design: tree and closed chains, §3)
    "ideal": (0.88695, 1.41147, 1.81818),
    "driven joint": (0.90312, 1.43245, 1.84568),
    "driven joint, Stribeck": (0.91985, 1.45451, 1.87493),
    "all joints": (1.00627, 1.54822, 1.97971),
    "all joints, Stribeck": (1.18404, 1.72565, 2.18738),
    "driven joint, arms 1 m": (3.92053, 5.40958, 7.11933),
    "driven joint, arms 1 m, Stribeck": (7.26739, 9.82095, 12.96878),
}
GUO: Final = {"coulomb": 0.05, "viscous": 0.01, "static": 0.2, "stribeck": 0.1}  # the paper's second table
CUT_FORCES: Final = (-21.492, 19.089, 32.497, 61.081, 9.882, -69.641)  # N, at the first angle


def leg(stribeck: bool = False, arms: float | None = None, coulomb: float = 0.05) -> Mechanism:
    """The mechanism of leg.toml with other bearings."""
    content = load(TABLE).description.model_dump()
    for joint in (*content["links"], *content["cuts"]):
        joint["bearing"] |= {"coulomb": coulomb, "static": 0.2 if stribeck else None}
        if arms is not None:
            joint["bearing"] |= {"pin": arms, "arm": arms, "bending": arms}
    return build(content)


def crank(
    mechanism: Mechanism, angle: Floats, speed: Floats | float, acceleration: Floats | float = 0.0
) -> MechanismMotion:
    """The motion of the whole mechanism, computed from the motion of its drive."""
    q, dq, ddq = np.zeros((3, len(angle), mechanism.size()))
    q[:, CRANK], dq[:, CRANK], ddq[:, CRANK] = angle, speed, acceleration
    return mechanism.fit(q, dq, ddq)


def table(options: argparse.Namespace) -> Reproduced:
    """Return the figures of the paper, of the power balance, and of the rig's leg."""
    del options
    figures: list[Figure] = []
    modes = {"ideal": IDEAL, "driven joint": ACTIVE, "all joints": ALL}
    iterations = 0
    for name, values in REFERENCE.items():
        mechanism = leg("Stribeck" in name, 1.0 if "1 m" in name else None)
        mode = modes[name.split(",")[0]]
        found = mechanism.inverse(crank(mechanism, np.array(PLACES), SPEED), mode)
        off = float(np.max(np.abs(found.tau[:, CRANK] / values - 1.0)))
        figures.append(Figure(f"torque, {name}: off the reference at most", off, high=1e-4))
        if mode == ALL:
            iterations = max(iterations, int(found.iterations.max()))
    mechanism = leg()
    motion = crank(mechanism, np.array(PLACES), SPEED)
    forces = mechanism.inverse(motion, IDEAL).cut_forces[0]
    figures.append(
        Figure("cut forces: off the reference at most", float(np.max(np.abs(forces - CUT_FORCES))), high=1e-3, unit="N")
    )
    figures.append(Figure("fixed point: iterations, mu R_p ≤ 1e-3 m", float(iterations), high=15.0, reference="8-11"))
    figures.append(Figure("power balance, 10 ms grid", balance(mechanism), high=1e-6, reference="1e-7 J of .557"))
    try:
        leg(arms=1.0).inverse(crank(leg(arms=1.0), np.array(PLACES), SPEED), ALL)
        said = ""
    except MechanismError as error:
        said = str(error)
    figures.append(truth("arms of 1 m: divergence told", "does not settle" in said, "yes"))
    drawn, words = _rig(figures, mechanism)
    words_ = [f"Arms of 1 m: {said}.", words, parameters(GUO, leg(stribeck=True), load(TABLE))]
    return Reproduced(figures, words_, drawn)


def balance(mechanism: Mechanism) -> float:
    """|work of the drive − loss by friction − gain of energy| over 4 s, as a share of the largest gain."""
    t = np.arange(0.0, 4.0 + 5e-3, 0.01)
    angle, speed, second = 0.1 * t + 0.2 * np.sin(t) ** 2, 0.1 + 0.2 * np.sin(2 * t), 0.4 * np.cos(2 * t)
    motion = crank(mechanism, angle, speed, second)
    found = mechanism.inverse(motion, ALL)
    _, turns = mechanism.loops(motion.q)
    relative = np.concatenate([motion.dq, np.einsum("rcn,rn->rc", turns, motion.dq)], axis=1)
    power = found.tau[:, CRANK] * motion.dq[:, CRANK] - (found.loads[:, :, 4] * relative).sum(axis=1)
    energy = mechanism.energy(motion)
    work = float(simpson(power, dx=0.01))
    return float(abs(work - (energy[-1] - energy[0])) / np.max(np.abs(energy - energy[0])))


def _rig(figures: list[Figure], mechanism: Mechanism) -> tuple[Any, str]:
    """Compare the rig's leg with this model, and identify its friction from the drive's torque alone."""
    settings = LegSettings()
    played = Leg(settings, []).exact(20_000)
    figures.append(Figure("rig: the loops stay closed to", float(played[:, 10].max()), high=1e-12, unit="m"))
    smooth = zero_phase_low_pass(played[:, :2], 2, 60.0, settings.rate)
    speed = np.gradient(smooth[:, 0], 1 / settings.rate)
    second = np.gradient(speed, 1 / settings.rate)
    part = slice(500, -500, 10)
    motion = crank(mechanism, smooth[part, 0], speed[part], second[part])
    torque = smooth[part, 1]
    size = float(np.sqrt(np.mean(torque**2)))
    judged = mechanism.inverse(motion, ALL, 1e-3).tau[:, CRANK]
    figures.append(
        Figure(
            "rig's torque against this model, rms",
            100 * float(np.sqrt(np.mean((judged - torque) ** 2))) / size,
            high=2.0,
            unit="%",
        )
    )
    fit = identify(mechanism, motion, torque[:, None], 1e-3, shared=True)
    found = dict(zip(fit.names, fit.friction, strict=True))
    mu = found["radial all joints"] / (settings.mu * settings.pin)
    words = (
        f"Friction found from the drive's torque, one bearing for all joints: μ R_p {mu:.2f} of its truth, c_v "
        f"{found['viscous all joints'] / settings.viscous:.2f}; {'; '.join(fit.remarks)}. One drive does not identify "
        "more: the columns of the single joints are nearly collinear."
    )
    angle = np.linspace(-0.8, 0.8, 161)
    curves = {}
    for name, mode in {"ideal": IDEAL, "friction of the driven joint": ACTIVE, "friction of all joints": ALL}.items():
        curves[name] = mechanism.inverse(crank(mechanism, angle, SPEED), mode).tau[:, CRANK]
    return (angle, curves), words


def plot(path: Path, content: tuple[Floats, dict[str, Floats]]) -> None:
    """Draw the drive's torque over its angle."""
    from matplotlib.figure import Figure as Drawing

    angle, curves = content
    drawing = Drawing(figsize=(9, 6), layout="constrained")
    above, below = drawing.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for number, (name, curve) in enumerate(curves.items()):
        above.plot(angle, curve, color=f"C{number}", label=name)
        if number:
            below.plot(angle, curve - curves["ideal"], color=f"C{number}", label=name)
    above.plot(PLACES, REFERENCE["ideal"], "k.", label="reference")
    above.plot(PLACES, REFERENCE["all joints"], "k.")
    above.set_ylabel("torque of the crank, N·m")
    below.set_ylabel("share of friction, N·m")
    below.set_xlabel("angle of the crank, rad")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    above.legend(frameon=False)
    drawing.suptitle("A leg of three loops at 0.1 rad/s: friction of ten joints in the torque of the one drive")
    drawing.savefig(path, dpi=120)


if __name__ == "__main__":
    sys.exit(main("closed-chain", __doc__, table, plot))
