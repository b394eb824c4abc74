"""Causal low-passes for many channels at once: one with its derivatives, and one that makes no reversal of its own.

The first is a Butterworth of second order, trapezoidal:

    ÿ = ω²(u − y) − √2 ω ẏ

y, ẏ and ÿ of one channel share one response, so a torque and the motion that causes it stay in step. But y goes back by
4 % of each step of an encoder, and by more where there are few samples in 1/ω. What remembers reversals follows the
second one: two equal real poles at √2 ω have the same delay and the same noise, and no weight of theirs is negative.
Between two samples u is a straight line.
"""

import numpy as np

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats

STATES = 3  # y, ẏ and the last input, of all channels each


class LowPassState:
    """Keeps the state of every channel."""

    def __init__(self, channels: int, cutoff: float, period: float) -> None:
        """cutoff: Hz; period: s between rows."""
        self.state = np.full((STATES, channels), np.nan)
        self.omega, self._period = 2.0 * np.pi * cutoff, period

    def restart(self) -> None:
        """The next row is where every channel rests."""
        self.state[:] = np.nan


class CausalLowPass(LowPassState):
    """Passes values with two derivatives."""

    def absorb(self, values: Floats) -> tuple[Floats, Floats, Floats]:
        """Rows (rows, channels), finite → value, rate and second derivative of what passes, each of that shape."""
        out = np.empty((3, *values.shape))
        _low_pass(np.ascontiguousarray(values), self.omega, self._period, self.state, out)
        return out[0], out[1], out[2]


class MonotoneLowPass(LowPassState):
    """Passes values: where they only rise, what passes only rises, too."""

    def absorb(self, values: Floats) -> Floats:
        """Rows (rows, channels), finite → what passes, of that shape."""
        out = np.empty(values.shape)
        _monotone_low_pass(np.ascontiguousarray(values), self.omega, self._period, self.state, out)
        return out


@inline
def low_pass(values: Floats, omega: float, period: float, state: Floats, out: Floats) -> None:
    """Write value, rate and second derivative of rows, (3, rows, channels), and go on from state (STATES, channels)."""
    half = 0.5 * period
    damping, gain = np.sqrt(2.0) * omega, half * omega * omega
    turn = half * damping + (half * omega) ** 2
    y, rate, last = state
    for row in range(len(values)):
        for c in range(values.shape[1]):
            if np.isnan(y[c]):
                y[c], rate[c], last[c] = values[row, c], 0.0, values[row, c]
        for c in range(values.shape[1]):
            u = values[row, c]
            fresh = (rate[c] * (1.0 - turn) + gain * (last[c] + u - 2.0 * y[c])) / (1.0 + turn)
            place = y[c] + half * (rate[c] + fresh)
            y[c], rate[c], last[c] = place, fresh, u
            out[0, row, c], out[1, row, c] = place, fresh
            out[2, row, c] = omega * omega * (u - place) - damping * fresh


@kernel("void(f8[:, ::1], f8, f8, f8[:, ::1], f8[:, :, ::1])")
def _low_pass(values: Floats, omega: float, period: float, state: Floats, out: Floats) -> None:
    low_pass(values, omega, period, state, out)


@inline
def monotone_low_pass(values: Floats, omega: float, period: float, state: Floats, out: Floats) -> None:
    """Write the first channels of rows to out (rows, channels), and go on from state (STATES, channels)."""
    reach = np.sqrt(2.0) * omega * period
    kept = np.exp(-reach)
    fresh = 1.0 - (1.0 - kept) / reach  # weights of this input, of the last one, and of what was there: all positive
    former = 1.0 - kept - fresh
    y, first, last = state
    for row in range(len(values)):
        for c in range(out.shape[1]):
            u = values[row, c]
            if np.isnan(y[c]):
                y[c], first[c], last[c] = u, u, u
            between = kept * first[c] + former * last[c] + fresh * u
            y[c] = kept * y[c] + former * first[c] + fresh * between
            first[c], last[c] = between, u
            out[row, c] = y[c]


@kernel("void(f8[:, ::1], f8, f8, f8[:, ::1], f8[:, ::1])")
def _monotone_low_pass(values: Floats, omega: float, period: float, state: Floats, out: Floats) -> None:
    monotone_low_pass(values, omega, period, state, out)
