"""`jointwatch reproduce pointing`: "nine of eleven parameters better with clearance", repeated and explained.

Sun et al. (Robotics 2021, 10, 36) identify a pointing mechanism with joint clearance by an ideal model and by a model
with clearance, and find nine of eleven parameters nearer to the truth with clearance. Here the mechanism is integrated
with its contact, moved as published, and identified by both models and by a third, the control: it has no clearance,
but the true shape of the friction.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from estimators.models.mechanisms.mechanism import load
from estimators.offline.pointing import MODELS, PointingRun, colony, compare, projection
from hil_rig.papers.figures import Figure, Reproduced, main
from hil_rig.papers.pointing.picture import plot
from hil_rig.papers.pointing.published import RATIOS, TABLE_3, parameters
from hil_rig.plants.base import Floats, encoder
from hil_rig.plants.mechanisms.contact import Steel
from hil_rig.plants.mechanisms.pointing import ANGLES, NORMAL, PLACE, POWER, TORQUES, Pointing, PointingSettings

TABLE: Final = Path(__file__).parents[1] / "descriptions" / "pointing.toml"
TICK: Final = 1e-3
MASS_ERROR: Final = 1.05  # of the CAD model from which the bearing's load is computed
FIRST: Final = 0.5  # s, in which the pin settles in its bearing


def table(options: argparse.Namespace) -> Reproduced:
    """Return the figures over all seeds of the sensors' noise."""
    settings = PointingSettings(step=5e-6)
    played = Pointing(settings, []).exact(20_000)
    known = load(TABLE)
    rough = known.with_parameters(known.parameters * MASS_ERROR)
    base = projection(known)
    truth = base.G @ known.parameters.ravel()
    errors, ratios, against, slips, frictions, bees, elevens = [], [], [], [], [], [], []
    curve: list[tuple[int, float]] = []
    for seed in range(options.seeds):
        rng = np.random.default_rng(seed)
        tau = played[:, TORQUES : TORQUES + 2] + settings.torque_noise * rng.standard_normal((len(played), 2))
        run = PointingRun(
            encoder(played[:, ANGLES : ANGLES + 2], settings.bits),
            tau,
            Steel().pin,
            settings.clearance,
            settings.slip_2,
        )
        found = compare(run, rough, TICK)
        errors.append([1e3 * found[name].error[0] for name in MODELS])
        off = {name: np.abs(found[name].theta[:-2] - truth) for name in MODELS}
        ratios.append(off["clearance"] / off["ideal"])
        against.append(off["clearance"] / off["control"])
        elevens.append(_elevens(rough.parameters, base.G, {name: found[name].theta[:-2] for name in MODELS}))
        slips.append(found["control"].slip / settings.slip - 1.0)
        full = settings.mu * Steel().pin * float(played[round(FIRST / TICK) :, NORMAL].mean())
        frictions.append(found["clearance"].friction / full - 1.0)
        centre = np.append(truth, [settings.mu, settings.coulomb_2])
        # F_n from a CAD model with 5 % too much mass gives a μ that is too low by as much
        centre[-2] /= MASS_ERROR
        bees.append(colony(found["clearance"], centre, 0.1, seed, None if curve else _recorder(curve)))
    ideal, control, clear = np.median(errors, axis=0)
    better, fairly = (np.median([np.sum(one < 1.0) for one in many]) for many in (ratios, against))
    episode = float(played[round(FIRST / TICK) :, POWER].sum() * TICK)
    figures = [
        Figure("joint 1's torque error: control / ideal", control / ideal, high=0.2, reference=".08"),
        Figure("joint 1's torque error: clearance / control", clear / control, 0.95, 1.05, reference="1.00"),
        Figure("μ R F_n, worst error", 100 * float(np.max(np.abs(frictions))), high=7.0, unit="%"),
        Figure("v_m, worst error", 100 * float(np.max(np.abs(slips))), high=10.0, unit="%"),
        Figure(
            "bee colony in ± 10 %: error / least squares there, worst",
            max(a / b for a, b in bees),
            high=1.05,
            reference="1.00",
        ),
        Figure("work of the contact after the pin has settled", episode, high=0.0, unit="J", reference="≤ 0"),
    ]
    away = np.abs(np.median(elevens, axis=0) - parameters(known.parameters))  # of ideal, control, clearance
    figures += _third_table(*away)
    figures += _rough(settings, played)
    words = [_beside((ideal, control, clear), better, fairly, len(truth)), _warning(played)]
    return Reproduced(
        figures,
        words,
        {"played": played, "errors": (ideal, control, clear), "ratios": (ratios[0], against[0]), "curve": curve},
    )


def _elevens(cad: Floats, G: Floats, found: dict[str, Floats]) -> Floats:
    """The paper's eleven parameters of each model, (models, 11).

    Of all standard parameters that give the model's base parameters, those nearest to the CAD model's are taken.
    Distances are relative to each standard parameter; for one that is zero there, to a tenth of its largest neighbour.
    """
    size = np.abs(cad)
    for part in (size[:, 1:4], size[:, 4:]):  # first moments, inertia
        np.maximum(part, part.max(axis=1, keepdims=True) / 10.0, out=part)
    size = size.ravel()
    S = G * size
    return np.array(
        [
            parameters(cad + (size * (np.linalg.pinv(S) @ (theta - G @ cad.ravel()))).reshape(cad.shape))
            for theta in (found[name] for name in MODELS)
        ]
    )


def _third_table(ideal: Floats, control: Floats, clearance: Floats) -> list[Figure]:
    """Error with clearance over error without, for Table 3's eleven parameters, which only CAD tells apart."""
    return [
        Figure(
            f"Table 3, {name}: error ratio",
            float(ours / one),
            reference=paper,
            beside={"to control": float(ours / fair)},
        )
        for name, paper, one, fair, ours in zip(TABLE_3, RATIOS, ideal, control, clearance, strict=True)
    ]


def _rough(settings: PointingSettings, smooth: Floats) -> list[Figure]:
    """Add asperities, (1)–(26), to the motion: by how much torque and the pin's position change."""
    rows = slice(round(FIRST / TICK), 5000)
    rough = Pointing(settings.model_copy(update={"surface": "fractal"}), []).exact(5000)[rows]
    torque = rough[:, TORQUES] - smooth[rows, TORQUES]
    depth = np.hypot(rough[:, PLACE], rough[:, PLACE + 1]) - settings.clearance
    share = float(np.sqrt(np.mean(torque**2) / np.mean(smooth[rows, TORQUES] ** 2)))
    return [
        Figure("asperities of 0.8 µm: joint 1's torque changes, rms", 100 * share, high=1.0, unit="%"),
        Figure("asperities of 0.8 µm: the pin's depth, largest", 1e6 * float(depth.max()), high=1.0, unit="µm"),
    ]


def _recorder(curve: list[tuple[int, float]]) -> Callable[[int, Floats, float], bool]:
    """Return a callback that records the colony's evaluations and its best error so far, N·m."""

    def record(evaluations: int, _best: Floats, value: float) -> bool:
        curve.append((evaluations, float(np.sqrt(max(value, 0.0)))))
        return False

    return record


def _beside(errors: tuple[float, float, float], better: float, fairly: float, count: int) -> str:
    """A table of torque errors and of how many parameters are nearer to the truth with clearance."""
    ideal, control, clear = errors
    titles = (
        "published: ideal, then with clearance",
        "our repeat: sign(ω), then with clearance",
        "control: smooth friction, then with clearance",
    )
    lines = [
        f"{'':46} {'torque error, mN·m':>18}   parameters nearer to the truth with clearance",
        f"{titles[0]:46} {'–':>18}   {sum(one < 1 for one in RATIOS)} of 11 (Table 3)",
        f"{titles[1]:46} {ideal:7.2f} → {clear:7.2f}    {better:.0f} of {count} (base parameters)",
        f"{titles[2]:46} {control:7.2f} → {clear:7.2f}    {fairly:.0f} of {count}",
    ]
    return "\n".join(lines)


def _warning(played: Floats) -> str:
    """Explain what the figures show and what they do not."""
    normal = played[round(FIRST / TICK) :, NORMAL]
    return (
        "The repeat looks like a confirmation, but is none: the whole gain comes from the shape of the friction at low "
        "speed. Compared with a model that has this shape and no clearance, clearance gains nothing: the load is the "
        f"weight, F_n varies by {100 * float(normal.std() / normal.mean()):.2f} %, and contact is never lost. The "
        "eleven parameters are not identifiable one by one; the ten base parameters are. `jointwatch reproduce "
        "clearance` shows where a clearance model is better."
    )


if __name__ == "__main__":
    sys.exit(main("pointing", __doc__, table, plot, 3))
