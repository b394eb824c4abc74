"""Prandtl–Ishlinskii stops: springs that follow a position and slip. Each is one more channel.

    s_i[k] = clip(s_i[k−1] + (q[k] − q[k−1])/r_i, −1, 1)

of unit height; r_i: rad (m) at which it slips (Al-Bender, Lampaert, Swevers, IEEE Trans. Autom. Control 50:1883–1887,
2005:
generalised Maxwell slip without its slip dynamics). A friction that is a sum of them is linear in its weights. They
depend on the path alone: a missing row costs nothing but a reversal in it, which 2·r_i of motion heal. LuGre's bristle
bends towards its end instead, at the constant speed of a sample exactly (Canudas de Wit et al. 1995, (1), (2)):

    ζ[k] = e + (ζ[k−1] − e)·exp(−|Δq|/(r g)),   e = g·sign Δq,   g = 1 + (B − 1)·exp(−(Δq/(T v_s))²)
"""

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from estimators.numerics.jit import inline
from estimators.quantities import Floats
from jointwatch_numba.layout import Layout, Vector


class Springs(Layout):
    """The springs that follow a position."""

    position: int  # channel
    thresholds: Annotated[Vector, "springs"]  # rad (m)
    deflections: Annotated[Vector, "springs"]  # −1 … 1
    last: float  # position; NaN before the first
    bristles: bool  # whether they are LuGre's bristles
    breakaway: float  # B, …
    distance: float  # … and T·v_s, rad (m), of LuGre's


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
        breakaway, speed = bristle or (0.0, 0.0)
        self.state = Springs.zeros(
            position=position,
            thresholds=np.array(thresholds, np.float64),
            last=np.nan,
            bristles=bristle is not None,
            breakaway=breakaway,
            distance=period * speed,
        )


@inline
def follow(row: Floats, first: int, springs: Springs) -> None:
    """Fill a row after `first`. A bristle's own speed is that of one period, also across a gap."""
    deflections, thresholds, q = springs.deflections, springs.thresholds, row[springs.position]
    if np.isfinite(q):
        if np.isfinite(springs.last):
            moved = q - springs.last
            for i in range(len(deflections)):
                if not springs.bristles:
                    deflections[i] = min(max(deflections[i] + moved / thresholds[i], -1.0), 1.0)
                elif moved != 0.0:
                    most = 1.0 + (springs.breakaway - 1.0) * np.exp(-((moved / springs.distance) ** 2))
                    end = most if moved > 0.0 else -most
                    deflections[i] = end + (deflections[i] - end) * np.exp(-abs(moved) / (thresholds[i] * most))
        springs.last = q
    for i in range(len(deflections)):
        row[first + i] = deflections[i] if np.isfinite(q) else np.nan
