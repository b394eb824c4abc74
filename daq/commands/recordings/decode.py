"""`jointwatch decode LOG --dbc FILE`: decodes a recording; reports what is not decoded and why, and the speed.

Values are in the units of the DBC (in a configuration they are converted to SI).
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TextIO

import numpy as np
from numpy.typing import NDArray

from daq.commands.codes import EXIT_CONFIG, EXIT_RUNTIME, fail
from daq.commands.recordings.inputs import how_to_configure, of_columns
from drivers.base import DriverError, LayoutError, Wanted
from drivers.decode.decoder import Decoder
from drivers.files.can_log import LogFile
from drivers.layout.dbc import from_dbc
from drivers.layout.frame import FrameLayout, Frames

REFUSED: Final = ("unmatched", "truncated", "remote_frames", "error_frames", "bad_checksum")
SHOWN: Final = 12  # largest number of unknown ids that are printed


@dataclass(slots=True)
class Tally:
    """The counts of a recording."""

    frames: int = 0
    values: int = 0
    reading: float = 0.0  # s, of reading and parsing
    decoding: float = 0.0  # s
    unknown: Counter[int] = field(default_factory=Counter)  # id → frames


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("log", type=Path, help="candump log, .asc, .blf, .mf4, .trc …")
    parser.add_argument("--dbc", type=Path, required=True, help="description of the frames")
    parser.add_argument("--channel", default="", help="which bus, if the log has several")
    parser.add_argument("--values", action="store_true", help="print every value as CSV on stdout, counts on stderr")
    parser.add_argument("--json", action="store_true", help="print the counts as one JSON object")


def run(options: argparse.Namespace) -> int:
    """Decode and report. options: log, dbc, channel, values, json."""
    try:
        layout = from_dbc(options.dbc, {}, limits=False, as_written=True)
        in_si = from_dbc(options.dbc, {}, limits=False)
    except LayoutError as error:
        return fail(error, EXIT_CONFIG)
    if of_columns(options.log):
        return fail(f"decode: {how_to_configure(options.log)}")
    names = list(layout.signals)
    decoder = Decoder(layout, [Wanted(channel, name) for channel, name in enumerate(names)])
    recording = LogFile(options.log, options.channel)
    tally = Tally()
    broken = ""
    try:
        for readings in _decoded(recording, decoder, layout, tally):
            if options.values:
                _write(readings, names, layout, sys.stdout)
    except DriverError as error:  # what was decoded before is reported all the same
        broken = str(error)
    except BrokenPipeError:
        return EXIT_RUNTIME
    summary = _summary(decoder, recording, tally, in_si, broken)
    stream = sys.stderr if options.values else sys.stdout
    if options.json:
        print(json.dumps(summary, ensure_ascii=False), file=stream)
    else:
        _print(summary, stream)
    if not broken and tally.frames and not summary["decoded"]:
        broken = f"{options.log}: none of its frames is described by {options.dbc}: is it this bus's DBC?"
    return fail(broken) if broken else 0


def _decoded(recording: LogFile, decoder: Decoder, layout: FrameLayout, tally: Tally) -> Iterator[NDArray[np.void]]:
    known = np.array(sorted(layout.lengths), np.uint32)
    blocks = recording.blocks()
    while True:
        start = time.perf_counter()
        block = next(blocks, None)
        middle = time.perf_counter()
        tally.reading += middle - start
        if block is None:
            return
        readings = decoder.decode(block)
        tally.decoding += time.perf_counter() - middle
        tally.frames += len(block.ids)
        tally.values += len(readings)
        _tally_unknown(block, known, tally)
        yield readings


def _tally_unknown(block: Frames, known: NDArray[np.uint32], tally: Tally) -> None:
    ids, counts = np.unique(block.ids, return_counts=True)
    strange = ~np.isin(ids, known) & (ids & 0x6000_0000 == 0)
    tally.unknown.update(dict(zip(ids[strange].tolist(), counts[strange].tolist(), strict=True)))


def _summary(decoder: Decoder, recording: LogFile, tally: Tally, in_si: FrameLayout, broken: str) -> dict[str, Any]:
    counts = {**decoder.counts, **recording.counts}
    refused = sum(counts[cause] for cause in REFUSED)
    total = tally.reading + tally.decoding
    return {
        "frames": tally.frames,
        "decoded": tally.frames - refused,
        "unmatched": counts["unmatched"],
        "values": tally.values,
        "errors": {cause: count for cause, count in counts.items() if cause not in ("frames", "unmatched") and count},
        "frames_per_second": round(tally.frames / total) if total else 0,
        "frames_per_second_decoding": round(tally.frames / tally.decoding) if tally.decoding else 0,
        "unknown_ids": [
            {"id": f"{ident & 0x1FFF_FFFF:X}", "extended": ident >= 0x8000_0000, "frames": count}
            for ident, count in tally.unknown.most_common()
        ],
        "unsound": dict(in_si.unsound),
        "needs_correction": {
            name: why for name, why in in_si.unusable.items() if name.partition(".")[0] not in in_si.unsound
        },
        "broken_off": broken,
    }


def _print(summary: dict[str, Any], stream: TextIO) -> None:
    for key in ("frames", "decoded", "unmatched", "values"):
        print(f"{key:<14}{summary[key]:>14,}", file=stream)
    for cause, count in summary["errors"].items():
        print(f"{cause:<14}{count:>14,}", file=stream)
    print(f"{'frames/s':<14}{summary['frames_per_second']:>14,}  with reading the file", file=stream)
    print(f"{'':<14}{summary['frames_per_second_decoding']:>14,}  decoding alone", file=stream)
    if summary["unknown_ids"]:
        shown = summary["unknown_ids"][:SHOWN]
        words = ", ".join(f"{one['id']} ({one['frames']:,})" for one in shown)
        more = len(summary["unknown_ids"]) - len(shown)
        print(f"not in the DBC: {words}{f' and {more} more' if more else ''}", file=stream)
    for name, why in summary["unsound"].items():
        print(f"message {name} is left out: {why}", file=stream)
    for name, why in summary["needs_correction"].items():
        print(f"{name}: {why}", file=stream)


def _write(readings: NDArray[np.void], names: Sequence[str], layout: FrameLayout, stream: TextIO) -> None:
    """Write CSV without a heading: time in s, signal, value, unit."""
    rows = zip(readings["time"].tolist(), readings["value"].tolist(), readings["channel"].tolist(), strict=True)
    stream.writelines(
        f"{when // 10**9}.{when % 10**9:09},{names[channel]},{value!r},{layout.signals[names[channel]].unit}\n"
        for when, value, channel in rows
    )
