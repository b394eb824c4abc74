"""Finds in a whole robot's residual torque contacts, payloads, other frictions, and compensations that help."""

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
from estimators.online.robot.findings.contact_force import ContactLocation
from estimators.online.robot.findings.tool import ConfiguredTool, ToolCheck
from estimators.online.robot.motion import Chunk
from estimators.online.robot.prediction import Prediction
from estimators.online.robot.residual_attribution import (
    AttributionVerdict,
    LeavesLaw,
    LookRows,
    ResidualAttribution,
    pulls_of,
    torque_scale,
)
from estimators.quantities import Floats
from estimators.thresholds import GOOD, MISFIT_OVER

#: 1, argued: Weight of the past after a look in the share of torque that is unexplained: ten seconds count.
RECENT: Final = 0.95
NOTHING: Final = np.zeros((0, 0))


class Explained(NamedTuple):
    """Torque of a chunk, (rows, n) each."""

    explained: Floats  # by the model, a payload, and the compensation in use
    unexplained: Floats  # the rest of the measured torque
    learned: Floats  # by the learned compensation, used or not; no rows without one
    used: Floats  # the part of it that is used


class Unexplained:
    """Unexplained share of the torque of all joints over the last seconds of motion."""

    def __init__(self) -> None:
        self._squares = np.zeros(2)  # of the residual and of the torque, faded
        self.too_much = False

    @property
    def share(self) -> float:
        """Rms of the residual over that of the torque."""
        left, torque = self._squares.tolist()
        return float(np.sqrt(left / torque)) if torque > 0.0 else 0.0

    def forget(self) -> None:
        """Begin anew: the cause of the unexplained torque has been found."""
        self._squares[:], self.too_much = 0.0, False

    def absorb(self, residual: Floats, torque: Floats) -> None:
        """Take a look, (rows, n) each, 0 where a row says nothing."""
        self._squares = RECENT * self._squares + np.array([(residual**2).sum(), (torque**2).sum()])
        self.too_much = self.share > (MISFIT_OVER if self.too_much else 1.0) * GOOD


class RobotWatch:
    """Compares the residual with thresholds, and finds its cause; it changes no parameter."""

    def __init__(
        self,
        model: WholeRobot,
        learnt: IdentifiedRobot,
        chunk: float,
        tool: ConfiguredTool | None,
        slow: float,
        between: float,
        quick: float,
    ) -> None:
        """chunk: s; tool: that the controller is configured for, if any; others: see ContactWatch."""
        self._model, self._n = model, model.tree.size()
        base, prior = model.base, learnt.prior_covariance
        motor_side = any(joint.motor_side for joint in learnt.robot.joints)
        scale = torque_scale(learnt.prior[:base], prior[:base, :base]) if motor_side else 0.0
        self.attribution = ResidualAttribution(model, prior, learnt.correlation, learnt.reach(), scale)
        self.tool = None if tool is None else ToolCheck(tool, self.attribution.columns.q, scale)
        self.compensation = Compensation(model, learnt.learned)
        deviations = np.sqrt(learnt.variance) if learnt.deviations is None else learnt.deviations
        self.contact = ContactWatch(learnt.peaks, deviations, chunk, slow, between, quick)
        self.location = ContactLocation(model.tree)
        self.unexplained = Unexplained()
        self.compensated = np.full(self._n, np.nan)  # of the last row, by the compensation in use

    def explain(self, chunk: Chunk, predicted: Floats, unexplained: Floats) -> Explained:
        """Subtract the torque of payload and compensation from the residual; predicted: (rows, n) by the model."""
        explained, attribution = predicted, self.attribution
        if attribution.explanation.holding:
            beside = attribution.explanation.torque(chunk, predicted, attribution.bodies)
            unexplained, explained = unexplained - beside, explained + beside
        learned = used = NOTHING
        if self.compensation.joints:
            learned = self.compensation.torque(chunk.twist, chunk.twist_rate, chunk.dq, chunk.ddq)
            used = np.where(self.compensation.on, learned, 0.0)
            unexplained, explained = unexplained - used, explained + used
            self.compensated = np.where(self.compensation.on, learned[-1], np.nan)
        return Explained(explained, unexplained, learned, used)

    def pass_within(self, chunk: Chunk, unexplained: Floats, friction: Floats, starting: bool) -> bool:
        """Take a chunk in which no joint exceeds a threshold, or did just before; False where it has to be judged.

        Arguments as of `judge`.
        """
        mean = self.contact.pass_within(chunk.quick, chunk.dq, unexplained, friction)
        if mean is None:
            return False
        if starting:
            self.contact.gather(unexplained, friction)
        self.location.skip(chunk.q[-1], mean)
        return True

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
            self.contact.gather(unexplained, friction)
        if not self.contact.ready:
            return None
        before = None
        if not starting and self.contact.exceeded(unexplained, friction):
            before = unexplained + predicted - reference.of(chunk)[0]
        changes = self.contact.judge(unexplained, friction, before)
        self.contact.unknown[:] = 0.0
        return None if starting else changes

    def locate(self, chunk: Chunk, unexplained: Floats, friction: Floats, starting: bool) -> None:
        """Locate the contact and its force; arguments as of `judge`, whose chunk this is."""
        contact, attribution = self.contact, self.attribution
        touched = bool(contact.reported.any()) and not starting
        hidden = contact.stuck(friction)
        last = attribution.bodies[-1] + attribution.explanation.carried if touched else np.zeros(PARAMETERS)
        self.location.follow(touched, chunk.q[-1], unexplained, np.hypot(contact.deviations, hidden), last)

    def where(self, names: tuple[str, ...]) -> str:
        """The place of a contact in words, to follow the words about its joints; "" without a contact."""
        found = self.location.found
        return "" if found is None else f"; {found.words(names)}"

    def absorb(
        self, block: Block, variance: Floats, pulls: Sequence[Floats] | None, leaves: LeavesLaw | None = None
    ) -> tuple[list[Switched], AttributionVerdict | None]:
        """Take the last window of a block: compensations that are switched, and what explains the residual.

        variance: (n,) of the usual residual; pulls: what steps of the encoders do to the sums, see `pulls_of`; leaves:
        see ResidualAttribution.verdict.
        """
        X, Y, r, u, dq, q = (rows[block.lately] for rows in (block.X, block.Y, block.r, block.u, block.dq, block.q))
        attribution = self.attribution
        there = (dq != 0.0).astype(np.float64)
        motion = np.stack([q, *block.rates[:, block.lately]])
        torque = r + X @ attribution.theta
        rows = LookRows(X.copy(), Y.copy(), torque, u.copy(), there, motion, pulls_of(attribution.columns, pulls))
        attribution.absorb(rows, variance)
        if not block.disturbed:  # a push is reported by itself
            self.unexplained.absorb(rows.u, torque)
            if self.tool is not None:
                self.tool.absorb(X, Y, torque, there / attribution.units)
        verdict = attribution.verdict(leaves, self.contact.recent) if self.contact.ready else None
        return self.compensation.compare(), verdict
