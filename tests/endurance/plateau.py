"""`python tests/endurance/plateau.py recorder`: what the recorder's memory does in hours, told in minutes.

recorder: blocks of seven joints, 25 for each second of a robot, as fast as they can be written, into a real folder.
Told is the process's own memory (Private of smaps_rollup) after every tenth of the run, and by how much
it grew from the second tenth to the last; `--who` says where the growth was allocated (tracemalloc; slower).
"""

import argparse
import json
import os
import re
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgpack
import numpy as np

from daq.config.load import load
from daq.config.sections import Record
from daq.recording.folder import recordings
from daq.recording.process import NextBlock, Recorder
from daq.stream.transcript import Batch, TurnBlock
from drivers.reading import READING

TEMPLATE: Final = Path(__file__).parents[2] / "daq" / "jointwatch.toml"
JOINTS: Final = 7
A_SECOND: Final = 25  # blocks
TENTHS: Final = 10
WHO: Final = 8  # lines of code that are named


def own(pid: int) -> float:
    """MB of memory that belong to this process alone."""
    roll = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(size) for size in re.findall(r"^Private_\w+:\s+(\d+)", roll, re.MULTILINE)) / 1e3


def block(number: int) -> TurnBlock:
    """A block as the core makes it: 40 ms of seven joints at 1 kHz, two updates of each."""
    tick = 10**9 + 40_000_000 * number + 1_000_000 * np.arange(40)
    readings = np.zeros(40 * 3 * JOINTS, READING)
    readings["time"], readings["channel"] = np.repeat(tick, 3 * JOINTS), np.tile(np.arange(3 * JOINTS), 40)
    readings["value"] = np.sin(readings["time"] * 1e-9 + readings["channel"])
    batches = [Batch(len(readings), 10**18, int(tick[-1]), [0] * (4 * JOINTS), [], None)]
    head = {"timestamp": 1e9 + 0.04 * number, "v": 2, "robot": "arm", "boot": 1}
    numbers = dict.fromkeys(("inertia", "viscous", "coulomb", "offset", "gravity_sin", "gravity_cos"), 0.1 + number)
    messages = []
    for k in range(2):
        for joint in range(JOINTS):
            body = head | {"joint": f"joint{joint}", "seq": 2 * number + k}
            estimate = body | {"parameters": numbers, "deviations": numbers, "error": 0.1, "phase": "normal",
                               "health": {"status": "valid", "reasons": []}}  # fmt: skip
            residual = body | {"measured": 1.0, "predicted": 1.1, "unit": "N·m"}
            for family, update in (("estimate", estimate), ("residual", residual)):
                messages.append((f"{family}/joint{joint}".encode(), msgpack.packb(update)))
    return TurnBlock(1, number, batches, readings, messages)


def recorder(minutes: float, look: Callable[[], None], **limits: float) -> dict[str, Any]:
    """Record so many minutes of a robot; look: called TENTHS times."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = Record(folder=folder / "records", reserve=0.0, keep=300e6, file_size=200e6)
        config = load(TEMPLATE).model_copy(update={"recorder": settings.model_copy(update=limits)})
        expected = NextBlock(folder / "next")
        writer = Recorder(config, expected)
        count = round(60 * A_SECOND * minutes)
        for number in range(count):
            writer.take(block(number))
            if (number + 1) % (count // TENTHS) == 0:
                look()
        status = writer.status()
        writer.close()
        expected.close()
        return {"minutes": minutes, "files": len(recordings(settings.folder, "arm")), "lost": status["lost"],
                "bytes": status["bytes"]}  # fmt: skip


def main() -> int:
    """Run it and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("part", choices=("recorder",))
    parser.add_argument("--minutes", type=float, default=20.0, help="of a robot's time")
    parser.add_argument("--who", action="store_true", help="where the growth was allocated")
    options = parser.parse_args()
    sizes: list[float] = []
    shots: list[tracemalloc.Snapshot] = []
    if options.who:
        tracemalloc.start()

    def look() -> None:
        sizes.append(round(own(os.getpid()), 2))
        if options.who and len(sizes) in (2, TENTHS):
            shots.append(tracemalloc.take_snapshot())
        print(f"{len(sizes)} of {TENTHS}: {sizes[-1]:.2f} MB", file=sys.stderr, flush=True)

    told = recorder(options.minutes, look)
    print(json.dumps(told | {"own_mb": sizes, "grown_mb": round(sizes[-1] - sizes[1], 2)}))
    if options.who:
        for line in shots[-1].compare_to(shots[0], "lineno")[:WHO]:
            print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
