"""What a whole robot's residual torque says: contact, a payload, another friction, or a compensation that helps."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.tree import PARAMETERS
from estimators.models.robots.whole_robot import WholeRobot
from estimators.online.robot.block import Block
from estimators.online.robot.compensation import Compensation, Switched
from estimators.online.robot.contact import ContactWatch
from estimators.online.robot.motion import Chunk
from estimators.online.robot.prediction import Prediction
from estimators.online.robot.residual_attribution import Attribution, ResidualAttribution
from estimators.quantities import Floats

NOTHING: Final = np.zeros((0, 0))


class Explained(NamedTuple):
    """Torque of a chunk, (rows, n) each."""

    explained: Floats  # by the model, a payload that is carried, and the compensation in use
    unexplained: Floats  # what of the measured torque that leaves
    learned: Floats  # by the learned compensation, whether it is used or not; no rows where there is none
    used: Floats  # what of it is used


class RobotWatch:
    """Compares the residual with thresholds, and finds what explains it; it changes no parameter."""

    def __init__(self, model: WholeRobot, learnt: IdentifiedRobot, chunk: float) -> None:
        """chunk: s."""
        self._model, self._n = model, model.tree.size()
        motor_side = any(joint.motor_side for joint in learnt.robot.joints)
        prior_deviations = np.sqrt(np.diag(learnt.prior_covariance))
        self.attribution = ResidualAttribution(model, prior_deviations, learnt.correlation, motor_side)
        self.compensation = Compensation(model, learnt.learned)
        deviations = np.sqrt(learnt.variance) if learnt.deviations is None else learnt.deviations
        self.contact = ContactWatch(learnt.peaks, deviations, chunk)
        self.compensated = np.full(self._n, np.nan)  # of the last row, by the compensation in use

    def explain(self, chunk: Chunk, predicted: Floats, unexplained: Floats) -> Explained:
        """Take off the residual what a payload and a compensation explain; predicted: (rows, n) by the model alone."""
        explained, payload = predicted, self.attribution.payload
        if payload.carried:
            body = np.zeros((self._n, PARAMETERS))
            body[-1] = self.attribution.carried
            load = self._model.torque(body, chunk.q, chunk.dq, chunk.ddq)
            unexplained, explained = unexplained - load, explained + load
        learned = used = NOTHING
        if self.compensation.joints:
            learned = self.compensation.torque(chunk.twist, chunk.twist_rate, chunk.dq, chunk.ddq)
            used = np.where(self.compensation.on, learned, 0.0)
            unexplained, explained = unexplained - used, explained + used
            self.compensated = np.where(self.compensation.on, learned[-1], np.nan)
        return Explained(explained, unexplained, learned, used)

    def judge(
        self, chunk: Chunk, predicted: Floats, unexplained: Floats, friction: Floats, reference: Prediction,
        starting: bool,
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:  # fmt: skip
        """Compare a chunk with the thresholds: joints in contact from now on, and those whose contact is over.

        friction: (n,) torque that a joint may hold at rest; reference: by which the thresholds were set. None where
        neither changes, and during the start, whose thresholds only keep rows from teaching.
        """
        self.contact.notice(chunk.quick, chunk.dq)
        if starting:
            self.contact.gather(unexplained)
        if not self.contact.ready:
            return None
        before = None
        if not starting and self.contact.exceeded(unexplained, friction):
            before = unexplained + predicted - reference.of(chunk)[0]
        changes = self.contact.judge(unexplained, friction, before)
        return None if starting else changes

    def absorb(
        self, block: Block, weights: Floats, pulls: Sequence[Floats] | None
    ) -> tuple[list[Switched], Attribution | None]:
        """Take the last window of a block: compensations that are switched, and what explains the residual.

        weights: (n,) 1/(R c); pulls: what steps of the encoders do to the sums, see ResidualAttribution.absorb.
        """
        X, Y, r, u, dq = (rows[block.lately] for rows in (block.X, block.Y, block.r, block.u, block.dq))
        self.attribution.absorb(X, Y, r, u, dq, weights, pulls)
        return self.compensation.compare(), self.attribution.verdict() if self.contact.ready else None
