"""Writes the published messages as JSON channels of an MCAP file, which Foxglove, PlotJuggler and MCAP readers open.

In addition to the stream's own topics there are `log`, with every event for Foxglove's log panel, and `clock`, with the
relation between the clocks.
"""

import msgpack

from daq.recording.mcap_file import McapFile
from daq.stream.json_messages import EVENT, LOG_TOPIC, described, family_of, log_message, packed
from daq.stream.update import Map


class JsonChannels:
    """The channels of one file. Times are Unix ns; `published`: of the block; `about`: described by the message."""

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
        about = round(update["timestamp"] * 1e9)
        self._put(topic, family_of(topic), update["seq"], about, published, update)
        if topic.startswith(EVENT):
            self._put(LOG_TOPIC, LOG_TOPIC, update["seq"], about, published, log_message(update))

    def clock(self, monotonic: int, epoch: int) -> None:
        """Write the relation of the clocks at one instant: monotonic ns, and ns to add to get Unix time."""
        now = monotonic + epoch
        relation = {"timestamp": now / 1e9, "monotonic": monotonic / 1e9, "epoch": str(epoch)}
        self._put("clock", "clock", 0, now, now, relation)

    def _put(self, topic: str, family: str, sequence: int, about: int, published: int, update: Map) -> None:
        # viewers plot against the log time, so this is the instant that the message describes
        self._file.message(self._channel(topic, family), sequence, about, published, packed(update))

    def _channel(self, topic: str, family: str) -> int:
        known = self._channels.get(topic)
        if known is None:
            if family not in self._schemas:
                self._schemas[family] = self._file.schema(*described(family))
            known = self._channels[topic] = self._file.channel(topic, self._schemas[family])
        return known
