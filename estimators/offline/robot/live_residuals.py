"""What a live service would have seen of the recordings it was identified from: where its thresholds begin."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.online.robot.estimator import RobotEstimator
from estimators.quantities import Floats

GAP: Final = 5.0  # steps without a sample, beyond which values are missing


def live_residuals(
    learnt: IdentifiedRobot, recordings: Sequence[tuple[Floats, Floats, Floats]]
) -> tuple[Floats, Floats]:
    """Largest residual and its root mean square under the live low-pass, (n,) each in N·m (N).

    recordings: time (samples,) s ascending, q (samples, n) rad (m), tau (samples, n) N·m (N). ValueError if at rest.
    """
    peaks, squares, found = np.zeros(len(learnt.robot.joints)), np.zeros(len(learnt.robot.joints)), 0
    for time, q, tau in recordings:
        whole = np.isfinite(time) & np.isfinite(q).all(axis=1) & np.isfinite(tau).all(axis=1)
        whole &= np.concatenate([[True], np.diff(time) > 0.0])
        time, q, tau = time[whole], q[whole], tau[whole]
        if len(time) < 2:
            continue
        period = float(np.median(np.diff(time)))
        ticks = np.arange(time[0], time[-1], period)
        after = np.searchsorted(time, ticks, side="right").clip(1, len(time) - 1)
        missing = time[after] - time[after - 1] > GAP * period
        even = [np.column_stack([np.interp(ticks, time, one) for one in values.T]) for values in (q, tau)]
        for values in even:
            values[missing] = np.nan
        estimator = RobotEstimator(learnt, period, start=np.inf, teaches=False)
        estimator.absorb(np.round(1e9 * ticks).astype(np.int64), *even)
        try:
            peak, deviation = estimator.start_residuals()
        except ValueError:
            continue
        peaks, squares, found = np.maximum(peaks, peak), squares + deviation**2, found + 1
    if not found:
        raise ValueError("nothing moves in the recordings")
    return peaks, np.sqrt(squares / found)
