"""`python tests/endurance/sound_signals.py [--seeds N]`: false alarms of the validators of signals; prints a table.

Joints of every rig, with and without jitter of arrivals, and every real recording of ../shared/data. The exit code is 1
where a validator speaks.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[2]))

from estimators.reasons import Reason
from hil_rig.plants import RIGS
from hil_rig.plants.recording import DATA
from tests.support.signals.sound_signals import of_recordings, of_rig

JITTER: Final = (0.0, 1e-3, 4e-3)  # s


def told(first: int, seeds: int) -> Iterator[tuple[str, list[Reason]]]:
    """What is said of every joint."""
    for name in RIGS:
        for seed in range(first, first + seeds):
            for jitter in JITTER:
                for joint, reasons in of_rig(name, seed, jitter):
                    yield f"rig {name}, {joint}, seed {seed}, jitter {1e3 * jitter:g} ms", reasons
    yield from of_recordings()


def main() -> int:
    """Listen to them all."""
    parser = argparse.ArgumentParser(description="false alarms of the validators of signals")
    parser.add_argument("--seeds", type=int, default=1, help="of each rig")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    options = parser.parse_args()
    joints, alarms = 0, 0
    for name, reasons in told(options.first, options.seeds):
        joints += 1
        alarms += bool(reasons)
        if reasons:
            print(f"{name}: {len(reasons)} times, {'; '.join(sorted({str(one) for one in reasons}))}", flush=True)
    if not DATA.is_dir():
        print(f"no recordings: {DATA} is not there")
    print(f"{joints} joints, {alarms} with false alarms")
    return bool(alarms)


if __name__ == "__main__":
    sys.exit(main())
