"""Encoder steps: finds them in the readings, and computes the noise that they add to products of columns.

A step Δ is white noise of variance Δ²/12 a sample (period T) where the joint moves on. Through a Hann kernel of half
width H its second derivative has the variance Δ²/12 · T π⁴/(4 H⁵): 12 bits at 1 kHz and 20 ms 1.2 rad/s², at 100 ms
0.02. Such noise in a column pulls its parameter towards zero (errors in variables).
"""

import math
from copy import copy
from typing import Any, Final, Self

import numpy as np

from estimators.models.base import Model
from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats, Nanoseconds
from estimators.rows import RATE, SECOND, SIGNALS, VALUE
from jointwatch_numba.layout import Layout, Vector

#: 1, argued: Share of the inertia by which steps may bias it before `check` remarks on the configuration.
HARMLESS: Final = 0.01
#: rad/s² (m/s²), tuned: Noise of the smoothed acceleration that the kernel's width leaves; 16, 14 and 12 bits at 1 kHz
#: (decision 014, points 1 and 2).
CALM: Final = 0.012
#: moves, argued: Moves of an encoder from which its step is known: within a second of motion.
ENOUGH: Final = 240
#: rows, argued: Rows in motion from which it is known how unevenly they are sampled.
TIMED: Final = 2000
#: 1, argued: Share of moves that must be whole steps; the rest may be missed samples.
WHOLE: Final = 0.95
#: steps, argued: A move that is this near to a whole number of steps is one.
NEARLY: Final = 0.05
#: s, argued: Half width of a kernel at most: the motion of a joint that swings at 1 Hz still passes.
WIDEST: Final = 0.5
#: 1, argued: Share of the least move below which no step is looked for: one twentieth would be reported as a whole step
#: (NEARLY).
COARSE: Final = 0.05
#: rad (m), derived: A smaller move is rounding.
FINEST: Final = 1e-9


class EncoderMoves(Layout):
    """Sizes of the moves in the readings of one encoder."""

    channel: int
    moves: Vector  # (ENOUGH,) rad (m)
    last: float = math.nan  # reading
    count: int = 0  # number of moves
    since: int = 0  # ns, of the last of them


class EncoderSteps:
    """Finds the step of one channel in its readings."""

    def __init__(self, channel: int = 0) -> None:
        self.state = EncoderMoves(channel=channel, moves=np.zeros(ENOUGH))
        self.step = 0.0  # rad (m); 0 while unknown, or where there is none
        self.known = False
        self._seen = -1  # ns

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        """An independent copy: a layout is copied by its values, never by its addresses."""
        other = copy(self)
        other.state = self.state.copied()
        return other

    @property
    def since(self) -> int:
        """ns, the reading by which the step was known."""
        return self.state.since

    def absorb(self, time: Nanoseconds, column: Floats) -> bool:
        """Look at readings that are new; returns whether the step has just been found. Batches may be cut anywhere."""
        if self.known or not len(time):
            return False
        fresh = int(np.searchsorted(time, self._seen, "right")) if self._seen >= 0 else 0
        self._seen = max(self._seen, int(time[-1]))
        _move(time[fresh:], column[fresh:], self.state)
        return self.judged() and self.step > 0.0

    def judged(self) -> bool:
        """Whether enough moves have been seen to know the step."""
        if self.known or self.state.count < ENOUGH:
            return self.known
        self.known, moves = True, self.state.moves
        apart = np.diff(np.sort(moves))  # a joint in motion may never have moved by a single one
        step = float(min(moves.min(), apart[apart > FINEST].min(initial=np.inf)))
        while (parts := np.abs(moves / step - np.round(moves / step))).max() >= NEARLY and step >= COARSE * moves.min():
            if (parts < NEARLY).mean() >= WHOLE:
                break
            step *= float(parts[parts >= NEARLY].min())  # Euclid: what whole steps leave is a whole number of true ones
        self.step = step if (parts < NEARLY).mean() >= WHOLE else 0.0
        return True


@inline
def move(time: int, reading: float, state: EncoderMoves) -> bool:
    """Take the next reading (rad, m); returns whether it completes the moves that are needed."""
    if state.count == len(state.moves) or not np.isfinite(reading):
        return False
    moved = abs(reading - state.last)
    state.last = reading
    if not moved > FINEST:
        return False
    state.moves[state.count] = moved
    state.count += 1
    state.since = time
    return state.count == len(state.moves)


@kernel(("Array(i8, 1, 'A', readonly=True)", "Array(f8, 1, 'A', readonly=True)", EncoderMoves))
def _move(time: Nanoseconds, column: Floats, state: EncoderMoves) -> None:
    for row in range(len(time)):
        move(time[row], column[row], state)


class Unevenness(Layout):
    """Reading errors of one channel because its samples are not equidistant."""

    channel: int
    period: float  # s between samples
    squares: Vector  # (TIMED,) rad² (m²): error of a reading because its sample was late
    count: int = 0  # of them
    last_time: int = 0  # ns
    last: float = math.nan  # rad (m)


class UnevenTime:
    """Finds how unevenly a channel is sampled, as the encoder step that would cause errors of the same size."""

    def __init__(self, period: float, channel: int = 0) -> None:
        """period: s between rows."""
        self.state = Unevenness(channel=channel, period=period, squares=np.zeros(TIMED))
        self.step = 0.0  # rad (m) of an encoder whose errors would be as large, 0 while unknown
        self.known = False

    def absorb(self, time: Nanoseconds, column: Floats) -> bool:
        """Look at rows; returns whether the result has just been found. Batches may be cut anywhere."""
        if self.known:
            return False
        _sample(time, column, self.state)
        return self.judged()

    def judged(self) -> bool:
        """Whether enough samples have been seen in motion.

        Instants off by δ_k move readings by v·δ_k, and steps in time by δ_k − δ_k−1: twice the variance. Δ² = 12 v²δ².
        """
        if not self.known and self.state.count == TIMED:
            self.known, self.step = True, math.sqrt(12.0 * 0.5 * float(np.mean(self.state.squares)))
        return self.known


@inline
def sample(time: int, reading: float, state: Unevenness) -> bool:
    """Take the next sample; returns whether it completes the samples that are needed."""
    if state.count == len(state.squares):
        return False
    late, moved = 1e-9 * (time - state.last_time) - state.period, reading - state.last
    state.last_time, state.last = time, reading
    if not (abs(late) < 0.5 * state.period and abs(moved) > FINEST and np.isfinite(moved)):
        return False
    state.squares[state.count] = (late * moved / state.period) ** 2
    state.count += 1
    return state.count == len(state.squares)


@kernel(("Array(i8, 1, 'A', readonly=True)", "Array(f8, 1, 'A', readonly=True)", Unevenness))
def _sample(time: Nanoseconds, column: Floats, state: Unevenness) -> None:
    for row in range(len(time)):
        sample(time[row], column[row], state)


def half_width(step: float, period: float) -> float:
    """Half width (s) that a kernel needs for this step, WIDEST at most."""
    return min(WIDEST, float((step**2 / 12.0 * period * math.pi**4 / (4.0 * CALM**2)) ** 0.2))


def least_acceleration(step: float, period: float, width: float, share: float = HARMLESS) -> float:
    """Rms acceleration (rad/s², m/s²) of a motion below which the steps bias the inertia by more than this share.

    Errors in variables: least squares find J·a²/(a² + n²), n the noise of the smoothed acceleration; width: s, half.
    """
    noise = math.sqrt(step**2 / 12.0 * period * math.pi**4 / (4.0 * width**5)) if width > 0.0 else math.inf
    return noise * math.sqrt((1.0 - share) / share)


def one_step(taps: Floats, period: float, step: float) -> float:
    """Highest speed (rad/s, m/s) of a row in which the position moves by one step, once: rms under the kernel."""
    rate = np.convolve(taps, (1.0, 1.0)) * step / (2.0 * period)  # of the smoothed position
    return float(np.sqrt(np.convolve(taps, rate**2).max()))


def noise_of(model: Model, taps: Floats, period: float, step: float, channel: int) -> tuple[Floats, Floats]:
    """Products of the noise of one channel's steps in a row.

    Returns N (outputs, parameters, parameters) and n (outputs, parameters). They hold for columns that are linear in
    the position and its derivatives, not for those of a friction law.
    """
    kernels = kernels_of(taps, period)
    shared = step**2 / 12.0 * kernels @ kernels.T
    slopes, own = slopes_of(model, channel)
    return np.einsum("kop,kl,loq->opq", slopes, shared, slopes), np.einsum("kop,kl,lo->op", slopes, shared, own)


def kernels_of(taps: Floats, period: float) -> Floats:
    """Weights of the readings in value, rate and second derivative of a channel: (3, taps + 2)."""
    value = np.pad(taps, 1)
    rate = np.zeros(len(taps) + 2)
    rate[2:] += taps / (2.0 * period)
    rate[:-2] -= taps / (2.0 * period)
    second = np.zeros(len(taps) + 2)
    second[2:] += taps / period**2
    second[:-2] += taps / period**2
    second[1:-1] -= 2.0 * taps / period**2
    return np.stack((value, rate, second))


def accelerates(model: Model, channel: int) -> bool:
    """Whether the second derivative of a channel is in a row."""
    slopes, own = slopes_of(model, channel)
    return bool(slopes[2].any() or own[2].any())


def slopes_of(model: Model, channel: int) -> tuple[Floats, Floats]:
    """∂φ and ∂y by value, rate and second derivative of a channel: (3, outputs, parameters), (3, outputs)."""
    rng = np.random.default_rng(3)
    # 16 more: the channels of stops, which come last if there are any
    channels = max(len(model.channels), 1 + max(one.load for one in model.blocks)) + 16
    signals = np.repeat(rng.uniform(0.5, 1.5, (1, channels, SIGNALS)), 4, axis=0)
    for row, signal in enumerate((VALUE, RATE, SECOND)):
        signals[1 + row, channel, signal] += 1.0
    phi, y = np.zeros((4, len(model.outputs), len(model.parameters))), np.zeros((4, len(model.outputs)))
    model.fill(np.ascontiguousarray(signals), model.start, phi, y)
    return phi[1:] - phi[0], y[1:] - y[0]
