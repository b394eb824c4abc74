"""What the core counts of a joint for its history: use, and the temperature where a channel has it."""

import math
from collections.abc import Sequence

from daq.stream.update import Map
from estimators.quantities import Floats, Nanoseconds
from estimators.wear.use_counts import UseCounter

TEMPERATURE = "temperature"  # the channel's role


class JointUse:
    """Use of one joint since the core's start, from all its samples."""

    def __init__(self, channels: Sequence[str], unit: str) -> None:
        """channels: of the samples; unit: of the joint's torque or force."""
        self.position = next((at for at, name in enumerate(channels) if name.endswith("position")), 0)
        self._thermometer = channels.index(TEMPERATURE) if TEMPERATURE in channels else None
        self._unit = "m" if unit == "N" else "rad"
        self._counter = UseCounter(self.position)
        self._temperature = math.nan

    def absorb(self, times: Nanoseconds, samples: Floats, step: float) -> None:
        """Count. times: (samples,) ns; samples: (samples, channels); step: of the encoder, rad (m), 0 if not known."""
        if not len(times):
            return
        self._counter.set_step(step)
        self._counter.absorb(times, samples)
        if self._thermometer is not None and math.isfinite(newest := samples[-1, self._thermometer]):
            self._temperature = float(newest)

    def totals(self) -> Map:
        """The counts since the core's start, and the newest temperature (°C), for status/core."""
        found: Map = {"unit": self._unit, **self._counter.counts._asdict()}
        return found if math.isnan(self._temperature) else found | {TEMPERATURE: self._temperature}
