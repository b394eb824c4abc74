"""What a record of a change says: its sentence, its numbers, and what becomes of it while it is followed."""

import math

import msgpack
import pytest

from daq.core.changes.change_records import SIGNATURE, ChangeRecord, ChangeRecords
from daq.stream.update import Map, Publication


def record(parameter: str = "coulomb", **more: object) -> ChangeRecord:
    numbers = {"before": 1.5, "before_deviation": 0.02, "now": 1.2, "now_deviation": 0.03, "percent": -20.0, "z": -8.3}
    others = {"since": 81.24, "told": 90.0, "evidence": "alarm", "reference": "baseline"}
    return ChangeRecord(parameter, "N·m", **(numbers | others | more))  # type: ignore[arg-type]


COULOMB = (
    "coulomb changed suddenly from 1.5 ± 0.02 to 1.2 ± 0.03 N·m (-20.0 %), "
    "since 81.2 s (the data's clock counts from 0)"
)


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
