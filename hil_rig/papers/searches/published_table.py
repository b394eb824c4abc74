"""The published table of multilevel coordinate search, compared with ours and with SciPy's searches in the same run.

Evaluations are counted to a relative error of 1e-4 on the nine functions of Jones et al. Three figures of each function
have limits: the counts of version 2.0 must be equal; the default search, ended by its own criterion on shifted boxes,
must succeed; and its median there may be at most 5 % above that of the paper's algorithm on the same boxes. The other
figures are comparisons. The command takes about a minute, and 45 s more if nothing is compiled yet.
"""

import argparse
import math
import sys
from typing import Any, Final

import numpy as np

from estimators.search import minimise
from estimators.search.mcs import Mcs
from hil_rig.papers.figures import Figure, Reproduced, main
from hil_rig.papers.searches.scipy_searches import BUDGET, RANDOM, RIVALS, evaluations
from hil_rig.papers.searches.test_functions import FUNCTIONS, Function, shifted_boxes

EVALUATIONS: Final = "evaluations"
SHIFTS: Final = 50
SEEDS: Final = 3
SUCCESS: Final = 98.0  # %, 49 of 50
BOXES: Final = 100  # shifted boxes of which medians are taken
MARGIN: Final = 1.05  # of a median: half an evaluation on Branin does not count as a difference
ENOUGH: Final = 3000  # evaluations; more would not change the paper's medians
# medians of the paper's algorithm over 100 shifted boxes, measured with another implementation on other random boxes
MEDIANS: Final = (348, 389, 387, 101, 106, 70, 35, 36, 264)


def table(_options: argparse.Namespace) -> Reproduced:
    """Return the figures of all nine functions."""
    figures: list[Figure] = []
    for function, median in zip(FUNCTIONS, MEDIANS, strict=True):
        print(f"{function.name} …", file=sys.stderr, flush=True)
        figures += on_the_default_box(function) + on_shifted_boxes(function, median)
    return Reproduced(figures)


def on_the_default_box(function: Function) -> list[Figure]:
    """Compare the counts with the published ones and with SciPy's."""
    published = function.conformance
    ours = count(Mcs(), function)
    figures = [
        Figure(
            f"{function.name}: MCS version 2.0, count for count",
            count(Mcs(legacy_rank=True), function),
            published,
            published,
            EVALUATIONS,
            published,
        ),
        compared(function, "MCS as published 1999, ours the default", function.mcs, ours),
        compared(function, "DIRECT as published 1993, ours the default", function.direct, ours),
    ]
    box = function.lower, function.upper
    for name, rival in RIVALS.items():
        seeds = range(SEEDS if name in RANDOM else 1)
        counts = [evaluations(rival, function.f, box, function.target, seed) for seed in seeds]
        figures.append(compared(function, f"SciPy {name}, ours the default", float(np.median(counts)), ours))
    return figures


def on_shifted_boxes(function: Function, median: int) -> list[Figure]:
    """Success of the default search when its own criterion ends it, and its evaluations to the required accuracy."""
    boxes = shifted_boxes(function, SHIFTS)
    good = sum(minimise(Mcs(), function.f, *box, budget=10 * BUDGET).value <= function.target for box in boxes)
    success, boxes = 100.0 * good / SHIFTS, shifted_boxes(function, BOXES)
    ours = float(np.median([count(Mcs(stall=10_000), function, box) for box in boxes]))
    paper = float(np.median([count(Mcs(published=True, stall=10_000), function, box, ENOUGH) for box in boxes]))
    near = f"{BOXES} shifted boxes, median, within 5 % of the paper's"
    return [
        Figure(f"{function.name}: {SHIFTS} shifted boxes, success", success, low=SUCCESS, unit="%"),
        compared(function, near, paper, ours)._replace(high=MARGIN * paper),
        compared(function, f"{BOXES} shifted boxes, median, measured before", median, ours),
    ]


def count(search: Mcs, function: Function, box: tuple[Any, Any] | None = None, budget: int = BUDGET) -> float:
    """Evaluations to the required accuracy; +∞ if it was not reached."""
    lower, upper = box or (function.lower, function.upper)
    found = minimise(search, function.f, lower, upper, budget=budget, target=function.target)
    return found.evaluations if found.value <= function.target else math.inf


def compared(function: Function, what: str, reference: float | None, ours: float) -> Figure:
    """Make a figure without limits that compares with another search; reference: None if nothing was published."""
    known = "" if reference is None or not math.isfinite(reference) else reference
    return Figure(f"{function.name}: {what}", ours, unit=EVALUATIONS, reference=known)


if __name__ == "__main__":
    sys.exit(main("search", __doc__, table))
