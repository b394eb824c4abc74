"""Prandtl–Ishlinskii stops: springs that follow a position and slip, each a channel beside those that are measured.

    s_i[k] = clip(s_i[k−1] + (q[k] − q[k−1])/r_i, −1, 1)

of unit height; r_i: rad (m) at which it slips (Al-Bender, Lampaert, Swevers, IEEE Trans. Autom. Control 50:1883–1887,
2005:
generalised Maxwell slip without its slip dynamics). A friction that is a sum of them is linear in its weights. They
depend on the path alone: a missing row costs nothing but a reversal in it, which 2·r_i of motion heal.
"""

from collections.abc import Sequence

import numpy as np

from estimators.numerics.jit import kernel
from estimators.quantities import Floats


class Stops:
    """Appends the stops of one position to the rows of a joint."""

    def __init__(self, thresholds: Sequence[float], position: int = 0) -> None:
        """thresholds: rad (m), position: channel."""
        self._thresholds = np.array(thresholds, np.float64)
        self._position = position
        self._state = np.zeros(len(self._thresholds) + 1)  # deflections, then the last position
        self._state[-1] = np.nan

    def absorb(self, values: Floats) -> Floats:
        """values (rows, channels) → (rows, channels + stops); the same array where there are none."""
        if not len(self._thresholds):
            return values
        wide = np.empty((len(values), values.shape[1] + len(self._thresholds)))
        wide[:, : values.shape[1]] = values
        _follow(wide, self._position, values.shape[1], self._thresholds, self._state)
        return wide


@kernel("void(f8[:, ::1], i8, i8, f8[::1], f8[::1])")
def _follow(values: Floats, position: int, first: int, thresholds: Floats, state: Floats) -> None:
    """Fill the columns behind `first`."""
    stops = len(thresholds)
    for row in range(len(values)):
        q = values[row, position]
        if np.isfinite(q):
            if np.isfinite(state[stops]):
                for i in range(stops):
                    moved = state[i] + (q - state[stops]) / thresholds[i]
                    state[i] = min(max(moved, -1.0), 1.0)
            state[stops] = q
        for i in range(stops):
            values[row, first + i] = state[i] if np.isfinite(q) else np.nan
