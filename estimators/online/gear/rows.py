"""Samples of a gear between two encoders to rows of its regression, one after the other.

The flat state holds where the filters stand, a block of information that grows, and the last raw samples.
"""

import math
from typing import Final

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

#: s, tuned: Half the window that smooths what decides a sign: origin not recorded.
SMOOTHING: Final = 0.025
#: s, derived: Time after which a low pass with MEMORY_CUTOFF remembers a few per cent.
MEMORY: Final = 0.05
#: Hz, derived: Cut-off frequency that MEMORY is given for; for another one MEMORY scales with its inverse.
MEMORY_CUTOFF: Final = 20.0
#: 1, derived: Highest cut-off over the sampling rate, a little below Nyquist's one half, where the bilinear transform
#: diverges.
HIGHEST_CUTOFF: Final = 0.45

# the flat state: scalars, then A (COLUMNS²), c (COLUMNS), filters (4 per column and one for y), ring of raw samples
SEEN, USED, POSITIVE, TURNS, SIGN, GOOD, PHASE, LEARNT = range(8)
HEADER: Final = 8
CHANNELS: Final = 4
DRY, VISCOUS = 4, 5  # of the kernel's constants


def butterworth(cutoff: float, period: float) -> Floats:
    """b0, b1, b2, a1, a2 of the second-order low pass, bilinear with the cut-off kept."""
    k = math.tan(math.pi * min(cutoff * period, HIGHEST_CUTOFF))
    scale = 1.0 / (1.0 + math.sqrt(2.0) * k + k * k)
    return np.array([k * k, 2 * k * k, k * k, 2 * (k * k - 1.0), 1.0 - math.sqrt(2.0) * k + k * k]) * scale


def windows(half: int, period: float) -> Floats:
    """(3, 2·half + 1): local cubic fit under a Hann window: value, slope (1/s), second derivative (1/s²)."""
    x = np.arange(-half, half + 1) / (half + 1)
    weight = np.cos(0.5 * np.pi * x) ** 2
    powers = np.stack([np.ones_like(x), x, x**2, x**3])
    fitted = np.linalg.solve((powers * weight) @ powers.T, powers * weight)
    unit = (half + 1) * period
    return np.ascontiguousarray(fitted[:3] * np.array([[1.0], [1.0 / unit], [2.0 / unit**2]]))


@inline
def _remember(state: Floats, values: Floats, row: int, place: int, before: int) -> bool:
    """Put a sample into the ring; the one before again, where a value is missing. False: it is missing."""
    finite = True
    for channel in range(values.shape[1]):
        finite = finite and np.isfinite(values[row, channel])
    for channel in range(values.shape[1]):
        state[place + channel] = values[row, channel] if finite else state[before + channel]
    return bool(finite)


@inline
def _smooth(state: Floats, windows: Floats, ring: int, oldest: int) -> tuple[float, float, float]:
    """The link's angle, the motor's velocity and acceleration in the middle of the ring."""
    velocity = acceleration = angle = 0.0
    size = windows.shape[1]
    for k in range(size):
        at = ring + CHANNELS * ((oldest + k) % size)
        angle += windows[0, k] * state[at + 1]
        velocity += windows[1, k] * state[at]
        acceleration += windows[2, k] * state[at]
    return angle, velocity, acceleration


@inline
def _low_pass(state: Floats, at: int, x: float, begins: bool, constants: Floats) -> float:
    """The next value of a filter whose x₋₁, x₋₂, y₋₁, y₋₂ stand at `at`."""
    b0, b1, b2, a1, a2 = constants[-5:]
    if begins:
        state[at : at + 4] = x
    y = b0 * x + b1 * state[at] + b2 * state[at + 1] - a1 * state[at + 2] - a2 * state[at + 3]
    state[at + 1], state[at] = state[at], x
    state[at + 3], state[at + 2] = state[at + 2], y
    return float(y)


@inline
def _learn(state: Floats, column: Floats, load: float) -> None:
    """One row more in the block."""
    first_c = HEADER + COLUMNS * COLUMNS
    for i in range(COLUMNS):
        for j in range(COLUMNS):
            state[HEADER + COLUMNS * i + j] += column[i] * column[j]
        state[first_c + i] += column[i] * column[COLUMNS]
    state[USED] += 1.0
    state[LEARNT] += 1.0
    if load > 0.0:
        state[POSITIVE] += 1.0


@kernel("i8(Array(i8, 1, 'A', readonly=True), i8, i8, f8)")
def unbroken(time: NDArray[np.int64], first: int, before: int, step: float) -> int:
    """The row (ns) behind those that follow one upon the other from `first` on; before: ns, of the one before it, 0 for
    none; step: ns."""
    for row in range(first, len(time)):
        if before > 0 and abs(time[row] - before - step) > 0.5 * step:
            return row
        before = time[row]
    return len(time)


@kernel("i8(f8[::1], f8[::1], f8[:, ::1], f8[:, ::1], i8)")
def absorb(state: Floats, constants: Floats, windows: Floats, values: Floats, most: int) -> int:
    """Samples until the end, or until the block has `most` rows; returns how many were taken."""
    J_m, J_l, gravity, N, dry, viscous, band, small, still, memory, every, loaded, dt = constants[:13]
    size = windows.shape[1]
    half = size // 2
    filters = HEADER + COLUMNS * COLUMNS + COLUMNS
    ring = filters + 4 * (COLUMNS + 1)
    column = np.empty(COLUMNS + 1)
    for row in range(len(values)):
        seen = int(state[SEEN])
        if not _remember(state, values, row, ring + CHANNELS * (seen % size), ring + CHANNELS * ((seen - 1) % size)):
            if seen == 0:
                continue
            state[GOOD] = -float(size)
        state[SEEN] += 1
        if seen + 1 < size:
            continue
        angle, velocity, acceleration = _smooth(state, windows, ring, seen + 1)
        middle = ring + CHANNELS * ((seen + 1 + half) % size)
        early = ring + CHANNELS * ((seen + half) % size)
        late = ring + CHANNELS * ((seen + 2 + half) % size)
        motor = state[middle]
        if loaded > 0.0:
            load, needed = state[middle + 3], band
        else:
            inertial, weight = J_l * acceleration, gravity * np.sin(angle)
            load, needed = inertial - weight, max(band, KNOWN * (abs(inertial) + abs(weight)))
            if load * velocity < 0.0:
                needed += dry + viscous * abs(velocity)
        second = (state[late] - 2.0 * motor + state[early]) / (dt * dt)
        column[ONE] = 1.0
        column[TORQUE] = state[middle + 2] - J_m * second
        column[SPEED] = (state[late] - state[early]) / (2.0 * dt)
        column[FRICTION] = -np.sign(velocity)
        column[COS2], column[SIN2] = np.cos(2 * N * motor), np.sin(2 * N * motor)
        column[COS1], column[SIN1] = np.cos(N * motor), np.sin(N * motor)
        column[GAP] = np.sign(load)
        column[NEAR] = np.sign(load) if abs(load) < small else 0.0
        column[LOAD] = load
        column[COLUMNS] = motor - state[middle + 1]
        for j in range(COLUMNS + 1):
            column[j] = _low_pass(state, filters + 4 * j, column[j], seen + 1 == size, constants)
        if abs(load) < needed or abs(velocity) < still:
            state[GOOD] = min(state[GOOD], 0.0)
        state[GOOD] += 1.0
        if abs(load) >= needed:
            sign = np.sign(load)
            if state[SIGN] * sign < 0.0:
                state[TURNS] += 1.0
            state[SIGN] = sign
        state[PHASE] += 1.0
        if state[PHASE] < every:
            continue
        state[PHASE] = 0.0
        if state[GOOD] <= memory:
            continue
        _learn(state, column, load)
        if state[USED] >= most:
            return row + 1
    return len(values)
