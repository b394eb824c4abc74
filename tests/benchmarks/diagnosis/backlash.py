"""Lost motion from the motor alone: the rig `gear` with its link's encoder hidden, by gap and noise of the current.

    jointwatch bench backlash [--json] [--seeds 3] [--first 31] [--none 6] [--seconds 80]

A number must be within 20 % of the truth, or there must be none; of rigs without a gap (`--none` seeds) there must be
none. The rig's motion, friction, gear error, gravity and encoders are its defaults: docs/rig.md.
"""

import argparse
import json
import sys
from typing import Any, Final

import numpy as np

from estimators.models.joints.lost_motion import LOST_MOTION, OneEncoderSettings
from estimators.online.gear.one_encoder import OneEncoder
from hil_rig.plants.joints.gear import GearPlant, GearPlantSettings

FIRST: Final = 31
GAPS: Final = (75e-6, 150e-6, 300e-6, 600e-6)  # rad, lost motion
NOISES: Final = (0.5, 2.0)  # N·m of the current
ASKED: Final = 0.2
CUT: Final = 1000  # samples at a time


def numbers(gap: float, noise: float, seed: int, seconds: float) -> list[float]:
    """Reported lost motion once a second, rad; NaN where there is none. gap: the true one."""
    settings = GearPlantSettings(half_gap=0.5 * gap, torque_noise=noise)
    plant = GearPlant(settings, 1, seed, [])
    watch = OneEncoder(OneEncoderSettings(inertia_motor=settings.J_m, ratio=settings.ratio), 1.0 / settings.rate)
    scale, found = np.array([plant.roles["position"].scale, plant.roles["torque"].scale]), []
    for first in range(0, round(seconds * settings.rate), CUT):
        time = np.round((1.0 + first + np.arange(CUT)) * 1e9 / settings.rate).astype(np.int64)
        watch.absorb(time, plant.rows(CUT)[:, :2] * scale)
        found.append(float(watch.report().values[LOST_MOTION]))
    return found


def row(gap: float, noise: float, seeds: range, seconds: float) -> dict[str, Any]:
    """Figures of one gap."""
    every = np.array([numbers(gap, noise, seed, seconds) for seed in seeds])
    told = every[np.isfinite(every)]
    last = every[:, -1]
    return {
        "gap": gap,
        "noise": noise,
        "seeds": len(seeds),
        "with_number": int(np.isfinite(every).any(axis=1).sum()),
        "at_the_end": int(np.isfinite(last).sum()),
        "worst": float(np.abs(told / gap - 1.0).max()) if gap and len(told) else float("nan"),
        "beyond": int((np.abs(told / gap - 1.0) > ASKED).sum()) if gap else len(told),
        "numbers": len(told),
    }


def main() -> int:
    """Exit 0 when it ran; what was missed is marked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seeds", type=int, default=3, help="of each gap")
    parser.add_argument("--first", type=int, default=FIRST, help="the first seed")
    parser.add_argument("--none", type=int, default=6, help="seeds of rigs without a gap")
    parser.add_argument("--seconds", type=int, default=80)
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    rows = [row(gap, noise, seeds, options.seconds) for noise in NOISES for gap in GAPS]
    rows += [row(0.0, noise, range(options.first, options.first + options.none), options.seconds) for noise in NOISES]
    if options.json:
        print(json.dumps(rows))
        return 0
    print("  gap   current   rigs with a number   numbers, one a second:   off by more   worst")
    print("  µrad  N·m       ever   at the end    told                     than 20 %")
    for one in rows:
        mark = "!" if one["beyond"] else " "
        worst = f"{100 * one['worst']:.0f} %" if np.isfinite(one["worst"]) else "-"
        ever = f"{one['with_number']} of {one['seeds']}"
        print(f"{mark} {1e6 * one['gap']:4.0f}  {one['noise']:5.1f}   {ever:>9}   {one['at_the_end']:6}    "
              f"{one['numbers']:8}   {one['beyond']:24}   {worst:>6}")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
