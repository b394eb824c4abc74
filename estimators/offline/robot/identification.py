"""A whole robot from recordings: the friction law, θ, physical links, and how far each is to be trusted."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.compensation.learned import Kind, Learned
from estimators.models.friction import AnyFriction
from estimators.models.robots.description import RobotDescription
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.whole_robot import RobotFriction, WholeRobot
from estimators.offline.least_squares import ordinary, reweighted, weighted
from estimators.offline.robot.entropic import entropic
from estimators.offline.robot.fit import RobotFit, averaged, fit, relative_error
from estimators.offline.robot.gear_twists import compensated, gear_twists, learn
from estimators.offline.robot.law_choice import LawScore, choose, imposed, without_passages
from estimators.offline.robot.motion import MotionError, Piece
from estimators.offline.robot.rotors import with_rotors
from estimators.offline.robot.rows import RobotRows, build, joined, resting_speed
from estimators.offline.robot.unmodelled.friction import BeyondLaw, beyond_law
from estimators.offline.robot.unmodelled.lag import torque_lag
from estimators.offline.robot.weak_directions import WeakDirection, weak_directions
from estimators.quantities import Floats
from estimators.thresholds import AT_REST


class JudgedPrediction(NamedTuple):
    """A prediction and what was measured, rows of 50 Hz."""

    rows: RobotRows
    predicted: Floats  # (rows, n); NaN where nothing can be said
    outside: NDArray[np.bool_]  # (rows, n) faster than the friction law may be used at
    deviation: Floats  # (rows, n) of the prediction: what cross-validation leaves, and the parameters' covariance

    @property
    def covered(self) -> float:
        """Share of the rows that move within 2 deviations, over joints whose torque changes; NaN without any."""
        within = np.abs(self.rows.y - self.predicted) < 2.0 * self.deviation
        counted = self.rows.moves[:, np.newaxis] & np.isfinite(self.predicted) & (np.ptp(self.rows.y, axis=0) > 0.0)
        return float(within[counted].mean()) if counted.any() else float("nan")

    @property
    def error(self) -> float:
        """% of the torque, over all joints."""
        return relative_error(self.rows.y, self.predicted)

    @property
    def inside(self) -> float:
        """This prediction without what is outside of the model's validity."""
        return relative_error(self.rows.y, np.where(self.outside, np.nan, self.predicted))

    @property
    def rmse(self) -> Floats:
        """(n,) N·m (N)."""
        return np.asarray(np.sqrt(np.nanmean((self.rows.y - self.predicted) ** 2, axis=0)))

    @property
    def relative(self) -> Floats:
        """(n,) %."""
        wrong = np.nanmean((self.rows.y - self.predicted) ** 2, axis=0)
        size = np.nanmean(np.where(np.isfinite(self.predicted), self.rows.y, np.nan) ** 2, axis=0)
        return np.asarray(100.0 * np.sqrt(wrong / np.where(size > 0.0, size, np.nan)))


class RobotIdentification(NamedTuple):
    """Everything that `jointwatch identify` prints."""

    found: IdentifiedRobot
    fit: RobotFit
    train: JudgedPrediction
    validation: JudgedPrediction  # the training rows, each predicted by the other blocks
    tests: list[JudgedPrediction]
    verdicts: list[LawScore]
    law: str
    rivals: dict[str, dict[str, float]]  # method → {"train": %, "test": %}
    weak_directions: list[WeakDirection]  # the least known first
    doubts: list[str]  # of second encoders, in words
    compensated: list[
        JudgedPrediction
    ]  # train, then every test, with what was learnt of the residual; empty where nothing was

    @property
    def test(self) -> JudgedPrediction | None:
        """All tests as one."""
        return _together(self.tests)

    @property
    def test_compensated(self) -> JudgedPrediction | None:
        """The tests with what was learnt of the residual."""
        return _together(self.compensated[1:])


def _together(tests: list[JudgedPrediction]) -> JudgedPrediction | None:
    if not tests:
        return None
    return JudgedPrediction(
        joined([one.rows for one in tests]),
        np.concatenate([one.predicted for one in tests]),
        np.concatenate([one.outside for one in tests]),
        np.concatenate([one.deviation for one in tests]),
    )


def identify(
    robot: RobotDescription,
    train: list[Piece],
    tests: list[list[Piece]],
    laws: tuple[AnyFriction, ...] | None = None,
    say: Callable[[str], None] = lambda _: None,
    law: RobotFriction | None = None,
    compensation: Kind | None = None,
) -> RobotIdentification:
    """Learn from `train` alone and judge on `tests`.

    laws: to be tried besides the default, all of the catalogue if None; law: for every joint, whatever the data would
    choose; compensation: what is learnt of the residual from the gears' twist. Raises MotionError where nothing
    moves, or where there is no second encoder to learn from, and MixtureError.
    """
    robot = with_rotors(robot, train, say)
    twists, doubts = gear_twists(WholeRobot(robot), train)
    if compensation is not None and not any(twists):
        text = "expected a joint with two encoders, whose twist a compensation can be learnt from, found none"
        raise MotionError([*doubts, text])
    model = WholeRobot(robot, twists=twists)
    choice = choose(model, train, laws, say) if law is None else imposed(model, train, law, say)
    say("identifying")
    model = model if choice.laws == model.laws else WholeRobot(robot, choice.laws, twists)
    choice = without_passages(model, choice, train)
    rows = choice.rows
    found = fit(model, rows, choice.weights)
    found = found if choice.other is None else averaged(model, rows, found, choice.other)
    predicted = rows.predicted(found.theta)
    say("physical links")
    physical = entropic(model, rows, found)
    learned = () if compensation is None else learn(compensation, model, train, rows.y - predicted, rows.moves)
    beyond = beyond_law(rows, found)
    unseen = choice.validated.beside(rows.spread(found.covariance) + beyond.spread(rows), found.variance)
    learnt = _identified(robot, model, rows, found, unseen, physical.parameters, choice.loading, learned, beyond)
    learnt = replace(learnt, resting=np.where(rows.pushed, AT_REST, resting_speed(train)))
    reach = learnt.reach()
    judged = []
    for number, test in enumerate(tests):
        say(f"test {number + 1} of {len(tests)}")
        held = build(model, test, choice.loading, reach)
        faster, predicted_there = np.abs(held.dq) > reach, held.predicted(found.theta)
        beside = unseen + beyond.spread(held)
        if faster.any():  # what a law would add as it is written is as likely as that it stays (see UnseenSpeed)
            beside += (build(model, test, choice.loading).predicted(found.theta) - predicted_there) ** 2
        deviation = held.deviation(found.covariance, beside, found.holding)
        judged.append(JudgedPrediction(held, predicted_there, faster, deviation))
    within = np.zeros(rows.y.shape, np.bool_)
    deviation = rows.deviation(found.covariance, unseen + beyond.spread(rows), found.holding)
    taught = JudgedPrediction(rows, predicted, within, deviation)
    both = zip([taught, *judged], [train, *tests], strict=True) if learnt.learned else ()
    say("least squares for comparison")
    return RobotIdentification(
        learnt,
        found,
        taught,
        JudgedPrediction(rows, choice.validated.predicted, within, deviation),
        judged,
        choice.verdicts,
        model.laws[0].kind,
        _rivals(WholeRobot(robot, twists=twists), train, tests),
        weak_directions(found.covariance, found.prior_covariance, model.short),
        doubts,
        [one._replace(predicted=compensated(learnt.learned, model, run, one.predicted)) for one, run in both],
    )


def _identified(
    robot: RobotDescription,
    model: WholeRobot,
    rows: RobotRows,
    found: RobotFit,
    unseen: Floats,
    physical: Floats,
    loading: Floats,
    learned: tuple[Learned | None, ...],
    beyond: BeyondLaw,
) -> IdentifiedRobot:
    """The robot by a fit to these rows.

    unseen: (n,) variance of motions that were not learnt from; physical, loading: (n, 10) standard parameters.
    """
    return IdentifiedRobot(
        robot,
        model.laws,
        found.theta,
        found.covariance,
        found.prior,
        found.prior_covariance,
        found.variance,
        found.correlation,
        np.abs(rows.dq).max(axis=0),
        rows.q.min(axis=0),
        rows.q.max(axis=0),
        model.standard(found.theta[: model.base]),
        physical,
        loading,
        {},
        twists=model.twists,
        learned=learned,
        lag=torque_lag(rows, found, beyond),
        unseen=np.sqrt(unseen),
        beyond=beyond.deviations,
        beyond_covariance=beyond.covariance,
    )


def _rivals(model: WholeRobot, train: list[Piece], tests: list[list[Piece]]) -> dict[str, dict[str, float]]:
    """Errors of plain, weighted and reweighted least squares with the default friction, without any prior."""
    rows = build(model, train)
    X, y = rows.X[rows.moves], rows.y[rows.moves]
    plain = ordinary(X, y)
    full = weighted(X, y, plain)
    solutions = {"ordinary": plain, "weighted": full, "reweighted": reweighted(X, y, full)}
    held = joined([build(model, test) for test in tests]) if tests else None
    found = {}
    for name, solution in solutions.items():
        found[name] = {"train": relative_error(rows.y, rows.predicted(solution.theta))}
        if held is not None:
            found[name]["test"] = relative_error(held.y, held.predicted(solution.theta))
    return found
