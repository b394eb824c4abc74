"""What the core counts of a joint for its history: use, and the temperature where a channel has it."""

import itertools
import math
from collections import deque
from collections.abc import Sequence
from typing import Final

import numpy as np

from daq.stream.update import Map
from estimators.quantities import Floats, Nanoseconds
from estimators.wear.use_counts import UseCounter

TEMPERATURE = "temperature"  # the channel's role
#: ns, argued: Time between two instants whose counts are remembered, and between two summaries, which tell them: an
#: estimate changes within seconds, and a fleet of thousands can be kept.
EVERY: Final = 1_000_000_000
#: 1, argued: Beginnings of seconds of which the counts are remembered: more than one batch of readings spans.
SECONDS: Final = 64


class JointUse:
    """Use of one joint since the core's start, from all its samples."""

    def __init__(self, channels: Sequence[str], unit: str) -> None:
        """channels: of the samples; unit: of the joint's torque or force."""
        self.position = next((at for at, name in enumerate(channels) if name.endswith("position")), 0)
        self._thermometer = channels.index(TEMPERATURE) if TEMPERATURE in channels else None
        self._unit = "m" if unit == "N" else "rad"
        self._counter = UseCounter(self.position)
        self._temperature = math.nan
        self._second = -1  # of the newest sample
        self._before: deque[tuple[int, Map]] = deque(maxlen=SECONDS)  # second, what had been counted when it began

    def absorb(self, times: Nanoseconds, samples: Floats, step: float) -> None:
        """Count. times: (samples,) ns; samples: (samples, channels); step: of the encoder, rad (m), 0 if not known."""
        if not len(times):
            return
        self._counter.set_step(step)
        if times.item(0) // EVERY == times.item(-1) // EVERY == self._second:
            self._count(times, samples)
            return
        seconds = times // EVERY
        cuts = [0, *(np.flatnonzero(np.diff(seconds)) + 1).tolist(), len(times)]
        for begin, end in itertools.pairwise(cuts):
            if seconds[begin] != self._second:
                self._second = int(seconds[begin])
                self._before.append((self._second, self.totals()))
            self._count(times[begin:end], samples[begin:end])

    def before_second_of(self, tick: int) -> Map:
        """What had been counted when the second of this sample (ns) began, however samples came in batches."""
        second = tick // EVERY
        if second > self._second or not self._before:
            return self.totals()
        return next((told for began, told in reversed(self._before) if began <= second), self._before[0][1])

    def _count(self, times: Nanoseconds, samples: Floats) -> None:
        self._counter.absorb(times, samples)
        if self._thermometer is not None and math.isfinite(newest := samples[-1, self._thermometer]):
            self._temperature = float(newest)

    def totals(self) -> Map:
        """The counts since the core's start, and the newest temperature (°C), for status/core."""
        found: Map = {"unit": self._unit, **self._counter.counts._asdict()}
        return found if math.isnan(self._temperature) else found | {TEMPERATURE: self._temperature}
