"""What a record of a change says: its sentence, its numbers, and what becomes of it while it is followed."""

import math

import msgpack
import numpy as np
import pytest

from daq.core.changes.change_records import KEPT, SIGNATURE, ChangeRecord, ChangeRecords
from daq.stream.update import Map, Publication
from estimators.base import Estimate, Phase, Status


def record(parameter: str = "coulomb", **more: object) -> ChangeRecord:
    numbers = {"before": 1.5, "before_deviation": 0.02, "now": 1.2, "now_deviation": 0.03, "percent": -20.0, "z": -8.3}
    others = {"since": 81.24, "told": 90.0, "evidence": "alarm", "reference": "baseline"}
    return ChangeRecord(parameter, "N·m", **(numbers | others | more))  # type: ignore[arg-type]


COULOMB = "coulomb changed suddenly from 1.5 ± 0.02 to 1.2 ± 0.03 N·m (-20.0 %), since 81.2 s of the data's clock"


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (record(), COULOMB),
        (
            record(evidence="gradual", percent=math.nan),
            COULOMB.replace("suddenly", "gradually").replace(" (-20.0 %)", ""),
        ),
        (record(cause="all by one factor", diagnosis="a brake"), f"{COULOMB}; all by one factor; a brake"),
        (
            record(reference="start"),
            f"{COULOMB}; measured against the joint's own start, since no baseline is set",
        ),
        (record(over=95.0), f"{COULOMB}; it is within its limits again"),
        (record(over=95.0, acknowledged=96.0), f"{COULOMB}; it is within its limits again"),
        (record(over=95.0, acknowledged=95.0), f"{COULOMB}; another reference has settled it"),
        (record(acknowledged=96.0), COULOMB),
        (
            record(SIGNATURE, since=1_764_000_000.0),
            "the motion suddenly needs another torque, by 1.2 N·m rms, since 2025-11-24 16:00:00 UTC",
        ),
    ],
)
def test_a_record_says_what_has_changed_how_since_when_and_what_became_of_it(told: ChangeRecord, text: str) -> None:
    assert told.text == text
    plain = told.plain()
    assert (plain["from"], plain["from_deviation"], plain["to"], plain["to_deviation"]) == (1.5, 0.02, 1.2, 0.03)
    assert (plain["z"], plain["told"], plain["over"], plain["text"]) == (-8.3, 90.0, told.over, text)
    assert not {"before", "now", "before_deviation", "now_deviation"} & plain.keys()


def test_what_is_followed_beside_the_estimate_keeps_its_instant_and_gets_the_newest_numbers_until_it_is_over() -> None:
    changes = ChangeRecords(Publication("robot", "elbow", 1, "N·m"), {})

    def told(timestamp: float, found: ChangeRecord | None) -> list[Map]:
        said = changes.follow(found, "clearance", timestamp)
        return [one for _, body in said for one in msgpack.unpackb(body)["records"]]

    assert told(80.0, None) == []
    [first] = told(90.0, record("clearance"))
    assert (first["to"], first["told"], first["over"]) == (1.2, 90.0, 0.0)
    newer = record("clearance", now=1.1, now_deviation=0.01, percent=-26.0, z=-9.0, since=5.0, told=91.0)
    assert told(91.0, newer) == [], "numbers alone are sent every ten seconds"
    [later] = told(100.0, newer)
    assert [later[name] for name in ("to", "to_deviation", "percent", "z")] == [1.1, 0.01, -26.0, -9.0]
    assert (later["since"], later["told"]) == (81.24, 90.0)
    [over] = told(101.0, None)
    assert (over["over"], over["to"]) == (101.0, 1.1)
    assert told(102.0, None) == []
    assert [one["told"] for one in told(110.0, record("clearance", told=110.0))] == [90.0, 110.0]


def test_wear_that_the_history_tells_is_a_record_in_percent_until_it_is_told_no_more() -> None:
    changes = ChangeRecords(Publication("robot", "elbow", 1, "N·m"), {})
    wear = {"told": False, "wear": 0.2, "deviation": 0.03, "z": 6.0, "text": "dry friction has grown", "onset": 50.0}
    assert changes.note_wear(wear | {"timestamp": 90.0}) == []
    changes.note_alarm(89.0)
    ((topic, body),) = changes.note_wear(wear | {"told": True, "timestamp": 100.0})
    [one] = msgpack.unpackb(body)["records"]
    assert topic == b"change/elbow"
    names = (
        "parameter",
        "unit",
        "from",
        "from_deviation",
        "to",
        "to_deviation",
        "z",
        "cause",
        "since",
        "told",
        "evidence",
    )
    assert [one[name] for name in names] == [
        "dry_wear", "%", 0.0, 3.0, 20.0, 3.0, 6.0, "dry friction has grown", 50.0, 100.0, "gradual",
    ]  # fmt: skip
    changes.note_wear(wear | {"told": True, "wear": 0.25, "z": 7.0, "timestamp": 101.0})
    ((_, body),) = changes.note_wear(wear | {"timestamp": 102.0})
    [one] = msgpack.unpackb(body)["records"]
    assert (one["to"], one["z"], one["over"], len(changes.records)) == (25.0, 7.0, 102.0, 1)


class Followed:
    """Records of one joint whose Coulomb friction leaves its limits, or not."""

    def __init__(self) -> None:
        self.changes = ChangeRecords(Publication("robot", "elbow", 1, "N·m"), {"coulomb": "N·m"})

    def compare(self, timestamp: float, drifted: bool, value: float = 1.2) -> list[Map]:
        """What the message about one comparison says."""
        named = dict.fromkeys(("coulomb",))
        drift = {"baseline": dict.fromkeys(named, 1.5), "drifted": list(named) * drifted, "reference": "baseline"}
        drift |= {"percent": dict.fromkeys(named, -20.0), "z": dict.fromkeys(named, -8.0), "cause": ""}
        estimate = Estimate(
            0, Phase.NORMAL, Status.VALID, (), ("coulomb",), np.array([value]), np.array([0.03]),
            0.0, 0.0, 0.0, 0.0, 100.0,
        )  # fmt: skip
        leaving = drift["drifted"]
        said = self.changes.update(drift, leaving, (), estimate, {"coulomb": 0.02}, timestamp)
        return [one for _, body in said for one in msgpack.unpackb(body)["records"]]


@pytest.mark.parametrize(
    ("alarm", "within", "evidence", "since"),
    [
        (98.0, 97.0, "alarm", 98.0),
        (98.0, 99.0, "alarm", 98.0),  # limits are crossed some seconds after the first row of an alarm
        (40.0, 99.0, "gradual", 99.0),  # that alarm was of something else
        (None, 99.0, "gradual", 99.0),
    ],
)
def test_a_change_is_sudden_since_an_alarm_about_its_beginning_and_gradual_since_it_was_within_its_limits(
    alarm: float | None, within: float, evidence: str, since: float
) -> None:
    joint = Followed()
    joint.compare(within, False)
    if alarm is not None:
        joint.changes.note_alarm(alarm)
    [one] = joint.compare(100.0, True)
    assert (one["evidence"], one["since"], one["told"]) == (evidence, since, 100.0)
    assert (one["from"], one["from_deviation"], one["to"], one["to_deviation"]) == (1.5, 0.02, 1.2, 0.03)
    assert (one["percent"], one["z"], one["unit"]) == (-20.0, -8.0, "N·m")


@pytest.mark.parametrize(("begin", "becomes"), [(60.0, "gradual"), (98.0, "gradual"), (98.5, "alarm")])
def test_what_goes_on_after_its_alarm_is_gradual_since_the_first_of_its_alarms(begin: float, becomes: str) -> None:
    """An alarm that is older than what goes on was of something else, and what is over stays what it was."""
    joint = Followed()
    joint.changes.records += [
        record("inertia", since=98.0, over=99.0),
        record("viscous", evidence="gradual", since=98.0),
    ]
    joint.compare(97.0, False)
    joint.changes.note_alarm(98.0)
    joint.compare(100.0, True)
    joint.changes.note_gradual(begin)
    by_name = {one.parameter: (one.evidence, one.since) for one in joint.changes.records}
    assert by_name["coulomb"] == (becomes, begin if becomes == "gradual" else 98.0)
    assert by_name["inertia"] == ("alarm", 98.0)
    assert by_name["viscous"] == ("gradual", 98.0)


def test_what_leaves_its_limits_while_a_gradual_change_goes_on_has_begun_with_it_until_the_next_alarm() -> None:
    joint = Followed()
    joint.compare(97.0, False)
    joint.changes.note_alarm(97.5)
    joint.changes.note_gradual(60.0)
    [one] = joint.compare(100.0, True)
    assert (one["evidence"], one["since"]) == ("gradual", 60.0)
    [over] = joint.compare(101.0, False)
    assert over["over"] == 101.0
    joint.changes.note_alarm(102.0)
    assert [one["since"] for one in joint.compare(103.0, True)] == [60.0, 102.0]


def test_a_parameter_that_returns_keeps_the_numbers_that_it_had_beyond_its_limits() -> None:
    joint = Followed()
    joint.compare(100.0, True)
    drift = {"baseline": {"coulomb": 1.5}, "drifted": ["coulomb"], "reference": "baseline", "cause": ""}
    drift |= {"percent": {"coulomb": -5.0}, "z": {"coulomb": -2.0}}
    estimate = Estimate(
        0, Phase.NORMAL, Status.VALID, (), ("coulomb",), np.array([1.4]), np.array([0.03]), 0.0, 0.0, 0.0, 0.0, 100.0
    )
    joint.changes.update(drift, (), ("coulomb",), estimate, {"coulomb": 0.02}, 101.0)
    [one] = joint.changes.records
    assert (one.now, one.percent, one.z, one.over) == (1.2, -20.0, -8.0, 0.0)


def test_of_too_many_records_the_oldest_that_a_person_has_seen_and_that_is_over_goes() -> None:
    changes = ChangeRecords(Publication("robot", "elbow", 1, "N·m"), {})
    for number in range(KEPT):
        more = {"over": 5.0, "acknowledged": 6.0} if number == 2 else {"over": 5.0} if number == 1 else {}
        changes.follow(record(f"p{number}", **more), f"p{number}", 90.0)
    changes.follow(record("new"), "new", 91.0)
    names = [one.parameter for one in changes.records]
    assert names == [f"p{number}" for number in range(KEPT) if number != 2] + ["new"]
    changes.follow(record("newer"), "newer", 92.0)
    assert changes.records[0].parameter == "p1", "none is settled: the oldest"


def test_another_reference_settles_what_has_changed_and_the_same_one_nothing() -> None:
    joint = Followed()
    joint.compare(100.0, True)
    ((_, body),) = joint.changes.acknowledge(101.0)
    assert [one["acknowledged"] for one in msgpack.unpackb(body)["records"]] == [101.0]
    assert joint.changes.acknowledge(102.0) == [], "once"
    ((_, body),) = joint.changes.refer(55.0, 110.0)
    [one] = msgpack.unpackb(body)["records"]
    assert (one["over"], one["acknowledged"]) == (110.0, 101.0)
    assert joint.changes.refer(55.0, 111.0) == []
    [*_, new] = joint.compare(112.0, True)
    assert (new["since"], new["over"]) == (112.0, 0.0), "when it was within the limits of before says nothing"
