"""Every start and every monitor × every rule: decides on numbers, nothing twice, waits when blind, for any cut."""

import copy
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from estimators.base import UNKNOWN
from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.online import assembly
from estimators.online.monitor import DESIGNS
from estimators.online.monitor.base import (
    Before,
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
from estimators.online.phases import Phases
from estimators.online.start.base import Start
from estimators.online.start.base import StartWait as More
from estimators.quantities import Parameter
from estimators.recursive.forgetting import Alarm
from estimators.refit import settings
from estimators.rows import Rows

ROW = 0.01  # s
MONITORS: dict[str, Callable[[], Monitor]] = {"plain": PlainMonitor} | {
    name: lambda design=design: design(ROW) for name, design in DESIGNS.items()
}
PATIENT = sorted(MONITORS.keys() - {"paper"})  # the published one follows no change up: test_paper.py
WITH_ETA = sorted(DESIGNS.keys() - {"paper"})
DECISIONS = (Wait, Recover, Restore, LearnTheta, SearchEta, GiveUp, Sharpen)

every_monitor = pytest.mark.parametrize("name", sorted(MONITORS))


def moment(**changes: Any) -> Moment:
    """A quiet one in normal mode, 50 s after a start of 12 s, with a motion of 8 s."""
    quiet = Moment(
        row=ROW,
        block=10,
        now=5000,
        span=800,
        needed=1200.0,
        capacity=6400,
        searching=False,
        suspicious=False,
        basis=1200,
        moved=3800,
        elapsed=1e9,
        variance=1.0,
        level=1.0,
        covered=True,
    )
    return quiet._replace(**changes)


def evidence(purpose: Purpose, **changes: Any) -> Evidence:
    """A window that η in force explains, and that covers the motion."""
    explained = Evidence(
        purpose=purpose,
        first=4200,
        now=5000,
        rows=800,
        needed=1200.0,
        span=800,
        usual=1.0,
        overlap=1.0,
        variance=1.0,
        signal=1e4,
        unchanged=100.0,
        gain=1.0,
        reach=0.1,
        step=np.zeros(2),
        sigma=np.full(2, 0.01),
        known=np.full(2, 0.01),
        parameters=4,
    )
    return explained._replace(**changes)


def running(name: str) -> Monitor:
    monitor = MONITORS[name]()
    monitor.started(1.0, 0, 1200)
    return monitor


def alarmed(name: str, **changes: Any) -> Monitor:
    monitor = running(name)
    monitor.alarmed(4200, moment(**changes))
    return monitor


def state(monitor: Monitor) -> str:
    """All that a monitor remembers."""
    parts = [monitor, *(vars(monitor)[part] for part in ("change", "drift", "plain") if part in vars(monitor))]
    return str(
        [{key: str(value) for key, value in vars(one).items() if "object at" not in str(value)} for one in parts]
    )


# windows that a monitor requests about a quiet moment, one after the other
QUIET: dict[str, list[Purpose]] = {
    "paper": [],
    "fast": [Purpose.SHARPEN, Purpose.DRIFT],
    "plain": [],  # it has no η that could be wrong
}


@every_monitor
def test_it_is_quiet_about_a_quiet_moment(name: str) -> None:
    monitor = running(name)
    decisions: list[object] = []
    asked = []
    for look in monitor.routine(moment()):
        assert isinstance(look, WindowRequest), "nothing is decided without a look"
        asked.append(look.purpose)
        decisions.append(monitor.review(evidence(look.purpose, first=look.first)))
    assert asked == QUIET[name]
    for decision in decisions:
        assert isinstance(decision, (Wait, Sharpen)), "an η that holds may become more certain, and no more"


@every_monitor
@pytest.mark.parametrize("gain", [0.0, 1e3])
@pytest.mark.parametrize("variance", [1.0, 1e3])
@pytest.mark.parametrize("sigma", [0.001, 10.0])
def test_the_same_numbers_give_the_same_decision(name: str, gain: float, variance: float, sigma: float) -> None:
    for purpose in Purpose:
        seen = evidence(purpose, gain=gain, variance=variance, sigma=np.full(2, sigma), step=np.full(2, 0.2))
        twins = [alarmed(name), alarmed(name)]
        first, second = (twin.review(seen) for twin in twins)
        assert isinstance(first, DECISIONS)
        assert first == second
        assert state(twins[0]) == state(twins[1])


@every_monitor
def test_it_decides_nothing_twice_at_one_moment(name: str) -> None:
    monitor = running(name)
    asked = [one.purpose if isinstance(one, WindowRequest) else one for one in monitor.routine(moment())]
    assert len(asked) == len(set(asked))
    assert list(monitor.routine(moment())) == [], "the next look is later"
    later = moment(now=moment().now + round(1.0 / ROW))
    assert bool(list(monitor.routine(later))) is (name not in ("plain", "paper"))


@every_monitor
def test_it_waits_while_a_refit_is_under_way(name: str) -> None:
    monitor = alarmed(name)
    busy = moment(searching=True, now=9000, elapsed=0.1)
    assert name == "paper" or isinstance(monitor.transient(busy._replace(moved=10)), Wait)
    assert list(monitor.routine(busy)) == []
    assert monitor.due(True) is None, "and looks at every block, for it may end"


@pytest.mark.parametrize("name", PATIENT)
def test_it_waits_while_the_window_is_too_short_to_tell(name: str) -> None:
    monitor = alarmed(name)
    assert isinstance(monitor.transient(moment(now=4250, moved=50, elapsed=0.1)), Wait)
    if name == "fast":
        blind = {"sigma": np.full(2, 10.0), "reach": 1e6, "signal": 1.0, "gain": 0.0}
        assert isinstance(monitor.review(evidence(Purpose.CHANGE, rows=200, **blind)), Wait)


@every_monitor
def test_a_transient_ends_after_all(name: str) -> None:
    """When a whole start's motion has passed, whatever the residual does."""
    for variance, covered in product((1.0, 1e6), (False, True)):
        monitor = alarmed(name)
        late = moment(now=6000, moved=1800, elapsed=18.0, variance=variance, level=variance, covered=covered)
        asked = monitor.transient(late)
        if isinstance(asked, WindowRequest):
            seen = evidence(asked.purpose, rows=1800, variance=variance, now=6000)
            asked = monitor.review(seen)
        if isinstance(asked, SearchEta):
            monitor.accepted(asked.purpose, asked.first, late)
            assert not monitor.settled, "an η from a short window is confirmed"
            assert monitor.onset == asked.first
        else:
            assert isinstance(asked, (Recover, Restore, LearnTheta)), (variance, covered)


def test_the_fast_verdict_by_table() -> None:
    """What a covered window says; figures beside the limits on either side."""
    table: list[tuple[dict[str, Any], type]] = [
        ({}, LearnTheta),
        ({"unchanged": 4.0}, Restore),
        ({"gain": 20.1}, SearchEta),
        ({"gain": 19.9}, Wait),
        ({"gain": 9.1}, Wait),
        ({"gain": 8.9}, LearnTheta),
        ({"variance": 2.0, "signal": 1.0}, Wait),
        ({"variance": 2.0, "signal": 1.0, "rows": 1200}, SearchEta),
        ({"sigma": np.full(2, 0.07)}, Wait),
        ({"sigma": np.full(2, 0.059)}, LearnTheta),
        ({"reach": 2.6, "signal": 1.0}, Wait),
        ({"reach": 2.6, "signal": 1e6}, LearnTheta),
        ({"rows": 1200, "sigma": np.full(2, 1.0)}, LearnTheta),
    ]
    for changes, wanted in table:
        decision = alarmed("fast").review(evidence(Purpose.CHANGE, **changes))
        assert type(decision) is wanted, (changes, decision)
        if isinstance(decision, SearchEta):
            assert (decision.first, decision.before) == (4200, Before.CHANGE)


@pytest.mark.parametrize("name", WITH_ETA)
def test_drift_is_searched_after_two_significant_looks_in_a_row(name: str) -> None:
    bent = evidence(Purpose.DRIFT, step=np.array([0.0, 0.2]))
    straight = evidence(Purpose.DRIFT)
    monitor = running(name)
    assert isinstance(monitor.review(bent), Wait)
    assert isinstance(monitor.review(straight), Wait)
    assert isinstance(monitor.review(bent), Wait)
    found = monitor.review(bent)
    assert found == SearchEta("drift", 4200, Before.NOW, (1,))
    assert isinstance(monitor.review(bent), Wait), "and not again at once"
    unsure = evidence(Purpose.DRIFT, step=np.array([0.0, 0.2]), sigma=np.full(2, 0.2))
    assert isinstance(monitor.review(unsure), Wait)
    assert isinstance(monitor.review(unsure), Wait), "what is not certain is no drift"


@pytest.mark.parametrize("name", WITH_ETA)
def test_a_refit_is_confirmed_a_period_later_and_once(name: str) -> None:
    monitor = running(name)
    monitor.accepted("change", 4500, moment())
    assert not monitor.settled
    soon, later = moment(now=5100), moment(now=5000 + round(1.6 * 800))
    assert not [one for one in monitor.routine(soon) if isinstance(one, SearchEta)]
    assert list(monitor.routine(later)) == [SearchEta("confirmation", max(4500, later.now - 1600), Before.NOW)]
    assert monitor.settled
    monitor.accepted("confirmation", 4500, later)
    assert monitor.settled


@pytest.mark.parametrize("name", WITH_ETA)
def test_a_rejected_refit_wants_more_motion_and_less_of_its_beginning_then_gives_up(name: str) -> None:
    monitor = alarmed(name)
    assert isinstance(monitor.rejected(Rejection(4200, 4600, True, 1200.0), True), Wait)
    assert monitor.onset == 4200, "the window explains its rows: they stay"
    assert isinstance(monitor.rejected(Rejection(4200, 4800, False, 1200.0), True), Wait)
    assert monitor.onset == 4200 + round(0.15 * 600)
    assert isinstance(monitor.rejected(Rejection(4290, 5490, True, 1200.0), True), Wait), "a doubt has two starts"
    assert monitor.rejected(Rejection(4290, 6690, True, 1200.0), True) == GiveUp(4290)
    before = state(monitor)
    assert isinstance(monitor.rejected(Rejection(0, 9000, False, 1200.0), False), Wait)
    assert state(monitor) == before, "without an alarm nothing is at stake"


@every_monitor
def test_after_a_restart_of_the_program_nothing_points_to_rows_that_are_not_there(name: str) -> None:
    monitor = alarmed(name)
    monitor.resume(7000)
    assert monitor.onset in (0, 7000)
    looks = [one for one in monitor.routine(moment(now=7100)) if isinstance(one, WindowRequest)]
    assert all(one.first >= 7000 for one in looks)


# --- starts


def moving(seconds: float, seed: int = 0) -> Rows:
    """Rows of viscous and Coulomb friction with a smooth reversal: two columns, one output."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds / ROW)) * ROW
    v = np.sin(2 * np.pi * t / 3.0) + 0.3 * np.sin(2 * np.pi * t / 0.7)
    model = FrictionOnlySettings().build()
    p = len(model.parameters)
    phi = np.stack([np.tanh(v / 0.05), v * np.exp(-np.abs(v) / 0.14), v, np.cumsum(v) * ROW], axis=1)[:, None, :p]
    y = phi @ (25.0, 590.0, 76.0, 40.0) + 0.5 * rng.standard_normal((len(t), 1))
    samples = np.stack([v, np.cumsum(v) * ROW, y[:, 0]], axis=1)[:, None, :, None]
    return Rows(np.round(t * 1e9).astype(np.int64), phi, y, np.abs(v)[:, None], samples)


def linear() -> Phases:
    parameters = tuple(Parameter(name, "N·m", -np.inf, np.inf, "") for name in "abcd")
    return assembly.linear(parameters, (0,), ROW, Alarm(), 4.0, 0.001)


def searched() -> Phases:
    model = FrictionOnlySettings().build()
    return assembly.searched(model, np.ones(1), 1, ROW, Alarm(), 4.0, 0.001, settings.MonitorSettings())


every_start = pytest.mark.parametrize("build", [linear, searched])


@every_start
def test_a_start_waits_when_blind(build: Callable[[], Phases]) -> None:
    start: Start = build().parts.start
    rows = moving(0.3)
    assert start.absorb(rows) == 0
    assert not start.begin(), "less than half a second"
    assert start.spectrum == UNKNOWN
    rows.y[:] = np.nan
    assert start.absorb(rows) == len(rows.time), "refused, all of them"
    assert not start.begin()


@every_start
def test_a_start_ends_for_any_cut_at_the_same_row_with_the_same_numbers(build: Callable[[], Phases]) -> None:
    outcomes = set()
    for step in (1, 13, 1000):
        phases, rows = build(), moving(9.0)
        for first in range(0, len(rows.time), step):
            phases.absorb(copy.deepcopy(rows.part(slice(first, first + step))))
        (started,) = [event for event in phases.events() if event.kind == "started"]
        estimate = phases.estimate()
        outcomes.add((started, estimate.values.tobytes(), estimate.deviations.tobytes()))
    assert len(outcomes) == 1


@every_start
def test_a_start_that_begins_anew_has_forgotten_everything(build: Callable[[], Phases]) -> None:
    phases, fresh = build(), build()
    phases.absorb(moving(3.0))
    assert phases.parts.start.spectrum != UNKNOWN
    assert isinstance(phases.parts.start.verdict(False), More)
    phases.parts.start.restart()
    phases.parts.motion.restart()
    assert phases.parts.start.spectrum == UNKNOWN
    assert phases.parts.motion.state == fresh.parts.motion.state
    assert not phases.parts.start.begin(), "no row is left"
