"""Records of what is held beside a model, and of a tool that is not the one that was told: opened, refined, closed."""

from estimators.online.robot.told_findings import ToldFindings

FIRST, SECOND = "the tool is 0.5 kg heavier than told", "the tool is 0.6 kg heavier than told"


def test_a_tool_that_differs_is_one_record_until_it_agrees_and_then_another_one() -> None:
    told = ToldFindings(("lift", "elbow"))
    told.tell_tool(10, FIRST)
    told.tell_tool(20, SECOND)
    [one] = told.every
    assert (one.number, one.since, one.updated, one.cause, one.text, one.over) == (1, 10, 20, "tool", SECOND, False)
    told.tell_tool(30, "")
    [one] = told.every
    assert (one.number, one.updated, one.over) == (1, 30, True)
    told.tell_tool(35, "")
    told.tell_tool(40, FIRST)
    assert [(each.number, each.since, each.text, each.over) for each in told.every] == [
        (1, 10, SECOND, True),
        (2, 40, FIRST, False),
    ]


def test_a_tool_that_agrees_with_what_was_told_has_no_record() -> None:
    told = ToldFindings(("lift", "elbow"))
    told.tell_tool(5, "")
    assert told.every == ()
