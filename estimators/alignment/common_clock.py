"""Rows of several joints, each on its own clock → rows of all of them on the clock of the first.

Values are interpolated linearly onto the first one's ticks, never across a gap of more than 1.5 periods. A tick leaves
when every joint has a row at or after it, or when some joint is `patience` ahead of it: what is missing is NaN.

A device samples evenly; what its recovered clock says of that wavers when frames come in bursts, and joint by joint
otherwise: as speed, that would be torque. So each joint's instants are steadied first: a period apart, or apart by as
much as the clock leaps, and drawn to what the clock says within STEADY seconds.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats, Nanoseconds
from estimators.thresholds import GAP, SUCCESSIVE
from jointwatch_numba.layout import Integers, Layout, Matrix
from jointwatch_numba.matrix import contiguous

#: s, argued: Time that a joint is waited for before its rows are given up.
PATIENCE: Final = 0.3
#: s, argued: Time within which a steadied instant is drawn to what the clock says; longer than a clock takes to settle.
STEADY: Final = 10.0
#: ns, argued: A steadied instant that is further from the clock begins anew, since no drift explains it.
APART: Final = 0.2e9
#: rows, argued: Rows of one joint that may wait for the other joints: four seconds at 1 kHz.
ROOM: Final = 4096


class JointRows(Layout):
    """Rows of one joint that wait, in a ring."""

    period: float  # ns
    ticks: Annotated[Integers, "room"]  # ns, steadied
    values: Annotated[Matrix, "room", "columns"]
    which: Annotated[Integers, "columns"]  # channels of a sample that are a row
    came: int = 0  # rows so far, …
    dropped: int = 0  # … and those that found no room
    first: int = 0  # place of the oldest
    count: int = 0  # how many there are
    steadied: float = math.nan  # ns, instant of the last row ever, as steadied …
    stated: float = math.nan  # … and as its clock said


class Joints(Layout):
    """Rows of all joints that wait."""

    rows: tuple[JointRows, ...]
    patience: int  # ns that the first may be behind the newest


class CommonClock:
    """Holds what waits for the slower joints."""

    def __init__(
        self,
        periods: Sequence[float],
        columns: int,
        patience: float = PATIENCE,
        which: Sequence[NDArray[np.int64]] | None = None,
    ) -> None:
        """periods: s of each joint, the first of which gives the ticks; columns: values of one row; patience: s; which:
        of each joint's channels are a row, the first ones where left out."""
        taken = [np.arange(columns)] * len(periods) if which is None else which
        self._columns = columns
        self.rows = tuple(
            JointRows.zeros(period=1e9 * float(one), room=ROOM, columns=columns, which=own.astype(np.int64))
            for one, own in zip(periods, taken, strict=True)
        )
        self._joints = Joints(rows=self.rows, patience=round(patience * 1e9))

    @property
    def dropped(self) -> int:
        """Rows that found no room."""
        return sum(one.dropped for one in self.rows)

    def absorb(self, joint: int, ticks: Nanoseconds, values: Floats) -> None:
        """Samples of one joint, copied: ticks (rows,) ns ascending, values (rows, channels)."""
        _push_samples(contiguous(ticks), contiguous(values), self.rows[joint])

    def release(self) -> tuple[Nanoseconds, Floats]:
        """The ticks that are due, (rows,) ns, and their values, (rows, joints, columns)."""
        due = self.rows[0].count
        ticks, rows = np.empty(due, np.int64), np.empty((due, len(self.rows), self._columns))
        count = _release(self._joints, ticks, rows)
        return ticks[:count], rows[:count]


@inline
def push(ticks: Nanoseconds, values: Floats, rows: JointRows) -> None:
    """Copy samples of a joint: ticks (rows,) ns ascending, values (rows, channels)."""
    period, room, which = rows.period, len(rows.ticks), rows.which
    gain = period / (STEADY * 1e9)
    rows.came += len(ticks)
    for row in range(len(ticks)):
        if rows.count == room:
            rows.first = (rows.first + 1) % room
            rows.count -= 1
            rows.dropped += 1
        at = (rows.first + rows.count) % room
        step = ticks[row] - rows.stated
        instant = rows.steadied + (period if abs(step - period) < GAP * period else step)
        instant += gain * (ticks[row] - instant)
        if not abs(ticks[row] - instant) < APART:  # nor is the first one
            instant = float(ticks[row])
        rows.steadied, rows.stated = instant, ticks[row]
        rows.ticks[at] = round(instant)
        for column in range(len(which)):
            rows.values[at, column] = values[row, which[column]]
        rows.count += 1


@kernel(("i8[::1]", "f8[:, ::1]", JointRows))
def _push_samples(ticks: Nanoseconds, values: Floats, rows: JointRows) -> None:
    push(ticks, values, rows)


@inline
def _interpolate(tick: int, rows: JointRows, out: Floats) -> None:
    """A joint's values at a tick, from its two oldest rows; NaN where it has none there."""
    values, at, after = rows.values, rows.first, (rows.first + 1) % len(rows.ticks)
    low, high = rows.ticks[at], rows.ticks[after]
    out[:] = np.nan
    if rows.count > 0 and low == tick:
        for column in range(len(out)):  # a slice of a slice would bring the text of numba's error with it
            out[column] = values[at, column]
    elif rows.count > 1 and low < tick and high - low <= SUCCESSIVE * rows.period:
        part = (tick - low) / (high - low)
        for column in range(len(out)):
            out[column] = values[at, column] + (values[after, column] - values[at, column]) * part


@kernel((Joints, "i8[::1]", "f8[:, :, ::1]"))
def _release(joints: Joints, ticks: Nanoseconds, out: Floats) -> int:
    leader, newest, count = joints.rows[0], np.int64(-(1 << 62)), 0
    room = len(leader.ticks)
    for joint in range(len(joints.rows)):
        rows = joints.rows[joint]
        if rows.count > 0:
            newest = max(newest, rows.ticks[(rows.first + rows.count - 1) % room])
    while leader.count > 0:
        tick = leader.ticks[leader.first]
        complete = True
        for joint in range(1, len(joints.rows)):
            rows = joints.rows[joint]
            while rows.count > 1 and rows.ticks[(rows.first + 1) % room] <= tick:
                rows.first = (rows.first + 1) % room
                rows.count -= 1
            complete &= rows.count > 0 and rows.ticks[(rows.first + rows.count - 1) % room] >= tick
        if not complete and newest - tick < joints.patience:
            break
        ticks[count] = tick
        for joint in range(len(joints.rows)):
            _interpolate(tick, joints.rows[joint], out[count, joint])
        leader.first = (leader.first + 1) % room
        leader.count -= 1
        count += 1
    return count
