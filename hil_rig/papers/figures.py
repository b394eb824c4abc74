"""Figures of a reproduction compared with published ones: table, JSON, and the common command line.

A program of `jointwatch reproduce` passes a function to `main` that computes a `Reproduced`. `--json` prints one
object: `figures` (name, ours, low, high, unit, reference, beside, out_of_reach, asked, ok), `words`, and `ok`, true if
no figure fails; null means no number or no limit. A figure whose `out_of_reach` gives a reason is measured, shown
and marked where it is outside its limits, but it does not fail.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from daq.commands.command_line import CommandLine

EXIT_MISSED: Final = 1


class ReproductionError(Exception):
    """A reproduction cannot be completed; the text is the line that is shown."""


class Figure(NamedTuple):
    """One figure between two limits; without limits it is only shown."""

    name: str
    ours: float
    low: float = -math.inf
    high: float = math.inf
    unit: str = ""
    reference: float | str = ""  # published or earlier value; a number has the same unit
    beside: Mapping[str, float] = {}  # further columns: name → value, in the same unit
    out_of_reach: str = ""  # a sentence with the reason why its limits cannot be met; without it they must be met

    @property
    def ok(self) -> bool:
        """Whether the figure is within its limits (NaN is not)."""
        return bool(self.low <= self.ours <= self.high)

    @property
    def failed(self) -> bool:
        """Whether the figure is outside limits that can be met."""
        return not self.ok and not self.out_of_reach

    @property
    def mark(self) -> str:
        """The mark at the end of its line in the table."""
        return "" if self.ok else "MISSED" if self.failed else "out of reach"

    @property
    def asked(self) -> str:
        """The limits in words."""
        if self.low == self.high:
            return f"{self.low:.5g}"
        if self.low == -math.inf:
            return "" if self.high == math.inf else f"≤ {self.high:.5g}"
        return f"≥ {self.low:.5g}" if self.high == math.inf else f"{self.low:.5g} … {self.high:.5g}"

    @property
    def deviation(self) -> str:
        """Deviation from a numeric reference, per cent."""
        if isinstance(self.reference, str) or not self.reference or not math.isfinite(self.ours):
            return ""
        return f"{(self.ours - self.reference) / abs(self.reference):+.2%}"


class Reproduced(NamedTuple):
    """The results of a reproduction."""

    figures: Sequence[Figure]
    words: Sequence[str] = ()  # explanations of the figures
    content: Any = None  # data for `plot`


Plot = Callable[[Path, Any], None]


def within(name: str, unit: str, reference: float, ours: float, tolerance: float) -> Figure:
    """Make a figure that may deviate from its reference by `tolerance`, a share of the reference."""
    reference, off = float(reference), tolerance * abs(float(reference))
    return Figure(name, float(ours), reference - off, reference + off, unit, reference)


def truth(name: str, holds: bool, reference: str = "") -> Figure:
    """Make a figure for a statement that must be true."""
    return Figure(name, float(holds), 1.0, 1.0, "", reference)


def as_table(figures: Sequence[Figure]) -> str:
    """Return the table for a terminal."""
    more = list(dict.fromkeys(key for one in figures for key in one.beside))
    heads = ("", "reference", "ours", "off", "asked", *more)
    rows = []
    for one in figures:
        name = f"{one.name} [{one.unit}]" if one.unit else one.name
        beside = [f"{one.beside[key]:.4g}" if key in one.beside else "" for key in more]
        published = one.reference if isinstance(one.reference, str) else f"{one.reference:.6g}"
        rows.append((name, published, f"{one.ours:.6g}", one.deviation, one.asked, *beside))
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [f"{row[0]:{widths[0]}}" + "".join(f"  {cell:>{n}}" for cell, n in zip(row[1:], widths[1:], strict=True))
             for row in (heads, *rows)]  # fmt: skip
    marks = ["", *(f"  {one.mark}" for one in figures)]
    reasons = [f"Out of reach: {one.name}. {one.out_of_reach}" for one in figures if one.mark == "out of reach"]
    marked = [(line + mark).rstrip() for line, mark in zip(lines, marks, strict=True)]
    return "\n".join([*marked, *([""] if reasons else []), *reasons])


def as_json(reproduced: Reproduced) -> str:
    """Return the JSON object that the docstring of this file describes."""
    figures = [
        one._asdict()
        | {key: _finite(getattr(one, key)) for key in ("ours", "low", "high")}
        | {"reference": one.reference if isinstance(one.reference, str) else _finite(one.reference)}
        | {"beside": {key: _finite(value) for key, value in one.beside.items()}, "asked": one.asked, "ok": one.ok}
        for one in reproduced.figures
    ]
    return json.dumps(
        {"figures": figures, "words": list(reproduced.words), "ok": not any(one.failed for one in reproduced.figures)},
        allow_nan=False,
    )


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def main(
    name: str,
    text: str | None,
    table: Callable[[argparse.Namespace], Reproduced],
    plot: Plot | None = None,
    seeds: int = 0,
    arguments: Callable[[argparse.ArgumentParser], None] | None = None,
    argv: Sequence[str] | None = None,
) -> int:
    """Run a reproduction and print it; exit code 0 if no figure fails, 1 if one fails, 2 for wrong usage.

    text: docstring of the module; seeds: default of --seeds, 0 if there is no such option; arguments: adds further
    options.
    """
    parser = CommandLine(prog=f"jointwatch reproduce {name}", description=(text or "").split("\n")[0])
    if seeds:
        parser.add_argument("--seeds", type=int, default=seeds, metavar="N", help="how many seeds (%(default)s)")
    if arguments is not None:
        arguments(parser)
    if plot is not None:
        parser.add_argument("--plot", type=Path, metavar="PATH", help="draw the results into this file (SVG, PNG, …)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(argv)
    if seeds and options.seeds < 1:
        parser.error("expected at least one seed")
    try:
        reproduced = table(options)
        if plot is not None and options.plot is not None:
            _draw(plot, options.plot, reproduced.content)
    except (ReproductionError, OSError, KeyboardInterrupt) as error:
        print(f"jointwatch reproduce: {str(error) or 'stopped'}", file=sys.stderr)
        return EXIT_MISSED
    print(as_json(reproduced) if options.json else "\n\n".join([as_table(reproduced.figures), *reproduced.words]))
    return EXIT_MISSED if any(one.failed for one in reproduced.figures) else 0


def _draw(plot: Plot, file: Path, content: Any) -> None:
    try:
        plot(file, content)
        print(file, file=sys.stderr)
    except ImportError:
        print("cannot draw: matplotlib is not installed (pip install 'jointwatch[bench]')", file=sys.stderr)


def keeping(
    table: Callable[[Path, int], Reproduced], evaluations: int
) -> tuple[Callable[[argparse.Namespace], Reproduced], Callable[[argparse.ArgumentParser], None]]:
    """Return `table` and `arguments` for the `main` of a program that works in a folder: --evaluations, --keep."""

    def arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--evaluations", type=int, default=evaluations, metavar="N", help="evaluations for each trajectory"
        )
        parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the runs and the results in this folder")

    def run(options: argparse.Namespace) -> Reproduced:
        with tempfile.TemporaryDirectory(prefix="jointwatch-") as scratch:
            folder = Path(scratch) if options.keep is None else options.keep
            folder.mkdir(parents=True, exist_ok=True)
            return table(folder, options.evaluations)

    return run, arguments


def program(module: str, *words: str | Path) -> str:
    """Run one of our programs (a module, or -c and its text) and return its output.

    Raises ReproductionError with the program's last line.
    """
    asked = [module] if module == "-c" else ["-m", module]
    one = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # for many small products threads would only wait for each other
    done = subprocess.run([sys.executable, *asked, *map(str, words)], capture_output=True, text=True, env=one)
    if done.returncode not in (0, 1) or not (done.stdout or done.returncode == 0):
        raise ReproductionError(f"{module}: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}")
    return done.stdout
