"""What was said, as every reader of MCAP finds it: topics, schemas, instants, and the log of events."""

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import msgpack
import pytest
from mcap.reader import make_reader

from daq.recording.json_channels import JsonChannels
from daq.recording.mcap_file import McapFile
from daq.stream.json_messages import packed, without_unknown


class Found(NamedTuple):
    """One message of a file."""

    topic: str
    schema: str
    log_time: int
    publish_time: int
    sequence: int
    told: dict[str, Any]


def read(path: Path) -> list[Found]:
    """In the order of the file."""
    with path.open("rb") as stream:
        return [
            Found(
                channel.topic,
                schema.name if schema else "",
                message.log_time,
                message.publish_time,
                message.sequence,
                json.loads(message.data),
            )
            for schema, channel, message in make_reader(stream).iter_messages(log_time_order=False)
        ]


def event(kind: str, joint: str = "elbow") -> bytes:
    update = {"timestamp": 12.25, "seq": 3, "boot": 1, "joint": joint, "kind": kind, "text": "why", "from": math.nan}
    return bytes(msgpack.packb(update))


def meta(boot: int, joints: dict[str, Any], timestamp: float = 1.0) -> bytes:
    return bytes(msgpack.packb({"timestamp": timestamp, "seq": 0, "boot": boot, "joints": joints}))


def test_a_message_stands_at_the_instant_it_speaks_of_and_keeps_when_it_was_said(tmp_path: Path) -> None:
    with McapFile(tmp_path / "x.mcap", "test") as file:
        channels = JsonChannels(file)
        for number, joint in enumerate(("one", "two", "one")):
            update = {"timestamp": 1.5 + number, "seq": 7 + number, "boot": 1, "joint": joint, "error": math.inf}
            channels.message(f"estimate/{joint}", msgpack.packb(update), 10**10 + number)
    found = read(tmp_path / "x.mcap")
    assert [one.topic for one in found] == ["estimate/one", "estimate/two", "estimate/one"]
    assert {one.schema for one in found} == {"jointwatch.estimate"}
    assert [(one.log_time, one.publish_time, one.sequence) for one in found] == [
        (1_500_000_000, 10**10, 7),
        (2_500_000_000, 10**10 + 1, 8),
        (3_500_000_000, 10**10 + 2, 9),
    ]
    assert all("error" not in one.told and one.told["boot"] == 1 for one in found)
    with (tmp_path / "x.mcap").open("rb") as stream:
        summary = make_reader(stream).get_summary()
    assert summary is not None
    assert len(summary.schemas) == 1, "two joints, one family"


@pytest.mark.parametrize(("kind", "level"), [("fault", 4), ("alarm", 3), ("drift", 3), ("started", 2), ("refit", 2)])
def test_an_event_is_in_the_log_once_more_as_a_panel_shows_it(tmp_path: Path, kind: str, level: int) -> None:
    with McapFile(tmp_path / "x.mcap", "test") as file:
        JsonChannels(file).message("event/elbow", event(kind), 99)
    own, log = read(tmp_path / "x.mcap")
    assert (own.topic, own.schema, log.topic, log.schema) == (
        "event/elbow",
        "jointwatch.event",
        "log",
        "foxglove.Log",
    )
    assert own[2:5] == log[2:5] == (12_250_000_000, 99, 3)
    assert log.told == {
        "timestamp": {"sec": 12, "nsec": 250_000_000},
        "level": level,
        "message": f"{kind}: why",
        "name": "elbow",
        "file": "",
        "line": 0,
    }


def test_only_events_are_in_the_log(tmp_path: Path) -> None:
    with McapFile(tmp_path / "x.mcap", "test") as file:
        JsonChannels(file).message("drift/elbow", event("drift"), 99)
    assert [one.topic for one in read(tmp_path / "x.mcap")] == ["drift/elbow"]


def test_the_introduction_is_written_once_for_each_start_and_each_set_of_joints(tmp_path: Path) -> None:
    with McapFile(tmp_path / "x.mcap", "test") as file:
        channels = JsonChannels(file)
        for number, (boot, joints) in enumerate(
            [(1, {"a": {}}), (1, {"a": {}}), (2, {"a": {}}), (2, {"a": {}, "b": {}}), (2, {"a": {}, "b": {}})]
        ):
            channels.message("meta", meta(boot, joints, float(number)), 0)
    found = read(tmp_path / "x.mcap")
    assert [one.log_time for one in found] == [0, 2_000_000_000, 3_000_000_000]
    assert {(one.topic, one.schema) for one in found} == {("meta", "jointwatch.meta")}


def test_topics_of_the_whole_robot_have_schemas_of_their_own(tmp_path: Path) -> None:
    body = msgpack.packb({"timestamp": 1.0, "seq": 0})
    with McapFile(tmp_path / "x.mcap", "test") as file:
        channels = JsonChannels(file)
        for topic in ("robot", "robot/parameters"):
            channels.message(topic, body, 0)
    found = read(tmp_path / "x.mcap")
    assert [(one.topic, one.schema) for one in found] == [
        ("robot", "jointwatch.robot"),
        ("robot/parameters", "jointwatch.robot.parameters"),
    ]


def test_the_clocks_relation_is_reported_exactly(tmp_path: Path) -> None:
    """An epoch has more digits than a number of JSON keeps in every reader: it is text."""
    epoch = 1_700_000_000_123_456_789
    with McapFile(tmp_path / "x.mcap", "test") as file:
        JsonChannels(file).clock(5_500_000_000, epoch)
    [found] = read(tmp_path / "x.mcap")
    assert found[:5] == ("clock", "jointwatch.clock", epoch + 5_500_000_000, epoch + 5_500_000_000, 0)
    assert found.told == {"timestamp": (epoch + 5_500_000_000) / 1e9, "monotonic": 5.5, "epoch": str(epoch)}


def test_what_json_cannot_say_is_left_out_at_any_depth() -> None:
    told = {"a": math.nan, "b": [1.0, math.inf, (2, -math.inf)], "c": {"d": math.nan, "e": "x"}, "f": None, "g": 0}
    assert without_unknown(told) == {"b": [1.0, [2]], "c": {"e": "x"}, "f": None, "g": 0}
    assert packed({"µ": [math.nan, 1.5]}) == '{"µ":[1.5]}'.encode()
