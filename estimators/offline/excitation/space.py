"""Trajectories that a search may propose: at rest at home when they begin and end, and within every limit.

The coefficients of a joint are confined to those that begin and end at rest (Σ a = 0, Σ l b = 0) at its home
(q0 = home + Σ b/(l w)), then scaled so that it just keeps its limits: every candidate is feasible. What all joints do
together, torques and the workspace, shrinks them by one factor. Liu et al., Actuators 2023, 12, 454, (16)–(18).
"""

from typing import Final, Literal

import numpy as np
from scipy.linalg import null_space

from estimators.offline.excitation.shared_limits import SharedLimits, shrunk
from estimators.offline.excitation.trajectory import FINER, SAMPLES, Fourier, TrajectoryLimits, TrajectoryMotion, basis
from estimators.quantities import Floats

Mode = Literal["peak", "bound"]
MARGIN: Final = 0.985  # of the limits, for peaks between the samples of the search


class Space:
    """What the search moves in: coefficients that begin and end at rest at home, scaled into the limits."""

    def __init__(
        self,
        limits: TrajectoryLimits,
        home: Floats,
        frequency: float,
        harmonics: int,
        mode: Mode,
        shared: SharedLimits | None = None,
    ) -> None:
        """home: (n,); frequency: Hz; shared: of torques and of the workspace, which all joints move at once."""
        self._limits, self._home, self._mode, self._shared = limits, home, mode, shared
        self._frequency, self._harmonics = frequency, harmonics
        order = np.arange(1, harmonics + 1)
        rest = np.zeros((2, 2 * harmonics))
        rest[0, :harmonics] = 1.0  # velocity at t = 0
        rest[1, harmonics:] = order  # acceleration
        self._free = null_space(rest)
        self._order = 2 * np.pi * frequency * order
        q, dq, ddq = basis(frequency, harmonics, np.arange(SAMPLES) / SAMPLES / frequency)
        self._basis = ((q - q[0]) @ self._free, dq @ self._free, ddq @ self._free)
        self.joints, self.numbers = len(home), self._free.shape[1]

    def motion(self, x: Floats) -> TrajectoryMotion:
        """x (joints · numbers,): the feasible motion on the grid of the search."""
        z = self._scaled(x)
        q, dq, ddq = (one @ z.T for one in self._basis)
        moved = TrajectoryMotion(self._home + q, dq, ddq)
        return moved if self._shared is None else shrunk(moved, self._home, self._shared.room(moved))

    def fourier(self, x: Floats) -> Fourier:
        """The feasible trajectory; its peaks are inside the limits on the finer grid too."""
        y = self._scaled(x) @ self._free.T
        found = self._series(y)
        if self._mode == "peak":
            fine = found.grid(FINER)
            y = y * np.minimum(1.0, MARGIN * self._room(fine))[:, np.newaxis]
            found = self._series(y)
        if self._shared is not None:
            found = self._series(self._shared.room(found.grid(FINER)) * y)
        return found

    def _series(self, y: Floats) -> Fourier:
        a, b = y[:, : self._harmonics], y[:, self._harmonics :]
        return Fourier(self._frequency, self._home + (b / self._order).sum(axis=1), a, b)

    def _scaled(self, x: Floats) -> Floats:
        z = x.reshape(self.joints, self.numbers)
        if self._mode == "peak":
            q, dq, ddq = (one @ z.T for one in self._basis)
            return z * (MARGIN * self._room(TrajectoryMotion(self._home + q, dq, ddq)))[:, np.newaxis]
        y = z @ self._free.T
        a, b = y[:, : self._harmonics], y[:, self._harmonics :]
        size = np.hypot(a, b)
        away, limits = (b / self._order).sum(axis=1), self._limits  # of q0 from home
        reach = (size / self._order).sum(axis=1)
        up, down = limits.upper - self._home, self._home - limits.lower
        with np.errstate(divide="ignore"):
            room = np.minimum(up / np.maximum(reach + away, 1e-300), down / np.maximum(reach - away, 1e-300))
            room = np.minimum(room, limits.velocity / size.sum(axis=1))
            room = np.minimum(room, limits.acceleration / (size * self._order).sum(axis=1))
        return np.asarray(z * (room * (1.0 - 1e-12))[:, np.newaxis])

    def _room(self, moved: TrajectoryMotion) -> Floats:
        """Factor by which each joint's motion about home may grow to touch its first limit, (n,)."""
        limits, away = self._limits, moved.q - self._home
        with np.errstate(divide="ignore"):
            room = (limits.upper - self._home) / np.maximum(away.max(axis=0), 1e-300)
            room = np.minimum(room, (self._home - limits.lower) / np.maximum(-away.min(axis=0), 1e-300))
            room = np.minimum(room, limits.velocity / np.abs(moved.dq).max(axis=0))
            return np.asarray(np.minimum(room, limits.acceleration / np.abs(moved.ddq).max(axis=0)))
