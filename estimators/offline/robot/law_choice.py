"""Which friction law a whole robot gets, and whether plain least squares does better: blocked cross-validation.

Every motion is predicted by what the others teach (cross_validation.py). Laws of two kinds are tried in addition to the
default.

Universal ones say the same in every pose: friction that grows with the load, friction with memory (maxwell_slip.py),
both together, and a difference between the directions. Coefficients that the data do not determine stay at zero: from
the simplest on, each takes the place of the one before if the ratios of the blocks' errors are better in a one-sided
t-test at 5 %. Where joints stand for a while, the direction of their last motion holds there, if that is better:
sign(q̇) is that of noise, and the law has as many coefficients.

Others (curves over speed with parameters of their own, friction by place) fit one recording's speeds, positions and
warmth, and flatter themselves (a fifth less error inside a recording has been none in another). Such a law must beat
the one chosen so far in a one-sided t-test of the differences between blocks, at 5 % over all laws tried, and halve the
squared error. Where one joint alone moves, and both ways, friction by place counts as universal.

The mean of a law with memory and of the richest universal one takes its place if it is better by a standard error. So
does, then, its mean with the richest one that bends over speed, if it takes off BEND of the squared error, too: what
both differ by at a row's speed is in that row's deviation (averaged).

A law with a coefficient that is at its bound of zero and that the data do not tell is none. Nonlinear parameters are
searched on a lattice first, joint by joint. Standstills teach if the default law is better for it.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from estimators.models.friction import AnyFriction
from estimators.models.friction.base import FrictionLaw
from estimators.models.friction.load_dependent import LoadDependentSettings
from estimators.models.robots.files.identified import REACH
from estimators.models.robots.maxwell_slip import MaxwellSlipSettings
from estimators.models.robots.whole_robot import DEFAULT, RobotFriction, WholeRobot
from estimators.offline.robot.cross_validation import (
    FEWEST,
    Validated,
    better,
    gained,
    halved,
    least_squares,
    likelier,
    validated,
)
from estimators.offline.robot.fit import RobotFit, Weights, fit
from estimators.offline.robot.motion import MotionError, Piece
from estimators.offline.robot.rows import CONSTANT, RobotRows, build
from estimators.quantities import Floats
from estimators.thresholds import GOOD

DOUBT: Final = 0.05  # chance that any of the laws tried is taken though none is better
SQUARES: Final = 0.5  # of the squared error so far, below which a law that is not universal is worth it
PASSES: Final = 4  # of links, load and friction in turn
EITHER: Final = 0.25  # of the rows, in which a joint moves the rarer way at least, else direction is place
CONDITION: Final = 100.0  # of the rows, above which a motion is not exciting (Gautier, Khalil, IJRR 11:362–375, 1992)
RICHEST: Final = "maxwell_slip, load, directions"
BEND: Final = 0.1  # of the squared error, logarithm, below which a bend over speed is not distinguished from memory
LATTICE: Final = 5  # values of each nonlinear parameter
ZERO: Final = 1e-6  # of its deviation, up to which a coefficient is zero


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
    validated: Validated
    rows: RobotRows  # with the chosen law
    loading: Floats  # (n, 10) standard parameters of the rigid body that loads the friction
    weights: Weights = "honest"
    other: Floats | None = None  # (p,) of another model, where the mean of its θ and of the recipe's predicts best


def candidates() -> tuple[AnyFriction, ...]:
    """Every law of the catalogue as it is by default, but for the default itself."""
    union = get_args(get_args(AnyFriction)[0])
    return tuple(kind() for kind in union if kind().kind != DEFAULT.kind)


class Tried(NamedTuple):
    """A law of every joint under cross-validation."""

    laws: tuple[RobotFriction, ...]
    rows: RobotRows
    validated: Validated
    verdict: LawScore


class _Trial:
    """What laws are tried on: a model with the default law, and what it makes of the recordings."""

    def __init__(self, model: WholeRobot, pieces: list[Piece], rows: RobotRows) -> None:
        self.model, self.pieces, self.rows = model, pieces, rows
        kinds: list[Weights] = ["honest", "still", "moving"]
        if rows.slides[rows.moves].any(axis=0).all():
            kinds.remove("still")
        tried = [validated(model, rows, kind) for kind in kinds]
        first = int(np.argmin([one.standing.sum() for one in tried])) if len(tried[0].standing) else 0
        self.kind, own = kinds[first], tried[first]
        self.found: RobotFit = fit(model, rows, self.kind)
        self.parameters = model.standard(self.found.theta[: model.base])
        self.load = rows.X[:, :, : model.base] @ self.found.theta[: model.base]
        self.reach = REACH * np.abs(rows.dq).max(axis=0)
        self.default = Tried(model.laws, rows, own, LawScore(DEFAULT.kind, own.error, 0.0, 0.0))

    def of(self, name: str, laws: tuple[RobotFriction, ...]) -> Tried:
        """Try one law of every joint."""
        trial = WholeRobot(self.model.robot, laws, self.model.twists)
        rows = build(trial, self.pieces, self.parameters, self.reach)
        found = validated(trial, rows, self.kind)
        gain, deviation = gained(self.default.validated.losses, found.losses)
        return Tried(laws, rows, found, LawScore(name, found.error, gain, deviation))

    def universal(self) -> list[tuple[str, tuple[RobotFriction, ...]]]:
        """Laws that say the same in every pose, the simplest first: their names and those of the joints."""
        plain = (LoadDependentSettings(stribeck=False),) * len(self.model.robot.joints)
        return [
            ("maxwell_slip, no ladder", self.slipping({"thresholds": ()})),
            ("load_dependent, no peak", plain),
            ("maxwell_slip", self.slipping({})),
            ("maxwell_slip, load", self.slipping({"load": True})),
            (RICHEST, self.slipping({"load": True}, True)),
        ]

    def slipping(
        self, more: dict[str, Any], directions: bool = False, place: bool = False, curve: bool = False
    ) -> tuple[RobotFriction, ...]:
        """Friction with memory of every joint."""
        return slipping(self.rows, self.found, more, directions, place, curve)


def slipping(
    rows: RobotRows,
    found: RobotFit,
    more: dict[str, Any],
    directions: bool = False,
    place: bool = False,
    curve: bool = False,
) -> tuple[RobotFriction, ...]:
    """Friction with memory of every joint; its weights may be as large as what plain friction, `found`, leaves.

    directions, place, curve: whether it differs between the directions, by place, and bends over speed.
    """
    fastest = np.maximum(np.abs(rows.dq).max(axis=0), 1e-6)
    lower, upper, left = rows.q.min(axis=0), rows.q.max(axis=0), np.sqrt(found.variance)
    middle, half = (lower + upper) / 2.0, np.maximum((upper - lower) / 2.0, 1e-6)
    return tuple(
        MaxwellSlipSettings(
            spread=max(float(left[j]), 1e-9),
            directional=float(fastest[j]) if directions else None,
            curve=float(fastest[j]) if curve else None,
            position=(float(middle[j]), float(half[j])) if place else None,
            **more,
        )
        for j in range(len(left))
    )


def choose(
    model: WholeRobot, pieces: list[Piece], others: tuple[AnyFriction, ...] | None, say: Callable[[str], None]
) -> Choice:
    """Cross-validate; others: laws to try with the default, the universal ones and the catalogue's if None.

    Raises MotionError.
    """
    say("friction law: default")
    rows = build(model, pieces)
    rounding = CONSTANT * np.abs(rows.q).max(axis=0)  # by which a low-pass moves what stands
    if not rows.moves.any() or (np.ptp(rows.q, axis=0) <= rounding).all():
        raise MotionError(["no joint moves in what is to be learnt from"])
    if not np.ptp(rows.y, axis=0).any():
        raise MotionError(["no joint has a torque that changes in what is to be learnt from"])
    trial = _Trial(model, pieces, rows)
    best, tried = trial.default, [trial.default]
    enough = len(best.validated.losses) >= FEWEST
    if enough and others is None:
        best, more = _simplest(trial, say)
        tried += more
    if enough:
        best, more = _special(trial, best, candidates() if others is None else others, others is None, say)
        tried += more
    verdicts = [one.verdict for one in tried]
    chosen = Choice(best.laws, verdicts, best.validated, best.rows, trial.parameters, trial.kind)
    if not enough or others is not None:
        return chosen
    say("least squares")
    plain = validated(model, rows, "ordinary")
    gain, deviation = gained(best.validated.losses, plain.losses)
    verdicts.append(
        LawScore("ordinary least squares", plain.error, *gained(trial.default.validated.losses, plain.losses))
    )
    if gain > deviation and plain.error < best.validated.error:
        return Choice(model.laws, verdicts, plain, rows, trial.parameters, "ordinary")
    least = least_squares(rows)
    if least.condition <= CONDITION:
        mean = halved(rows, least.predicted, trial.default.validated.predicted)
        verdicts.append(
            LawScore("mean with least squares", mean.error, *gained(trial.default.validated.losses, mean.losses))
        )
        if likelier(best.validated, mean):
            return Choice(model.laws, verdicts, mean, rows, trial.parameters, trial.kind, least.theta)
    if not isinstance(chosen.laws[0], MaxwellSlipSettings):
        return chosen
    [richest] = [one for one in tried if one.verdict.law == RICHEST]
    shared = _mean_with(richest, chosen, trial)
    named = f"{RICHEST}, bent over speed"
    say(f"friction law: {named}")
    bent = _mean_with(trial.of(named, trial.slipping({"load": True}, True, curve=True)), chosen, trial)
    found = chosen
    for sharing, needed in ((shared, 0.0), (bent, BEND)):
        if sharing is None or not likelier(found.validated, sharing.validated, 1.0):
            continue
        if gained(np.log(chosen.validated.losses), np.log(sharing.validated.losses))[0] > needed:
            found = sharing
    return found


def _mean_with(richer: Tried, chosen: Choice, trial: _Trial) -> Choice | None:
    """The mean of a law with memory and of a richer one; None where that is not richer."""
    models = [WholeRobot(trial.model.robot, laws, trial.model.twists) for laws in (chosen.laws, richer.laws)]
    names, all_names = (model.names for model in models)
    if not set(names) < set(all_names):
        return None
    mean = halved(richer.rows, chosen.validated.predicted, richer.validated.predicted)
    gain = gained(trial.default.validated.losses, mean.losses)
    chosen.verdicts.append(LawScore(f"mean with {richer.verdict.law}", mean.error, *gain))
    theta = np.zeros(len(all_names))
    theta[[all_names.index(name) for name in names]] = fit(models[0], chosen.rows, chosen.weights).theta
    return Choice(richer.laws, chosen.verdicts, mean, richer.rows, chosen.loading, chosen.weights, theta)


def _simplest(trial: _Trial, say: Callable[[str], None]) -> tuple[Tried, list[Tried]]:
    """The simplest universal law that is no worse than the best by a standard error, and all that were tried."""
    laws = trial.universal()
    if _place_is_pose(trial.rows):
        laws.append(("maxwell_slip, load, directions, place", trial.slipping({"load": True}, True, True)))
    tried = []
    for name, one in laws:
        say(f"friction law: {name}")
        tried.append(trial.of(name, one))
    chosen = _at_rest(trial, tried[0])
    for richer in tried[1:]:
        if better(chosen.validated, richer.validated):
            chosen = richer
    return chosen, tried


def _place_is_pose(rows: RobotRows) -> bool:
    """Whether only one joint moves, and both ways: in one direction friction by place is gravity."""
    moves = rows.moves[:, np.newaxis] & rows.slides & (np.ptp(rows.q, axis=0) > 0.0)
    if np.count_nonzero(moves.any(axis=0)) != 1:
        return False
    dq = rows.dq[moves]
    return bool(min(np.mean(dq > 0.0), np.mean(dq < 0.0)) > EITHER)


def _at_rest(trial: _Trial, held: Tried) -> Tried:
    """The default; where joints stand for a while and it is better, the law with the direction of their last motion."""
    before, after, rows = trial.default.validated, held.validated, trial.rows
    stands = 1.0 - float(rows.slides[rows.moves].mean()) > GOOD
    return held if stands and gained(before.standing, after.standing)[0] > 0.0 else trial.default


def _special(
    trial: _Trial, best: Tried, laws: Sequence[AnyFriction], by_place: bool, say: Callable[[str], None]
) -> tuple[Tried, list[Tried]]:
    """A law that is much better than the best so far, or that, and all that were tried; by_place: that, too."""
    n, tried, start = len(trial.model.robot.joints), list[Tried](), best
    named: list[tuple[str, tuple[RobotFriction, ...]]] = [
        (law.kind, tuple(_searched(law, trial, j) for j in range(n))) for law in laws
    ]
    if by_place:
        named.append(("maxwell_slip, directions, place", trial.slipping({}, True, True)))
    errors = float(stdtrit(len(start.validated.losses) - 1, 1.0 - DOUBT / max(len(named), 1)))
    gain = (1.0 - SQUARES) * float(start.validated.losses.mean())
    for name, law in named:
        say(f"friction law: {name}")
        one = trial.of(name, law)
        tried.append(one)
        less, deviation = gained(start.validated.losses, one.validated.losses)
        clear = less > max(errors * deviation, gain) and one.validated.error < start.validated.error
        if clear and not _degenerate(trial, one):
            gain, best = less, one
    return best, tried


def _degenerate(trial: _Trial, one: Tried) -> bool:
    """Whether a coefficient of a joint that moves is at its bound of zero, without information in the data.

    A coefficient whose column is zero is not held by its bound: the other direction was never seen.
    """
    model = WholeRobot(trial.model.robot, one.laws, trial.model.twists)
    found, moves = fit(model, one.rows, trial.kind), np.ptp(one.rows.q, axis=0) > 0.0
    lost = ~found.learnt & (found.theta <= ZERO * found.deviation)
    names = [{parameter.name for parameter in model.law_of(j).parameters} for j in range(len(moves))]
    return any(
        lost[model.base + k]
        and term.low >= 0.0
        and len(term.joints) == 1
        and moves[j]
        and term.name.split(".")[0] in names[j]
        for k, term in enumerate(model.terms)
        for j in term.joints
    )


def imposed(model: WholeRobot, pieces: list[Piece], law: RobotFriction, say: Callable[[str], None]) -> Choice:
    """One law for every joint, whatever the others would do; its verdict is compared with the default's.

    What loads it follows from the links, and the links from what it leaves: they are found in turn, PASSES times.
    """
    plain = choose(model, pieces, (), say)
    say(f"friction law: {law.kind}")
    laws = (law,) * len(model.robot.joints)
    if isinstance(law, MaxwellSlipSettings) and law.spread is None:
        laws = slipping(
            plain.rows, fit(model, plain.rows, plain.weights), {"load": law.load, "thresholds": law.thresholds}
        )
    trial = WholeRobot(model.robot, laws, model.twists)
    parameters, rows = plain.loading, plain.rows
    reach = REACH * np.abs(rows.dq).max(axis=0)
    for _ in range(PASSES if trial.loaded else 1):
        rows = build(trial, pieces, parameters, reach)
        if not rows.moves.any():
            return plain
        parameters, loading = trial.standard(fit(trial, rows, plain.weights).theta[: trial.base]), parameters
    found = validated(trial, rows, plain.weights)
    verdict = LawScore(law.kind, found.error, *gained(plain.validated.losses, found.losses))
    return Choice(trial.laws, [*plain.verdicts, verdict], found, rows, loading, plain.weights)


def without_passages(model: WholeRobot, choice: Choice, pieces: list[Piece]) -> Choice:
    """Return the choice with its laws taught without slow passages, for joints whose law does not describe these.

    model: with the chosen laws. Laws are compared by all rows, so that one which describes slow passages gains by it.
    """
    if choice.other is not None or all(map(model.passes_slowly, range(model.tree.size()))):
        return choice
    rows = build(model, pieces, choice.loading, REACH * np.abs(choice.rows.dq).max(axis=0), passages=False)
    return choice._replace(rows=rows, validated=validated(model, rows, choice.weights))


def _searched(law: AnyFriction, trial: _Trial, j: int) -> AnyFriction:
    """The law with the η of a lattice that explains best what the links leave of joint j's torque."""
    rows, found = trial.rows, law.law(trial.model.robot.joints[j].axis)
    moves, best, chosen = rows.moves & rows.slides[:, j], np.inf, law
    if not found.nonlinear or not moves.any():
        return law
    target = (rows.y - trial.load)[moves, j]
    grids = [np.geomspace(max(one.low, 1e-3), one.high, LATTICE) for one in found.nonlinear]
    for eta in itertools.product(*grids):
        lost = _left(found, rows, target, trial.load, j, np.array(eta), moves)
        if lost < best:
            best = lost
            update = {one.name: float(value) for one, value in zip(found.nonlinear, eta, strict=True)}
            chosen = law.model_copy(update=update)
    return chosen


def _left(
    law: FrictionLaw, rows: RobotRows, target: Floats, load: Floats, j: int, eta: Floats, moves: NDArray[np.bool_]
) -> float:
    columns = law.columns(rows.q[moves, j], rows.dq[moves, j], load[moves, j], eta)
    A = np.column_stack([columns, np.ones(len(columns))])
    length = np.linalg.norm(A, axis=0)
    A = A / np.where(length > 0, length, 1.0)
    theta = np.linalg.solve(A.T @ A + 1e-6 * np.eye(A.shape[1]), A.T @ target)
    return float(((target - A @ theta) ** 2).sum())
