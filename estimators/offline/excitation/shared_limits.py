"""Limits that the joints of a robot share: torques at the joints, and the box that a place on the robot stays in.

    τ_min ≤ Φ(q, q̇, q̈) θ ≤ τ_max,   w(q) ∈ W₀          (Ding et al., J. Robotics 2018, 8219123, (14))

Both depend on all joints at once, so a motion that exceeds them shrinks towards home as a whole. At home, at rest, both
must be kept.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from estimators.models.robots.kinematics import forward_kinematics
from estimators.models.robots.tree import Tree
from estimators.offline.excitation.trajectory import LimitCheck, TrajectoryMotion
from estimators.quantities import Floats

HALVINGS: Final = 7  # of the factor's interval: it is found to 1 %
Torque = Callable[[Floats, Floats, Floats], Floats]  # q, dq, ddq (rows, n) → N·m (N), (rows, n)


class Workspace(NamedTuple):
    """Where a place on a link may be, m in the base frame."""

    link: int
    place: Floats  # (3,) in the link's frame
    lower: Floats  # (3,)
    upper: Floats


class SharedLimits:
    """Torques and workspace of one robot; either may be without limits."""

    def __init__(
        self, tree: Tree, home: Floats, torque: Torque | None, most: Floats, workspace: Workspace | None
    ) -> None:
        """torque: the robot's model; most: (n,) N·m (N), infinite where there is no limit. Raises ValueError."""
        self._tree, self._home, self._torque, self._most, self._workspace = tree, home, torque, most, workspace
        still = np.zeros((1, len(home)))
        beyond = [one for one in self.judge(TrajectoryMotion(home[np.newaxis], still, still)) if not one.kept]
        if beyond:
            one = beyond[0]
            what = f"{one.quantity} of joint {one.joint + 1}" if one.joint >= 0 else one.quantity
            raise ValueError(f"at home the {what} is {one.reached:.4g}, its limit {one.limit:.4g}: choose another home")

    def torques(self, moved: TrajectoryMotion) -> Floats:
        """N·m (N), (rows, n); zero without a model."""
        return np.zeros_like(moved.q) if self._torque is None else self._torque(*moved)

    def places(self, moved: TrajectoryMotion) -> Floats:
        """Where the place that is limited is, (rows, 3) m in the base frame."""
        n, space = self._tree.size(), self._workspace
        assert space is not None
        rotation, origin = np.empty((len(moved.q), n, 3, 3)), np.empty((len(moved.q), n, 3))
        forward_kinematics(*self._tree, np.ascontiguousarray(moved.q), rotation, origin)
        return np.asarray(origin[:, space.link] + rotation[:, space.link] @ space.place)

    def judge(self, moved: TrajectoryMotion) -> list[LimitCheck]:
        """Every limit, compared with what the motion does."""
        found = []
        if self._torque is not None:
            peak = np.abs(self.torques(moved)).max(axis=0)
            found += [
                LimitCheck(j, "torque", float(peak[j]), float(most), float(peak[j] - most))
                for j, most in enumerate(self._most)
                if np.isfinite(most)
            ]
        if self._workspace is not None:
            places, space = self.places(moved), self._workspace
            for k, axis in enumerate("xyz"):
                low, high = float(places[:, k].min()), float(places[:, k].max())
                below = space.lower[k] - low > high - space.upper[k]
                reached, limit = (low, space.lower[k]) if below else (high, space.upper[k])
                excess = max(space.lower[k] - low, high - space.upper[k])
                found.append(LimitCheck(-1, f"workspace {axis}", reached, float(limit), float(excess)))
        return found

    def room(self, moved: TrajectoryMotion) -> float:
        """Factor, at most 1, by which the motion about home must shrink to keep these limits."""
        if self._kept(moved):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2.0
            if self._kept(shrunk(moved, self._home, middle)):
                low = middle
            else:
                high = middle
        return low

    def _kept(self, moved: TrajectoryMotion) -> bool:
        return all(one.kept for one in self.judge(moved))


def shrunk(moved: TrajectoryMotion, home: Floats, factor: float) -> TrajectoryMotion:
    """A motion whose distance from home is so many times what it was."""
    return TrajectoryMotion(home + factor * (moved.q - home), factor * moved.dq, factor * moved.ddq)
