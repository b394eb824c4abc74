"""The alarm, calibrated on the joint's own start-up: what its residual does without any change is not an alarm.

CUSUM on the squared prediction error s, in units of the start-up's residual variance v₀ (irj-joint design, section 3):

    g ← max(0, g + min(s, 12) − k),  alarm when g > h

k = 3: white noise (mean of s: 1) drifts down by 2 a row, and exceeds h = 60 less than once in 10¹² rows. Under a wide
kernel rows share their noise, and an excursion lasts as many rows as do (`least_of`). A real
residual is structured, it swells at every reversal: h is at least 2.5 times the largest g of the start-up over whole
periods.
The same structure makes the textbook deviations √(v·P_ii) too small; `deviation_factors` (numerics/robust.py) says by
how much.
"""

import math
from typing import Final

import numpy as np

from estimators.numerics.robust import robust_mean
from estimators.quantities import Floats
from estimators.recursive.forgetting import SATURATION, Threshold

#: v₀, tuned: k of the CUSUM; EMPS had no false alarm with k = 3 and seven with k = 2 (decision 001).
ALLOWANCE: Final = 3.0
#: v₀, tuned: h of the CUSUM, at least: white noise passes it less than once in 1e12 rows (decision 001).
LEAST: Final = 60.0
#: rows, derived: Rows that say the same under a Hann window over two rows to either side, the usual kernel, for which
#: LEAST holds: where more do, one excursion of noise counts as often, and LEAST grows with them (decision 083).
ALIKE: Final = 8.0 / 3.0
#: 1, tuned: h over the start's largest excursion; EMPS at 40 Hz to 1 kHz (decision 001).
MARGIN: Final = 2.5
#: 1, derived: Σρ² over Σρ of a Hann window: τ of the squares of white noise under that kernel.
SQUARES: Final = 0.72
#: 1, argued: The least whitened residual variance; it is less than one only where an output has no noise.
LEAST_NOISE: Final = 0.5


def calibrate(
    squared: Floats, allowance: float = ALLOWANCE, least: float = LEAST, overlap: float = math.inf
) -> Threshold:
    """Threshold from the start-up's squared residuals, whitened: (rows,), mean over a row's outputs.

    allowance: k; least: h, at least; overlap: rows that are correlated, infinite where `least` holds for any residual.
    """
    noise = max(robust_mean(squared), LEAST_NOISE)
    s = np.minimum(squared / noise, SATURATION)
    total = np.cumsum(s - allowance)
    excursion = float(np.max(total - np.minimum.accumulate(np.minimum(total, 0.0)), initial=0.0))
    limit = max(least * max(1.0, clump(s) / (SQUARES * overlap)), MARGIN * excursion)
    worst = float(np.max(squared, initial=SATURATION * noise)) / noise
    return Threshold(noise, allowance, limit, worst)


def least_of(overlap: float) -> float:
    """h, at least, of rows of which so many say the same."""
    return LEAST * max(1.0, overlap / ALIKE)


def clump(s: Floats) -> float:
    """τ, rows: 1 + 2Σρ_k of s (rows,), up to the first ρ_k that is within two deviations of none."""
    apart = s - s.mean() if len(s) else s
    power, total = float(apart @ apart), 1.0
    for k in range(1, len(s) // 20):
        alike = float(apart[:-k] @ apart[k:]) / power if power > 0.0 else 0.0
        if alike < 2.0 / math.sqrt(len(s)):
            break
        total += 2.0 * alike
    return total
