"""The lag of each joint's torque, as far as recordings distinguish it from θ; see models/robots/torque_lag.py."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.models.robots.torque_lag import TorqueLag
from estimators.offline.robot.cross_validation import FEWEST, GUARD
from estimators.offline.robot.fit import RobotFit
from estimators.offline.robot.rows import SETTLING, RobotRows
from estimators.offline.robot.unmodelled.friction import BeyondLaw
from estimators.quantities import Floats
from estimators.thresholds import LAG_SPREAD

WITHIN: Final = 0.1  # s between the rows before and after one, at most: no rest in between
#: s, derived: Of rows that show a joint's lag, at least: what is GUARD apart is another block, and of fewer than FEWEST
#: no standard error is known. Noise of rows that follow each other is no measure: it gave 52.5 ± 0.03 ms of 0.8 s.
SHOWN: Final = FEWEST * GUARD


def torque_lag(rows: RobotRows, found: RobotFit, beyond: BeyondLaw) -> TorqueLag:
    """What these rows say of it, given a θ that was learnt from them without it; its covariance has what friction
    beyond its law may feign. Of a joint that shows it for less than SHOWN it stays unknown."""
    late, weights = _shown(rows)[rows.moves], found.weights[0]
    rows = rows.teaching()
    residual = rows.y - rows.predicted(found.theta)
    C = np.einsum("j,tjp,tj->pj", weights, rows.X, late)
    moves = np.linalg.solve(found.information, C)
    information = np.diag(weights * (late**2).sum(axis=0) + LAG_SPREAD**-2) - C.T @ moves
    spread = np.linalg.inv(information)
    left = np.einsum("j,tj,tjk->jk", weights, late, beyond.hats)
    feigned = np.einsum("ij,jk->ijk", spread, left) - np.einsum("ij,pj,pnk->ink", spread, C, beyond.moved)
    return TorqueLag(spread @ (weights * (late * residual).sum(axis=0)), spread + beyond.of(feigned), moves)


def _shown(rows: RobotRows) -> Floats:
    """The rates of the joints that show their lag for long enough, in rows that teach; 0 of the others."""
    found = rates(rows)
    told = (found != 0.0) & rows.teaches & rows.moves[:, None]
    return np.asarray(found * (told.sum(axis=0) * np.median(np.diff(rows.time)) >= SHOWN))


def rates(rows: RobotRows) -> Floats:
    """dy/dt (rows, n); 0 where a row has no neighbours of its own piece, and about standstill and reversals.

    A joint that reverses sticks until the drive has turned its friction round, which no law without memory follows:
    the step of the torque comes later or sooner than that of the law, and has the shape of a lag.
    """
    found = np.zeros_like(rows.y)
    span = rows.time[2:] - rows.time[:-2]
    own = (rows.piece[2:] == rows.piece[:-2]) & (span < WITHIN)
    found[1:-1][own] = (rows.y[2:] - rows.y[:-2])[own] / span[own, None]
    return np.where(rows.slides & ~_reverses(rows), found, 0.0)


def _reverses(rows: RobotRows) -> NDArray[np.bool_]:
    """Rows within SETTLING of an instant at which the joint changes its direction: (rows, n).

    Each piece by itself: recordings have clocks of their own, and gaps are longer than SETTLING.
    """
    found = np.zeros(rows.dq.shape, np.bool_)
    for one in np.unique(rows.piece):
        own = np.flatnonzero(rows.piece == one)
        time, ways = rows.time[own], np.sign(rows.dq[own])
        middles = 0.5 * (time[1:] + time[:-1])
        for j in range(ways.shape[1]):
            at = middles[ways[1:, j] != ways[:-1, j]]
            if len(at):
                next_one = np.searchsorted(at, time)
                before, after = at[np.maximum(next_one - 1, 0)], at[np.minimum(next_one, len(at) - 1)]
                found[own, j] = np.minimum(np.abs(time - before), np.abs(time - after)) < SETTLING
    return found
