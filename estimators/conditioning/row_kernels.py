"""The compiled half of a Conditioner: raw rows kept, observed, and passed through the kernel (see conditioner.py)."""

from typing import Annotated, Final

import numpy as np

from estimators.models.filler import fill_rows
from estimators.numerics.jit import inline, kernel
from estimators.quantisation import rounding
from estimators.quantities import Floats, Nanoseconds
from estimators.rows import (
    ARGUMENTS,
    LOAD,
    MOST,
    PLACE,
    POSITION,
    RATE,
    ROUNDING,
    SECOND,
    SLOPE,
    SMOOTH,
    SMOOTH_RATE,
    SPEED,
    VALUE,
    VELOCITY,
    WEIGHT,
    FormedRows,
)
from estimators.thresholds import GAP
from jointwatch_numba.layout import Cube, Function, IntegerMatrix, Integers, Layout, Matrix, Own, Scratch, Vector
from jointwatch_numba.matrix import as_vector

#: rows, argued: Raw rows that are taken at once; bounds memory of large batches and changes no result.
CHUNK: Final = 1024
#: rows, argued: Windows over which the share of those without a gap is averaged, a second.
RUNNING: Final = 100.0
#: 1, derived: Times a difference over T less that over 2T cancels the error of the order T²: 1 / (2² − 1).
RICHARDSON: Final = 1.0 / 3.0

# of a block of a model: channels, and what they are multiplied with before its law sees them
MOTION_CHANNEL: Final = 0
LOAD_CHANNEL: Final = 1
MOTION_SCALE: Final = 2
LOAD_SCALE: Final = 3


class RowFormer(Layout):
    """What turns raw rows into regression rows: settings, raw rows that are still needed, signals, and what left.

    instants: at the full rate, as many as one call may need.
    """

    # settings
    period: float  # s between raw rows
    support: int  # raw rows that one regression row depends on
    decimation: int  # raw rows from one regression row to the next
    delay: int  # ns from the instant of a row to the last raw row that it needs
    five: int  # 1: differences over five raw rows, 0: over three
    slope_taps: Annotated[Vector, "taps"]  # g (formed.taps), differentiated
    argument_taps: Annotated[Vector, "taps"]  # f
    eta: Vector  # with which columns are formed
    joints: Annotated[Integers, "joints"]  # channel of each
    blocks: Annotated[Matrix, "blocks", "4"]
    steps: Annotated[Vector, "joints"]  # of encoders, rad (m); 0: not known
    beats: Annotated[Vector, "bin_ends"]  # of the kernel, see rounding.py
    fill: Function  # of the model
    terms: Own  # what the model gives it
    # raw rows
    raw: Annotated[Matrix, "raw_rows", "channels"]
    filled: int = 0  # raw rows there are
    clean: int = 0  # of the last of them, without a gap or a missing value
    seen: int = 0  # ever
    last: int = 0  # ns, of the last one
    newest: int = 0  # ns, last raw row of the newest window without a gap; 0: there was none
    # windows that are due, and the signals at their instants
    due: Annotated[IntegerMatrix, "windows", "2"]  # last raw row, and its time in ns
    windows: int = 0  # that are due, of which no row is formed yet
    instants: int = 0  # that are filled
    begin: int = 0  # number of the raw row, of all ever, that the first of them depends on first
    known: int = 0  # of them, those whose rows of Φ and y are formed
    column: Scratch[Vector]  # raw values of one channel, and what the kernel makes of them
    smoothed: Scratch[Vector]
    phi: Annotated[Cube, "signal_rows", "outputs", "parameters"]
    y: Annotated[Matrix, "signal_rows", "outputs"]
    # rows that leave
    formed: FormedRows  # and the signals at these instants
    # totals
    whole: float = 1.0  # running share of due windows without a gap
    dropped: int = 0  # windows with a raw value missing
    gaps: int = 0  # in time
    left: int = 0  # rows
    masked: int = 0  # rows of which the model masked every output


@inline
def _push(time: Nanoseconds, values: Floats, former: RowFormer) -> int:
    """Append raw rows; write (last raw row, its time) of every whole window that ends in a due row; return how many."""
    raw, due = former.raw, former.due
    period, support, decimation = former.period * 1e9, former.support, former.decimation
    filled = former.filled
    if filled + len(time) > len(raw):
        keep = support - 1
        for row in range(keep):
            for channel in range(raw.shape[1]):
                raw[row, channel] = raw[filled - keep + row, channel]
        filled = keep
    count = 0
    for row in range(len(time)):
        step = time[row] - former.last
        if former.seen > 0 and abs(step - period) > GAP * period:
            former.clean = 0
            former.gaps += 1
        former.last = time[row]
        former.seen += 1
        former.clean += 1
        for channel in range(raw.shape[1]):
            value = values[row, channel]
            raw[filled, channel] = value
            if not np.isfinite(value):
                former.clean = 0
        if former.seen >= support and (former.seen - support) % decimation == 0:
            former.whole += ((1.0 if former.clean >= support else 0.0) - former.whole) / RUNNING
            if former.clean >= support:
                due[count, 0] = filled
                due[count, 1] = time[row]
                former.newest = time[row]
                count += 1
            else:
                former.dropped += 1
        filled += 1
    former.filled = filled
    return count


@inline
def _observe(raw: Floats, first: int, g: Floats, former: RowFormer, signals: Floats) -> None:
    """Fill signals from raw[first:]; row 0 of signals is the instant first + K + 1."""
    half, period, smooth = len(g) // 2, former.period, former.smoothed
    column, length = former.column, len(signals)
    for channel in range(raw.shape[1]):
        for row in range(length + 1 + len(g)):
            column[row] = raw[first + row, channel]
        smooth[: length + 2] = 0.0
        for k in range(len(g)):  # s at the instants first + K + m, side by side: a sum waits for its last addition
            for m in range(length + 2):
                smooth[m] += g[k] * column[k + m]
        for m in range(length):
            before = raw[first + half + m, channel]
            here = raw[first + half + m + 1, channel]
            after = raw[first + half + m + 2, channel]
            signals[m, channel, VALUE] = here
            signals[m, channel, RATE] = (after - before) / (2.0 * period)
            signals[m, channel, SECOND] = ((after - here) - (here - before)) / (period * period)
            signals[m, channel, SMOOTH] = smooth[m + 1]
            signals[m, channel, SMOOTH_RATE] = (smooth[m + 2] - smooth[m]) / (2.0 * period)
            if former.five > 0:
                earlier, later = raw[first + half + m - 1, channel], raw[first + half + m + 3, channel]
                twice = 2.0 * period
                rate, second = (later - earlier) / (2.0 * twice), ((later - here) - (here - earlier)) / (twice * twice)
                signals[m, channel, RATE] += RICHARDSON * (signals[m, channel, RATE] - rate)
                signals[m, channel, SECOND] += RICHARDSON * (signals[m, channel, SECOND] - second)


@inline
def _move_up(values: Floats, passed: int, count: int) -> None:
    """Move rows of an array, so many after the first `passed` ones, to its front."""
    flat = as_vector(values)
    width = len(flat) // len(values)
    for i in range(count * width):
        flat[i] = flat[passed * width + i]


@inline
def _carry(passed: int, former: RowFormer) -> int:
    """Move the instants after the first `passed` ones to the front, with their rows; returns how many are known.

    Windows overlap: of the instants of the next one most are known already, and depend on the same raw rows.
    """
    known = max(former.known - passed, 0)
    _move_up(former.formed.signals, passed, known)
    _move_up(former.phi, passed, known)
    _move_up(former.y, passed, known)
    return known


@inline
def take(time: Nanoseconds, values: Floats, former: RowFormer) -> int:
    """Append raw rows, observe what the windows need that are due; returns how many windows.

    time (n,) ns; values (n, channels).
    """
    count = _push(time, values, former)
    if count > 0:
        due = former.due
        first = due[0, 0] - former.support + 1
        begin = former.seen - former.filled + first
        known = _carry(begin - former.begin, former)
        former.begin, former.known = begin, known
        former.instants = due[count - 1, 0] - first + 1 - 2 * (len(former.argument_taps) // 2 + 1)
        signals = former.formed.signals[known : former.instants]
        _observe(former.raw, first + known, former.argument_taps, former, signals)
    return count


@kernel(("i8[::1]", "f8[:, ::1]", RowFormer))
def take_rows(time: Nanoseconds, values: Floats, former: RowFormer) -> int:
    """Call the kernel `take` from Python."""
    return take(time, values, former)


@inline
def _sample(signals: Floats, start: int, blocks: Floats, samples: Floats) -> None:
    """What each law saw under the kernel of one row; blocks: (blocks, 4), samples: (blocks · ARGUMENTS, taps)."""
    for block in range(len(blocks)):
        motion, load = int(blocks[block, MOTION_CHANNEL]), int(blocks[block, LOAD_CHANNEL])
        here = samples[block * ARGUMENTS : (block + 1) * ARGUMENTS]
        for k in range(samples.shape[1]):
            here[VELOCITY, k] = blocks[block, MOTION_SCALE] * signals[start + k, motion, SMOOTH_RATE]
            here[POSITION, k] = blocks[block, MOTION_SCALE] * signals[start + k, motion, SMOOTH]
            here[LOAD, k] = blocks[block, LOAD_SCALE] * signals[start + k, load, SMOOTH]


@inline
def _reduce(count: int, former: RowFormer) -> int:
    """Pass the full-rate rows through g at the due instants; a row whose every output is masked is left out."""
    formed, y, phi, slopes = former.formed, former.y, former.phi, former.slope_taps
    rows, g, signals, starts = formed.rows, formed.taps, formed.signals, formed.starts
    joints, due = former.joints, former.due
    out_phi, out_y, out_speed, out_motion = rows.phi, rows.y, rows.speed, rows.motion
    kept = 0
    for i in range(count):
        start = due[i, 0] - due[0, 0]  # the full-rate row under g[0]
        whole = False
        for o in range(y.shape[1]):
            total = 0.0
            for k in range(len(g)):
                total += g[k] * y[start + k, o]
            out_y[kept, o] = total
            masked = np.isnan(total)
            whole = whole or not masked
            for c in range(phi.shape[2]):
                out_phi[kept, o, c] = np.nan if masked else 0.0
            if not masked:
                for k in range(len(g)):
                    for c in range(phi.shape[2]):
                        out_phi[kept, o, c] += g[k] * phi[start + k, o, c]
        for j in range(len(joints)):
            square = place = rate = 0.0
            for k in range(len(g)):
                square += g[k] * signals[start + k, joints[j], SMOOTH_RATE] ** 2
                place += g[k] * signals[start + k, joints[j], SMOOTH]
                rate += g[k] * signals[start + k, joints[j], SMOOTH_RATE]
            out_speed[kept, j] = np.sqrt(square)
            out_motion[kept, j, PLACE], out_motion[kept, j, SPEED] = place, rate
            out_motion[kept, j, WEIGHT], out_motion[kept, j, SLOPE] = 1.0, 0.0
            out_motion[kept, j, ROUNDING], out_motion[kept, j, MOST] = rounding.of_row(
                former.steps[j], former.beats, former.period, signals[start : start + len(g), joints[j], SMOOTH_RATE],
                signals[start : start + len(g), joints[j], SECOND],
            )  # fmt: skip
        for o in range(y.shape[1]):
            slope = 0.0
            for k in range(len(g)):
                slope += slopes[k] * y[start + k, o]
            if np.isfinite(slope):
                out_motion[kept, formed.owners[o], SLOPE] += slope * slope
        if whole:
            starts[kept] = start
            if rows.samples.shape[2] > 0:
                _sample(signals, start, former.blocks, rows.samples[kept])
            rows.time[kept] = due[i, 1] - former.delay
            kept += 1
    former.left += kept
    former.masked += count - kept
    return kept


@inline
def form(count: int, former: RowFormer) -> int:
    """Leave the rows of the windows that `take` has found due in `rows`; returns how many rows."""
    known, length = former.known, former.instants
    fill_rows(
        former.fill, former.formed.signals[known:length], former.eta, former.terms, former.phi[known:length],
        former.y[known:length],
    )  # fmt: skip
    former.known = length
    return _reduce(count, former)


@kernel(("i8", RowFormer))
def form_rows(count: int, former: RowFormer) -> int:
    """Call the kernel `form` from Python."""
    return form(count, former)
