"""The core's transcript for the recorder: all readings in order, all other inputs of the pipeline, and its messages.

A block contains some hundredths of a second; it is one message from core to recorder and one attachment of a recording.
It contains everything that is not a pure function of the readings (batches, clocks, finished refits, baselines, resumed
states), so a replay makes the same messages to the bit.
"""

import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgpack
import numpy as np
import zmq
from numpy.typing import NDArray

from daq.stream.update import Message
from drivers.files import reading_block as columns
from drivers.reading import READING

BLOCK: Final = 0.04  # duration of a block, s; a killed process loses at most two blocks
QUEUE: Final = 250  # blocks that wait for a busy disk (10 s, 5 MB) before some are lost, and counted
BLOCKS: Final = "application/x-jointwatch-readings"  # media type of a block in a recording
WIRE: Final = struct.Struct("<QQ")  # boot, number


class Batch(NamedTuple):
    """One turn of the core's loop."""

    length: int  # readings
    epoch: int  # ns from CLOCK_MONOTONIC to Unix time
    watched: int  # monotonic ns at which silence was checked
    clock: Sequence[int]  # monotonic ns, every answer of the clock to the pipeline
    refits: Sequence[int]  # numbers of the results (also of checks) that were released: daq.core.replayable_executor
    baseline: Mapping[str, Any] | None  # the new baselines, if they changed
    resumed: Mapping[str, Any] | None = None  # joint → the state that it continued from, at the core's start
    late: bool = False  # whether the core was behind and made only the last of several updates of a joint
    seen: Mapping[str, float] | None = None  # joint → Unix s at which a person acknowledged its changes
    worn: Mapping[str, Any] | None = None  # joint → its wear as newly found by the history
    compiled: int | None = None  # how far kernels are compiled from now on, see Pipeline.set_compiled; None: as before


@dataclass(slots=True)
class TurnBlock:
    """Several turns of the loop: their readings and messages in order."""

    boot: int
    number: int  # counts up by one; a gap is a loss
    batches: list[Batch] = field(default_factory=list)
    readings: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, READING))
    messages: list[Message] = field(default_factory=list)


def pack(block: TurnBlock) -> bytes:
    """Pack a block without its messages; the head is a msgpack map."""
    head = msgpack.packb({"boot": block.boot, "number": block.number, "batches": block.batches})
    return columns.pack(head, block.readings)


def unpack(data: bytes) -> TurnBlock:
    """Unpack what `pack` made. Raises ValueError."""
    head, rows = columns.unpack(data)
    try:
        header = msgpack.unpackb(head)
        return TurnBlock(header["boot"], header["number"], [_batch(one) for one in header["batches"]], rows)
    except (msgpack.UnpackException, KeyError, TypeError) as error:
        raise ValueError(f"not a block of readings: {error}") from error


def _batch(values: Sequence[Any]) -> Batch:
    """Make a batch from its values; older recordings may have a number as last value, which is ignored."""
    batch = Batch(*values[: len(Batch._fields)])
    return batch if batch.seen is None or isinstance(batch.seen, dict) else batch._replace(seen=None)


class RecordedClock:
    """The monotonic clock (ns), with a record of all its answers."""

    def __init__(self) -> None:
        self.answers: list[int] = []

    def __call__(self) -> int:
        self.answers.append(time.monotonic_ns())
        return self.answers[-1]


class Transcript:
    """The core's end of the transcript: collects turns and sends a block when it is due; it never waits for the
    recorder.

    Every turn is packed at once, so that sending a block costs the core no more than a copy.
    """

    def __init__(self, endpoint: str, boot: int) -> None:
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.PUSH)
        self._socket.setsockopt(zmq.SNDHWM, QUEUE)
        self._socket.setsockopt(zmq.LINGER, 200)
        self._socket.setsockopt(zmq.RECONNECT_IVL, 50)
        self._socket.connect(endpoint)
        self.sent = 0  # blocks sent so far, including those that did not fit into the queue
        self._boot = boot
        self._turns = bytearray(WIRE.pack(boot, 0))
        self._packer = msgpack.Packer()
        self._due = 0.0

    def note(self, readings: NDArray[np.void], batch: Batch, messages: Sequence[Message]) -> None:
        """Add one turn of the loop."""
        self._turns += self._packer.pack((batch, readings.tobytes(), messages))
        now = time.monotonic()
        if now >= self._due:
            self._due = now + BLOCK
            self._send()

    def close(self) -> None:
        """Send the remaining turns, which have 200 ms to be sent, and close."""
        if len(self._turns) > WIRE.size:
            self._send()
        self._socket.close()

    def _send(self) -> None:
        block, self.sent = self._turns, self.sent + 1
        self._turns = bytearray(WIRE.pack(self._boot, self.sent))
        try:
            self._socket.send(block, zmq.NOBLOCK)
        except zmq.Again:
            return  # the recorder sees the gap in the numbers


def received(message: bytes) -> TurnBlock:
    """Unpack a block that the core has sent: WIRE, then [batch, readings as bytes, messages] of every turn."""
    block = TurnBlock(*WIRE.unpack_from(message))
    turns = msgpack.Unpacker()
    turns.feed(memoryview(message)[WIRE.size :])
    parts = []
    for batch, readings, messages in turns:
        block.batches.append(Batch(*batch))
        parts.append(readings)
        block.messages += [(topic, body) for topic, body in messages]
    block.readings = np.frombuffer(b"".join(parts), READING)
    return block
