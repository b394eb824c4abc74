"""What a page is told of the whole robot: torques that nothing explains with their signs, payload, friction, drift."""

from typing import Any

import numpy as np
import pytest

from daq.core.robot_pipeline import parameters_body, robot_body
from daq.outlet.history import History
from daq.outlet.robot_history import PAYLOAD, RATE, MechanismHistory, RobotHistory
from daq.stream.reasons import as_maps, with_todo
from estimators.base import Phase, Status
from estimators.online.robot.estimate import Friction, RobotEstimate
from estimators.online.robot.findings.carried import Payload
from estimators.reasons import Reason

NAMES = ("base", "elbow")
UNITS = ("N·m", "N")
DRIFT = {"since": 3.0, "drifted": ["elbow.slow"], "percent": {"elbow.slow": 20.0}, "z": {"elbow.slow": 6.0}}


def update(time: float = 9.0, measured: float = 5.0, names: tuple[str, ...] = NAMES) -> dict[str, Any]:
    """2.01 ± 0.03 kg are carried; the elbow's measured torque is 6 N below what the model predicts."""
    n = len(names)
    torque = (np.array([measured, 3.0])[:n], np.array([4.5, 9.0])[:n], np.full(n, 0.2), np.full(n, 1.0))
    payload = Payload(2.01, 0.03, np.array([0.01, 0.0, 0.08]), np.full(3, 0.004), True)
    found = RobotEstimate(
        0, Phase.NORMAL, Status.VALID, (), *torque, (False, True)[:n], payload, 100.0, np.full(n, np.nan)
    )
    return {"timestamp": time, "seq": 0, "boot": 1} | robot_body(found, names, UNITS[:n])


def parameters() -> dict[str, Any]:
    friction = Friction(np.array([[0.1, 0.8], [0.2, 0.9]]), np.array([[1.0, 2.0], [3.0, 4.0]]), np.full((2, 2), 0.05))
    body = parameters_body(("mass.base",), np.array([3.0]), np.array([0.1]), NAMES, friction)
    return {"timestamp": 9.0} | body | {"learnt": 7, "compensation": {}}


def rows(packed: bytes, joints: int = 2) -> np.ndarray:
    return np.frombuffer(packed, "<f4").reshape(-1, PAYLOAD + joints)


def told(*updates: tuple[str, dict[str, Any]]) -> RobotHistory:
    history = RobotHistory()
    for name, one in updates:
        history.absorb(name, one, 10.0)
    return history


def test_a_row_is_time_mass_its_deviation_and_each_joints_residual_with_its_sign() -> None:
    [row] = rows(told(("", update())).message(8.5, None, whole=True)["rows"])
    np.testing.assert_allclose(row, [0.5, 2.01, 0.03, 0.5, -6.0], rtol=1e-6)


def test_a_residual_is_compared_with_the_threshold_of_its_own_instant_for_ten_seconds() -> None:
    """The base turns around at 20.5 s, where 6 N·m are within a threshold of 8; the usual one is 1."""
    history = RobotHistory()
    for time, measured, threshold in ((20.0, 5.1, 1.0), (20.5, 10.5, 8.0), (21.0, 4.9, 1.0), (30.9, 4.6, 2.0)):
        one = update(time, measured)
        one["joints"]["base"]["threshold"] = threshold
        history.absorb("", one, time)
        base = history.latest(None)["joints"]["base"]
        if time == 21.0:
            assert (base["largest_share"], base["usual_threshold"]) == (pytest.approx(6.0 / 8.0), 1.0)
    for second in range(31, 42):
        history.absorb("", update(float(second), 4.6), float(second))
    base = history.latest(None)["joints"]["base"]
    assert base["largest_share"] == pytest.approx(0.1), "what is older is forgotten"
    nothing = update()
    nothing["joints"]["base"]["threshold"] = float("nan")
    assert "largest_share" not in told(("", nothing)).latest(None)["joints"]["base"], "no threshold stands yet"


def test_the_newest_is_reported_in_words_and_numbers() -> None:
    found = told(("", update()), ("parameters", parameters())).latest(None)
    assert (found["timestamp"], found["received"], found["phase"], found["progress"]) == (9.0, 10.0, "normal", 100.0)
    assert found["health"] == {"status": "valid", "reasons": []}
    assert (found["payload"]["mass"], found["payload"]["mass_deviation"], found["payload"]["carried"]) == (
        2.01,
        0.03,
        True,
    )
    assert (found["joints"]["elbow"]["residual"], found["joints"]["elbow"]["contact"]) == (-6.0, True)
    assert (found["joints"]["base"]["residual"], found["joints"]["base"]["contact"]) == (0.5, False)
    assert found["friction"]["elbow"] == {"speeds": [0.2, 0.9], "torques": [3.0, 4.0], "deviations": [0.05, 0.05]}
    assert (found["learnt"], found["drift"]) == (7, {})


DOWN = Reason("core_down", words={"cause": ""})


def test_of_a_silent_core_it_is_faulted_with_the_reason() -> None:
    history = told(("", update()))
    found = history.latest(DOWN)
    assert (found["phase"], found["health"]) == (
        "faulted", {"status": "faulted", "reasons": with_todo(as_maps([DOWN]))},
    )  # fmt: skip
    assert history.message(9.0, DOWN, whole=False)["state"]["phase"] == "faulted"
    assert (found["friction"], found["learnt"]) == ({}, 0), "no parameters have come yet"
    assert history.latest(None)["phase"] == "normal"


def test_without_a_model_of_the_whole_robot_nothing_is_reported() -> None:
    for history in (told(), told(("parameters", parameters()))):
        nothing = history.latest("silent"), history.message(0.0, None, whole=True), history.current_values()
        assert nothing == ({}, {}, None)
    assert told(("", update())).current_values() is None, "nothing of its friction is known"


def test_a_piece_has_what_came_since_the_last_and_a_snapshot_all() -> None:
    history = told(*(("", update(9.0 + k / RATE, 5.0 + k)) for k in range(3)))
    assert rows(history.message(9.0, None, whole=False)["rows"])[:, PAYLOAD].tolist() == [0.5, 1.5, 2.5]
    history.absorb("", update(9.0 + 3 / RATE, 8.0), 10.0)
    assert rows(history.message(9.0, None, whole=False)["rows"])[:, PAYLOAD].tolist() == [3.5]
    history.absorb("", update(9.0 + 4 / RATE, 9.0), 10.0)
    history.skip()
    assert history.message(9.0, None, whole=False)["rows"] == b""
    assert len(rows(history.message(9.0, None, whole=True)["rows"])) == 5


def test_joints_that_are_others_than_before_begin_another_trace_and_a_page_is_told() -> None:
    history = RobotHistory()
    news = [history.absorb("", update(9.0 + k, names=names), 10.0) for k, names in enumerate((NAMES, NAMES, NAMES[:1]))]
    assert news == [True, False, True]
    assert rows(history.message(9.0, None, whole=True)["rows"], joints=1)[:, 0].tolist() == [2.0]
    assert not history.absorb("parameters", parameters(), 10.0)


def test_what_may_drift_is_each_joints_friction_at_two_speeds() -> None:
    found = told(("", update(11.0)), ("parameters", parameters())).current_values()
    assert found is not None
    assert (found.time, found.status, found.reasons) == (11.0, "valid", [])
    assert found.values == {"base.slow": 1.0, "base.fast": 2.0, "elbow.slow": 3.0, "elbow.fast": 4.0}
    assert found.deviations == dict.fromkeys(found.values, 0.05)
    assert found.friction == {"speeds": {"base": [0.1, 0.8], "elbow": [0.2, 0.9]}}


def test_the_robot_is_one_part_of_the_whole_history(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("daq.outlet.history.time.time", lambda: 10.0)
    history = History("arm", [])
    before = history.layout
    for topic, one in (("robot", update()), ("robot/parameters", parameters()), ("drift/robot", DRIFT)):
        history.absorb(topic, one, 10.0)
    assert history.layout == before + 1
    assert history.latest(10.0)["whole"]["drift"] == DRIFT | {"cause": ""}
    assert history.latest(10.0)["joints"] == {}, "it is no joint"
    standing = history.current_values("robot")
    assert standing is not None
    assert standing.values["elbow.fast"] == 4.0
    assert len(rows(history.tick(10.0)["whole"]["rows"])) == 1
    assert history.tick(10.0)["whole"]["rows"] == b""
    assert len(rows(history.snapshot(10.0)["whole"]["rows"])) == 1
    history.absorb("event/robot", {"timestamp": 9.0, "joint": "robot", "kind": "baseline", "text": ""}, 10.0)
    assert history.latest(10.0)["whole"]["drift"] == {}, "another baseline: what was told of the last one is over"
    history.absorb("status/core", {"timestamp": 10.0, "drivers": {}, "joints": {}}, 1.0)
    assert history.current_values("robot") is None
    assert history.snapshot(10.0)["whole"]["state"]["phase"] == "faulted"


def test_a_mechanism_is_reported_with_its_drives_residuals_and_faulted_while_the_core_is_silent() -> None:
    silent, history = Reason("core_silent", None, {"seconds": 9.0}), MechanismHistory()
    assert history.message(0.0, None, whole=True) == {}
    assert history.latest(silent) == {}
    health = {"status": "valid", "reasons": []}
    one = {"timestamp": 9.0, "phase": "normal", "health": health, "progress": 100.0, "joints": {"tip": {"radial": 7.0}}}
    drives = {"crank": {"residual": -1.5}, "slide": {"residual": 4.0}}
    assert history.absorb(one | {"drives": drives}, 10.0), "a page needs another layout"
    assert not history.absorb(one | {"timestamp": 10.0, "drives": drives}, 11.0)
    told = history.message(8.0, None, whole=True)
    np.testing.assert_allclose(np.frombuffer(told["rows"], "<f4").reshape(-1, 3), [[1.0, -1.5, 4.0], [2.0, -1.5, 4.0]])
    assert told["state"] == one | {"timestamp": 10.0, "drives": drives, "received": 11.0}
    history.message(8.0, None, whole=False)
    history.absorb(one | {"timestamp": 11.0, "drives": drives}, 12.0)
    history.skip()
    assert history.message(8.0, None, whole=False)["rows"] == b""
    latest = history.latest(silent)
    assert (latest["phase"], latest["health"]["status"]) == ("faulted", "faulted")
    assert latest["health"]["reasons"] == with_todo(as_maps([silent]))
    assert (latest["drives"], history.latest(None)["phase"]) == (drives, "normal")
