"""Rows for the signature of a joint: smoothed position, speed, acceleration, torque and twist, fifty a second.

All come through one Gaussian kernel and its derivatives, so that a linear relation between them stays one. A kernel of
10 ms passes 13 Hz, which is where the drives' own bandwidth ends.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats, Nanoseconds
from jointwatch_numba.layout import Integers, Layout, Matrix

#: s, argued: Standard deviation of the kernel: 13 Hz pass, about what a position controller lets through.
SMOOTH: Final = 0.010
#: s, argued: Time between two rows: twice the kernel's deviation, so that neighbours are nearly independent.
ROW: Final = 0.020
#: deviations, argued: Where the kernel ends: 0.3 % of it lie beyond.
TAIL: Final = 3.0
#: samples, argued: Least deviation of the kernel, so that slow channels have derivatives as well.
FEWEST: Final = 2.0
#: s, argued: Samples that are turned into rows at once.
CHUNK: Final = 1.0
#: periods, argued: A step in time beyond this is a gap, over which no row is formed.
GAP: Final = 1.5


class SignatureRows(NamedTuple):
    """Rows of one joint, one after the other, each (rows,)."""

    time: Floats  # s
    q: Floats  # rad (m)
    v: Floats
    a: Floats
    y: Floats  # torque, N·m (N)
    twist: Floats  # position less link position; NaN where the joint has one encoder
    bend: Floats  # its second derivative; 0 there

    def part(self, which: "slice | NDArray[np.bool_]") -> "SignatureRows":
        """Some of the rows."""
        return SignatureRows(*(one[which] for one in self))

    @classmethod
    def joined(cls, parts: "list[SignatureRows]") -> "SignatureRows":
        """Rows one after the other."""
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class StoredSamples(Layout):
    """Samples of one joint that wait for others to form rows with."""

    columns: Integers  # of the samples, that are stored
    times: Integers  # (room,) ns
    values: Matrix  # (room, columns)
    count: int = 0


class SignatureFormer:
    """Turns equidistant samples into rows, a chunk at a time."""

    def __init__(self, period: float, columns: tuple[int, int, int | None], place: float = 0.0) -> None:
        """period: s between samples; columns: of position, torque and (None: without) link position in the samples;
        place: share of a chunk by which the first one is shorter, so that joints that begin together are not all due
        together. The rows are the same."""
        self._period, self._columns = period, [one for one in columns if one is not None]
        deviation = max(SMOOTH / period, FEWEST)
        self._half = int(np.ceil(TAIL * deviation))
        at = np.arange(-self._half, self._half + 1)
        kernel = np.exp(-0.5 * (at / deviation) ** 2)
        kernel /= kernel.sum()
        slope = at * kernel / (at**2 * kernel).sum()  # exact for straight lines …
        curve = (at**2 - (at**2 * kernel).sum()) * kernel
        curve /= 0.5 * (curve * at**2).sum()  # … and for parabolas
        self._taps = np.stack([kernel, slope / period, curve / period**2])
        self._step = max(1, round(ROW / period))
        self._whole = round(CHUNK / period) + 2 * self._half  # samples that make a whole chunk of rows
        self.chunk = round((1.0 - place) * CHUNK / period) + 2 * self._half  # samples that make the next chunk
        width = len(self._columns)
        self._room = 0  # samples that there is room for
        self.state = StoredSamples(
            columns=np.array(self._columns, np.int64), times=np.zeros(0, np.int64), values=np.zeros((0, width))
        )
        self.reserve(self.chunk)

    @property
    def full(self) -> bool:
        """Whether there are samples for a chunk of rows."""
        return self.state.count >= self.chunk

    def absorb(self, times: Nanoseconds, values: Floats) -> SignatureRows | None:
        """Take samples (n,) ns, (n, channels); returns the rows of a chunk once it is full."""
        self.reserve(len(times))
        _store(times, np.ascontiguousarray(values), self.state)
        return self.rows() if self.full else None

    def reserve(self, count: int) -> None:
        """Make room for so many samples more."""
        state = self.state
        if state.count + count <= self._room:
            return
        times, values = state.times[: state.count], state.values[: state.count]
        self._room = room = state.count + count + self._whole
        state.times, state.values = np.zeros(room, np.int64), np.zeros((room, len(self._columns)))
        state.times[: len(times)], state.values[: len(times)] = times, values

    def rows(self) -> SignatureRows:
        """The rows of all samples that are stored."""
        state, count = self.state, self.state.count
        rows, used = self._rows(state.times[:count], state.values[:count])
        self.chunk = self._whole
        state.count = left = count - used
        state.times[:left], state.values[:left] = state.times[used:count].copy(), state.values[used:count].copy()
        return rows

    def _rows(self, times: Nanoseconds, values: Floats) -> tuple[SignatureRows, int]:
        """Rows of these samples, and how many samples are not needed any more."""
        centres = np.arange(self._half, len(times) - self._half, self._step)
        found = np.empty((3, len(centres), values.shape[1]))
        span = _smooth(centres, times, np.ascontiguousarray(values), self._taps, found)
        value, slope, curve = found  # each (rows, channels)
        whole = np.isfinite(value).all(axis=1) & (np.abs(span * 1e-9 / self._period - 2 * self._half) < GAP)
        one = values.shape[1] == 2
        twist = np.full(len(centres), np.nan) if one else value[:, 0] - value[:, 2]
        bend = np.zeros(len(centres)) if one else curve[:, 0] - curve[:, 2]
        rows = SignatureRows(
            np.asarray(times[centres] * 1e-9, np.float64),
            value[:, 0],
            slope[:, 0],
            curve[:, 0],
            value[:, 1],
            twist,
            bend,
        )
        return rows.part(whole), int(centres[-1]) + self._step - self._half


@kernel("i8[::1](i8[::1], i8[::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1])")
def _smooth(centres: Integers, times: Nanoseconds, values: Floats, taps: Floats, found: Floats) -> Nanoseconds:
    """Values and their two derivatives at these samples; returns the time (ns) that each was made of.

    centres (rows,): numbers of samples; times (samples,) ns; values (samples, channels); taps (3, samples of a row);
    found (3, rows, channels).
    """
    half = taps.shape[1] // 2
    span = np.empty(len(centres), np.int64)
    for row in range(len(centres)):
        first = centres[row] - half
        span[row] = times[centres[row] + half] - times[first]
        for channel in range(values.shape[1]):
            value = slope = curve = 0.0
            for k in range(taps.shape[1]):
                one = values[first + k, channel]
                value += taps[0, k] * one
                slope += taps[1, k] * one
                curve += taps[2, k] * one
            found[0, row, channel], found[1, row, channel], found[2, row, channel] = value, slope, curve
    return span


@inline
def store_samples(times: Nanoseconds, samples: Floats, state: StoredSamples) -> None:
    """Store samples (n,) ns, (n, channels), for which there is room."""
    for row in range(len(times)):
        state.times[state.count] = times[row]
        for at in range(len(state.columns)):
            state.values[state.count, at] = samples[row, state.columns[at]]
        state.count += 1


@kernel(("i8[::1]", "f8[:, ::1]", StoredSamples))
def _store(times: Nanoseconds, samples: Floats, state: StoredSamples) -> None:
    store_samples(times, samples, state)
