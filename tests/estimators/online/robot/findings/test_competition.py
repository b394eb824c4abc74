"""Evidence against a brute-force marginal likelihood, columns against finite rotations, and what is possible."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from estimators.models.robots.description import RobotDescription, RobotJoint, pose
from estimators.models.robots.inertia import standard
from estimators.models.robots.maxwell_slip import MaxwellSlipSettings
from estimators.models.robots.tree import PARAMETERS
from estimators.models.robots.whole_robot import WholeRobot
from estimators.online.robot.findings.causes.base import Cause, Fitted, Prepared, RobotKnowledge
from estimators.online.robot.findings.causes.base_tilt import BaseTilt
from estimators.online.robot.findings.causes.catalogue import catalogue
from estimators.online.robot.findings.causes.encoder_slip import EncoderSlip
from estimators.online.robot.findings.causes.friction import CommonFriction, JointFriction, share_of_friction, sizes
from estimators.online.robot.findings.causes.links import Links
from estimators.online.robot.findings.causes.payload import PayloadCause, is_gone
from estimators.online.robot.findings.causes.spring import RARITY, Spring
from estimators.online.robot.findings.causes.steady_torque import LASTS, Contact, Offset
from estimators.online.robot.findings.causes.torque_constant import TorqueConstant
from estimators.online.robot.findings.columns import CauseColumns, slip_columns, spring_columns, tilt_columns
from estimators.online.robot.findings.competition import PASSES, Standing, _Problem, compete
from estimators.online.robot.findings.looks import FADE, SHORT, Looks, Sums, Window, sums_of
from estimators.quantities import Axis, Floats

N, ROWS, NOISE = 3, 60, 0.2


def description(gravity: Floats) -> RobotDescription:
    """An arm whose axes point in three directions."""
    turns = ((0.0, 0.0, 0.0), (np.pi / 2, 0.0, 0.0), (0.0, np.pi / 2, 0.3))
    body, z = standard(3.0, np.array([0.2, 0.02, 0.05]), 0.05 * np.eye(3)), np.array([0.0, 0.0, 1.0])
    joints = (RobotJoint(f"j{i}", Axis.ROTARY, i - 1, pose(turns[i], (0.3, 0.0, 0.1)), z) for i in range(N))
    return RobotDescription("arm", tuple(joints), np.array([body] * N), gravity=gravity)


DOWN = np.array([0.0, 0.0, -9.81])
MODEL = WholeRobot(description(DOWN))
COLUMNS = CauseColumns(MODEL.size + N, N)
PLACES = COLUMNS.of_joints(MODEL)
BODIES = MODEL.robot.parameters


def known(starting: bool = False, looks: int = 4, carried: Floats | None = None) -> RobotKnowledge:
    rng = np.random.default_rng(1)
    theta = np.concatenate([MODEL.projection.G @ BODIES.ravel(), rng.uniform(0.5, 1.5, len(MODEL.terms)), np.zeros(N)])
    root = 0.002 * np.tril(rng.standard_normal((COLUMNS.q, COLUMNS.q)))
    prior = np.diag(np.maximum(0.5 * np.abs(theta), 0.1) ** 2)
    held = np.zeros(COLUMNS.size)
    held[COLUMNS.body] = 0.0 if carried is None else carried
    one_way = np.zeros(N, np.bool_)
    return RobotKnowledge(MODEL, COLUMNS, theta, root, prior, np.full(N, 2.0), held, BODIES, starting, looks, one_way)


def motion(rows: int = ROWS) -> Floats:
    """q, dq, ddq (3, rows, n)."""
    rng = np.random.default_rng(2)
    return np.stack([size * rng.uniform(-1.0, 1.0, (rows, N)) for size in (1.0, 1.5, 3.0)])


def columns_of(rows: int = ROWS) -> tuple[Floats, Floats]:
    """Z (rows, n, k) of true columns, and the torque (rows, n) by the model."""
    q, dq, ddq = motion(rows)
    Z = np.zeros((rows, N, COLUMNS.size))
    Z[:, :, : MODEL.base] = MODEL.rigid(q, dq, ddq)
    for joint, term, column in MODEL.others(q, dq, ddq, np.zeros((rows, N)), np.full(N, 3.0)):
        Z[:, joint, MODEL.base + term] = column
    body = np.eye(PARAMETERS)
    for k in range(PARAMETERS):
        last = np.zeros((N, PARAMETERS))
        last[-1] = body[k]
        Z[:, :, COLUMNS.body.start + k] = MODEL.torque(last, q, dq, ddq)
    Z[:, :, COLUMNS.slips] = slip_columns(MODEL, BODIES, q, dq, ddq)
    Z[:, :, COLUMNS.tilts] = tilt_columns(MODEL, BODIES, q)
    Z[:, :, COLUMNS.springs] = spring_columns(q)
    torque = Z[:, :, COLUMNS.theta] @ known().theta
    Z[:, :, COLUMNS.gains] = torque[:, :, None] * np.eye(N)
    return Z, torque


def test_columns_of_a_slip_are_how_much_the_prediction_is_off_when_an_encoder_reads_too_much() -> None:
    q, dq, ddq = motion()
    columns = slip_columns(MODEL, BODIES, q, dq, ddq)
    for joint in range(N):
        slip = np.zeros(N)
        slip[joint] = 2e-3
        off = MODEL.torque(BODIES, q, dq, ddq) - MODEL.torque(BODIES, q + slip, dq, ddq)
        np.testing.assert_allclose(columns[:, :, joint] * 2e-3, off, atol=3e-4)
        assert np.abs(off).max() > 0.01 or joint == 0, "the first axis is along gravity"


@pytest.mark.parametrize(("axis", "k"), [((1.0, 0.0, 0.0), 0), ((0.0, 1.0, 0.0), 1)])
def test_columns_of_a_tilt_are_those_of_a_model_whose_base_is_turned(axis: tuple[float, ...], k: int) -> None:
    q, dq, ddq = motion()
    angle = 1e-3
    turned = WholeRobot(description(DOWN + angle * np.cross(DOWN, np.array(axis))))  # seen from the base
    off = turned.torque(BODIES, q, dq, ddq) - MODEL.torque(BODIES, q, dq, ddq)
    np.testing.assert_allclose(angle * tilt_columns(MODEL, BODIES, q)[:, :, k], off, atol=1e-9)
    assert np.abs(off).max() > 1e-3


def window(residual: Floats, rows: int = ROWS, looks: int = 4) -> tuple[Window, Floats]:
    """A window of the model's torque and this residual (rows, n), and the columns."""
    Z, torque = columns_of(rows)
    there = np.ones((rows, N))
    return Window(sums_of(Z, torque + residual, there, motion(rows)[1], np.zeros(COLUMNS.size), PLACES), looks), Z


def test_sums_of_the_columns_that_a_joint_has_are_those_of_all_columns() -> None:
    rng = np.random.default_rng(3)
    residual, there = rng.normal(size=(ROWS, N)), (rng.random((ROWS, N)) < 0.8).astype(float)
    Z, torque = columns_of()
    y, weights, moved, pulls = torque + residual, np.array([0.5, 2.0, 3.0]), 0.1 * rng.normal(size=COLUMNS.size), psi()
    own = sums_of(Z, y, there, motion()[1], pulls, PLACES)
    assert PLACES.shape[1] < COLUMNS.size
    left = (y - Z @ moved) * there
    c, squares = own.against(moved)
    G, b = own.weighed(weights, c)
    flat = (Z * (there * np.sqrt(weights))[:, :, None]).reshape(-1, COLUMNS.size)
    np.testing.assert_allclose(G, flat.T @ flat, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(b, flat.T @ (left * np.sqrt(weights)).ravel() - pulls, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(squares, (left**2).sum(axis=0), rtol=1e-9, atol=1e-9)


def psi() -> Floats:
    found = np.zeros(COLUMNS.size)
    found[COLUMNS.theta] = known().theta
    return found


@pytest.mark.parametrize("number", range(len(catalogue(N))))
def test_evidence_is_the_ratio_of_marginal_likelihoods(number: int) -> None:
    """The evidence for a cause is SciPy's log ratio of likelihoods with and without it.

    The residual is what one draw of the cause does, with noise of 0.2 N·m: 180 values; θ is uncertain.
    """
    from scipy.stats import multivariate_normal

    told, rng = known(starting=True, looks=LASTS - 1 if number < 5 else LASTS), np.random.default_rng(number)
    cause = catalogue(N)[number]
    T, root = cause.moves(told), np.linalg.cholesky(cause.prior(told))
    Z, _ = columns_of()
    residual = Z @ T @ root @ rng.uniform(0.2, 0.6, len(root)) + NOISE * rng.standard_normal((ROWS, N))
    standing = compete([cause], told, psi(), [window(residual)[0]], np.full(N, NOISE**2), np.ones(N))
    assert standing is not None
    flat = Z.reshape(-1, COLUMNS.size)
    X, columns = flat[:, COLUMNS.theta] @ told.root, flat @ T @ root
    scale = standing.scale if PASSES > 1 else np.ones(N)
    before = np.diag(np.tile(NOISE**2 * scale, ROWS)) + X @ X.T
    wanted = [multivariate_normal.logpdf(residual.ravel(), cov=cov) for cov in (before + columns @ columns.T, before)]
    wanted[0] -= cause.rarity
    if wanted[0] - wanted[1] < 1.0:
        return  # not fitted: nothing at all is likelier
    best = standing.best
    assert best is not None
    assert best.evidence == pytest.approx(wanted[0] - wanted[1], rel=0.02, abs=0.5)


@pytest.mark.parametrize(("cause", "other"), [(Contact((1,)), JointFriction((1,))), (Spring((1,)), EncoderSlip((1,)))])
def test_how_hard_something_pulls_does_not_speak_against_it(cause: Cause, other: Cause) -> None:
    """Ten of its deviations: of a prior of any size the likeliest counts, which costs ln 10, and not 50 nats."""
    told, Z = known(), columns_of()[0]
    T, prior = cause.moves(told), np.diag(cause.prior(told))
    residual = Z @ T @ (10.0 * np.sqrt(prior)) + NOISE * np.random.default_rng(5).standard_normal((ROWS, N))
    at = [window(residual)[0]]
    standing = compete([cause, other], told, psi(), at, np.full(N, NOISE**2), np.ones(N))
    assert standing is not None
    assert standing.best is not None
    best, flat = standing.best, Z.reshape(-1, COLUMNS.size)
    assert best.cause == cause

    def evidence(wider: float) -> float:
        from scipy.stats import multivariate_normal

        X, columns = flat[:, COLUMNS.theta] @ told.root, flat @ T * (wider * np.sqrt(prior))
        before = np.diag(np.tile(NOISE**2 * standing.scale, ROWS)) + X @ X.T
        both = [multivariate_normal.logpdf(residual.ravel(), cov=one) for one in (before + columns @ columns.T, before)]
        return float(both[0] - both[1]) - cause.rarity

    assert best.evidence == pytest.approx(max(evidence(one) for one in (5.0, 7.0, 10.0, 14.0)), abs=2.0)
    assert best.evidence > evidence(1.0) + 20.0


CASES = [
    ("friction", JointFriction((1,)), 0.6),
    ("friction", CommonFriction((0, 1, 2)), 0.4),
    ("torque_constant", TorqueConstant((1,)), 0.1),
    ("encoder_slip", EncoderSlip((1,)), 0.05),
    ("base_tilt", BaseTilt(), 0.06),
    ("offset", Offset((2,)), 1.0),
    ("spring", Spring((1,)), 2.0),
    ("spring", Spring((2,), turns=True), 2.0),
]


@pytest.mark.parametrize(("name", "cause", "size"), CASES)
def test_the_cause_that_made_a_residual_is_decided(name: str, cause: object, size: float) -> None:
    told, rng = known(looks=LASTS), np.random.default_rng(7)
    T = cause.moves(told)  # type: ignore[attr-defined]
    Z, _ = columns_of(400)
    residual = Z @ (T @ np.full(T.shape[1], size)) + 0.05 * rng.standard_normal((400, N))
    [one] = [window(residual, 400)[0]]
    standing = compete(catalogue(N), told, psi(), [one], np.full(N, 0.05**2), np.ones(N))
    assert standing is not None
    assert standing.decided, [(fit.cause.name, fit.cause.joints, fit.evidence) for fit in standing.fitted[:3]]
    assert standing.notable
    best = standing.best
    assert best is not None
    assert (best.cause.name, best.cause.joints) == (name, cause.joints)  # type: ignore[attr-defined]


def test_of_several_windows_the_one_that_tells_most_counts() -> None:
    told, rng = known(looks=LASTS), np.random.default_rng(7)
    each = [
        window(size + 0.05 * rng.standard_normal((100, N)), 100, looks)[0]
        for looks, size in ((1, 0.1), (2, 0.5), (4, 0.0))
    ]
    for windows in (each, each[::-1]):
        standing = compete(catalogue(N), told, psi(), windows, np.full(N, 0.05**2), np.ones(N))
        assert standing is not None
        assert standing.window.looks == 2


def test_noise_has_no_cause_and_what_no_cause_makes_is_not_decided() -> None:
    rng = np.random.default_rng(8)
    noise = window(NOISE * rng.standard_normal((400, N)), 400)[0]
    standing = compete(catalogue(N), known(True, LASTS), psi(), [noise], np.full(N, NOISE**2), np.ones(N))
    assert standing is not None
    assert not standing.certain
    wild = window(20.0 * NOISE * rng.standard_normal((400, N)), 400)[0]
    standing = compete(catalogue(N), known(True, LASTS), psi(), [wild], np.full(N, NOISE**2), np.ones(N))
    assert standing is not None
    assert not standing.certain
    assert (standing.scale > 100.0).all()
    assert compete(catalogue(N), known(), psi(), [], np.ones(N), np.ones(N)) is None


def test_causes_do_not_compete_where_none_could_be_certain_and_miss_none_that_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Residuals of one cause alone, from too small to certain: with the bound all that is certain is found alike."""
    told, cause = known(looks=LASTS), Offset((2,))
    Z, _ = columns_of()
    alone = Z @ (cause.moves(told) @ np.ones(1))
    windows = [window(NOISE * size * alone)[0] for size in np.linspace(0.1, 1.5, 29)]
    usual, alike = np.full(N, NOISE**2), np.full(N, 1.0)
    bounded = [compete(catalogue(N), told, psi(), [one], usual, alike) for one in windows]
    for name in ("hopeless", "soon_hopeless"):
        monkeypatch.setattr(_Problem, name, lambda *_: False)
    every = [compete(catalogue(N), told, psi(), [one], usual, alike) for one in windows]
    assert any(one is None for one in bounded)
    assert any(one is not None and one.certain for one in bounded)
    for found, wanted in zip(bounded, every, strict=True):
        assert wanted is not None
        if found is None:
            assert not wanted.certain
        else:
            assert [one.evidence for one in found.fitted] == [one.evidence for one in wanted.fitted]


def test_a_payload_has_a_mass_and_a_centre_within_reach() -> None:
    cause, sure = PayloadCause(), np.full(PARAMETERS, 0.01)
    assert cause.possible(known(), standard(2.0, np.array([0.1, 0.0, 0.2]), 0.01 * np.eye(3)), sure)
    assert not cause.possible(known(), standard(2.0, np.array([0.5, 0.0, 0.5]), 0.01 * np.eye(3)), sure)
    assert not cause.possible(known(), standard(0.2, np.zeros(3), 0.01 * np.eye(3)), sure), "the least is 0.25 kg"
    assert not cause.possible(known(), standard(2.0, np.zeros(3), 0.01 * np.eye(3)), np.full(PARAMETERS, 0.6))
    lacks = -standard(2.0, np.array([0.1, 0.0, 0.1]), 0.01 * np.eye(3))
    assert cause.possible(known(), lacks, sure), "the last link has 3 kg to lose"
    assert not cause.possible(known(), 1.6 * lacks, sure)
    body = standard(2.0, np.array([0.1, 0.0, 0.1]), 0.01 * np.eye(3))
    carrying = known(carried=body)
    assert is_gone(carrying, -body)
    assert not is_gone(carrying, -0.5 * body)
    assert not is_gone(carrying, -1.5 * body), "less than nothing is not nothing"
    assert not is_gone(known(), -body)
    assert not cause.possible(carrying, -1.5 * body, sure), "no more is put down than was carried"


def test_friction_brakes_and_names_what_has_changed() -> None:
    told, cause = known(), JointFriction((1,))
    own = told.theta[told.friction_terms(1)]
    assert cause.possible(told, -0.5 * own, np.full(len(own), 0.01))
    assert not cause.possible(told, -1.5 * own, np.full(len(own), 0.01))
    both = CommonFriction((0, 1, 2))
    assert both.possible(told, np.full(both.moves(told).shape[1], -0.9), np.full(2, 0.01))
    assert not both.possible(told, np.full(both.moves(told).shape[1], -1.2), np.full(2, 0.01))
    whole = both.moves(told).sum(axis=1)
    for j in range(N):
        np.testing.assert_allclose(whole[told.friction_terms(j)], told.theta[told.friction_terms(j)])
    assert np.count_nonzero(whole) == N * len(own)


def test_a_cause_is_decided_where_none_of_another_name_is_within_three_of_its_evidence() -> None:
    def standing(*fits: tuple[str, float], explained: float = 90.0) -> Standing:
        every = tuple(SimpleNamespace(cause=SimpleNamespace(name=name), evidence=one) for name, one in fits)
        return Standing(cast(Any, None), cast(Any, every), 100.0, explained, 10.0, np.ones(N))

    for evidence, decided in ((27.1, False), (26.9, True)):
        found = standing(("payload", 30.0), ("offset", evidence))
        assert (found.certain, found.decided) == (True, decided)
        assert found.best is found.fitted[0]
    for evidence, explained, certain in ((10.2, 90.0, False), (10.4, 90.0, True), (30.0, 79.0, False)):
        assert standing(("payload", evidence), explained=explained).certain is certain
    assert standing(("payload", 30.0), ("payload", 29.9)).decided, "another fit of the same name is no rival"
    assert not standing().decided


@pytest.mark.parametrize(("size", "notable", "unit"), [(0.36, True, 1.0), (0.33, False, 1.0), (0.36, True, 0.01)])
def test_a_finding_doubles_the_usual_residual_of_the_joints_that_it_explains(
    size: float, notable: bool, unit: float
) -> None:
    """θ is known: an offset of one joint changes nothing of the others, however much is usual there."""
    told, rng = known(looks=LASTS), np.random.default_rng(9)
    told = replace(told, root=np.zeros_like(told.root))
    noise = NOISE * rng.standard_normal((400, N))
    residual = NOISE * (noise - noise.mean(axis=0)) / noise.std(axis=0)
    residual[:, 2] += size
    residual *= unit
    alike = np.array([1.0, 1.0, 4.0])
    standing = compete([Offset((2,))], told, psi(), [window(residual, 400)[0]], np.full(N, (unit * NOISE) ** 2), alike)
    assert standing is not None
    assert standing.best is not None
    assert standing.usual == 100.0, "a quarter of the rows of that joint"
    left = residual[:, 2] - standing.best.values
    less = (residual[:, 2] ** 2).sum() - (left**2).sum()
    assert standing.explained == pytest.approx(less / (4.0 * (unit * NOISE) ** 2))
    assert standing.excess == pytest.approx(100.0 * (size / NOISE) ** 2), "beyond the usual squares of all joints"
    assert standing.notable is notable


def test_a_joint_that_had_no_friction_has_infinitely_more() -> None:
    assert share_of_friction("wrist", -0.2, 0.8) == "wrist -25 %"
    assert share_of_friction("wrist", 0.2, 0.0) == "wrist +inf %"


def test_a_coefficient_is_as_large_as_if_it_alone_were_the_friction_at_half_the_speed_seen() -> None:
    robot = replace(known(), reach=np.full(N, 3.0))
    terms = robot.friction_terms(1)
    viscous, coulomb = robot.theta[terms]
    torque = 1.5 * viscous + coulomb
    np.testing.assert_allclose(robot.friction_columns(1, np.array([1.5])), [[1.5, 1.0]])
    np.testing.assert_allclose(sizes(robot, 1), [torque / 1.5, torque])
    robot = known()  # half its speed is 1 rad/s, where both columns are 1
    np.testing.assert_allclose(sizes(robot, 1), np.full(2, viscous + coulomb))


def test_stops_that_sliding_does_not_tell_apart_change_friction_together_by_no_more_than_one_coefficient() -> None:
    """Each by itself, eight stops and Coulomb's could be ±14 N·m that cancel, until the joint turns around."""
    model = WholeRobot(MODEL.robot, (MaxwellSlipSettings(),) * N)
    theta = np.full(model.size + N, 0.1)
    robot = RobotKnowledge(
        model, CauseColumns(model.size + N, N), theta, np.eye(len(theta)), np.eye(len(theta)), np.full(N, 3.0),
        np.zeros(0), BODIES, False, 4, np.zeros(N, np.bool_),
    )  # fmt: skip
    [columns] = robot.friction_columns(1, np.array([1.5]))
    slides = columns == 1.0
    assert np.count_nonzero(slides) > 5
    torque = columns @ theta[robot.friction_terms(1)]
    assert np.linalg.norm(sizes(robot, 1)[slides]) == pytest.approx(torque)


@pytest.mark.parametrize(
    ("cause", "values", "possible"),
    [
        (CommonFriction((0, 1, 2)), (-1.029, -1.029), True),  # no friction is left, within three deviations
        (CommonFriction((0, 1, 2)), (-1.029, -1.031), False),
        (CommonFriction((0, 1, 2)), (9.0, -0.99), True),
        (EncoderSlip((1,)), (0.5,), True),
        (EncoderSlip((1,)), (-0.51,), False),
        (TorqueConstant((1,)), (-0.5,), True),
        (TorqueConstant((1,)), (0.51,), False),
        (BaseTilt(), (0.3, -0.4), True),
        (BaseTilt(), (0.31, -0.4), False),
        (Offset((1,)), (-1e3,), True),
        (Contact((1,)), (1e3,), True),
    ],
)
def test_what_a_cause_can_be_at_its_limits(cause: Any, values: tuple[float, ...], possible: bool) -> None:
    assert cause.possible(known(), np.array(values), np.full(len(values), 0.01)) is possible


@pytest.mark.parametrize(
    ("cause", "usual"),
    [(EncoderSlip((1,)), 0.05), (TorqueConstant((1,)), 0.1), (BaseTilt(), 0.05), (CommonFriction((0, 1, 2)), 0.5)],
)
def test_before_any_row_a_cause_has_the_size_that_it_usually_has(cause: Any, usual: float) -> None:
    """50 mrad of an encoder or a base, a tenth of a torque constant, half of a friction: one deviation each."""
    prior = cause.prior(known())
    np.testing.assert_allclose(prior, usual**2 * np.eye(len(prior)), rtol=1e-12)


def test_a_steady_torque_is_a_contact_for_ten_seconds_and_another_zero_when_it_lasts() -> None:
    assert Contact((0,)).lasts(19, False)
    assert not Contact((0,)).lasts(20, False)
    assert not Offset((0,)).lasts(19, True)
    assert Offset((0,)).lasts(20, False)
    assert [Links().lasts(*at) for at in ((0, True), (19, False), (20, False))] == [True, False, True]
    assert BaseTilt().lasts(1, False), "a mobile base tips at once"


def test_a_spring_has_a_stiffness_and_an_angle_at_rest_that_are_the_truth_within_their_deviations() -> None:
    """3 N·m/rad that rests at 0.4 rad, on one axis, or 3 N·m sin(q - 0.4), in 40 draws of the noise each."""
    told, (q, _, _), rng = known(), motion(400), np.random.default_rng(11)
    for turns in (False, True):
        spring, z = Spring((1,), turns), list[Floats]()
        E = spring_columns(q)[:, 1, spring.places(told) - COLUMNS.springs.start]
        pull = 3.0 * (np.sin(q[:, 1] - 0.4) if turns else q[:, 1] - 0.4)
        covariance = 0.5**2 * np.linalg.inv(E.T @ E)
        for _ in range(40):
            values = np.linalg.lstsq(E, pull + 0.5 * rng.standard_normal(400))[0]
            z.append((np.array(spring.size(values)) - [3.0, 0.4]) / spring.deviations(values, covariance))
            assert spring.possible(told, values, np.sqrt(np.diag(covariance)))
        assert 0.7 < np.sqrt(np.mean(np.square(z))) < 1.3
        fitted = Fitted(spring, values, covariance, 20.0, spring.moves(told))
        assert spring.main_size(fitted) == pytest.approx((3.0, spring.deviations(values, covariance)[0]), abs=0.3)


def test_a_spring_that_holds_may_come_loose_and_none_pushes_away_from_where_it_rests() -> None:
    spring, sure, around = Spring((1,)), np.full(2, 0.01), Spring((1,), turns=True)
    assert not spring.possible(known(), np.array([-2.0, 0.5]), sure), "it would push"
    assert not spring.possible(known(), np.array([0.02, 0.5]), sure), "it is not known whether it is one"
    assert not spring.possible(known(), np.array([2.0, 13.0]), sure), "it rests more than a turn away"
    assert around.possible(known(), np.array([-2.0, 0.5]), sure), "it rests at another angle"
    held = np.zeros(COLUMNS.size)
    held[spring.places(known())] = 2.0, -0.4
    told = replace(known(), held=held)
    assert spring.possible(told, np.array([-1.9, 0.4]), sure)
    assert spring.is_over(told, np.array([2.0, -0.4]), np.array([-1.9, 0.4]))
    assert not spring.is_over(told, np.array([2.0, -0.4]), np.array([-0.9, 0.4]))
    assert spring.possible(told, np.array([-0.9, 0.4]), sure), "half as stiff"
    assert not spring.possible(told, np.array([-3.0, 0.4]), sure)


def test_what_a_payload_and_a_spring_explain_alike_is_a_payload() -> None:
    """A payload is taken a hundred times an hour, and a hose is caught once a year: odds of 876,000 to one."""
    assert pytest.approx(np.log(100 * 8760), abs=0.05) == RARITY
    assert all(one.rarity == (RARITY if isinstance(one, Spring) else 0.0) for one in catalogue(N))


def test_each_cause_has_words_of_its_own() -> None:
    told = known(carried=standard(2.0, np.zeros(3), 0.01 * np.eye(3)))
    words = []
    for cause in catalogue(N):
        prepared = Prepared.of(cause, told)
        k = len(prepared.root)
        words.append(cause.words(told, Fitted(cause, np.full(k, 0.1), np.eye(k), 20.0, cause.moves(told))))
    assert "a payload of about 2.1 kg is carried" in words
    assert "the base is tilted by +5.7° about its x and +5.7° about its y" in words
    assert "the encoder of j1 has slipped: it reads about +100 mrad beyond what it did" in words
    assert "the torque of j1 is measured +10 % beyond what it was: another torque constant" in words
    assert "the torque of j1 has another zero: +0.1 N·m" in words
    assert "a spring acts on j1: 0.1 ± 1 N·m/rad, at rest at -1 ± 1e+01 rad, as of a hose or cable that pulls" in words
    assert all(words)


def test_looks_are_summed_over_the_last_ones_and_since_a_change_may_have_begun() -> None:
    def one(value: float) -> Sums:
        each = np.full((1, 2, 2), value), np.full((1, 2), value), np.full(1, value), np.full(1, 25.0), np.zeros(2)
        return Sums(*each, np.full(1, 20.0), np.array([[0, 1]]))

    looks = Looks()
    for value in (1.0, 2.0, 4.0, 8.0, 16.0):
        looks.absorb(one(value))
    windows = looks.windows()
    assert [each.looks for each in windows] == [*SHORT, 5]
    assert [float(each.sums.squares[0]) for each in windows[:3]] == [16.0, 24.0, 30.0]
    faded = sum(value * FADE ** (4 - k) for k, value in enumerate((1.0, 2.0, 4.0, 8.0, 16.0)))
    assert float(windows[3].sums.squares[0]) == pytest.approx(faded)
    looks.only(2)
    assert looks.count == 2
    assert [float(each.sums.squares[0]) for each in looks.windows()] == [16.0, 24.0]
    looks.begin()
    assert looks.since is None
    assert len(looks.windows()) == 2
    looks.clear()
    assert looks.windows() == []


def competed(residual: Floats, *causes: Cause) -> Standing:
    """What a long window of a start makes of a residual."""
    told = known(starting=True)
    seen, usual, alike = window(residual, 600)[0], np.full(N, NOISE**2), np.ones(N)
    psi_there = np.concatenate([told.theta, np.zeros(COLUMNS.size - len(told.theta))])
    standing = compete(causes, told, psi_there, [seen], usual, alike)
    assert standing is not None
    return standing


def test_a_body_that_is_carried_is_not_heavier_links_however_narrow_their_prior_is() -> None:
    """Links contain it: of what both explain, only the widths of their priors would decide."""
    noise = NOISE * np.random.default_rng(8).standard_normal((600, N))
    Z, _ = columns_of(600)
    load = standard(0.5, np.array([0.02, 0.0, 0.05]), 0.001 * np.eye(3))
    [without] = competed(noise + Z[:, :, COLUMNS.body] @ load, Links()).fitted
    standing = competed(noise + Z[:, :, COLUMNS.body] @ load, PayloadCause(), Links())
    assert without.cause == Links()
    assert standing.best is not None
    assert standing.best.evidence < without.evidence, "by evidence alone these would be links"
    assert standing.best.cause == PayloadCause()
    assert standing.decided
    bodies = BODIES.copy()
    bodies[0] *= 1.3
    bodies[1] *= 0.8
    q, dq, ddq = motion(600)
    other = competed(noise + MODEL.torque(bodies - BODIES, q, dq, ddq), PayloadCause(), Links())
    assert other.best is not None
    assert other.best.cause == Links(), "these are not the last link's alone"


def test_friction_of_a_joint_that_moved_one_way_only_is_none_while_a_push_may_last() -> None:
    """A zero that creeps while its joint turns one way is as much friction as it is a zero."""
    one_way = np.array([False, True, False])
    for looks, starting, free in ((LASTS - 1, False, False), (LASTS, False, True), (4, True, True)):
        told = replace(known(starting, looks), one_way=one_way)
        alone, every = JointFriction((1,)), JointFriction((0, 1, 2))
        assert bool(alone.root(told).any()) is free
        np.testing.assert_array_equal(alone.prior(told), alone.root(told) @ alone.root(told).T)
        own = np.diag(every.root(told)).reshape(N, -1)
        assert own.any(axis=1).tolist() == [True, free, True]
    dq = np.array([[1.0, 1.0, -1.0], [1.0, 2.0, 1.0], [-1.0, 3.0, 1.0]])
    there = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    Z, places = np.ones((3, N, 2)), np.tile(np.arange(2), (N, 1))
    sums = sums_of(Z, there, there, dq, np.zeros(2), places)
    assert sums.plus(sums).rarer.tolist() == [2.0, 0.0, 0.0]
