"""Published values, or those of a simpler law, beside ours; the command line that the experiments share."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from hil_rig.papers.recordings.readers import DATA, PublicRecordingError


class RecordingFigure(NamedTuple):
    """One figure, and between which shares of the reference it must lie."""

    name: str
    unit: str
    reference: float
    ours: float
    low: float = 0.0
    high: float = float("inf")  # by default nothing is asked of it

    @property
    def ok(self) -> bool:
        """Whether ours / reference is inside (a NaN is not)."""
        return bool(self.low <= self.ours / self.reference <= self.high)


def within(name: str, unit: str, reference: float, ours: float, tolerance: float) -> RecordingFigure:
    """A figure that must not be further than this share of the reference away from it."""
    return RecordingFigure(name, unit, reference, ours, 1.0 - tolerance, 1.0 + tolerance)


def main(name: str, description: str, table: Callable[[Path], list[RecordingFigure]]) -> int:
    """Print the rows; exit 0 when each is inside, 1 when one is not or a recording is missing."""
    parser = argparse.ArgumentParser(prog=f"jointwatch reproduce {name}", description=description)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the recordings (default: %(default)s)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        rows = table(options.data)
    except PublicRecordingError as error:
        print(f"jointwatch reproduce: {error}", file=sys.stderr)
        return 1
    print(as_json(rows) if options.json else as_table(rows))
    return 0 if all(row.ok for row in rows) else 1


def as_json(rows: Sequence[RecordingFigure]) -> str:
    """One object: rows of {name, unit, reference, ours, ok}, and ok for all."""
    keys = [
        {"name": row.name, "unit": row.unit, "reference": float(row.reference), "ours": float(row.ours), "ok": row.ok}
        for row in rows
    ]
    return json.dumps({"rows": keys, "ok": all(row.ok for row in rows)})


def as_table(rows: Sequence[RecordingFigure]) -> str:
    """Columns for a terminal."""
    width = max(len(row.name) + len(row.unit) for row in rows) + 3
    lines = [f"{'':{width}} {'reference':>10} {'ours':>10} {'off':>8}  asked"]
    for row in rows:
        label = f"{row.name} [{row.unit}]"
        mark = "" if row.ok else "  MISSED"
        off = row.ours / row.reference - 1.0
        lines.append(f"{label:{width}} {row.reference:10.5g} {row.ours:10.5g} {off:+8.1%}  {_asked(row)}{mark}")
    return "\n".join(lines)


def _asked(row: RecordingFigure) -> str:
    if row.high == float("inf"):
        return ""
    return f"{row.high - 1.0:+.0%} at most" if row.low == 0.0 else f"±{row.high - 1.0:.0%}"
