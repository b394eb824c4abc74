"""Rows of several joints, each on its own clock → rows of all of them on the clock of the first.

Values are interpolated linearly onto the first one's ticks, never across a gap of more than 1.5 periods. A tick leaves
when every joint has a row at or after it, or when some joint is `patience` ahead of it: what is missing is NaN.

A device samples evenly; what its recovered clock says of that wavers when frames come in bursts, and joint by joint
otherwise: as speed, that would be torque. So each joint's instants are steadied first: a period apart, or apart by as
much as the clock leaps, and drawn to what the clock says within STEADY seconds.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import kernel
from estimators.quantities import Floats, Nanoseconds

GAP: Final = 1.5  # periods across which nothing is interpolated
STEADY: Final = 10.0  # s
APART: Final = 0.2e9  # ns that steadied instants may be from what the clock says
LEAP: Final = 0.5  # periods off a period, from which the clock does not waver but leaps
ROOM: Final = 4096  # rows of one joint that may wait
# what waits of a joint: where its ring begins and how many rows are in it
FIRST, COUNT, WAITING = range(3)


class CommonClock:
    """Holds what waits for the slower joints."""

    def __init__(self, periods: Sequence[float], columns: int, patience: float = 0.3) -> None:
        """periods: s of each joint, the first of which gives the ticks; columns: values of one row; patience: s."""
        n = len(periods)
        self._every = np.arange(columns)
        self._periods = np.array(periods) * 1e9
        self._patience = round(patience * 1e9)
        self._ticks = np.zeros((n, ROOM), np.int64)
        self._values = np.zeros((n, ROOM, columns))
        self._rings = np.zeros((n, WAITING), np.int64)
        self._steady = np.full((n, 2), np.nan)  # the last row's instant, as steadied and as the clock said, ns
        self.dropped = 0  # rows that found no room

    def absorb(self, joint: int, ticks: Nanoseconds, values: Floats, which: NDArray[np.int64] | None = None) -> None:
        """Rows of one joint, copied: ticks (rows,) ns ascending, values (rows, columns), or all of them and which."""
        which = self._every if which is None else which
        kept = self._ticks, self._values, self._rings
        self.dropped += _push(joint, ticks, values, which, self._periods, self._steady, *kept)

    def release(self) -> tuple[Nanoseconds, Floats]:
        """The ticks that are due, (rows,) ns, and their values, (rows, joints, columns)."""
        due = int(self._rings[0, COUNT])
        ticks, rows = np.empty(due, np.int64), np.empty((due, *self._values.shape[::2]))
        count = _release(self._periods, self._patience, self._ticks, self._values, self._rings, ticks, rows)
        return ticks[:count], rows[:count]


@kernel(
    "i8(i8, Array(i8, 1, 'A', readonly=True), Array(f8, 2, 'A', readonly=True), i8[::1], f8[::1],"
    " f8[:, ::1], i8[:, ::1], f8[:, :, ::1], i8[:, ::1])"
)
def _push(
    joint: int,
    ticks: Nanoseconds,
    values: Floats,
    which: NDArray[np.int64],
    periods: Floats,
    steady: Floats,
    waiting: NDArray[np.int64],
    held: Floats,
    rings: NDArray[np.int64],
) -> int:
    ring, period = rings[joint], periods[joint]
    gain = period / (STEADY * 1e9)
    room = waiting.shape[1]
    dropped = 0
    for row in range(len(ticks)):
        if ring[COUNT] == room:
            ring[FIRST] = (ring[FIRST] + 1) % room
            ring[COUNT] -= 1
            dropped += 1
        at = (ring[FIRST] + ring[COUNT]) % room
        step = ticks[row] - steady[joint, 1]
        instant = steady[joint, 0] + (period if abs(step - period) < LEAP * period else step)
        instant += gain * (ticks[row] - instant)
        if not abs(ticks[row] - instant) < APART:  # nor is the first one
            instant = float(ticks[row])
        steady[joint, 0], steady[joint, 1] = instant, ticks[row]
        waiting[joint, at] = round(instant)
        for column in range(len(which)):
            held[joint, at, column] = values[row, which[column]]
        ring[COUNT] += 1
    return dropped


@kernel("i8(f8[::1], i8, i8[:, ::1], f8[:, :, ::1], i8[:, ::1], i8[::1], f8[:, :, ::1])")
def _release(
    periods: Floats,
    patience: int,
    waiting: NDArray[np.int64],
    held: Floats,
    rings: NDArray[np.int64],
    ticks: Nanoseconds,
    rows: Floats,
) -> int:
    joints, room = waiting.shape
    newest = np.int64(-(1 << 62))
    for joint in range(joints):
        if rings[joint, COUNT] > 0:
            last = waiting[joint, (rings[joint, FIRST] + rings[joint, COUNT] - 1) % room]
            newest = max(newest, last)
    count = 0
    while rings[0, COUNT] > 0:
        tick = waiting[0, rings[0, FIRST]]
        complete = True
        for joint in range(1, joints):
            ring = rings[joint]
            while ring[COUNT] > 1 and waiting[joint, (ring[FIRST] + 1) % room] <= tick:
                ring[FIRST] = (ring[FIRST] + 1) % room
                ring[COUNT] -= 1
            last = waiting[joint, (ring[FIRST] + ring[COUNT] - 1) % room]
            complete &= ring[COUNT] > 0 and last >= tick
        if not complete and newest - tick < patience:
            break
        ticks[count] = tick
        for joint in range(joints):
            at = rings[joint, FIRST]
            low = waiting[joint, at]
            for column in range(held.shape[2]):
                rows[count, joint, column] = np.nan
            if rings[joint, COUNT] == 0 or low > tick:
                continue
            if low == tick:
                for column in range(held.shape[2]):
                    rows[count, joint, column] = held[joint, at, column]
            elif rings[joint, COUNT] > 1:
                after = (at + 1) % room
                high = waiting[joint, after]
                if high - low <= GAP * periods[joint]:
                    part = (tick - low) / (high - low)
                    for column in range(held.shape[2]):
                        rows[count, joint, column] = (
                            held[joint, at, column] + (held[joint, after, column] - held[joint, at, column]) * part
                        )
        rings[0, FIRST] = (rings[0, FIRST] + 1) % room
        rings[0, COUNT] -= 1
        count += 1
    return count
