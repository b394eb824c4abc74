"""The live lost motion of a gear: what a row costs, and its error for encoders, seeds and friction that set nothing.

jointwatch bench lost_motion [--json] [--seeds N]

The cost is processor time of batches of 50 samples at 1 kHz, the report once a second included. The errors are those of
150 s over the top with 75 µrad of half gap, settings as the service makes them from the joint's model.
"""

import argparse
import json
import math
import time
from typing import Any, Final

import numpy as np

from hil_rig.papers.recordings.lost_motion import LOST, watch_of
from hil_rig.plants.base import Floats
from hil_rig.plants.joints.gear import GearPlantSettings

SECONDS: Final = 150
FIRST: Final = 901  # seed; reproduce lost-motion has 1 to 5
HALF: Final = 75e-6
BATCH: Final = 50
KINDS: Final[dict[str, dict[str, float]]] = {
    "as it is": {},
    "link's dry friction 6 N·m": {"f_c": 6.0},
    "link's viscous friction 10 N·m·s/rad": {"f_v": 10.0},
    "link's dry friction 15 N·m": {"f_c": 15.0},
    "soft up to 6 N·m": {"soft_torque": 6.0},
    "soft up to 10 N·m": {"soft_torque": 10.0},
    "soft up to 20 N·m": {"soft_torque": 20.0},
}
BITS: Final = (17, 19, 21)
BANDS: Final = (0.3, 1.28, 3.0)  # N·m


def samples(settings: GearPlantSettings, seed: int, seconds: int = SECONDS) -> tuple[Any, Floats]:
    """The gear, and both angles and the motor's torque on the link's side, (rows, 3)."""
    gear = settings.build(1, seed, [])
    rows = gear.rows(round(seconds * settings.rate))
    return gear, np.column_stack([rows[:, 0] / settings.ratio, rows[:, 2], rows[:, 1] * settings.torque_constant])


def found(settings: GearPlantSettings, seed: int, **wishes: float) -> tuple[float, bool]:
    """Half of the lost motion, rad (NaN: no number), and whether a soft spring was told."""
    gear, values = samples(settings, seed)
    watch = watch_of(gear, **wishes)
    watch.absorb(np.arange(len(values)) * 1_000_000, values)
    report = watch.report()
    return float(report.values[LOST]) / 2, report.soft


def row_cost() -> float:
    """µs of processor a sample, the least of five."""
    gear, values = samples(GearPlantSettings(), 1, 60)
    times = np.arange(len(values)) * 1_000_000
    best = math.inf
    for _ in range(5):
        watch = watch_of(gear)
        begin = time.process_time()
        for first in range(0, len(values), BATCH):
            watch.absorb(times[first : first + BATCH], values[first : first + BATCH])
            if first % 1000 == 0:
                watch.report()
        best = min(best, time.process_time() - begin)
    return 1e6 * best / len(values)


def told(seeds: int) -> dict[str, Any]:
    """Worst error of each kind and encoder, per cent of the gap; how many gave no number, or reported a soft spring."""
    rows: dict[str, Any] = {}
    for kind, how in KINDS.items():
        for bits in BITS if not how else BITS[:1]:
            settings = GearPlantSettings(half_gap=HALF, link_bits=bits, motor_bits=min(bits, 20), **how)
            rows[f"{bits} bit, {kind}"] = _row([found(settings, seed) for seed in range(FIRST, FIRST + seeds)])
    for band in BANDS:
        each = [found(GearPlantSettings(half_gap=HALF), seed, band=band) for seed in range(FIRST, FIRST + seeds)]
        rows[f"17 bit, band = {band:g} N·m"] = _row(each)
    return rows


def _row(each: list[tuple[float, bool]]) -> dict[str, float]:
    numbers = [abs(half / HALF - 1.0) for half, _ in each if math.isfinite(half)]
    worst = 100 * max(numbers) if numbers else math.nan
    return {"worst": worst, "silent": len(each) - len(numbers), "soft": sum(soft for _, soft in each)}


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    cost, rows = row_cost(), told(options.seeds)
    if options.json:
        print(json.dumps({"row": cost, "seeds": options.seeds, "gears": rows}))
        return
    print(
        f"a sample of a gear at 1 kHz, its report once a second included: {cost:.2f} µs ({cost / 10:.2f} % of a core)"
    )
    print(f"\n{f'75 µrad, {options.seeds} seeds that set nothing':48} worst error   no number   soft told")
    for name, row in rows.items():
        worst = f"{row['worst']:9.1f} %" if math.isfinite(row["worst"]) else f"{'–':>11}"
        print(f"{name:48} {worst} {row['silent']:11d} {row['soft']:11d}")


if __name__ == "__main__":
    main()
