"""Values that no joint can have are taken out before anything is made of them, named and counted.

Two ranges a channel: one of its unit (a position of 10⁵ rad, a torque of 10⁷ N·m is no measurement), and one of the
start's own: beyond a thousand times the spread that the channel had in its first finite second it is not this joint's.
What is out of range is NaN from then on, so every row with it in is dropped; it enters neither the start, nor the
learner, nor the alarm. Results do not depend on how rows are cut into batches.
"""

from collections.abc import Sequence
from typing import Annotated, Final

import numpy as np

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from jointwatch_layout import Layout, Vector

LENGTH: Final = 1e5  # rad (m)
EFFORT: Final = 1e7  # N·m (N)
SPREADS: Final = 1000.0  # times the spread of the first samples
FIRST: Final = 1.0  # s of finite samples that give the spread
RECENT: Final = 2.0  # s for which it is told


class Limits(Layout):
    """Between which values a channel's may be."""

    hard: Annotated[Vector, "channels"]  # of its unit: |x| at most
    middle: Annotated[Vector, "channels"]  # of the first second
    limit: Annotated[Vector, "channels"]  # |x − middle| at most


class PhysicalRange:
    """Of every channel of one joint."""

    def __init__(self, channels: Sequence[str], period: float) -> None:
        """period: s between raw rows."""
        self._names = channels
        hard = np.array([LENGTH if name.endswith("position") else EFFORT for name in channels])
        self.limits = Limits(hard=hard, middle=np.zeros(len(channels)), limit=hard.copy())
        self._room = [not name.endswith("position") for name in channels]  # a position may go on for ever
        self._period = period
        self._need = max(2, round(FIRST / period))
        self._low = np.full(len(channels), np.inf)
        self._high = np.full(len(channels), -np.inf)
        self._seen = np.zeros(len(channels), np.int64)
        self._usual = False  # whether the spread of every channel is known
        self._left = np.zeros(len(channels), np.int64)  # rows for which a channel is still named
        self._named = False  # whether one is
        self.count = 0  # values refused

    def absorb(self, values: Floats) -> Floats:
        """values (rows, channels), those beyond as NaN; the same array where there are none."""
        if self.quiet and not _beyond(values, self.limits):
            return values
        if not self._usual:
            wanted = self._need - self._seen
            first = int(wanted[wanted > 0].min(initial=len(values)))
            if first < len(values):  # the row with which a spread is known may stand in the middle
                return np.concatenate([self.absorb(values[:first]), self.absorb(values[first:])])
        limits = self.limits
        with np.errstate(invalid="ignore"):
            beyond = (np.abs(values) > limits.hard) | (np.abs(values - limits.middle) > limits.limit)
        if not self._usual:
            for channel in np.flatnonzero(self._seen < self._need):
                column = values[:, channel]
                self._gather(int(channel), column[np.isfinite(column) & ~beyond[:, channel]])
            self._usual = bool((self._seen >= self._need).all())
        hit = beyond.any(axis=0)
        if not hit.any():
            if self._named:
                self._left = np.maximum(self._left - len(values), 0)
                self._named = bool(self._left.any())
            return values
        self._left = np.where(hit, round(RECENT / self._period), np.maximum(self._left - len(values), 0))
        self._named = True
        self.count += int(np.count_nonzero(beyond))
        return np.where(beyond, np.nan, values)

    def _gather(self, channel: int, column: Floats) -> None:
        """The spread of a channel's first samples; those that are in the unit's range only."""
        column = column[: self._need - self._seen[channel]]
        if not len(column):
            return
        self._seen[channel] += len(column)
        self._low[channel] = min(self._low[channel], float(column.min()))
        self._high[channel] = max(self._high[channel], float(column.max()))
        if self._room[channel] and self._seen[channel] >= self._need:
            low, high = self._low[channel], self._high[channel]
            spread = max(high - low, 0.1 * max(abs(low), abs(high)))
            if 0.0 < SPREADS * spread < self.limits.hard[channel]:
                self.limits.middle[channel], self.limits.limit[channel] = 0.5 * (low + high), SPREADS * spread

    @property
    def quiet(self) -> bool:
        """Whether the usual is known, and nothing was beyond it lately."""
        return self._usual and not self._named

    @property
    def faults(self) -> tuple[str, ...]:
        """Channels that have had such values lately, in words."""
        if not self._named:
            return ()
        return tuple(
            f"{name} had values that no joint has: they are left out"
            for name, left in zip(self._names, self._left, strict=True)
            if left > 0
        )


@inline
def beyond(values: Floats, limits: Limits) -> bool:
    """Whether any value is out of range; NaN is not."""
    hard, middle, limit = limits.hard, limits.middle, limits.limit
    for row in range(len(values)):
        for channel in range(len(hard)):
            x = values[row, channel]
            if abs(x) > hard[channel] or abs(x - middle[channel]) > limit[channel]:
                return True
    return False


@kernel(("Array(f8, 2, 'A', readonly=True)", Limits))
def _beyond(values: Floats, limits: Limits) -> bool:
    return beyond(values, limits)
