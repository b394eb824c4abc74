"""Writes minute after minute into a history file and prints each number once it is written; is killed by a test.

    python tests/support/processes/history_writer.py FILE FIRST

Minute k holds one value, k, of one quantity, and use counts of k seconds in all; the core is one and the same.
"""

import sys
from pathlib import Path

from daq.state.history.file import HistoryFile
from daq.state.history.interval import Interval, Quantity, SeenUse
from estimators.wear.use_counts import UseCounts

START = 1_750_000_020  # Unix s
BOOT = 77


def minute(number: int) -> Interval:
    """The interval of this number."""
    interval = Interval(START + 60 * number)
    for parameter in range(50):  # so that a transaction is large enough to be hit
        interval.add(Quantity("elbow", f"p{parameter}", "N·m"), float(number), 0.5)
    interval.see([SeenUse(BOOT, "elbow", "rad", UseCounts(float(number), 2.0 * number, number, number // 10))])
    return interval


def main() -> None:
    file, first = HistoryFile(Path(sys.argv[1]), 3660.0), int(sys.argv[2])
    for number in range(first, first + 100_000):
        file.write(minute(number))
        print(number, flush=True)


if __name__ == "__main__":
    main()
