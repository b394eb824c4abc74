"""The table's own rules, how totals are followed, and what Prometheus's own checker says."""

import re
import shutil
import subprocess
from collections.abc import Callable

import msgpack
import numpy as np
import pytest
from prometheus_client import Counter, Histogram
from prometheus_client.parser import text_string_to_metric_families

from daq.core.robot_pipeline import parameters_body, robot_body
from daq.outlet.metrics import GAUGED, LATENCY_BUCKETS, TABLE, Metric, Metrics
from daq.stream.update import EVENTS, Publication
from estimators.base import Estimate, Phase, Status
from estimators.online.robot.estimate import Friction, RobotEstimate
from estimators.online.robot.findings.carried import Payload

UNITS = {"elbow": {"inertia": "kg·m²", "viscous": "N·m·s/rad"}}
LABELS = {
    "share",
    "joint",
    "cause",
    "channel",
    "driver",
    "gateway",
    "parameter",
    "unit",
    "phase",
    "status",
    "process",
    "kind",
    "version",
    "python",
}


@pytest.mark.parametrize("metric", TABLE, ids=lambda metric: metric.name)
def test_every_metric_keeps_the_rules(metric: Metric) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", metric.name)
    assert metric.name.endswith("_total") == (metric.kind is Counter)
    assert metric.name.endswith("_seconds") == (metric.unit == "s"), "base units, named"
    assert metric.help.endswith(".")
    assert set(metric.labels) <= LABELS, "a new label needs a thought about how many values it can take"


def test_no_metric_stands_twice() -> None:
    names = [metric.name for metric in TABLE]
    assert len(names) == len(set(names))


def scrape(metrics: Metrics) -> dict[str, float]:
    text = metrics.exposition("")[0].decode()
    return {
        sample.name.removeprefix("jointwatch_") + "".join(f",{value}" for _, value in sorted(sample.labels.items())): (
            sample.value
        )
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def status(boot: int, samples: int, lost: int, decoded: int = 100, errors: int = 0) -> dict[str, object]:
    return {
        "timestamp": 1.0,
        "boot": boot,
        "malformed": 1,
        "joints": {"elbow": {"samples": samples, "updates": samples // 20, "lost": {"late": lost},
                             "interpolated": 7, "estimator": {"refits_accepted": samples // 500}}},
        "drivers": {
            "can0": {"up": True, "cause": "", "readings": samples, "lost": lost, "restarts": 0,
                     "counters": {"frames": decoded, "bad_crc": errors, "own_frames": 5, "restamped": 3,
                                  "busy_us": 1_500_000}},
        },
    }  # fmt: skip


def absorb_estimate(metrics: Metrics, estimate: Estimate, publication: Publication | None = None) -> None:
    publication = publication or Publication("r", "elbow", 1, "N·m")
    topic, payload = publication.estimate(estimate, 1e9, 1e9, 3e-4)
    metrics.absorb(topic.decode(), msgpack.unpackb(payload))


def the_whole_robot() -> list[tuple[str, dict[str, object]]]:
    """The shoulder is touched and 2 kg are carried."""
    payload = Payload(2.01, 0.03, np.array([0.01, 0.0, 0.08]), np.full(3, 0.004), True)
    state = (Phase.TRANSIENT, Status.VALID, ())
    torque = (np.array([5.0, 9.0]), np.array([5.5, 6.0]), np.full(2, 0.2), np.full(2, 1.0), (False, True))
    found = RobotEstimate(0, *state, *torque, payload, 100.0, np.full(2, np.nan))
    head = {"timestamp": 9.0, "seq": 0, "boot": 1}
    friction = Friction(np.full((2, 2), 0.5), np.array([[1.0, 2.0], [3.0, 4.0]]), np.full((2, 2), 0.1))
    names = ("elbow", "shoulder")
    told = head | parameters_body(("mass",), np.array([3.0]), np.array([0.1]), names, friction)
    return [
        ("robot", head | robot_body(found, names, ("N·m", "N·m"))),
        ("robot/parameters", told | {"learnt": 7, "compensation": {"elbow": {"on": True, "ratio": 0.6}}}),
        ("event/robot", head | {"joint": "robot", "kind": "contact", "text": ""}),
    ]


def filled(make_estimate: Callable[..., Estimate]) -> Metrics:
    metrics = Metrics(UNITS)
    absorb_estimate(metrics, make_estimate())
    metrics.absorb("status/core", status(1, 1000, 3, errors=2))
    metrics.absorb("process/core", {"boot": 7, "name": "core", "up": True, "restarts": 1, "pid": 1, "cause": ""})
    metrics.absorb("event/elbow", {"joint": "elbow", "kind": "alarm", "text": "", "seq": 0, "boot": 1})
    drift = {"since": 9.0, "percent": {"inertia": 12.0, "viscous": -3.0}, "z": {"inertia": 7.0, "viscous": -1.0}}
    metrics.absorb("drift/elbow", drift | {"drifted": ["inertia"], "joint": "elbow", "seq": 0, "boot": 1})
    record = {"parameter": "inertia", "percent": 12.0, "acknowledged": 0.0}
    seen = {"parameter": "viscous", "percent": -3.0, "acknowledged": 8.0}
    metrics.absorb("change/elbow", {"records": [record, seen], "joint": "elbow", "seq": 0, "boot": 1})
    numbers = {"parameters": {"lost_motion": 15e-5}, "deviations": {"lost_motion": 2e-6}}
    gear = {"known": True, "reversals": 12, "grown": False, "joint": "elbow", "seq": 0, "boot": 1}
    metrics.absorb("lost_motion/elbow", numbers | gear)
    worn = {"wear": 0.09, "deviation": 0.02, "told": True, "left": [30.0, 41.0, 55.0]}
    metrics.absorb("wear/elbow", worn | {"joint": "elbow", "seq": 0, "boot": 1})
    bearing = {"clearance": 5e-5, "deviation": 5e-7, "known": True, "grown": False, "seq": 0, "boot": 1}
    metrics.absorb("clearance/elbow", bearing)
    crank = {
        "residual": 0.5,
        "threshold": 2.0,
        "contact": False,
        "friction_ratio": 1.4,
        "friction_ratio_deviation": 0.1,
    }
    looped = {"drives": {"crank": crank}, "joints": {"tip": {"radial": 12.0}}, "seq": 0, "boot": 1}
    metrics.absorb("mechanism", looped)
    for topic, update in the_whole_robot():
        metrics.absorb(topic, update)
    metrics.absorb("gateway/view", {"start": 1, "clients": 2, "sent": 5, "dropped": 1, "missed": 0})
    metrics.page(2, 5)
    metrics.malformed(1)
    metrics.notified({"webhook": {"sent": 3, "retried": 2, "dropped_refused": 1}})
    return metrics


def test_every_metric_of_the_table_is_fed(make_estimate: Callable[..., Estimate]) -> None:
    values = filled(make_estimate)
    text = values.exposition("")[0].decode()
    for metric in TABLE:
        suffix = "_count" if metric.kind is Histogram else ""
        assert re.search(rf"^jointwatch_{metric.name}{suffix}[{{ ]", text, re.MULTILINE), metric.name


def test_the_whole_robot_is_reported(make_estimate: Callable[..., Estimate]) -> None:
    metrics = filled(make_estimate)
    values = scrape(metrics)
    assert (values["robot_residual,shoulder"], values["robot_residual_threshold,shoulder"]) == (3.0, 1.0)
    assert (values["robot_contact,elbow"], values["robot_contact,shoulder"]) == (0, 1)
    assert values["robot_compensation_ratio,elbow"] == 0.6
    assert (values["robot_residual,elbow"], values["robot_compensation_used,elbow"]) == (-0.5, 1)
    assert (values["robot_payload_carried"], values["robot_payload_mass"]) == (1, 2.01)
    assert values["robot_payload_mass_deviation"] == 0.03
    assert (values["parameter_value,robot,elbow.slow"], values["parameter_deviation,robot,elbow.slow"]) == (1.0, 0.1)
    assert (values["update_timestamp_seconds,robot"], values["startup_progress_ratio,robot"]) == (9.0, 1.0)
    assert (values["parameter_value,robot,shoulder.slow"], values["parameter_value,robot,shoulder.fast"]) == (3.0, 4.0)
    assert (values["events_total,robot,contact"], values["events_total,robot,payload"]) == (1, 0)
    assert (values["robot_blocks_total"], values["health,robot,valid"]) == (7, 1)
    metrics.stale({}, core_away=True)
    assert scrape(metrics)["health,robot,faulted"] == 1


def test_what_has_changed_is_open_until_it_is_acknowledged(make_estimate: Callable[..., Estimate]) -> None:
    values = scrape(filled(make_estimate))
    assert (values["change_open,elbow,inertia"], values["change_open,elbow,viscous"]) == (1, 0)
    assert (values["change_percent,elbow,inertia"], values["change_percent,elbow,viscous"]) == (12.0, -3.0)


def test_an_estimate_is_reported(make_estimate: Callable[..., Estimate]) -> None:
    values = scrape(filled(make_estimate))
    assert values["parameter_value,elbow,inertia"] == 0.5
    assert values["parameter_deviation,elbow,viscous"] == 0.03
    assert values["parameter_info,elbow,viscous,N·m·s/rad"] == 1
    assert values["prediction_error_ratio,elbow"] == 0.011
    assert values["parameter_value,elbow,lost_motion"] == 15e-5
    assert (values["lost_motion_known,elbow"], values["lost_motion_reversals,elbow"]) == (1, 12)
    assert values["lost_motion_grown,elbow"] == 0
    assert (values["wear_ratio,elbow"], values["wear_deviation_ratio,elbow"], values["wear_told,elbow"]) == (
        0.09,
        0.02,
        1,
    )
    assert [values[f"wear_limit_seconds,elbow,{one}"] for one in ("0.1", "0.9")] == [30 * 86_400, 55 * 86_400]
    assert values["parameter_deviation,elbow,lost_motion"] == 2e-6
    assert values["forgetting_factor,elbow"] == 0.9995
    assert (values["update_timestamp_seconds,elbow"], values["startup_progress_ratio,elbow"]) == (1e9, 1.0)
    assert (values["process_up,core"], values["process_restarts_total,core"]) == (1, 1)
    assert (values["page_clients"], values["page_skipped_total"]) == (2, 5)


def test_the_newest_estimate_counts_and_progress_is_a_share(make_estimate: Callable[..., Estimate]) -> None:
    metrics = Metrics(UNITS)
    for progress in (10.0, 45.0):
        absorb_estimate(metrics, make_estimate()._replace(progress=progress))
    assert scrape(metrics)["startup_progress_ratio,elbow"] == 0.45


def test_an_estimate_that_lacks_something_is_refused_when_it_comes(make_estimate: Callable[..., Estimate]) -> None:
    """The outlet counts it then as malformed; at the next scrape its joint would be unknown."""
    _, payload = Publication("r", "elbow", 1, "N·m").estimate(make_estimate(), 1e9, 1e9, 3e-4)
    metrics, whole = Metrics(UNITS), msgpack.unpackb(payload)
    for name in GAUGED:
        with pytest.raises(KeyError, match=name):
            metrics.absorb("estimate/elbow", {key: value for key, value in whole.items() if key != name})
    assert "update_latency_seconds_count,elbow" not in scrape(metrics)


def test_numbers_that_are_none_leave_one_joints_gauges_as_they_were_and_the_others_go_on(
    make_estimate: Callable[..., Estimate],
) -> None:
    metrics = filled(make_estimate)
    scrape(metrics)
    for joint, parameters in (("base", {"inertia": 7.0}), ("elbow", {"inertia": "much"}), ("lift", {"inertia": 8.0})):
        _, payload = Publication("r", joint, 1, "N·m").estimate(make_estimate(), 2e9, 2e9, 3e-4)
        metrics.absorb(f"estimate/{joint}", msgpack.unpackb(payload) | {"parameters": parameters})
    values = scrape(metrics)
    assert [values[f"parameter_value,{joint},inertia"] for joint in ("base", "elbow", "lift")] == [7.0, 0.5, 8.0]


def test_every_kind_of_event_of_a_joint_is_there_at_0_before_its_first() -> None:
    values = scrape(Metrics(UNITS))
    assert {key: value for key, value in values.items() if key.startswith("events_total")} == {
        f"events_total,elbow,{kind}": 0.0 for kind in EVENTS
    }
    assert values["updates_missed_total,elbow"] == 0.0
    assert values["parameter_info,elbow,inertia,kg·m²"] == 1.0
    robot = Metrics({})
    robot.absorb(*the_whole_robot()[0])
    assert {f"events_total,robot,{kind}" for kind in EVENTS} <= scrape(robot).keys()


def test_a_process_is_reported_with_its_silence_its_deadline_and_how_often_it_was_started_anew() -> None:
    metrics = Metrics({})
    for restarts, age, up in ((0, 0.2, True), (3, 0.5, False)):
        told = {"name": "wire", "up": up, "restarts": restarts, "pid": 1, "cause": "", "age": age, "deadline": 10.0}
        told |= {"boot": 7}
        metrics.absorb("process/wire", told)
    values = scrape(metrics)
    assert (values["process_up,wire"], values["process_restarts_total,wire"]) == (0, 3)
    assert (values["process_silence_seconds,wire"], values["process_deadline_seconds,wire"]) == (0.5, 10.0)
    metrics.stale({"wire": {"up": True, "age": 7.0, "deadline": 10.0}}, core_away=False)
    values = scrape(metrics)
    assert (values["process_up,wire"], values["process_silence_seconds,wire"]) == (1, 7.0)
    assert values["process_restarts_total,wire"] == 3


def test_a_process_of_which_no_silence_is_reported_has_none() -> None:
    metrics = Metrics({})
    metrics.absorb("process/wire", {"boot": 7, "name": "wire", "up": True, "restarts": 0, "pid": 1, "cause": ""})
    values = scrape(metrics)
    assert (values["process_silence_seconds,wire"], values["process_deadline_seconds,wire"]) == (0.0, 0.0)


def test_joints_of_a_core_that_is_away_are_faulted_until_it_speaks_again(
    make_estimate: Callable[..., Estimate],
) -> None:
    metrics = Metrics(UNITS)
    metrics.stale({}, core_away=True)
    assert not [key for key in scrape(metrics) if key.startswith("health,")], "nothing was known of any joint yet"
    absorb_estimate(metrics, make_estimate())
    metrics.stale({}, core_away=False)
    assert scrape(metrics)["health,elbow,valid"] == 1
    absorb_estimate(metrics, make_estimate())
    metrics.stale({}, core_away=True)
    values = scrape(metrics)
    assert (values["health,elbow,valid"], values["health,elbow,faulted"], values["phase,elbow,faulted"]) == (0, 1, 1)
    absorb_estimate(metrics, make_estimate())
    assert scrape(metrics)["health,elbow,valid"] == 1


def test_what_gateways_send_and_drop_is_counted_beyond_their_restarts() -> None:
    metrics = Metrics(UNITS)
    for start, sent in ((1, 5), (1, 9), (2, 3)):
        told = {"start": start, "clients": 2, "sent": sent, "dropped": sent - 3, "missed": 0}
        metrics.absorb("gateway/view", told)
    values = scrape(metrics)
    assert (values["gateway_clients,view"], values["gateway_missed_total,view"]) == (2, 0)
    assert (values["gateway_sent_total,view"], values["gateway_dropped_total,view"]) == (9 + 3, 6)


def test_what_the_recorder_writes_and_loses_is_reported() -> None:
    metrics = Metrics({})
    for start, size, lost, up in ((1, 100, 1, True), (1, 250, 3, True), (2, 40, 0, False)):
        told = {"timestamp": 9.0, "up": up, "written": 8.0, "start": start, "bytes": size, "lost": lost}
        metrics.absorb("recorder/status", told)
    values = scrape(metrics)
    assert (values["recorder_up"], values["recorder_written_timestamp_seconds"]) == (0, 8.0)
    assert (values["recorder_bytes_total"], values["recorder_blocks_lost_total"]) == (250 + 40, 3)


def test_what_the_outlet_counts_itself_is_reported_as_totals() -> None:
    metrics = Metrics({})
    for total in (2, 5):
        metrics.page(7, total)
        metrics.refused(total + 1)
        metrics.malformed(total + 2)
    values = scrape(metrics)
    assert (values["page_clients"], values["page_skipped_total"]) == (7, 5)
    assert (values["subscribers_refused_total"], values["malformed_updates_total"]) == (6, 7)


def test_minutes_of_history_that_were_written_and_lost_are_reported() -> None:
    metrics = Metrics({})
    metrics.kept(5, 1)
    metrics.kept(7, 3)
    found = scrape(metrics)
    assert (found["history_intervals_total"], found["history_intervals_lost_total"]) == (7.0, 3.0)


def test_a_tool_that_differs_is_reported_with_its_mass(make_estimate: Callable[..., Estimate]) -> None:
    topic, body = the_whole_robot()[0]
    metrics = Metrics(UNITS)
    metrics.absorb(topic, body)
    assert not [name for name in scrape(metrics) if name.startswith("robot_tool") and scrape(metrics)[name]]
    metrics.absorb(topic, body | {"tool": {"differs": True, "mass": -0.75}})
    found = scrape(metrics)
    assert (found["robot_tool_differs"], found["robot_tool_mass_difference"]) == (1.0, -0.75)


def test_what_is_no_error_is_not_counted_as_one(make_estimate: Callable[..., Estimate]) -> None:
    values = scrape(filled(make_estimate))
    assert {key for key in values if key.startswith("decode_errors_total")} == {"decode_errors_total,bad_crc,can0"}
    assert (values["own_frames_total,can0"], values["restamped_frames_total,can0"]) == (5, 3)
    assert values["samples_interpolated_total,elbow"] == 7


def test_latency_falls_into_its_bucket(make_estimate: Callable[..., Estimate]) -> None:
    values = scrape(filled(make_estimate))
    buckets = [values[f"update_latency_seconds_bucket,elbow,{bound}"] for bound in ("0.0002", "0.0005", "0.001")]
    assert buckets == [0, 1, 1]
    assert values["update_latency_seconds_sum,elbow"] == pytest.approx(3e-4)


def test_exactly_one_phase_and_one_status_hold(make_estimate: Callable[..., Estimate]) -> None:
    metrics = filled(make_estimate)
    absorb_estimate(metrics, make_estimate(Phase.FAULTED))
    values = scrape(metrics)
    assert {key for key, value in values.items() if key.startswith("phase,") and value} == {
        "phase,elbow,faulted",
        "phase,robot,transient",
    }
    assert [key for key, value in values.items() if key.startswith("health,elbow") and value] == [
        "health,elbow,faulted"
    ]


def test_what_core_and_drivers_report_is_told_of_each() -> None:
    metrics = Metrics(UNITS)
    metrics.absorb("status/core", status(1, 1000, 3, decoded=100, errors=2))
    values = scrape(metrics)
    assert (values["samples_total,elbow"], values["updates_total,elbow"]) == (1000, 50)
    assert (values["samples_lost_total,late,elbow"], values["malformed_batches_total"]) == (3, 1)
    assert (values["driver_up,can0"], values["readings_total,can0"], values["readings_lost_total,can0"]) == (1, 1000, 3)
    assert (values["frames_total,can0"], values["decode_errors_total,bad_crc,can0"]) == (100, 2)


def test_totals_go_on_when_the_core_starts_over() -> None:
    """Also where the new one has counted more than the one before."""
    metrics = Metrics(UNITS)
    for boot, samples, lost in ((1, 1000, 3), (1, 1500, 4), (2, 200, 1), (2, 1700, 1), (3, 9000, 7)):
        metrics.absorb("status/core", status(boot, samples, lost))
    values = scrape(metrics)
    assert values["samples_total,elbow"] == 1500 + 1700 + 9000
    assert values["updates_total,elbow"] == 75 + 85 + 450
    assert values["readings_total,can0"] == 1500 + 1700 + 9000
    assert values["samples_lost_total,late,elbow"] == 4 + 1 + 7
    assert values["estimator_total,refits_accepted,elbow"] == 3 + 3 + 18
    assert values["readings_lost_total,can0"] == 4 + 1 + 7
    assert (values["malformed_batches_total"], values["samples_interpolated_total,elbow"]) == (3, 21)
    assert values["frames_total,can0"] == 300, "a new core has the drivers' totals since its own start"


def test_totals_go_on_when_a_driver_starts_over() -> None:
    metrics = Metrics(UNITS)
    for decoded, errors in ((100, 2), (250, 7), (30, 1), (90, 1)):
        metrics.absorb("status/core", status(1, 1000, 0, decoded, errors))
    values = scrape(metrics)
    assert values["frames_total,can0"] == 250 + 90
    assert values["decode_errors_total,bad_crc,can0"] == 7 + 1


def test_what_never_reached_the_outlet_is_counted(make_estimate: Callable[..., Estimate]) -> None:
    metrics, publication = Metrics(UNITS), Publication("r", "elbow", 1, "N·m")
    absorb_estimate(metrics, make_estimate(), publication)
    for _ in range(3):
        publication.estimate(make_estimate(), 1.0, 1.0, 0.0)
    absorb_estimate(metrics, make_estimate(), publication)
    assert scrape(metrics)["updates_missed_total,elbow"] == 3
    absorb_estimate(metrics, make_estimate(), Publication("r", "elbow", 2, "N·m"))
    assert scrape(metrics)["updates_missed_total,elbow"] == 3
    assert scrape(metrics)["core_restarts_total"] == 1


def test_promtool_finds_nothing_to_complain_about(make_estimate: Callable[..., Estimate]) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is missing: apt-get install prometheus")
    text = filled(make_estimate).exposition("")[0]
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_scraper_that_asks_for_openmetrics_gets_it(make_estimate: Callable[..., Estimate]) -> None:
    body, kind = filled(make_estimate).exposition("application/openmetrics-text; version=1.0.0")
    assert kind.startswith("application/openmetrics-text")
    assert body.endswith(b"# EOF\n")


def test_drift_is_reported_by_parameter(make_estimate: Callable[..., Estimate]) -> None:
    found = scrape(filled(make_estimate))
    assert found["baseline_timestamp_seconds,elbow"] == 9.0
    assert (found["drift_ratio,elbow,inertia"], found["drift_z,elbow,inertia"]) == (0.12, 7.0)
    assert (found["drift_ratio,elbow,viscous"], found["drift_z,elbow,viscous"]) == (-0.03, -1.0)
    assert (found["drifted,elbow,inertia"], found["drifted,elbow,viscous"]) == (1.0, 0.0)


def test_bus_time_is_in_seconds_and_no_error(make_estimate: Callable[..., Estimate]) -> None:
    found = scrape(filled(make_estimate))
    assert found["bus_busy_seconds_total,can0"] == 1.5
    assert not [name for name in found if name.startswith("decode_errors_total") and "busy" in name]


def test_the_buckets_of_latency_ascend_from_a_fast_socket_to_what_is_certainly_wrong() -> None:
    assert list(LATENCY_BUCKETS) == sorted(set(LATENCY_BUCKETS))
    assert LATENCY_BUCKETS[0] <= 1e-4 < 0.5 <= LATENCY_BUCKETS[-1]
    assert np.diff(np.log(LATENCY_BUCKETS)).max() <= np.log(2.5) + 1e-9, "no wider step than from 2 to 5"
