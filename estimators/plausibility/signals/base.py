"""What a validator of signals gets and says: the frames of one stream, block by block."""

import math
from typing import Annotated, Any, Final, NamedTuple, Protocol

import numpy as np

from estimators.alignment.frame_block import FrameBlock
from estimators.numerics.jit import inline
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason
from jointwatch_numba.layout import Integers, Layout, Matrix, Vector

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
    channels: int = 0  # how many it has
    room: int = 0  # for frames that are looked at together

    @property
    def stamped(self) -> bool:
        """Whether the counter is a device's time."""
        return self.unit > 1.0

    @property
    def rate(self) -> float:
        """Hz, as configured."""
        return 1e9 / self.period


class StreamFrames(NamedTuple):
    """Frames of one stream in order of arrival; the first was the last one of the look before, where there was one."""

    arrivals: Nanoseconds  # (frames,) ns
    counters: Integers  # (frames,) -1: none
    values: Floats  # (frames, channels) SI; NaN: none
    grown: Floats  # (frames − 1,) by how many samples the counter grows, at most half a turn; NaN: that is unknown


class FramesState(Layout):
    """Frames of one stream as kernels look at them, in room for more."""

    arrivals: Annotated[Integers, "room"]
    counters: Annotated[Integers, "room"]
    values: Annotated[Matrix, "room", "channels"]
    grown: Annotated[Vector, "room"]
    count: int = 0

    def as_frames(self) -> StreamFrames:
        """What Python looks at, in the same memory."""
        count = self.count
        return StreamFrames(
            self.arrivals[:count], self.counters[:count], self.values[:count], self.grown[: max(0, count - 1)]
        )


def frames_of(stream: StreamFacts) -> FramesState:
    """Room for the frames of a look."""
    return FramesState(
        arrivals=np.zeros(stream.room, np.int64),
        counters=np.zeros(stream.room, np.int64),
        values=np.zeros((stream.room, stream.channels)),
        grown=np.zeros(stream.room),
    )


class Facts(Layout):
    """What is configured about one stream, for kernels."""

    period: float
    modulo: int
    unit: float
    limit: float
    positions: Integers
    wraps: Vector
    efforts: Integers

    @classmethod
    def of(cls, stream: StreamFacts) -> "Facts":
        """These facts, as kernels read them."""
        return cls(
            period=stream.period,
            modulo=stream.modulo,
            unit=stream.unit,
            limit=stream.limit,
            positions=np.array(stream.positions, np.int64),
            wraps=np.array(stream.wraps, np.float64),
            efforts=np.array(stream.efforts, np.int64),
        )


class Validator(Protocol):
    """Looks for one kind of lie in the frames of one stream.

    Its state is a layout, and a kernel of its module looks at another block of frames, none of which was left out.
    """

    state: Any

    def reason(self, frames: StreamFrames) -> Reason | None:
        """What cannot be in these frames, None where all can: asked where its kernel has something to say."""


class BlockHistory(Layout):
    """What was found in the last blocks, a number of each; zeros before there were as many."""

    values: Annotated[Vector, "blocks"]
    next: int = 0  # place of the next one


def history(blocks: int) -> BlockHistory:
    """The history of so many blocks."""
    return BlockHistory(values=np.zeros(blocks))


@inline
def note(value: float, past: BlockHistory) -> None:
    """Take what was found in another block."""
    past.values[past.next] = value
    past.next = (past.next + 1) % len(past.values)


@inline
def total(past: BlockHistory) -> float:
    """The sum of what was found in the last blocks; a loop, as all below: each of NumPy's functions brings others with
    it, which every process that compiles compiles anew."""
    found = 0.0
    for value in past.values:
        found += value
    return found


@inline
def largest(values: Floats) -> float:
    """The largest of at least one finite number."""
    found = float(values[0])
    for value in values:
        found = max(found, value)
    return found


@inline
def smallest(values: Floats) -> float:
    """The smallest of at least one finite number."""
    found = float(values[0])
    for value in values:
        found = min(found, value)
    return found


@inline
def median(values: Floats) -> float:
    """The middle one of at least one finite number, or the mean of the two in the middle."""
    count, row = len(values), np.empty(len(values))
    for i in range(count):
        row[i] = values[i]
    upper = _in_place(row, count // 2)
    if count % 2 == 1:
        return upper
    lower = float(row[0])
    for i in range(count // 2):
        lower = max(lower, row[i])
    return (lower + upper) / 2.0


@inline
def _in_place(row: Floats, place: int) -> float:
    """The number at this place of the sorted row; smaller ones come before it, larger ones after it (Hoare's find)."""
    first, last = 0, len(row) - 1
    while first < last:
        pivot, i, j = row[(first + last) // 2], first, last
        while i <= j:
            while row[i] < pivot:
                i += 1
            while pivot < row[j]:
                j -= 1
            if i <= j:
                row[i], row[j] = row[j], row[i]
                i, j = i + 1, j - 1
        if j < place:
            first = i
        if place < i:
            last = j
    return float(row[place])


@inline
def copy_rows(source: Floats, first: int, end: int, target: Floats, at: int) -> None:
    """Copy rows (…, columns) to `at` and the next ones, which may be the same ones farther ahead; loops, since numba
    compiles an assignment of a slice for a fifth of a second."""
    for i in range(end - first):
        for k in range(source.shape[1]):
            target[at + i, k] = source[first + i, k]


@inline
def take(frames: FrameBlock, facts: Facts, whole: FramesState, own: FramesState) -> None:
    """Take a block of frames after the last one of the look before; own: without those that the counter shows to be
    there already, which the aligner drops."""
    if whole.count > 0:
        last = whole.count - 1
        whole.count = 0
        _append(whole, last, last + 1, whole)
    _append(frames, 0, frames.count, whole)
    end = whole.count
    _grow(facts, whole)
    own.count = begin = 0
    for i in range(end):
        if i > 0 and whole.grown[i - 1] == 0.0:
            _append(whole, begin, i, own)
            begin = i + 1
    _append(whole, begin, end, own)
    _grow(facts, own)


@inline
def _append(source: FramesState | FrameBlock, first: int, end: int, target: FramesState) -> None:
    """Append some frames to others."""
    copy_rows(source.values, first, end, target.values, target.count)
    for i in range(first, end):
        target.arrivals[target.count], target.counters[target.count] = source.arrivals[i], source.counters[i]
        target.count += 1


@inline
def _grow(facts: Facts, frames: FramesState) -> None:
    """Write by how much the counter grows from frame to frame; modulo 0: it has none."""
    modulo = facts.modulo
    for i in range(frames.count - 1):
        before, after = frames.counters[i], frames.counters[i + 1]
        frames.grown[i] = np.nan
        if modulo > 0 and before >= 0 and after >= 0:
            step = float((after - before) % modulo)
            frames.grown[i] = (step - modulo if step > modulo / 2 else step) / facts.unit


def unwrapped(increments: Floats, wrap: float) -> Floats:
    """Increments of an encoder without its turns. wrap: where it starts again, 0: never."""
    return increments - wrap * np.rint(increments / wrap) if wrap else increments


@inline
def steps_of(values: Floats) -> Floats:
    """np.diff of one row: numba's, which takes any shape, brings 12 functions about the text of an error with it."""
    found = np.empty(max(0, len(values) - 1))
    for i in range(len(found)):
        found[i] = values[i + 1] - values[i]
    return found


@inline
def moved(values: Floats, place: int, wrap: float) -> Floats:
    """Increments (frames − 1,) of an encoder without its turns, as `unwrapped`. values: (frames, channels)."""
    found = np.empty(max(0, len(values) - 1))
    for i in range(len(found)):
        found[i] = values[i + 1, place] - values[i, place]
        if wrap != 0.0:
            found[i] -= wrap * np.rint(found[i] / wrap)
    return found
