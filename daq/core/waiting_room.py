"""Readings wait until an update of their joint is due: it goes its way once an update, not once a frame.

What is published does not depend on how readings are cut into batches, so nobody misses what waits; what is due is not
held up. When a joint's next update is due its line guesses (`JointLine.due`); a reading waits no longer than LONGEST
all the same. While nothing is due, a turn of the core costs two comparisons.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivers.reading import empty, joined
from estimators.quantities import Nanoseconds

LONGEST: Final = 40_000_000  # ns that a reading waits at most, where the one that its joint waits for does not come
SOON: Final = 300_000  # ns before what is due in which it is not worth to sleep
NOBODY: Final = 20_000_000  # ns between two looks where no joint is heard
NOTHING: Final = empty()


class WaitingRoom:
    """What has come and waits, of all joints."""

    def __init__(self, joints: Sequence[int], drivers: Sequence[str]) -> None:
        """Of every channel: the index of its joint, and the name of its driver."""
        self._joint = np.array(joints, np.int64)
        self._names = sorted(set(drivers))
        self._driver = np.array([self._names.index(name) for name in drivers], np.int64)
        self._latest = np.zeros(int(self._joint.max(initial=-1)) + 1, np.int64)  # ns, of a joint's newest reading
        self._waiting: list[NDArray[np.void]] = []
        self._oldest = self._newest = self._next = 0  # ns, of what waits; of what is expected

    def add(self, readings: NDArray[np.void]) -> None:
        """Readings in order of arrival."""
        if len(readings):
            if not self._waiting:
                self._oldest = int(readings["time"][0])
            self._newest = int(readings["time"][-1])
            self._waiting.append(readings)

    def take(self, due: Nanoseconds, now: int) -> NDArray[np.void]:
        """Those of the joints whose update is due, in order of arrival. due: (joints,) ns of arrival; now: ns."""
        if not self._waiting or (self._newest < self._next and now - self._oldest <= LONGEST):
            return NOTHING
        readings = joined(self._waiting)
        joint, times = self._joint[readings["channel"]], readings["time"]
        self._latest[joint] = times
        ripe = self._latest >= due
        if now - self._oldest > LONGEST:
            since = np.full(len(due), now)
            since[joint[::-1]] = times[::-1]
            ripe |= now - since > LONGEST
        leaves = ripe[joint]
        self._keep(readings[~leaves])
        left: NDArray[np.void] = readings[leaves]
        return left

    def expect(self, due: Nanoseconds, now: int) -> None:
        """What is due next, after what was taken has gone its way."""
        heard = due[now - self._latest < LONGEST]
        self._next = int(heard.min()) if len(heard) else now + NOBODY

    def rest(self) -> NDArray[np.void]:
        """Everything."""
        readings = joined(self._waiting)
        self._waiting = []
        return readings

    def pause(self, now: int) -> float:
        """s until something is due, but no longer than a look around may wait; 0 where it is not worth to sleep."""
        ahead = min(self._next - now, NOBODY)
        return ahead / 1e9 if ahead > SOON else 0.0

    def held(self) -> dict[str, int]:
        """How many readings of every driver wait."""
        if len(self._names) == 1:
            return {self._names[0]: sum(map(len, self._waiting))}
        count = np.zeros(len(self._names), np.int64)
        for readings in self._waiting:
            count += np.bincount(self._driver[readings["channel"]], minlength=len(count))
        return dict(zip(self._names, count.tolist(), strict=True))

    def _keep(self, readings: NDArray[np.void]) -> None:
        self._waiting = [readings] if len(readings) else []
        if len(readings):
            self._oldest, self._newest = int(readings["time"][0]), int(readings["time"][-1])
