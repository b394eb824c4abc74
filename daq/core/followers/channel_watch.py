"""Sends the raw channels of a joint to a person who asks for them: every n-th aligned sample."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from daq.stream.curve_points import pack_channels
from estimators.quantities import Floats, Nanoseconds

#: rows/s, argued: Rate of the samples that are shown: in five seconds more than a screen has columns.
RATE: Final = 200.0
#: rows, argued: Largest number of rows that wait for a message, which is sent several times a second.
KEPT: Final = 400


class ChannelWatch:
    """Keeps every n-th sample until the next message; it does not influence the joint's estimate."""

    def __init__(self, joint: str, channels: Sequence[str], rate: float) -> None:
        """channels: names of the columns; rate: samples/s."""
        self._joint, self._channels = joint, list(channels)
        self._every = max(1, math.ceil(rate / RATE))
        self._skip = 0
        self._rows: list[tuple[int, list[float]]] = []  # ns, values

    def absorb(self, ticks: Nanoseconds, samples: Floats) -> None:
        """Take samples. ticks: (samples,) ns; samples: (samples, channels)."""
        which = np.arange(self._skip, len(ticks), self._every)
        self._skip = int(which[-1]) + self._every - len(ticks) if len(which) else self._skip - len(ticks)
        self._rows += zip(ticks[which].tolist(), samples[which].tolist(), strict=True)
        del self._rows[:-KEPT]

    def messages_due(self, epoch: int) -> list[tuple[bytes, bytes]]:
        """Return the message with new samples, if there are any. epoch: ns to add to get Unix time."""
        if not self._rows:
            return []
        times, values = zip(*self._rows, strict=True)
        self._rows = []
        return [pack_channels(self._joint, self._channels, np.array(times, np.int64), np.array(values), epoch)]
