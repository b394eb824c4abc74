"""What has fallen silent: its last words do not count from the first moment that this can be told, and why is said."""

from typing import Any

import pytest

from daq.core.process import STATUS_EVERY
from daq.outlet import history as module
from daq.outlet.history import History, JointLabel
from daq.outlet.server import WATCH_EVERY
from daq.processes.supervisor import REPORT_EVERY

NOW = 1000.0
LOST = 3.0 * STATUS_EVERY / 1e9  # s: two reports of the core may be lost, or late, without any harm
LATEST = 2.0 - WATCH_EVERY  # s: whoever looks is told within two seconds
ESTIMATE = {
    "timestamp": NOW, "phase": "normal", "parameters": {"inertia": 2.0}, "deviations": {"inertia": 0.1}, "error": 0.01,
    "forgetting": 1.0, "progress": 100.0, "health": {"status": "valid", "reasons": []}, "latency": 0.0, "boot": 1,
}  # fmt: skip
STATUS = {"timestamp": NOW, "drivers": {}, "joints": {"elbow": {"samples": 7}}}


@pytest.fixture
def history() -> History:
    """Core and supervisor have just said that all is well."""
    history = History("arm", [JointLabel("elbow", "N·m", {"inertia": "kg·m²"})])
    for topic, update in (
        ("estimate/elbow", ESTIMATE),
        ("status/core", STATUS),
        ("process/core", {"up": True, "cause": "", "restarts": 3, "pid": 77, "age": 0.1}),
        ("process/supervisor", {"up": True, "cause": "", "restarts": 2, "pid": 66, "age": 0.1}),
    ):
        history.absorb(topic, update, NOW)
    return history


def joint(told: dict[str, Any]) -> dict[str, Any]:
    state: dict[str, Any] = told["joints"]["elbow"]
    return state.get("state", state)


def test_the_first_silence_of_the_core_is_reported_within_two_seconds_and_none_that_a_lost_word_explains(
    history: History,
) -> None:
    assert history.stale(NOW + LOST) is None
    assert str(history.stale(NOW + LATEST + 0.01)) == "the core has sent nothing for 2 s"
    assert str(history.stale(NOW + 12.0)) == "the core has sent nothing for 12 s"
    history.absorb("status/core", STATUS, NOW + 12.0)
    assert history.stale(NOW + 12.0 + LOST) is None
    history.absorb("estimate/elbow", ESTIMATE, NOW + 14.0)
    assert history.stale(NOW + 12.0 + LATEST + 0.01), "what joints say is no word of the core on the whole"


def test_a_core_that_has_not_said_a_word_yet_is_not_silent() -> None:
    history = History("arm", [])
    assert history.stale(NOW) is None
    assert history.processes(NOW) == {}
    assert history.latest(NOW)["counted"] == 0.0, "no totals have come"


@pytest.mark.parametrize(
    ("cause", "words"), [("", "the core does not run"), ("exit code 1", "the core does not run: exit code 1")]
)
def test_a_core_that_its_supervisor_knows_to_be_dead_is_told_at_once(history: History, cause: str, words: str) -> None:
    history.absorb("process/core", {"up": False, "cause": cause, "restarts": 3, "pid": 0}, NOW)
    assert str(history.stale(NOW)) == words


def test_of_a_silent_core_every_joint_is_faulted_with_the_reason_and_keeps_its_values(history: History) -> None:
    late = NOW + 5.0
    for told in (history.latest(late), history.snapshot(late), history.tick(late)):
        state = joint(told)
        assert state["phase"] == "faulted"
        [reason] = state["health"]["reasons"]
        assert (state["health"]["status"], reason["code"]) == ("faulted", "core_silent")
        assert reason["text"] == "the core has sent nothing for 5 s"
        assert reason["todo"].startswith("Wait some seconds.")
        assert state["timestamp"] == NOW
    assert history.latest(late)["joints"]["elbow"]["parameters"]["inertia"]["value"] == 2.0
    for told in (history.latest(NOW + 1.0), history.snapshot(NOW + 1.0), history.tick(NOW + 1.0)):
        assert joint(told)["health"]["status"] == "valid", "what it said itself is not changed"


def test_of_a_joint_that_has_said_nothing_nothing_is_said() -> None:
    history = History("arm", [JointLabel("elbow", "N·m", {})])
    history.absorb("status/core", STATUS, NOW)
    assert history.snapshot(NOW + 5.0)["joints"]["elbow"]["state"] == {}


def test_a_silent_core_has_no_values_for_a_baseline(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.time, "time", lambda: NOW + LOST)
    standing = history.current_values("elbow")
    assert standing is not None
    assert (standing.time, standing.status, standing.values) == (NOW, "valid", {"inertia": 2.0})
    assert standing.deviations == {"inertia": 0.1}
    assert history.current_values("nobody") is None
    monkeypatch.setattr(module.time, "time", lambda: NOW + LATEST + 0.01)
    assert history.current_values("elbow") is None


def test_of_a_silent_supervisor_it_is_told_that_it_is_not_up_and_of_the_others_what_it_said(history: History) -> None:
    assert 3.0 * REPORT_EVERY <= LOST
    before = history.processes(NOW + LOST)
    assert [one["up"] for one in before.values()] == [True, True]
    after = history.processes(NOW + LATEST + 0.01)
    assert after["core"] == before["core"]
    assert after["supervisor"] == {
        "up": False, "restarts": 2, "pid": 66, "age": pytest.approx(LATEST + 0.01),
        "cause": "no word from it for 2 s: its reports on the others are out of date",
    }  # fmt: skip
    assert before["supervisor"]["up"], "what it said itself is not changed"
    for told in (history.latest(NOW + 9.0), history.snapshot(NOW + 9.0), history.tick(NOW + 9.0)):
        assert told["processes"]["supervisor"]["age"] == pytest.approx(9.0)


def test_a_supervisor_that_never_named_itself_is_told_of_as_well() -> None:
    history = History("arm", [])
    history.absorb("process/core", {"up": True, "cause": "", "restarts": 0, "pid": 1}, NOW)
    told = history.processes(NOW + 30.0)["supervisor"]
    assert (told["up"], told["restarts"], told["pid"]) == (False, 0, 0)


def test_a_recorder_whose_disk_stands_still_is_not_up(history: History) -> None:
    """It reports every second; three in a row are not by chance."""
    assert history.latest(NOW)["recorder"] == {}, "nothing is recorded"
    said = {"timestamp": NOW, "up": True, "cause": "", "bytes": 9}
    history.absorb("recorder/status", said, NOW)
    for told in (history.latest(NOW + 2.9), history.snapshot(NOW + 2.9), history.tick(NOW + 2.9)):
        assert told["recorder"] == said
    for told in (history.latest(NOW + 4.0), history.snapshot(NOW + 4.0), history.tick(NOW + 4.0)):
        assert told["recorder"] == said | {"up": False, "cause": "no word from the recorder for 4 s"}


def test_what_the_core_says_of_its_refit_worker_is_no_word_of_the_supervisor(history: History) -> None:
    worker = {"up": True, "cause": "", "restarts": 0, "pid": 9, "age": 0.0}
    for at in range(10):
        history.absorb("process/refits", worker, NOW + at)
    told = history.processes(NOW + 9.0)
    assert told["refits"] == worker
    assert not told["supervisor"]["up"]
