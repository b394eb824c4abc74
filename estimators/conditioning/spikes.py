"""Single wild samples of a channel are taken out before anything is made of them; causal, two rows late.

A sample is wild when it departs from the median of the five around it by more than their own scatter and the channel's
usual unrest s explain. With z_k = x[m+k], or, less the last step b, z_k = x[m+k] − k·b, |k| ≤ 2,

    |x[m] − z̃| > 8·MAD + 5·s,  or with b > 4·MAD + 24·s        z̃: median of z;  MAD: median of |z_k − z̃|

The first sees small ones in noise, the second in fast motion. A jump that stays is no spike, two wild ones in a row
are. s holds the peaks of |x[m−2] − 2x[m−1] + x[m]| where that is not zero (an encoder at rest shows no noise). A
channel of which too little is known is believed, a position up to the step of the coarsest encoder. What is wild is NaN
from then on: rows that it would be in are dropped (row_kernels.py). In 1.45 million samples of real robots, by which
the constants were set, one is wild, and it is −5e235.
"""

from collections.abc import Sequence
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from estimators.conditioning.row_kernels import CHUNK
from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats, Nanoseconds
from estimators.thresholds import GAP, VALUE_ROUNDING
from jointwatch_numba.layout import Integers, Layout, Matrix, Vector
from jointwatch_numba.matrix import contiguous

#: rows, argued: Rows on either side of the sample that is judged: a spike lasts one or two samples.
REACH: Final = 2
#: rows, derived: The sample and REACH rows on either side.
AROUND: Final = 2 * REACH + 1
#: 1, tuned: Median absolute deviations of the neighbours that a wild sample departs by; of 1.45 million samples of six
#: robots one is taken out (decision 002).
SCATTER: Final = 8.0
#: 1, tuned: Times the channel's usual second difference that a wild sample departs by as well (data as of SCATTER).
UNREST: Final = 5.0
#: 1, tuned: The same as SCATTER where neighbours are steady (data as of SCATTER).
STEADY_SCATTER: Final = 4.0
#: 1, tuned: The same as UNREST where neighbours are steady (data as of SCATTER).
STEADY_UNREST: Final = 24.0
#: 1, argued: The usual second difference falls by this share with each sample that is not at rest: about 1000 samples
#: count.
FALL: Final = 1.0 / 1024.0
#: 1, argued: The usual second difference at most doubles with a sample, so that one wild sample does not set it.
RISE: Final = 2.0
#: 1, argued: Growth of the usual second difference with each wild sample; where more than one in a hundred is wild, the
#: channel is like that.
YIELD: Final = 1.1
#: samples, argued: For the first samples the least second difference is taken, since wild ones may be among them.
FEW: Final = 8
#: samples, argued: Samples not at rest from which the usual second difference is known.
KNOWN: Final = 64
#: rad (m), argued: No encoder has larger steps; a smaller jump of a new channel may be one.
COARSEST: Final = 0.3


class SpikeFilter(Layout):
    """What is known of the samples of one joint, and the last of them."""

    period: float  # ns between rows
    kept: Annotated[Matrix, "kept", "channels"]  # the last rows, then those of a call; NaN where wild
    runs: Annotated[Integers, "kept"]  # which unbroken run of rows each belongs to
    times: Annotated[Integers, "kept"]  # ns
    unrest: Annotated[Vector, "channels"]  # s, …
    judged: Annotated[Vector, "channels"]  # … and how many samples it is from
    slope: Annotated[Vector, "channels"]  # b, from one sample to the next
    coarsest: Annotated[Vector, "channels"]  # what counts before s is known
    seen: int = 0  # rows
    run: int = 0  # of the last row
    last: int = 0  # ns, of the last row
    wild: int = 0  # samples taken out


class Spikes:
    """The rows of one joint without single wild samples, two rows late."""

    def __init__(self, channels: Sequence[str], period: float) -> None:
        """channels: their roles; period: s between rows."""
        coarsest = np.array([COARSEST if name.endswith("position") else np.inf for name in channels])
        self.state = SpikeFilter.zeros(
            period=period * 1e9,
            kept=np.zeros((AROUND - 1 + CHUNK, len(channels))),
            runs=np.zeros(AROUND - 1 + CHUNK, np.int64),
            times=np.zeros(AROUND - 1 + CHUNK, np.int64),
            unrest=np.full(len(channels), np.inf),
            coarsest=coarsest,
            channels=len(channels),
        )

    @property
    def count(self) -> int:
        """Wild samples so far."""
        return self.state.wild

    def absorb(self, time: Nanoseconds, values: Floats) -> tuple[Nanoseconds, Floats]:
        """Rows in, those of two rows ago out.

        time: (n,) ns; values: (n, channels), NaN where missing, and where wild on the way out.
        """
        if len(time) > CHUNK:
            parts = [self.absorb(time[i : i + CHUNK], values[i : i + CHUNK]) for i in range(0, len(time), CHUNK)]
            return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
        due = len(time) - min(len(time), max(0, REACH - self.state.seen))
        times, out = np.empty(due, np.int64), np.empty((due, self.state.kept.shape[1]))
        _judge(contiguous(time), contiguous(values), self.state, times, out)
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
def _wild(state: SpikeFilter, channel: int, first: int, middle: int, z: Floats) -> bool:
    """Whether the sample in the middle is; z: scratch."""
    kept, runs, unrest = state.kept, state.runs, state.unrest[channel]
    off, mad = _departure(kept, runs, channel, first, middle, state.slope[channel], z)
    if state.judged[channel] < KNOWN:
        return bool(off > STEADY_SCATTER * mad + state.coarsest[channel])
    if off > STEADY_SCATTER * mad + STEADY_UNREST * unrest:
        return True
    off, mad = _departure(kept, runs, channel, first, middle, 0.0, z)
    return bool(off > SCATTER * mad + UNREST * unrest)


@inline
def judge(time: Nanoseconds, values: Floats, state: SpikeFilter, out_times: Nanoseconds, out: Floats) -> int:
    """Append rows to those kept from before, the last four; write the judged ones, and return how many."""
    z = np.empty(AROUND)
    kept, runs, times = state.kept, state.runs, state.times
    unrest, judged, slope = state.unrest, state.judged, state.slope
    count, before = len(time), AROUND - 1
    due = 0
    for row in range(count):
        at = before + row
        if state.seen > 0 and abs(time[row] - state.last - state.period) > GAP * state.period:
            state.run += 1
        state.last = time[row]
        times[at] = time[row]
        state.seen += 1
        runs[at] = state.run
        for channel in range(kept.shape[1]):
            kept[at, channel] = values[row, channel]
        if state.seen <= REACH:
            continue
        middle = at - REACH
        first = middle - min(REACH, state.seen - REACH - 1)
        out_times[due] = times[middle]
        unbroken = middle - REACH == first and runs[first] == runs[middle]
        for channel in range(kept.shape[1]):
            x = kept[middle, channel]
            out[due, channel] = x
            if not np.isfinite(x):
                continue
            usual, known = unrest[channel], judged[channel]
            limit, near = UNREST * usual if known >= KNOWN else state.coarsest[channel], 0
            for k in range(-REACH, REACH + 1):
                near += abs(kept[middle + k, channel] - k * slope[channel] - x) <= limit
            # where three of its neighbours are near, the median is: seldom more work than this
            if near < AROUND - 1 and _wild(state, channel, first, middle, z):
                unrest[channel] = YIELD * usual
                out[due, channel] = kept[middle, channel] = np.nan
                state.wild += 1
                continue
            now = x - kept[middle - 1, channel] if unbroken else np.nan
            if not np.isfinite(now):
                continue
            slope[channel] = now
            second = abs(now - (kept[middle - 1, channel] - kept[middle - 2, channel]))
            if second > VALUE_ROUNDING * abs(x):  # not NaN either
                judged[channel] = known + 1.0
                if known < FEW:
                    unrest[channel] = min(second, usual)
                else:
                    unrest[channel] = max((1.0 - FALL) * usual, min(second, RISE * usual))
        due += 1
    for i in range(before):
        runs[i], times[i] = runs[count + i], times[count + i]
        for channel in range(kept.shape[1]):
            kept[i, channel] = kept[count + i, channel]
    return due


@kernel(("i8[::1]", "f8[:, ::1]", SpikeFilter, "i8[::1]", "f8[:, ::1]"))
def _judge(time: Nanoseconds, values: Floats, state: SpikeFilter, out_times: Nanoseconds, out: Floats) -> int:
    return judge(time, values, state, out_times, out)
