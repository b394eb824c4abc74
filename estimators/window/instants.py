"""When the rows that taught were: an event says from when to when the rows were that it speaks of."""

import numpy as np

from estimators.quantities import Nanoseconds


class Instants:
    """The instants of the last `capacity` rows."""

    def __init__(self, capacity: int) -> None:
        self._ring = np.zeros(capacity, np.int64)
        self._total = 0  # rows ever added

    def add(self, time: Nanoseconds) -> None:
        """Append the instants of rows, ns."""
        time = time[-len(self._ring) :]
        begin = self._total % len(self._ring)
        room = len(self._ring) - begin
        self._ring[begin : begin + len(time)] = time[:room]
        self._ring[: max(0, len(time) - room)] = time[room:]
        self._total += len(time)

    def span(self, rows: int) -> tuple[int, int] | None:
        """First and last instant of the last rows, as far as they are still there; None without any."""
        rows = min(rows, self._total, len(self._ring))
        if rows <= 0:
            return None
        first, last = ((self._total - ago) % len(self._ring) for ago in (rows, 1))
        return int(self._ring[first]), int(self._ring[last])
