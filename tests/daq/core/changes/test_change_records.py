"""What has changed of a joint is told with its parameter, its size and its time, and stays told until acknowledged."""

import math

import msgpack
import numpy as np
import pytest

from daq.config.sections import DriftSettings
from daq.core.changes.change_records import (
    ALONE,
    KEPT,
    SIGNATURE,
    ChangeRecords,
    change_state_name,
    instant,
)
from daq.core.changes.drift import Comparison
from daq.core.pipeline import Pipeline
from daq.outlet.remedies import with_remedies
from daq.state.baselines import Baseline
from daq.stream.update import Map, Publication
from drivers.reading import READING
from estimators.base import Estimate, Phase, Status
from estimators.causes.answer import Answer
from estimators.causes.watch import Diagnosis
from tests.support.signals.lying_signals import BEGIN, TRUTH, configuration, motion

RATE, JUMP, END = 1000.0, 50.0, 75.0  # Hz, s, s
UNITS = {"inertia": "kg·m²", "coulomb": "N·m", "offset": "N·m"}


def test_a_time_is_a_date_where_the_clock_knows_one() -> None:
    assert instant(1_764_000_000.0) == "2025-11-24 16:00:00 UTC"
    assert instant(81.24) == "81.2 s of the data's clock"


def frames(begin: float, end: float, coulomb: float = TRUTH["coulomb"]) -> np.ndarray:
    """Readings of the template's joint, with this Coulomb friction."""
    t = begin + np.arange(round((end - begin) * RATE)) / RATE
    q, v, a = motion(t)
    truth = TRUTH | {"coulomb": coulomb}
    torque = truth["inertia"] * a + truth["viscous"] * v + coulomb * np.sign(v) + truth["offset"]
    torque += truth["gravity_sin"] * np.sin(q) + truth["gravity_cos"] * np.cos(q)
    torque += 0.05 * np.random.default_rng(round(begin)).standard_normal(len(t))
    table = np.zeros((len(t), 3), READING)
    table["time"] = BEGIN + np.round(t * 1e9).astype(np.int64)[:, None]
    table["channel"] = [0, 1, 2]
    count = (round(begin * RATE) + np.arange(len(t))) % 65536
    table["value"] = np.column_stack([2 * np.pi / 2**19 * np.round(q / (2 * np.pi / 2**19)), torque, count])
    return table.reshape(-1)


def absorb(pipeline: Pipeline, readings: np.ndarray) -> list[tuple[str, Map]]:
    said = []
    for part in np.array_split(readings, len(readings) // 300):
        for topic, body in pipeline.absorb(part, 0, lambda: 0):
            said.append((topic.decode(), msgpack.unpackb(body)))
    return said


def records(said: list[tuple[str, Map]]) -> list[Map]:
    """The records of the last message."""
    return next((one["records"] for topic, one in reversed(said) if topic == "change/elbow"), [])


def test_friction_that_grows_slowly_is_one_gradual_record_that_is_refined() -> None:
    pipeline, began, steps = Pipeline(configuration(), boot=1), 30.0, 40
    parts = [frames(0.0, began)]
    parts += [frames(began + i, began + i + 1.0, TRUTH["coulomb"] * (1.0 + 0.6 * i / steps)) for i in range(steps)]
    said = absorb(pipeline, np.concatenate(parts))
    events = [one["kind"] for topic, one in said if topic == "event/elbow"]
    assert events.count("alarm") == 1
    assert events.count("gradual") == 1
    (record,) = records(said)
    assert (record["parameter"], record["evidence"]) == ("coulomb", "gradual")
    assert "changed gradually" in record["text"]
    first = next(one for topic, one in said if topic == "event/elbow" and one["kind"] == "alarm")
    assert record["since"] == pytest.approx(first["from"], abs=0.1), "of its first alarm"
    assert BEGIN / 1e9 + began < record["since"] < BEGIN / 1e9 + began + 10.0
    at = next(one["timestamp"] for topic, one in reversed(said) if topic == "change/elbow") - BEGIN / 1e9
    then = TRUTH["coulomb"] * (1.0 + 0.6 * (at - began - 0.5) / steps)
    assert at > began + steps - 12.0, "it is repeated with new numbers"
    assert record["to"] == pytest.approx(then, rel=0.03), "as it is then, not when it was told"


def jumped(jump: float = JUMP) -> tuple[Pipeline, list[tuple[str, Map]]]:
    """A joint without a baseline whose Coulomb friction grows by 60 % at an instant (s)."""
    pipeline = Pipeline(configuration(), boot=1)
    return pipeline, absorb(pipeline, np.concatenate([frames(0.0, jump), frames(jump, END, 1.6 * TRUTH["coulomb"])]))


@pytest.mark.parametrize("jump", [20.0, JUMP])
def test_a_friction_jump_is_reported_with_its_parameter_its_size_and_its_instant_although_no_baseline_is_set(
    jump: float,
) -> None:
    """Also where it comes while the start still settles."""
    pipeline, said = jumped(jump)
    (record,) = records(said)
    assert (record["parameter"], record["unit"], record["reference"], record["evidence"]) == (
        "coulomb", "N·m", "start", "alarm",
    )  # fmt: skip
    assert record["from"] == pytest.approx(TRUTH["coulomb"], abs=4 * record["from_deviation"])
    assert record["to"] == pytest.approx(1.6 * TRUTH["coulomb"], abs=4 * record["to_deviation"])
    assert record["percent"] == pytest.approx(60.0, abs=4.0)
    assert record["z"] > 5.0
    assert record["since"] == pytest.approx(BEGIN / 1e9 + jump, abs=4.0)
    assert record["told"] > record["since"]
    assert (record["over"], record["acknowledged"]) == (0.0, 0.0)
    assert "coulomb changed suddenly from 1." in record["text"]
    assert "no baseline is set" in record["text"]
    assert pipeline.joints[0].estimator.estimate().status is Status.VALID, "and the joint is valid again"


def test_nothing_is_told_of_a_joint_that_does_not_change() -> None:
    pipeline = Pipeline(configuration(), boot=1)
    said = absorb(pipeline, frames(0.0, END))
    assert not records(said)
    assert {one["reference"] for topic, one in said if topic == "drift/elbow"} == {"start"}


def test_an_acknowledged_change_is_the_new_normal_of_a_joint_without_a_baseline() -> None:
    pipeline, _ = jumped()
    acknowledged = [msgpack.unpackb(body) for _, body in pipeline.acknowledge({"elbow": 77.0})]
    (record,) = acknowledged[-1]["records"]
    assert record["acknowledged"] == 77.0
    more = absorb(pipeline, frames(END, END + 15.0, 1.6 * TRUTH["coulomb"]))
    assert [one["parameter"] for one in records(more) if not one["acknowledged"]] == []
    drifts = [one for topic, one in more if topic == "drift/elbow"]
    assert drifts[-1]["drifted"] == []
    assert drifts[-1]["baseline"]["coulomb"] == pytest.approx(1.6 * TRUTH["coulomb"], rel=0.05)


def test_what_has_changed_and_what_it_is_measured_against_outlive_a_restart() -> None:
    pipeline, said = jumped()
    joint = pipeline.joints[0]
    kept = msgpack.unpackb(msgpack.packb(joint.comparison.keep()))
    again = Pipeline(configuration(), boot=2)
    again.resume({"elbow": joint.estimator.keep(), change_state_name("elbow"): kept})
    more = absorb(again, frames(END, END + 3.0, 1.6 * TRUTH["coulomb"]))
    before, after = records(said), records(more)
    assert [(one["parameter"], one["since"], one["told"], one["acknowledged"]) for one in after] == [
        (one["parameter"], one["since"], one["told"], one["acknowledged"]) for one in before
    ]
    assert [one["drifted"] for topic, one in more if topic == "drift/elbow"][-1] == ["coulomb"]


def estimate(second: int, coulomb: float, status: Status = Status.VALID) -> Estimate:
    return Estimate(
        time=second * 1_000_000_000, phase=Phase.NORMAL, status=status, reasons=(), names=("inertia", "coulomb"),
        values=np.array([2.0, coulomb]), deviations=np.array([0.01, 0.02]), error=0.01, forgetting=1.0, measured=0.0,
        predicted=0.0, progress=100.0,
    )  # fmt: skip


def watched(*, baseline: bool) -> Comparison:
    settings = DriftSettings(percent=10, z=5, hold=2)
    comparison = Comparison("rigid", settings, Publication("arm", "elbow", 1, "N·m"), UNITS)
    if baseline:
        comparison.set_baseline(
            Baseline(
                since=5.0,
                model="rigid",
                values={"inertia": 2.0, "coulomb": 1.5},
                deviations={"inertia": 0.01, "coulomb": 0.02},
            )
        )
    return comparison


def follow(comparison: Comparison, start: int, *coulombs: float) -> list[list[Map]]:
    """One estimate a second; the records of each message about changes."""
    found = []
    for second, value in enumerate(coulombs, start):
        for topic, body in comparison.compare(estimate(second, value), dict, float(second)):
            if topic == b"change/elbow":
                found.append(msgpack.unpackb(body)["records"])
    return found


def test_without_an_alarm_a_change_is_gradual_and_dated_to_when_it_was_last_within_its_limits() -> None:
    told = follow(watched(baseline=True), 100, 1.5, 1.55, 1.6, 1.7, 1.8, 1.9, 2.0)
    (record,) = told[-1]
    assert (record["evidence"], record["reference"], record["since"]) == ("gradual", "baseline", 102.0)
    assert "no baseline" not in record["text"]


def test_an_alarm_of_before_it_was_within_its_limits_is_no_evidence() -> None:
    comparison = watched(baseline=True)
    assert comparison.records is not None
    follow(comparison, 100, 1.5, 1.5)
    comparison.records.note_alarm(100.5)
    told = follow(comparison, 110, 1.5, 1.5, 1.9, 1.9, 1.9, 1.9)
    assert (told[-1][0]["evidence"], told[-1][0]["since"]) == ("gradual", 111.0)


def test_a_change_that_is_over_stays_reported_with_when_and_a_second_one_gets_a_record_of_its_own() -> None:
    told = follow(watched(baseline=True), 0, *[1.5] * 2, *[1.9] * 5, *[1.5] * 6, *[1.2] * 5)
    first, second = told[-1]
    assert first["over"] == pytest.approx(9.0, abs=1.0)
    assert first["acknowledged"] == 0.0
    assert first["to"] == pytest.approx(1.9), "the numbers of when it stood"
    assert second["over"] == 0.0
    assert second["percent"] == pytest.approx(-20.0)


def test_with_a_baseline_an_acknowledged_change_still_counts_as_drift_and_a_new_baseline_settles_it() -> None:
    comparison = watched(baseline=True)
    assert comparison.records is not None
    follow(comparison, 0, 1.5, *[1.9] * 5)
    (_, body), *_ = comparison.acknowledge(6.5)
    assert msgpack.unpackb(body)["records"][0]["acknowledged"] == 6.5
    assert follow(comparison, 7, *[1.9] * 15) == [], "nothing new, and its numbers are not needed yet"
    comparison.set_baseline(
        Baseline(
            since=22.0,
            model="rigid",
            values={"inertia": 2.0, "coulomb": 1.9},
            deviations={"inertia": 0.01, "coulomb": 0.02},
        )
    )
    comparison.compare(estimate(23, 1.9), dict, 23.0)
    (record,) = comparison.records.records
    assert (record.over, record.acknowledged) == (23.0, 6.5)


def test_a_restart_acknowledges_nothing_although_the_baseline_is_read_again() -> None:
    comparison, again = watched(baseline=True), watched(baseline=True)
    follow(comparison, 0, 1.5, *[1.9] * 5)
    kept = comparison.keep()
    assert kept is not None
    again.resume(msgpack.unpackb(msgpack.packb(kept)))
    (record,) = follow(again, 10, 1.9)[-1]
    assert (record["parameter"], record["over"], record["acknowledged"]) == ("coulomb", 0.0, 0.0)


def test_the_values_of_its_start_are_what_a_joint_is_compared_with_after_a_restart_unless_a_baseline_is_set() -> None:
    before, again, other = watched(baseline=False), watched(baseline=False), watched(baseline=True)
    follow(before, 0, 1.5, 1.5, 1.5)
    kept = before.keep()
    for one in (again, other):
        one.resume(msgpack.unpackb(msgpack.packb(kept)))
    assert again.keep() == kept is not None
    assert other.keep() is None, "its baseline counts, and nothing has changed"


def test_values_that_are_not_valid_are_no_reference() -> None:
    comparison = watched(baseline=False)
    assert not comparison.compare(estimate(1, 9.0, Status.LEARNING), dict, 1.0)
    follow(comparison, 2, 1.5, 1.5, 1.5)
    kept = comparison.keep()
    assert kept is not None
    assert kept["start"]["values"]["coulomb"] == 1.5


def test_numbers_of_an_open_record_are_sent_again_every_ten_seconds_only() -> None:
    told = follow(watched(baseline=True), 0, 1.5, *[1.9 + 0.001 * i for i in range(33)])
    assert len(told) in (4, 5), "once when it is told, then every ten seconds"
    assert told[-1][0]["to"] > told[0][0]["to"]


def test_the_oldest_settled_record_makes_room() -> None:
    comparison = watched(baseline=True)
    assert comparison.records is not None
    for turn in range(KEPT + 3):
        follow(comparison, 100 * turn, *[1.5] * 4, *[1.9] * 5, *[1.5] * 5)
        comparison.acknowledge(100.0 * turn + 50.0)
    kept = comparison.records.records
    assert len(kept) == KEPT
    assert [record.since for record in kept] == sorted(record.since for record in kept)
    assert kept[-1].since > 100 * (KEPT + 1)


def test_a_percentage_that_is_not_known_is_left_out_of_the_sentence() -> None:
    watch = ChangeRecords(Publication("arm", "elbow", 1, "N·m"), UNITS)
    drift = {
        "baseline": {"offset": 0.0}, "drifted": ["offset"], "percent": {"offset": math.nan}, "z": {"offset": 9.0},
        "cause": "", "reference": "baseline",
    }  # fmt: skip
    now = estimate(3, 0.0)._replace(names=("offset",), values=np.array([0.4]), deviations=np.array([0.01]))
    ((_, body),) = watch.update(drift, ["offset"], [], now, {"offset": 0.02}, 3.0)
    (record,) = msgpack.unpackb(body)["records"]
    assert "%" not in record["text"]
    assert "from 0 ± 0.02 to 0.4 ± 0.01 N·m, since" in record["text"]


def diagnosis(count: int, name: str = "brake_drag") -> Diagnosis:
    """As the watch of the causes would say it."""
    found = Answer((name,), 0.93)
    return Diagnosis(10.0, True, 2.0, 0.1, 50.0, ((name, 0.93), ("unknown", 0.07)), found, count)


def test_a_change_that_no_parameter_shows_gets_a_record_of_its_own_with_its_cause_and_what_to_do() -> None:
    changes = ChangeRecords(Publication("robot", "elbow", 1, "N·m"), UNITS)
    assert not changes.diagnose(diagnosis(2), "N·m", 1000.0, 1020.0)
    ((_, body),) = changes.diagnose(diagnosis(ALONE), "N·m", 1000.0, 1030.0)
    (record,) = msgpack.unpackb(body)["records"]
    assert record["parameter"] == SIGNATURE
    assert record["since"] == 1010.0
    assert (record["from"], record["to"], record["unit"], record["evidence"]) == (0.0, 2.0, "N·m", "alarm")
    assert (record["from_deviation"], record["to_deviation"], record["told"]) == (0.1, 0.1, 1030.0)
    assert record["z"] == pytest.approx(10.0), "50 nats are as certain as ten deviations"
    assert "likely cause: a dragging brake (93 %)" in record["text"]
    assert record["ranked"][0] == {"cause": "brake_drag", "probability": 0.93}
    assert "brake" in with_remedies([record])[0]["todo"]
    ((_, body),) = changes.diagnose(None, "N·m", 1000.0, 1090.0)
    assert msgpack.unpackb(body)["records"][0]["over"] == 1090.0


def test_wear_that_the_history_tells_asks_for_other_things_than_a_torque_that_is_told_by_another_factor() -> None:
    worn = {"parameter": "dry_wear", "cause": "dry friction has grown by 15 %; limit of 30 % in 30–55 days at this use"}
    scaled = {"parameter": "coulomb", "cause": "all parameters by one factor"}
    first, second = (one["todo"] for one in with_remedies([worn, scaled]))
    assert first.startswith("Look at lubrication, bearings and gear")
    assert second.startswith("Compare the torque constant")


def test_a_friction_jump_is_reported_with_its_likely_cause() -> None:
    pipeline = Pipeline(configuration(), boot=1)
    said = absorb(pipeline, np.concatenate([frames(0.0, 70.0), frames(70.0, 95.0, 1.6 * TRUTH["coulomb"])]))
    (record,) = [one for one in records(said) if one["parameter"] == "coulomb"]
    assert record["ranked"][0]["cause"] == "brake_drag"
    assert record["diagnosis"] in record["text"]
