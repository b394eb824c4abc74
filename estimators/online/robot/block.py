"""Regression rows of one second of a whole robot, in one place from second to second."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.models.robots.tree import PARAMETERS
from estimators.numerics.jit import kernel
from estimators.quantisation.shifted_quantiser import PLACES
from estimators.quantities import Floats

#: Hz, argued: Rate of a robot's rows; the slow low-pass leaves little above half of it.
ROWS: Final = 50.0
#: rows, argued: Rows between two looks at what explains a residual: half a second.
LOOK: Final = 25
#: rows, argued: Rows that teach together: one second.
BLOCK: Final = 50


class Block:
    """A block of rows of n joints; the first `count` rows are filled."""

    def __init__(self, parameters: int, at_rest: Floats) -> None:
        """parameters: columns of a row, those of the lags among them; at_rest: (n,) up to which speeds joints stand."""
        self.count, self._at_rest, joints = 0, at_rest, len(at_rest)
        self.X, self.Y = np.empty((BLOCK, joints, parameters)), np.empty((BLOCK, joints, PARAMETERS))
        self.r, self.u = np.empty((2, BLOCK, joints))  # residual against the model without payload, and with it
        self.q, self.dq = np.empty((2, BLOCK, joints))  # dq: 0 where the joint may stick
        self.rates = np.empty((2, BLOCK, joints))  # dq and ddq everywhere
        self.sample, self.e = np.full(BLOCK, -1), np.zeros((BLOCK, PLACES, joints))  # e: robot_shifted_quantiser.py
        self.speed = np.empty(BLOCK)  # the largest of all joints, in speeds at rest
        self.disturbed = False  # something was beyond its threshold

    def close(
        self, q: Floats, dq: Floats, ddq: Floats, r: Floats, u: Floats, moving: NDArray[np.bool_]
    ) -> None:  # fmt: skip
        """End the row whose X and Y are written; all (n,).

        A joint at rest teaches nothing: friction may be any torque.
        """
        _close(
            self.count, q, dq, ddq, r, u, moving, self._at_rest, self.X, self.Y, self.r, self.u, self.q, self.dq,
            self.rates, self.speed,
        )  # fmt: skip
        self.count += 1

    def follow(self, moved: Floats) -> None:
        """Let the residuals so far be those of θ, which has moved by this, (parameters,)."""
        if moved.any():
            self.r[: self.count] -= self.X[: self.count] @ moved

    @property
    def lately(self) -> slice:
        """Rows of the last LOOK rows."""
        return slice(self.count - LOOK, self.count)

    def clear(self) -> None:
        """Begin the next block."""
        self.count, self.disturbed = 0, False
        self.sample[:], self.e[:] = -1, 0.0


@kernel(
    "void(i8, f8[:], f8[:], f8[:], f8[:], f8[:], b1[::1], f8[::1], f8[:, :, ::1], f8[:, :, ::1], f8[:, ::1],"
    " f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1], f8[::1])"
)
def _close(
    k: int, q: Floats, dq: Floats, ddq: Floats, r: Floats, u: Floats, moving: NDArray[np.bool_], at_rest: Floats,
    X: Floats, Y: Floats, rows: Floats, others: Floats, places: Floats, speeds: Floats, rates: Floats, fastest: Floats,
) -> None:  # fmt: skip
    fastest[k] = 0.0
    for j in range(len(moving)):
        places[k, j], rates[0, k, j], rates[1, k, j] = q[j], dq[j], ddq[j]
        fastest[k] = max(fastest[k], np.abs(dq[j]) / at_rest[j])
        rows[k, j], others[k, j], speeds[k, j] = (r[j], u[j], dq[j]) if moving[j] else (0.0, 0.0, 0.0)
        if not moving[j]:
            X[k, j, :] = 0.0
            Y[k, j, :] = 0.0
