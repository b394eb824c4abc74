"""The period of a motion, from the autocorrelation of one signal."""

from typing import Final

import numpy as np

from estimators.quantities import Floats

#: 1, argued: Autocorrelation from which a lag is called a period.
SIMILAR: Final = 0.7


def motion_period(y: Floats) -> int:
    """Rows in one period of a signal (rows,), 0 when it has none within two thirds of it.

    The first maximum above 0.7 of the autocorrelation after its first zero crossing.
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
