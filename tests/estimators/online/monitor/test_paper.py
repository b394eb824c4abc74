"""The threshold δ on the error, beside the statistical test and alone, as the publication has it."""

from typing import Any

import numpy as np
import pytest

from estimators.online.monitor.base import Before, Moment, Recover, SearchEta, Wait
from estimators.online.monitor.fast import FastMonitor
from estimators.online.monitor.paper import PaperMonitor
from estimators.online.monitor.threshold import ErrorThreshold
from estimators.refit.settings import MonitorSettings
from hil_rig.papers.space_joint.case2 import OMEGAS, case, estimator, play

ROW = 0.01  # s


def moment(now: int, error: float, **changes: Any) -> Moment:
    usual = {
        "row": ROW, "block": 10, "now": now, "span": 800, "needed": 1200.0, "capacity": 3000, "searching": False,
        "suspicious": False, "basis": 1200, "moved": now, "elapsed": 10.0, "variance": 1.0, "level": 1.0,
        "covered": True, "error": error,
    }  # fmt: skip
    return Moment(**(usual | changes))


def test_an_error_must_exceed_delta_all_the_time_that_is_set() -> None:
    threshold = ErrorThreshold(0.5, 2.0, ROW)
    assert not threshold.exceeded(moment(1000, 0.51))
    assert not threshold.exceeded(moment(1199, 0.51))
    assert threshold.exceeded(moment(1200, 0.51))
    assert not threshold.exceeded(moment(1210, 0.51))  # it begins anew
    assert not threshold.exceeded(moment(1300, 0.5))  # at δ it is not exceeded
    assert not threshold.exceeded(moment(1450, 0.51))
    assert not threshold.exceeded(moment(1649, 0.51))
    assert threshold.exceeded(moment(1650, 0.51))


def test_nothing_is_counted_while_a_search_is_under_way() -> None:
    threshold = ErrorThreshold(0.5, 1.0, ROW)
    assert not threshold.exceeded(moment(1000, 0.6))
    assert not threshold.exceeded(moment(1090, 0.6, searching=True))
    assert not threshold.exceeded(moment(1100, 0.6))
    assert threshold.exceeded(moment(1200, 0.6))


def test_delta_begins_a_search_beside_the_statistical_test() -> None:
    monitor = FastMonitor(ROW, MonitorSettings(delta=0.5, hold=0.0))
    monitor.started(1.0, 100, 1200)
    (decision,) = monitor.routine(moment(4000, 0.6))
    assert decision == SearchEta("threshold", 3200, Before.NOW)
    assert monitor.due(False) is None
    assert not any(isinstance(one, SearchEta) for one in monitor.routine(moment(4010, 0.4)))


def test_the_paper_searches_the_latest_window_whenever_the_error_exceeds_delta() -> None:
    monitor = PaperMonitor(ROW, MonitorSettings(design="paper", delta=0.5))
    monitor.started(1.0, 100, 1200)
    assert list(monitor.routine(moment(4000, 0.5))) == []
    assert list(monitor.routine(moment(4000, 0.6))) == [SearchEta("threshold", 2800, Before.NOTHING)]
    assert list(monitor.routine(moment(4010, 0.6))) == [SearchEta("threshold", 2810, Before.NOTHING)]
    assert list(monitor.routine(moment(4010, 0.6, searching=True))) == []


def test_without_a_delta_the_paper_takes_a_multiple_of_what_the_start_has_left() -> None:
    monitor = PaperMonitor(ROW, MonitorSettings(design="paper"))
    monitor.started(4.0, 100, 1200)
    assert list(monitor.routine(moment(4000, 0.0, variance=4.0 * 1.2**2))) == []
    assert list(monitor.routine(moment(4000, 0.0, variance=4.1 * 1.2**2))) == [
        SearchEta("threshold", 2800, Before.NOTHING)
    ]


def test_an_alarm_of_the_paper_changes_nothing_but_how_fast_is_forgotten() -> None:
    monitor = PaperMonitor(ROW, MonitorSettings(design="paper"))
    monitor.started(1.0, 100, 1200)
    assert monitor.alarmed(4000, moment(4010, 0.6))
    assert isinstance(monitor.transient(moment(4010, 0.6)), Recover)
    assert isinstance(monitor.review(None), Wait)  # type: ignore[arg-type]
    assert monitor.settled


@pytest.mark.compiled
def test_the_paper_follows_a_nonlinear_jump_once_its_window_has_left_it() -> None:
    run = case(3, 0.005, nonlinear_at=20.0, end=45.0)
    times, values, events = play(estimator(design="paper"), run.rows)
    accepted = [event.time * 1e-9 for event in events if event.kind == "refit_accepted"]
    assert any(20.0 < time < 22.0 for time in accepted)  # at once, on a window from before the jump
    assert values[-1, 4:] == pytest.approx(1.2 * OMEGAS, rel=0.03)
    wrong = np.abs(values[(times > 20.5) & (times < 25.0), 4:] / (1.2 * OMEGAS) - 1.0).max()
    assert wrong > 0.05


@pytest.mark.compiled
def test_a_start_goes_on_until_two_searches_agree_and_the_error_is_below_delta() -> None:
    run = case(3, 0.005, end=30.0)
    usual = next(e.time for e in play(estimator(), run.rows)[2] if e.kind == "started")
    _, _, events = play(estimator(delta_theta=0.05), run.rows)
    started = next(event.time for event in events if event.kind == "started")
    rejected = [event.text for event in events if event.kind == "refit_rejected"]
    assert started > usual
    joint = estimator(delta_theta=0.05)
    joint.absorb(run.rows.part(slice(0, 1300)))
    assert "start_unsettled" in {reason.code for reason in joint.parts.start.unsure}  # type: ignore[attr-defined]
    assert any("there is no search before" in text for text in rejected)
    _, _, events = play(estimator(delta=1e-3), run.rows)
    assert any("expected delta = 0.001" in event.text for event in events if event.kind == "refit_rejected")
