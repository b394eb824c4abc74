"""Regression rows of a whole robot: the columns of WholeRobot over recordings, and sums of them block by block."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.robot.motion import Piece
from estimators.quantities import Floats
from estimators.thresholds import AT_REST

BLOCK: Final = 50  # rows: 1 s, in which a robot either moves or rests
CHUNK: Final = 4096  # rows whose full regressor is held at a time
SETTLING: Final = 8  # rows (0.16 s) about a standstill, in which the low-pass still says it


class RobotRows(NamedTuple):
    """Every row of some recordings; n joints, p = size of θ."""

    X: Floats  # (rows, n, p)
    y: Floats  # (rows, n) N·m (N)
    dq: Floats  # (rows, n)
    q: Floats  # (rows, n)
    piece: NDArray[np.int64]  # (rows,) which piece: residuals correlate inside one only
    time: Floats  # (rows,) s, on the recording's clock
    moves: NDArray[np.bool_]  # (rows,) they may teach
    slides: NDArray[np.bool_]  # (rows, n) of this joint: it does not stick, where friction is any torque and no law

    def part(self, which: NDArray[np.bool_] | slice) -> "RobotRows":
        """Some of the rows."""
        X, y, dq, q, piece, time, moves, slides = self
        return RobotRows(
            X[which], y[which], dq[which], q[which], piece[which], time[which], moves[which], slides[which]
        )

    def teaching(self) -> "RobotRows":
        """Rows in which the robot moves, 0 where a joint sticks."""
        rows = self.part(self.moves)  # a copy
        rows.X[~rows.slides] = 0.0
        rows.y[~rows.slides] = 0.0
        return rows

    def predicted(self, theta: Floats) -> Floats:
        """(rows, n)."""
        return np.asarray(self.X @ theta)


def build(
    model: WholeRobot, pieces: Sequence[Piece], parameters: Floats | None = None, reach: Floats | None = None
) -> RobotRows:
    """The rows of all pieces, at least one.

    parameters: (n, 10) of the rigid body whose torque loads the friction; reach: (n,) see WholeRobot.others.
    """
    reach = np.full(model.tree.size(), np.inf) if reach is None else reach
    parts = [_rows(model, piece, number, parameters, reach) for number, piece in enumerate(pieces)]
    return joined(parts)


def joined(parts: Sequence[RobotRows]) -> RobotRows:
    """Rows one after the other, at least one part."""
    X, y, dq, q, piece, time, moves, slides = map(np.concatenate, zip(*parts, strict=True))
    return RobotRows(X, y, dq, q, piece, time, moves, slides)


def _rows(model: WholeRobot, piece: Piece, number: int, parameters: Floats | None, reach: Floats) -> RobotRows:
    q, dq, ddq, y = (piece.rows(one) for one in (piece.q, piece.dq, piece.ddq, piece.tau))
    X = np.zeros((len(q), model.tree.size(), model.size))
    for first in range(0, len(q), CHUNK):
        chunk = slice(first, first + CHUNK)
        X[chunk, :, : model.base] = model.rigid(q[chunk], dq[chunk], ddq[chunk])
    load = np.zeros_like(piece.tau)
    if model.loaded and parameters is not None:
        load = model.load(parameters, piece.q, piece.dq, piece.ddq)
    for joint, term, column in model.others(piece.q, piece.dq, piece.ddq, load, reach, piece.twist):
        linear = column is piece.ddq[:, joint] or np.ptp(column) == 0.0
        X[:, joint, model.base + term] = piece.rows(column if linear else piece.filtered(column))
    return RobotRows(X, y, dq, q, np.full(len(q), number), piece.time, _moves(dq), _slides(dq))


def _moves(dq: Floats) -> NDArray[np.bool_]:
    fast = (np.abs(dq) > AT_REST).any(axis=1)
    blocks = np.arange(len(dq)) // BLOCK
    return np.asarray(np.bincount(blocks, fast, minlength=1)[blocks] > 0) if len(dq) else np.zeros(0, np.bool_)


def _slides(dq: Floats) -> NDArray[np.bool_]:
    fast = np.pad(np.abs(dq) > AT_REST, ((SETTLING, SETTLING), (0, 0)), "edge")
    return np.asarray(np.lib.stride_tricks.sliding_window_view(fast, 2 * SETTLING + 1, axis=0).all(axis=2))


def correlation(residual: Floats, piece: NDArray[np.int64], longest: int, least: float) -> Floats:
    """c_j = 1 + 2 Σ autocorrelation up to its first value below `least`: rows that count as one, (n,)."""
    found = np.ones(residual.shape[1])
    ends = np.flatnonzero(np.diff(piece)) + 1
    parts = np.split(residual, ends)
    for j in range(residual.shape[1]):
        power = float((residual[:, j] ** 2).sum())
        if not power > 0:
            continue
        for lag in range(1, longest + 1):
            value = sum(float(part[lag:, j] @ part[:-lag, j]) for part in parts if len(part) > lag) / power
            if value < least:
                break
            found[j] += 2.0 * value
    return found
