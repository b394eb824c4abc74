"""Readings of one joint → rows on the clock of its reference channel, every channel at the instant of the tick.

Channels that travel in one frame share a stream and its clock (device_clock.py); encoders are made continuous
(unwrap.py); a channel's delay is taken off its instants; values are interpolated linearly onto the tick, exactly where
instants coincide, and never across a lost frame (more than 1.5 periods). Where the device says when it sampled, and
samples unevenly, ticks are even all the same, and every channel, the reference too, is interpolated onto them. A tick
leaves when every channel has a value at or after it, or patience after its own arrival, with NaN and counted late. Lost
ticks leave as rows of NaN. The kernel takes readings one by one, so results do not depend on how they are cut into
batches.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.alignment.clock_rate import EVEN, RESTART_AFTER
from estimators.alignment.clock_state import IN_TIME, LONGEST_LOSS, PLACED, ClockState, HeldFrames, Totals
from estimators.alignment.device_clock import place
from estimators.alignment.frame_block import FrameBlock, frame_block, is_full
from estimators.alignment.passed_over import leave
from estimators.alignment.ring_buffers import Ring, TickRing, Waiting, claim, emit, release, release_ticks
from estimators.alignment.unwrap import Unwrapping, unwrap
from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats, Nanoseconds
from estimators.thresholds import NEVER
from jointwatch_numba.layout import Integers, Layout

COUNTER_BIT: Final = 62  # of the set of channels seen in a frame
#: s, argued: Time that a missing value of a channel is waited for before its row is NaN.
PATIENCE: Final = 0.1
#: periods, argued: Rows this far beyond the last instant that is decided may still be formed, since neighbours are a
#: period apart.
DECIDED: Final = 0.25


class Stream(Layout):
    """Channels that travel in one frame: its clock, and the frame in the making."""

    channels: Integers  # which they are
    leads: bool  # whether the reference is among them
    clock: ClockState
    stamp: int  # ns, when the frame in the making arrives
    seen: int  # set of what has come of it: a bit for each channel, and COUNTER_BIT, …
    full: int  # … and of what a frame consists of
    counter: int  # its counter; -1: not a number
    block: FrameBlock  # its last frames, for validators


class ChannelState(Layout):
    """One channel: its value in the frame in the making, and what becomes of it."""

    delay: float  # ns by which it is late
    pending: float  # SI
    unwrapping: Unwrapping
    ring: Ring  # one of Waiting.rings


class AlignerState(Layout):
    """The clocks of one joint's frames, the values that wait for a tick, and the rows that leave."""

    streams: tuple[Stream, ...]
    channels: tuple[ChannelState, ...]
    stream_of: Integers  # of each column of readings, those of the channels, then the counter's if there is one
    waiting: Waiting
    origin: int = NEVER  # ns, of the first arrival
    refused: bool = False  # whether frames are looked at only, since they cannot be true


class Resampler:
    """Aligns the channels of one joint; holds bounded rings of what waits for its neighbours."""

    def __init__(
        self,
        period: float,
        channels: int,
        reference: int = 0,
        delays: Sequence[float] = (),
        wraps: Sequence[float] = (),
        counter_modulo: int = 0,
        patience: float = PATIENCE,
        frames: Sequence[int] = (),
        periods: Sequence[float] = (),
        device_wrap: float = 0.0,
        bridge: int = 0,
        watched: bool = False,
    ) -> None:
        """One joint with that many channels.

        period: s between ticks; reference: the channel whose clock makes the ticks; delays: s by which each channel is
        late; wraps: where each encoder starts again, 0 for never; counter_modulo: of the device's sample counter, which
        must travel in the reference's frame and is column `channels` (0: none); patience: s; frames: which frame each
        channel travels in, by any number (default: each its own); periods: s of each channel (default: period; 0: it
        comes when it likes and its arrival is its instant); device_wrap: s after which the device's own time starts
        again (math.inf: never), where column `channels` is that time in s (0: it is not); bridge: values in a row that
        may be missing and are then interpolated; watched: frames are kept for validators, which must look at every full
        block. Raises ValueError.
        """
        if not (math.isfinite(period) and period > 0):
            raise ValueError(f"expected a positive period in seconds, found {period}")
        if not 1 <= channels <= COUNTER_BIT or not 0 <= reference < channels:
            raise ValueError(f"expected 1 to {COUNTER_BIT} channels and a reference among them")
        own = _per_channel("frames", frames, channels, range(channels))
        stream_of = np.unique(own, return_inverse=True)[1].astype(np.int64)
        delay = 1e9 * _per_channel("delays", delays, channels, [0.0] * channels)
        wrap = _per_channel("wraps", wraps, channels, [0.0] * channels)
        every = 1e9 * _per_channel("periods", periods, channels, [period] * channels)
        every[stream_of == stream_of[reference]] = period * 1e9
        patience *= 1e9
        modulo, unit = _counting(counter_modulo, device_wrap, period)
        size = 1 << min(16, math.ceil(math.log2((patience + RESTART_AFTER) / every[every > 0].min() + 16)))
        self.ticks = np.zeros(size + LONGEST_LOSS, np.int64)  # where they leave, …
        self.rows = np.zeros((size + LONGEST_LOSS, channels))
        self.bridged = np.zeros(size + LONGEST_LOSS, np.bool_)  # … up to the next readings
        self._waiting = Waiting.zeros(
            patience=patience,
            bridge=bridge,
            uneven=unit > 1.0,
            rings=tuple(Ring.zeros(period=float(one), size=size) for one in every),
            ticks=TickRing.zeros(delay=float(delay[reference]), size=size),
            totals=Totals.zeros(),
            out_ticks=self.ticks,
            out_rows=self.rows,
            out_bridged=self.bridged,
        )
        self.aligner = AlignerState(
            streams=tuple(
                _stream(np.flatnonzero(stream_of == number), reference, every, modulo, unit, size, watched)
                for number in range(stream_of.max() + 1)
            ),
            channels=tuple(
                ChannelState(delay=float(late), pending=math.nan, unwrapping=Unwrapping(wrap=float(turn)), ring=ring)
                for late, turn, ring in zip(delay, wrap, self._waiting.rings, strict=True)
            ),
            stream_of=np.append(stream_of, stream_of[reference]) if modulo else stream_of,
            waiting=self._waiting,
        )

    def absorb(self, times: Nanoseconds, values: Floats, columns: NDArray[np.int32]) -> tuple[Nanoseconds, Floats]:
        """Readings in order of arrival → ticks (n,) ns and rows (n, channels), NaN where a value is missing.

        times: (readings,) ns, of arrival, one for all readings of a frame; values: SI; columns: channel, or `channels`
        for the counter or the device's time. Raises ValueError on a column that is neither.
        """
        if len(times) == 0:
            return np.zeros(0, np.int64), np.zeros((0, self.rows.shape[1]))
        return self.gathered(times, values, columns, *_absorb(times, values, columns, 0, self.aligner))

    def gathered(
        self, times: Nanoseconds, values: Floats, columns: NDArray[np.int32], consumed: int, count: int
    ) -> tuple[Nanoseconds, Floats]:
        """What `absorb` gives, where so many readings are taken and so many ticks of them have left."""
        parts: list[tuple[Nanoseconds, Floats]] = []
        while True:
            if consumed < 0:
                raise ValueError(
                    f"expected columns from 0 to {self.rows.shape[1]}, found {columns.min()} to {columns.max()}"
                )
            part = (self.ticks[:count].copy(), self.rows[:count].copy())
            if consumed == len(times) and count < self.room:
                break
            parts.append(part)
            for stream in self.aligner.streams:  # no validator looks at frames here
                stream.block.count = 0
            consumed, count = _absorb(times, values, columns, consumed, self.aligner)
        if not parts:
            return part  # as nearly always
        parts.append(part)
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def refuse(self, refused: bool) -> None:
        """Forget all that waits, so that no sample spans the change, and place no frame from now on (or again)."""
        self.aligner.refused = refused
        for stream in self.aligner.streams:
            leave(stream.clock)
            stream.clock.frames = 0
            stream.clock.drift = stream.clock.slew = 0.0
        for ring in self._waiting.rings:
            ring.tail = ring.usable = ring.head
        ticks = self._waiting.ticks
        ticks.tail = ticks.usable = ticks.head
        self._waiting.started = False

    @property
    def room(self) -> int:
        """Ticks that leave at once: fewer are all that there are."""
        return len(self.ticks) - LONGEST_LOSS

    def counters(self) -> dict[str, int]:
        """Totals by cause, see Totals."""
        totals = self._waiting.totals
        return {one.name: getattr(totals, one.name) for one in totals.fields()}

    def late(self) -> list[int]:
        """Ticks of each channel that left without its value."""
        return [ring.late for ring in self._waiting.rings]


def _stream(
    channels: Integers, reference: int, periods: Floats, modulo: int, unit: float, size: int, watched: bool
) -> Stream:
    """A stream of these channels; modulo, unit: of the frames with the reference."""
    leads = reference in channels
    counts = modulo if leads else 0
    clock = ClockState.zeros(
        period=float(periods[channels[-1]]),
        modulo=counts,
        unit=unit,
        turn=max(1, int(counts / unit)),
        passed_over=-1,
        held=HeldFrames.zeros(frames=size),
    )
    full = sum(1 << int(channel) for channel in channels) | (1 << COUNTER_BIT if counts else 0)
    block = frame_block(clock.period, len(channels), watched)
    return Stream.zeros(channels=channels, leads=leads, clock=clock, full=full, block=block)


def _counting(counter_modulo: int, device_wrap: float, period: float) -> tuple[int, float]:
    """Where the frames' counter starts again, and what a sample adds to it; see Resampler. Raises ValueError."""
    if not device_wrap:
        return counter_modulo, 1.0
    if counter_modulo:
        raise ValueError("expected either a counter or a device time, found both")
    modulo, unit = round(min(device_wrap * 1e9, float(NEVER))), period * 1e9
    if modulo < 8 * LONGEST_LOSS * unit:
        raise ValueError(f"expected a device time over {8 * LONGEST_LOSS} periods, found {device_wrap} s")
    return modulo, unit


def _per_channel(name: str, given: Sequence[float], channels: int, default: Sequence[float]) -> Floats:
    values = np.array(given if len(given) else default, np.float64)
    if len(values) != channels:
        raise ValueError(f"expected {name} for {channels} channels, found {len(values)}")
    return values


@inline
def _show(counter: int, seen: int, stream: Stream, aligner: AlignerState) -> None:
    """Keep a complete frame for the validators."""
    block = stream.block
    at = block.count
    if at == len(block.arrivals):  # no validator looks, or two streams were full at once
        return
    block.arrivals[at], block.counters[at] = stream.stamp, counter
    for column in range(len(stream.channels)):
        channel = stream.channels[column]
        block.values[at, column] = aligner.channels[channel].pending if seen & (1 << channel) != 0 else np.nan
    block.count += 1


@inline
def _unseen(aligner: AlignerState) -> bool:
    """Whether a block of frames has to be looked at."""
    full = False
    for number in range(len(aligner.streams)):
        full = full or is_full(aligner.streams[number].block)
    return full


@inline
def _finish(stream: Stream, aligner: AlignerState) -> None:
    """A frame is complete (or its successor has begun): place it in time, and its values in their rings."""
    clock, waiting = stream.clock, aligner.waiting
    seen, arrival = stream.seen, float(stream.stamp)
    stream.seen = 0
    if seen == 1 << COUNTER_BIT:  # a counter without the frame that it counts
        waiting.totals.invalid += 1
        return
    counter = stream.counter if seen & (1 << COUNTER_BIT) != 0 else -1
    _show(counter, seen, stream, aligner)
    if aligner.refused:
        waiting.totals.refused += 1
        if clock.passed_over >= 0:
            clock.passed_over += 1
        return
    if place(arrival, counter, clock, waiting.totals) != PLACED:
        return
    passed, upto = clock.mode == IN_TIME, clock.decided + DECIDED * clock.period
    for which in stream.channels:
        channel = aligner.channels[which]
        ring = channel.ring
        if upto > -np.inf:
            release(ring, clock.shift, clock.unsure, upto - channel.delay)
        if seen & (1 << which) != 0:
            value = unwrap(channel.pending, clock.index, channel.unwrapping, waiting.totals)
            at = claim(ring)
            ring.instants[at], ring.values[at] = clock.instant - channel.delay, value
        if passed:
            release(ring, 0.0, False, np.inf)
    if stream.leads:
        ticks = waiting.ticks
        if upto > -np.inf:
            release_ticks(ticks, clock.shift, clock.slip, clock.unsure, upto - ticks.delay)
        if clock.whole > 0:  # else its tick has a frame already
            at = claim(ticks)
            ticks.instants[at], ticks.arrivals[at] = clock.instant - ticks.delay, arrival
            ticks.numbers[at], ticks.fresh[at] = clock.index, clock.fresh
            ticks.behind[at] = (clock.behind if np.abs(clock.behind) > EVEN else 0.0) * clock.period
        if passed:
            release_ticks(ticks, 0.0, 0, False, np.inf)


@inline
def align(
    times: Nanoseconds, values: Floats, columns: NDArray[np.int32], start: int, aligner: AlignerState
) -> tuple[int, int]:
    """Take readings from start on until all are taken, the output is full, or a block is to be looked at.

    Returns (taken, ticks), or (-1, 0).
    """
    waiting, stream_of, channels = aligner.waiting, aligner.stream_of, len(aligner.channels)
    out_ticks = waiting.out_ticks
    if aligner.origin == NEVER:
        aligner.origin = times[0]
    origin = aligner.origin
    count = emit(waiting, 0) if start > 0 else 0  # what did not fit into the full output before
    taken, unseen = len(times), _unseen(aligner)
    for i in range(start, len(times)):
        if unseen or count >= len(out_ticks) - LONGEST_LOSS:
            taken = i
            break
        column = columns[i]
        if column < 0 or column >= len(stream_of):
            return -1, 0
        stream = aligner.streams[stream_of[column]]
        bit = 1 << (COUNTER_BIT if column == channels else column)
        arrival = times[i] - origin
        torn = stream.seen != 0 and (stream.stamp != arrival or stream.seen & bit != 0)
        if torn:
            _finish(stream, aligner)
        stream.stamp = arrival
        stream.seen |= bit
        if column == channels:
            clock = stream.clock
            count_there = values[i] if clock.unit == 1.0 else np.rint(values[i] * 1e9)
            stream.counter = np.int64(count_there) % clock.modulo if np.abs(count_there) < NEVER else -1
        else:
            aligner.channels[column].pending = values[i]
        waiting.now = max(waiting.now, arrival)
        if stream.seen == stream.full:
            _finish(stream, aligner)
        if stream.seen == 0 or torn:
            count = emit(waiting, count)
            unseen = is_full(stream.block)
    for row in range(count):
        out_ticks[row] += origin
    return taken, count


@kernel(
    (
        *("Array(i8, 1, 'A', readonly=True)", "Array(f8, 1, 'A', readonly=True)", "Array(i4, 1, 'A', readonly=True)"),
        *("i8", AlignerState),
    )
)
def _absorb(
    times: Nanoseconds, values: Floats, columns: NDArray[np.int32], start: int, aligner: AlignerState
) -> tuple[int, int]:
    return align(times, values, columns, start, aligner)
