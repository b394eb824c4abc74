"""Rings of instants and values that wait for their neighbours, and how ticks leave them.

One ring per channel, then two for the ticks: (instant, arrival) and (the device's sample number, whether the clock
began anew). An entry is final once its stream's clock has decided (clock.py).
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.base import Floats, Nanoseconds
from estimators.clock import CAUSES, DISORDERED, LATE_ROWS, LONGEST_LOSS
from estimators.jit import inline

HEAD, USABLE, TAIL, LATE_COUNT, RING_INTEGERS = range(5)  # entries ever written, of them final, of them done with
DELAY, WRAP, PERIOD, CHANNEL_CONSTANTS = range(4)  # ns, SI, ns
# newest arrival, last tick that left (ns) and its sample number, whether any has; after the totals by cause
NOW, LAST, LAST_INDEX, STARTED, STATES = range(CAUSES, CAUSES + 5)
TOGETHER: Final = 1.5  # periods between two values that may be interpolated


class Lines(NamedTuple):
    """What waits, of all channels and of the ticks, as the kernels hand it on."""

    table: Floats  # (channels, CHANNEL_CONSTANTS)
    rings: NDArray[np.int64]  # (channels + 1, RING_INTEGERS)
    ring: Floats  # (channels + 2, 2, size), size a power of two
    state: NDArray[np.int64]  # (STATES,)


@inline
def push(which: int, instant: float, value: float, lines: Lines) -> int:
    """Append to a ring, over its oldest entry when it is full; returns where."""
    size = lines.ring.shape[2]
    own = lines.rings[which]
    at = own[HEAD] & (size - 1)
    lines.ring[which, 0, at], lines.ring[which, 1, at] = instant, value
    own[HEAD] += 1
    own[TAIL] = max(own[TAIL], own[HEAD] - size)
    return int(at)


@inline
def release(channel: int, shift: float, lines: Lines) -> None:
    """What was held is final now; instants that would run backwards hold no value."""
    mask = lines.ring.shape[2] - 1
    instants, values = lines.ring[channel, 0], lines.ring[channel, 1]
    for entry in range(lines.rings[channel, USABLE], lines.rings[channel, HEAD]):
        at, before = entry & mask, (entry - 1) & mask
        instants[at] += shift
        if entry > 0 and instants[at] <= instants[before]:
            instants[at], values[at] = instants[before] + 1.0, np.nan
    lines.rings[channel, USABLE] = lines.rings[channel, HEAD]


@inline
def release_ticks(shift: float, slip: int, lines: Lines) -> None:
    """The ticks that were held are final now."""
    ticks, mask = len(lines.table), lines.ring.shape[2] - 1
    for entry in range(lines.rings[ticks, USABLE], lines.rings[ticks, HEAD]):
        lines.ring[ticks, 0, entry & mask] += shift
        lines.ring[ticks + 1, 0, entry & mask] += slip
    lines.rings[ticks, USABLE] = lines.rings[ticks, HEAD]


@inline
def _advance(tick: float, lines: Lines) -> tuple[bool, bool, bool]:
    """Move every channel's tail to its last value up to the tick.

    Returns whether all have a value after it, whether one has none before it, whether a clock is in its first setting.
    """
    mask = lines.ring.shape[2] - 1
    ready, early, settling = True, False, False
    for channel in range(len(lines.table)):
        instants = lines.ring[channel, 0]
        tail, usable = lines.rings[channel, TAIL], lines.rings[channel, USABLE]
        while tail + 1 < usable and instants[(tail + 1) & mask] <= tick:
            tail += 1
        lines.rings[channel, TAIL] = tail
        settling = settling or (usable == 0 and lines.rings[channel, HEAD] > 0)
        if tail >= usable or instants[(usable - 1) & mask] < tick:
            ready = False
        elif instants[tail & mask] > tick:
            early = True
    return ready, early, settling


@inline
def _interpolate(channel: int, tick: float, limit: float, lines: Lines) -> float:
    mask = lines.ring.shape[2] - 1
    instants, values = lines.ring[channel, 0], lines.ring[channel, 1]
    tail, usable = lines.rings[channel, TAIL], lines.rings[channel, USABLE]
    if tail >= usable or instants[(usable - 1) & mask] < tick:
        lines.rings[channel, LATE_COUNT] += 1
        lines.state[LATE_ROWS] += 1
        return np.nan
    before, value = float(instants[tail & mask]), float(values[tail & mask])
    if before == tick:
        return value
    after = float(instants[(tail + 1) & mask])
    if before > tick or after - before > limit:
        return np.nan
    return float(value + (tick - before) / (after - before) * (values[(tail + 1) & mask] - value))


@inline
def emit(patience: float, lines: Lines, out_ticks: Nanoseconds, out_rows: Floats, count: int) -> int:
    """Let go every tick that waits for nothing more (patience: ns); returns how many rows the output holds then."""
    state, ticks, mask = lines.state, len(lines.table), lines.ring.shape[2] - 1
    own = lines.rings[ticks]
    while own[TAIL] < own[USABLE] and count < len(out_ticks) - LONGEST_LOSS:
        at = own[TAIL] & mask
        tick = lines.ring[ticks, 0, at]
        waited = state[NOW] - lines.ring[ticks, 1, at] > patience
        crowded = own[HEAD] - own[TAIL] >= mask
        ready, early, settling = _advance(tick, lines)
        if not (ready or crowded or (waited and not settling)):
            break
        own[TAIL] += 1
        if state[STARTED] == 0 and ready and early:
            continue  # before the first value of some channel: nothing to align with
        instant, last = int(np.round(tick)), state[LAST]
        if state[STARTED] == 1 and instant <= last:
            state[DISORDERED] += 1
            continue
        missed = int(lines.ring[ticks + 1, 0, at]) - state[LAST_INDEX] - 1
        if state[STARTED] == 1 and lines.ring[ticks + 1, 1, at] == 0.0 and missed <= LONGEST_LOSS:
            for k in range(missed):
                out_ticks[count] = last + (instant - last) * (k + 1) // (missed + 1)
                out_rows[count, :] = np.nan
                count += 1
        for channel in range(ticks):
            period = lines.table[channel, PERIOD]
            limit = TOGETHER * period if period > 0.0 else patience
            out_rows[count, channel] = _interpolate(channel, tick, limit, lines)
        out_ticks[count] = instant
        count += 1
        state[STARTED] = 1
        state[LAST] = instant
        state[LAST_INDEX] += missed + 1
    return count
