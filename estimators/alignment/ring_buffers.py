"""Rings of instants and values that wait for their neighbours, and how ticks leave them.

One ring per channel (instant, value), then two for the ticks: (instant, arrival) and (the device's sample number,
whether the clock began anew). Each has a third place: whether it is a guess that lost entries were lost just before it;
of the last ring, by how many ns the sample was taken behind its place among even ones.
An entry is final once its stream's clock has decided (device_clock.py).

Where up to `bridge` values in a row are missing (lost or not finite), those around them are interpolated linearly:
with the period P that is off by x″ (bridge + 1)² P² / 8 at most, and of a lost row by turns in either direction, since
the second derivative that follows from it has the sum zero.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.alignment.clock_state import (
    CAUSES,
    DISORDERED,
    INTERPOLATED,
    LATE_ROWS,
    LONGEST_LOSS,
)
from estimators.numerics.jit import inline
from estimators.quantities import Floats, Nanoseconds

HEAD, USABLE, TAIL, LATE_COUNT, RING_INTEGERS = range(5)  # entries ever written, of them final, of them done with
DELAY, WRAP, PERIOD, CHANNEL_CONSTANTS = range(4)  # ns, SI, ns
# newest arrival, last tick that left (ns) and its sample number, whether any has; after the totals by cause
NOW, LAST, LAST_INDEX, STARTED, STATES = range(CAUSES, CAUSES + 5)
TOGETHER: Final = 1.5  # periods between two values that may be interpolated
APART: Final = 0.25  # periods beside TOGETHER that neighbours may be apart where sampling may be uneven


class Lines(NamedTuple):
    """What waits, of all channels and of the ticks, as the kernels hand it on."""

    table: Floats  # (channels, CHANNEL_CONSTANTS)
    rings: NDArray[np.int64]  # (channels + 1, RING_INTEGERS)
    ring: Floats  # (channels + 2, 3, size), size a power of two
    state: NDArray[np.int64]  # (STATES,)
    uneven: bool  # whether the device says when it sampled


@inline
def push(which: int, instant: float, value: float, lines: Lines) -> int:
    """Append to a ring, over its oldest entry when it is full; returns where."""
    size = lines.ring.shape[2]
    own = lines.rings[which]
    at = own[HEAD] & (size - 1)
    lines.ring[which, 0, at], lines.ring[which, 1, at], lines.ring[which, 2, at] = instant, value, 0.0
    own[HEAD] += 1
    own[TAIL] = max(own[TAIL], own[HEAD] - size)
    return int(at)


@inline
def release(channel: int, shift: float, unsure: float, decided: float, lines: Lines) -> None:
    """What was held moves, and is final up to an instant; instants that would run backwards hold no value."""
    mask = lines.ring.shape[2] - 1
    instants, values = lines.ring[channel, 0], lines.ring[channel, 1]
    first = usable = lines.rings[channel, USABLE]
    for entry in range(first, lines.rings[channel, HEAD]):
        at, before = entry & mask, (entry - 1) & mask
        instants[at] += shift
        if entry > 0 and instants[at] <= instants[before]:
            instants[at], values[at] = instants[before] + 1.0, np.nan
        if entry == first and unsure > 0.0:
            lines.ring[channel, 2, at] = unsure
        if instants[at] <= decided:
            usable = entry + 1
    lines.rings[channel, USABLE] = usable


@inline
def release_ticks(shift: float, slip: int, unsure: float, decided: float, lines: Lines) -> None:
    """The same of the ticks that were held."""
    ticks, mask = len(lines.table), lines.ring.shape[2] - 1
    first = usable = lines.rings[ticks, USABLE]
    for entry in range(first, lines.rings[ticks, HEAD]):
        at = entry & mask
        lines.ring[ticks, 0, at] += shift
        lines.ring[ticks + 1, 0, at] += slip
        if entry == first and unsure > 0.0:
            lines.ring[ticks, 2, at] = unsure
        if lines.ring[ticks, 0, at] <= decided:
            usable = entry + 1
    lines.rings[ticks, USABLE] = usable


@inline
def _advance(tick: float, bridge: int, lines: Lines) -> tuple[bool, bool, bool]:
    """Move every channel's tail to its last value up to the tick.

    Returns whether all have a value after it, whether one has none before it, whether a clock is in its first setting.
    """
    mask = lines.ring.shape[2] - 1
    ready, early, settling = True, False, False
    for channel in range(len(lines.table)):
        instants, values = lines.ring[channel, 0], lines.ring[channel, 1]
        tail, usable = lines.rings[channel, TAIL], lines.rings[channel, USABLE]
        while tail + 1 < usable and instants[(tail + 1) & mask] <= tick:
            tail += 1
        lines.rings[channel, TAIL] = tail
        settling = settling or (usable == 0 and lines.rings[channel, HEAD] > 0)
        if tail >= usable or instants[(usable - 1) & mask] < tick:
            ready = False
            continue
        early = early or instants[tail & mask] > tick
        after = tail if instants[tail & mask] >= tick else tail + 1
        if np.isnan(values[after & mask]) and bridge > 0:  # the next finite one may be still to come
            limit = tick + bridge * lines.table[channel, PERIOD]
            while after < usable and np.isnan(values[after & mask]) and instants[after & mask] <= limit:
                after += 1
            ready = ready and after < usable
    return ready, early, settling


@inline
def _interpolate(channel: int, tick: float, bridge: int, patience: float, lines: Lines) -> tuple[float, bool]:
    """A channel's value at an instant, and whether it bridges missing ones; NaN where it cannot be said."""
    mask = lines.ring.shape[2] - 1
    instants, values = lines.ring[channel, 0], lines.ring[channel, 1]
    low, usable = lines.rings[channel, TAIL], lines.rings[channel, USABLE]
    if low >= usable or instants[(usable - 1) & mask] < tick:
        return np.nan, False
    oldest = max(0, lines.rings[channel, HEAD] - mask - 1)
    while low > oldest and instants[low & mask] > tick:  # a row that was lost: the tail is beyond it
        low -= 1
    if instants[low & mask] > tick:
        return np.nan, False
    value = float(values[low & mask])
    if instants[low & mask] == tick and np.isfinite(value):
        return value, False
    period = lines.table[channel, PERIOD]
    together = TOGETHER + (APART if lines.uneven else 0.0)
    limit = (together + bridge) * period if period > 0.0 else patience
    high = low + 1
    while low > oldest and np.isnan(values[low & mask]) and tick - instants[low & mask] <= limit:
        low -= 1
    while high + 1 < usable and np.isnan(values[high & mask]) and instants[high & mask] - tick <= limit:
        high += 1
    if high >= usable:
        return np.nan, False
    before, after = float(instants[low & mask]), float(instants[high & mask])
    over = period > 0.0 and after - before > together * period
    for entry in range(low + 1, high + 1):
        over_a_guess = over and lines.ring[channel, 2, entry & mask] > 0.0
        limit = 0.0 if over_a_guess else limit
    if after - before > limit:
        return np.nan, False
    value = float(values[low & mask])
    value += (tick - before) / (after - before) * (float(values[high & mask]) - value)
    return value, over


@inline
def _fill(tick: float, bridge: int, patience: float, lines: Lines, row: Floats) -> None:
    """One row: every channel at an instant; counted where a value bridges missing ones."""
    bridged = False
    for channel in range(len(lines.table)):
        row[channel], over = _interpolate(channel, tick, bridge, patience, lines)
        bridged = bridged or (over and np.isfinite(row[channel]))
    if bridged:
        lines.state[INTERPOLATED] += 1


@inline
def _count_late(tick: float, lines: Lines) -> None:
    """Channels that a tick leaves without."""
    mask = lines.ring.shape[2] - 1
    for channel in range(len(lines.table)):
        usable = lines.rings[channel, USABLE]
        if lines.rings[channel, TAIL] >= usable or lines.ring[channel, 0, (usable - 1) & mask] < tick:
            lines.rings[channel, LATE_COUNT] += 1
            lines.state[LATE_ROWS] += 1


@inline
def emit(patience: float, bridge: int, lines: Lines, out_ticks: Nanoseconds, out_rows: Floats, count: int) -> int:
    """Let go every tick that waits for nothing more (patience: ns); returns how many rows the output holds then."""
    state, ticks, mask = lines.state, len(lines.table), lines.ring.shape[2] - 1
    own = lines.rings[ticks]
    while own[TAIL] < own[USABLE] and count < len(out_ticks) - LONGEST_LOSS:
        at = own[TAIL] & mask
        tick = lines.ring[ticks, 0, at] - lines.ring[ticks + 1, 2, at]
        waited = state[NOW] - lines.ring[ticks, 1, at] > patience
        crowded = own[HEAD] - own[TAIL] >= mask
        ready, early, settling = _advance(tick, bridge, lines)
        if not (ready or crowded or (waited and not settling)):
            break
        own[TAIL] += 1
        if state[STARTED] == 0 and ready and early:
            continue  # before the first value of some channel: nothing to align with
        instant, last = int(np.rint(tick)), state[LAST]
        if state[STARTED] == 1 and instant <= last:
            state[DISORDERED] += 1
            continue
        missed = int(lines.ring[ticks + 1, 0, at]) - state[LAST_INDEX] - 1
        if state[STARTED] == 1 and lines.ring[ticks + 1, 1, at] == 0.0 and missed <= LONGEST_LOSS:
            for k in range(missed):
                out_ticks[count] = last + (instant - last) * (k + 1) // (missed + 1)
                if missed <= bridge and lines.ring[ticks, 2, at] == 0.0:
                    _fill(float(out_ticks[count]), bridge, patience, lines, out_rows[count])
                else:
                    out_rows[count, :] = np.nan
                count += 1
        _count_late(tick, lines)
        _fill(tick, bridge, patience, lines, out_rows[count])
        out_ticks[count] = instant
        count += 1
        state[STARTED] = 1
        state[LAST] = instant
        state[LAST_INDEX] += missed + 1
    return count
