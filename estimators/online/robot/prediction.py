"""Prediction: the torque of a chunk by the parameters of one instant, now or when the thresholds were set.

    r = τ − Y(q, q̇, q̈) θ − δ τ̇      r' = r + Y (θ − θ')  by θ' of when they were

Thresholds bound residuals under θ'. Where the arm does not follow its law, θ moves with the motion, and carries
residuals from one place to another. But Y (θ − θ') is known, and torque that θ' explains is no contact (contact.py).
"""

import numpy as np

from estimators.models.robots.whole_robot import WholeRobot
from estimators.numerics.jit import kernel
from estimators.online.robot.motion import Chunk
from estimators.quantities import Floats


class Prediction:
    """Predicts the torque by one θ."""

    def __init__(self, model: WholeRobot, theta: Floats, shares: Floats) -> None:
        """theta: (p + n,) the lags of the torques last; shares: (columns, n) of a chunk, see RobotMotion.shares."""
        self._model, self._shares, self._lag = model, shares, theta[model.size :]
        self._standard = np.ascontiguousarray(model.standard(theta[: model.base]))

    def of(self, chunk: Chunk) -> tuple[Floats, Floats]:
        """Return the torque without a payload, and what it leaves of the measured torque: (rows, n) each."""
        predicted = self._model.torque(self._standard, chunk.q, chunk.dq, chunk.ddq)
        unexplained = np.empty_like(predicted)
        _explain(chunk.columns, self._shares, chunk.rate, self._lag, chunk.tau, predicted, unexplained)
        return predicted, unexplained


@kernel("void(f8[:, :], f8[:, ::1], f8[:, :], f8[::1], f8[:, :], f8[:, ::1], f8[:, ::1])")
def _explain(
    columns: Floats, shares: Floats, rate: Floats, lag: Floats, tau: Floats, predicted: Floats, unexplained: Floats
) -> None:
    """Add the torque of other columns (rows, k) and lags to that of the rigid body, predicted; write what is left."""
    for row in range(len(predicted)):
        for j in range(len(lag)):
            predicted[row, j] += rate[row, j] * lag[j]
            for k in range(len(shares)):
                predicted[row, j] += columns[row, k] * shares[k, j]
            unexplained[row, j] = tau[row, j] - predicted[row, j]
