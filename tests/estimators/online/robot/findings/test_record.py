"""One record each: opened by a threshold, decided by a cause, refined, and over."""

import pytest

from estimators.online.robot.findings.record import AGAIN, KEPT, Findings


def test_what_is_examined_is_one_finding_whatever_joints_follow_and_becomes_its_cause() -> None:
    findings = Findings()
    assert findings.examine(10, "contact", ("a",), "a: 3 N·m")
    assert not findings.examine(20, "contact", ("b",), "b: 1 N·m")
    [one] = findings.every
    assert (one.number, one.since, one.updated, one.joints, one.over) == (1, 10, 20, ("a", "b"), False)
    assert findings.doubt(25, ("friction", "contact"), "several causes fit: friction, contact")
    assert not findings.doubt(26, ("friction", "contact"), "several causes fit: friction, contact")
    assert findings.every[0].others == ("friction", "contact")
    assert findings.decide(30, "friction", ("a",), "it rubs", over=True) == 1
    [one] = findings.every
    assert (one.cause, one.joints, one.since, one.updated, one.over, one.others) == (
        "friction",
        ("a",),
        10,
        30,
        True,
        (),
    )
    assert findings.examined is None
    assert not findings.doubt(40, ("offset",), "")


def test_what_holds_is_refined_until_it_is_gone() -> None:
    findings = Findings()
    number = findings.decide(10, "payload", (), "about 1 kg", over=False)
    findings.refine(20, number, "about 2 kg")
    assert findings.examine(30, "contact", ("a",), "a: 3 N·m")
    findings.drop()
    findings.close(40, number)
    [one] = findings.every
    assert (one.text, one.since, one.updated, one.over) == ("about 2 kg", 10, 40, True)
    assert findings.examined is None


def test_a_contact_of_the_same_joint_soon_after_its_end_is_the_same() -> None:
    findings = Findings()
    assert findings.examine(0, "contact", ("a",), "first")
    findings.close(10)
    assert not findings.examine(10 + AGAIN - 1, "contact", ("a",), "again")
    assert len(findings.every) == 1
    findings.close(20 + AGAIN)
    assert findings.examine(20 + AGAIN + 5, "contact", ("b",), "of another joint")
    findings.close(30 + AGAIN)
    assert findings.examine(30 + 3 * AGAIN, "contact", ("b",), "later")
    assert [one.number for one in findings.every] == [1, 2, 3]


def test_no_more_than_so_many_are_kept() -> None:
    findings = Findings()
    for k in range(KEPT + 5):
        findings.decide(k, "friction", (), "", over=True)
    assert [one.number for one in findings.every] == list(range(6, KEPT + 6))


@pytest.mark.parametrize(("seconds", "new"), [(2.99, False), (3.0, True)])
def test_a_contact_of_the_same_joint_within_three_seconds_of_the_end_is_the_same(seconds: float, new: bool) -> None:
    findings, end = Findings(), 20_000_000_000
    findings.examine(end - 5, "contact", ("base", "elbow"), "")
    findings.close(end)
    assert findings.examine(end + round(seconds * 1e9), "contact", ("elbow",), "") is new
    assert [one.number for one in findings.every] == ([1, 2] if new else [1])
    assert not findings.every[-1].over


@pytest.mark.parametrize(
    ("seconds", "joints", "numbers"),
    [(2.99, ("elbow",), [1]), (2.99, (), [1]), (2.99, ("wrist",), [1, 2]), (3.0, ("elbow",), [1, 2])],
)
def test_a_cause_found_soon_after_a_contact_of_its_joints_is_what_that_was(
    seconds: float, joints: tuple[str, ...], numbers: list[int]
) -> None:
    """A slip is a jump that its filters forget in half a second; it is known two seconds later."""
    findings, end = Findings(), 20_000_000_000
    findings.examine(end - 5, "contact", ("base", "elbow"), "3 N·m")
    findings.close(end)
    time = end + round(seconds * 1e9)
    assert findings.decide(time, "encoder_slip", joints, "it has slipped", over=False) == numbers[-1]
    assert [one.number for one in findings.every] == numbers
    last = findings.every[-1]
    assert (last.cause, last.joints, last.updated, last.over) == ("encoder_slip", joints, time, False)
    assert last.since == (end - 5 if numbers == [1] else time)
    findings.close(time, last.number)
    decided = numbers == [1]  # that is no contact any more
    assert findings.examine(time + 10, "contact", ("elbow",), "a hand") is (decided or seconds >= 3.0)


@pytest.mark.parametrize(("cause", "joints", "numbers"), [("encoder_slip", ("elbow",), [1]), ("payload", (), [1, 2])])
def test_a_slip_that_was_seen_is_the_one_that_gravity_shows_later(
    cause: str, joints: tuple[str, ...], numbers: list[int]
) -> None:
    findings, end = Findings(), 20_000_000_000
    findings.examine(end - 5, "encoder_slip", ("elbow",), "it has jumped")
    assert not findings.examine(end - 4, "contact", ("base",), "3 N·m")
    assert findings.every[0].joints == ("elbow",), "what its moment does to others is no part of it"
    findings.close(end)
    assert findings.decide(end + 2 * AGAIN, cause, joints, "", over=False) == numbers[-1]
    assert [one.number for one in findings.every] == numbers


@pytest.mark.parametrize(("cause", "others"), [("contact", ()), ("friction", ("contact", "friction"))])
def test_several_causes_fit_no_longer_where_what_it_was_taken_for_is_the_best(
    cause: str, others: tuple[str, ...]
) -> None:
    findings = Findings()
    findings.settle(4, "contact", "nothing is examined")
    findings.examine(5, "contact", ("elbow",), "3 N·m")
    findings.doubt(6, ("contact", "friction"), "several causes fit")
    findings.settle(7, cause, "elbow: a steady 3 N·m")
    [one] = findings.every
    assert (one.cause, one.others) == ("contact", others)
    assert one.text == ("several causes fit" if others else "elbow: a steady 3 N·m")
