"""Values that no joint can have are taken out before anything is made of them, named and counted.

Two ranges a channel: one of its unit (a position of 10⁵ rad, a torque of 10⁷ N·m is no measurement), and one of the
start's own: beyond a thousand times the spread that the channel had in its first finite second it is not this joint's.
What is out of range is NaN from then on, so every row with it in is dropped; it enters neither the start, nor the
learner, nor the alarm. Results do not depend on how rows are cut into batches.
"""

from collections.abc import Sequence
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.reasons import Reason
from jointwatch_numba.layout import Flags, Integers, Layout, Vector

#: rad (m), argued: No joint has a position beyond this; a larger value is a broken reading.
LENGTH: Final = 1e5
#: N·m (N), argued: No joint has a torque beyond this; a larger value is a broken reading.
EFFORT: Final = 1e7
#: 1, argued: The spread of the first samples is at least this share of their size, since a joint may have stood still.
LEAST_SPREAD: Final = 0.1
#: 1, argued: Times the spread of the first samples beyond which a value is no reading; a real motion never grows so
#: much.
SPREADS: Final = 1000.0
#: s, argued: Finite samples that give the spread.
FIRST: Final = 1.0
#: s, argued: Time for which a refused value is reported.
RECENT: Final = 2.0


class Ranges(Layout):
    """Limits of every channel's values, and what gives them."""

    hard: Annotated[Vector, "channels"]  # of its unit: |x| at most
    middle: Annotated[Vector, "channels"]  # of the first second
    limit: Annotated[Vector, "channels"]  # |x − middle| at most
    endless: Annotated[Flags, "channels"]  # whether it may go on for ever, as positions do
    low: Annotated[Vector, "channels"]  # of the first second
    high: Annotated[Vector, "channels"]
    seen: Annotated[Integers, "channels"]  # finite samples of the first second
    named: Annotated[Integers, "channels"]  # rows for which a channel is still named
    reported: Annotated[Integers, "channels"]  # the same when an update was last due
    need: int  # samples that give the spread
    recent: int  # rows for which a channel is named
    refused: int = 0  # values


class PhysicalRange:
    """The physical range of every channel of one joint."""

    def __init__(self, channels: Sequence[str], period: float) -> None:
        """period: s between raw rows."""
        self._names = channels
        positions = [name.endswith("position") for name in channels]
        hard = np.where(positions, LENGTH, EFFORT)
        self.state = Ranges.zeros(
            hard=hard,
            limit=hard.copy(),
            endless=np.array(positions, np.bool_),
            low=np.full(len(channels), np.inf),
            high=np.full(len(channels), -np.inf),
            need=max(2, round(FIRST / period)),
            recent=round(RECENT / period),
        )

    @property
    def count(self) -> int:
        """Values refused."""
        return self.state.refused

    @property
    def faults(self) -> tuple[Reason, ...]:
        """Channels that have had such values lately."""
        return self._named(self.state.named)

    @property
    def faults_reported(self) -> tuple[Reason, ...]:
        """Faults when an update was last due."""
        return self._named(self.state.reported)

    def _named(self, left: NDArray[np.int64]) -> tuple[Reason, ...]:
        named = zip(self._names, left.tolist(), strict=True)
        return tuple(Reason("channel_out_of_range", name) for name, rows in named if rows > 0)


@inline
def clean(row: Floats, ranges: Ranges) -> None:
    """Take out what is out of range of one row (channels,), in place; learn the usual from the first second."""
    for channel in range(len(row)):
        x = row[channel]
        if abs(x) > ranges.hard[channel] or abs(x - ranges.middle[channel]) > ranges.limit[channel]:
            row[channel] = np.nan
            ranges.refused += 1
            ranges.named[channel] = ranges.recent
            continue
        ranges.named[channel] = max(ranges.named[channel] - 1, 0)
        if ranges.seen[channel] < ranges.need and np.isfinite(x):
            _gather(channel, x, ranges)


@inline
def _gather(channel: int, x: float, ranges: Ranges) -> None:
    """One of a channel's first samples, in the unit's range."""
    ranges.seen[channel] += 1
    ranges.low[channel], ranges.high[channel] = min(ranges.low[channel], x), max(ranges.high[channel], x)
    if ranges.seen[channel] == ranges.need and not ranges.endless[channel]:
        low, high = ranges.low[channel], ranges.high[channel]
        spread = max(high - low, LEAST_SPREAD * max(abs(low), abs(high)))
        if 0.0 < SPREADS * spread < ranges.hard[channel]:
            ranges.middle[channel], ranges.limit[channel] = 0.5 * (low + high), SPREADS * spread
