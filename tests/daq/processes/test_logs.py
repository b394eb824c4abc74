"""A dead link fills no log."""

import logging

import pytest

from daq.processes.logs import RateLimitedLog


def test_what_lasts_is_said_once_and_then_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    link = RateLimitedLog(lambda: now)
    with caplog.at_level(logging.INFO, "jointwatch"):
        for step in range(1440):  # 12 minutes, tried twice a second
            now = 0.5 * step
            link.problem("port gone")
    assert len(caplog.messages) == 12
    assert caplog.messages[0] == "port gone; trying again"
    assert caplog.messages[1] == "port gone; trying again (119 times more in the last minute)"


def test_another_cause_and_the_end_are_said_at_once(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    link = RateLimitedLog(lambda: now)
    with caplog.at_level(logging.INFO, "jointwatch"):
        link.recovered("data again")
        link.problem("port gone")
        link.problem("no permission")
        now = 3.0
        link.recovered("data again")
        link.recovered("data again")
        for _ in range(100):  # flapping
            link.problem("no permission")
            link.recovered("data again")
    assert caplog.messages == ["port gone; trying again", "no permission; trying again", "data again after 3.0 s"]
