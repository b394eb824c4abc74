"""The stream's messages in JSON, which has neither NaN nor infinity, and the channels in which Foxglove shows them.

In addition to the stream's own topics there is `log`, which contains every event in the form of Foxglove's log panel.
"""

import json
import math
from typing import Any, Final

from daq.stream.schema import CLOCK, TOPICS, schema
from daq.stream.schema.fields import Schema
from daq.stream.update import Map

LOG_TOPIC: Final = "log"
EVENT: Final = "event/"  # prefix of the topics of events
LEVELS: Final = {"fault": 4, "alarm": 3, "drift": 3}  # levels of foxglove.Log: 4 is error, 3 is warning
INFORMATION: Final = 2
# https://docs.foxglove.dev/docs/sdk/schemas/log; viewers recognise it by its name
LOG: Final[Schema] = {
    "title": "foxglove.Log",
    "type": "object",
    "properties": {
        "timestamp": {
            "type": "object",
            "title": "time",
            "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}},
        },
        "level": {"type": "integer"},
        "message": {"type": "string"},
        "name": {"type": "string"},
        "file": {"type": "string"},
        "line": {"type": "integer"},
    },
}


def finite(value: Any) -> Any:
    """Replace every number that is not finite by None (null in JSON), at any depth of maps and lists."""
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if _unknown(value) else value


def without_unknown(value: Any) -> Any:
    """Omit numbers that are not finite, at any depth, so that a viewer draws nothing there."""
    if isinstance(value, dict):
        return {key: without_unknown(item) for key, item in value.items() if not _unknown(item)}
    if isinstance(value, (list, tuple)):
        return [without_unknown(item) for item in value if not _unknown(item)]
    return value


def packed(value: Map) -> bytes:
    """Return JSON text without numbers that are not finite."""
    return json.dumps(without_unknown(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def family_of(topic: str) -> str:
    """Return the family of a topic: `estimate` for `estimate/elbow`."""
    return topic if topic in TOPICS else topic.partition("/")[0]


def described(family: str) -> tuple[str, bytes]:
    """Return the name and the text of the schema for a family of topics, `log` or `clock`."""
    if family == LOG_TOPIC:
        return "foxglove.Log", packed(LOG)
    text = CLOCK if family == "clock" else schema(family if family in TOPICS else f"{family}/")
    return f"jointwatch.{family.replace('/', '.')}", packed(text)


def log_message(event: Map) -> Map:
    """Convert an event to the form of foxglove.Log."""
    seconds, nanoseconds = divmod(round(event["timestamp"] * 1e9), 10**9)
    return {
        "timestamp": {"sec": seconds, "nsec": nanoseconds},
        "level": LEVELS.get(event["kind"], INFORMATION),
        "message": f"{event['kind']}: {event['text']}",
        "name": event["joint"],
        "file": "",
        "line": 0,
    }


def _unknown(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
