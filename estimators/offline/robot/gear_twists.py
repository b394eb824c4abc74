"""The gears between two encoders of a recorded robot: stiffness, zero and lag of each, and what is learnt beyond.

The rigid body as it is found without them loads the gears. A joint whose second encoder follows its first, and whose
twist the load makes, gets the column of gear_twist.py, in every recording and on every robot; no other does. What the
two encoders' zeros differ by is found for each recording, and so is what friction inside the gear twists it by in each
direction of motion: both would else pass for load. The stiffness is as uncertain as the twist's residual makes it, and
as the load is, whose parameters were learnt.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.models.compensation.learned import Kind, Learned, inputs
from estimators.models.robots.gear_twist import TRANSITION, GearTwist
from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.robot.fit import fit
from estimators.offline.robot.motion import Piece
from estimators.offline.robot.rows import build, correlation
from estimators.quantities import Floats

FOLLOWS: Final = 0.1  # of the position's deviation, that the twist's is at most: else it is no second encoder
CERTAIN: Final = 2.0  # deviations, from which a compliance is one
LONGEST, INDEPENDENT = 100, 0.05  # rows, and autocorrelation from which they count as independent


def gear_twists(model: WholeRobot, pieces: Sequence[Piece]) -> tuple[tuple[GearTwist | None, ...], list[str]]:
    """Gear twists of every joint of a model without any, and why a joint with a second encoder has none."""
    n = model.tree.size()
    nothing: tuple[GearTwist | None, ...] = (None,) * n
    given = [j for j in range(n) if any(piece.twist[:, j].any() for piece in pieces)]
    if not given:
        return nothing, []
    rows = build(model, pieces)
    if not rows.moves.any():
        return nothing, []
    twist = np.concatenate([piece.rows(piece.twist) for piece in pieces])[rows.moves]
    rows, known = rows.part(rows.moves), fit(model, rows)
    behind = model.behind_gears()
    torque = rows.X @ (known.theta * behind)
    found, words = list(nothing), []
    for j in given:
        name, unit = model.robot.joints[j].name, model.robot.joints[j].axis.length
        if not twist[:, j].std() < FOLLOWS * rows.q[:, j].std():
            words.append(
                f"joint {name}: its second encoder does not follow its first (they differ by {twist[:, j].std():.2g} "
                f"{unit} rms, it moves by {rows.q[:, j].std():.2g}): not used"
            )
            continue
        share = (rows.X[:, j] * behind).T @ torque[:, j] / max(float(torque[:, j] @ torque[:, j]), 1e-300)
        doubt = float(share @ known.covariance @ share)  # of the load's scale, relative and squared
        found[j] = _spring(twist[:, j], torque[:, j], rows.dq[:, j], rows.piece, doubt)
        if found[j] is None:
            words.append(f"joint {name}: what differs between its two encoders does not follow its load: not used")
    return tuple(found), words


def _spring(twist: Floats, torque: Floats, dq: Floats, piece: NDArray[np.int64], doubt: float) -> GearTwist | None:
    """Twist by least squares; None where no twist by the load is certain. doubt: relative variance of the load."""
    zeros = (piece[:, np.newaxis] == np.unique(piece)).astype(np.float64)
    X = np.column_stack([torque, dq, np.tanh(dq / TRANSITION), zeros])
    scale = np.maximum(np.sqrt((X**2).mean(axis=0)), 1e-12)
    theta, _, rank, _ = np.linalg.lstsq(X / scale, twist, rcond=1e-6)
    if rank < X.shape[1]:
        return None
    left = twist - X / scale @ theta
    counts = float(correlation(left[:, np.newaxis], piece, LONGEST, INDEPENDENT)[0])
    variance = float(left @ left) / max(len(left) - X.shape[1], 1) * counts
    deviation = np.sqrt(variance * np.linalg.inv((X / scale).T @ (X / scale))[0, 0] + doubt * theta[0] ** 2)
    if not theta[0] > CERTAIN * deviation:
        return None
    relative = float(deviation / theta[0])
    compliance, lag, _, *offsets = (theta / scale).tolist()
    zero = float(np.average(offsets, weights=zeros.sum(axis=0)))
    return GearTwist(zero, lag, 1.0 / compliance, relative / compliance)


def seen(model: WholeRobot, pieces: Sequence[Piece], j: int) -> Floats:
    """What a learnt compensation of joint j sees of all pieces: (rows, 3)."""
    gear = model.twists[j]
    assert gear is not None
    parts = []
    for piece in pieces:
        twist = gear.of(piece.twist[:, j], piece.dq[:, j])
        rate = np.gradient(twist) * piece.rate
        parts.append(inputs(*(piece.rows(one) for one in (twist, rate, piece.dq[:, j]))))
    return np.concatenate(parts)


def learn(
    kind: Kind, model: WholeRobot, pieces: Sequence[Piece], residual: Floats, moves: NDArray[np.bool_]
) -> tuple[Learned | None, ...]:
    """What the residual (rows, n) of each joint with two encoders has in common with its twist. Raises MixtureError."""
    return tuple(
        None if gear is None else Learned.fit(kind, seen(model, pieces, j)[moves], residual[moves, j])
        for j, gear in enumerate(model.twists)
    )


def compensated(
    learned: Sequence[Learned | None], model: WholeRobot, pieces: Sequence[Piece], predicted: Floats
) -> Floats:
    """A prediction (rows, n) with what was learnt of its residual."""
    found = predicted.copy()
    for j, one in enumerate(learned):
        if one is not None:
            found[:, j] += one.predict(seen(model, pieces, j))
    return found
