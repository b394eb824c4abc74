"""Rings of instants and values that wait for their neighbours, and how ticks leave them.

One ring per channel, the last one for the ticks. An entry is final once its stream's clock has decided (clock.py).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.base import Floats
from estimators.clock import DISORDERED, LATE_ROWS, LONGEST_LOSS
from estimators.jit import inline

HEAD, USABLE, TAIL, LATE_COUNT, RING_INTEGERS = range(5)  # entries ever written, of them final, of them done with
INSTANT_ROW, VALUE_ROW = 0, 1  # of a channel; of a tick: instant and arrival
INDEX_ROW, FRESH_ROW = 0, 1  # of a tick: the device's sample number, whether the clock began anew with it
NOW, LAST_INDEX, STARTED, GLOBALS = range(4)
TOGETHER: Final = 1.5  # periods between two values that may be interpolated


@inline
def push(which: int, instant: float, value: float, rings: NDArray[np.int64], ring: Floats) -> None:
    size = ring.shape[2]
    at = rings[which, HEAD] & (size - 1)
    ring[which, 0, at], ring[which, 1, at] = instant, value
    rings[which, HEAD] += 1
    rings[which, TAIL] = max(rings[which, TAIL], rings[which, HEAD] - size)


@inline
def release(channel: int, shift: float, rings: NDArray[np.int64], ring: Floats) -> None:
    """What was held is final now; instants that would run backwards hold no value."""
    mask = ring.shape[2] - 1
    for entry in range(rings[channel, USABLE], rings[channel, HEAD]):
        at, before = entry & mask, (entry - 1) & mask
        ring[channel, 0, at] += shift
        if entry > 0 and ring[channel, 0, at] <= ring[channel, 0, before]:
            ring[channel, 0, at], ring[channel, 1, at] = ring[channel, 0, before] + 1.0, np.nan
    rings[channel, USABLE] = rings[channel, HEAD]


@inline
def _advance(tick: float, rings: NDArray[np.int64], ring: Floats) -> tuple[bool, bool, bool]:
    """Move every channel's tail to its last value up to the tick.

    Returns whether all have a value after it, whether one has none before it, whether a clock is in its first setting.
    """
    mask = ring.shape[2] - 1
    ready, early, settling = True, False, False
    for channel in range(len(rings) - 1):
        tail, usable = rings[channel, TAIL], rings[channel, USABLE]
        while tail + 1 < usable and ring[channel, 0, (tail + 1) & mask] <= tick:
            tail += 1
        rings[channel, TAIL] = tail
        settling = settling or (usable == 0 and rings[channel, HEAD] > 0)
        if tail >= usable or ring[channel, 0, (usable - 1) & mask] < tick:
            ready = False
        elif ring[channel, 0, tail & mask] > tick:
            early = True
    return ready, early, settling


@inline
def _interpolate(
    channel: int, tick: float, limit: float, rings: NDArray[np.int64], ring: Floats, totals: NDArray[np.int64]
) -> float:
    mask = ring.shape[2] - 1
    tail, usable = rings[channel, TAIL], rings[channel, USABLE]
    if tail >= usable or ring[channel, 0, (usable - 1) & mask] < tick:
        rings[channel, LATE_COUNT] += 1
        totals[LATE_ROWS] += 1
        return np.nan
    before, value = ring[channel, 0, tail & mask], float(ring[channel, 1, tail & mask])
    if before == tick:
        return value
    after = float(ring[channel, 0, (tail + 1) & mask])
    if before > tick or after - before > limit:
        return np.nan
    weight = (tick - before) / (after - before)
    return float(value + weight * (ring[channel, 1, (tail + 1) & mask] - value))


@inline
def emit(
    constants: Floats,
    periods: Floats,
    rings: NDArray[np.int64],
    ring: Floats,
    indices: NDArray[np.int64],
    state: NDArray[np.int64],
    last: Floats,
    totals: NDArray[np.int64],
    out_ticks: Floats,
    out_rows: Floats,
    count: int,
) -> int:
    """Let go every tick that waits for nothing more; returns how many rows the output holds then."""
    channels, mask = len(periods), ring.shape[2] - 1
    while rings[channels, TAIL] < rings[channels, USABLE] and count < len(out_ticks) - LONGEST_LOSS:
        at = rings[channels, TAIL] & mask
        tick = ring[channels, 0, at]
        waited = state[NOW] - ring[channels, 1, at] > constants[1]
        crowded = rings[channels, HEAD] - rings[channels, TAIL] >= mask
        ready, early, settling = _advance(tick, rings, ring)
        if not (ready or crowded or (waited and not settling)):
            break
        rings[channels, TAIL] += 1
        if state[STARTED] == 0 and ready and early:
            continue  # before the first value of some channel: nothing to align with
        if state[STARTED] == 1 and tick <= last[0]:
            totals[DISORDERED] += 1
            continue
        missed = indices[0, at] - state[LAST_INDEX] - 1
        if state[STARTED] == 1 and indices[1, at] == 0 and missed <= LONGEST_LOSS:
            for k in range(missed):
                out_ticks[count] = last[0] + (tick - last[0]) * (k + 1) / (missed + 1)
                out_rows[count, :] = np.nan
                count += 1
        for channel in range(channels):
            limit = TOGETHER * periods[channel] if periods[channel] > 0 else constants[1]
            out_rows[count, channel] = _interpolate(channel, tick, limit, rings, ring, totals)
        out_ticks[count] = tick
        count += 1
        state[STARTED] = 1
        state[LAST_INDEX] = indices[0, at]
        last[0] = tick
    return count
