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
    count, encoders = 0, RecordedSteps(len(learnt.robot.joints))
    twisted = learnt.model().twisted
    measured = [one for one in (_measured(each, twisted) for each in recordings) if len(one[0]) > 1]
    for time, q, *_ in measured:
        encoders.absorb(time, q)
    learnt = replace(learnt, steps=encoders.steps)  # the low-passes follow from them, too
    for one in measured:
        ticks, *even = _on_ticks(*one)
        estimator = RobotEstimator(learnt, float(np.median(np.diff(one[0]))), start=np.inf, teaches=False)
        estimator.absorb(np.round(1e9 * ticks).astype(np.int64), *even)
        try:
            peak, deviation, bend = estimator.start_residuals()
        except ValueError:
            continue
        peaks, squares, count = np.maximum(peaks, peak), squares + deviation**2, count + 1
        discrepancy = np.maximum(discrepancy, bend)
    if not count:
        raise MotionError(["no joint moves for as long as a live service looks at: its thresholds are not known"])
    return replace(learnt, peaks=peaks, deviations=np.sqrt(squares / count), friction_discrepancy=discrepancy)


def _measured(one: Recorded, twisted: list[int]) -> tuple[Floats, Floats, Floats, Floats]:
    """The whole samples of a recording, each once, at the instants at which they were measured; zeros for no links."""
    time, q, tau, link = one
    second = np.zeros_like(q) if link is None else link
    whole = np.isfinite(time) & np.isfinite(np.hstack([q, tau, second[:, twisted]])).all(axis=1)
    whole &= np.concatenate([[True], np.diff(time) > 0.0])
    time, q, tau, second = time[whole], q[whole], tau[whole], second[whole]
    time, once = without_repeats(time, q, np.hstack([tau, second]))
    return time[once], q[once], tau[once], second[once]


def _on_ticks(time: Floats, *columns: Floats) -> tuple[Floats, ...]:
    """Even ticks, and the columns at them; NaN in gaps."""
    period = float(np.median(np.diff(time)))
    ticks = np.arange(time[0], time[-1], period)
    after = np.searchsorted(time, ticks, side="right").clip(1, len(time) - 1)
    missing = time[after] - time[after - 1] > GAP * period
    even = [_interpolated(ticks, time, values) for values in columns]
    for values in even:
        values[missing] = np.nan
    return ticks, *even


def _interpolated(ticks: Floats, time: Floats, values: Floats) -> Floats:
    """The columns at these times, by cubic splines; one that is not measured throughout has no values."""
    found = np.full((len(ticks), values.shape[1]), np.nan)
    measured = np.isfinite(values).all(axis=0)
    if measured.any():
        found[:, measured] = cubic_spline(time, values[:, measured])(ticks)
    return found
