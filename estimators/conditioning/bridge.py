"""How many missing samples in a row may be interpolated before a row is formed over them.

Linear interpolation across m missing samples (period P) moves them by x″·(m + 1)²P²/12 on average, all to one side. The
row kernel, a Hann window of half width H, gives a reading the weight π²P/(2H³) in the acceleration at most, so a row's
acceleration is off by the share

    ε = π² m (m + 1)² / 24 · (P/H)³

of itself at most (under a kernel of few samples a tenth more). Over all places of the loss under the kernel the errors
add up to zero, because a kernel that differentiates does; so the inertia is off by ε² only, and ε is noise of single
rows. Where the values before the gap are known, a cubic is taken (alignment/ring_buffers.py), which is off by far less:
ε bounds it.
"""

import math
from typing import Final

from estimators.conditioning.conditioner import USUAL, Conditioning
from estimators.quantisation.encoder_steps import HARMLESS

#: samples, argued: Samples in a row that are interpolated in any case, whatever the kernel.
FEWEST: Final = 2
#: samples, argued: Samples in a row that are interpolated at most, since a value is waited for as long.
MOST: Final = 16


def bridgeable(conditioning: Conditioning, period: float) -> int:
    """Missing samples in a row that may be interpolated: ε ≤ HARMLESS, FEWEST to MOST. period: s between samples."""
    half_width = USUAL if conditioning.half_width is None else conditioning.half_width
    missing = FEWEST
    while missing < MOST and _error(missing + 1, period, half_width) <= HARMLESS:
        missing += 1
    return missing


def _error(missing: int, period: float, half_width: float) -> float:
    """ε, the share of the acceleration; half_width: s."""
    if half_width <= period:
        return math.inf
    curve, weight = (missing + 1) ** 2 / 12, math.pi**2 / 2  # of the position between neighbours; of the kernel
    return curve * weight * missing * (period / half_width) ** 3
