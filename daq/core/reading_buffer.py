"""Buffers readings until the next update of their joint is due; the core then works once an update, not once a frame.

The published messages do not depend on how readings are divided into batches, so buffering changes and delays no
update. `JointPipeline.due` is the time at which the next update of a joint can be made; no reading waits longer than
LONGEST. While nothing is due, a turn of the core costs two comparisons.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivers.reading import WORDS, Words, empty, readings, words
from estimators.numerics.jit import kernel
from estimators.quantities import Nanoseconds

#: ns, argued: Longest time that a reading waits if the reading that makes the update due does not come.
LONGEST: Final = 40_000_000
#: ns, argued: Time before the next due instant that is too short for sleeping.
SOON: Final = 300_000
#: ns, argued: Time between two checks while no joint sends.
UNHEARD: Final = 20_000_000
NOTHING: Final = empty()
NEVER: Final = (1 << 63) - 1  # ns
#: readings, argued: Initial capacity of the buffer; it grows.
FEW: Final = 1024
#: 1, argued: Ratio of capacity to waiting readings from which the buffer shrinks: a backlog after a pause is
#: exceptional.
MUCH: Final = 16


class ReadingBuffer:
    """The waiting readings of all joints."""

    def __init__(self, joints: Sequence[int], drivers: Sequence[str]) -> None:
        """joints, drivers: index of the joint and name of the driver of every channel."""
        self._joint = np.array(joints, np.int64)
        self._names = sorted(set(drivers))
        self._driver = np.array([self._names.index(name) for name in drivers], np.int64)
        joints_there = int(self._joint.max(initial=-1)) + 1
        self._latest = np.zeros(joints_there, np.int64)  # ns, arrival of the newest reading of each joint
        self._is_due, self._since = np.zeros(joints_there, np.bool_), np.zeros(joints_there, np.int64)
        self._waiting = np.zeros((FEW, WORDS), np.int64)
        self._count = 0  # number of waiting readings
        self._oldest = self._newest = self._next = 0  # ns: oldest and newest waiting reading; next due time

    def add(self, more: NDArray[np.void]) -> None:
        """Append readings in order of arrival."""
        end = self._count + len(more)
        if end == self._count:
            return
        if end > len(self._waiting) or len(self._waiting) > max(FEW, MUCH * end):
            room = np.zeros((max(FEW, 2 * end), WORDS), np.int64)
            room[: self._count] = self._waiting[: self._count]
            self._waiting = room
        self._waiting[self._count : end] = words(more)
        if not self._count:
            self._oldest = int(self._waiting[0, 0])
        self._count, self._newest = end, int(self._waiting[end - 1, 0])

    def take(self, due: Nanoseconds, now: int) -> NDArray[np.void]:
        """Remove and return the readings of joints that are due, in order of arrival. due: (joints,) ns; now: ns."""
        over = now - self._oldest > LONGEST
        if not self._count or (self._newest < self._next and not over):
            return NOTHING
        taken_rows = np.empty((self._count, WORDS), np.int64)
        taken = _move_due(
            self._waiting, self._count, self._joint, due, now - LONGEST if over else 0, self._latest, self._is_due,
            self._since, taken_rows,
        )  # fmt: skip
        self._count -= int(taken)
        if self._count:
            self._oldest, self._newest = int(self._waiting[0, 0]), int(self._waiting[self._count - 1, 0])
        return readings(taken_rows[:taken])

    def set_next_due(self, due: Nanoseconds, now: int) -> None:
        """Compute the next due time after the readings that were taken have been processed."""
        self._next = _first(due, self._latest, now - LONGEST, now + UNHEARD)

    def take_all(self) -> NDArray[np.void]:
        """Remove and return all readings."""
        count, self._count = self._count, 0
        return readings(self._waiting[:count].copy())

    def sleep_time(self, now: int) -> float:
        """Return the time until the next due instant (s), at most UNHEARD; 0 if it is too short for sleeping."""
        ahead = min(self._next - now, UNHEARD)
        return ahead / 1e9 if ahead > SOON else 0.0

    @property
    def next_due(self) -> int:
        """Arrival time of the reading that is due next, ns."""
        return self._next

    def waiting(self) -> dict[str, int]:
        """Return the number of waiting readings of each driver."""
        if len(self._names) == 1:
            return {self._names[0]: self._count}
        channels = readings(self._waiting[: self._count])["channel"]
        count = np.bincount(self._driver[channels], minlength=len(self._names))
        return dict(zip(self._names, count.tolist(), strict=True))


@kernel("i8(i8[:, ::1], i8, i8[::1], i8[::1], i8, i8[::1], b1[::1], i8[::1], i8[:, ::1])")
def _move_due(
    waiting: Words,
    count: int,
    joints: NDArray[np.int64],
    due: Nanoseconds,
    patience: int,
    latest: Nanoseconds,
    is_due: NDArray[np.bool_],
    since: Nanoseconds,
    taken_rows: Words,
) -> int:
    """Move the readings of joints that are due from `waiting` to `taken_rows`; returns their number.

    joints: joint of each channel; patience: ns, readings that arrived before this time do not wait any longer (0: no
    limit); latest, is_due, since (joints,): time of the newest reading; whether an update is due; time of the oldest
    waiting reading.
    """
    since[:] = NEVER
    for i in range(count):
        joint = joints[waiting[i, 2] & 0xFFFFFFFF]
        latest[joint] = waiting[i, 0]
        if since[joint] == NEVER:
            since[joint] = waiting[i, 0]
    for joint in range(len(latest)):
        is_due[joint] = latest[joint] >= due[joint] or since[joint] < patience
    taken = 0
    for i in range(count):
        goes = is_due[joints[waiting[i, 2] & 0xFFFFFFFF]]
        for word in range(waiting.shape[1]):
            if goes:
                taken_rows[taken, word] = waiting[i, word]
            else:
                waiting[i - taken, word] = waiting[i, word]
        taken += goes
    return taken


@kernel("i8(i8[::1], i8[::1], i8, i8)")
def _first(due: Nanoseconds, latest: Nanoseconds, heard: int, unheard: int) -> int:
    """Return the earliest due time of the joints that have sent readings since `heard`; unheard: result if none has."""
    first, any_heard = np.int64(0), False
    for joint in range(len(due)):
        if latest[joint] > heard and (not any_heard or due[joint] < first):
            first, any_heard = due[joint], True
    return int(first) if any_heard else unheard
