"""The alarm, calibrated on the joint's own start-up: what its residual does without any change is not an alarm.

CUSUM on the squared prediction error s, in units of the start-up's residual variance v₀ (irj-joint design, section 3):

    g ← max(0, g + min(s, 12) − k),  alarm when g > h

k = 3: white noise (mean of s: 1) drifts down by 2 a row, and exceeds h = 60 less than once in 10¹² rows. A real
residual is structured, it swells at every reversal: h is at least 2.5 times the largest g of the start-up over whole
periods.
The same structure makes the textbook deviations √(v·P_ii) too small; `honesty` measures by how much.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.base import Floats
from estimators.recursive.forgetting import SATURATION, Threshold

ALLOWANCE: Final = 3.0  # k
LEAST: Final = 60.0  # h, at least
MARGIN: Final = 2.5  # h over the start-up's largest excursion
SIMILAR: Final = 0.7  # autocorrelation from which a lag is called a period
LEAST_NOISE: Final = 0.5  # whitening has made it 1; it is less only where an output has no noise at all
OUTLIER: Final = 5.0  # σ, residuals beyond it do not count into v₀


def calibrate(squared: Floats, allowance: float = ALLOWANCE, least: float = LEAST) -> Threshold:
    """Threshold from the start-up's squared residuals, whitened: (rows,), mean over a row's outputs.

    allowance: k; least: h, at least.
    """
    noise = max(robust_mean(squared), LEAST_NOISE)
    s = np.minimum(squared / noise, SATURATION)
    total = np.cumsum(s - allowance)
    excursion = float(np.max(total - np.minimum.accumulate(np.minimum(total, 0.0)), initial=0.0))
    return Threshold(noise, allowance, max(least, MARGIN * excursion))


def robust_mean(squared: Floats) -> float:
    """Mean of squared residuals without those beyond 5 σ."""
    if not len(squared):
        return 0.0
    mean = float(np.mean(squared))
    for _ in range(3):
        kept = squared[squared <= OUTLIER**2 * mean]
        if not len(kept):
            break
        mean = float(np.mean(kept))
    return mean


def motion_period(y: Floats) -> int:
    """Rows in one period of a signal (rows,), 0 when it has none within two thirds of it.

    The first maximum above 0.7 of the autocorrelation behind its first zero crossing.
    """
    step = max(1, len(y) // 2048)
    x = y[: len(y) // step * step].reshape(-1, step).mean(axis=1)
    x = x - x.mean()
    n = len(x)
    power = float(np.mean(x**2))
    if n < 16 or not power > 0:
        return 0
    spectrum = np.fft.rfft(x, 2 * n)
    lags = n * 2 // 3
    correlation = np.fft.irfft(np.abs(spectrum) ** 2)[:lags] / (np.arange(n, n - lags, -1) * power)
    negative = np.flatnonzero(correlation < 0)
    if not len(negative):
        return 0
    high = np.flatnonzero(correlation[negative[0] :] > SIMILAR) + negative[0]
    if not len(high):
        return 0
    gap = np.flatnonzero(np.diff(high) > 1)
    hill = high[: gap[0] + 1] if len(gap) else high
    peak = int(hill[np.argmax(correlation[hill])])
    return 0 if peak == lags - 1 else peak * step


def honesty(phi: Floats, residual: Floats, covariance: Floats, noise: float, block: int) -> Floats:
    """By how much structured residual makes each deviation larger than √(v·P_ii): (parameters,), at least 1.

    Batch means of the score Φ'e (the sandwich P·S·P of a least-squares fit, S from blocks of rows long enough to be
    independent of each other). phi: (rows, parameters), residual: (rows,), both whitened; block: rows.
    """
    rows, p = phi.shape
    blocks = rows // block
    if blocks <= p or not noise > 0:
        return np.ones(p)
    score = (phi * residual[:, None])[: blocks * block].reshape(blocks, block, p).sum(axis=1)
    spread = score @ covariance
    variance = np.sum(spread**2, axis=0) * blocks / (blocks - p)
    claimed: NDArray[np.float64] = noise * np.diag(covariance)
    return np.asarray(np.sqrt(np.maximum(variance / claimed, 1.0)))
