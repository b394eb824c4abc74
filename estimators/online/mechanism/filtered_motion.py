"""Turns positions and torques of a mechanism's drives into the model's torque, in step with the filtered measured one.

    QUICK low-pass   of position and torque; the loops give the passive joints, inverse dynamics the drives' torque
                     with the friction of every joint under its own constraint force
    SLOW low-pass    of the measured and the predicted torque: both have passed the same two filters

The model is not linear in the motion (friction turns its sign), so it is evaluated after the quick filter, whose
bandwidth is far above that of the motion, FORMED times a second.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.conditioning.gap_bridge import GapBridge
from estimators.models.mechanisms.description import MechanismError
from estimators.models.mechanisms.dynamics import ALL, IDEAL
from estimators.models.mechanisms.joint_load import LOADS, MU, NORMAL
from estimators.models.mechanisms.mechanism import Mechanism, MechanismMotion
from estimators.numerics.causal_low_pass import CausalLowPass
from estimators.online.robot.motion import CHUNK, QUICK, SLOW
from estimators.quantities import Floats

#: Hz, argued: Rate at which the model is evaluated: five times the quick low-pass, so that little is folded back.
FORMED: Final = 200.0


class MechanismChunk(NamedTuple):
    """Filtered rows of d drives, at FORMED Hz."""

    quick: Floats  # (rows, d) rad/s (m/s), speed after the quick low-pass
    dq: Floats  # (rows, d) after both
    tau: Floats  # (rows, d) measured, N·m (N)
    predicted: Floats  # (rows, d)
    friction: Floats  # (rows, d) of predicted
    stiction: Floats  # (d,) torque that friction may hold at rest
    usable: NDArray[np.bool_]  # (rows,)
    whole: bool  # all are usable
    problem: str  # why the model gives no torque; "" where it does


class MechanismFilter:
    """Turns rows of positions and torques into chunks, and keeps the mechanism's pose."""

    def __init__(self, mechanism: Mechanism, period: float) -> None:
        """period: s between rows."""
        self.mechanism = mechanism
        self._drives = np.flatnonzero(mechanism.drive)
        d = len(self._drives)
        self._stride = max(1, round(1.0 / (FORMED * period)))
        self.period = formed = self._stride * period  # s between two rows of a chunk
        self.rows = self._stride * max(1, round(CHUNK / formed))  # of one chunk
        self._quick, self._slow = CausalLowPass(2 * d, QUICK, period), CausalLowPass(4 * d, SLOW, formed)
        self._bridge = GapBridge(2 * d, period, (self._quick, self._slow))
        self.pose = mechanism.home.copy()  # (n,) rad (m), the last one
        self.loads = np.full((len(mechanism.joints), LOADS), np.nan)  # of the last row

    def absorb(self, q: Floats, tau: Floats) -> MechanismChunk:
        """Filter a chunk (rows, d) of positions and torques each; a missing value is NaN."""
        d, at = q.shape[1], slice(self._stride - 1, None, self._stride)
        values, usable, whole = self._bridge.absorb(np.concatenate((q, tau), axis=1))
        place, rate, second = (one[at] for one in self._quick.absorb(values))
        torque, problem, stiction = np.full((2, len(place), d), np.nan), "", np.zeros(d)
        if np.isfinite(place).all():
            problem, stiction = self._model(place[:, :d], rate[:, :d], second[:, :d], torque)
        if problem:
            torque[:] = place[:, d:], np.zeros((len(place), d))  # the low-pass goes on from the measured torque
            self.loads[:] = np.nan
        slow, speed, _ = self._slow.absorb(np.concatenate((place, torque[0], torque[1]), axis=1))
        tau, predicted, friction = (slow[:, k * d : (k + 1) * d] for k in (1, 2, 3))
        good = usable[at] & (problem == "")
        quick, dq = np.ascontiguousarray(rate[:, :d]), np.ascontiguousarray(speed[:, :d])
        return MechanismChunk(quick, dq, tau, predicted, friction, stiction, good, whole and not problem, problem)

    def _model(self, q: Floats, dq: Floats, ddq: Floats, out: Floats) -> tuple[str, Floats]:
        """Fill out (2, rows, d) with torque and friction; returns why it cannot, and the torque held at rest."""
        mechanism, drives = self.mechanism, self._drives
        full = np.zeros((3, len(q), mechanism.size()))
        full[:, :, drives] = q, dq, ddq
        try:
            motion = mechanism.fit(full[0], full[1], full[2], self.pose)
            solution = mechanism.inverse(motion, ALL, mechanism.description.transition)
            ideal = mechanism.inverse(motion, IDEAL)
        except MechanismError as error:
            return str(error), np.zeros(len(drives))
        out[:] = solution.tau[:, drives], (solution.tau - ideal.tau)[:, drives]
        self.pose, self.loads = motion.q[-1].copy(), solution.loads[-1]
        return "", self._held(motion, self.loads)

    def _held(self, motion: MechanismMotion, loads: Floats) -> Floats:
        """Torque of each drive (d,) that the Coulomb friction of all joints may hold in the last row's pose."""
        mechanism = self.mechanism
        J, turns = mechanism.loops(motion.q[-1:])
        n, drives, free = mechanism.size(), self._drives, np.flatnonzero(mechanism.drive == 0)
        way = np.zeros((n, len(drives)))
        way[drives, range(len(drives))] = 1.0
        if len(free):
            way[free] = -np.linalg.solve(J[0][:, free], J[0][:, drives])
        seen = np.abs(np.concatenate([np.eye(n), turns[0]]) @ way)
        return np.asarray((mechanism.bearings[:, MU] * loads[:, NORMAL]) @ seen)
