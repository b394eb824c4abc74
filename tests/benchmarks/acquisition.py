"""Microseconds of CPU per frame: decoding, slcan text and serial packets in batches of 1 to 1000, and cantools beside.

python tests/benchmarks/acquisition.py [--json]

Frames of eight bytes with two signals each (position 32 bit, torque 16 bit) from seven ids; slcan lines of such frames;
packets of 29 bytes. Median of 15 runs, CPU time of the thread.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Final

import cantools.database
import numpy as np

from drivers import deframe, packets, slcan
from drivers.base import Wanted
from drivers.decode import Decoder
from drivers.frame import Frames
from drivers.layout import FrameSettings, from_table

BATCHES: Final = (1, 10, 100, 1000)
TOTAL: Final = 2000  # frames in one run
RUNS: Final = 15
AXES: Final = tuple(
    FrameSettings.model_validate(
        {
            "name": f"AXIS{axis}",
            "id": 0x181 + axis,
            "length": 8,
            "signals": {
                "position": {"start": 0, "bits": 32, "type": "signed", "unit": "counts", "counts_per_rev": 65536},
                "torque": {"start": 39, "bits": 16, "order": "motorola", "type": "signed", "unit": "mA"},
            },
        }
    )
    for axis in range(7)
)


def per_frame(action: Callable[[], object], calls: int, frames: int) -> float:
    """µs of the thread's CPU per frame, median."""
    times = []
    for _ in range(RUNS):
        start = time.thread_time_ns()
        for _ in range(calls):
            action()
        times.append((time.thread_time_ns() - start) / (calls * frames * 1e3))
    return statistics.median(times)


def decoding(batch: int) -> float:
    """A batch that is already in arrays, to Readings."""
    layout = from_table(AXES)
    decoder = Decoder(layout, [Wanted(channel, name) for channel, name in enumerate(layout.signals)])
    random = np.random.default_rng(0)
    ids = np.resize(np.array([frame.id for frame in AXES], np.uint32), batch)
    payload = random.integers(0, 256, (batch, 8), dtype=np.uint8)
    frames = Frames(ids, payload, np.full(batch, 8), np.arange(batch))
    return per_frame(lambda: decoder.decode(frames), TOTAL // batch, batch)


def slcan_text(batch: int) -> float:
    """Lines to frames in arrays."""
    random = np.random.default_rng(0)
    text = b"".join(b"t%03X8%s\r" % (0x181 + i % 7, random.bytes(8).hex().encode()) for i in range(batch))
    parser = slcan.Parser()
    return per_frame(lambda: parser.feed(text, 0), TOTAL // batch, batch)


def serial_packets(batch: int) -> float:
    """Bytes to checked packets in arrays."""
    random = np.random.default_rng(0)
    stream = b"".join(packets.encode(1, i, random.bytes(24)) for i in range(batch))
    deframer = deframe.Deframer({1: 27})
    return per_frame(lambda: deframer.feed(stream, 0), TOTAL // batch, batch)


def reference() -> float:
    """cantools, frame by frame."""
    database = cantools.database.can.Database([frame.message() for frame in AXES])
    payload = np.random.default_rng(0).bytes(8)
    return per_frame(lambda: database.decode_message(0x181, payload, decode_choices=False), TOTAL, 1)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    asked = parser.parse_args()
    figures = {
        name: {batch: round(measure(batch), 3) for batch in BATCHES}
        for name, measure in (("decode", decoding), ("slcan", slcan_text), ("serial", serial_packets))
    }
    figures["cantools"] = {1: round(reference(), 3)}
    if asked.json:
        json.dump({"unit": "µs of CPU per frame", "batches": figures}, sys.stdout, ensure_ascii=False)
        print()
        return
    print("µs of CPU per frame, in batches of" + "".join(f"{batch:>9}" for batch in BATCHES))
    for name, row in figures.items():
        print(f"{name:<34}" + "".join(f"{row[batch]:9.3f}" if batch in row else f"{'':9}" for batch in BATCHES))


if __name__ == "__main__":
    main()
