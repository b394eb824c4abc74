"""What monitors decide, at the limits of what they are told: nothing less than these numbers is another decision.

Rows come a hundred a second; a start takes 1200 of them, a motion period 800.
"""

import math
from typing import Any

import numpy as np
import pytest

from estimators.online import checkpoint
from estimators.online.monitor import DESIGNS
from estimators.online.monitor.base import (
    Before,
    Decision,
    Evidence,
    GiveUp,
    LearnTheta,
    Moment,
    Monitor,
    Purpose,
    Recover,
    Rejection,
    Restore,
    SearchEta,
    Sharpen,
    Wait,
    WindowRequest,
)
from estimators.online.monitor.plain import PlainMonitor

ROW = 0.01  # s
SPAN, NEEDED = 800, 1200.0

every_design = pytest.mark.parametrize("name", sorted(DESIGNS.keys() - {"paper"}))  # which tests nothing: test_paper.py


def moment(now: int = 5000, **changes: Any) -> Moment:
    quiet: dict[str, Any] = {
        "row": ROW,
        "block": 10,
        "span": SPAN,
        "needed": NEEDED,
        "capacity": 6400,
        "searching": False,
        "suspicious": False,
        "basis": 1200,
        "moved": 3800,
        "elapsed": 1e9,
        "variance": 1.0,
        "level": 1.0,
        "covered": True,
    }
    return Moment(now=now, **quiet | changes)


def evidence(purpose: Purpose, **changes: Any) -> Evidence:
    """Evidence of a window that η in force explains, where θ has changed."""
    explained: dict[str, Any] = {
        "first": 4200,
        "now": 5000,
        "rows": 800,
        "needed": NEEDED,
        "span": SPAN,
        "usual": 1.0,
        "overlap": 1.0,
        "variance": 1.0,
        "signal": 1.0,
        "unchanged": 1e6,
        "gain": 0.0,
        "reach": 0.1,
        "step": np.zeros(2),
        "sigma": np.full(2, 0.01),
        "known": np.full(2, 0.01),
        "parameters": 4,
    }
    return Evidence(purpose=purpose, **explained | changes)


def same(decision: WindowRequest | Decision, wanted: WindowRequest | Decision) -> bool:
    """Whether it is the same decision: one without figures is a tuple without entries, and those are all equal."""
    return type(decision) is type(wanted) and decision == wanted


def running(name: str) -> Monitor:
    """In normal mode since row 1200, on what was learnt from row 100 on."""
    monitor = DESIGNS[name](ROW)
    monitor.started(1.0, 100, 1200)
    return monitor


# --- the change that is looked into


def test_a_change_is_looked_at_after_a_second_of_motion_from_its_cause_on() -> None:
    monitor = running("fast")
    assert monitor.alarmed(4200, moment(4230))
    assert monitor.onset == 4200
    assert isinstance(monitor.transient(moment(4299)), Wait)
    assert isinstance(monitor.transient(moment(4300, searching=True)), Wait)
    look = monitor.transient(moment(4300))
    assert look == WindowRequest(Purpose.CHANGE, 4200, Before.CHANGE, 20), "0.2 s on either side may be its beginning"


@every_design
def test_an_alarm_before_a_refit_is_confirmed_is_judged_with_that_refits_window(name: str) -> None:
    """Once it is half as long again; but neither longer than 1.6 periods, nor than a second beyond what there is."""
    for now, enough in ((4900, 600), (5400, 1280), (6000, 1600)):
        monitor = running(name)
        monitor.accepted("change", 4500, moment(4700))
        assert not monitor.alarmed(now - 30, moment(now)), "it is no change of its own"
        assert monitor.onset == 4500
        if name == "fast":
            assert isinstance(monitor.transient(moment(4500 + enough - 1)), Wait), now
            assert monitor.transient(moment(4500 + enough)) == WindowRequest(Purpose.CHANGE, 4500, Before.CHANGE, 0), (
                now
            )


def test_another_alarm_is_looked_at_afresh() -> None:
    monitor = running("fast")
    monitor.alarmed(2000, moment(2030))
    monitor.rejected(Rejection(2000, 2400, True, NEEDED), True)
    assert isinstance(monitor.transient(moment(2479)), Wait), "1.2 times the window of the refit that was rejected"
    assert isinstance(monitor.transient(moment(2480)), WindowRequest)
    assert monitor.alarmed(4200, moment(4230))
    assert isinstance(monitor.transient(moment(4300)), WindowRequest)


def test_of_a_window_that_nothing_explains_the_first_part_is_left_out_up_to_the_last_alarm() -> None:
    monitor = running("fast")
    monitor.alarmed(4200, moment(4230))
    assert isinstance(monitor.rejected(Rejection(4200, 4800, False, NEEDED), True), Wait)
    assert monitor.onset == 4290
    assert isinstance(monitor.transient(moment(4290 + 611)), Wait), "1.2 times the 510 rows that are left"
    assert monitor.transient(moment(4290 + 612)) == WindowRequest(Purpose.CHANGE, 4290, Before.CHANGE, 0)
    monitor.accepted("change", 4290, moment(5000))
    monitor.alarmed(5600, moment(5640))
    assert not monitor.settled
    assert isinstance(monitor.rejected(Rejection(4290, 5800, False, NEEDED), True), Wait)
    assert monitor.onset == 5600, "rows of before the last alarm are of another joint"
    assert monitor.settled, "what is looked into is the new change, there is nothing to confirm"


@every_design
@pytest.mark.parametrize(
    ("last", "explains", "wanted"),
    [(5611, False, Wait()), (5612, False, GiveUp(4412)), (6599, True, Wait()), (6600, True, GiveUp(4200))],
)
def test_it_gives_up_once_a_whole_start_explains_nothing_or_two_leave_a_doubt(
    name: str, last: int, explains: bool, wanted: GiveUp | Wait
) -> None:
    monitor = running(name)
    monitor.alarmed(4200, moment(4230))
    assert same(monitor.rejected(Rejection(4200, last, explains, NEEDED), True), wanted)


@every_design
def test_a_refit_is_to_be_confirmed_and_its_confirmation_is_not(name: str) -> None:
    monitor = running(name)
    assert monitor.settled
    monitor.accepted("drift", 4500, moment(5000))
    assert (monitor.onset, monitor.settled) == (4500, False)
    asked = moment(5000 + 1280)
    assert list(monitor.routine(moment(asked.now, searching=True))) == []
    assert list(monitor.routine(asked)) == [SearchEta("confirmation", 6280 - 1600, Before.NOW)]
    assert monitor.settled, "asked for once"
    monitor.accepted("confirmation", 4900, asked)
    assert (monitor.onset, monitor.settled) == (4500, True)


@every_design
def test_it_is_confirmed_by_two_periods_at_most_and_nothing_of_before(name: str) -> None:
    monitor = running(name)
    monitor.accepted("change", 5500, moment(5600))
    assert list(monitor.routine(moment(5600 + 1280))) == [SearchEta("confirmation", 5500, Before.NOW)]


# --- normal mode


@every_design
def test_every_second_it_looks_whether_eta_is_known_better_and_whether_it_drifts(name: str) -> None:
    monitor = running(name)
    assert monitor.period_due(1200)
    assert not monitor.period_due(1199)
    looks = list(monitor.routine(moment(5000)))
    assert looks == [
        WindowRequest(Purpose.SHARPEN, 100, Before.NOTHING, 0),
        WindowRequest(Purpose.DRIFT, 4200, Before.NOW, 0),
    ]
    assert list(monitor.routine(moment(5099))) == []
    assert not monitor.period_due(5099)
    assert len(list(monitor.routine(moment(5100)))) == 2


@every_design
def test_it_sharpens_over_half_as_many_rows_again_as_eta_rests_on(name: str) -> None:
    def looks(now: int, **changes: Any) -> list[Purpose]:
        return [one.purpose for one in running(name).routine(moment(now, **changes)) if isinstance(one, WindowRequest)]

    assert looks(1899) == [Purpose.DRIFT]
    assert looks(1900) == [Purpose.SHARPEN, Purpose.DRIFT]
    assert looks(1900, suspicious=True) == [Purpose.DRIFT], "an alarm may be on its way"
    assert looks(1900, basis=1201) == [Purpose.DRIFT]
    unconfirmed = running(name)
    unconfirmed.accepted("change", 100, moment(1200))
    assert [one.purpose for one in unconfirmed.routine(moment(1950)) if isinstance(one, WindowRequest)] == [
        Purpose.DRIFT
    ]


@every_design
def test_it_looks_no_further_back_than_there_are_rows_and_what_is_in_force_holds(name: str) -> None:
    far = list(running(name).routine(moment(9000)))
    assert far == [
        WindowRequest(Purpose.SHARPEN, 2600, Before.NOTHING, 0),
        WindowRequest(Purpose.DRIFT, 8200, Before.NOW, 0),
    ]
    monitor = running(name)
    monitor.learnt(4000, 4500)
    assert monitor.onset == 4500
    assert list(monitor.routine(moment(4899))) == [], "half a period is needed"
    monitor.learnt(4000)
    assert list(monitor.routine(moment(4900))) == [WindowRequest(Purpose.DRIFT, 4500, Before.NOW, 0)]
    monitor.learnt(5000, 300)
    assert monitor.onset == 4500, "what has changed since counts"


@every_design
def test_after_theta_was_learnt_anew_it_looks_again_a_second_later(name: str) -> None:
    monitor = running(name)
    monitor.learnt(5000)
    assert list(monitor.routine(moment(5099))) == []
    assert len(list(monitor.routine(moment(5100)))) == 2


def test_it_says_when_there_is_something_to_decide() -> None:
    monitor = running("fast")
    assert monitor.due(False) == 1200
    list(monitor.routine(moment(5000)))
    assert monitor.due(False) == 5100
    monitor.learnt(5050)
    assert monitor.due(False) == 5150
    assert monitor.due(True) is None, "a refit may end at any block"
    monitor.accepted("change", 4800, moment(5060, span=25))
    assert monitor.due(False) == 5060 + 40, "its confirmation is earlier"
    monitor.accepted("change", 4800, moment(5060))
    assert monitor.due(False) == 5150


BENT = {"step": np.array([0.0, -0.2])}


@every_design
@pytest.mark.parametrize(
    ("changes", "seen"),
    [
        ({}, True),
        ({"step": np.array([0.2, 0.2])}, True),
        ({"step": np.array([0.0, -0.0567]), "sigma": np.full(2, 0.01)}, True),  # 4 √2 σ: 0.0566
        ({"step": np.array([0.0, -0.0565]), "sigma": np.full(2, 0.01)}, False),
        ({"step": np.array([0.0, -0.0301]), "sigma": np.full(2, 0.001), "known": np.full(2, 0.001)}, True),
        ({"step": np.array([0.0, -0.0299]), "sigma": np.full(2, 0.001), "known": np.full(2, 0.001)}, False),
        ({"step": np.full(2, 0.5), "sigma": np.array([1.0, 0.079])}, True),  # with 0.01 of known: 0.0796
        ({"step": np.full(2, 0.5), "sigma": np.array([1.0, 0.0799])}, False),
        ({"step": np.full(2, 0.5), "sigma": np.full(2, 0.01), "known": np.full(2, 0.0799)}, False),
        ({"variance": 1.44}, True),
        ({"variance": 1.45}, False),  # what drifts is explained but for the drift …
        ({"variance": 1.45, "gain": 20.1}, True),  # … which another η would explain
        ({"variance": 1.45, "gain": 20.0}, False),
        ({"variance": 2.88, "usual": 2.0}, True),
        ({"variance": 1.599, "signal": 1e5}, True),
        ({"variance": 1.601, "signal": 1e5}, False),
    ],
)
def test_a_drift_is_a_step_that_is_significant_large_and_certain(
    name: str, changes: dict[str, Any], seen: bool
) -> None:
    window, monitor = evidence(Purpose.DRIFT, **BENT | changes), running(name)
    assert isinstance(monitor.review(window), Wait)
    bent = (0, 1) if window.step[0] == 0.2 else (1,)
    assert same(monitor.review(window), SearchEta("drift", 4200, Before.NOW, bent) if seen else Wait())


@every_design
def test_two_looks_with_an_alarm_or_a_restart_between_them_are_no_drift(name: str) -> None:
    window = evidence(Purpose.DRIFT, **BENT)
    for between in ("alarm", "restart", "a straight look"):
        monitor = running(name)
        monitor.review(window)
        if between == "alarm":
            monitor.alarmed(4900, moment(4930))
        elif between == "restart":
            monitor.resume(5000)
        else:
            monitor.review(evidence(Purpose.DRIFT))
        assert isinstance(monitor.review(window), Wait), between
        assert isinstance(monitor.review(window), SearchEta)


@every_design
@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, Sharpen()),
        ({"step": np.array([0.0, -0.0565])}, Sharpen()),  # 4 √2 σ: 0.0566
        ({"step": np.array([0.0, -0.0567])}, Wait()),
        ({"step": np.array([0.0, 0.0567])}, Wait()),
        ({"step": np.array([0.0, 0.05]), "known": np.zeros(2)}, Wait()),
        ({"variance": 1.44}, Sharpen()),
        ({"variance": 1.45}, Wait()),
        ({"variance": 1.599, "signal": 1e5}, Sharpen()),
    ],
)
def test_eta_becomes_more_certain_where_it_has_not_moved(
    name: str, changes: dict[str, Any], wanted: Sharpen | Wait
) -> None:
    assert same(running(name).review(evidence(Purpose.SHARPEN, **changes)), wanted)


# --- the verdict


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, LearnTheta()),
        # nothing has changed: χ² of p = 4 parameters is 4 ± √8, and four deviations are allowed, of rows that overlap
        ({"unchanged": 15.31}, Restore()),
        ({"unchanged": 15.32}, LearnTheta()),
        ({"unchanged": 30.62, "usual": 2.0}, Restore()),
        ({"unchanged": 30.64, "usual": 2.0}, LearnTheta()),
        ({"unchanged": 45.9, "overlap": 3.0}, Restore()),
        ({"unchanged": 46.0, "overlap": 3.0}, LearnTheta()),
        ({"unchanged": 24.0, "parameters": 8}, Restore()),
        ({"unchanged": 24.1, "parameters": 8}, LearnTheta()),
        # how much another η would explain
        ({"gain": 8.99}, LearnTheta()),
        ({"gain": 9.0}, Wait()),
        ({"gain": 20.0}, Wait()),
        ({"gain": 20.01}, SearchEta("change", 4200, Before.CHANGE)),
        ({"gain": 20.01, "variance": 9.0}, SearchEta("change", 4200, Before.CHANGE)),
        ({"gain": 20.01, "first": 4210}, SearchEta("change", 4210, Before.CHANGE)),
        # whether the window tells η from θ
        ({"sigma": np.array([0.01, 0.06])}, LearnTheta()),
        ({"sigma": np.array([0.01, 0.061])}, Wait()),
        ({"sigma": np.array([0.08, 0.01]), "gain": 20.01}, SearchEta("change", 4200, Before.CHANGE)),
        ({"sigma": np.array([0.081, 0.01]), "gain": 20.01}, Wait()),
        # and the torque over the whole motion: 2.5 of a row's variance, or 1 % of the rms of y
        ({"reach": 2.5}, LearnTheta()),
        ({"reach": 2.51}, Wait()),
        ({"reach": 3.0, "signal": 3e4}, LearnTheta()),
        ({"reach": 3.01, "signal": 3e4}, Wait()),
        ({"reach": 3.0, "signal": 6e4, "usual": 2.0}, LearnTheta()),
        ({"reach": 3.01, "signal": 6e4, "usual": 2.0}, Wait()),
        # whether anything explains it: 1.2 times the usual residual, or 0.4 % of the rms of y
        ({"variance": 1.44}, LearnTheta()),
        ({"variance": 1.441}, Wait()),
        ({"variance": 1.599, "signal": 1e5}, LearnTheta()),
        ({"variance": 1.601, "signal": 1e5}, Wait()),
        # once a whole start's rows are there it is decided, however uncertain they are
        ({"rows": 1199, "sigma": np.ones(2), "reach": 99.0}, Wait()),
        ({"rows": 1200, "sigma": np.ones(2), "reach": 99.0}, LearnTheta()),
        ({"rows": 1200, "sigma": np.ones(2), "unchanged": 15.31}, Restore()),
        ({"rows": 1200, "gain": 20.0}, LearnTheta()),
        ({"rows": 1200, "variance": 1.441}, SearchEta("change", 4200, Before.CHANGE)),
    ],
)
def test_the_verdict_on_a_change(changes: dict[str, Any], wanted: Any) -> None:
    monitor = running("fast")
    monitor.alarmed(4200, moment(4230))
    assert same(monitor.review(evidence(Purpose.CHANGE, **changes)), wanted)


# --- after a restart of the program


@every_design
def test_after_a_restart_everything_begins_with_the_rows_that_come(name: str) -> None:
    monitor = running(name)
    monitor.alarmed(4200, moment(4230))
    monitor.rejected(Rejection(4200, 5100, True, NEEDED), True)
    monitor.resume(7000)
    assert monitor.onset == 7000
    assert monitor.period_due(7000)
    assert not monitor.period_due(6999)
    if name == "fast":
        assert isinstance(monitor.transient(moment(7099)), Wait)
        assert monitor.transient(moment(7100)) == WindowRequest(Purpose.CHANGE, 7000, Before.CHANGE, 20)
    else:
        assert isinstance(monitor.transient(moment(7100, moved=10, covered=False)), Wait)


@pytest.mark.parametrize("name", [*DESIGNS, "plain"])
def test_what_outlives_a_restart_goes_through_a_file(name: str) -> None:
    def made() -> Monitor:
        return PlainMonitor() if name == "plain" else DESIGNS[name](ROW)

    before, after = made(), made()
    before.started(3.0, 0, 1200)
    before.alarmed(4200, moment(4230))
    assert isinstance(before.transient(moment(5400, moved=1200, covered=False)), Recover) is (name != "fast")
    checkpoint.resume({"monitor": after}, checkpoint.keep({"monitor": before}))
    after.resume(7000)
    assert after.state == before.state
    if name != "fast":
        after.alarmed(7500, moment(7510))
        quiet = after.transient(moment(7600, variance=6.0, moved=100, same=True))
        assert isinstance(quiet, Recover), "twice the noise of the start"
        assert quiet.own is (name == "plain"), "the last transient ended 21 s ago"


# --- without nonlinear parameters


def plain(noise: float = 1.0) -> PlainMonitor:
    monitor = PlainMonitor()
    monitor.started(noise, 0, 1200)
    assert monitor.alarmed(4200, moment(4230)), "every alarm is of a change of its own"
    return monitor


@pytest.mark.parametrize("monitored", [plain])
@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, Recover("new values after 1.0 s of motion")),
        ({"elapsed": 0.29}, Wait()),
        ({"elapsed": 0.3}, Recover("new values after 1.0 s of motion")),
        ({"moved": 234}, Recover("new values after 2.3 s of motion")),
        ({"variance": 2.0}, Recover("new values after 1.0 s of motion")),
        ({"variance": 2.01}, Wait()),
        ({"covered": False}, Wait()),
        ({"covered": False, "moved": 1199}, Wait()),
        ({"covered": False, "moved": 1200}, Recover("new values; some lack excitation", usual=True)),
        (
            {"variance": 2.01, "moved": 1200},
            Recover("new values; the residual stays larger than before", usual=True),
        ),
        ({"same": True}, Recover("new values after 1.0 s of motion")),
    ],
)
def test_without_eta_new_values_count_once_they_are_covered_and_quiet_or_a_start_is_over(
    monitored: Any, changes: dict[str, Any], wanted: Any
) -> None:
    late = moment(4300, **{"moved": 100, "elapsed": 1.0} | changes)
    assert same(monitored().transient(late), wanted)


def test_a_residual_that_stays_is_the_new_usual_one_and_never_a_smaller() -> None:
    monitor = plain(noise=3.0)
    covered = {"moved": 100, "elapsed": 1.0}
    assert isinstance(monitor.transient(moment(4300, variance=6.01, **covered)), Wait)
    assert isinstance(monitor.transient(moment(5400, variance=9.0, level=5.0, moved=1200)), Recover)
    assert isinstance(monitor.transient(moment(5500, variance=10.0, **covered)), Recover), "twice 5"
    assert isinstance(monitor.transient(moment(5500, variance=10.01, **covered)), Wait)
    assert isinstance(monitor.transient(moment(6600, variance=9.0, level=1.0, moved=1200)), Recover)
    assert isinstance(monitor.transient(moment(6700, variance=10.0, **covered)), Recover)
    assert isinstance(monitor.transient(moment(6700, variance=10.01, **covered)), Wait)


@pytest.mark.parametrize("ended_by", [{}, {"covered": False, "moved": 1200}])
@pytest.mark.parametrize(("later", "soon"), [(2400, True), (2401, False)])
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("then", [{}, {"covered": False, "moved": 1200}])
def test_an_alarm_soon_after_a_transient_that_changes_nothing_is_the_joints_own(
    ended_by: dict[str, Any], later: int, soon: bool, same: bool, then: dict[str, Any]
) -> None:
    monitor = plain()
    first = monitor.transient(moment(4300, **{"moved": 100, "same": True} | ended_by))
    assert isinstance(first, Recover)
    assert not first.own, "no transient was before it"
    monitor.alarmed(4300 + later - 10, moment(4300 + later))
    again = monitor.transient(moment(9000, **{"moved": 100, "same": same} | then))
    assert isinstance(again, Recover)
    assert again.own is (soon and same)


def test_a_model_without_eta_has_nothing_else_to_decide() -> None:
    monitor = plain()
    assert monitor.settled
    assert monitor.onset == 0
    assert not monitor.period_due(1 << 30)
    due = monitor.due(False)
    assert due is not None
    assert due > 1e12, "rows: never"
    assert monitor.due(True) is None
    assert list(monitor.routine(moment())) == []
    assert isinstance(monitor.review(evidence(Purpose.DRIFT, **BENT)), Wait)
    assert isinstance(monitor.rejected(Rejection(0, 9000, False, NEEDED), True), Wait)


@every_design
def test_what_is_not_reported_is_no_decision(name: str) -> None:
    """Comparisons with numbers that are not there."""
    blind = evidence(Purpose.DRIFT, variance=math.nan, gain=math.nan, **BENT)
    monitor = running(name)
    assert isinstance(monitor.review(blind), Wait)
    assert isinstance(monitor.review(blind), Wait)
