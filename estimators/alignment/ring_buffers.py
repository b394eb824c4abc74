"""Rings of instants and values that wait for their neighbours, and how ticks leave them.

An entry's place is its number modulo the size of its ring, a power of two. It is final once its stream's clock has
decided (device_clock.py).

Where up to `bridge` values in a row are missing (lost or not finite), a cubic through the values around them is taken:
the one after the gap and three before it, a gap apart from each other, so that nothing is waited for beyond the gap
and white noise is amplified by 1.04 at most. With the gap's length h it is off by x⁗ h⁴ 0.04 at most. Where they are
not there, it is the straight line, which is off by x″ h² / 8, and of a lost row by turns in either direction, since
the second derivative that follows from it has the sum zero.
"""

from typing import Annotated, Final

import numpy as np

from estimators.alignment.clock_state import LONGEST_LOSS, Totals
from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.thresholds import SUCCESSIVE
from jointwatch_numba.layout import Flags, Integers, Layout, Matrix, Vector

#: periods, argued: Neighbours may be this much further apart than SUCCESSIVE where sampling is uneven.
APART: Final = 0.25
#: gaps, argued: Values before a gap that a cubic goes through are at least so far apart: nearer ones amplify noise.
EVEN_LEAST: Final = 0.75
#: gaps, argued: The first of them is this far before the gap at most, two gaps and as much as is lost between them.
EVEN_MOST: Final = 4.0


class Ring(Layout):
    """Values of one channel that wait for a tick."""

    period: float  # ns from one to the next; 0: they come when they like
    instants: Annotated[Vector, "size"]  # ns
    values: Annotated[Vector, "size"]  # SI
    guesses: Annotated[Flags, "size"]  # whether it is a guess that lost ones were lost just before it
    head: int  # entries ever written, …
    usable: int  # … of them final, …
    tail: int  # … and done with
    late: int  # ticks that left without a value


class TickRing(Layout):
    """Ticks that wait for values: samples of the reference."""

    delay: float  # ns, of the reference
    instants: Annotated[Vector, "size"]  # ns
    arrivals: Annotated[Vector, "size"]  # ns
    guesses: Annotated[Flags, "size"]  # whether it is a guess that lost ones were lost just before it
    numbers: Annotated[Integers, "size"]  # the device's, of the samples
    fresh: Annotated[Flags, "size"]  # whether the clock began anew
    behind: Annotated[Vector, "size"]  # ns by which the sample was taken behind its place among even ones
    head: int  # entries ever written, …
    usable: int  # … of them final, …
    tail: int  # … and done with


class Waiting(Layout):
    """What waits of one joint, and the rows that leave."""

    patience: float  # ns that a tick waits for values
    bridge: int  # values in a row that may be missing and are then interpolated
    uneven: bool  # whether the device says when it sampled
    rings: tuple[Ring, ...]  # of each channel
    ticks: TickRing
    totals: Totals
    out_ticks: Annotated[Integers, "rows"]  # ns, …
    out_rows: Annotated[Matrix, "rows", "channels"]  # … SI, …
    out_bridged: Annotated[Flags, "rows"]  # … and whether a value bridges missing ones: what leaves
    now: int  # ns, newest arrival
    last: int  # ns, last tick that left
    last_number: int  # the device's, of its sample
    started: bool  # whether any has left


@inline
def claim(ring: Ring | TickRing) -> int:
    """Place of another entry, that of the oldest one where the ring is full."""
    size = len(ring.instants)
    at = ring.head & (size - 1)
    ring.guesses[at] = False
    ring.head += 1
    ring.tail = max(ring.tail, ring.head - size)
    return at


@inline
def release(ring: Ring, shift: float, unsure: bool, decided: float) -> None:
    """What was held moves, and is final up to an instant; instants that would run backwards hold no value."""
    instants, values, mask = ring.instants, ring.values, len(ring.instants) - 1
    first = usable = ring.usable
    for entry in range(first, ring.head):
        at, before = entry & mask, (entry - 1) & mask
        instants[at] += shift
        if entry > 0 and instants[at] <= instants[before]:
            instants[at], values[at] = instants[before] + 1.0, np.nan
        if entry == first and unsure:
            ring.guesses[at] = True
        if instants[at] <= decided:
            usable = entry + 1
    ring.usable = usable


@inline
def release_ticks(ticks: TickRing, shift: float, slip: int, unsure: bool, decided: float) -> None:
    """Ticks that were held move, and are final up to an instant."""
    instants, numbers, mask = ticks.instants, ticks.numbers, len(ticks.instants) - 1
    first = usable = ticks.usable
    for entry in range(first, ticks.head):
        at = entry & mask
        instants[at] += shift
        numbers[at] += slip
        if entry == first and unsure:
            ticks.guesses[at] = True
        if instants[at] <= decided:
            usable = entry + 1
    ticks.usable = usable


@inline
def _advance(tick: float, waiting: Waiting) -> tuple[bool, bool, bool]:
    """Move every channel's tail to its last value up to the tick.

    Returns whether all have a value after it, whether one has none before it, whether a clock is in its first setting.
    """
    ready, early, settling = True, False, False
    for channel in range(len(waiting.rings)):
        ring = waiting.rings[channel]
        instants, values, mask = ring.instants, ring.values, len(ring.instants) - 1
        tail, usable = ring.tail, ring.usable
        while tail + 1 < usable and instants[(tail + 1) & mask] <= tick:
            tail += 1
        ring.tail = tail
        settling = settling or (usable == 0 and ring.head > 0)
        if tail >= usable or instants[(usable - 1) & mask] < tick:
            ready = False
            continue
        early = early or instants[tail & mask] > tick
        after = tail if instants[tail & mask] >= tick else tail + 1
        if np.isnan(values[after & mask]) and waiting.bridge > 0:  # the next finite one may be still to come
            limit = tick + waiting.bridge * ring.period
            while after < usable and np.isnan(values[after & mask]) and instants[after & mask] <= limit:
                after += 1
            ready = ready and after < usable
    return ready, early, settling


@inline
def _interpolate(tick: float, ring: Ring, waiting: Waiting) -> tuple[float, bool]:
    """A channel's value at an instant, and whether it bridges missing ones; NaN where it cannot be said."""
    instants, values, mask = ring.instants, ring.values, len(ring.instants) - 1
    low, usable = ring.tail, ring.usable
    if low >= usable or instants[(usable - 1) & mask] < tick:
        return np.nan, False
    oldest = max(0, ring.head - mask - 1)
    while low > oldest and instants[low & mask] > tick:  # a row that was lost: the tail is beyond it
        low -= 1
    if instants[low & mask] > tick:
        return np.nan, False
    value = float(values[low & mask])
    if instants[low & mask] == tick and np.isfinite(value):
        return value, False
    period = ring.period
    together = SUCCESSIVE + (APART if waiting.uneven else 0.0)
    limit = (together + waiting.bridge) * period if period > 0.0 else waiting.patience
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
        over_a_guess = over and ring.guesses[entry & mask]
        limit = 0.0 if over_a_guess else limit
    if after - before > limit:
        return np.nan, False
    if over:
        return _cubic(tick, low, high, oldest, ring), True
    value = float(values[low & mask])
    value += (tick - before) / (after - before) * (float(values[high & mask]) - value)
    return value, False


@inline
def _cubic(tick: float, low: int, high: int, oldest: int, ring: Ring) -> float:
    """The value between two entries with a gap between them, by a cubic where two more before it are known."""
    instants, values, mask = ring.instants, ring.values, len(ring.instants) - 1
    d, z = float(instants[high & mask]), float(values[high & mask])
    c, y = float(instants[low & mask]), float(values[low & mask])
    gap = d - c
    apart = int(np.rint(gap / ring.period))
    nearer, farther = low - apart, low - 2 * apart
    u = (tick - c) / gap
    line = y + u * (z - y)
    if farther < oldest:
        return line
    x, w = float(values[nearer & mask]), float(values[farther & mask])
    p, q = (c - float(instants[nearer & mask])) / gap, (c - float(instants[farther & mask])) / gap
    if not (np.isfinite(x) and np.isfinite(w) and p > EVEN_LEAST and p + EVEN_LEAST < q < EVEN_MOST):
        return line
    first = (z - y) - (y - x) / p  # divided differences, in gaps
    second = first / (1.0 + p)
    before = ((y - x) / p - (x - w) / (q - p)) / q
    third = (second - before) / (1.0 + q)
    return line + u * (u - 1.0) * (second + (u + p) * third)


@inline
def _fill(tick: float, waiting: Waiting, row: Floats) -> bool:
    """One row: every channel at an instant; returns whether a value bridges missing ones, which is counted."""
    bridged = False
    for channel in range(len(waiting.rings)):
        row[channel], over = _interpolate(tick, waiting.rings[channel], waiting)
        bridged = bridged or (over and np.isfinite(row[channel]))
    if bridged:
        waiting.totals.interpolated += 1
    return bridged


@inline
def _count_late(tick: float, waiting: Waiting) -> None:
    """Channels that a tick leaves without."""
    for channel in range(len(waiting.rings)):
        ring = waiting.rings[channel]
        if ring.tail >= ring.usable or ring.instants[(ring.usable - 1) & (len(ring.instants) - 1)] < tick:
            ring.late += 1
            waiting.totals.late += 1


@inline
def emit(waiting: Waiting, count: int) -> int:
    """Let go every tick that waits for nothing more; returns how many rows the output holds then."""
    ticks, out_ticks, out_rows, out_bridged = waiting.ticks, waiting.out_ticks, waiting.out_rows, waiting.out_bridged
    mask = len(ticks.instants) - 1
    while ticks.tail < ticks.usable and count < len(out_ticks) - LONGEST_LOSS:
        at = ticks.tail & mask
        tick = ticks.instants[at] - ticks.behind[at]
        waited = waiting.now - ticks.arrivals[at] > waiting.patience
        crowded = ticks.head - ticks.tail >= mask
        ready, early, settling = _advance(tick, waiting)
        if not (ready or crowded or (waited and not settling)):
            break
        ticks.tail += 1
        if not waiting.started and ready and early:
            continue  # before the first value of some channel: nothing to align with
        instant, last = int(np.rint(tick)), waiting.last
        if waiting.started and instant <= last:
            waiting.totals.out_of_order += 1
            continue
        missed = ticks.numbers[at] - waiting.last_number - 1
        if waiting.started and not ticks.fresh[at] and missed <= LONGEST_LOSS:
            for k in range(missed):
                out_ticks[count] = last + (instant - last) * (k + 1) // (missed + 1)
                if missed <= waiting.bridge and not ticks.guesses[at]:
                    out_bridged[count] = _fill(float(out_ticks[count]), waiting, out_rows[count])
                else:
                    out_rows[count, :] = np.nan
                    out_bridged[count] = False
                count += 1
        _count_late(tick, waiting)
        out_bridged[count] = _fill(tick, waiting, out_rows[count])
        out_ticks[count] = instant
        count += 1
        waiting.started = True
        waiting.last = instant
        waiting.last_number = ticks.numbers[at]
    return count
