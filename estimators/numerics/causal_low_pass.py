"""A causal low-pass with its derivatives, for many channels at once: Butterworth of second order, trapezoidal.

    ÿ = ω²(u − y) − √2 ω ẏ

y, ẏ and ÿ of one channel share one response, so a torque and the motion that causes it stay in step.
"""

import numpy as np

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats

STATES = 3  # y, ẏ and the last input, of all channels each


class CausalLowPass:
    """Keeps the state of every channel."""

    def __init__(self, channels: int, cutoff: float, period: float) -> None:
        """cutoff: Hz; period: s between rows."""
        self.state = np.full((STATES, channels), np.nan)
        self.omega, self._period = 2.0 * np.pi * cutoff, period

    def absorb(self, values: Floats) -> tuple[Floats, Floats, Floats]:
        """Rows (rows, channels), finite → value, rate and second derivative of what passes, each of that shape."""
        out = np.empty((3, *values.shape))
        _low_pass(np.ascontiguousarray(values), self.omega, self._period, self.state, out)
        return out[0], out[1], out[2]

    def restart(self) -> None:
        """The next row is where every channel rests."""
        self.state[:] = np.nan


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
