"""Writes the published messages as JSON channels of an MCAP file, which Foxglove, PlotJuggler and MCAP readers open.

Besides the stream's own topics there are `log`, with every event in the form that Foxglove's log panel shows, and
`clock`, with the relation between the clocks.
"""

import json
import math
from typing import Any, Final

import msgpack

from daq.recording.mcap_file import McapFile
from daq.stream.schema import CLOCK, TOPICS, Schema, schema
from daq.stream.update import Map

LEVELS: Final = {"fault": 4, "alarm": 3, "drift": 3}  # of foxglove.Log: error, warning
INFORMATION: Final = 2
# https://docs.foxglove.dev/docs/sdk/schemas/log, which is known by its name
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


class JsonChannels:
    """The channels of one file. Times are Unix ns; `published`: of the block; `described`: that a message is about."""

    def __init__(self, file: McapFile) -> None:
        self._file = file
        self._channels: dict[str, int] = {}
        self._schemas: dict[str, int] = {}
        self._introduced: object = None

    def message(self, topic: str, body: bytes, published: int) -> None:
        """Write one message of the stream; body: its msgpack map. `meta` is written only when its content changes."""
        update = msgpack.unpackb(body)
        if topic == "meta":
            introduced = (update["boot"], update["joints"])
            if introduced == self._introduced:
                return
            self._introduced = introduced
        described = round(update["timestamp"] * 1e9)
        family = topic if topic in TOPICS else topic.partition("/")[0]
        self._put(topic, family, update["seq"], described, published, update)
        if topic.startswith("event/"):
            self._put("log", "log", update["seq"], described, published, _log(update, described))

    def clock(self, monotonic: int, epoch: int) -> None:
        """Write the relation of the clocks at one instant: monotonic ns, and ns from there to Unix time."""
        now = monotonic + epoch
        relation = {"timestamp": now / 1e9, "monotonic": monotonic / 1e9, "epoch": str(epoch)}
        self._put("clock", "clock", 0, now, now, relation)

    def _put(self, topic: str, family: str, sequence: int, described: int, published: int, update: Map) -> None:
        # viewers draw over the log time, so it is the instant that the message is about
        self._file.message(self._channel(topic, family), sequence, described, published, packed(update))

    def _channel(self, topic: str, family: str) -> int:
        known = self._channels.get(topic)
        if known is None:
            if family not in self._schemas:
                self._schemas[family] = self._file.schema(*_described(family))
            known = self._channels[topic] = self._file.channel(topic, self._schemas[family])
        return known


def _described(family: str) -> tuple[str, bytes]:
    """The name and the text of the schema of a family of topics."""
    if family == "log":
        return "foxglove.Log", packed(LOG)
    text = CLOCK if family == "clock" else schema(family if family in TOPICS else f"{family}/")
    return f"jointwatch.{family.replace('/', '.')}", packed(text)


def _log(event: Map, described: int) -> Map:
    return {
        "timestamp": {"sec": described // 10**9, "nsec": described % 10**9},
        "level": LEVELS.get(event["kind"], INFORMATION),
        "message": f"{event['kind']}: {event['text']}",
        "name": event["joint"],
        "file": "",
        "line": 0,
    }


def packed(value: Map) -> bytes:
    """JSON text; numbers that are not finite are left out."""
    return json.dumps(finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def finite(value: Any) -> Any:
    """Leave out numbers that are not finite, at any depth: JSON has none."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items() if not _unknown(item)}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value if not _unknown(item)]
    return value


def _unknown(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
