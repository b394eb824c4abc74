"""Trajectories that stand for a published one whose coefficients are not known: as well conditioned as that one is.

Of Table 3 (Liu et al. 2023) two things are known on a UR10: its peaks, and the condition 142.7 of its base regressor.
Motions are drawn within those peaks, and those whose condition is nearest are taken, whatever else they are like.
"""

from typing import Final

import numpy as np

from hil_rig.plants.base import Floats
from hil_rig.plants.robots.dynamics import GRAVITY, LINK, inverse_dynamics
from hil_rig.plants.robots.fourier import Fourier, Limits

DRAWN: Final = 200
INDEPENDENT: Final = 1e-10  # of the largest pivot


def stand_ins(arm: Floats, limits: Limits, period: float, condition: float, count: int) -> list[Fourier]:
    """As many motions as asked, the nearest first. arm: geometry (n, 5); condition: of the base regressor, raw units."""
    kept = _independent(arm)
    motions = [Fourier(draw=draw, frequency=1.0 / period) for draw in range(1000, 1000 + DRAWN)]
    times = np.linspace(0.0, period, 200, endpoint=False)
    found = []
    for motion in motions:
        Y = _columns(arm, *motion.series(limits).at(times))[:, kept]
        found.append(abs(np.log(np.linalg.cond(Y) / condition)))
    return [motions[place] for place in np.argsort(found)[:count]]


def _columns(arm: Floats, q: Floats, dq: Floats, ddq: Floats) -> Floats:
    """(rows · n, n · LINK) torque of each standard parameter alone."""
    n = len(arm)
    columns = np.empty((q.size, n * LINK))
    torque = np.empty_like(q)
    for place in range(n * LINK):
        links = np.zeros((n, LINK))
        links.flat[place] = 1.0
        inverse_dynamics(arm, links, GRAVITY, q, dq, ddq, torque)
        columns[:, place] = torque.ravel()
    return columns


def _independent(arm: Floats) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
    """Columns that no earlier one makes: un-pivoted QR at random motions."""
    q, dq, ddq = np.random.default_rng(1).uniform(-3.0, 3.0, (3, 300, len(arm)))
    pivots = np.abs(np.diag(np.linalg.qr(_columns(arm, q, dq, ddq), mode="r")))
    return np.flatnonzero(pivots > INDEPENDENT * pivots.max())
