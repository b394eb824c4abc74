"""Published figures, what was asked, and ours: rows, a table for people, JSON for programs, the exit code."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class PublishedFigure(NamedTuple):
    """One figure."""

    name: str
    unit: str
    paper: str  # what was published, or measured on prototypes; "" when nothing was
    limit: float
    ours: float
    at_least: bool = False  # the limit is the least; otherwise the most

    @property
    def ok(self) -> bool:
        """Whether it is inside the limit (a NaN is not)."""
        return bool(self.ours >= self.limit if self.at_least else self.ours <= self.limit)


def as_json(rows: Sequence[PublishedFigure]) -> str:
    """One object: rows of {name, unit, paper, limit, at_least, ours, ok}, and ok for all; null: no limit, no number."""
    keys = [row._asdict() | {"limit": _finite(row.limit), "ours": _finite(row.ours), "ok": row.ok} for row in rows]
    return json.dumps({"rows": keys, "ok": all(row.ok for row in rows)}, allow_nan=False)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def as_table(rows: Sequence[PublishedFigure]) -> str:
    """Columns for a terminal."""
    width = max(len(row.name) for row in rows)
    lines = [f"{'':{width}} {'paper':>14} {'asked':>10} {'ours':>10}"]
    for row in rows:
        asked = "" if row.limit in (float("inf"), -float("inf")) else f"{'≥' if row.at_least else '≤'} {row.limit:.4g}"
        missed = "" if row.ok else "  MISSED"
        lines.append(f"{row.name:{width}} {row.paper:>14} {asked:>10} {row.ours:10.4g} {row.unit}{missed}")
    return "\n".join(lines)


def tell(rows: Sequence[PublishedFigure], as_object: bool) -> int:
    """Print them; the exit code."""
    print(as_json(rows) if as_object else as_table(rows))
    return 0 if all(row.ok for row in rows) else 1


def program(module: str, *words: str | Path) -> str:
    """What a program of ours (a module, or -c and its text) says on stdout. Raises RuntimeError with its last words."""
    asked = [module] if module == "-c" else ["-m", module]
    one = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # many small products: threads only wait for each other
    done = subprocess.run([sys.executable, *asked, *map(str, words)], capture_output=True, text=True, env=one)
    if done.returncode not in (0, 1) or not (done.stdout or done.returncode == 0):
        raise RuntimeError(f"{module}: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}")
    return done.stdout
