"""An identified robot played live through recordings: its error beside that of `identify` on the same seconds.

Each recording is played as `jointwatch replay` plays it: on even ticks of its own rate, by its own stamps where these
are uneven, and without rows that were sent twice where some were. The first second of each, in which low-passes settle, counts for neither.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from daq.replay.own_stamps import even, is_uneven, without_repeated_rows
from estimators.alignment.channel_delay import ChannelSeries
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.offline.robot.identification import JudgedPrediction
from estimators.offline.robot.live_residuals import Recorded, with_live_residuals
from estimators.online.robot.estimator import RobotEstimator
from estimators.quantities import Floats

SETTLES: Final = 1.0  # s
ROW: Final = 0.02  # s between two rows that are compared
UNBROKEN: Final = 1.5  # usual steps: a longer one is over a lost sample


def live_over_identified(
    found: IdentifiedRobot, taught: Sequence[Recorded], judged: Sequence[Recorded], test: JudgedPrediction
) -> float:
    """The live error over that of `identify`; NaN where nothing is left to compare.

    taught, judged: recordings; test: what `identify` predicts of `judged`.
    """
    with np.errstate(all="ignore"):
        learnt = with_live_residuals(found, taught)
        live = [_played(learnt, one) for one in judged]
    y, predicted = (np.concatenate([one[k] for one in live]) for k in range(2))
    starts = [one.time[0] + SETTLES for one in judged]
    ends = [one.time[-1] for one in judged]
    time = test.rows.time
    inside = np.any([(time >= first) & (time <= last) for first, last in zip(starts, ends, strict=True)], axis=0)
    left = _error(test.rows.y[inside], test.predicted[inside])
    return _error(y, predicted) / left if left > 0.0 else float("nan")


def _played(found: IdentifiedRobot, one: Recorded) -> tuple[Floats, Floats]:
    """Torque and prediction (rows, n) each ROW of a recording."""
    one, repeating = _once(one)
    steps = np.diff(one.time)
    usual = float(np.median(steps[steps > 0.0]))
    rate = 1.0 / float(np.mean(steps[(steps > 0.0) & (steps < UNBROKEN * usual)]))
    uneven = repeating or is_uneven(ChannelSeries(one.time, one.q[:, 0]))
    grid = one.time[0] + np.arange(int((one.time[-1] - one.time[0]) * rate + 1e-6) + 1) / rate
    channels = [one.q, one.tau] if one.link is None else [one.q, one.tau, one.link]
    rows = [_on(grid, one.time, values, rate if uneven else None) for values in channels]
    ticks = np.round(1e9 * (grid - grid[0])).astype(np.int64) + 1
    estimator, size = RobotEstimator(found, 1.0 / rate), max(1, round(ROW * rate))
    measured, predicted = [], []
    for first in range(0, len(grid), size):
        part = slice(first, first + size)
        estimator.absorb(ticks[part], *(values[part] for values in rows))
        now = estimator.estimate()
        if grid[part][-1] >= grid[0] + SETTLES:
            measured.append(now.measured)
            predicted.append(now.predicted)
    n = one.q.shape[1]
    return np.array(measured).reshape(-1, n), np.array(predicted).reshape(-1, n)


def _once(one: Recorded) -> tuple[Recorded, bool]:
    """The recording without rows that were sent once more, and whether there were some."""
    roles = {"position": one.q, "torque": one.tau} | ({} if one.link is None else {"link": one.link})
    channels = {
        str(j): {role: ChannelSeries(one.time, values[:, j]) for role, values in roles.items()}
        for j in range(one.q.shape[1])
    }
    channels, repeating = without_repeated_rows(channels)
    found = {role: np.column_stack([joint[role].values for joint in channels.values()]) for role in roles}
    return Recorded(channels["0"]["position"].time, found["position"], found["torque"], found.get("link")), repeating


def _on(grid: Floats, time: Floats, values: Floats, rate: float | None) -> Floats:
    """Values (rows, n) on the grid: interpolated at this rate, or the samples as they are; NaN where there is none."""
    found = np.full((len(grid), values.shape[1]), np.nan)
    for j, column in enumerate(values.T):
        series = ChannelSeries(time, column)
        if rate is not None and np.isfinite(column).any():
            series = even(series, rate)
        at = np.round((series.time - grid[0]) / (grid[1] - grid[0])).astype(np.int64)
        inside = (at >= 0) & (at < len(grid))
        found[at[inside], j] = series.values[inside]
    return found


def _error(y: Floats, predicted: Floats) -> float:
    """Error relative to the torque, over the rows that have both."""
    both = np.isfinite(y) & np.isfinite(predicted)
    return float(np.linalg.norm((y - predicted)[both]) / np.linalg.norm(y[both])) if both.any() else float("nan")
