"""Counts the use of a joint for its history, and keeps its temperature if a channel measures it."""

import math
from collections.abc import Sequence
from typing import Annotated, Final

from daq.stream.update import Map
from estimators.numerics.jit import inline
from estimators.quantities import Floats, Nanoseconds
from estimators.wear.use_counts import BAND, STEPS, UseState, count_use
from jointwatch_numba.layout import Integers, Layout, Matrix

TEMPERATURE = "temperature"  # role of the channel
#: ns, argued: Time between two instants at which counts are stored, and between two summaries, which contain them. An
#: estimate changes within seconds, and summaries of thousands of joints can be stored.
EVERY: Final = 1_000_000_000
#: 1, argued: Number of beginnings of seconds whose counts are stored: more than one batch of readings spans.
SECONDS: Final = 64


class JointUseState(Layout):
    """The counts now, and at the beginning of each of the last seconds."""

    use: UseState
    position: int  # column of the position in the samples
    thermometer: int  # column of the temperature; −1: there is none
    temperature: float = math.nan  # °C, newest value
    second: int = -1  # second of the newest sample
    noted: int = 0  # number of seconds so far; each entry is overwritten after SECONDS more
    seconds: Annotated[Integers, "remembered"]  # number of each stored second
    counts: Annotated[Matrix, "remembered", "5"]  # at the beginning of that second: the UseCounts, temperature


class JointUse:
    """Counts the use of one joint since the core's start, from all its samples."""

    def __init__(self, channels: Sequence[str], unit: str) -> None:
        """channels: names of the columns of the samples; unit: unit of the joint's torque or force."""
        self.position = next((at for at, name in enumerate(channels) if name.endswith("position")), 0)
        self._unit = "m" if unit == "N" else "rad"
        self.state = JointUseState.zeros(
            use=UseState(),
            position=self.position,
            thermometer=channels.index(TEMPERATURE) if TEMPERATURE in channels else -1,
            remembered=SECONDS,
        )

    def before_second_of(self, tick: int) -> Map:
        """Return the counts at the beginning of the second of this sample (ns), for any division into batches."""
        state, second = self.state, tick // EVERY
        if second > state.second or not state.noted:
            return self.totals()
        known = range(state.noted - 1, max(0, state.noted - SECONDS) - 1, -1)
        at = next((one for one in known if state.seconds[one % SECONDS] <= second), known[-1])
        return self._as_map(*state.counts[at % SECONDS].tolist())

    def totals(self) -> Map:
        """Return the counts since the core's start, and the newest temperature (°C), for status/core."""
        return self._as_map(*self.state.use.counts, self.state.temperature)

    def _as_map(self, seconds: float, travel: float, reversals: float, starts: float, temperature: float) -> Map:
        found: Map = {"unit": self._unit, "seconds": seconds, "travel": travel}
        found |= {"reversals": int(reversals), "starts": int(starts)}
        return found if math.isnan(temperature) else found | {TEMPERATURE: temperature}


@inline
def _note_second(second: int, state: JointUseState) -> None:
    """Store the counts at the beginning of a second."""
    at, use = state.noted % len(state.seconds), state.use
    state.second = state.seconds[at] = second
    counts = state.counts[at]
    counts[0], counts[1], counts[2], counts[3] = use.seconds, use.travel, use.reversals, use.starts
    counts[4] = state.temperature
    state.noted += 1


@inline
def absorb_use(times: Nanoseconds, samples: Floats, step: float, state: JointUseState) -> None:
    """Count these samples.

    times: (samples,) ns; samples: (samples, channels); step: step of the encoder, rad (m), 0 if unknown.
    """
    state.use.band = max(BAND, STEPS * step)
    first = 0
    while first < len(times):
        second = times[first] // EVERY
        if second != state.second:
            _note_second(second, state)
        last = first + 1
        while last < len(times) and times[last] // EVERY == second:
            last += 1
        count_use(times[first:last], samples[first:last], state.position, state.use)
        if state.thermometer >= 0 and math.isfinite(samples[last - 1, state.thermometer]):
            state.temperature = samples[last - 1, state.thermometer]
        first = last
