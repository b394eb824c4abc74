"""What a validator of signals gets and says: the frames of one stream, block by block."""

import math
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

import numpy as np

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason
from jointwatch_numba.layout import Flags, Integers

#: changes, argued: Changes from frame to frame without which nothing is known of a sensor.
FEWEST_CHANGES: Final = 8


class StreamFacts(NamedTuple):
    """What is configured about one stream of frames."""

    signal: str  # the message that its channels travel in, for words
    period: float  # ns from sample to sample
    modulo: int = 0  # where its counter starts again; 0: it has none
    unit: float = 1.0  # what the counter grows by per sample: 1, or for a device's time in ns the period
    positions: tuple[int, ...] = ()  # places of encoders among its channels
    wraps: tuple[float, ...] = ()  # of each: rad (m) after which it starts again; 0: never
    efforts: tuple[int, ...] = ()  # places of torques and forces among its channels
    limit: float = math.inf  # N·m (N), from which a torque or force is not used in any case: the drive may clip it

    @property
    def stamped(self) -> bool:
        """Whether the counter is a device's time."""
        return self.unit > 1.0

    @property
    def rate(self) -> float:
        """Hz, as configured."""
        return 1e9 / self.period


@dataclass(slots=True, eq=False)
class StreamFrames:
    """Frames of one stream in order of arrival; the first was the last one of the look before, where there was one."""

    arrivals: Nanoseconds  # (frames,) ns
    counters: Integers  # (frames,) -1: none
    values: Floats  # (frames, channels) SI; NaN: none
    _steps: Floats | None = field(default=None, init=False, repr=False)  # what was asked for before
    _distinct: "StreamFrames | None" = field(default=None, init=False, repr=False)

    def part(self, which: slice | Flags) -> "StreamFrames":
        """Some of them."""
        return StreamFrames(self.arrivals[which], self.counters[which], self.values[which])

    @property
    def repeated(self) -> tuple[Flags, Flags]:
        """(frames − 1,) each: whether any value changes from frame to frame, whether all are known to be the same."""
        before, after = self.values[:-1], self.values[1:]
        same = (before == after).all(axis=1)
        changed = (np.isfinite(before) & np.isfinite(after) & (before != after)).any(axis=1)
        return changed, same


class Validator(Protocol):
    """Looks for one kind of lie in the frames of one stream."""

    def look(self, frames: StreamFrames) -> Reason | None:
        """Look at another block of frames, none of which was left out; returns what cannot be, None where all can."""


def steps(frames: StreamFrames, stream: StreamFacts) -> Floats:
    """(frames − 1,) how much the counter grows from frame to frame, in samples, at most half a turn; NaN: unknown."""
    if frames._steps is None:
        frames._steps = _grown(frames.counters, stream.modulo, stream.unit)
    return frames._steps


@kernel("f8[::1](i8[::1], i8, f8)")
def _grown(counters: Integers, modulo: int, unit: float) -> Floats:
    """Growth of a counter from frame to frame (frames − 1,), in samples; modulo 0: it has none."""
    grown = np.full(max(0, len(counters) - 1), np.nan)
    if modulo == 0:
        return grown
    for i in range(len(grown)):
        if counters[i] >= 0 and counters[i + 1] >= 0:
            step = float((counters[i + 1] - counters[i]) % modulo)
            grown[i] = (step - modulo if step > modulo / 2 else step) / unit
    return grown


def distinct(frames: StreamFrames, stream: StreamFacts) -> StreamFrames:
    """The frames without those that the counter shows to be there already, which the aligner drops."""
    if stream.modulo == 0:
        return frames
    if frames._distinct is None:
        grown = steps(frames, stream)
        frames._distinct = frames if _never(grown, 0.0) else frames.part(np.append(True, grown != 0.0))
    return frames._distinct


def is_regular(frames: StreamFrames, stream: StreamFacts) -> bool:
    """Whether a counter says that each frame is the next sample."""
    return stream.modulo > 0 and _always(steps(frames, stream), 1.0)


@kernel("b1(f8[::1], f8)")
def _never(values: Floats, one: float) -> bool:
    """Whether no value is this one."""
    found = False
    for i in range(len(values)):
        found = found or values[i] == one
    return not found


@kernel("b1(f8[::1], f8)")
def _always(values: Floats, one: float) -> bool:
    """Whether all values are this one."""
    found = True
    for i in range(len(values)):
        found = found and values[i] == one
    return found


def unwrapped(increments: Floats, wrap: float) -> Floats:
    """Increments of an encoder without its turns. wrap: where it starts again, 0: never."""
    return increments - wrap * np.rint(increments / wrap) if wrap else increments


@inline
def moved(values: Floats, place: int, wrap: float) -> Floats:
    """Increments (frames − 1,) of an encoder without its turns, as `unwrapped`. values: (frames, channels)."""
    found = np.empty(max(0, len(values) - 1))
    for i in range(len(found)):
        found[i] = values[i + 1, place] - values[i, place]
        if wrap != 0.0:
            found[i] -= wrap * np.rint(found[i] / wrap)
    return found
