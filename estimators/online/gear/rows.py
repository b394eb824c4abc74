"""Turns samples of a gear between two encoders into rows of its regression, and sums the rows of a block."""

import math
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from estimators.models.joints.lost_motion import (
    COLUMNS,
    COS1,
    COS2,
    FRICTION,
    GAP,
    KNOWN,
    LOAD,
    NEAR,
    ONE,
    SIN1,
    SIN2,
    SPEED,
    TORQUE,
)
from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from jointwatch_numba.layout import Layout, Matrix, Vector

#: s, tuned: Half the window that smooths a signal of which only the sign is used: origin not recorded.
SMOOTHING: Final = 0.025
#: s, derived: Time after which a low pass with MEMORY_CUTOFF remembers a few per cent.
MEMORY: Final = 0.05
#: Hz, derived: Cut-off frequency that MEMORY is given for; for another one MEMORY scales with its inverse.
MEMORY_CUTOFF: Final = 20.0
#: 1, derived: Highest cut-off over the sampling rate, a little below Nyquist's one half, where the bilinear transform
#: diverges.
HIGHEST_CUTOFF: Final = 0.45

CHANNELS: Final = 4


class GearState(Layout):
    """Constants of a gear, its filters, the last raw samples, and the sums of the block that grows."""

    # constants
    inertia_motor: float  # kg·m², as all constants of the link's side
    inertia_link: float
    gravity: float  # N·m
    ratio: float  # of the gear
    band: float  # N·m, below which the load's sign is not used
    small: float  # N·m, below which a load counts as small
    still: float  # rad/s, below which the motor's direction is not known
    memory: float  # samples that the low pass remembers
    every: int  # samples from one row to the next
    loaded: bool  # whether the load is measured
    period: float  # s between samples
    low_pass: Vector  # (5,) see butterworth
    windows: Matrix  # (3, size) see numerics/local_cubic.py
    dry: float = 0.0  # N·m, friction of the link that is allowed for
    viscous: float = 0.0  # N·m·s/rad
    # state of the filters
    seen: int = 0  # samples since the last break
    phase: int = 0  # samples since the last row
    good: float = 0.0  # samples for which direction and load's sign have been known
    sign: float = 0.0  # of the last load whose sign was used
    samples: Annotated[Matrix, "size", "channels"]  # ring of raw samples
    filters: Annotated[Matrix, "columns + 1", "4"]  # x₋₁, x₋₂, y₋₁, y₋₂ of each column, y last
    # the block
    information: Annotated[Matrix, "columns", "columns"]
    moments: Annotated[Vector, "columns"]
    used: int = 0  # rows
    positive: int = 0  # rows of positive load
    turns: int = 0  # reversals of the load

    def restart(self) -> None:
        """Forget the samples: the next ones do not follow them."""
        self.seen, self.phase, self.good, self.sign = 0, 0, 0.0, 0.0

    def begin_block(self) -> None:
        """Set the sums of the block to zero."""
        self.information[:] = 0.0
        self.moments[:] = 0.0
        self.used = self.positive = self.turns = 0


def butterworth(cutoff: float, period: float) -> Floats:
    """Return b0, b1, b2, a1, a2 of the second-order low pass: bilinear transform with the cut-off (Hz) kept."""
    k = math.tan(math.pi * min(cutoff * period, HIGHEST_CUTOFF))
    scale = 1.0 / (1.0 + math.sqrt(2.0) * k + k * k)
    return np.array([k * k, 2 * k * k, k * k, 2 * (k * k - 1.0), 1.0 - math.sqrt(2.0) * k + k * k]) * scale


@inline
def _remember(state: GearState, sample: Floats, row: int, before: int) -> bool:
    """Put a sample into a row of the ring; returns whether it is whole. Otherwise the one before is repeated."""
    finite = True
    for channel in range(len(sample)):
        finite = finite and np.isfinite(sample[channel])
    for channel in range(len(sample)):
        state.samples[row, channel] = sample[channel] if finite else state.samples[before, channel]
    return bool(finite)


@inline
def _smooth(state: GearState, oldest: int) -> tuple[float, float, float]:
    """Return the link's angle, the motor's velocity and acceleration in the middle of the ring."""
    velocity = acceleration = angle = 0.0
    windows, samples = state.windows, state.samples
    size = windows.shape[1]
    for k in range(size):
        at = (oldest + k) % size
        angle += windows[0, k] * samples[at, 1]
        velocity += windows[1, k] * samples[at, 0]
        acceleration += windows[2, k] * samples[at, 0]
    return angle, velocity, acceleration


@inline
def _low_pass(x: float, begins: bool, constants: Floats, memory: Floats) -> float:
    """Return the next value of a filter; memory: its x₋₁, x₋₂, y₋₁, y₋₂."""
    b0, b1, b2, a1, a2 = constants[0], constants[1], constants[2], constants[3], constants[4]
    if begins:
        memory[:] = x
    y = b0 * x + b1 * memory[0] + b2 * memory[1] - a1 * memory[2] - a2 * memory[3]
    memory[1], memory[0] = memory[0], x
    memory[3], memory[2] = memory[2], y
    return float(y)


@inline
def _load(state: GearState, middle: int, oldest: int) -> tuple[float, float, float]:
    """Return the gear's load, the load that gives its sign, and the motor's velocity."""
    angle, velocity, acceleration = _smooth(state, oldest)
    if state.loaded:
        return state.samples[middle, 3], state.band, velocity
    inertial, weight = state.inertia_link * acceleration, state.gravity * np.sin(angle)
    load, needed = inertial - weight, max(state.band, KNOWN * (abs(inertial) + abs(weight)))
    if load * velocity < 0.0:
        needed += state.dry + state.viscous * abs(velocity)
    return load, needed, velocity


@inline
def _fill(state: GearState, middle: int, load: float, velocity: float, column: Floats) -> None:
    """Write the unfiltered columns of the regression, and y last, for the sample in the middle of the ring."""
    samples, size, N, dt = state.samples, len(state.samples), state.ratio, state.period
    motor, early, late = samples[middle, 0], samples[(middle - 1) % size, 0], samples[(middle + 1) % size, 0]
    second = (late - 2.0 * motor + early) / (dt * dt)
    column[ONE] = 1.0
    column[TORQUE] = samples[middle, 2] - state.inertia_motor * second
    column[SPEED] = (late - early) / (2.0 * dt)
    column[FRICTION] = -np.sign(velocity)
    column[COS2], column[SIN2] = np.cos(2 * N * motor), np.sin(2 * N * motor)
    column[COS1], column[SIN1] = np.cos(N * motor), np.sin(N * motor)
    column[GAP] = np.sign(load)
    column[NEAR] = np.sign(load) if abs(load) < state.small else 0.0
    column[LOAD] = load
    column[COLUMNS] = motor - samples[middle, 1]


@inline
def _learn(state: GearState, column: Floats, load: float) -> None:
    """Add a row to the block."""
    for i in range(COLUMNS):
        for j in range(COLUMNS):
            state.information[i, j] += column[i] * column[j]
        state.moments[i] += column[i] * column[COLUMNS]
    state.used += 1
    state.positive += load > 0.0


@kernel("i8(Array(i8, 1, 'A', readonly=True), i8, i8, f8)")
def unbroken(time: NDArray[np.int64], first: int, before: int, step: float) -> int:
    """Return the first row after an unbroken stretch that begins at `first`.

    time: (rows,) ns; before: ns of the row before it, 0 for none; step: ns between rows.
    """
    for row in range(first, len(time)):
        if before > 0 and abs(time[row] - before - step) > 0.5 * step:
            return row
        before = time[row]
    return len(time)


@kernel(("f8[:, ::1]", "i8", GearState))
def absorb(values: Floats, most: int, state: GearState) -> int:
    """Take samples until the end, or until the block has `most` rows; returns how many were taken."""
    size = len(state.samples)
    half, column = size // 2, np.empty(COLUMNS + 1)
    for row in range(len(values)):
        seen = state.seen
        if not _remember(state, values[row], seen % size, (seen - 1) % size):
            if seen == 0:
                continue
            state.good = -float(size)
        state.seen += 1
        if seen + 1 < size:
            continue
        middle = (seen + 1 + half) % size
        load, needed, velocity = _load(state, middle, seen + 1)
        _fill(state, middle, load, velocity, column)
        for j in range(COLUMNS + 1):
            column[j] = _low_pass(column[j], seen + 1 == size, state.low_pass, state.filters[j])
        if abs(load) < needed or abs(velocity) < state.still:
            state.good = min(state.good, 0.0)
        state.good += 1.0
        if abs(load) >= needed:
            sign = np.sign(load)
            state.turns += state.sign * sign < 0.0
            state.sign = sign
        state.phase += 1
        if state.phase < state.every:
            continue
        state.phase = 0
        if state.good <= state.memory:
            continue
        _learn(state, column, load)
        if state.used >= most:
            return row + 1
    return len(values)
