"""What a live service would have had on the recordings of the identification: its first thresholds, encoders' steps."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from estimators.conditioning.repeated_rows import without_repeats
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.numerics.splines import cubic_spline
from estimators.offline.robot.motion import MotionError
from estimators.online.robot.estimator import RobotEstimator
from estimators.quantisation.recorded_steps import RecordedSteps
from estimators.quantities import Floats

GAP: Final = 5.0  # steps without a sample, beyond which values are missing


class Recorded(NamedTuple):
    """One recording."""

    time: Floats  # (samples,) s ascending
    q: Floats  # (samples, n) rad (m)
    tau: Floats  # (samples, n) N·m (N)
    link: Floats | None = None  # (samples, n) of second encoders


def with_live_residuals(learnt: IdentifiedRobot, recordings: Sequence[Recorded]) -> IdentifiedRobot:
    """The robot with what is left under the live low-pass: largest residual, root mean square, and what friction
    has beyond its law. MotionError if at rest."""
    peaks, squares, discrepancy = np.zeros((3, len(learnt.robot.joints)))
    count = 0
    twisted = learnt.model().twisted
    encoders = RecordedSteps(len(learnt.robot.joints))
    for time, q, tau, link in recordings:
        second = np.zeros_like(q) if link is None else link
        whole = np.isfinite(time) & np.isfinite(np.hstack([q, tau, second[:, twisted]])).all(axis=1)
        whole &= np.concatenate([[True], np.diff(time) > 0.0])
        time, q, tau, second = time[whole], q[whole], tau[whole], second[whole]
        time, once = without_repeats(time, q, np.hstack([tau, second]))
        time, q, tau, second = time[once], q[once], tau[once], second[once]
        if len(time) < 2:
            continue
        encoders.absorb(time, q)
        period = float(np.median(np.diff(time)))
        ticks = np.arange(time[0], time[-1], period)
        after = np.searchsorted(time, ticks, side="right").clip(1, len(time) - 1)
        missing = time[after] - time[after - 1] > GAP * period
        even = [_on_ticks(ticks, time, values) for values in (q, tau, second)]
        for values in even:
            values[missing] = np.nan
        estimator = RobotEstimator(learnt, period, start=np.inf, teaches=False)
        estimator.absorb(np.round(1e9 * ticks).astype(np.int64), *even)
        try:
            peak, deviation, bend = estimator.start_residuals()
        except ValueError:
            continue
        peaks, squares, count = np.maximum(peaks, peak), squares + deviation**2, count + 1
        discrepancy = np.maximum(discrepancy, bend)
    if not count:
        raise MotionError(["no joint moves for as long as a live service looks at: its thresholds are not known"])
    found = replace(learnt, peaks=peaks, deviations=np.sqrt(squares / count), friction_discrepancy=discrepancy)
    return replace(found, steps=encoders.steps)


def _on_ticks(ticks: Floats, time: Floats, values: Floats) -> Floats:
    """The columns at these times, by cubic splines; one that is not measured throughout has no values."""
    found = np.full((len(ticks), values.shape[1]), np.nan)
    measured = np.isfinite(values).all(axis=0)
    if measured.any():
        found[:, measured] = cubic_spline(time, values[:, measured])(ticks)
    return found
