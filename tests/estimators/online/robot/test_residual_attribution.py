"""When causes compete, and what is made of the best: looks of three joints, with columns drawn at random."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from estimators.models.robots.description import RobotDescription, RobotJoint, pose
from estimators.models.robots.inertia import standard
from estimators.models.robots.tree import PARAMETERS
from estimators.models.robots.whole_robot import WholeRobot
from estimators.online.robot.findings.carried import as_payload
from estimators.online.robot.findings.causes.base import Fitted
from estimators.online.robot.findings.causes.spring import Spring
from estimators.online.robot.findings.columns import spring_columns
from estimators.online.robot.findings.friction_terms import law_terms
from estimators.online.robot.reported_findings import ReportedFindings
from estimators.online.robot.residual_attribution import (
    CALM,
    AttributionVerdict,
    LeavesLaw,
    LookRows,
    ResidualAttribution,
    torque_scale,
)
from estimators.quantities import Axis, Floats

N, ROWS, NOISE, ALIKE = 3, 25, 0.2, 2.0
LOAD = standard(2.0, np.array([0.05, 0.0, 0.1]), 0.01 * np.eye(3))


def model() -> WholeRobot:
    turns = ((0.0, 0.0, 0.0), (np.pi / 2, 0.0, 0.0), (0.0, np.pi / 2, 0.3))
    z, body = np.array([0.0, 0.0, 1.0]), standard(5.0, np.array([0.2, 0.0, 0.0]), 0.1 * np.eye(3))
    joints = (RobotJoint(f"j{i}", Axis.ROTARY, i - 1, pose(turns[i], (0.3, 0.0, 0.0)), z) for i in range(N))
    return WholeRobot(RobotDescription("arm", tuple(joints), np.array([body] * N)))


MODEL = model()
Q = MODEL.size + N


Pull = Callable[[Floats], Floats]  # torque of a spring by an angle
STIFFNESS, AT_REST = 10.0, 0.3  # N·m/rad, rad


def straight(q: Floats) -> Floats:
    return STIFFNESS * (q - AT_REST)


def turning(q: Floats) -> Floats:
    return np.asarray(STIFFNESS * np.sin(q - AT_REST))


class Looks:
    """Half seconds of rows, one after the other, and what is told at the end of each."""

    def __init__(self, scale: float = 0.0) -> None:
        prior = np.eye(MODEL.size) * 25.0
        self.causes = ResidualAttribution(MODEL, prior, np.full(N, ALIKE), np.full(N, 1.5), scale)
        rng = np.random.default_rng(3)
        terms = rng.uniform(0.5, 1.5, len(MODEL.terms))
        self.causes.theta = np.concatenate([MODEL.projection.G @ MODEL.robot.parameters.ravel(), terms, np.zeros(N)])
        self.causes.bodies = MODEL.robot.parameters
        self.causes.covariance = 1e-6 * np.eye(Q)
        self.causes.settle()
        self.rng = np.random.default_rng(5)
        self.leaves: LeavesLaw | None = None
        self.beyond = np.zeros(N, np.bool_)

    def look(
        self, load: Floats | None = None, friction: float = 0.0, steady: float = 0.0, noise: float = NOISE,
        lasts: int = ROWS, moves: Floats | None = None, gain: float = 0.0, reach: float = 1.0, pull: Pull | None = None,
    ) -> AttributionVerdict | None:  # fmt: skip
        """load: what the last link carries; friction: share by which that of joint 1 is larger; steady: N·m on it.

        lasts: rows that the last link carries it in; moves: (n,) or (rows, n) 1 where a joint moves; reach: rad that
        all joints go to either side; pull: of a spring on joint 1 by its angle.
        """
        q, dq, ddq = (size * self.rng.uniform(-1.0, 1.0, (ROWS, N)) for size in (reach, 1.5, 3.0))
        X, Y = np.zeros((ROWS, N, Q)), np.empty((ROWS, N, PARAMETERS))
        X[:, :, : MODEL.base] = MODEL.rigid(q, dq, ddq)
        for joint, term, column in MODEL.others(q, dq, ddq, np.zeros((ROWS, N)), np.full(N, 3.0)):
            X[:, joint, MODEL.base + term] = column
        for k in range(PARAMETERS):
            last = np.zeros((N, PARAMETERS))
            last[-1, k] = 1.0
            Y[:, :, k] = MODEL.torque(last, q, dq, ddq)
        own, theta = law_terms(MODEL, 1), self.causes.theta
        extra = noise * self.rng.standard_normal((ROWS, N))
        if load is not None:
            extra[:lasts] += (Y @ load)[:lasts]
        extra[:, 1] += friction * X[:, 1, own] @ theta[own] + steady
        extra[:, 1] += gain * X[:, 1] @ theta
        extra[:, 1] += 0.0 if pull is None else pull(q[:, 1])
        torque = X @ theta + extra
        psi, columns = self.causes.explanation.psi, self.causes.columns
        u = extra - Y @ self.causes.explanation.carried - spring_columns(q) @ psi[columns.springs]
        there = np.ones((ROWS, N)) * (np.ones(N) if moves is None else moves)
        rows = LookRows(X, Y, torque, u * there, there, np.stack([q, dq, ddq]), np.zeros(self.causes.columns.size))
        self.rows = rows
        self.causes.absorb(rows, np.full(N, NOISE**2))
        return self.causes.verdict(self.leaves, self.beyond)

    def told(self, looks: int, *args: Any, **kwargs: Any) -> list[str | None]:
        """What is told, look by look."""
        every = [self.look(*args, **kwargs) for _ in range(looks)]
        return [None if one is None else one.fitted.cause.name for one in every]


def test_noise_opens_no_competition() -> None:
    looks = Looks()
    for _ in range(60):
        assert looks.look() is None
        assert not looks.causes.open
    assert looks.causes.over


def test_one_look_far_beyond_opens_a_competition_however_quiet_it_was_before() -> None:
    """37.5 rows count in a look: 25 of three joints, two of them alike. Chance adds 2.5 √75 in one of a hundred."""
    for noise, opens in ((1.5, True), (1.0, False)):
        looks = Looks()
        looks.told(20, noise=0.1 * NOISE)
        looks.look(noise=noise * NOISE)
        assert looks.causes.open is opens
        assert looks.causes.known().looks == 2 * opens, "it rests on the look before, too, in which a change may begin"


def test_what_happens_to_one_joint_is_not_hidden_by_the_usual_residual_of_others() -> None:
    """Of 12.5 rows that count, others leave next to nothing; this one 22 a look, 9 more than usual."""
    looks = Looks()
    looks.told(40, noise=0.1 * NOISE)
    looks.told(2, noise=0.1 * NOISE, steady=1.32 * NOISE)
    assert not looks.causes.open, "yet it may be chance"
    looks.told(1, noise=0.1 * NOISE, steady=1.32 * NOISE)
    assert looks.causes.open


def test_a_torque_constant_that_is_too_small_a_finding_leaves_the_unit_of_its_torque_in_doubt() -> None:
    looks, gain = Looks(), 0.02
    looks.told(20)
    assert looks.told(3, gain=gain) == [None] * 3
    assert not looks.causes.doubted_units.any()
    assert looks.told(6, gain=gain) == [None] * 6
    assert looks.causes.doubted_units[1] == pytest.approx(gain, rel=0.4)
    assert not looks.causes.doubted_units[[0, 2]].any()


def test_a_spring_that_was_another_zero_is_that_in_the_same_record_once_it_may_be() -> None:
    """A zero that creeps while its joint turns is a spring by the first looks: it cannot be known that it lasts."""
    looks, findings = Looks(), ReportedFindings(("j0", "j1", "j2"))
    looks.told(20)
    looks.told(18, steady=3.0)
    known, spring = looks.causes.known(), Spring((1,))
    wrong = Fitted(spring, np.array([1.0, 3.0]), 0.01 * np.eye(2), 20.0, spring.moves(known))
    looks.causes.explanation.hold(wrong)
    number = findings.decide(5, "spring", ("j1",), "a spring", over=False)
    findings.beside_model["spring", (1,)] = number
    every = [looks.look(steady=3.0) for _ in range(8)]
    (verdict,) = [one for one in every if one is not None]
    assert (verdict.fitted.cause.name, verdict.fitted.cause.joints) == ("offset", (1,))
    assert verdict.fitted.values[0] == pytest.approx(3.0, abs=0.1)
    assert not looks.causes.explanation.holding
    assert not looks.causes.explanation.psi.any()
    findings.examine(9, "contact", ("j1",), "what the spring left")
    assert findings.take(10, verdict)
    (one,) = findings.every
    assert (one.number, one.since, one.cause, one.joints, one.over) == (number, 5, "offset", ("j1",), True)
    assert not findings.beside_model


@pytest.mark.parametrize("ends", [True, False])
def test_a_jump_that_is_over_and_that_nothing_explains_does_not_hide_what_stays(ends: bool) -> None:
    """A slip's own jump is in the first look: as long as that counts, no cause explains four fifths of all."""
    looks = Looks()
    looks.told(20)
    looks.told(1, noise=40.0 * NOISE)
    if ends:
        looks.causes.end_mark()
    looks.beyond[1] = True
    told = looks.told(20, gain=0.008)
    assert ("torque_constant" in told) is ends


def test_a_window_behind_a_jump_that_has_a_cause_is_the_long_one() -> None:
    looks = Looks()
    looks.told(20)
    looks.told(1, noise=40.0 * NOISE)
    looks.told(3, gain=0.02)
    standing = looks.causes.standing
    assert standing is not None
    assert standing.certain
    assert standing.window.looks < looks.causes.looks.count
    looks.causes.end_mark()
    assert looks.causes.looks.count == standing.window.looks


def test_a_spring_that_somebody_pushes_against_stays_one() -> None:
    looks = Looks()
    looks.told(20)
    assert "spring" in looks.told(12, pull=straight)
    assert looks.told(12, pull=straight, steady=4.0) == [None] * 12
    assert list(looks.causes.explanation.holding) == [("spring", (1,))]


@pytest.mark.parametrize(("joint", "told"), [(1, "torque_constant"), (2, None)])
def test_what_a_threshold_has_shown_is_a_finding_of_the_joint_s_cause_however_small(
    joint: int, told: str | None
) -> None:
    """Twelve looks of a torque 2 % too large, which no other cause explains, and no threshold shows by itself."""
    looks, gain = Looks(), 0.02
    looks.told(20)
    assert looks.told(12, gain=gain) == [None] * 12
    looks.beyond[joint] = True
    assert (told in looks.told(6, gain=gain)) or told is None
    held = [name for name, _ in looks.causes.explanation.holding]
    assert held == ([] if told is None else [told])


def test_a_spring_is_of_the_shape_that_a_wider_motion_shows_and_until_then_what_both_differ_by_is_not_known() -> None:
    """Over 0.15 rad to either side they cannot be distinguished; half a turn away they differ by 25 N·m."""
    first = set[bool]()
    for pull, turns in ((straight, False), (turning, True)):
        looks = Looks()
        looks.told(20, reach=0.15)
        assert "spring" in looks.told(12, reach=0.15, pull=pull)
        looks.look(reach=0.15, pull=pull)  # refines what holds
        (held,) = looks.causes.explanation.holding.values()
        assert isinstance(held.cause, Spring)
        first.add(held.cause.turns)
        far = np.zeros((3, 1, N))
        far[0] = AT_REST - np.pi
        X, Y = np.zeros((1, N, Q)), np.zeros((1, N, PARAMETERS))
        unknown = np.sqrt(looks.causes.variance(X, Y, far, False))
        psi, springs = looks.causes.explanation.psi, looks.causes.columns.springs
        off = float(abs(spring_columns(far[0])[0] @ psi[springs] - [0.0, float(pull(far[0])[0, 1]), 0.0])[1])
        assert unknown[1] > off / 3.0
        assert not unknown[[0, 2]].any()
        assert looks.told(12, reach=1.5, pull=pull) == [None] * 12
        ((name, held),) = looks.causes.explanation.holding.items()
        assert held.cause == Spring((1,), turns)
        assert name == ("spring", (1,))
        assert held.cause.main_size(held)[0] == pytest.approx(STIFFNESS, rel=0.01)
    assert len(first) == 1, "of one of them the other shape was held"


@pytest.mark.parametrize(("beyond", "opens"), [(20.5, False), (20.7, True)])
def test_a_few_rows_open_a_competition_where_a_cause_could_be_certain_by_them(beyond: float, opens: bool) -> None:
    """Ten rows of one joint, two of them alike: twice the evidence of 10.3 nats, as squares over the usual ones."""
    partly = np.zeros((ROWS, N))
    partly[:10, 1] = 1.0
    looks = Looks()
    looks.look(noise=0.0, steady=np.sqrt((5.0 + beyond) * ALIKE * NOISE**2 / 10.0), moves=partly)
    assert looks.causes.open is opens


def test_what_a_slipping_encoder_would_do_is_that_of_the_links_with_what_is_carried() -> None:
    looks = Looks()
    looks.told(20)
    assert looks.told(2, LOAD) == [None, "payload"]
    carried = looks.causes.explanation.carried
    assert carried[0] > 1.0
    looks.look(LOAD)
    rows, columns, bodies = looks.rows, looks.causes.columns, MODEL.robot.parameters.copy()
    bodies[-1] += looks.causes.explanation.carried
    q, dq, ddq = rows.motion
    step = 1e-6
    slipped = np.stack(
        [MODEL.torque(bodies, q + step * np.eye(N)[j], dq, ddq) - MODEL.torque(bodies, q, dq, ddq) for j in range(N)],
        axis=2,
    )  # fmt: skip
    sums = looks.causes._summed(rows)
    own = np.isin(sums.places, np.arange(columns.size)[columns.slips])
    found = np.array([G[np.ix_(there, there)] for G, there in zip(sums.G, own, strict=True)])
    wanted = np.einsum("rja,rjb->jab", slipped, slipped) / step**2
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max())


def test_a_payload_is_reported_after_two_looks_weighed_and_gone_after_two_without_it() -> None:
    looks = Looks()
    looks.told(20)
    assert looks.told(2, LOAD) == [None, "payload"]
    looks.told(10, LOAD)
    payload = looks.causes.payload
    assert payload.carried
    assert payload.mass == pytest.approx(2.0, abs=3.0 * payload.mass_deviation)
    assert payload.mass_deviation < 0.08
    assert np.abs(payload.centre - (0.05, 0.0, 0.1)).max() < 0.05
    assert (np.abs(payload.centre - (0.05, 0.0, 0.1)) < 4.0 * payload.centre_deviation).all()
    every = [looks.look() for _ in range(4)]
    ends = [one for one in every if one is not None]
    assert [one.fitted.cause.name for one in ends] == ["payload"]
    assert ends[0].ends
    assert ends[0].text == "the payload is gone"
    assert not looks.causes.payload.carried
    assert not looks.causes.explanation.psi.any()


def test_a_payload_that_was_kept_holds_as_it_was_and_is_known_better_with_the_next_look() -> None:
    looks, again = Looks(), Looks()
    looks.told(20)
    looks.told(12, LOAD)
    kept, known = looks.causes.keep(), looks.causes.payload
    assert kept.shape == (1 + PARAMETERS, PARAMETERS)
    assert kept[0] == pytest.approx(looks.causes.explanation.carried)
    assert again.causes.keep().shape == (0, PARAMETERS)
    assert again.causes.resume(again.causes.keep(), np.full(N, NOISE**2)) is None
    fitted = again.causes.resume(kept, np.full(N, NOISE**2))
    assert fitted is not None
    assert again.causes.open
    assert again.causes.explanation.carried == pytest.approx(kept[0])
    assert (again.causes.payload.mass, again.causes.payload.mass_deviation) == (known.mass, known.mass_deviation)
    again.look(LOAD)
    now, alone = again.causes.payload, Looks()
    alone.told(20)
    alone.told(2, LOAD)
    assert now.mass == pytest.approx(known.mass, abs=2.0 * known.mass_deviation)
    assert now.mass_deviation < known.mass_deviation < alone.causes.payload.mass_deviation


def test_what_is_told_of_a_payload_follows_what_is_known_of_it() -> None:
    looks, told = Looks(), ReportedFindings(("j0", "j1", "j2"))
    looks.told(20)
    told.follow(1, looks.causes)
    looks.look(LOAD)
    verdict = looks.look(LOAD)
    assert verdict is not None
    assert told.take(2, verdict)
    looks.told(10, LOAD)
    told.follow(3, looks.causes)
    (finding,) = told.every
    assert finding.text == f"a payload of about {looks.causes.payload.mass:.2g} kg is carried"
    assert (finding.since, finding.updated, finding.over) == (2, 3, False)


def test_another_friction_is_reported_after_four_looks_and_one_that_drifts_is_learnt_silently() -> None:
    looks = Looks()
    looks.told(20)
    every = [looks.look(friction=0.8) for _ in range(4)]
    assert [one is None for one in every] == [True] * 3 + [False]
    verdict = every[3]
    assert verdict is not None
    own = law_terms(MODEL, 1)
    assert (verdict.fitted.cause.name, verdict.fitted.cause.joints, verdict.silent) == ("friction", (1,), False)
    np.testing.assert_allclose(verdict.fitted.moved[own], 0.8 * looks.causes.theta[own], atol=0.15)
    slight = Looks()
    slight.told(20)
    verdicts = [one for one in (slight.look(friction=0.12) for _ in range(60)) if one is not None]
    assert verdicts
    assert all(one.silent for one in verdicts)


def test_a_friction_that_is_reported_is_reported_again_after_as_many_looks_unless_it_is_learnt() -> None:
    looks = Looks()
    looks.told(20)
    assert looks.told(8, friction=0.8) == ([None] * 3 + ["friction"]) * 2
    learnt = Looks()
    learnt.told(20)
    learnt.told(3, friction=0.8)
    assert not learnt.causes.over
    assert learnt.causes.suspects
    verdict = learnt.look(friction=0.8)
    assert verdict is not None
    learnt.causes.theta = learnt.causes.theta + verdict.fitted.moved[:Q]
    assert (learnt.causes.open, learnt.causes.over, learnt.causes.suspects) == (False, True, False)
    learnt.look(noise=0.1 * NOISE)
    assert not learnt.causes.open, "what was unexplained before it is forgotten"


def test_other_coefficients_of_a_law_are_reported_where_its_shape_is_kept_in_all_looks_but_the_first() -> None:
    looks, asked, leaves = Looks(), list[tuple[tuple[int, ...], int]](), True

    def told(joints: tuple[int, ...], rows: int) -> bool:
        asked.append((joints, rows))
        return leaves

    looks.leaves = told
    looks.told(20)
    assert looks.told(6, friction=0.8) == [None] * 6
    assert asked == [((1,), 3), ((1,), 4), ((1,), 5)]
    leaves = False
    assert looks.told(1, friction=0.8) == ["friction"]
    assert looks.told(5, LOAD)[1] == "payload", "of which no law speaks"
    assert len(asked) == 4


def test_a_push_is_reported_by_thresholds_alone_and_is_over_two_looks_later() -> None:
    looks = Looks()
    looks.told(20)
    assert looks.told(3, steady=3.0) == [None] * 3
    assert looks.causes.open
    assert not looks.causes.over
    assert not looks.causes.suspects
    assert looks.look() is None
    assert not looks.causes.over
    assert looks.look() is None
    assert looks.causes.over
    looks.told(CALM + 30)
    assert not looks.causes.open


def test_a_steady_torque_that_lasts_ten_seconds_is_another_zero() -> None:
    looks = Looks()
    looks.told(20)
    told = looks.told(30, steady=1.0)
    assert "offset" in told
    assert 19 <= told.index("offset") <= 25
    assert set(told) == {None, "offset"}


def test_a_small_steady_torque_that_lasts_is_learnt_in_silence() -> None:
    """A quarter more than the noise: within what a model may leave, but not for ever."""
    looks = Looks()
    looks.told(20)
    verdicts = [one for one in (looks.look(steady=1.25 * NOISE) for _ in range(40)) if one is not None]
    assert verdicts
    assert {(one.fitted.cause.name, one.silent) for one in verdicts} == {("offset", True)}


def test_while_a_payload_is_carried_what_happens_is_as_young_as_what_is_unexplained() -> None:
    """Ten seconds after a payload was taken a push is a push, and no links have changed when it is put down."""
    looks = Looks()
    looks.told(20)
    looks.told(30, LOAD)
    assert looks.causes.known().looks == 0
    assert looks.told(6, LOAD, steady=3.0) == [None] * 6
    assert looks.causes.known().looks == 6
    looks.told(14, LOAD)
    assert looks.causes.known().looks == 0


def test_what_the_start_leaves_is_usual() -> None:
    looks = Looks()
    looks.causes._starting = True
    looks.told(12, noise=3.0 * NOISE)
    looks.causes.settle()
    assert looks.told(30, noise=3.0 * NOISE) == [None] * 30
    assert not looks.causes.open


def usual(looks: Looks) -> Floats:
    """Variance (n,) that is usual in the next look, over that of the noise."""
    looks.look()
    return looks.causes.units / (ALIKE * NOISE**2)


def test_what_a_start_leaves_is_its_median_look_without_the_first_two_and_for_a_joint_that_moved() -> None:
    looks = Looks()
    assert usual(looks) == pytest.approx(np.ones(N))
    looks.causes._starting = True
    looks.told(2, noise=9.0 * NOISE)
    partly = np.ones((ROWS, N))
    partly[:, 2], partly[15:, 1] = 0.0, 0.0
    looks.told(3, noise=2.0 * NOISE, moves=partly)
    looks.told(1, noise=9.0 * NOISE, moves=partly)
    looks.causes.settle()
    assert usual(looks) == pytest.approx([4.0, 4.0, 1.0], rel=0.5)
    looks.causes._starting = True
    looks.told(4, noise=9.0 * NOISE)
    looks.causes.gather_anew()
    looks.told(2, noise=9.0 * NOISE)
    looks.told(1, noise=0.1 * NOISE)
    looks.causes.settle()
    assert usual(looks) == pytest.approx(np.ones(N)), "never less than what was identified"
    looks.causes._starting = True
    looks.told(4, noise=9.0 * NOISE)
    looks.causes.settle()
    assert usual(looks) == pytest.approx(25.0 * np.ones(N)), "nor more than 25 times that"


def test_twice_what_a_friction_has_beyond_its_law_is_usual() -> None:
    looks = Looks()
    looks.causes.discrepancy = np.array([0.0, 3.0, 0.5]) * NOISE
    assert usual(looks) == pytest.approx([1.0, 1.0 + 6.0**2, 1.0 + 1.0**2])
    looks.causes.resume(np.zeros((0, PARAMETERS)), np.full(N, 4.0 * NOISE**2))
    assert looks.causes.units == pytest.approx(ALIKE * NOISE**2 * np.array([4.0, 4.0 + 6.0**2, 4.0 + 1.0**2]))


@pytest.mark.parametrize(("lasts", "told"), [(15, False), (ROWS, True)])
def test_what_is_over_before_a_look_ends_is_not_told(lasts: int, told: bool) -> None:
    """Whatever has made it: the last ten rows of 25 say whether it goes on."""
    looks = Looks()
    looks.told(20)
    assert ("payload" in looks.told(6, 2.0 * LOAD, lasts=lasts)) is told
    assert looks.causes.over, "the rest is explained"


def test_a_change_begins_where_a_threshold_was_passed_first_within_ten_seconds() -> None:
    """While no cause is certain, of what is too large and like noise."""
    looks = Looks()
    looks.told(20)
    looks.told(6, noise=2.0 * NOISE)
    assert looks.causes.known().looks >= 6
    counts = []
    for _ in range(45):
        looks.causes.mark()
        looks.look(noise=2.0 * NOISE)
        counts.append(looks.causes.known().looks)
    assert counts == [*range(1, 22), *range(1, 22), *range(1, 4)]
    fresh = Looks()
    fresh.look(noise=2.0 * NOISE)
    assert fresh.causes.known().looks == 1
    fresh.causes.mark()
    assert fresh.causes.known().looks == 0, "a robot's first change, too"
    looks.causes.forget()
    looks.told(4, LOAD)
    held = looks.causes.known().looks
    looks.causes.mark()
    assert looks.causes.known().looks == held, "while something holds a threshold begins nothing"


@pytest.mark.parametrize("scale", [0.0, 0.1])
def test_the_deviation_of_a_mass_holds_that_of_the_torques_unit(scale: float) -> None:
    covariance = 1e-4 * np.eye(PARAMETERS)
    payload = as_payload(LOAD, covariance, scale)
    assert payload.mass_deviation == pytest.approx(np.hypot(0.01, 2.0 * scale))
    assert payload.centre == pytest.approx([0.05, 0.0, 0.1])
    assert payload.centre_deviation == pytest.approx(0.01 / 2.0 * np.sqrt(1.0 + payload.centre**2), rel=1e-6)
    light = as_payload(0.001 * LOAD, covariance, scale)
    assert np.isnan(light.centre).all()


def test_links_known_to_a_tenth_tell_the_unit_of_a_current_to_less() -> None:
    """Nine equal numbers, each known to 30 %, tell their common factor to 10 %."""
    assert torque_scale(np.full(9, 2.0), 0.36 * np.eye(9)) == pytest.approx(0.1)


def test_what_is_held_stays_as_well_known_when_a_start_ends() -> None:
    """With its looks forgotten a payload was known by the next half second alone, and up to a fifth off."""
    looks, body = Looks(), standard(2.0, np.array([0.0, 0.0, 0.06]), 0.01 * np.eye(3))
    looks.told(20)
    assert "payload" in looks.told(12, load=body)
    before = looks.causes.payload
    looks.causes.settle()
    looks.told(1, load=body)
    after = looks.causes.payload
    assert after.mass_deviation < 1.1 * before.mass_deviation
    assert abs(after.mass - 2.0) < 4.0 * after.mass_deviation


def test_joints_that_have_moved_one_way_since_a_change_may_have_begun_are_known() -> None:
    looks = Looks()
    moves = np.array([1.0, 1.0, 0.0])
    looks.told(20, moves=moves)
    assert not looks.causes.known().one_way.any(), "nothing has begun"
    looks.told(3, steady=3.0, moves=moves)
    assert looks.causes.known().one_way.tolist() == [False, False, True], "the last has not moved at all"
