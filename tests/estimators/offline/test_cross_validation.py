"""Choice of a friction law by motions that did not teach: on plants that share no equation with the laws."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from estimators.models.friction.directional import DirectionalSettings
from estimators.models.robots.files.dh_table import DhTable
from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.least_squares import of_sums, weighted
from estimators.offline.robot.cross_validation import (
    Validated,
    better,
    least_squares,
    likelier,
    motions_of,
    validated,
)
from estimators.offline.robot.fit import averaged, fit, passes, prior_of, relative_error
from estimators.offline.robot.identification import identify
from estimators.offline.robot.law_choice import CONDITION, choose
from estimators.offline.robot.motion import MotionError, Piece, pieces
from estimators.offline.robot.rows import Taught, build
from estimators.quantities import Floats

pytestmark = pytest.mark.compiled


def bristles(q: Floats, time: Floats, torque: float, reach: float) -> Floats:
    """Friction of a joint (samples,): Dahl's differential equation in small steps, which bends towards its end."""
    force, found = 0.0, np.zeros(len(q))
    for k in range(1, len(q)):
        for _ in range(4):
            moved = (q[k] - q[k - 1]) / 4.0
            force += moved * torque / reach * (1.0 - force / torque * np.sign(moved))
        found[k] = force
    return found


def remembering(truth: Any, seed: int, stamps: Floats | None = None) -> list[Piece]:
    """A recording whose joints have 2 N·m (N) of presliding friction over 8 mrad (mm) in addition to the law's."""
    time, q, tau = truth.motion(seed, seconds=30.0)
    for j in range(3):
        tau[:, j] += bristles(q[:, j], time, 2.0, 0.008)
    tau += 0.1 * np.random.default_rng(seed).standard_normal(tau.shape)
    if stamps is not None:
        q, tau = (np.column_stack([np.interp(stamps, time, one) for one in part.T]) for part in (q, tau))
        time = stamps
    return pieces(time, q, tau)


def test_friction_with_memory_is_found_and_predicts_another_motion(truth: Any) -> None:
    found = identify(truth.robot, remembering(truth, 1), [remembering(truth, 2)])
    assert found.law == "maxwell_slip"
    assert found.test is not None
    plain = identify(truth.robot, remembering(truth, 1), [remembering(truth, 2)], ())
    assert plain.test is not None
    assert found.test.error < 0.8 * plain.test.error
    assert 0.88 < found.test.covered <= 1.0
    assert ((found.train.deviation**2).mean(axis=0) >= found.fit.variance * (1.0 - 1e-9)).all()


def test_recordings_are_left_out_whole_and_one_is_cut_into_blocks(truth: Any) -> None:
    both = build(WholeRobot(truth.robot), [*truth.pieces(1), *truth.pieces(2)])
    assert (motions_of(both) == np.where(both.piece == 0, motions_of(both)[0], motions_of(both)[-1])).all()
    assert len(np.unique(motions_of(both))) == 2
    one = build(WholeRobot(truth.robot), truth.pieces(1))
    assert len(np.unique(motions_of(one))) == 6
    found = validated(WholeRobot(truth.robot), both)
    assert np.isfinite(found.predicted).all()
    taught = fit(WholeRobot(truth.robot), both.part(both.piece == 1))
    left = both.part(both.piece == 0)
    wanted = relative_error(left.y, left.predicted(taught.theta))
    assert relative_error(left.y, found.predicted[both.piece == 0]) == pytest.approx(wanted, rel=0.05)


def lone_joint(seed: int, small: float = 1.0) -> list[Piece]:
    """A joint on a vertical axis whose friction is another in each place, 40 s at 250 Hz; small: of its path."""
    random, time = np.random.default_rng(seed), np.arange(10_000) / 250.0
    q, dq, ddq = np.zeros((3, len(time)))
    for k in range(1, 7):
        a, phase, w = small * random.uniform(0.1, 0.3) / k, random.uniform(0, 2 * np.pi), 0.5 * k
        q, dq = q + a * np.sin(w * time + phase), dq + a * w * np.cos(w * time + phase)
        ddq = ddq - a * w**2 * np.sin(w * time + phase)
    tau = 0.4 * ddq + 1.5 * dq + np.sign(dq) * (2.0 + 1.2 * np.cos(7.0 * q))
    return pieces(time, q[:, None], (tau + 0.02 * random.standard_normal(len(time)))[:, None])


def turntable() -> Any:
    table = {
        "name": "one",
        "convention": "modified",
        "angles": "deg",
        "total_mass": 8.0,
        "joints": {"turn": {"d": 0.2}},
    }
    return DhTable.model_validate(table).robot()


def test_friction_by_place_is_found_where_one_joint_moves() -> None:
    found = identify(turntable(), lone_joint(1), [lone_joint(2)])
    plain = identify(turntable(), lone_joint(1), [lone_joint(2)], ())
    assert found.found.laws[0].kind == "maxwell_slip"
    assert getattr(found.found.laws[0], "position", None) is not None
    assert found.test is not None
    assert plain.test is not None
    assert found.test.error < 0.5 * plain.test.error


@pytest.mark.parametrize(("both_ways", "chosen"), [(True, "directional"), (False, "viscous_coulomb")])
def test_a_law_for_a_direction_that_was_never_seen_is_no_choice(both_ways: bool, chosen: str) -> None:
    """A cube of the speed, which the law of each direction takes off; backward its Coulomb friction is 0 ± 4 N·m."""
    time = np.arange(10_000) / 250.0
    dq = 0.55 + 0.3 * np.sin(0.7 * time) + 0.2 * np.sin(1.9 * time + 1.0)
    if both_ways:
        dq *= np.tanh(8.0 * np.sin(2.0 * np.pi * time / 13.0))
    tau = (
        0.4 * np.gradient(dq) * 250.0 + 1.5 * dq + 8.0 * dq**3 + 0.02 * np.random.default_rng(1).normal(size=len(time))
    )
    recorded = pieces(time, np.cumsum(dq)[:, None] / 250.0, tau[:, None])
    found = choose(WholeRobot(turntable()), recorded, (DirectionalSettings(),), lambda _: None)
    assert found.laws[0].kind == chosen
    assert found.verdicts[1].error < 0.1 * found.verdicts[0].error


def test_a_slow_motion_is_a_motion() -> None:
    """FAIRINO's records never reach 0.02 rad/s."""
    slow = lone_joint(1, small=0.02)
    assert np.abs(slow[0].dq).max() < 0.02
    found = identify(turntable(), slow, [], ())
    assert found.train.rows.moves.mean() > 0.9
    assert found.fit.theta[list(found.found.model().names).index("coulomb.turn")] > 1.0


def test_noise_is_no_motion() -> None:
    time = np.arange(4000) / 250.0
    q = 1e-4 * np.round(np.random.default_rng(0).standard_normal((4000, 1)))
    with pytest.raises(MotionError, match="no joint moves in what is to be learnt from"):
        choose(WholeRobot(turntable()), pieces(time, q, np.sin(time)[:, None]), None, lambda _: None)


@pytest.mark.parametrize("rate", [20.0, 30.0, 50.0, 125.0])
def test_slow_recordings_are_supported(truth: Any, rate: float) -> None:
    time, q, tau = truth.motion(1, seconds=40.0, rate=1000.0)
    part = slice(None, None, round(1000.0 / rate))
    found = identify(truth.robot, pieces(time[part], q[part], tau[part]), [truth.pieces(2)], ())
    assert found.test is not None
    assert found.test.error < 3.0


def test_slower_ones_are_refused_with_the_reason(truth: Any) -> None:
    time, q, tau = truth.motion(1, rate=15.0)
    with pytest.raises(MotionError, match=r"expected at least 20 samples a second, found 15: .* up to 8 Hz"):
        pieces(time, q, tau)


def test_uneven_stamps_cost_nothing(truth: Any) -> None:
    steps = np.random.default_rng(3).choice([0.010, 0.012], size=2700)
    uneven = identify(truth.robot, remembering(truth, 1, np.cumsum(steps)), [remembering(truth, 2)], ())
    even = identify(truth.robot, remembering(truth, 1), [remembering(truth, 2)], ())
    assert uneven.test is not None
    assert even.test is not None
    assert uneven.test.error < 1.1 * even.test.error


def test_a_wrong_guess_gives_way(truth: Any, simulated: Any) -> None:
    described = simulated.table().model_dump()
    joints = {name: row | {"mass": None, "inertia": None} for name, row in described["joints"].items()}
    guess = DhTable.model_validate(described | {"joints": joints, "total_mass": 60.0}).robot()
    rows, held = build(WholeRobot(guess), truth.pieces(1)), build(WholeRobot(guess), truth.pieces(2))
    found = fit(WholeRobot(guess), rows)
    least = fit(WholeRobot(guess), rows, "ordinary")
    ours, plain = (relative_error(held.y, held.predicted(one.theta)) for one in (found, least))
    assert ours < 1.1 * plain + 0.1


def test_least_squares_is_taken_where_it_predicts_better(truth: Any, simulated: Any) -> None:
    """A description that is wrong by a factor of eight, certain of itself."""
    light = simulated.table()
    joints = {
        n: r | {"mass": 40.0, "inertia": tuple(8 * np.array(r["inertia"]))}
        for n, r in light.model_dump()["joints"].items()
    }
    wrong = DhTable.model_validate(light.model_dump() | {"joints": joints}).robot()
    found = identify(wrong, truth.pieces(1), [truth.pieces(2)])
    assert found.test is not None
    assert found.test.error < 1.02 * found.rivals["ordinary"]["test"]


def test_a_joint_that_never_moves_teaches_what_it_carries(truth: Any) -> None:
    """What holds a standing joint is its load; before any row of it was used, gravity came from the description."""
    time, q, _ = truth.motion(3)
    q[:, 1] = 0.4
    dq, ddq = (np.gradient(one, time, axis=0) for one in (q, np.gradient(q, time, axis=0)))
    tau = truth.model.torque(truth.parameters, q, dq, ddq)
    random = np.random.default_rng(3)
    tau += 0.05 * random.standard_normal(tau.shape)
    q[:, 1] += 1e-4 * random.standard_normal(len(q))  # an encoder's
    rows = build(WholeRobot(truth.robot), pieces(time, q, tau))
    assert not rows.slides[:, 1].any()
    assert rows.shares().sum(axis=0) == pytest.approx([0.0, 1.0, 0.0])
    errors = {}
    for kind in ("moving", "honest"):
        left = (rows.y - rows.predicted(fit(WholeRobot(truth.robot), rows, kind).theta))[:, 1]
        errors[kind] = float(np.sqrt(np.mean(left**2)))
    assert errors["honest"] < 0.95 * errors["moving"]


def test_standstills_left_out_are_those_that_were_in(truth: Any) -> None:
    """Sums without a block are the sums of the other rows, also where a standstill lies across its end."""
    rows = build(WholeRobot(truth.robot), truth.pieces(1))
    slides = rows.slides.copy()
    slides[300:700, 2] = False
    rows = rows._replace(slides=slides, teaches=slides)
    shares, held = rows.shares(), np.arange(len(rows.y)) >= 500
    left = Taught.of(rows, shares).without(Taught.of(rows.part(held), shares[held]))
    X, y = (one[300:500] / np.sqrt(400.0) for one in (rows.X[:, 2], rows.y[:, 2]))
    assert left.standstills == pytest.approx([0.0, 0.0, 0.5])
    scale = np.abs(X.T @ X).max()
    assert np.allclose(left.standing.K[2], X.T @ X, atol=1e-9 * scale)
    assert np.allclose(left.standing.c[2], X.T @ y, atol=1e-9 * np.abs(X.T @ y).max())


def test_what_is_stated_beside_the_parameters_counts_nothing_twice() -> None:
    random = np.random.default_rng(5)
    known = random.uniform(0.5, 2.0, (20000, 1)) ** 2  # variance by the parameters
    left = np.sqrt(known + 1.5**2) * random.standard_normal(known.shape)
    found = Validated(left, np.zeros(3), np.zeros(3), 0.0, left)
    assert np.sqrt(found.beside(known, np.array([0.0]))) == pytest.approx(1.5, rel=0.05)
    assert found.beside(known, np.array([9.0])) == pytest.approx(9.0 - known.mean()), "at least 9, with what is known"


def test_laws_are_compared_by_ratios_so_that_no_block_decides_alone() -> None:
    before = np.array([1.0, 1.1, 0.9, 1.2, 1.0, 40.0])
    many = np.zeros_like(before)

    def better_by(after: Floats) -> bool:
        return better(Validated(many, before, before, 0.0, many), Validated(many, after, after, 0.0, many))

    assert better_by(0.8 * before * np.array([1.0, 1.02, 0.98, 1.01, 0.99, 1.0]))
    assert not better_by(before * np.array([1.0, 1.05, 1.02, 1.0, 1.04, 0.5]))  # better in one block, worse in three


def test_a_guess_does_not_hold_rich_recordings(truth: Any, simulated: Any) -> None:
    """Weights of residuals that the guess itself made would let it stay: the passes begin from what the data say."""
    described = simulated.table().model_dump()
    joints = {name: row | {"mass": None, "inertia": None} for name, row in described["joints"].items()}
    for mass in (1.0, 200.0):
        guess = DhTable.model_validate(described | {"joints": joints, "total_mass": mass}).robot()
        model = WholeRobot(guess)
        rows, held = build(model, remembering(truth, 1)), build(model, remembering(truth, 2))
        errors = [
            relative_error(held.y, held.predicted(fit(model, rows, kind).theta)) for kind in ("honest", "ordinary")
        ]
        assert errors[0] < 1.02 * errors[1]


@pytest.mark.parametrize("wrong", [0.3, 5.0])
def test_a_guess_counts_as_much_as_rich_recordings_find_it_right(truth: Any, wrong: float) -> None:
    """Its precision is divided by the mean square of its error in its own deviations, but never raised."""
    model = WholeRobot(replace(truth.robot, guessed=True))
    rows = build(model, truth.pieces(1))
    mean, covariance = prior_of(model, rows.part(rows.moves))
    random, base = np.random.default_rng(12), slice(0, model.base)
    apart = wrong * random.standard_normal(model.base)
    theta = np.concatenate([mean[base] + np.linalg.cholesky(covariance[base, base]) @ apart, truth.phi])
    rows = rows._replace(y=rows.predicted(theta) + 1e-3 * random.standard_normal(rows.y.shape))
    found = passes(model, rows.teaching(), (mean, covariance), Taught.of(rows, rows.shares()))
    share = found.precision[base, base] @ covariance[base, base]
    expected = min(1.0, 1.0 / float((apart**2).mean()))
    np.testing.assert_allclose(share, expected * np.eye(model.base), atol=0.05 * expected)


def test_least_squares_is_that_with_the_full_covariance_of_a_row(truth: Any) -> None:
    rows = build(WholeRobot(truth.robot), truth.pieces(1))
    X, y = rows.X[rows.moves], rows.y[rows.moves]
    reference, found = weighted(X, y), least_squares(rows)
    assert found.condition < CONDITION
    deviation = np.abs(reference.theta - found.theta) / reference.deviation
    assert deviation.max() < 0.01
    left = rows.y[rows.moves] - found.predicted[rows.moves]
    assert np.sqrt((left**2).mean()) < 1.2 * np.sqrt(((y - X @ reference.theta) ** 2).mean())


def test_directions_that_rows_do_not_tell_are_zero_and_no_condition_is_good(truth: Any) -> None:
    random = np.random.default_rng(0)
    X = random.standard_normal((50, 3))
    X[:, 2] = 1000.0 * X[:, 1]
    theta, condition = of_sums(X.T @ X, X.T @ (X @ [1.0, 2.0, 0.0]))
    np.testing.assert_allclose(X @ theta, X @ [1.0, 2.0, 0.0], atol=1e-6)
    assert condition == np.inf
    assert of_sums(X[:, :2].T @ X[:, :2], np.ones(2))[1] == pytest.approx(
        np.linalg.cond(X[:, :2] / np.linalg.norm(X[:, :2], axis=0))
    )


def test_the_mean_of_two_models_holds_what_they_differ_by(truth: Any) -> None:
    model = WholeRobot(truth.robot)
    rows = build(model, truth.pieces(1))
    found, least = fit(model, rows), least_squares(rows).theta
    mean = averaged(model, rows, found, least)
    free = np.array([*(True,) * model.base, *(term.low < 0.0 for term in model.terms)])
    np.testing.assert_allclose(mean.theta[free], 0.5 * (found.theta + least)[free])
    assert (mean.theta[~free] >= 0.0).all()
    added = mean.covariance - found.covariance
    np.testing.assert_allclose(np.sqrt(np.diag(added)), np.abs(mean.theta - found.theta), atol=1e-9)


def test_the_mean_of_a_law_and_the_richest_one_predicts_another_motion_better_than_that_law(truth: Any) -> None:
    """Friction that grows a little with the load: too little to be told beyond chance."""
    parts = []
    for seed in (1, 2):
        time, q, rigid = truth.motion(seed, seconds=30.0)
        tau = rigid + 0.1 * np.random.default_rng(seed).standard_normal(rigid.shape)
        for j in range(3):
            direction = np.tanh(np.gradient(q[:, j], time) / 0.005)
            tau[:, j] += bristles(q[:, j], time, 2.0, 0.01) + 0.02 * np.abs(rigid[:, j]) * direction
        parts.append(pieces(time, q, tau))
    found = choose(WholeRobot(truth.robot), parts[0], None, lambda _: None)
    assert found.other is not None
    model = WholeRobot(truth.robot, found.laws)
    held = build(model, parts[1], found.loading)
    mean = averaged(model, found.rows, fit(model, found.rows, found.weights), found.other)
    errors = [relative_error(held.y, held.predicted(theta)) for theta in (mean.theta, found.other)]
    assert errors[0] < 0.99 * errors[1]
    left = found.rows.y - found.validated.predicted
    assert np.linalg.norm(left) < 1.5 * np.linalg.norm(found.rows.y - found.rows.predicted(mean.theta))


def test_a_model_is_likelier_by_ratios_and_on_average_and_no_worse_at_rest() -> None:
    def one(losses: list[float], standing: list[float]) -> Validated:
        return Validated(np.zeros((0, 1)), np.array(losses), np.array(standing), 1.0, np.zeros((0, 1)))

    before = one([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0])
    assert likelier(before, one([0.9, 1.9, 2.9, 4.1], [0.9, 1.9, 2.9, 4.1]))
    assert not likelier(before, one([0.1, 2.2, 3.3, 5.0], [1.0, 2.0, 3.0, 4.0]))  # worse on average
    assert not likelier(before, one([1.2, 2.4, 3.3, 3.0], [1.0, 2.0, 3.0, 4.0]))  # by one block alone
    assert not likelier(before, one([0.9, 1.9, 2.9, 3.9], [1.5, 2.6, 3.5, 4.5]))  # at rest
    assert not likelier(before, one([0.5, 0.5], [0.5, 0.5]))
    for losses, sure in (([0.9, 1.9, 2.9, 4.1], True), ([0.7, 1.9, 3.1, 4.1], False)):
        assert likelier(before, one(losses, losses))
        assert likelier(before, one(losses, losses), 1.0) is sure


def test_what_holds_a_joint_that_never_moves_is_learnt_and_stays_doubtful(truth: Any) -> None:
    """A joint that gives way by 0.1 mrad, held by 3 N·m of friction in both recordings."""
    found, models = {}, WholeRobot(truth.robot)
    parts = []
    for seed in (1, 2):
        time, q, _ = truth.motion(seed)
        q[:, 2] = 0.4 + 1e-4 * q[:, 2] / np.ptp(q[:, 2])
        dq = np.gradient(q, time, axis=0)
        tau = truth.model.torque(truth.parameters, q, dq, np.gradient(dq, time, axis=0))
        tau[:, 2] += 3.0
        tau += 0.05 * np.random.default_rng(seed).standard_normal(tau.shape)
        parts.append(pieces(time, q, tau))
    rows, held = (build(models, part) for part in parts)
    assert rows.pushed.tolist() == [False, False, True]
    slides = rows.slides & ~rows.pushed
    rows = rows._replace(slides=slides, teaches=slides)
    for kind in ("honest", "still"):
        one = fit(models, rows, kind)
        found[kind] = float(np.abs(held.y - held.predicted(one.theta))[:, 2].mean())
        assert held.deviation(one.covariance, one.variance, one.holding)[:, 2].min() > 1.5
    assert found["still"] < 0.5 * found["honest"]
