"""Prandtl–Ishlinskii stops: springs that follow a position and slip, each a channel beside those that are measured.

    s_i[k] = clip(s_i[k−1] + (q[k] − q[k−1])/r_i, −1, 1)

of unit height; r_i: rad (m) at which it slips (Al-Bender, Lampaert, Swevers, IEEE Trans. Autom. Control 50:1883–1887,
2005:
generalised Maxwell slip without its slip dynamics). A friction that is a sum of them is linear in its weights. They
depend on the path alone: a missing row costs nothing but a reversal in it, which 2·r_i of motion heal. LuGre's bristle
bends towards its end instead, at the constant speed of a sample exactly (Canudas de Wit et al. 1995, (1), (2)):

    ζ[k] = e + (ζ[k−1] − e)·exp(−|Δq|/(r g)),   e = g·sign Δq,   g = 1 + (B − 1)·exp(−(Δq/(T v_s))²)
"""

from collections.abc import Sequence

import numpy as np

from estimators.numerics.jit import kernel
from estimators.quantities import Floats


class Stops:
    """Appends the springs of one position to the rows of a joint."""

    def __init__(
        self,
        thresholds: Sequence[float],
        position: int = 0,
        period: float = 1.0,
        bristle: tuple[float, float] | None = None,
    ) -> None:
        """thresholds: rad (m), position: channel; period: s between rows; bristle: B and v_s of LuGre's, else stops."""
        self._thresholds = np.array(thresholds, np.float64)
        self._position = position
        self._bristle = np.zeros(0) if bristle is None else np.array((*bristle, period))
        self._state = np.zeros(len(self._thresholds) + 1)  # deflections, then the last position
        self._state[-1] = np.nan

    def absorb(self, values: Floats) -> Floats:
        """values (rows, channels) → (rows, channels + stops); the same array where there are none."""
        if not len(self._thresholds):
            return values
        wide = np.empty((len(values), values.shape[1] + len(self._thresholds)))
        wide[:, : values.shape[1]] = values
        _follow(wide, self._position, values.shape[1], self._thresholds, self._bristle, self._state)
        return wide


@kernel("void(f8[:, ::1], i8, i8, f8[::1], f8[::1], f8[::1])")
def _follow(values: Floats, position: int, first: int, thresholds: Floats, bristle: Floats, state: Floats) -> None:
    """Fill the columns behind `first`. A bristle's own speed is that of one period, also across a gap."""
    stops = len(thresholds)
    for row in range(len(values)):
        q = values[row, position]
        if np.isfinite(q):
            if np.isfinite(state[stops]):
                moved = q - state[stops]
                for i in range(stops):
                    if len(bristle) == 0:
                        state[i] = min(max(state[i] + moved / thresholds[i], -1.0), 1.0)
                    elif moved != 0.0:
                        most = 1.0 + (bristle[0] - 1.0) * np.exp(-((moved / (bristle[2] * bristle[1])) ** 2))
                        end = most if moved > 0.0 else -most
                        state[i] = end + (state[i] - end) * np.exp(-abs(moved) / (thresholds[i] * most))
            state[stops] = q
        for i in range(stops):
            values[row, first + i] = state[i] if np.isfinite(q) else np.nan
