"""Prediction: the torque of a chunk by the parameters of one instant: now, or when the thresholds were set.

    r = τ − Y(q, q̇, q̈) θ − δ τ̇      r' = r + Y (θ − θ')  by θ' of when they were

Thresholds bound residuals under θ'. Where the arm does not follow its law, θ moves with the motion, and so makes
residuals at other places. But Y (θ − θ') is known, and torque that θ' explains is no contact (contact.py).
"""

from typing import Final

import numpy as np

from estimators.models.robots.kinematics import FRAME, motion
from estimators.models.robots.newton_euler import WRENCH, forces
from estimators.models.robots.whole_robot import WholeRobot
from estimators.numerics.jit import kernel
from estimators.numerics.nnls import Integers
from estimators.online.robot.motion import Chunk
from estimators.quantities import Floats
from jointwatch_numba.direct import direct


class Prediction:
    """Predicts the torque by one θ."""

    def __init__(self, model: WholeRobot, theta: Floats, shares: Floats) -> None:
        """theta: (p + n,) the lags of the torques last; shares: (columns, n) of a chunk, see RobotMotion.shares."""
        self._model, self._shares, self._lag = model, shares, theta[model.size :].copy()
        self._standard = np.ascontiguousarray(model.standard(theta[: model.base]))

    def of(self, chunk: Chunk) -> tuple[Floats, Floats]:
        """Return the torque without a payload, and the residual of the measured torque: (rows, n) each."""
        predicted, unexplained = np.empty((2, *chunk.q.shape))
        _torque(
            *self._model.tree, chunk.q, chunk.dq, chunk.ddq, self._standard, chunk.columns, self._shares, chunk.rate,
            self._lag, chunk.tau, predicted, unexplained,
        )  # fmt: skip
        return predicted, unexplained


@kernel(
    "void(i8[::1], i8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, :], f8[:, ::1],"
    " f8[:, :], f8[::1], f8[:, :], f8[:, ::1], f8[:, ::1])"
)
def _predict(
    parent: Integers, kind: Integers, geometry: Floats, gravity: Floats, q: Floats, dq: Floats, ddq: Floats,
    links: Floats, columns: Floats, shares: Floats, rate: Floats, lag: Floats, tau: Floats, predicted: Floats,
    unexplained: Floats,
) -> None:  # fmt: skip
    """Write the torque of the rigid body, of other columns (rows, k) and of lags, and the residual of τ."""
    rows, n = q.shape
    frames, wrench, nothing = np.empty((n, FRAME)), np.empty((rows, n, WRENCH)), np.zeros((0, n, WRENCH))
    for row in range(rows):
        motion(parent, kind, geometry, gravity, q, dq, ddq, row, frames)
        forces(parent, kind, geometry, links, nothing, frames, row, predicted, wrench)
        for j in range(len(lag)):
            predicted[row, j] += rate[row, j] * lag[j]
            for k in range(len(shares)):
                predicted[row, j] += columns[row, k] * shares[k, j]
            unexplained[row, j] = tau[row, j] - predicted[row, j]


_torque: Final = direct(_predict)
