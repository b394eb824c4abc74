"""A causal low-pass with its derivatives, for many channels at once: Butterworth of second order, trapezoidal.

    ÿ = ω²(u − y) − √2 ω ẏ

y, ẏ and ÿ of one channel share one response, so a torque and the motion that causes it stay in step.
"""

import numpy as np

from estimators.numerics.jit import kernel
from estimators.quantities import Floats

STATES = 3  # of a channel: y, ẏ and the last input


class CausalLowPass:
    """Keeps the state of every channel."""

    def __init__(self, channels: int, cutoff: float, period: float) -> None:
        """cutoff: Hz; period: s between rows."""
        self.state = np.full((channels, STATES), np.nan)
        self._omega, self._period = 2.0 * np.pi * cutoff, period

    def absorb(self, values: Floats) -> tuple[Floats, Floats, Floats]:
        """Rows (rows, channels), finite → value, rate and second derivative of what passes, each of that shape."""
        out = np.empty((3, *values.shape))
        _low_pass(np.ascontiguousarray(values), self._omega, self._period, self.state, out)
        return out[0], out[1], out[2]

    def restart(self) -> None:
        """The next row is where every channel rests."""
        self.state[:] = np.nan


@kernel("void(f8[:, ::1], f8, f8, f8[:, ::1], f8[:, :, ::1])")
def _low_pass(values: Floats, omega: float, period: float, state: Floats, out: Floats) -> None:
    half = 0.5 * period
    damping = np.sqrt(2.0) * omega
    turn = half * damping + (half * omega) ** 2
    for row in range(len(values)):
        for c in range(values.shape[1]):
            u = values[row, c]
            if np.isnan(state[c, 0]):
                state[c, 0], state[c, 1], state[c, 2] = u, 0.0, u
            y, rate, last = state[c, 0], state[c, 1], state[c, 2]
            fresh = (rate * (1.0 - turn) + half * omega * omega * (last + u - 2.0 * y)) / (1.0 + turn)
            y += half * (rate + fresh)
            state[c, 0], state[c, 1], state[c, 2] = y, fresh, u
            out[0, row, c], out[1, row, c] = y, fresh
            out[2, row, c] = omega * omega * (u - y) - damping * fresh
