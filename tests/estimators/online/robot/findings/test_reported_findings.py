"""Records of what holds beside a model, and of a tool that is not the configured one: opened, refined, closed."""

import numpy as np
import pytest

from estimators.online.robot.estimate import Friction
from estimators.online.robot.findings.causes.base import Fitted
from estimators.online.robot.findings.causes.friction import JointFriction
from estimators.online.robot.findings.record import AGAIN
from estimators.online.robot.reported_findings import GradualFriction, ReportedFindings
from estimators.online.robot.residual_attribution import AttributionVerdict

USUAL = np.full(2, 0.1)  # N·m
FIRST, SECOND = "the tool is 0.5 kg heavier than findings", "the tool is 0.6 kg heavier than findings"


def test_a_tool_that_differs_is_one_record_until_it_agrees_and_then_another_one() -> None:
    findings = ReportedFindings(("lift", "elbow"))
    findings.report_tool(10, FIRST)
    findings.report_tool(20, SECOND)
    [one] = findings.every
    assert (one.number, one.since, one.updated, one.cause, one.text, one.over) == (1, 10, 20, "tool", SECOND, False)
    findings.report_tool(30, "")
    [one] = findings.every
    assert (one.number, one.updated, one.over) == (1, 30, True)
    findings.report_tool(35, "")
    findings.report_tool(40, FIRST)
    assert [(each.number, each.since, each.text, each.over) for each in findings.every] == [
        (1, 10, SECOND, True),
        (2, 40, FIRST, False),
    ]


def test_a_tool_that_agrees_with_the_configured_one_has_no_record() -> None:
    findings = ReportedFindings(("lift", "elbow"))
    findings.report_tool(5, "")
    assert findings.every == ()


def gradual(findings: ReportedFindings) -> GradualFriction:
    """Nothing has changed yet: both joints have 1 and 2 N·m at 0.1 and half of the speed seen."""
    found = GradualFriction(findings, ("lift", "elbow"))
    assert found.follow(0, friction(5.0), USUAL) == ""
    return found


def friction(change: float, deviation: float = 0.01) -> Friction:
    """As it was, but the elbow's is larger by `change`, N·m."""
    torque = np.array([[1.0, 2.0], [1.0 + change, 2.0 + change]])
    return Friction(np.ones((2, 2)), torque, np.full((2, 2), deviation))


def step(which: int = 1) -> AttributionVerdict:
    """The elbow's friction, learnt in silence."""
    fitted = Fitted(JointFriction((which,)), np.zeros(2), np.eye(2), 12.0, np.zeros((2, 2)))
    return AttributionVerdict(fitted, False, True, "the friction of elbow has changed")


@pytest.mark.parametrize(("later", "joint", "cause"), [(5, 1, "friction"), (5, 0, "contact"), (AGAIN, 1, "contact")])
def test_friction_learnt_in_silence_soon_after_a_contact_of_its_joint_is_what_that_was(
    later: int, joint: int, cause: str
) -> None:
    findings = ReportedFindings(("lift", "elbow"))
    found = gradual(findings)
    findings.examine(5, "contact", ("elbow",), "elbow: 3 N·m")
    findings.close(10)
    assert bool(found.step(10 + later, 100 + later, step(joint), friction(0.0))) is (cause == "friction")
    [one] = findings.every
    assert (one.number, one.since, one.cause, one.over) == (1, 5, cause, True)


def test_steps_too_small_to_be_reported_are_reported_once_when_their_sum_is_a_finding() -> None:
    findings = ReportedFindings(("lift", "elbow"))
    found = gradual(findings)
    assert found.step(10, 100, step(), friction(0.0)) == ""
    assert found.follow(20, friction(0.17), USUAL) == ""  # squares of three usual ones: 0.173
    assert found.follow(30, friction(0.18, 0.07), USUAL) == ""  # not sure yet
    assert (
        found.follow(40, friction(0.18), USUAL)
        == "the friction has changed gradually, at half the speed seen: elbow +9 %"
    )
    assert found.step(50, 150, step(), friction(0.18)) == ""
    assert found.follow(60, friction(-0.4), USUAL) == ""
    [one] = findings.every
    assert (one.cause, one.joints, one.since, one.updated, one.over) == ("friction", ("elbow",), 10, 60, True)
    assert one.text.endswith("elbow -20 %")


def test_a_friction_that_no_step_has_moved_is_not_reported() -> None:
    findings = ReportedFindings(("lift", "elbow"))
    found = gradual(findings)
    assert found.follow(20, friction(5.0), USUAL) == ""
    found.step(30, 100, step(), friction(5.0))
    assert found.follow(40, friction(5.0), USUAL) == ""  # what came before the first step is usual
    assert found.follow(100, friction(7.0), USUAL) == ""  # nor what comes after the last
    assert findings.every == ()


def test_what_is_learnt_soon_after_a_change_was_reported_belongs_to_it() -> None:
    findings = ReportedFindings(("lift", "elbow"))
    found = gradual(findings)
    found.note_change(100)
    found.step(50, 150, step(), friction(0.0))
    assert found.follow(60, friction(1.0), USUAL) == ""
    assert found.follow(99, friction(1.5), USUAL) == ""
    found.step(160, 300, step(), friction(1.5))
    assert found.follow(170, friction(2.0), USUAL) != ""


def test_friction_that_is_learnt_to_change_without_a_step_is_reported_from_when_it_went_on_changing() -> None:
    second = 1_000_000_000
    findings = ReportedFindings(("lift", "elbow"))
    found = gradual(findings)
    found.notice(1 * second, 90 * second, friction(0.3))
    assert found.follow(4 * second, friction(0.9), USUAL) == "", "what has not gone on for three seconds was chance"
    for at in range(10, 14):
        found.notice(at * second, 90 * second, friction(0.1 * (at - 10)))
    assert found.follow(14 * second, friction(0.4), USUAL) != ""
    [one] = findings.every
    assert (one.cause, one.since, one.gradual) == ("friction", 10 * second, True)
    found.notice(14 * second, 90 * second, friction(0.4))
    found.follow(80 * second, friction(0.6), USUAL)
    [one] = findings.every
    assert one.text.endswith("elbow +30 %"), "it is followed for a minute, from what it was before"
    found.note_change(200 * second)
    found.notice(150 * second, 240 * second, friction(0.6))
    assert found.follow(151 * second, friction(1.6), USUAL) == "", "it belongs to what was reported"


def test_what_looked_like_a_contact_is_the_friction_that_a_step_explains() -> None:
    findings = ReportedFindings(("lift", "elbow"))
    found = gradual(findings)
    findings.examine(5, "contact", ("elbow",), "elbow: 3 N·m")
    assert found.step(10, 100, step(), friction(0.0)) == "the friction of elbow has changed"
    [one] = findings.every
    assert (one.number, one.cause, one.since, one.over) == (1, "friction", 5, True)
    findings.examine(20, "contact", ("lift",), "lift: 3 N·m")
    assert found.follow(30, friction(0.5), USUAL) == ""  # something else is examined
    assert found.step(40, 140, step(), friction(0.5)) == ""
    assert found.follow(50, friction(0.5), USUAL) == ""
    assert [each.text for each in findings.every] == [
        "the friction has changed gradually, at half the speed seen: elbow +25 %"
    ]
    assert findings.examined is None
