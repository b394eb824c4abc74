"""What follows from one part of a robot's estimator for the others: thresholds after a change, what they are of."""

from functools import cache

import numpy as np
import pytest

from estimators.online.robot.change_handling import CHANGES_ON
from estimators.online.robot.compensation import Switched
from estimators.online.robot.estimator import RobotEstimator
from estimators.online.robot.findings.causes.base import Fitted
from estimators.online.robot.findings.causes.friction import JointFriction
from estimators.online.robot.findings.causes.payload import PayloadCause
from estimators.online.robot.findings.causes.steady_torque import Offset
from estimators.online.robot.findings.tool import ConfiguredTool
from estimators.online.robot.friction_refit import FrictionRefits, RefittedFriction
from estimators.online.robot.residual_attribution import AttributionVerdict
from estimators.quantities import Floats
from estimators.refit.outcome import SearchReport
from tests.support.signals.crane import RATE, Motion, motion, taught, torque

BEGUN = 6.0  # s: the start is over, and nothing has happened yet


@cache
def moves() -> Motion:
    return motion(BEGUN + 6.0)


def robot() -> RobotEstimator:
    """One that has seen BEGUN seconds of a motion that its model explains to the last digit."""
    one = RobotEstimator(taught(), 1.0 / RATE, start=4.0)
    assert goes_on(one, 0.0, BEGUN) == ["started"]
    return one


def goes_on(one: RobotEstimator, first: float, last: float, beyond: tuple[float, float] = (0.0, 0.0)) -> list[str]:
    """The kinds of events; beyond: what is measured of each joint beyond its torque."""
    part = slice(round(first * RATE), round(last * RATE))
    one.absorb(np.round(moves().t[part] * 1e9).astype(np.int64), moves().q[part], torque(moves())[part] + beyond)
    return [event.kind for event in one.events()]


def learnt(one: RobotEstimator, deviation: float) -> None:
    """The swing's offset was found to be as it is, known to so much."""
    cause = Offset((1,))
    columns = cause.moves(one._watch.attribution.known())
    fitted = Fitted(cause, np.array([1e-9]), np.array([[deviation**2]]), 20.0, columns)
    one._changes._learn(AttributionVerdict(fitted, False, False, "another zero"))


def mislead(one: RobotEstimator, by: float) -> None:
    """The swing's offset is wrong by so much from now on."""
    bayesian = one._learner.bayesian
    wrong = bayesian.theta
    wrong[one.model.names.index("offset.swing")] += by
    bayesian.begin(wrong, bayesian.covariance)
    one._learner.adopt()


def limit(one: RobotEstimator) -> Floats:
    return np.asarray(one.estimate().thresholds)


@pytest.mark.parametrize(("share", "told"), [(0.9, False), (1.1, True)])
def test_within_a_minute_of_a_change_three_deviations_of_what_is_not_known_of_it_are_no_contact(
    share: float, told: bool
) -> None:
    one = robot()
    usual = limit(one)
    learnt(one, 0.5 / 3.0)  # doubted by three deviations: 0.5 N·m, of which three are no contact
    push = share * (usual[1] + 3.0 * 0.5)
    assert ("contact" in goes_on(one, BEGUN, BEGUN + 0.3, (0.0, push))) is told
    np.testing.assert_array_equal(limit(one), usual, "published are the limits of what is known")


@pytest.mark.parametrize(("share", "told"), [(0.9, False), (1.1, True)])
def test_three_deviations_of_what_is_not_known_of_a_payload_are_no_contact(share: float, told: bool) -> None:
    """Where its centre is, times its mass, is known to 0.1 kg·m, and nothing else is in doubt."""
    one = robot()
    explanation, known = one._watch.attribution.explanation, one._watch.attribution.known()
    covariance = np.diag([1e-12, 0.1**2] + [1e-12] * 8)
    explanation.hold(Fitted(PayloadCause(), np.zeros(10), covariance, 20.0, PayloadCause().moves(known)))
    body = np.zeros((2, 10))
    body[-1, 1] = 0.1
    q = moves().q[round(BEGUN * RATE) : round((BEGUN + 0.1) * RATE)]
    weight = np.abs(one.model.torque(body, q, 0.0 * q, 0.0 * q)[:, 1])
    push = share * (limit(one)[1] + 3.0 * float(weight.mean()))
    assert ("contact" in goes_on(one, BEGUN, BEGUN + 0.1, (0.0, push))) is told


def test_what_looked_like_a_contact_and_has_lasted_is_another_zero_however_small() -> None:
    one = robot()
    assert goes_on(one, BEGUN, BEGUN + 0.2, (0.0, 2.0)) == ["contact"]
    verdict = found(one, 0.05, False)._replace(silent=True)
    one._changes.follow([], verdict, True)
    assert [event.kind for event in one.events()] == ["offset"]
    [finding] = one.findings()
    assert (finding.cause, finding.joints, finding.text) == ("offset", ("swing",), verdict.text)
    other, before = robot(), len(one.findings())
    other._changes.follow([], verdict, True)
    assert (other.events(), len(other.findings()), before) == ([], 0, 1), "without one it is learnt in silence"


def test_a_torque_that_has_drifted_beyond_a_threshold_is_examined_and_reported_as_another_zero() -> None:
    one = robot()
    one._watch.contact.drifting[1] = one._watch.contact.drifted[1] = True
    assert one._changes.unsettled, "what is beyond a threshold may not be trusted"
    verdict = found(one, 0.05, False)._replace(silent=True)
    one._changes.follow([], verdict, True)
    assert [event.kind for event in one.events()] == ["offset"]
    [finding] = one.findings()
    assert (finding.cause, finding.joints) == ("offset", ("swing",))
    assert not one._watch.contact.drifted.any()


@pytest.mark.parametrize(("mass", "text"), [(1.0, "about 1 kg"), (0.01, "about 2 kg")])
def test_a_payload_that_is_put_down_is_reported_as_it_was_carried(mass: float, text: str) -> None:
    """While its end is not certain, what is left of it is nothing that anybody would weigh."""
    one = robot()
    attribution, findings, known = one._watch.attribution, one._findings, one._watch.attribution.known()
    cause, values = PayloadCause(), np.append(mass, np.zeros(9))
    findings.beside_model["payload", ()] = findings.decide(
        0, "payload", (), "a payload of about 2 kg is carried", False
    )
    attribution.explanation.hold(Fitted(cause, values, 1e-4 * np.eye(10), 20.0, cause.moves(known)))
    findings.follow(1, attribution)
    assert text in findings.every[-1].text


def test_a_minute_later_or_where_nothing_was_learnt_they_are_one() -> None:
    one = robot()
    learnt(one, 0.5 / 3.0)
    one._changes._changing -= CHANGES_ON
    assert "contact" in goes_on(one, BEGUN, BEGUN + 0.3, (0.0, limit(one)[1] + 1.0))
    assert "contact" in goes_on(robot(), BEGUN, BEGUN + 0.3, (0.0, 1.1 * limit(one)[1]))


@pytest.mark.parametrize(("sign", "again"), [(1.0, False), (-1.0, False), (1.0, True)])
def test_a_residual_that_learning_alone_has_made_is_no_contact_until_the_thresholds_are_of_it(
    sign: float, again: bool
) -> None:
    """θ has moved by twice the limit: by the θ of when the thresholds were set nothing is beyond them."""
    one = robot()
    mislead(one, sign * 2.0 * limit(one)[1])
    if again:
        one._changes.mark_reference()
    assert ("contact" in goes_on(one, BEGUN, BEGUN + 0.3)) is again


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_push_is_a_contact_whatever_learning_has_done_in_between(sign: float) -> None:
    """θ has moved by a half of the limit either way: it would take off as much of a push, or add it."""
    one = robot()
    mislead(one, sign * 0.5 * limit(one)[1])
    assert "contact" in goes_on(one, BEGUN, BEGUN + 0.3, (0.0, sign * 1.6 * limit(one)[1]))


def test_after_as_much_motion_again_as_a_start_takes_the_thresholds_are_of_what_learning_has_made() -> None:
    one = robot()
    contact = one._watch.contact  # the limits themselves, without what friction adds where a joint turns
    usual = contact.limits
    mislead(one, -2.0 * usual[1])
    assert goes_on(one, BEGUN, 9.4) == []
    np.testing.assert_array_equal(contact.limits, usual)
    assert goes_on(one, 9.4, 9.6) == [], "4 s of motion after the start, which was over at 5.5 s"
    assert contact.limits[0] == usual[0]
    assert 3.0 <= contact.limits[1] / usual[1] < 3.5, "one and a half of two limits, and of what reversals leave"


@pytest.mark.parametrize(("count", "rows"), [(25, 50), (50, 25)])
def test_whether_a_law_is_left_is_asked_of_the_rows_of_whole_blocks(
    count: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three looks of 25 rows, the last of which, or the last two, are of a block that is under way."""
    one, asked = RobotEstimator(taught(), 1.0 / RATE), list[object]()
    monkeypatch.setattr(one._refits, "leaves_law", lambda *these: asked.append(these) or True)
    one._block.count = count
    assert one._leaves_law((1,), 3)
    assert asked == [((1,), rows)]


def test_what_a_law_may_be_off_at_speeds_that_nobody_has_seen_is_no_contact(monkeypatch: pytest.MonkeyPatch) -> None:
    one = robot()
    push = 0.9 * limit(one)[1] + 0.9
    monkeypatch.setattr(one._unseen, "torque", lambda _theta: np.array([0.0, 1.0]))
    assert goes_on(one, BEGUN, BEGUN + 0.3, (0.0, push)) == []
    assert "contact" in goes_on(robot(), BEGUN, BEGUN + 0.3, (0.0, push))


def test_a_contact_marks_where_a_change_may_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    one, marks = robot(), list[int]()
    monkeypatch.setattr(one._watch.attribution, "mark", lambda: marks.append(one._changes.time))
    assert goes_on(one, BEGUN, BEGUN + 0.1, (0.0, 2.0)) == ["contact"]
    [at] = marks
    assert BEGUN + 0.02 <= 1e-9 * at <= BEGUN + 0.08


def found(one: RobotEstimator, change: float, silent: bool) -> AttributionVerdict:
    """Another zero of the swing's torque, or its friction that drifts."""
    cause = JointFriction((1,)) if silent else Offset((1,))
    columns = cause.moves(one._watch.attribution.known())
    count = columns.shape[1]
    fitted = Fitted(cause, np.full(count, change), 1e-6 * np.eye(count), 20.0, columns)
    return AttributionVerdict(fitted, False, silent, "something of the swing is another one")


def test_what_is_found_is_learnt_whether_it_is_told_or_not() -> None:
    for silent, kinds in ((True, []), (False, ["offset"])):
        one = robot()
        verdict, before = found(one, 0.05, silent), one._learner.bayesian.theta
        one._changes.follow([], verdict, True)
        assert one._learner.bayesian.theta - before == pytest.approx(verdict.fitted.moved[: len(before)])
        assert one._changes._reference is one._learner.prediction, "thresholds are those of what is known now"
        assert [event.kind for event in one.events()] == kinds
        assert [finding.cause for finding in one.findings()] == kinds


def test_what_has_just_ended_is_in_doubt_until_its_cause_is_found() -> None:
    one = robot()
    assert goes_on(one, BEGUN, BEGUN + 0.2, (0.0, 2.0)) == ["contact"]
    assert goes_on(one, BEGUN + 0.2, BEGUN + 1.0) == ["recovered"]
    assert one._changes.unsettled
    one._changes.follow([], None, True)
    assert one._changes.unsettled
    one._changes.follow([], found(one, 0.05, False), True)
    assert not one._changes.unsettled


def test_a_compensation_that_is_switched_is_an_event() -> None:
    one, switched = robot(), Switched(1, True, 2.0, 1.5)
    one._changes.follow([switched], None, True)
    [event] = one.events()
    assert (event.kind, event.text) == ("compensation", switched.words(taught().robot))
    assert event.text == "swing: what was learnt of its residual is used: it leaves 1.5 N·m rms, without it 2"


def test_the_tool_is_compared_in_undisturbed_motion_behind_the_start_and_reported_both_ways() -> None:
    """It is configured as 1.5 kg, and none is carried; then as none."""
    one = RobotEstimator(taught(), 1.0 / RATE, start=4.0, tool=ConfiguredTool(1.5, np.zeros(3)))
    check = one._watch.tool
    assert check is not None
    assert goes_on(one, 0.0, 5.4) == []
    one._changes.follow([], None, True)
    assert np.isnan(check.difference.mass), "the start lasts"
    texts = []
    for first in np.arange(5.4, 11.5, 0.5):
        part = slice(round(first * RATE), round((first + 0.5) * RATE))
        one.absorb(np.round(moves().t[part] * 1e9).astype(np.int64), moves().q[part], torque(moves())[part])
        texts += [(event.kind, event.text) for event in one.events()]
        if len(texts) == 2:
            check.configured = ConfiguredTool(0.0, np.zeros(3))
    assert [kind for kind, _ in texts] == ["started", "tool", "tool"]
    assert texts[1][1].startswith("the tool configured in the controller differs by 1.5 kg")
    assert texts[2][1] == "the tool agrees with the one configured in the controller"
    [finding] = one.findings()
    assert finding.over
    for calm, moving, compared in ((True, False, False), (False, True, False), (True, True, True)):
        check.difference, one._watch.contact.calm = check.difference._replace(mass=np.nan), calm
        one._changes.follow([], None, moving)
        assert np.isfinite(check.difference.mass) == compared


def test_steps_of_friction_that_were_learnt_in_silence_are_reported_with_their_sum() -> None:
    """Two coefficients that are 0.2 larger add 0.53 to the swing's 1.8 N·m at half of the speed seen: 30 %."""
    one = robot()
    one._changes.settle()
    one._changes.follow([], found(one, 0.2, True), True)
    assert one.events() == []
    one._changes.settle()
    [event] = one.events()
    assert (event.kind, event.text) == (
        "friction",
        "the friction has changed gradually, at half the speed seen: swing +30 %",
    )
    one._changes.settle()
    assert one.events() == [], "once"


def searched(one: RobotEstimator, reason: str = "", sharpens: bool = False) -> RefittedFriction:
    """A search of the swing's friction that has ended: coefficients of 1 and 2, and an offset of 0.3."""
    names = one.model.names
    place = np.array([names.index(f"{name}.swing") for name in ("viscous", "coulomb", "offset")])
    search, theta = SearchReport("mcs", 50, 20, {}, np.inf), np.array([1.0, 2.0, 0.3])
    return RefittedFriction(1, sharpens, reason, "by so much", search, place, theta, np.diag([0.1, 0.2, 0.3]))


@pytest.mark.parametrize(
    ("reason", "sharpens", "kind", "text"),
    [
        ("", False, "refit_accepted", "friction of swing: by so much"),
        ("", True, "sharpened", "friction of swing: by so much"),
        ("it is uncertain", False, "refit_rejected", "friction of swing, by so much: it is uncertain"),
        ("it is uncertain", True, "", ""),
    ],
)
def test_a_search_that_has_ended_is_reported_and_in_force_where_it_is_accepted(
    reason: str, sharpens: bool, kind: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, asked = robot(), list[tuple[object, ...]]()
    learner, changes, end = one._learner, one._changes, searched(one, reason, sharpens)
    monkeypatch.setattr(one._refits, "absorb", lambda *these: asked.append(these) or [end])
    one._refits.rest = np.arange(len(learner.bayesian.theta)) + 0.5
    one._watch.contact.reported[:], one._block.disturbed = True, True
    before, reference = learner.bayesian.theta, changes._reference
    changes.refit_friction(one._block, one._quick)
    [(block, theta, calm, quick)] = asked
    assert (block, calm, quick) == (one._block, False, one._quick)
    np.testing.assert_array_equal(theta, before)
    assert end.search is not None
    told = [(event.kind, event.text, event.details) for event in one.events()]
    assert told == ([(kind, text, end.search.plain)] if kind else [])
    if reason:
        np.testing.assert_array_equal(learner.bayesian.theta, before)
        assert changes._reference is reference
        return
    wanted = one._refits.rest.copy()
    wanted[end.place] = end.theta
    assert learner.bayesian.theta == pytest.approx(wanted), "all else is as when the laws held last"
    P = learner.bayesian.covariance
    np.testing.assert_allclose(P[np.ix_(end.place, end.place)], end.covariance, atol=1e-12)
    assert not one._watch.contact.reported.any()
    assert learner.stiction[1] == pytest.approx(0.02 * 1.0 + 2.0), "it predicts from now on"
    assert changes._reference is learner.prediction
    assert changes._reference is not reference
    changes.follow([], found(one, 0.4, True), True)
    changes.settle()
    assert one.events() == [], "what is learnt within a minute belongs to it"


def test_nothing_is_searched_in_a_start_or_while_something_holds_beside_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for start, held in ((True, {}), (False, {("payload", ()): 1})):
        one = robot()
        monkeypatch.setattr(one._refits, "absorb", lambda *_these: pytest.fail("it was looked at"))
        one._start.active, one._findings.beside_model = start, held
        one._changes.refit_friction(one._block, one._quick)


def test_while_a_law_is_left_nothing_is_taught_and_what_waits_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = robot(), robot()
    monkeypatch.setattr(FrictionRefits, "doubtful", property(lambda refits: refits is one._refits))
    for each in (one, other):
        each._changes.refit_friction(each._block, each._quick)
        goes_on(each, BEGUN, BEGUN + 2.0)
    assert other.learnt == one.learnt + 2


def test_thresholds_that_are_marked_hold_for_as_much_motion_as_a_start_takes() -> None:
    one = robot()
    for _ in range(200):
        one._start.count(True)
    assert one._start.due
    one._changes.mark_reference()
    assert not one._start.due


def test_a_start_that_begins_anew_forgets_the_residuals_of_before() -> None:
    one = RobotEstimator(taught(), 1.0 / RATE, start=60.0)
    assert goes_on(one, 0.0, 4.0) == []
    assert (one.start_residuals()[1] > 0.0).all()
    one._changes.follow([], found(one, 0.05, False), True)
    with pytest.raises(ValueError, match="nothing has moved"):
        one.start_residuals()
    assert one._watch.attribution._shares == []
    goes_on(one, 4.0, 5.0)
    assert (one.start_residuals()[1] > 0.0).all()
