"""Re-fits the nonlinear parameters η of a joint's friction in a whole robot, when the friction leaves its law.

For every joint whose law has η the last rows of motion are kept: speed, position, and the torque that is left for its
friction. Every few seconds one Gauss–Newton step of η is tried (no search): when it would explain significantly more,
twice running, η is searched in the worker, like that of a single joint (multilevel coordinate search, decision 024).
The result counts when it explains the window as well as the law explained the motion at the start, explains it much
better than η in force, and is certain and clear. A finding of other coefficients waits as long as η would explain
more than they do. So a push, a payload, or a window half of which is from before the change, does not move η. A result
that explains the window, but is uncertain or not clear, or changes η by more than a factor of two, is searched again in
a window that is 1.5 times as long, when that is full (decision 053). Where searches are refused
again and again, a reason says so, with what to do. What was accepted is searched again over all motion since, until
that is as long as a window may be: η becomes more certain (decision 054).
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Final

import numpy as np

from estimators.models.friction.base import FrictionLaw
from estimators.models.friction.structure import RefitModel
from estimators.models.robots.whole_robot import WholeRobot
from estimators.online.robot.block import ROWS, Block
from estimators.online.robot.findings.competition import EXPLAINS
from estimators.online.robot.findings.friction_window import WINDOW, Asked, FrictionWindow
from estimators.online.robot.findings.quick_samples import QuickSamples
from estimators.quantities import Floats
from estimators.reasons import Reason
from estimators.refit.inline import Inline
from estimators.refit.outcome import SearchReport
from estimators.refit.refit import refit
from estimators.refit.report import Refit
from estimators.refit.settings import AcceptanceSettings, RefitSettings
from estimators.thresholds import LEAST_DIVISOR

#: blocks, argued: Blocks of one second between two looks.
EVERY: Final = 2
#: looks, argued: Looks in a row that must see η moved.
TWICE: Final = 2
#: searches, argued: Refused searches in a row that are reported as a reason: at least half a minute of motion, twice as
#: long as a window can contain rows from before a change.
REFUSED: Final = 3
#: rows, argued: Rows after a change that show whether a friction has kept the shape of its law: two seconds of motion,
#: in which it has had several speeds. In half a second other coefficients of the law explain any of its changes.
SHOWN: Final = 100
#: deviations, argued: Deviations by which a longer window may move η and still sharpen it: one search in 16,000.
MOVED: Final = 4.0

Integers = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(slots=True)
class RefittedFriction:
    """Declares a re-fit that has ended: the values that are in force from now on, or why it was refused."""

    joint: int
    sharpens: bool  # η was in force already, and is more certain now
    reason: str  # "" where it is accepted
    words: str  # by how much η moved, or the window
    search: SearchReport | None
    place: Integers  # in θ
    theta: Floats  # the friction's coefficients and the offset
    covariance: Floats


class FrictionRefits:
    """Watches the η of all joints, and has it searched where it has moved."""

    def __init__(self, model: WholeRobot, correlation: Floats, reach: Floats, executor: Executor | None = None) -> None:
        """correlation: (n,) rows of 50 Hz that count as one; reach: (n,) speeds up to which the laws may be used.

        executor: where searches run, by default inline.
        """
        self._correlation, self._executor = correlation, executor or Inline()
        self._accept, self._settings = AcceptanceSettings(), RefitSettings()
        self._joints = [
            FrictionWindow(model, j, float(reach[j])) for j in range(model.tree.size()) if _searchable(model.law_of(j))
        ]
        self._blocks = 0
        self._spoilt = False
        self.rest = np.zeros(
            0
        )  # θ as it was when the laws held last: the torque without a friction is computed from it

    def spoil(self) -> None:
        """Leave out this block, in which θ has changed."""
        self._spoilt = True

    @property
    def searchable(self) -> bool:
        """Whether any joint's law has nonlinear parameters that can be searched."""
        return bool(self._joints)

    @property
    def doubtful(self) -> bool:
        """Whether the motion does not follow a law now, so that it must not teach."""
        return any(joint.left for joint in self._joints)

    def absorb(self, block: Block, theta: Floats, calm: bool, quick: QuickSamples) -> list[RefittedFriction]:
        """Take a block of rows; returns the re-fits that have ended. calm: no unexplained torque acts on the robot."""
        if not self.searchable:
            return []
        self._blocks += 1
        if not len(self.rest):
            self.rest = theta.copy()
        ended = [one for one in map(self._ended, self._joints) if one is not None]
        if self._spoilt:
            self._spoilt = False
            return ended
        for joint in self._joints:
            joint.absorb(block, theta, self.rest, quick)
        if self._blocks % EVERY == 0:
            for joint in self._joints:
                self._look(joint, calm)
            if calm and not self.doubtful:
                self.rest = theta.copy()
        return ended + [one for one in map(self._ended, self._joints) if one is not None]

    def leaves_law(self, joints: tuple[int, ...], rows: int) -> bool:
        """Whether η of one of these joints may have changed, by the latest rows of the windows: a search will show it.

        It may have where a Gauss–Newton step of η explains more than other coefficients alone, and while there are
        fewer than SHOWN rows; not where searches are refused again and again, or the usual residual is not known yet.
        """
        found = False
        for joint in self._joints:
            if joint.joint not in joints or not joint.knows_usual or joint.refused >= REFUSED:
                continue
            shown = min(rows, joint.stored) >= SHOWN
            if shown and joint.gain(self._correlation[joint.joint], rows) > self._accept.better:
                found = True
            found |= not shown
        return found

    @property
    def etas(self) -> list[float]:
        """η of all joints that have one, in their order; a restart keeps them."""
        return [float(eta) for joint in self._joints for eta in joint.law.start]

    def reasons(self, names: Sequence[str]) -> tuple[Reason, ...]:
        """Why values are not to be used where the searches of a joint's η are refused again and again."""
        return tuple(
            Reason("friction_refused", names[one.joint], {"searches": one.refused}, {"cause": one.cause})
            for one in self._joints
            if one.left and one.refused >= REFUSED
        )

    def resume(self, etas: Sequence[float]) -> None:
        """Continue with these; raises ValueError where they belong to other laws."""
        if len(etas) != len(self.etas) or not np.isfinite(etas).all():
            raise ValueError("what was kept of the robot's friction is of other laws: it starts anew")
        for joint in self._joints:
            count = len(joint.law.start)
            joint.law.start[:], etas = etas[:count], etas[count:]

    def _look(self, joint: FrictionWindow, calm: bool) -> None:
        if joint.asked is not None or not joint.full:
            return
        if not joint.knows_usual:
            if calm:
                joint.keep_usual()
            return
        joint.left = joint.residual(joint.law.start) > self._accept.noise**2 * joint.usual
        if not joint.left:
            joint.settle()
            if joint.sharpens:
                self._search(joint, joint.sharpens, sharpens=True)
        moved = joint.left and joint.gain(self._correlation[joint.joint]) > self._accept.better
        joint.seen = joint.seen + 1 if moved else 0
        if joint.seen >= TWICE:
            joint.seen = 0
            self._search(joint, joint.room, sharpens=False)
            joint.due = joint.count + joint.room // 2  # the next search rests on new rows, half of them at least

    def _search(self, joint: FrictionWindow, rows: int, sharpens: bool) -> None:
        model = RefitModel(joint.parameters(), joint.settings, joint.axis)
        future = self._executor.submit(refit, joint.window(rows), model, None, None, self._settings)
        joint.asked = Asked(future, rows, sharpens)

    def _ended(self, joint: FrictionWindow) -> RefittedFriction | None:
        asked = joint.asked
        if asked is None or not asked.future.done():
            return None
        joint.asked = None
        window = f"{asked.rows / ROWS:g} s of motion"
        nothing = np.zeros((0, 0))
        try:
            found = asked.future.result()
        except Exception as error:
            reason = str(error) or type(error).__name__
            return RefittedFriction(
                joint.joint, asked.sharpens, reason, window, None, joint.place, np.zeros(0), nothing
            )
        names = [one.name for one in joint.law.nonlinear]
        runner_up = {} if found.runner_up is None else dict(zip(names, found.runner_up.tolist(), strict=True))
        search = SearchReport(self._settings.search, found.visits, found.evaluations, runner_up, found.gap)
        factor = self._correlation[joint.joint]
        etas = found.deviations[len(found.theta) :] / found.eta * np.sqrt(factor)
        reason = self._against_sharpening(joint, found, etas) if asked.sharpens else self._against(joint, found, etas)
        order = np.concatenate([joint.still, joint.moving])
        theta, covariance = np.empty(len(order)), np.empty((len(order),) * 2)
        theta[order] = found.theta
        covariance[np.ix_(order, order)] = factor * found.covariance[: len(order), : len(order)]
        before = joint.law.start.copy()
        words = ", ".join(
            f"{one.name} {old:.4g} → {new:.4g} {one.unit}"
            for one, old, new in zip(joint.law.nonlinear, before, found.eta, strict=True)
        )
        if not reason:
            joint.law.start[:] = found.eta
        if not reason and not asked.sharpens:
            joint.count = 0
            joint.settle()
            joint.due = joint.room
        if asked.sharpens or not reason:
            joint.rest_on(found.rows, joint.known if reason else etas)
        return RefittedFriction(joint.joint, asked.sharpens, reason, words, search, joint.place, theta, covariance)

    def _explains(self, joint: FrictionWindow, found: Refit) -> float:
        """χ² that a search's η explains beyond η in force."""
        noise = max(found.residual**2, LEAST_DIVISOR) * self._correlation[joint.joint]
        return float((joint.residual(joint.law.start, found.rows) - found.residual**2) * found.rows / noise)

    def _against_sharpening(self, joint: FrictionWindow, found: Refit, etas: Floats) -> str:
        """Why a longer window does not sharpen η, in words; "" when it does. etas: (nonlinear,) relative deviations."""
        if found.residual**2 > self._accept.noise**2 * joint.usual:
            return "the motion since η was found is explained by no η"
        if found.ambiguous or found.edge or not (etas <= joint.known).all():
            return "η is no more certain by a longer window"
        far = np.abs(np.log(found.eta / joint.law.start)) > MOVED * np.hypot(etas, joint.known)
        if far.any() and self._explains(joint, found) <= self._accept.better:
            return "another η explains a longer window, but not much better"
        return ""

    def _against(self, joint: FrictionWindow, found: Refit, etas: Floats) -> str:
        """Why a re-fit is not accepted, in words; "" when it is. etas: (nonlinear,) relative deviations."""
        accept = self._accept
        variance, before = found.residual**2, joint.residual(joint.law.start, found.rows)
        beyond, doubts = [], []
        if variance > accept.noise**2 * joint.usual:
            beyond.append(f"the residual is {np.sqrt(variance / joint.usual):.2f} times the usual one")
        if before - variance < EXPLAINS * (before - joint.usual):
            beyond.append("most of what the law leaves beyond the usual stays unexplained")
        if self._explains(joint, found) <= accept.better:
            beyond.append("the nonlinear parameters in force explain the motion nearly as well")
        if not (etas <= accept.certain).all():
            doubts.append(f"{found.names[len(found.theta) + int(np.argmax(etas))]} is uncertain")
        if found.edge:
            doubts.append(f"{', '.join(found.edge)} at an end of the range")
        if found.ambiguous:
            doubts.append(found.ambiguous)
        if is_far(found.eta, joint.law.start, accept.plausible) and joint.room <= round(WINDOW * ROWS):
            doubts.append(f"a change by more than a factor of {accept.plausible:g}, which a longer window must show")
        if cause := "; ".join(beyond + doubts):
            joint.refuse(cause, not beyond)
        return cause


def is_far(eta: Floats, before: Floats, factor: float) -> bool:
    """Whether any η has changed by more than `factor`, up or down."""
    return bool((np.abs(np.log(eta / before)) > np.log(factor)).any())


def _searchable(law: FrictionLaw) -> bool:
    """Whether a law has η, and columns that the present motion alone gives."""
    return bool(law.nonlinear) and not law.stops and not law.loaded() and law.loads == 1
