"""Explanation: causes that were found and are no part of the model, such as a payload, a slip or a spring.

Their torque is subtracted from the residual of every chunk, and refined look by look, until they are over.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.models.robots.tree import PARAMETERS
from estimators.models.robots.whole_robot import WholeRobot
from estimators.online.robot.findings.carried import NO_PAYLOAD, as_payload
from estimators.online.robot.findings.causes.base import Fitted
from estimators.online.robot.findings.columns import SHAPES, CauseColumns, slip_columns, spring_shapes, tilt_columns
from estimators.online.robot.motion import Chunk
from estimators.quantities import Floats

BODY: Final = ("payload", ())  # the key of a payload among the causes


class Explanation:
    """Causes that are applied, by their names and joints, and the torque that they explain."""

    def __init__(self, model: WholeRobot, columns: CauseColumns, scale: float) -> None:
        """scale: relative deviation of the unit of the robot's torque, 0 where it is measured."""
        self._model, self._columns, self._scale = model, columns, scale
        self.holding: dict[tuple[str, tuple[int, ...]], Fitted] = {}
        self._rivals: dict[tuple[str, tuple[int, ...]], Sequence[Fitted]] = {}
        self.psi = np.zeros(columns.size)  # without θ
        self.payload = NO_PAYLOAD
        """The body that is carried."""

    @property
    def carried(self) -> Floats:
        """The payload's ten parameters; zeros where none is carried."""
        return self.psi[self._columns.body]

    @property
    def others(self) -> list[Fitted]:
        """The applied causes other than a payload."""
        return [one for (name, _), one in self.holding.items() if name != "payload"]

    def hold(self, fitted: Fitted, rivals: Sequence[Fitted] = ()) -> None:
        """Apply this cause from now on, with these coefficients in all; rivals: other forms that it may have."""
        key = (fitted.cause.name, fitted.cause.joints)
        before = self.holding.get(key)
        self.psi = self.psi + fitted.moved - (0.0 if before is None else before.moved)
        self.holding[key], self._rivals[key] = fitted, rivals
        self._weigh()

    def variance(self, Z: Floats) -> Floats:
        """Variance (n,) of the torque that it explains of a row; Z: (n, k) columns.

        Another form that fits as well may be the true one, with the odds of its evidence; the error is then their
        difference.
        """
        found = np.zeros(len(Z))
        for key, held in self.holding.items():
            found += np.einsum("jk,kl,jl->j", Z, held.spread, Z)
            odds = [np.exp(one.evidence - held.evidence) for one in self._rivals[key]]
            for one, each in zip(self._rivals[key], odds, strict=True):
                found += each / (1.0 + sum(odds)) * (Z @ (one.moved - held.moved)) ** 2
        return found

    def end(self, fitted: Fitted) -> None:
        """End this cause."""
        before = self.holding.pop((fitted.cause.name, fitted.cause.joints), None)
        if before is not None:
            self.psi = self.psi - before.moved
        if not self.holding:
            self.psi = np.zeros_like(self.psi)
        self._weigh()

    def _weigh(self) -> None:
        """Compute the payload; here and not in the property, which is read fifty times a second."""
        fitted = self.holding.get(BODY)
        self.payload = (
            NO_PAYLOAD
            if fitted is None
            else as_payload(fitted.values, fitted.covariance, self._scale)._replace(carried=True)
        )

    def torque(self, chunk: Chunk, predicted: Floats, bodies: Floats) -> Floats:
        """Torque that the causes explain, (rows, n); predicted: (rows, n) by the model; bodies: (n, 10) its links."""
        columns, psi, loaded = self._columns, self.psi, bodies
        found = predicted * psi[columns.gains]
        if self.carried.any():
            body = np.zeros((columns.n, PARAMETERS))
            body[-1] = self.carried
            found += self._model.torque(body, chunk.q, chunk.dq, chunk.ddq)
            loaded = bodies + body  # a slipped encoder or a tilted base changes the payload's torque, too
        if psi[columns.slips].any():
            found += slip_columns(self._model, loaded, chunk.q, chunk.dq, chunk.ddq) @ psi[columns.slips]
        if psi[columns.tilts].any():
            found += tilt_columns(self._model, loaded, chunk.q) @ psi[columns.tilts]
        if psi[columns.springs].any():
            found += np.einsum("srn,sn->rn", spring_shapes(chunk.q), psi[columns.springs].reshape(SHAPES, -1))
        return found
