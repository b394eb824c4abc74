"""A dead link fills no log."""

import logging

import pytest

from daq.processes.rate_limited_log import Complaint


def test_what_lasts_is_said_once_and_then_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    link = Complaint(lambda: now)
    with caplog.at_level(logging.INFO, "jointwatch"):
        for step in range(1440):  # 12 minutes, tried twice a second
            now = 0.5 * step
            link.wrong("port gone")
    assert len(caplog.messages) == 12
    assert caplog.messages[0] == "port gone; trying again"
    assert caplog.messages[1] == "port gone; trying again (119 times more in the last minute)"


def test_another_cause_and_the_end_are_said_at_once(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    link = Complaint(lambda: now)
    with caplog.at_level(logging.INFO, "jointwatch"):
        link.right("data again")
        link.wrong("port gone")
        link.wrong("no permission")
        now = 3.0
        link.right("data again")
        link.right("data again")
        for _ in range(100):  # flapping
            link.wrong("no permission")
            link.right("data again")
    assert caplog.messages == ["port gone; trying again", "no permission; trying again", "data again after 3.0 s"]
