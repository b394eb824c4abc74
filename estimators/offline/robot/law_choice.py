"""Which friction law a whole robot gets: the default, unless blocked cross-validation finds another clearly better.

The recording is cut into blocks of time; each is predicted by what the others teach, a second on either side of it left
out. A law beyond the default must beat it where the joints move, in a one-sided t-test of the differences between
blocks, at 5 % over all laws tried, halve the squared error and take off 1 % of the torque; and it must be no worse with
the reversals. Those alone choose no law: a joint that sticks has any torque, and what follows it there follows nothing
else. Blocks of one recording share its positions, warmth and load, and flatter what fits these (a fifth less error
inside a recording has been none in another). Nonlinear parameters are searched on a lattice first, joint by joint, with
the links as the default found them.
"""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from estimators.models.friction import AnyFriction
from estimators.models.friction.base import FrictionLaw
from estimators.models.robots.description import RobotDescription
from estimators.models.robots.files.identified import REACH
from estimators.models.robots.newton_euler import mass_matrix
from estimators.models.robots.whole_robot import DEFAULT, NOMINAL, RobotFriction, WholeRobot
from estimators.offline.robot.fit import fit, sums
from estimators.offline.robot.motion import MotionError, Piece
from estimators.offline.robot.rows import RobotRows, build
from estimators.quantities import Floats

BLOCKS: Final = 6
GUARD: Final = 1.0  # s on either side of a block that do not teach; half a block where that is less
DOUBT: Final = 0.05  # chance that any of the laws tried is taken though none is better
SQUARES: Final = 0.5  # of the default's squared error, below which a law is worth it
LEAST: Final = 0.01  # of the torque, that it must explain beyond the default
PASSES: Final = 4  # of links, load and friction in turn
LATTICE: Final = 5  # values of each nonlinear parameter


class LawScore(NamedTuple):
    """One law under cross-validation."""

    law: str
    error: float  # % of the torque, over all blocks
    difference: float  # default − this, mean over blocks of the squared relative error where joints move
    deviation: float  # of that mean


class Choice(NamedTuple):
    """The law of every joint, and how the others did."""

    laws: tuple[RobotFriction, ...]
    verdicts: list[LawScore]
    predicted: Floats  # (rows, n) by what the other blocks teach; NaN where too little is left of them
    rows: RobotRows  # with the chosen law
    loading: Floats  # (n, 10) standard parameters of the rigid body that loads the friction


def with_rotors(robot: RobotDescription, pieces: list[Piece], say: Callable[[str], None]) -> RobotDescription:
    """Where torque is motor current and the rotor's inertia is not given, it is learnt if cross-validation wants it.

    Its prior: zero, with half of the inertia that the described links have about the joint, on average over the motion.
    """
    unknown = [j for j, joint in enumerate(robot.joints) if joint.by_current and joint.rotor == 0.0]
    if not unknown:
        return robot
    say("rotors")
    links = _inertia(robot, np.concatenate([piece.rows(piece.q) for piece in pieces]))
    joints = [
        replace(joint, unknown_rotor=NOMINAL * float(links[j])) if j in unknown else joint
        for j, joint in enumerate(robot.joints)
    ]
    free = replace(robot, joints=tuple(joints))
    losses = []
    for model in (WholeRobot(robot), WholeRobot(free)):
        rows = build(model, pieces)
        losses.append(_validated(model, rows, _blocks(rows))[1] if rows.moves.any() else np.zeros(0))
    without, lost = losses
    if len(without) < 3 or len(lost) != len(without):
        return robot
    better = without - lost
    deviation = float(better.std(ddof=1) / np.sqrt(len(better)))
    enough = max(float(t.ppf(1.0 - DOUBT, len(better) - 1)) * deviation, (1.0 - SQUARES) * float(without.mean()))
    return free if better.mean() > enough else robot


def _inertia(robot: RobotDescription, q: Floats) -> Floats:
    """Inertia of all that each joint moves, on average over positions (rows, n): (n,) kg·m² (kg)."""
    M = np.empty((*q.shape, q.shape[1]))
    mass_matrix(*robot.tree(), np.ascontiguousarray(q), np.ascontiguousarray(robot.parameters), M)
    return np.asarray(M.diagonal(axis1=1, axis2=2).mean(axis=0))


def candidates() -> tuple[AnyFriction, ...]:
    """Every law of the catalogue as it is by default, but for the default itself."""
    union = get_args(get_args(AnyFriction)[0])
    return tuple(kind() for kind in union if kind().kind != DEFAULT.kind)


def choose(
    model: WholeRobot, pieces: list[Piece], others: tuple[AnyFriction, ...] | None, say: Callable[[str], None]
) -> Choice:
    """Cross-validate; others: laws to try beside the default, all of the catalogue if None. Raises MotionError."""
    say("friction law: default")
    rows = build(model, pieces)
    if not rows.moves.any():
        raise MotionError(["no joint moves in what is to be learnt from"])
    if not np.ptp(rows.y, axis=0).any():
        raise MotionError(["no joint has a torque that changes in what is to be learnt from"])
    found = fit(model, rows)
    blocks = _blocks(rows)
    predicted, losses = _validated(model, rows, blocks)
    parameters = model.standard(found.theta[: model.base])
    verdicts = [LawScore(DEFAULT.kind, _error(rows, predicted), 0.0, 0.0)]
    best = Choice(model.laws, verdicts, predicted, rows, parameters)
    gain = 0.0
    if len(losses) < 3:
        return best
    rigid = rows.y - rows.X[:, :, : model.base] @ found.theta[: model.base]
    load = rows.y - rigid
    tried = candidates() if others is None else others
    errors = float(t.ppf(1.0 - DOUBT / max(len(tried), 1), len(losses) - 1))
    for law in tried:
        say(f"friction law: {law.kind}")
        laws = tuple(_searched(law, model, rows, rigid, load, j) for j in range(rows.y.shape[1]))
        trial = WholeRobot(model.robot, laws, model.twists)
        reach = REACH * np.abs(rows.dq).max(axis=0)
        columns = build(trial, pieces, parameters, reach)
        other, lost = _validated(trial, columns, blocks)
        better = losses - lost
        deviation = float(better.std(ddof=1) / np.sqrt(len(better)))
        verdicts.append(LawScore(law.kind, _error(rows, other), float(better.mean()), deviation))
        enough = max(errors * deviation, gain, (1.0 - SQUARES) * float(losses.mean()), LEAST**2)
        if better.mean() > enough and verdicts[-1].error < verdicts[0].error:
            gain = float(better.mean())
            best = Choice(laws, verdicts, other, columns, parameters)
    return best


def imposed(model: WholeRobot, pieces: list[Piece], law: RobotFriction, say: Callable[[str], None]) -> Choice:
    """One law for every joint, whatever the others would do; its verdict stands beside the default's.

    What loads it follows from the links, and the links from what it leaves: they are found in turn, PASSES times.
    """
    plain = choose(model, pieces, (), say)
    say(f"friction law: {law.kind}")
    trial = WholeRobot(model.robot, (law,) * len(model.robot.joints), model.twists)
    parameters, rows = plain.loading, plain.rows
    reach = REACH * np.abs(rows.dq).max(axis=0)
    for _ in range(PASSES if trial.loaded else 1):
        rows = build(trial, pieces, parameters, reach)
        if not rows.moves.any():
            return plain
        parameters, loading = trial.standard(fit(trial, rows).theta[: trial.base]), parameters
    blocks = _blocks(rows)
    predicted, lost = _validated(trial, rows, blocks)
    before = np.nansum((rows.y - plain.predicted) ** 2) / np.nansum(rows.y**2)
    verdict = LawScore(law.kind, _error(rows, predicted), float(before - np.mean(lost)), float("nan"))
    return Choice(trial.laws, [*plain.verdicts, verdict], predicted, rows, loading)


def _blocks(rows: RobotRows) -> NDArray[np.int64]:
    """Number of the block of every row, of equal lengths over all pieces: (rows,)."""
    return (np.arange(len(rows.y)) * BLOCKS // max(len(rows.y), 1)).astype(np.int64)


def _validated(model: WholeRobot, rows: RobotRows, blocks: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Every row predicted by the other blocks, and each block's squared relative error."""
    predicted, whole_sums = np.full_like(rows.y, np.nan), sums(rows.teaching())
    for block in range(BLOCKS):
        held = blocks == block
        if not held.any():
            continue
        apart = ~held
        for piece in np.unique(rows.piece[held]):
            mine = held & (rows.piece == piece)
            first, last = rows.time[mine].min(), rows.time[mine].max()
            guard = min(GUARD, 0.5 * (last - first))
            near = (rows.time > first - guard) & (rows.time < last + guard)
            apart &= ~(near & (rows.piece == piece))
        taught = rows.part(apart)
        if taught.moves.sum() * rows.y.shape[1] < model.size:
            continue
        left = whole_sums.without(sums(rows.part(~apart).teaching()))
        predicted[held] = rows.X[held] @ fit(model, taught, known=left).theta
    whole = float(np.nanmean((rows.y**2).sum(axis=1)))
    lost = [
        float(np.nansum((rows.slides * (rows.y - predicted))[blocks == block] ** 2) / (blocks == block).sum() / whole)
        for block in range(BLOCKS)
        if np.isfinite(predicted[blocks == block]).any()
    ]
    return predicted, np.array(lost)


def _error(rows: RobotRows, predicted: Floats) -> float:
    known = np.isfinite(predicted)
    length = float(np.linalg.norm(rows.y[known]))
    return 100.0 * float(np.linalg.norm((rows.y - predicted)[known])) / length if length > 0 else float("nan")


def _searched(
    law: AnyFriction, model: WholeRobot, rows: RobotRows, target: Floats, load: Floats, j: int
) -> AnyFriction:
    """The law with the η of a lattice that explains best what the links leave of joint j's torque."""
    found = law.law(model.robot.joints[j].axis)
    moves, best, chosen = rows.moves & rows.slides[:, j], np.inf, law
    if not found.nonlinear or not moves.any():
        return law
    grids = [np.geomspace(max(one.low, 1e-3), one.high, LATTICE) for one in found.nonlinear]
    for eta in itertools.product(*grids):
        lost = _left(found, rows, target, load, j, np.array(eta), moves)
        if lost < best:
            best = lost
            update = {one.name: float(value) for one, value in zip(found.nonlinear, eta, strict=True)}
            chosen = law.model_copy(update=update)
    return chosen


def _left(
    law: FrictionLaw,
    rows: RobotRows,
    target: Floats,
    load: Floats,
    j: int,
    eta: Floats,
    moves: NDArray[np.bool_],
) -> float:
    columns = law.columns(rows.q[moves, j], rows.dq[moves, j], load[moves, j], eta)
    A = np.column_stack([columns, np.ones(len(columns))])
    length = np.linalg.norm(A, axis=0)
    A = A / np.where(length > 0, length, 1.0)
    theta = np.linalg.solve(A.T @ A + 1e-6 * np.eye(A.shape[1]), A.T @ target[moves, j])
    return float(((target[moves, j] - A @ theta) ** 2).sum())
