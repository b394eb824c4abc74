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

from estimators.alignment.clock_rate import (
    EVEN,
    RESTART_AFTER,
)
from estimators.alignment.clock_state import (
    BEHIND,
    CAUSES,
    CLOCK_FLOATS,
    CLOCK_INTEGERS,
    DECIDED,
    FRESH,
    HELD,
    HELD_FLOATS,
    IN_TIME,
    INDEX,
    INSTANT,
    INVALID,
    LONGEST_LOSS,
    PLACED,
    SHIFT,
    SLIP,
    UNSURE,
)
from estimators.alignment.device_clock import (
    place,
)
from estimators.alignment.ring_buffers import (
    CHANNEL_CONSTANTS,
    DELAY,
    LATE_COUNT,
    NOW,
    PERIOD,
    RING_INTEGERS,
    STATES,
    WRAP,
    Lines,
    emit,
    push,
    release,
    release_ticks,
)
from estimators.alignment.unwrap import UNWRAP_FLOATS, unwrap
from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats, Nanoseconds
from jointwatch_layout import Cube, IntegerMatrix, Integers, Layout, Matrix

# totals, in clock's order
NAMES: Final = ("lost", "late", "duplicate", "out_of_order", "invalid", "glitch", "restart", "rejected", "interpolated")
COUNTER_BIT: Final = 62  # of the set of channels seen in a frame
NEVER: Final = 1 << 62  # ns

# a stream's integers: those of its clock, then its frame in the making
STAMP, SEEN, FULL, PENDING_COUNTER, STREAM_INTEGERS = range(CLOCK_INTEGERS, CLOCK_INTEGERS + 5)
# a channel's floats: those of its unwrapping, then its value in the frame in the making
PENDING, CHANNEL_FLOATS = UNWRAP_FLOATS, UNWRAP_FLOATS + 1


class Aligner(Layout):
    """The clocks of one joint's frames, the values that wait for a tick, and the rows that leave."""

    reference: int  # channel whose frames make the ticks
    modulo: int  # of the counter or the device's time; 0: there is none
    bridge: int  # values in a row that may be missing
    unit: float  # ns of the device's time, or 1
    patience: float  # ns
    table: Matrix  # (channels, CHANNEL_CONSTANTS)
    streams: Integers  # (channels,) which frame each travels in
    frames: IntegerMatrix  # (streams, STREAM_INTEGERS)
    clocks: Matrix  # (streams, CLOCK_FLOATS)
    held: Cube  # (streams, size, HELD_FLOATS) frames that are held as late
    channels: Matrix  # (channels, CHANNEL_FLOATS)
    rings: IntegerMatrix  # (channels + 1, RING_INTEGERS)
    ring: Cube  # (channels + 2, 3, size)
    state: Integers  # (STATES,)
    out_ticks: Integers  # ns, …
    out_rows: Matrix  # … SI: what leaves
    origin: int = NEVER  # ns, of the first arrival


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
        patience: float = 0.1,
        frames: Sequence[int] = (),
        periods: Sequence[float] = (),
        device_wrap: float = 0.0,
        bridge: int = 0,
    ) -> None:
        """One joint with that many channels.

        period: s between ticks; reference: the channel whose clock makes the ticks; delays: s by which each channel is
        late; wraps: where each encoder starts again, 0 for never; counter_modulo: of the device's sample counter, which
        must travel in the reference's frame and is column `channels` (0: none); patience: s; frames: which frame each
        channel travels in, by any number (default: each its own); periods: s of each channel (default: period; 0: it
        comes when it likes and its arrival is its instant); device_wrap: s after which the device's own time starts
        again (math.inf: never), where column `channels` is that time in s (0: it is not); bridge: values in a row that
        may be missing and are then interpolated. Raises ValueError.
        """
        if not (math.isfinite(period) and period > 0):
            raise ValueError(f"expected a positive period in seconds, found {period}")
        if not 1 <= channels <= COUNTER_BIT or not 0 <= reference < channels:
            raise ValueError(f"expected 1 to {COUNTER_BIT} channels and a reference among them")
        self._channels = channels
        own = _per_channel("frames", frames, channels, range(channels))
        self._streams = np.unique(own, return_inverse=True)[1].astype(np.int64)
        self._table = np.zeros((channels, CHANNEL_CONSTANTS))
        self._table[:, DELAY] = 1e9 * _per_channel("delays", delays, channels, [0.0] * channels)
        self._table[:, WRAP] = _per_channel("wraps", wraps, channels, [0.0] * channels)
        self._table[:, PERIOD] = 1e9 * _per_channel("periods", periods, channels, [period] * channels)
        self._table[self._streams == self._streams[reference], PERIOD] = period * 1e9
        modulo, unit, patience = counter_modulo, 1.0, patience * 1e9
        if device_wrap:
            if counter_modulo:
                raise ValueError("expected either a counter or a device time, found both")
            modulo, unit = round(min(device_wrap * 1e9, float(NEVER))), period * 1e9
            if modulo < 8 * LONGEST_LOSS * unit:
                raise ValueError(f"expected a device time over {8 * LONGEST_LOSS} periods, found {device_wrap} s")
        shortest = self._table[self._table[:, PERIOD] > 0, PERIOD].min()
        size = 1 << min(16, math.ceil(math.log2((patience + RESTART_AFTER) / shortest + 16)))
        streams = int(self._streams.max()) + 1
        self._stream_integers = np.zeros((streams, STREAM_INTEGERS), np.int64)
        for channel, stream in enumerate(self._streams):
            self._stream_integers[stream, FULL] |= 1 << channel
        if modulo:
            self._stream_integers[self._streams[reference], FULL] |= 1 << COUNTER_BIT
        self._stream_floats = np.zeros((streams, CLOCK_FLOATS))
        self._channel_floats = np.full((channels, CHANNEL_FLOATS), np.nan)
        self._rings = np.zeros((channels + 1, RING_INTEGERS), np.int64)
        self._ring = np.zeros((channels + 2, 3, size))
        self._held = np.zeros((streams, size, HELD_FLOATS))
        self._state = np.zeros(STATES, np.int64)
        self._totals = self._state[:CAUSES]
        self.ticks = np.zeros(size + LONGEST_LOSS, np.int64)  # where they leave, …
        self.rows = np.zeros((size + LONGEST_LOSS, channels))  # … up to the next readings
        self.aligner = Aligner(
            reference=reference,
            modulo=modulo,
            bridge=bridge,
            unit=unit,
            patience=patience,
            table=self._table,
            streams=self._streams,
            frames=self._stream_integers,
            clocks=self._stream_floats,
            held=self._held,
            channels=self._channel_floats,
            rings=self._rings,
            ring=self._ring,
            state=self._state,
            out_ticks=self.ticks,
            out_rows=self.rows,
        )

    def absorb(self, times: Nanoseconds, values: Floats, columns: NDArray[np.int32]) -> tuple[Nanoseconds, Floats]:
        """Readings in order of arrival → ticks (n,) ns and rows (n, channels), NaN where a value is missing.

        times: (readings,) ns, of arrival, one for all readings of a frame; values: SI; columns: channel, or `channels`
        for the counter or the device's time. Raises ValueError on a column that is neither.
        """
        if len(times) == 0:
            return np.zeros(0, np.int64), np.zeros((0, self._channels))
        return self.gathered(times, values, columns, *_absorb(times, values, columns, 0, self.aligner))

    def gathered(
        self, times: Nanoseconds, values: Floats, columns: NDArray[np.int32], consumed: int, count: int
    ) -> tuple[Nanoseconds, Floats]:
        """What `absorb` gives, where so many readings are taken and so many ticks of them have left."""
        parts: list[tuple[Nanoseconds, Floats]] = []
        while True:
            if consumed < 0:
                raise ValueError(
                    f"expected columns from 0 to {self._channels}, found {columns.min()} to {columns.max()}"
                )
            part = (self.ticks[:count].copy(), self.rows[:count].copy())
            if consumed == len(times) and count < self.room:
                break
            parts.append(part)
            consumed, count = _absorb(times, values, columns, consumed, self.aligner)
        if not parts:
            return part  # as nearly always
        parts.append(part)
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    @property
    def room(self) -> int:
        """Ticks that leave at once: fewer are all that there are."""
        return len(self.ticks) - LONGEST_LOSS

    def counters(self) -> dict[str, int]:
        """Totals by cause.

        lost: frames that never came; late: values that missed their tick; duplicate, out_of_order: frames not used, by
        counter or stamp; invalid: values not finite; glitch: encoder values beyond reason; restart: clocks set anew;
        rejected: frames whose device time runs ahead; interpolated: rows given across missing values.
        """
        return dict(zip(NAMES, self._totals.tolist(), strict=True))

    def late(self) -> list[int]:
        """Of each channel: ticks that left without it."""
        return [int(count) for count in self._rings[: self._channels, LATE_COUNT]]


def _per_channel(name: str, given: Sequence[float], channels: int, default: Sequence[float]) -> Floats:
    values = np.array(given if len(given) else default, np.float64)
    if len(values) != channels:
        raise ValueError(f"expected {name} for {channels} channels, found {len(values)}")
    return values


@inline
def _finish(
    stream: int,
    reference: int,
    modulo: int,
    unit: float,
    streams: NDArray[np.int64],
    stream_integers: NDArray[np.int64],
    stream_floats: Floats,
    held: Floats,
    channel_floats: Floats,
    lines: Lines,
) -> None:
    """A frame is complete (or its successor has begun): place it in time, and its values in their rings."""
    integers, floats = stream_integers[stream], stream_floats[stream]
    seen, arrival = integers[SEEN], float(integers[STAMP])
    integers[SEEN] = 0
    if seen == 1 << COUNTER_BIT:  # a counter without the frame that it counts
        lines.state[INVALID] += 1
        return
    leads = stream == streams[reference]
    counter = integers[PENDING_COUNTER] if seen & (1 << COUNTER_BIT) != 0 else -1
    period = 0.0
    for channel in range(len(streams)):
        if streams[channel] == stream:
            period = lines.table[channel, PERIOD]
    room = lines.ring.shape[2] - 8
    wrap = modulo if leads else 0
    if place(arrival, counter, period, wrap, unit, room, integers, floats, held[stream], lines.state) != PLACED:
        return
    passed, upto = integers[HELD] == IN_TIME, floats[DECIDED] + 0.25 * period
    for channel in range(len(streams)):
        if streams[channel] == stream:
            if upto > -np.inf:
                release(channel, floats[SHIFT], floats[UNSURE], upto - lines.table[channel, DELAY], lines)
            if seen & (1 << channel) != 0:
                own = channel_floats[channel]
                value = unwrap(own[PENDING], integers[INDEX], lines.table[channel, WRAP], own, lines.state)
                push(channel, floats[INSTANT] - lines.table[channel, DELAY], value, lines)
            if passed:
                release(channel, 0.0, 0.0, np.inf, lines)
    if leads:
        ticks = len(streams)
        if upto > -np.inf:
            release_ticks(floats[SHIFT], integers[SLIP], floats[UNSURE], upto - lines.table[reference, DELAY], lines)
        at = push(ticks, floats[INSTANT] - lines.table[reference, DELAY], arrival, lines)
        lines.ring[ticks + 1, 0, at], lines.ring[ticks + 1, 1, at] = integers[INDEX], integers[FRESH]
        behind = floats[BEHIND] if np.abs(floats[BEHIND]) > EVEN else 0.0
        lines.ring[ticks + 1, 2, at] = behind * period
        if passed:
            release_ticks(0.0, 0, 0.0, np.inf, lines)


@inline
def align(
    times: Nanoseconds, values: Floats, columns: NDArray[np.int32], start: int, aligner: Aligner
) -> tuple[int, int]:
    """Take readings from start on until all are taken or the output is full; returns (taken, ticks), or (-1, 0)."""
    streams, stream_integers, stream_floats = aligner.streams, aligner.frames, aligner.clocks
    channel_floats, held, state = aligner.channels, aligner.held, aligner.state
    out_ticks, out_rows = aligner.out_ticks, aligner.out_rows
    reference, modulo, bridge = aligner.reference, aligner.modulo, aligner.bridge
    unit, patience = aligner.unit, aligner.patience
    channels = len(streams)
    lines = Lines(aligner.table, aligner.rings, aligner.ring, state, unit > 1.0)
    if aligner.origin == NEVER:
        aligner.origin = times[0]
    origin = aligner.origin
    count = (
        emit(patience, bridge, lines, out_ticks, out_rows, 0) if start > 0 else 0
    )  # what the full output left behind
    taken = len(times)
    for i in range(start, len(times)):
        if count >= len(out_ticks) - LONGEST_LOSS:
            taken = i
            break
        column = columns[i]
        if column < 0 or column > channels or (column == channels and modulo == 0):
            return -1, 0
        stream = streams[reference if column == channels else column]
        bit = 1 << (COUNTER_BIT if column == channels else column)
        arrival = times[i] - origin
        frame = stream_integers[stream]
        torn = frame[SEEN] != 0 and (frame[STAMP] != arrival or frame[SEEN] & bit != 0)
        if torn:
            _finish(
                stream, reference, modulo, unit, streams, stream_integers, stream_floats, held, channel_floats, lines
            )
        frame[STAMP] = arrival
        frame[SEEN] |= bit
        if column == channels:
            count_there = values[i] if unit == 1.0 else np.rint(values[i] * 1e9)
            frame[PENDING_COUNTER] = np.int64(count_there) % modulo if np.abs(count_there) < NEVER else -1
        else:
            channel_floats[column, PENDING] = values[i]
        state[NOW] = max(state[NOW], arrival)
        if frame[SEEN] == frame[FULL]:
            _finish(
                stream, reference, modulo, unit, streams, stream_integers, stream_floats, held, channel_floats, lines
            )
        if frame[SEEN] == 0 or torn:
            count = emit(patience, bridge, lines, out_ticks, out_rows, count)
    for row in range(count):
        out_ticks[row] += origin
    return taken, count


@kernel(
    (
        *("Array(i8, 1, 'A', readonly=True)", "Array(f8, 1, 'A', readonly=True)", "Array(i4, 1, 'A', readonly=True)"),
        *("i8", Aligner),
    )
)
def _absorb(
    times: Nanoseconds, values: Floats, columns: NDArray[np.int32], start: int, aligner: Aligner
) -> tuple[int, int]:
    return align(times, values, columns, start, aligner)
