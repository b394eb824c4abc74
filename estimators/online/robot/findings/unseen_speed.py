"""Uncertainty of a friction law beyond the speeds at which it was identified.

There a law that bends is used as at its last speed (IdentifiedRobot.reach), since no data show how it continues. It is
equally likely that it continues as its formula says, so the difference of the two is the uncertainty of the torque. It
is added to the threshold of a contact; and such rows teach nothing.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.models.robots.whole_robot import DEFAULT, WholeRobot
from estimators.numerics.jit import kernel
from estimators.online.robot.findings.friction_terms import law_columns, law_terms
from estimators.quantities import Floats
from jointwatch_numba.direct import direct


class UnseenSpeed:
    """Follows the fastest speed of every joint that the low-passes still hold."""

    def __init__(self, model: WholeRobot, reach: Floats, chunks: int) -> None:
        """reach: (n,) rad/s (m/s) up to which the laws may be used; chunks: that the low-passes remember."""
        nonlinear = np.array([law.kind != DEFAULT.kind for law in model.laws])
        self._model, self._reach = model, np.where(nonlinear & (reach > 0.0), reach, np.inf)
        self._fastest, self._chunk = np.zeros((chunks, len(reach))), 0  # of each chunk, a ring
        self._speed = np.zeros(len(reach))
        self._any = bool(np.isfinite(self._reach).any())
        self._places = [law_terms(model, j) for j in range(len(reach))]
        self.joints: NDArray[np.bool_] = np.zeros(len(reach), np.bool_)
        """(n,) which are, or have just been, faster than their law was seen."""

    def notice(self, quick: Floats, dq: Floats) -> None:
        """Take the speeds of the next chunk, (rows, n) each, before and after the slow low-pass."""
        if not self._any:
            return
        self._chunk = (self._chunk + 1) % len(self._fastest)
        _follow(quick, dq, self._reach, self._fastest, self._chunk, self._speed, self.joints)

    def torque(self, theta: Floats) -> Floats:
        """Uncertainty of the laws' torque, (n,) N·m (N); theta: (p,)."""
        found = np.zeros(len(self._speed))
        for j in map(int, np.flatnonzero(self.joints)):
            last, now = law_columns(self._model, j, np.array([self._reach[j], self._speed[j]]))
            found[j] = abs(float((now - last) @ theta[self._places[j]]))
        return found


@kernel("void(f8[:, ::1], f8[:, ::1], f8[::1], f8[:, ::1], i8, f8[::1], b1[::1])")
def _notice(
    quick: Floats, dq: Floats, reach: Floats, fastest: Floats, chunk: int, speed: Floats, faster: NDArray[np.bool_]
) -> None:
    for j in range(len(reach)):
        fastest[chunk, j] = 0.0
        for row in range(len(quick)):
            fastest[chunk, j] = max(fastest[chunk, j], abs(quick[row, j]), abs(dq[row, j]))
        speed[j] = 0.0
        for k in range(len(fastest)):
            speed[j] = max(speed[j], fastest[k, j])
        faster[j] = speed[j] > reach[j]


_follow: Final = direct(_notice)
