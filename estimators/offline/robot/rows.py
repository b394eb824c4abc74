"""Regression rows of a whole robot: the columns of WholeRobot over recordings, and sums of them block by block."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.robot.motion import CUTOFF, Piece
from estimators.quantities import Floats
from estimators.thresholds import AT_REST

BLOCK: Final = 1.0  # s in which a robot either moves or rests
CHUNK: Final = 4096  # rows whose full regressor is held at a time
SETTLING: Final = 0.16  # s about an instant, in which the low-pass still shows it
CONSTANT: Final = 1e-9  # of a torque, by which one that never changes does after the low-pass
NOISY: Final = 5.0  # deviations of the speed's noise, within which a joint may stand: an hour has none beyond
PRESLIDING: Final = 5e-4  # rad (m) of travel, up to which a gear or bearing gives way without sliding
SLOW: Final = 0.02  # of the fastest speed of a joint, below which it is at rest: a slow motion is a motion, too
PASSED: Final = 0.5 / CUTOFF  # s about an instant, in which it is most of what the low-pass shows: its main lobe
MOST: Final = 0.5  # of the rows in which a joint moves: where more are about slow passages, these teach as well


class RobotRows(NamedTuple):
    """Every row of some recordings; n joints, p = size of θ."""

    X: Floats  # (rows, n, p)
    y: Floats  # (rows, n) N·m (N)
    dq: Floats  # (rows, n)
    q: Floats  # (rows, n)
    piece: NDArray[np.int64]  # (rows,) which piece: residuals correlate inside one only
    time: Floats  # (rows,) s, on the recording's clock
    moves: NDArray[np.bool_]  # (rows,) they may teach
    slides: NDArray[np.bool_]  # (rows, n) of this joint: it does not stand, where friction is any torque and no law
    teaches: NDArray[np.bool_]  # (rows, n) of them: its friction is known to be that of its law

    def part(self, which: NDArray[np.bool_] | slice) -> "RobotRows":
        """Some of the rows."""
        return RobotRows._make(one[which] for one in self)

    def teaching(self) -> "RobotRows":
        """Rows in which the robot moves, 0 where a joint stands or its law does not tell its friction."""
        return self.weighted(self.teaches.astype(np.float64))

    def shares(self) -> Floats:
        """Share of a standstill that each row is; 0 where a joint moves or its torque never changes: (rows, n)."""
        stands = ~self.slides & (np.ptp(self.y, axis=0) > CONSTANT * np.abs(self.y).max(axis=0))
        found = np.zeros(stands.shape)
        for j in range(stands.shape[1]):
            begins = np.diff(stands[:, j], prepend=False) | (np.diff(self.piece, prepend=-1) != 0)
            number = np.cumsum(begins)
            length = np.bincount(number, self.moves)[number]
            found[:, j] = np.where(stands[:, j] & self.moves, 1.0 / np.maximum(length, 1.0), 0.0)
        return found

    def weighted(self, weights: Floats) -> "RobotRows":
        """Rows in which the robot moves, times these (rows, n) of all rows."""
        rows, own = self.part(self.moves), weights[self.moves]  # a copy
        return rows._replace(X=rows.X * own[:, :, np.newaxis], y=rows.y * own)

    @property
    def pushed(self) -> NDArray[np.bool_]:
        """Joints that give way to the others' motion at most, by no more than PRESLIDING: (n,)."""
        travel = [np.ptp(self.q[self.piece == one], axis=0) for one in np.unique(self.piece)]
        return np.asarray(np.max(travel, axis=0) <= PRESLIDING)

    def predicted(self, theta: Floats) -> Floats:
        """(rows, n)."""
        return np.asarray(self.X @ theta)

    def spread(self, covariance: Floats) -> Floats:
        """Variance (rows, n) of a prediction by θ, by its covariance (p, p)."""
        found: Floats = np.einsum("tjp,pq,tjq->tj", self.X, covariance, self.X, optimize=True)
        return np.asarray(np.maximum(found, 0.0))

    def deviation(self, covariance: Floats, variance: Floats, holding: Floats) -> Floats:
        """Deviations (rows, n) of a prediction by θ with this covariance (p, p).

        variance: (n,) in addition to it; holding: (n,) more where a joint stands, as friction may be any torque there.
        """
        beside = variance + np.where(self.slides & ~self.pushed, 0.0, holding)
        return np.asarray(np.sqrt(self.spread(covariance) + beside))


def build(
    model: WholeRobot,
    pieces: Sequence[Piece],
    parameters: Floats | None = None,
    reach: Floats | None = None,
    passages: bool = True,
) -> RobotRows:
    """The rows of all pieces, at least one.

    parameters: (n, 10) of the rigid body whose torque loads the friction; reach: (n,) see WholeRobot.others; passages:
    whether a joint's slow passages teach although its law does not tell its friction there, see `_lawful`.
    """
    reach = np.full(model.tree.size(), np.inf) if reach is None else reach
    rest = resting_speed(pieces)
    parts = [_rows(model, piece, number, parameters, reach, rest, passages) for number, piece in enumerate(pieces)]
    return joined(parts)


def resting_speed(pieces: Sequence[Piece]) -> Floats:
    """Speeds, rad/s (m/s), up to which a joint may stand, by its fastest motion and its encoder's noise: (n,)."""
    fastest = np.max([np.abs(piece.rows(piece.dq)).max(axis=0, initial=0.0) for piece in pieces], axis=0)
    noise = np.max([piece.noise for piece in pieces], axis=0)
    return np.asarray(np.maximum(np.minimum(AT_REST, SLOW * fastest), NOISY * noise))


class JointSums(NamedTuple):
    """Sums over every joint's rows."""

    K: Floats  # (n, p, p) XᵀX
    c: Floats  # (n, p) Xᵀy
    squares: Floats  # (n,) yᵀy

    def without(self, other: "JointSums") -> "JointSums":
        """Sums over those rows that are not the other's."""
        return JointSums(self.K - other.K, self.c - other.c, self.squares - other.squares)

    def weighed(self, weights: Floats) -> tuple[Floats, Floats]:
        """XᵀWX (p, p) and XᵀWy (p,); weights: (n,) of each joint's rows."""
        return np.einsum("j,jpq->pq", weights, self.K), weights @ self.c

    def left(self, theta: Floats) -> Floats:
        """Squares of the residual by θ (p,), summed: (n,)."""
        return np.asarray(self.squares - 2.0 * self.c @ theta + np.einsum("p,jpq,q->j", theta, self.K, theta))


def sums(rows: RobotRows) -> JointSums:
    """Sums over these rows."""
    n, p = rows.X.shape[1:]
    K, c = np.empty((n, p, p)), np.empty((n, p))
    for j in range(n):
        X = np.ascontiguousarray(rows.X[:, j])
        K[j], c[j] = X.T @ X, X.T @ rows.y[:, j]
    return JointSums(K, c, (rows.y**2).sum(axis=0))


class Taught(NamedTuple):
    """What recordings teach: rows in which a joint moves, and rows in which it stands.

    The torque that holds a joint at rest may have any value up to its friction, for the whole standstill.
    """

    sliding: JointSums
    standing: JointSums  # one row's worth a standstill
    standstills: Floats  # (n,) how many

    @classmethod
    def of(cls, rows: RobotRows, shares: Floats) -> "Taught":
        """What these rows teach; shares: of their standstills, see RobotRows.shares."""
        standing = rows.weighted(np.sqrt(shares))
        return cls(sums(rows.teaching()), sums(standing), shares.sum(axis=0))

    def without(self, held: "Taught") -> "Taught":
        """What is left without the other's rows."""
        return Taught(
            self.sliding.without(held.sliding),
            self.standing.without(held.standing),
            self.standstills - held.standstills,
        )

    def weighed(self, weights: Floats) -> tuple[Floats, Floats]:
        """XᵀWX (p, p) and XᵀWy (p,); weights: (2, n) of rows in which each joint moves, and in which it stands."""
        K, c = self.sliding.weighed(weights[0])
        more = self.standing.weighed(weights[1])
        return K + more[0], c + more[1]


def joined(parts: Sequence[RobotRows]) -> RobotRows:
    """Rows one after the other, at least one part."""
    return RobotRows._make(np.concatenate(one) for one in zip(*parts, strict=True))


def _rows(
    model: WholeRobot,
    piece: Piece,
    number: int,
    parameters: Floats | None,
    reach: Floats,
    rest: Floats,
    passages: bool,
) -> RobotRows:
    q, dq, ddq, y = (piece.rows(one) for one in (piece.q, piece.dq, piece.ddq, piece.tau))
    X = np.zeros((len(q), model.tree.size(), model.size))
    for first in range(0, len(q), CHUNK):
        chunk = slice(first, first + CHUNK)
        X[chunk, :, : model.base] = model.rigid(q[chunk], dq[chunk], ddq[chunk])
    at, speed, acceleration, twist = piece.between()
    load = np.zeros_like(at)
    if model.loaded and parameters is not None:
        load = model.load(parameters, at, speed, acceleration)
    for joint, term, column in model.others(at, speed, acceleration, load, reach, twist):
        own = column[:: piece.finer]  # what the torque's samples saw, frequencies above half their rate with them
        X[:, joint, model.base + term] = piece.rows(own if np.ptp(own) == 0.0 else piece.filtered(own))
    fast = np.abs(dq) > rest
    moves, slides = _moves(fast, piece.row_rate), _slides(fast, piece.row_rate)
    every = np.array([passages or model.passes_slowly(j) for j in range(model.tree.size())])
    teaches = np.where(every, slides, _lawful(piece, slides, rest))
    return RobotRows(X, y, dq, q, np.full(len(q), number), piece.time, moves, slides, teaches)


def _moves(fast: NDArray[np.bool_], rate: float) -> NDArray[np.bool_]:
    """Rows of the blocks in which some joint is fast (rows, n): (rows,)."""
    blocks = np.arange(len(fast)) // max(round(BLOCK * rate), 1)
    return np.asarray(np.bincount(blocks, fast.any(axis=1), minlength=1)[blocks] > 0)


def _slides(fast: NDArray[np.bool_], rate: float) -> NDArray[np.bool_]:
    """Rows of a joint that are not part of a standstill of 2·SETTLING and more: a reversal is none. (rows, n)."""
    width = 2 * round(SETTLING * rate) + 1
    if len(fast) < width:
        return fast.copy()
    stands = np.lib.stride_tricks.sliding_window_view(~fast, width, axis=0).all(axis=2)
    around = np.pad(stands, ((width - 1, width - 1), (0, 0)))
    return np.asarray(~np.lib.stride_tricks.sliding_window_view(around, width, axis=0).any(axis=2))


def _lawful(piece: Piece, slides: NDArray[np.bool_], rest: Floats) -> NDArray[np.bool_]:
    """Rows in which a joint moves, PASSED and more from where it is slow: (rows, n).

    A gear gives way before it slides, so after a reversal friction grows to what a law without memory says; Coulomb
    friction that is learnt from such rows is too small, and viscous friction too large. A quick reversal may fall
    between two rows.
    """
    slow, wide = np.abs(piece.dq) <= rest, PASSED * piece.rate
    slow[1:] |= np.sign(piece.dq[1:]) != np.sign(piece.dq[:-1])
    count = np.concatenate([np.zeros((1, slow.shape[1]), np.int64), np.cumsum(slow, axis=0)])
    first, last = (np.clip(np.round(piece.at + way), 0, len(slow)).astype(int) for way in (-wide, wide + 1.0))
    left = slides & (count[last] == count[first])
    return np.asarray(np.where(left.sum(axis=0) < MOST * slides.sum(axis=0), slides, left))


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
