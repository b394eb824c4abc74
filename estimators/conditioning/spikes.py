"""Single wild samples of a channel are taken out before anything is made of them; causal, two rows late.

A sample is wild when it departs from the median of the five around it by more than their own scatter and the channel's
usual unrest s explain. With z_k = x[m+k], or, less the last step b, z_k = x[m+k] − k·b, |k| ≤ 2,

    |x[m] − z̃| > 8·MAD + 5·s,  or with b > 4·MAD + 24·s        z̃: median of z;  MAD: median of |z_k − z̃|

The first sees small ones in noise, the second in fast motion. A jump that stays is no spike, two wild ones in a row
are. s holds the peaks of |x[m−2] − 2x[m−1] + x[m]| where that is not zero (an encoder at rest says nothing). A channel
of which too little is known is believed, a position up to the step of the coarsest encoder. What is wild is NaN from
then on: rows that it would be in are dropped (signals.py). In 1.45 million samples of real robots, by which the
constants were set, one is wild, and it is −5e235.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats, Nanoseconds

REACH: Final = 2  # rows on either side of the one that is judged
AROUND: Final = 2 * REACH + 1
CHUNK: Final = 1024  # rows taken at once
GAP: Final = 0.5  # periods by which a step in time may differ from the period before it counts as a gap
SCATTER: Final = 8.0
UNREST: Final = 5.0
STEADY_SCATTER: Final = 4.0
STEADY_UNREST: Final = 24.0
FALL: Final = 1.0 / 1024.0  # of s per sample that is not at rest; faster while these are few
RISE: Final = 2.0  # of s per sample, at most
YIELD: Final = 1.1  # of s per wild sample: where more than one in a hundred is, that is how the channel is
FEW: Final = 8  # samples not at rest, of which the least counts: among the very first may be wild ones
KNOWN: Final = 64  # samples not at rest, from which s is known
COARSEST: Final = 0.3  # rad (m): no encoder has larger steps
ROUNDING: Final = 1e-9  # of a value

SEEN, RUN, LAST, WILD, STATES = range(5)  # the integer state
UNREST_NOW, KNOWN_FROM, STEP, GRAIN, FLOATS = range(
    5
)  # of a channel: s, the samples that it is from, b, what counts before


class Spikes:
    """The rows of one joint without single wild samples, two rows late."""

    def __init__(self, channels: Sequence[str], period: float) -> None:
        """channels: their roles; period: s between rows."""
        self.period = period * 1e9
        self.kept = np.zeros((AROUND - 1 + CHUNK, len(channels)))
        self.runs = np.zeros(AROUND - 1 + CHUNK, np.int64)  # which unbroken run of rows each belongs to
        self.times = np.zeros(AROUND - 1 + CHUNK, np.int64)
        self.floats = np.zeros((len(channels), FLOATS))
        self.floats[:, UNREST_NOW] = np.inf
        self.floats[:, GRAIN] = [COARSEST if name.endswith("position") else np.inf for name in channels]
        self.state = np.zeros(STATES, np.int64)

    @property
    def count(self) -> int:
        """Wild samples so far."""
        return int(self.state[WILD])

    def absorb(self, time: Nanoseconds, values: Floats) -> tuple[Nanoseconds, Floats]:
        """Rows in, those of two rows ago out.

        time: (n,) ns; values: (n, channels), NaN where missing, and where wild on the way out.
        """
        if len(time) > CHUNK:
            parts = [self.absorb(time[i : i + CHUNK], values[i : i + CHUNK]) for i in range(0, len(time), CHUNK)]
            return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
        due = len(time) - min(len(time), max(0, REACH - int(self.state[SEEN])))
        times, out = np.empty(due, np.int64), np.empty((due, self.kept.shape[1]))
        _judge(time, values, self.period, self.kept, self.runs, self.times, self.floats, self.state, times, out)
        return times, out


@inline
def _departure(
    kept: Floats, runs: NDArray[np.int64], channel: int, first: int, middle: int, slope: float, z: Floats
) -> tuple[float, float]:
    """|x[m] − z̃| and MAD of z_k = x[m+k] − k·slope; 0 where too few are there."""
    size = 0
    for i in range(first, middle + REACH + 1):  # sorted as they come
        one = kept[i, channel] - (i - middle) * slope
        if runs[i] == runs[middle] and np.isfinite(one):
            place = size
            while place > 0 and z[place - 1] > one:
                z[place] = z[place - 1]
                place -= 1
            z[place] = one
            size += 1
    if size <= REACH:
        return 0.0, 0.0
    median = z[size // 2] if size % 2 == 1 else 0.5 * (z[size // 2 - 1] + z[size // 2])
    low, high = 0, size - 1  # those nearest to the median are neighbours among the sorted
    while high - low > size // 2:
        if median - z[low] > z[high] - median:
            low += 1
        else:
            high -= 1
    return abs(kept[middle, channel] - median), max(median - z[low], z[high] - median)


@inline
def _wild(
    kept: Floats, runs: NDArray[np.int64], channel: int, first: int, middle: int, floats: Floats, z: Floats
) -> bool:
    """Whether the sample in the middle is; z: scratch."""
    unrest, step = floats[channel, UNREST_NOW], floats[channel, STEP]
    off, mad = _departure(kept, runs, channel, first, middle, step, z)
    if floats[channel, KNOWN_FROM] < KNOWN:
        return bool(off > STEADY_SCATTER * mad + floats[channel, GRAIN])
    if off > STEADY_SCATTER * mad + STEADY_UNREST * unrest:
        return True
    off, mad = _departure(kept, runs, channel, first, middle, 0.0, z)
    return bool(off > SCATTER * mad + UNREST * unrest)


@inline
def judge(
    time: Nanoseconds,
    values: Floats,
    period: float,
    kept: Floats,
    runs: NDArray[np.int64],
    times: Nanoseconds,
    floats: Floats,
    state: NDArray[np.int64],
    out_times: Nanoseconds,
    out: Floats,
) -> int:
    """Append rows to those kept from before, the last four; write the judged ones, and return how many.

    kept … state: of Spikes; NaN in kept marks the wild.
    """
    z = np.empty(AROUND)
    count, before = len(time), AROUND - 1
    due = 0
    for row in range(count):
        at = before + row
        if state[SEEN] > 0 and abs(time[row] - state[LAST] - period) > GAP * period:
            state[RUN] += 1
        state[LAST] = times[at] = time[row]
        state[SEEN] += 1
        runs[at] = state[RUN]
        for channel in range(kept.shape[1]):
            kept[at, channel] = values[row, channel]
        if state[SEEN] <= REACH:
            continue
        middle = at - REACH
        first = middle - min(REACH, state[SEEN] - REACH - 1)
        out_times[due] = times[middle]
        unbroken = middle - REACH == first and runs[first] == runs[middle]
        for channel in range(kept.shape[1]):
            x, step = kept[middle, channel], floats[channel, STEP]
            out[due, channel] = x
            if not np.isfinite(x):
                continue
            unrest, known = floats[channel, UNREST_NOW], floats[channel, KNOWN_FROM]
            limit, near = UNREST * unrest if known >= KNOWN else floats[channel, GRAIN], 0
            for k in range(-REACH, REACH + 1):
                near += abs(kept[middle + k, channel] - k * step - x) <= limit
            # where three of its neighbours are near, the median is: seldom more work than this
            if near < AROUND - 1 and _wild(kept, runs, channel, first, middle, floats, z):
                floats[channel, UNREST_NOW] = YIELD * unrest
                out[due, channel] = kept[middle, channel] = np.nan
                state[WILD] += 1
                continue
            now = x - kept[middle - 1, channel] if unbroken else np.nan
            if not np.isfinite(now):
                continue
            floats[channel, STEP] = now
            second = abs(now - (kept[middle - 1, channel] - kept[middle - 2, channel]))
            if second > ROUNDING * abs(x):  # not NaN either
                floats[channel, KNOWN_FROM] = known + 1.0
                if known < FEW:
                    floats[channel, UNREST_NOW] = min(second, unrest)
                else:
                    floats[channel, UNREST_NOW] = max((1.0 - FALL) * unrest, min(second, RISE * unrest))
        due += 1
    for i in range(before):
        runs[i], times[i] = runs[count + i], times[count + i]
        for channel in range(kept.shape[1]):
            kept[i, channel] = kept[count + i, channel]
    return due


@kernel(
    "i8(Array(i8, 1, 'A', readonly=True), Array(f8, 2, 'A', readonly=True), f8, f8[:, ::1], i8[::1], i8[::1], "
    "f8[:, ::1], i8[::1], i8[::1], f8[:, ::1])"
)
def _judge(
    time: Nanoseconds,
    values: Floats,
    period: float,
    kept: Floats,
    runs: NDArray[np.int64],
    times: Nanoseconds,
    floats: Floats,
    state: NDArray[np.int64],
    out_times: Nanoseconds,
    out: Floats,
) -> int:
    return judge(time, values, period, kept, runs, times, floats, state, out_times, out)
