"""Where the search looks besides its boxes: a low-discrepancy sample, away from the minima that are already known.

The paper's sweeps divide the best box of every level, so that once a wide valley has been found its boxes win all
levels, and the test of §5.4 discards every candidate as lying in that valley (Hartman 6: one box in ten never ends).
So every second sweep leaves out the boxes around known minima, and starts one local search from the best of a few
sample points. The distance that counts as "around" shrinks with the evaluations, as in multi-level single linkage
(Rinnooy Kan & Timmer, Stochastic global optimization methods part II, Math. Programming 39:57–78, 1987).
"""

from typing import Annotated, Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.search.multilevel.basket import Basket
from estimators.search.multilevel.boxes import Boxes
from estimators.search.multilevel.evaluation import Objective, evaluate
from jointwatch_numba.layout import Layout, Vector

PER_DIMENSION: Final = 4  # points of one sample
NEAR: Final = 0.3


class Region(Layout):
    """Where samples are drawn, and the additive recurrence that draws them."""

    low: Annotated[Vector, "dimensions"]
    width: Annotated[Vector, "dimensions"]
    turn: Annotated[Vector, "dimensions"]
    shift: Annotated[Vector, "dimensions"]  # where the recurrence begins
    samples: int = 0  # drawn so far


@inline
def critical(objective: Objective) -> float:
    """The square of the distance, in widths of the box, within which a minimum explains a point."""
    k = objective.evaluations
    return float(NEAR * (2.0 * np.log(k) / k) ** (2.0 / objective.lower.size))


@inline
def explained(basket: Basket, region: Region, x: Floats, f: float, distance: float) -> bool:
    """Is there a minimum ≤ f in the basket nearer to x than the square root of distance?"""
    for k in range(basket.count):
        if basket.value[k] > f:
            continue
        total = 0.0
        for i in range(x.size):
            total += ((x[i] - basket.point[k, i]) / region.width[i]) ** 2
        if total < distance:
            return True
    return False


@inline
def sample(objective: Objective, boxes: Boxes, basket: Basket, region: Region) -> int:
    """Evaluate a few points; the best that no known minimum explains becomes a candidate. Returns its index, or −1."""
    n = objective.lower.size
    x, distance = np.empty(n), critical(objective)
    c, least = boxes.candidates, np.inf
    for _ in range(PER_DIMENSION * n):
        region.samples += 1
        for i in range(n):
            part = (region.shift[i] + region.samples * region.turn[i]) % 1.0
            x[i] = region.low[i] + part * region.width[i]
        f = evaluate(objective, x)
        if f < least and not explained(basket, region, x, f, distance):
            least = f
            for i in range(n):
                boxes.candidate[c, i] = x[i]
    if least == np.inf:
        return -1
    boxes.candidate_value[c] = least
    boxes.candidates = c + 1
    return c
