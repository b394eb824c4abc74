"""A slide that carries a pendulum, live: its torque by the textbook, what is told of pushes, loads and frictions."""

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from estimators.base import Event, Phase, Status
from estimators.online.robot.estimate import RobotEstimate
from estimators.online.robot.estimator import RobotEstimator
from estimators.online.robot.findings.causes.base import Fitted
from estimators.online.robot.findings.causes.friction import JointFriction
from estimators.online.robot.residual_attribution import AttributionVerdict
from estimators.quantities import Floats
from estimators.reasons import Reason
from tests.support.signals.crane import (
    COULOMB,
    NOISE,
    RATE,
    VISCOUS,
    Motion,
    carried,
    motion,
    motion_at,
    taught,
    torque,
)


class Told(NamedTuple):
    """Twenty times a second, and at the end."""

    robot: RobotEstimator
    t: Floats
    estimates: list[RobotEstimate]
    learnt: list[int]
    kept: list[bool]  # whether there was something to keep
    events: list[Event]

    def at(self, t: float) -> RobotEstimate:
        """The last one before."""
        return self.estimates[self.number(t)]

    def number(self, t: float) -> int:
        return int(np.searchsorted(self.t, t + 1e-9)) - 1

    def kinds(self) -> list[str]:
        return [one.kind for one in self.events]

    def texts(self, kind: str) -> list[tuple[float, str]]:
        return [(one.time / 1e9, one.text) for one in self.events if one.kind == kind]

    def residual(self, first: float, last: float) -> Floats:
        """Measured less predicted, (estimates, 2)."""
        these = [one for t, one in zip(self.t, self.estimates, strict=True) if first <= t < last]
        return np.array([one.measured - one.predicted for one in these])


Change = Callable[[Motion, Floats], None]


def played(
    seconds: float, change: Change | None = None, noise: Floats = NOISE, robot: RobotEstimator | None = None,
    first: float = 0.0,
) -> Told:  # fmt: skip
    """change: alters torque in place; first: s, from when on it is played."""
    moves = motion(seconds)
    tau = torque(moves) + noise * np.random.default_rng(1).standard_normal(moves.q.shape)
    if change is not None:
        change(moves, tau)
    robot = robot or RobotEstimator(taught(), 1.0 / RATE, start=4.0)
    ticks = np.round(moves.t * 1e9).astype(np.int64)
    told, learnt, kept = list[RobotEstimate](), list[int](), list[bool]()
    for begin in range(round(first * RATE), len(ticks), 10):
        part = slice(begin, begin + 10)
        robot.absorb(ticks[part], moves.q[part], tau[part])
        told.append(robot.estimate())
        learnt.append(robot.learnt)
        kept.append(robot.keep() is not None)
    return Told(robot, np.array([one.time / 1e9 for one in told]), told, learnt, kept, robot.events())


def pushed(first: float, last: float, joint: int, by: float) -> Change:
    def change(moves: Motion, tau: Floats) -> None:
        tau[(moves.t >= first) & (moves.t < last), joint] += by

    return change


def kept_of(robot: RobotEstimator) -> dict[str, Any]:
    kept = robot.keep()
    assert kept is not None
    return {name: one.tolist() if isinstance(one, np.ndarray) else one for name, one in asdict(kept).items()}


@cache
def quiet() -> Told:
    return played(10.0)


def test_what_is_predicted_is_the_torque_of_the_textbook() -> None:
    """Both pass the same low-passes; the sine of an angle that has passed differs from a sine that has, in the second
    order of how much it turns in their 28 ms: 0.5 · (3 rad/s · 0.028 s)² = 0.4 % of 20 N and 3 N·m. What passes is
    28 ms late, or 30 in whole samples: 2 ms off are 3 % of what is at 2.6 Hz, the highest of twice the motion's own
    frequencies. Medians leave reversals out."""
    told = played(8.0, noise=np.zeros(2))
    exact = torque(motion(8.0))
    size = exact.std(axis=0)
    assert (np.median(np.abs(told.residual(2.0, 8.0)), axis=0) < 0.004 * size).all()
    late = exact[np.round((told.t - 0.03) * RATE).astype(np.int64)[told.t > 2.0]]
    for which in ("measured", "predicted"):
        found = np.array([getattr(one, which) for one in told.estimates])[told.t > 2.0]
        assert (np.median(np.abs(found - late), axis=0) < 0.03 * size).all()
    assert told.kinds() == ["started"]


def test_a_start_lasts_so_many_seconds_of_motion_and_says_how_far_it_is() -> None:
    """The low-passes settle in half a second, half a second later it is known to move; then 4 s, by the second."""
    told = quiet()
    assert [round(told.at(t).progress, 1) for t in (0.9, 2.0, 3.0, 5.4)] == [0.0, 25.0, 50.0, 99.0]
    [(begun, text)] = told.texts("started")
    assert (round(begun, 2), text) == (5.49, "the thresholds of the residuals stand")
    before, after = told.at(5.4), told.at(5.6)
    assert (before.phase, before.status) == (Phase.STARTING, Status.LEARNING)
    assert before.reasons == (Reason("robot_starting", None, {"seconds": 4.0}),)
    assert (after.phase, after.status, after.reasons, after.progress) == (Phase.NORMAL, Status.VALID, (), 100.0)
    assert told.kinds() == ["started"]


def test_limits_are_those_of_what_was_taught_until_a_start_has_seen_more() -> None:
    rms = 0.4 * NOISE

    def rough(moves: Motion, tau: Floats) -> None:
        tau[:, 1] += 0.5 * np.sin(2.0 * np.pi * 0.9 * moves.t)

    told = played(8.0, rough)
    np.testing.assert_allclose(told.at(1.0).thresholds, 15.0 * rms)
    residual = np.abs(told.residual(1.0, 5.0))[:, 1].max()
    assert 1.5 * residual <= told.at(8.0).thresholds[1] < 1.5 * (0.5 + 6.0 * rms[1])
    assert told.at(8.0).thresholds[0] == pytest.approx(15.0 * rms[0])
    assert told.at(8.0).deviations[1] == pytest.approx(np.sqrt(0.125), rel=0.1)
    assert told.kinds() == ["started"]


@cache
def with_push(joint: int, by: float) -> Told:
    """From 6 s to 6.6 s."""
    return played(12.0, pushed(6.0, 6.6, joint, by))


PUSHES = [(0, -8.0, "slide", "N"), (1, 2.0, "swing", "N·m")]


@pytest.mark.parametrize(("joint", "by", "name", "unit"), PUSHES)
def test_a_push_is_what_is_measured_beyond_the_prediction_of_that_joint(
    joint: int, by: float, name: str, unit: str
) -> None:
    told = with_push(joint, by)
    push = told.residual(6.3, 6.6).mean(axis=0)
    assert push[joint] == pytest.approx(by, rel=0.05)
    assert abs(push[1 - joint]) < 3.0 * 0.4 * NOISE[1 - joint]
    assert told.kinds() == ["started", "contact", "recovered"]
    [(begun, text)], [(over, words)] = told.texts("contact"), told.texts("recovered")
    assert 6.03 <= begun < 6.1
    assert 6.8 <= over < 6.95
    assert text.startswith(f"{name}: ")
    threshold = told.at(6.0).thresholds[joint]
    assert f" {unit} that the model does not explain, threshold {threshold:.3g}; it acts on the link of {name}" in text
    assert words == f"{name}: the model explains the torque again"
    during, behind = told.at(6.5), told.at(over + 2.9)
    assert during.contact == (joint == 0, joint == 1)
    for one in (during, behind):
        assert (one.phase, one.status) == (Phase.TRANSIENT, Status.LEARNING)
        assert one.reasons == (Reason("torque_unexplained"),)
    assert behind.contact == (False, False)
    after = told.at(over + 3.1)
    assert (after.phase, after.status) == (Phase.NORMAL, Status.VALID)


@pytest.mark.parametrize(("joint", "by"), [one[:2] for one in PUSHES])
def test_a_push_does_not_teach_nor_do_the_seconds_before_it_and_nothing_is_kept_of_it(joint: int, by: float) -> None:
    """Seconds end at 1.5 s, 2.5 s …, and teach after three more: the push is in that of 6.5 s and, until it is over,
    in that of 7.5 s; the next ones teach at 11.5 s."""
    told = with_push(joint, by)
    learnt = [told.learnt[told.number(t)] for t in (5.9, 11.4, 11.6)]
    assert learnt == [2, 2, 3]
    assert [told.kept[told.number(t)] for t in (5.4, 5.9, 6.5, 7.1)] == [False, True, False, True]
    friction = told.robot.friction()
    truth = VISCOUS[:, None] * friction.speeds + COULOMB[:, None]
    assert (np.abs(friction.torque - truth) < 4.0 * friction.deviations).all()


def test_each_undisturbed_second_teaches_three_seconds_later() -> None:
    """They end at 1.5 s, 2.5 s …; the first teaches with the fourth."""
    assert [quiet().learnt[quiet().number(t)] for t in (4.4, 4.6, 5.6, 9.6)] == [0, 1, 2, 6]
    assert quiet().robot.faults == 0


def load(first: float, last: float, mass: float, centre: Floats) -> Change:
    def change(moves: Motion, tau: Floats) -> None:
        there = (moves.t >= first) & (moves.t < last)
        tau[there] += carried(moves, mass, centre, 0.004)[there]

    return change


@cache
def loaded() -> Told:
    return played(19.0, load(6.0, 12.0, 1.5, np.array([0.25, 0.0, -0.15])))


def test_a_payload_is_weighed_and_part_of_the_prediction() -> None:
    told = loaded()
    (begun, text), (gone, words) = told.texts("payload")
    assert 6.5 < begun < 7.6
    assert text.startswith("a payload of about 1.")
    assert 12.0 < gone < 14.1
    assert words == "the payload is gone"
    payload = told.at(11.5).payload
    assert payload.carried
    assert payload.mass == pytest.approx(1.5, abs=4.0 * payload.mass_deviation)
    assert payload.mass_deviation < 0.1
    assert np.abs(payload.centre - (0.25, 0.0, -0.15))[[0, 2]].max() < 0.03
    assert payload.centre_deviation[1] > 0.1, "where it lies along the axis no torque says"
    (finding,) = [one for one in told.at(11.5).findings if one.cause == "payload"]
    assert finding.text == f"a payload of about {payload.mass:.2g} kg is carried", "as it is known by now"
    assert finding.updated > 11e9
    assert (np.median(np.abs(told.residual(9.0, 12.0)), axis=0) < NOISE).all()
    assert (np.median(np.abs(told.residual(6.1, begun)), axis=0) > 5.0 * NOISE).all(), "before it is told"
    assert not told.at(19.0).payload.carried
    assert (np.median(np.abs(told.residual(16.0, 19.0)), axis=0) < NOISE).all()


def test_how_much_of_the_torque_is_unexplained_is_that_of_all_joints_together() -> None:
    def trembles(moves: Motion, tau: Floats) -> None:
        tau[:, 0] += 12.0 * np.sin(2.0 * np.pi * 2.9 * moves.t)

    told = played(9.0, trembles)
    (reason,) = told.at(9.0).reasons
    these = told.t > 2.0
    measured = np.array([one.measured for one in told.estimates])[these]
    share = np.sqrt((told.residual(2.0, 9.0) ** 2).sum() / (measured**2).sum())
    assert (reason.code, told.at(9.0).status) == ("robot_unexplained", Status.LEARNING)
    assert reason.numbers["percent"] == pytest.approx(100.0 * share, rel=0.15)


def test_a_body_of_negative_mass_is_a_reason_and_no_payload() -> None:
    """Overload, a bad clock or a tool that is missing look like it; the prediction follows, and nothing is learnt."""
    told = played(12.0, load(6.0, 12.0, -1.5, np.array([0.25, 0.0, -0.15])))
    assert [one.payload for one in told.estimates if one.payload.carried] == []
    assert all(one.payload.mass >= -3.0 * one.payload.mass_deviation for one in told.estimates)
    [(begun, text)] = told.texts("payload")
    assert 6.5 < begun < 7.6
    assert text.startswith("about 1.")
    assert text.endswith("kg less than the model has is carried: no payload weighs that")
    last = told.at(11.9)
    assert (last.phase, last.status) == (Phase.HELD, Status.LEARNING)
    (reason,) = last.reasons
    assert reason.code == "payload_below_zero"
    assert reason.numbers["missing"] == pytest.approx(1.5, abs=4.0 * reason.numbers["deviation"])
    assert str(reason).startswith("the robot seems to carry 1.5 ± 0.")
    assert (np.median(np.abs(told.residual(9.0, 12.0)), axis=0) < NOISE).all()
    assert told.learnt[told.number(11.9)] == told.learnt[told.number(6.5)]
    assert not told.kept[told.number(11.9)]


def test_nothing_is_learnt_while_a_payload_is_carried_which_is_kept() -> None:
    told = loaded()
    held = told.at(11.9)
    assert (held.phase, held.status) == (Phase.HELD, Status.HELD)
    assert held.reasons == (Reason("payload_carried"),)
    learnt = [told.learnt[told.number(t)] for t in (5.9, 13.0, 18.9)]
    assert learnt[0] == learnt[1] < learnt[2]
    assert [told.kept[told.number(t)] for t in (5.9, 11.9, 18.9)] == [True, True, True]
    assert told.at(18.9).status is Status.VALID


def test_another_friction_is_reported_with_its_coefficients_and_is_that_of_the_model_from_then_on() -> None:
    def rubs(moves: Motion, tau: Floats) -> None:
        late = moves.t >= 6.0
        tau[late, 0] += 0.5 * (VISCOUS[0] * moves.dq[late, 0] + COULOMB[0] * np.sign(moves.dq[late, 0]))
        pushed(13.0, 13.4, 1, 2.0)(moves, tau)

    told = played(13.5, rubs)
    [(at, text)] = told.texts("friction")
    assert 7.9 < at < 9.6
    found = re.fullmatch(
        r"the friction of slide has changed: viscous (\S+) → about (\S+) N·s/m, coulomb (\S+) → about (\S+) N", text
    )
    assert found, text
    before, after, had, has = map(float, found.groups())
    assert before == pytest.approx(8.0, rel=0.05)
    assert had == pytest.approx(4.0, rel=0.05)
    assert after == pytest.approx(12.0, rel=0.25)
    assert has == pytest.approx(6.0, rel=0.25)
    friction = told.robot.friction()
    truth = 1.5 * (VISCOUS[0] * friction.speeds[0] + COULOMB[0])
    assert friction.torque[0] == pytest.approx(truth, rel=0.05)
    assert np.abs(told.residual(at + 0.5, 13.0)[:, 0]).mean() < NOISE[0]
    assert not told.texts("payload")
    [(touched, words)] = told.texts("contact")[-1:]
    assert 13.03 <= touched < 13.1, "a push of the other joint is told though this change may go on for a minute"
    assert words.startswith("swing: ")


def test_what_drives_a_joint_is_no_friction_of_it() -> None:
    def drives(moves: Motion, tau: Floats) -> None:
        late = moves.t >= 6.0
        tau[late, 0] -= 3.0 * COULOMB[0] * np.sign(moves.dq[late, 0])

    told = played(12.0, drives)
    assert not told.texts("friction")
    friction = told.robot.friction()
    assert friction.torque[0] == pytest.approx(VISCOUS[0] * friction.speeds[0] + COULOMB[0], rel=0.05)


def test_a_friction_that_is_another_one_from_the_beginning_is_learnt_and_not_told() -> None:
    def rubs(moves: Motion, tau: Floats) -> None:
        tau[:, 1] += 0.6 * (VISCOUS[1] * moves.dq[:, 1] + COULOMB[1] * np.sign(moves.dq[:, 1]))

    told = played(14.0, rubs)
    assert told.kinds() == ["started"]
    assert told.texts("started")[0][0] > 6.4, "it has begun anew"
    friction = told.robot.friction()
    assert friction.torque[1] == pytest.approx(1.6 * (VISCOUS[1] * friction.speeds[1] + COULOMB[1]), rel=0.05)
    assert told.at(14.0).thresholds[1] < 2.0 * quiet().at(10.0).thresholds[1]


def test_a_start_begins_anew_once_for_a_friction_however_often_it_is_found() -> None:
    """Else one that is found little by little would let no start end."""
    robot, moves = RobotEstimator(taught(), 1.0 / RATE, start=4.0), motion(4.0)
    changes, cause = robot._changes, JointFriction((1,))
    columns = cause.moves(robot._watch.attribution.known())
    same = Fitted(cause, np.zeros(columns.shape[1]), 1e-6 * np.eye(columns.shape[1]), 20.0, columns)
    progress = []
    for second in range(4):
        part = slice(round(second * RATE), round((second + 1) * RATE))
        robot.absorb(np.round(moves.t[part] * 1e9).astype(np.int64), moves.q[part], torque(moves)[part])
        changes.follow([], AttributionVerdict(same, False, False, "another friction") if second > 1 else None, True)
        progress.append(robot.estimate().progress)
    assert progress == pytest.approx([0.0, 25.0, 0.0, 25.0], abs=2.0)
    assert robot.events() == [], "nothing was known yet that could have changed"


def test_a_payload_in_a_start_is_reported_and_the_start_begins_anew() -> None:
    told = played(9.0, load(3.0, 99.0, 1.5, np.array([0.25, 0.0, -0.15])))
    assert told.kinds()[:2] == ["payload", "started"]
    (begun, _), (started, _) = told.texts("payload")[0], told.texts("started")[0]
    assert 3.5 < begun < 5.0
    assert begun + 4.0 <= started < begun + 5.1


def test_friction_is_published_at_a_tenth_and_a_half_of_the_speed_with_what_it_is_certain_to() -> None:
    """Before anything was learnt: of what was taught, viscous and Coulomb friction known to 1 % each."""
    friction = RobotEstimator(taught(), 1.0 / RATE).friction()
    np.testing.assert_allclose(friction.speeds, 1.1 * np.array([[0.1, 0.5], [0.3, 1.5]]))
    viscous, coulomb = VISCOUS[:, None] * friction.speeds, COULOMB[:, None]
    np.testing.assert_allclose(friction.torque, viscous + coulomb)
    np.testing.assert_allclose(friction.deviations, 0.01 * np.hypot(viscous, coulomb))


def test_parameters_are_nearer_to_the_truth_and_more_certain_with_every_second() -> None:
    robot = RobotEstimator(taught(), 1.0 / RATE)
    theta, deviations = robot.parameters()
    np.testing.assert_allclose(theta, taught().theta)
    np.testing.assert_allclose(deviations, 0.01 * np.abs(taught().theta))
    found, certain = quiet().robot.parameters()
    assert (certain[:4] < deviations[:4]).all(), "of the links; that of friction is forgotten"
    assert (np.abs(found - taught().theta) < 4.0 * certain).all()


def test_a_friction_that_is_forgotten_returns_to_what_was_identified_whatever_was_expected_before() -> None:
    expected = taught().prior.copy()
    links = len(expected) - 6
    expected[links:] = 0.0
    other = played(9.0, robot=RobotEstimator(replace(taught(), prior=expected), 1.0 / RATE, start=4.0)).robot
    assert other.learnt > 2
    np.testing.assert_array_equal(other.parameters()[0], played(9.0).robot.parameters()[0])


def test_where_it_does_not_teach_the_parameters_stay() -> None:
    told = played(9.0, robot=RobotEstimator(taught(), 1.0 / RATE, start=4.0, teaches=False))
    np.testing.assert_array_equal(told.robot.parameters()[0], RobotEstimator(taught(), 1.0 / RATE).parameters()[0])
    assert told.robot.learnt == 0
    assert told.kinds() == ["started"]


def still(seconds: float, holds: float) -> RobotEstimator:
    """8 s of motion that comes to rest within another one; from 9.5 s on so much more holds the pendulum (N·m)."""
    whole = motion(8.0 + seconds)
    slower = np.clip(whole.t - 8.0, 0.0, 1.0)  # of a time that slows down
    at = np.minimum(whole.t, 8.0) + slower - 0.5 * slower**2
    rate, change = 1.0 - slower, np.where((whole.t > 8.0) & (whole.t < 9.0), -1.0, 0.0)
    parts = motion_at(at)
    dq = parts.dq * rate[:, None]
    moves = Motion(whole.t, parts.q, dq, parts.ddq * rate[:, None] ** 2 + parts.dq * change[:, None])
    tau = torque(moves)
    tau[whole.t > 9.5, 1] += holds
    tau += NOISE * np.random.default_rng(4).standard_normal(tau.shape)
    robot = RobotEstimator(taught(), 1.0 / RATE, start=4.0)
    robot.absorb(np.round(whole.t * 1e9).astype(np.int64), moves.q, tau)
    return robot


def test_a_joint_at_rest_may_hold_any_torque_up_to_its_friction_and_teaches_nothing() -> None:
    robot = still(5.0, 0.7 * COULOMB[1])
    estimate = robot.estimate()
    assert (estimate.phase, estimate.status, estimate.reasons) == (Phase.HELD, Status.HELD, (Reason("at_standstill"),))
    assert [one.kind for one in robot.events()] == ["started"]
    assert robot.learnt == 6, "seconds end at 1.5 s, … 9.5 s; the last three that it moved in wait"
    assert estimate.contact == (False, False)


def test_a_joint_that_stands_while_another_moves_leaves_nothing_unexplained() -> None:
    moves = motion(9.0)
    moves.q[:, 0], moves.dq[:, 0], moves.ddq[:, 0] = 0.1, 0.0, 0.0
    tau = torque(moves) + NOISE * np.random.default_rng(4).standard_normal(moves.q.shape)
    robot = RobotEstimator(taught(), 1.0 / RATE, start=4.0)
    robot.absorb(np.round(moves.t * 1e9).astype(np.int64), moves.q, tau)
    estimate = robot.estimate()
    assert (estimate.phase, estimate.status, estimate.reasons) == (Phase.NORMAL, Status.VALID, ())
    assert [one.kind for one in robot.events()] == ["started"]


def test_more_than_its_friction_is_a_contact_at_rest_too() -> None:
    [started, contact] = still(3.0, 2.0 * COULOMB[1]).events()
    assert (started.kind, contact.kind) == ("started", "contact")
    assert contact.text.startswith("swing: ")
    assert 9.5 < contact.time / 1e9 < 9.7


def test_where_a_contact_acts_and_how_hard_is_reported_anew_each_half_second_while_it_lasts() -> None:
    told = played(7.1, pushed(6.0, 7.1, 1, 6.0))
    records = [told.at(t).findings for t in (6.2, 6.6, 7.05)]
    assert [[one.number for one in each] for each in records] == [[1]] * 3
    texts = [each[0].text for each in records]
    assert all("it acts on the link of swing" in one for one in texts)
    assert len({one.partition("at least ")[2] for one in texts}) == 3
    assert [each[0].updated / 1e9 for each in records] == pytest.approx([6.035, 6.485, 6.985], abs=0.05)
    assert [one for _, one in told.texts("contact")] == [texts[0]], "told once as an event"


def test_a_restart_goes_on_with_what_was_known() -> None:
    before = quiet().robot
    state = kept_of(before)
    robot = RobotEstimator(taught(), 1.0 / RATE, start=4.0)
    robot.resume(state)
    np.testing.assert_array_equal(robot.parameters()[0], before.parameters()[0])
    np.testing.assert_array_equal(robot.friction().torque, before.friction().torque)
    again = played(13.0, pushed(11.5, 12.0, 0, 8.0), robot=robot, first=10.0)
    first = again.at(10.1)
    assert first.progress == 100.0
    assert (first.thresholds > quiet().at(10.0).thresholds).all(), "it is not known yet whether a joint turns around"
    least = np.min([again.at(10.5 + 0.1 * k).thresholds for k in range(9)], axis=0)  # while each does not turn around
    np.testing.assert_array_equal(least, quiet().at(10.0).thresholds)
    np.testing.assert_array_equal(first.deviations, quiet().at(10.0).deviations)
    assert again.at(11.4).status is Status.VALID
    assert again.kinds() == ["contact", "recovered"]
    assert robot.learnt > before.learnt - 1
    assert state["learnt"] == before.learnt


def test_what_is_of_another_version_is_not_gone_on_with() -> None:
    with pytest.raises(ValueError, match="another model or version"):
        RobotEstimator(taught(), 1.0 / RATE).resume(kept_of(quiet().robot) | {"learnt": 1.5})
    with pytest.raises(ValueError, match="another model or version"):
        RobotEstimator(taught(), 1.0 / RATE).resume(kept_of(quiet().robot) | {"version": 2})
    for name in ("theta", "variance", "thresholds", "friction_discrepancy"):
        state = kept_of(quiet().robot)
        with pytest.raises(ValueError, match="another model or version"):
            RobotEstimator(taught(), 1.0 / RATE).resume(state | {name: [*state[name], 1.0]})
        with pytest.raises(ValueError, match="damaged"):
            RobotEstimator(taught(), 1.0 / RATE).resume(state | {name: [np.nan, *state[name][1:]]})


def test_a_short_gap_is_bridged_and_a_long_one_is_not_judged() -> None:
    """40 ms are bridged and told of by no contact; after 200 ms the low-passes begin anew, for half a second."""

    def gaps(moves: Motion, tau: Floats) -> None:
        tau[(moves.t >= 6.0) & (moves.t < 6.04), 0] = np.nan
        tau[(moves.t >= 7.5) & (moves.t < 7.7), 1] = np.nan

    told = played(10.0, gaps)
    assert told.kinds() == ["started"]
    assert told.robot.learnt < quiet().robot.learnt
    assert np.abs(told.residual(6.6, 7.4)).max(axis=0) == pytest.approx([0.0, 0.0], abs=5.0 * NOISE.max())
    assert told.at(10.0).status is Status.VALID


def test_before_the_first_row_nothing_is_known() -> None:
    estimate = RobotEstimator(taught(), 1.0 / RATE).estimate()
    assert (estimate.phase, estimate.status) == (Phase.WAITING, Status.UNESTIMATED)
    assert estimate.reasons == (Reason("incomplete_row"),)
    assert estimate.time == 0
    assert estimate.progress == 0.0


def test_the_residuals_of_a_start_so_far_are_reported() -> None:
    robot = RobotEstimator(taught(), 1.0 / RATE, start=60.0)
    with pytest.raises(ValueError, match="nothing has moved"):
        robot.start_residuals()
    told = played(6.0, robot=robot)
    largest, rms, friction_discrepancy = robot.start_residuals()
    wanted = NOISE * np.sqrt(1.11 * 10.0 / (0.5 * RATE))  # what two poles of 10 Hz pass of white noise
    assert rms == pytest.approx(wanted, rel=0.2)
    assert (2.5 * rms < largest).all()
    assert (largest < 5.0 * rms).all()
    assert largest[1] >= np.abs(told.residual(1.0, 6.0))[:, 1].max()
    np.testing.assert_array_equal(friction_discrepancy, [0.0, 0.0])


def test_how_rows_are_cut_does_not_matter() -> None:
    moves = motion(6.5)
    step = 2.0 * np.pi / 2**13
    q, tau = (
        np.round(moves.q / step) * step,
        torque(moves) + NOISE * np.random.default_rng(5).standard_normal(moves.q.shape),
    )
    tau[1150:, 1] += 2.0
    ticks, found = np.round(moves.t * 1e9).astype(np.int64), []
    for size in (1, 7, len(ticks)):
        robot = RobotEstimator(taught(), 1.0 / RATE, start=4.0)
        for first in range(0, len(ticks), size):
            part = slice(first, first + size)
            robot.absorb(ticks[part], q[part], tau[part])
        estimate = robot.estimate()
        arrays = (*robot.parameters(), estimate.predicted, estimate.measured, estimate.thresholds)
        found.append(([one.tobytes() for one in arrays], robot.events(), estimate.contact))
    assert found[0] == found[1] == found[2]
    assert [one.kind for one in found[0][1]] == ["started", "contact"]
