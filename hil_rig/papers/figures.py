"""Figures of a reproduction: what was asked, what came out; the command line that reproductions share."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Figure(NamedTuple):
    """One figure between two limits."""

    name: str
    ours: float
    low: float = -float("inf")
    high: float = float("inf")
    unit: str = ""
    reference: str = ""  # what was published, or measured on a prototype

    @property
    def ok(self) -> bool:
        """Whether it is inside (a NaN is not)."""
        return bool(self.low <= self.ours <= self.high)

    @property
    def asked(self) -> str:
        """In words."""
        if self.low == self.high:
            return f"{self.low:g}"
        if self.low == -float("inf"):
            return "" if self.high == float("inf") else f"≤ {self.high:g}"
        return f"≥ {self.low:g}" if self.high == float("inf") else f"{self.low:g} … {self.high:g}"


class Told(NamedTuple):
    """What a reproduction says."""

    figures: Sequence[Figure]
    words: Sequence[str]  # what a reader must know to understand them
    content: Any = None  # for the plot


def truth(name: str, holds: bool, reference: str = "") -> Figure:
    """A statement that must hold."""
    return Figure(name, float(holds), 1.0, 1.0, "", reference)


def as_table(figures: Sequence[Figure]) -> str:
    """Columns for a terminal."""
    width = max(len(figure.name) for figure in figures) + 2
    lines = [f"{'':{width}} {'ours':>11} {'':6} {'asked':>16}  {'reference'}"]
    for one in figures:
        mark = "" if one.ok else "   MISSED"
        lines.append(f"{one.name:{width}} {one.ours:11.5g} {one.unit:6} {one.asked:>16}  {one.reference}{mark}")
    return "\n".join(lines)


def as_json(told: Told) -> str:
    """One object: figures, words, and ok for all."""
    figures = [
        {
            "name": one.name,
            "ours": one.ours if one.ours == one.ours else None,
            "unit": one.unit,
            "asked": one.asked,
            "reference": one.reference,
            "ok": one.ok,
        }
        for one in told.figures
    ]
    return json.dumps({"figures": figures, "words": list(told.words), "ok": all(one.ok for one in told.figures)})


def main(
    name: str,
    text: str | None,
    table: Callable[[argparse.Namespace], Told],
    plot: Callable[[Path, Any], None],
    seeds: int,
) -> int:
    """Exit 0 when every figure is inside its limits, 1 when one is not, 2 for a usage that makes no sense."""
    parser = argparse.ArgumentParser(prog=f"jointwatch reproduce {name}", description=(text or "").split("\n")[0])
    if seeds:
        parser.add_argument("--seeds", type=int, default=seeds, metavar="N")
    parser.add_argument("--plot", type=Path, metavar="PATH", help="draw it (SVG, PNG, …)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if seeds and options.seeds < 1:
        parser.error("expected at least one seed")
    told = table(options)
    if options.plot is not None:
        try:
            plot(options.plot, told.content)
            print(options.plot, file=sys.stderr)
        except ImportError:
            print("no plot: matplotlib is not installed (pip install 'jointwatch[bench]')", file=sys.stderr)
    if options.json:
        print(as_json(told))
    else:
        print(as_table(told.figures))
        for words in told.words:
            print(f"\n{words}")
    return 0 if all(one.ok for one in told.figures) else 1
