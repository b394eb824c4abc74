"""How large the residual of each drive is where nothing disturbs it: recordings through the live filters.

The running service compares its residual with these numbers, so they come from the same code that makes its residual.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from estimators.models.mechanisms.description import Description, DriveResidual
from estimators.online.mechanism.estimator import MechanismEstimator
from estimators.quantities import Floats

ENDLESS: Final = 1e9  # s: the start never ends, so every residual is gathered
BREAK: Final = 0.2  # s without values between two recordings, after which the low-passes begin anew


class DriveRecording(NamedTuple):
    """Raw samples of all drives."""

    time: Floats  # (samples,) s
    q: Floats  # (samples, drives) rad (m)
    tau: Floats  # (samples, drives) N·m (N)


def undisturbed(description: Description, recordings: Sequence[DriveRecording]) -> tuple[DriveResidual, ...]:
    """The residual of each drive; none where nothing has moved in them."""
    period = max(float(np.median(np.diff(one.time))) for one in recordings)
    estimator = MechanismEstimator(description, period, ENDLESS)
    clock = 1
    for one in recordings:
        grid = np.arange(one.time[0], one.time[-1], period)
        q, tau = (_on(grid, one.time, values) for values in (one.q, one.tau))
        gap = np.full((round(BREAK / period), q.shape[1]), np.nan)
        q, tau = np.concatenate((q, gap)), np.concatenate((tau, gap))
        estimator.absorb(clock + np.round(1e9 * period * np.arange(len(q))).astype(np.int64), q, tau)
        clock += round(1e9 * period * len(q))
    try:
        peaks, deviations = estimator.start_residuals()
    except ValueError:
        return ()
    return tuple(
        DriveResidual(drive=name, peak=float(peak), deviation=float(deviation))
        for name, peak, deviation in zip(estimator.drives, peaks, deviations, strict=True)
    )


def _on(grid: Floats, time: Floats, values: Floats) -> Floats:
    return np.column_stack([np.interp(grid, time, column) for column in values.T])
