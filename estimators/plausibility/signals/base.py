"""What a validator of signals gets and says: the frames of one stream, block by block."""

from typing import NamedTuple, Protocol

import numpy as np

from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason
from jointwatch_layout import Flags, Integers


class StreamFacts(NamedTuple):
    """What is configured about one stream of frames."""

    signal: str  # the message that its channels travel in, for words
    period: float  # ns from sample to sample
    modulo: int = 0  # where its counter starts again; 0: it has none
    unit: float = 1.0  # what the counter grows by per sample: 1, or for a device's time in ns the period
    positions: tuple[int, ...] = ()  # places of encoders among its channels
    wraps: tuple[float, ...] = ()  # of each: rad (m) after which it starts again; 0: never
    efforts: tuple[int, ...] = ()  # places of torques and forces among its channels

    @property
    def stamped(self) -> bool:
        """Whether the counter is a device's time."""
        return self.unit > 1.0

    @property
    def rate(self) -> float:
        """Hz, as configured."""
        return 1e9 / self.period


class Frames(NamedTuple):
    """Frames of one stream in order of arrival; the first was the last one of the look before, where there was one."""

    arrivals: Nanoseconds  # (frames,) ns
    counters: Integers  # (frames,) -1: none
    values: Floats  # (frames, channels) SI; NaN: none

    def part(self, which: slice | Flags) -> "Frames":
        """Some of them."""
        return Frames(self.arrivals[which], self.counters[which], self.values[which])

    @property
    def repeated(self) -> tuple[Flags, Flags]:
        """(frames − 1,) each: whether any value changes from frame to frame, whether all are known to be the same."""
        before, after = self.values[:-1], self.values[1:]
        same = (before == after).all(axis=1)
        changed = (np.isfinite(before) & np.isfinite(after) & (before != after)).any(axis=1)
        return changed, same


class Validator(Protocol):
    """Looks for one kind of lie in the frames of one stream."""

    def look(self, frames: Frames) -> Reason | None:
        """Look at another block of frames, none of which was left out; returns what cannot be, None where all can."""
        ...


def steps(frames: Frames, stream: StreamFacts) -> Floats:
    """(frames − 1,) how much the counter grows from frame to frame, in samples, at most half a turn; NaN: unknown."""
    before, after = frames.counters[:-1], frames.counters[1:]
    if stream.modulo == 0:
        return np.full(len(after), np.nan)
    grown = np.asarray((after - before) % stream.modulo, np.float64)
    grown[grown > stream.modulo / 2] -= stream.modulo
    grown[(before < 0) | (after < 0)] = np.nan
    return grown / stream.unit


def distinct(frames: Frames, stream: StreamFacts) -> Frames:
    """The frames without those that the counter shows to be there already, which the aligner drops."""
    if stream.modulo == 0:
        return frames
    fresh = np.append(True, steps(frames, stream) != 0.0)
    return frames if fresh.all() else frames.part(fresh)


def unwrapped(increments: Floats, wrap: float) -> Floats:
    """Increments of an encoder without its turns. wrap: where it starts again, 0: never."""
    return increments - wrap * np.rint(increments / wrap) if wrap else increments
