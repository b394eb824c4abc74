"""The compiled half of a Conditioner: raw rows kept, observed, and passed through the kernel (see conditioner.py)."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.conditioning import rounding
from estimators.models.filler import FILL, fill_rows
from estimators.numerics.jit import inline, kernel
from estimators.numerics.parcel import TABLE, Table, cube, function, inner, integer_matrix, integers, matrix, vector
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
)

GAP: Final = 0.5  # periods by which a step in time may differ from the period before it counts as a gap

# the integer state of a Conditioner; LENGTH: instants at the full rate, of what is due
FILLED, CLEAN, SEEN, LAST, DROPPED, GAPS, LENGTH, LEFT, MASKED, STATES = range(10)
# of its parcel; its places: raw rows that a window has, rows from one to the next, whether models are filled in a pass
TAPS, PERIOD, SLOPES, ARGUMENT_TAPS, SMOOTHED, ETA = range(6)
OBSERVED_Y, LATTICES, RAW, BLOCKS, ROWS_Y, ROWS_SPEED = range(6)
OBSERVED, OBSERVED_PHI, ROWS_PHI, ROWS_MOTION, ROWS_SAMPLES = range(5)
JOINTS, LATER, OWNERS, STATE, CADENCE, STARTS, ROWS_TIME = range(7)
DUE: Final = 0
MODEL: Final = 0
SUPPORT, DECIMATION, FILLED_HERE, CADENCES = range(4)
# of a block of a model: channels, and what they are multiplied with before its law sees them
MOTION_CHANNEL, LOAD_CHANNEL, MOTION_SCALE, LOAD_SCALE = range(4)


@inline
def _push(
    time: Nanoseconds,
    values: Floats,
    period: float,
    support: int,
    decimation: int,
    raw: Floats,
    due: NDArray[np.int64],
    state: NDArray[np.int64],
) -> int:
    """Append rows to raw; write (last row, its time) of every whole window that ends in a due row; return how many."""
    filled = state[FILLED]
    if filled + len(time) > len(raw):
        keep = support - 1
        for row in range(keep):
            for channel in range(raw.shape[1]):
                raw[row, channel] = raw[filled - keep + row, channel]
        filled = keep
    count = 0
    for row in range(len(time)):
        step = time[row] - state[LAST]
        if state[SEEN] > 0 and abs(step - period) > GAP * period:
            state[CLEAN] = 0
            state[GAPS] += 1
        state[LAST] = time[row]
        state[SEEN] += 1
        state[CLEAN] += 1
        for channel in range(raw.shape[1]):
            value = values[row, channel]
            raw[filled, channel] = value
            if not np.isfinite(value):
                state[CLEAN] = 0
        if state[SEEN] >= support and (state[SEEN] - support) % decimation == 0:
            if state[CLEAN] >= support:
                due[count, 0] = filled
                due[count, 1] = time[row]
                count += 1
            else:
                state[DROPPED] += 1
        filled += 1
    state[FILLED] = filled
    return count


@inline
def _observe(raw: Floats, first: int, g: Floats, period: float, smooth: Floats, signals: Floats) -> None:
    """Fill signals from raw[first:]; row 0 of signals is the instant first + K + 1. smooth is scratch."""
    half = len(g) // 2
    length = len(signals)
    for channel in range(raw.shape[1]):
        for m in range(length + 2):  # s at the instants first + K + m
            s = 0.0
            for k in range(len(g)):
                s += g[k] * raw[first + m + k, channel]
            smooth[m] = s
        for m in range(length):
            before = raw[first + half + m, channel]
            here = raw[first + half + m + 1, channel]
            after = raw[first + half + m + 2, channel]
            signals[m, channel, VALUE] = here
            signals[m, channel, RATE] = (after - before) / (2.0 * period)
            signals[m, channel, SECOND] = ((after - here) - (here - before)) / (period * period)
            signals[m, channel, SMOOTH] = smooth[m + 1]
            signals[m, channel, SMOOTH_RATE] = (smooth[m + 2] - smooth[m]) / (2.0 * period)


@kernel(f"i8(Array(i8, 1, 'A', readonly=True), Array(f8, 2, 'A', readonly=True), {TABLE})")  # views of a message
def take(time: Nanoseconds, values: Floats, table: Table) -> int:
    """Append rows to raw, observe what the windows need that are due; returns how many; table: of a Conditioner.

    state[LENGTH]: rows of signals that were filled.
    """
    raw, due, state = matrix(table, RAW), integer_matrix(table, DUE), integers(table, STATE)
    g, cadence, period = vector(table, ARGUMENT_TAPS), integers(table, CADENCE), vector(table, PERIOD)[0]
    count = _push(time, values, period * 1e9, cadence[SUPPORT], cadence[DECIMATION], raw, due, state)
    if count > 0:
        first = due[0, 0] - cadence[SUPPORT] + 1
        state[LENGTH] = due[count - 1, 0] - first + 1 - 2 * (len(g) // 2 + 1)
        _observe(raw, first, g, period, vector(table, SMOOTHED), cube(table, OBSERVED)[: state[LENGTH]])
    return count


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


@kernel("i8(i8, i8[::1], f8[:, :, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1], f8[:, :, ::1], " + TABLE + ")")
def reduce(
    count: int,
    out_time: Nanoseconds,
    out_phi: Floats,
    out_y: Floats,
    out_speed: Floats,
    out_samples: Floats,
    out_motion: Floats,
    table: Table,
) -> int:
    """Pass the full-rate rows through g at the due instants; a row whose every output is masked is left out.

    out_samples: (count, blocks · ARGUMENTS, taps); table: of a Conditioner, where STARTS then has the full-rate row
    under g[0] of each row that is kept.
    """
    g, y = vector(table, TAPS), matrix(table, OBSERVED_Y)
    signals, phi = cube(table, OBSERVED), cube(table, OBSERVED_PHI)
    joints, delay, due = integers(table, JOINTS), integers(table, LATER)[0], integer_matrix(table, DUE)
    period, lattices = vector(table, PERIOD)[0], matrix(table, LATTICES)
    slopes, owners, state = vector(table, SLOPES), integers(table, OWNERS), integers(table, STATE)
    blocks, starts = matrix(table, BLOCKS), integers(table, STARTS)
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
                lattices[j], period, signals[start : start + len(g), joints[j], SMOOTH_RATE],
                signals[start : start + len(g), joints[j], SECOND],
            )  # fmt: skip
        for o in range(y.shape[1]):
            slope = 0.0
            for k in range(len(g)):
                slope += slopes[k] * y[start + k, o]
            if np.isfinite(slope):
                out_motion[kept, owners[o], SLOPE] += slope * slope
        if whole:
            starts[kept] = start
            if out_samples.shape[2] > 0:
                _sample(signals, start, blocks, out_samples[kept])
            out_time[kept] = due[i, 1] - delay
            kept += 1
    state[LEFT] += kept
    state[MASKED] += count - kept
    return kept


@kernel(f"i8(i8, {TABLE})")
def form(count: int, table: Table) -> int:
    """Leave the rows of as many windows as are due in `formed`; returns how many, -1 where a pass cannot.

    table: of a Conditioner.
    """
    if integers(table, CADENCE)[FILLED_HERE] == 0 or count > len(integers(table, ROWS_TIME)):
        return -1
    length, model = integers(table, STATE)[LENGTH], inner(table, MODEL)
    fill_rows(
        function(model, FILL), cube(table, OBSERVED)[:length], vector(table, ETA), model,
        cube(table, OBSERVED_PHI)[:length], matrix(table, OBSERVED_Y)[:length],
    )  # fmt: skip
    return int(
        reduce(
            count, integers(table, ROWS_TIME), cube(table, ROWS_PHI), matrix(table, ROWS_Y), matrix(table, ROWS_SPEED),
            cube(table, ROWS_SAMPLES), cube(table, ROWS_MOTION), table,
        )
    )  # fmt: skip
