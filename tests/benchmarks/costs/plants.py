"""How much faster than real time every plant of the rig runs on one core: what plays live must reach 3.

jointwatch bench plants [--json] [--seconds S]

All joints of a rig as it stands, sensors included, without a wire; processor time.
"""

import argparse
import json
import time
from typing import Final

from hil_rig.plants import RIGS

RECORDED: Final = "recording"  # plays a file
ASKED: Final = 3.0
BATCH: Final = 0.02  # s, as the player asks for them
VARIANTS: Final = {"pointing, reduced": ("pointing", {"contact": "reduced"})}


def factor(name: str, settings: dict[str, str], seconds: float) -> tuple[int, float]:
    """Joints, and simulated seconds in a second of processor, the start left out."""
    rig = RIGS[name]
    robot = rig.settings.model_validate(settings).robot(rig.joints, 1, [])
    rows = {joint: max(1, round(BATCH * plant.rate)) for joint, plant in robot.items()}
    for joint, plant in robot.items():
        plant.rows(rows[joint])
    begin = time.process_time()
    for _ in range(round(seconds / BATCH)):
        for joint, plant in robot.items():
            plant.rows(rows[joint])
    return len(robot), seconds / (time.process_time() - begin)


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    played: dict[str, tuple[str, dict[str, str]]] = {name: (name, {}) for name in RIGS if name != RECORDED}
    found = {label: factor(name, settings, options.seconds) for label, (name, settings) in (played | VARIANTS).items()}
    if options.json:
        print(json.dumps({label: {"joints": joints, "factor": times} for label, (joints, times) in found.items()}))
        return
    print(f"{'rig':24} joints   × real time (asked {ASKED:g})")
    for label, (joints, times) in found.items():
        print(f"{label:24} {joints:6d}   {times:6.1f}{'' if times >= ASKED else '   MISSED'}")


if __name__ == "__main__":
    main()
