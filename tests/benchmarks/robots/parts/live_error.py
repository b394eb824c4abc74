"""An identified robot played live through recordings: its error beside that of `identify` on the same rows.

Each recording is played as `jointwatch replay` plays it: on even ticks of its own rate, by its own stamps where these
are uneven, and without rows that were sent twice. Rows count that `identify` has, too: none while low-passes settle at
both ends of a recording, and of each gap.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from daq.replay.own_stamps import even, is_uneven, without_repeated_rows
from estimators.alignment.channel_delay import ChannelSeries
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.offline.robot.identification import JudgedPrediction
from estimators.offline.robot.live_residuals import Recorded, with_live_residuals
from estimators.offline.robot.motion import pieces
from estimators.online.robot.estimator import RobotEstimator
from estimators.quantities import Floats

ROW: Final = 0.02  # s between two rows that are compared
UNBROKEN: Final = 1.5  # usual steps: a longer one is over a lost sample


def live_over_identified(
    found: IdentifiedRobot, taught: Sequence[Recorded], judged: Sequence[Recorded], test: JudgedPrediction
) -> float:
    """The live error over that of `identify`; NaN where nothing is left to compare.

    taught, judged: recordings; test: what `identify` predicts of `judged`.
    """
    live, identified = [], []
    with np.errstate(all="ignore"):
        learnt, first = with_live_residuals(found, taught), 0
        for one in judged:
            number = len(pieces(*one[:3], link=one.link))
            rows = (test.rows.piece >= first) & (test.rows.piece < first + number)
            first += number
            left = test.rows.y[rows] - test.predicted[rows]
            at, y, predicted = _played(learnt, one)
            of = _nearest(at, test.rows.time[rows])
            live.append(_both(y[of >= 0], predicted[of >= 0], left[of[of >= 0]]))
            used = np.unique(of[of >= 0])
            identified.append(_both(test.rows.y[rows][used], test.predicted[rows][used], left[used]))
    of_identify = _error(*np.hstack(identified))
    return _error(*np.hstack(live)) / of_identify if of_identify > 0.0 else float("nan")


def _nearest(times: Floats, rows: Floats) -> NDArray[np.int64]:
    """Index of the row nearest to each time, -1 where none is within a row; rows: ascending times."""
    after = np.searchsorted(rows, times).clip(1, len(rows) - 1)
    near = after - (times - rows[after - 1] < rows[after] - times)
    return np.where(np.abs(times - rows[near]) <= np.median(np.diff(rows)), near, -1)


def _both(y: Floats, predicted: Floats, left: Floats) -> Floats:
    """Torques and predictions (2, values) where both are known, and left of `identify`, too."""
    known = np.isfinite(y) & np.isfinite(predicted) & np.isfinite(left)
    return np.array([y[known], predicted[known]])


def _played(found: IdentifiedRobot, one: Recorded) -> tuple[Floats, Floats, Floats]:
    """Time (rows,), torque and prediction (rows, n) each ROW of a recording."""
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
    at, measured, predicted = [], [], []
    for first in range(0, len(grid), size):
        part = slice(first, first + size)
        estimator.absorb(ticks[part], *(values[part] for values in rows))
        now = estimator.estimate()
        at.append(grid[part][-1])
        measured.append(now.measured)
        predicted.append(now.predicted)
    n = one.q.shape[1]
    return np.array(at), np.array(measured).reshape(-1, n), np.array(predicted).reshape(-1, n)


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
    """Error relative to the torque."""
    return float(np.linalg.norm(y - predicted) / np.linalg.norm(y)) if len(y) else float("nan")
