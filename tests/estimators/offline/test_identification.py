"""The batch recipe: on robots whose truth is known, and on real ones where their recordings are here."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from estimators.models.friction.cubic_viscous import CubicViscousSettings
from estimators.models.friction.directional import DirectionalSettings
from estimators.models.friction.prandtl_ishlinskii import PrandtlIshlinskiiSettings
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.robots.files import identified
from estimators.models.robots.gear_twist import GearTwist
from estimators.models.robots.inertia import pseudo_inertia
from estimators.models.robots.whole_robot import RobotFriction, WholeRobot
from estimators.offline.least_squares import ordinary, reweighted, weighted
from estimators.offline.robot.entropic import entropic
from estimators.offline.robot.fit import constrained, fit, relative_error
from estimators.offline.robot.identification import identify
from estimators.offline.robot.law_choice import candidates, choose
from estimators.offline.robot.motion import MotionError, pieces
from estimators.offline.robot.rows import build, correlation
from estimators.offline.robot.unmodelled.friction import beyond_law
from estimators.offline.robot.unmodelled.lag import rates, torque_lag
from estimators.thresholds import LAG_SPREAD

pytestmark = pytest.mark.compiled


def test_what_is_known_is_found_and_predicts_another_motion(truth: Any) -> None:
    model = WholeRobot(truth.robot)
    rows, held = build(model, truth.pieces(1)), build(model, truth.pieces(2))
    found = fit(model, rows)
    assert relative_error(held.y, held.predicted(found.theta)) < 1.0
    z = (found.theta - truth.theta) / found.deviation
    assert np.mean(np.abs(z[found.learnt]) < 2.0) > 0.8
    assert found.learnt.mean() > 0.5


def test_rotor_inertia_coupling_and_counterbalance_are_columns(simulated: Any) -> None:
    spring = {
        "kind": "coil",
        "distance": 0.5,
        "crank": 0.1,
        "rest": 0.4,
        "angle": 20.0,
        "stiffness": 2e3,
        "preload": 50.0,
    }
    plain = simulated.table(lift={"rotor": 1e-4, "gear": 100.0, "counterbalance": spring})
    described = type(plain).model_validate(plain.model_dump() | {"couplings": ({"first": "turn", "second": "lift"},)})
    truth = simulated.Truth(described=described)
    names = [term.name for term in truth.model.terms]
    assert names[5:7] == ["offset.lift", "rotor.lift"]
    assert names[-4:] == ["viscous.turn+lift", "coulomb.turn+lift", "spring_stiffness.lift", "spring_preload.lift"]
    truth.phi[names.index("rotor.lift")] = 1.3
    truth.phi[-4:] = 1.0, 0.8, 2300.0, 40.0
    model = WholeRobot(truth.robot)
    found = fit(model, build(model, truth.pieces(1, seconds=40.0)))
    held = build(model, truth.pieces(2))
    assert relative_error(held.y, held.predicted(found.theta)) < 1.0
    assert found.theta[model.base + names.index("rotor.lift")] == pytest.approx(1.3, abs=0.5)


def test_a_counterbalance_twists_the_gear_that_carries_it(simulated: Any) -> None:
    spring = {"kind": "coil", "distance": 0.5, "crank": 0.1, "rest": 0.4, "angle": 20.0, "stiffness": 2e3}
    plain = simulated.table(lift={"counterbalance": spring | {"preload": 50.0}})
    time, q, tau = simulated.Truth(described=plain).motion(1)
    found = identify(plain.robot(), pieces(time, q, tau), [], ()).found
    stiff = replace(found, twists=(None, GearTwist(0.0, 0.0, 1e4), None))
    at = stiff.model().base + next(k for k, one in enumerate(stiff.model().terms) if "twist" in one.name)
    theta, gain = found.theta.copy(), np.array([2300.0, 400.0])
    theta[[found.model().names.index(f"spring_{one}.lift") for one in ("stiffness", "preload")]] = gain
    still, pushed = (replace(stiff, theta=np.insert(theta, at, one)) for one in (0.0, 30.0))
    rows = q[:50], np.full((50, 3), 0.2), np.zeros((50, 3))
    [columns] = [one.columns(q[:50, 1]) for one in plain.robot().counterbalances.values()]
    carried = found.model().torque(found.parameters, *rows)[:, 1] + columns @ gain
    more = pushed.predicted(*rows) - still.predicted(*rows)
    assert np.allclose(more[:, 1], 30.0 * np.abs(carried) / 1e4, rtol=1e-9)
    assert np.abs(columns @ gain).min() > 10.0


def test_one_pass_with_white_noise_claims_more_than_the_recipe(truth: Any) -> None:
    model = WholeRobot(truth.robot)
    time, q, tau = truth.motion(1)
    slow = np.sin(0.9 * time)[:, None] * np.array([2.0, 3.0, 1.0])  # model error: correlated
    rows = build(model, pieces(time, q, tau + slow))
    honest, white = fit(model, rows), fit(model, rows, "white")
    assert (honest.correlation > 10).all()
    assert np.median(honest.deviation / white.deviation) > 2.0


def test_signs_are_kept_by_the_solution_of_the_constrained_problem() -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        A, y = random.normal(size=(30, 8)), random.normal(size=30)
        signed = random.integers(0, 2, 8)
        x, held = constrained(A.T @ A, A.T @ y, signed)
        slope = A.T @ (A @ x - y)
        free = ~held
        assert (x[signed == 1] >= 0).all()
        assert np.abs(slope[free]).max() < 1e-9
        assert (slope[held] > -1e-9).all()


def test_physical_links_are_physical_where_the_quadratic_fit_is_not(truth: Any) -> None:
    model = WholeRobot(truth.robot)
    rows = build(model, truth.pieces(1, noise=15.0, seconds=5.0))
    found = fit(model, rows)
    for share in (0.1, 1.0):
        physical = entropic(model, rows, found, share)
        assert all(np.linalg.eigvalsh(pseudo_inertia(one))[0] > 0 for one in physical.parameters)
        assert relative_error(rows.y, rows.predicted(physical.theta)) < relative_error(rows.y, 0.0 * rows.y)
        base = model.projection.G @ physical.parameters.ravel()
        assert physical.theta[: model.base] == pytest.approx(base)


def test_another_law_is_taken_only_where_it_is_clearly_better(truth: Any, simulated: Any) -> None:
    usual = choose(WholeRobot(truth.robot), truth.pieces(1), None, lambda _: None)
    assert {one.kind for one in usual.laws} == {"viscous_coulomb"}
    tried = {one.law for one in usual.verdicts}
    assert tried > {one.kind for one in candidates()} | {"maxwell_slip, load", "ordinary least squares"}
    bent = simulated.Truth(CubicViscousSettings(), np.array([6.0, 0.5, 1.0, 12.0, 0.5]))
    chosen = choose(WholeRobot(bent.robot), bent.pieces(1), (CubicViscousSettings(),), lambda _: None)
    assert {one.kind for one in chosen.laws} == {"cubic_viscous"}


def resting(truth: Any) -> tuple[list[Any], Any]:
    """A recording in which the second joint stands for 1.6 s at a time with 6 N·m more; where it does, (samples,)."""
    time = np.arange(6000) / 200.0
    wave = 2 * np.pi * np.array([0.23, 0.31, 0.37])
    cycle = time % 4.0
    going = np.clip(cycle / 2.4, 0.0, 1.0)
    phase = np.floor(time / 4.0) + going**3 * (10.0 - 15.0 * going + 6.0 * going**2)
    angle = np.column_stack([wave[0] * time, 2.2 * phase, wave[2] * time])
    q = np.array([0.8, 0.6, 0.2]) * np.sin(angle)
    dq, ddq = (np.gradient(one, time, axis=0) for one in (q, np.gradient(q, time, axis=0)))
    tau = truth.model.torque(truth.parameters, q, dq, ddq)
    for joint, term, column in truth.model.others(q, dq, ddq, tau, np.full(3, np.inf)):
        tau[:, joint] += truth.phi[term] * column
    stands = cycle > 2.4
    tau += 0.2 * np.random.default_rng(4).standard_normal(tau.shape)
    tau[:, 1] += 6.0 * stands
    return pieces(time, q, tau), stands


def test_a_joint_that_stands_teaches_nothing(truth: Any) -> None:
    model = WholeRobot(truth.robot)
    recorded, stands = resting(truth)
    rows = build(model, recorded)
    at = np.round(rows.time * 200.0).astype(int)
    inner = np.array([stands[max(one - 60, 0) : one + 60].all() for one in at])
    assert inner.mean() > 0.2
    assert not rows.slides[inner, 1].any()
    assert rows.slides[:, [0, 2]].all()  # reversals are motion
    found = fit(model, rows)
    assert (np.abs(found.theta - truth.theta)[found.learnt] < 4.0 * found.deviation[found.learnt]).all()
    every = np.ones_like(rows.slides)
    loud = fit(model, rows._replace(slides=every, teaches=every))
    place = model.base + [term.name for term in model.terms].index("offset.lift")
    assert abs(found.theta[place] - truth.theta[place]) < 0.2 < abs(loud.theta[place] - truth.theta[place])


def test_full_weights_are_those_of_generalised_least_squares() -> None:
    random = np.random.default_rng(1)
    X, truth = random.normal(size=(2000, 2, 3)), np.array([1.0, -2.0, 3.0])
    mixing = np.array([[3.0, 0.0], [0.27, 0.1]])
    y = X @ truth + random.normal(size=(2000, 2)) @ mixing.T
    errors = {method: np.linalg.norm(method(X, y).theta - truth) for method in (ordinary, weighted, reweighted)}
    assert errors[weighted] < 0.5 * errors[ordinary]
    assert weighted(X, y).omega == pytest.approx(mixing @ mixing.T, rel=0.2)
    W = np.linalg.inv(ordinary(X, y).omega)
    K, c = np.einsum("tjp,jk,tkq->pq", X, W, X), np.einsum("tjp,jk,tk->p", X, W, y)
    assert weighted(X, y).theta == pytest.approx(np.linalg.solve(K, c), rel=1e-9)
    assert weighted(X, y).deviation == pytest.approx(np.sqrt(np.diag(np.linalg.inv(K))), rel=1e-9)


def test_correlation_counts_the_rows_that_are_one() -> None:
    random = np.random.default_rng(0)
    white = random.normal(size=(20_000, 1))
    smooth = np.convolve(white[:, 0], np.ones(10) / 10, "valid")[:, None]
    piece = np.zeros(len(smooth), np.int64)
    assert correlation(white, np.zeros(20_000, np.int64), 100, 0.05)[0] == pytest.approx(1.0, abs=0.1)
    assert correlation(smooth, piece, 100, 0.05)[0] == pytest.approx(10.0, rel=0.1)


def test_an_identified_robot_comes_back_from_its_document(truth: Any) -> None:
    found = identify(truth.robot, truth.pieces(1), [truth.pieces(2)], ())
    again = identified.read(found.found.document())
    time, q, _ = truth.motion(3)
    dq, ddq = np.gradient(q, time, axis=0), np.zeros_like(q)
    assert (again.predicted(q, dq, ddq) == found.found.predicted(q, dq, ddq)).all()
    assert found.test is not None
    assert found.test.error < 1.0
    assert found.rivals["weighted"]["test"] < 5.0
    with pytest.raises(identified.ModelError, match="version"):
        identified.read(found.found.document() | {"version": 2})
    with pytest.raises(identified.ModelError, match="format"):
        identified.read({})


def test_what_the_motion_does_not_tell_is_named(truth: Any) -> None:
    time, q, _ = truth.motion(1)
    q = q.copy()
    q[:, 0] = 0.2  # never turned: its inertia cannot be told
    model = truth.model
    dq = np.gradient(q, time, axis=0)
    tau = model.torque(truth.parameters, q, dq, np.gradient(dq, time, axis=0))
    found = identify(truth.robot, pieces(time, q, tau + 0.1 * np.random.default_rng(0).normal(size=tau.shape)), [], ())
    worst = [name for one in found.weak_directions[:4] for name, _ in one.parts]
    assert "Izz.turn" in worst or any(".turn" in name for name in worst)
    assert not found.fit.learnt[model.short.index("viscous.turn")]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t, q: (np.zeros_like(t), q), "time stands still"),
        (lambda t, q: (t[::-1].copy(), q), "time runs backwards"),
        (lambda t, q: (t * 1000.0, q), "is the time in s"),
        (lambda t, q: (t, np.full_like(q, np.nan)), "0 samples with every channel"),
        (lambda t, q: (t + np.floor(t / 0.5) * 10.0, q), "without a gap"),
    ],
)
def test_time_that_cannot_be_is_said_in_words(truth: Any, change: Any, words: str) -> None:
    time, q, tau = truth.motion(1)
    time, q = change(time, q)
    with pytest.raises(MotionError, match=words):
        pieces(time, q, tau)


def test_a_gap_is_cut_and_jitter_is_taken(truth: Any) -> None:
    time, q, tau = truth.motion(1)
    keep = (time < 8.0) | (time > 11.0)
    parts = pieces(time[keep], q[keep], tau[keep])
    assert len(parts) == 2
    jitter = time + np.random.default_rng(0).uniform(-0.4, 0.4, len(time)) / 200.0
    moved = np.column_stack([np.interp(jitter, time, one) for one in q.T])
    drive = np.column_stack([np.interp(jitter, time, one) for one in tau.T])
    [even], [ragged] = pieces(time, q, tau), pieces(jitter, moved, drive)
    model = WholeRobot(truth.robot)
    error = relative_error(*(build(model, [one]).predicted(truth.theta) for one in (even, ragged)))
    assert error < 1.0


def test_rows_at_rest_teach_nothing(truth: Any) -> None:
    time, q, tau = truth.motion(1)
    count = 4000
    rest = np.arange(1, count + 1) / 200.0
    longer = np.concatenate([time, time[-1] + rest])
    still = np.concatenate([q, np.tile(q[-1], (count, 1))])
    stuck = np.concatenate([tau, np.tile(tau[-1] + 5.0, (count, 1))])
    model = WholeRobot(truth.robot)
    rows = build(model, pieces(longer, still, stuck))
    assert 0.4 < rows.moves.mean() < 0.6
    held = build(model, truth.pieces(2))
    assert relative_error(held.y, held.predicted(fit(model, rows).theta)) < 2.0


def test_the_default_law_of_all_joints_is_one(truth: Any) -> None:
    assert isinstance(truth.model.laws[0], ViscousCoulombSettings)
    assert len({law.model_dump_json() for law in truth.model.laws}) == 1


def test_friction_that_remembers_is_described_by_its_springs(simulated: Any) -> None:
    """Weights of springs that slip at 2 and 60 mrad (mm), from one motion, and another motion predicted."""
    law = PrandtlIshlinskiiSettings(thresholds=(0.002, 0.06))
    truth = simulated.Truth(law, np.array([3.0, 1.0, 2.5, 0.5]))  # viscous, the springs, offset
    plain, springs = (identify(truth.robot, truth.pieces(1), [truth.pieces(2)], (), law=one) for one in (None, law))
    assert springs.test is not None
    assert plain.test is not None
    assert springs.test.error < 0.3 * plain.test.error
    names = list(springs.found.model().names)
    for joint in truth.robot.names[:2]:
        for spring, weight in (("stop1", 1.0), ("stop2", 2.5)):
            at = names.index(f"{spring}.{joint}")
            value, deviation = springs.fit.theta[at], springs.fit.deviation[at]
            assert abs(value - weight) < max(0.15 * weight, 3.0 * deviation), (spring, joint, value)


BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "robots" / "whole_robot.py"
DATA = Path(__file__).parents[4] / "shared" / "data"


def test_real_robots_are_predicted_across_runs_as_asked() -> None:
    spec = importlib.util.spec_from_file_location("whole_robot_benchmark", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    sys.modules["whole_robot_benchmark"] = benchmark
    spec.loader.exec_module(benchmark)
    cases = list(benchmark.cases())
    if not cases:
        pytest.skip(f"needs the recordings of {DATA}")
    rows = [row for case in cases for row in benchmark.judged(case)]
    if cases[0].name.startswith("LWR4"):
        rows.append(benchmark.coverage(cases[0]))
    assert [row for row in rows if not row.good] == []


@pytest.mark.parametrize("law", [CubicViscousSettings(), DirectionalSettings()])
def test_a_law_is_not_used_beyond_what_it_has_seen(simulated: Any, law: RobotFriction) -> None:
    """A cubic at three times the speed would be 27 times as large: it stays what it is at 1.1 times."""
    truth = simulated.Truth()
    found = identify(truth.robot, truth.pieces(1), [], law=law).found
    still = np.zeros((1, 3))
    for sign in (1.0, -1.0):
        edge, far = (found.predicted(still, sign * factor * found.speed[np.newaxis], still) for factor in (1.1, 3.0))
        links = [
            found.model().torque(found.parameters, still, sign * factor * found.speed[np.newaxis], still)
            for factor in (1.1, 3.0)
        ]
        assert far - links[1] == pytest.approx(edge - links[0], rel=1e-9)


def test_the_lag_of_a_torque_is_found_beside_what_it_does_to_theta(truth: Any) -> None:
    time, q, tau = truth.motion(1)
    early = np.column_stack([np.interp(time + 1e-3 * j, time, one) for j, one in enumerate(tau.T)])  # 0, 1, 2 ms
    early += 0.05 * np.random.default_rng(3).standard_normal(tau.shape)
    found = identify(truth.robot, pieces(time, q, early), [], ()).found
    lag = found.lag
    assert lag is not None
    wanted, deviations = np.array([0.0, 1e-3, 2e-3]), np.sqrt(np.diag(lag.covariance))
    assert (np.abs(lag.values - wanted) < 3.0 * deviations).all()
    assert deviations.min() < 0.5e-3
    # least squares of [θ δ] in one: the same as by blocks
    model = WholeRobot(truth.robot)
    rows = build(model, pieces(time, q, early))
    alone = fit(model, rows)
    assert not alone.at_zero.any()
    exact = beyond_law(rows, alone)
    exact = exact._replace(root=np.zeros_like(exact.root))
    theta, covariance = torque_lag(rows, alone, exact).with_theta(alone.theta, np.linalg.inv(alone.information))
    X = np.zeros((*rows.X.shape[:2], model.size + 3))
    X[:, :, : model.size] = rows.X
    X[:, range(3), range(model.size, model.size + 3)] = rates(rows)
    X, y = X * rows.slides[:, :, None], rows.y * rows.slides
    prior = np.zeros((model.size + 3,) * 2)
    prior[: model.size, : model.size] = np.linalg.inv(alone.prior_covariance)
    prior[model.size :, model.size :] = np.eye(3) / LAG_SPREAD**2
    weights, mean = alone.weights[0], np.append(alone.prior, np.zeros(3))
    information = np.einsum("tjp,j,tjq->pq", X, weights, X, optimize=True) + prior
    right = np.einsum("tjp,j,tj->p", X, weights, y, optimize=True) + prior @ mean
    deviation = np.sqrt(np.diag(covariance))
    assert np.allclose(covariance @ information, np.eye(model.size + 3), atol=1e-5)
    assert np.allclose(np.linalg.solve(information, right) / deviation, theta / deviation, atol=1e-3)
