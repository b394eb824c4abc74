"""Queues of samples prepared ahead: as frames that faults may still change, or packed for one system call."""

from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

import numpy as np

from hil_rig.messages import COUNTER, Message, MessageFrame, records
from hil_rig.wire.base import PackedWire, Wire
from hil_rig.wire.faults import Faults
from hil_rig.wire.robot import RigRobot

BLOCK: Final = 20  # samples prepared at once, in the time until the next is due
PACKED_BLOCK: Final = 100  # the same where one joint after the other is prepared, between two samples, at least …
PACKED_FOR_JOINT: Final = 4  # … and so many for each joint: a call of few rows costs nearly as much as one of many


class Queue(Protocol):
    """A queue of samples that are prepared and then sent in order."""

    def prepare(self) -> None:
        """Prepare some of the next samples; called between two samples."""

    def send(self, count: int) -> int:
        """Send the next samples; returns their number, which is smaller than count only at the end."""


def queue(robot: RigRobot, wires: Sequence[Wire], faults: Faults) -> Queue:
    """Make the queue: a packed one if no fault changes single frames and every wire accepts packed samples."""
    packed = [wire for wire in wires if isinstance(wire, PackedWire)]
    return (
        Packed(robot, packed) if len(packed) == len(wires) and faults.spare_frames else WireFrames(robot, wires, faults)
    )


class WireFrames:
    """A queue of single frames, each of which can be damaged; any wire accepts it."""

    def __init__(self, robot: RigRobot, wires: Sequence[Wire], faults: Faults) -> None:
        self._robot, self._wires, self._faults = robot, wires, faults
        self._prepared: deque[list[MessageFrame]] = deque()  # of each of the next samples

    def prepare(self) -> None:
        if len(self._prepared) < BLOCK // 2:
            self._fill(BLOCK)

    def send(self, count: int) -> int:
        self._fill(count - len(self._prepared))
        count = min(count, len(self._prepared))
        batch = [frame for _ in range(count) for frame in self._prepared.popleft()]
        for bus, wire in enumerate(self._wires):
            mine = [frame for frame in batch if frame.message.bus == bus]
            if wire.listening():
                wire.send([unit for frame in mine for unit in self._faults.on_frame(frame, wire)])
            else:
                wire.unheard += len(mine)
        return count

    def _fill(self, count: int) -> None:
        while count > 0:
            block = self._robot.samples(min(count, 50 * BLOCK))
            if not block:
                return
            self._prepared += block
            count -= len(block)


class Place(NamedTuple):
    """The place of a message's bytes in the rows of its bus."""

    bus: int
    start: int  # of its fields
    end: int  # of its counter


class Packed:
    """A queue of whole samples as rows of bytes, one row a bus, so that the frames of many joints cost one system
    call."""

    def __init__(self, robot: RigRobot, wires: Sequence[PackedWire]) -> None:
        self._robot, self._wires = robot, wires
        units: list[list[bytes]] = [[] for _ in wires]
        self._places: dict[Message, Place] = {}
        for message in (one for messages in robot.messages.values() for one in messages):
            unit, at = wires[message.bus].template(message)
            start = sum(map(len, units[message.bus])) + at
            self._places[message] = Place(message.bus, start, start + sum(field.bits // 8 for field in message.fields))
            units[message.bus].append(unit)
        rows = [np.frombuffer(b"".join(of_bus), np.uint8) for of_bus in units]
        self._ends = [np.cumsum([len(unit) for unit in of_bus]).tolist() for of_bus in units]
        self._names = list(robot.joints)
        self._block = max(PACKED_BLOCK, PACKED_FOR_JOINT * len(self._names))  # samples of a block
        # one block is played while the other is filled
        self._playing, self._filling = ([np.tile(row, (self._block, 1)) for row in rows] for _ in range(2))
        self._played = self._length = 0  # of the block that is played
        self._filled = self._first = 0  # of the other: joints that are in it, and the number of its first sample
        self._coming = self._block  # samples in it

    def prepare(self) -> None:
        for _ in range(1 + 2 * len(self._names) // self._block):  # filled in half the time that the other takes
            if self._filled < len(self._names):
                self._fill_one()

    def send(self, count: int) -> int:
        done = 0
        while done < count:
            if self._played == self._length and not self._turn():
                break
            part = min(count - done, self._length - self._played)
            for wire, block, ends in zip(self._wires, self._playing, self._ends, strict=True):
                if wire.listening():
                    wire.send_packed(block[self._played : self._played + part], ends)
                else:
                    wire.unheard += part * len(ends)
            self._played += part
            done += part
        return done

    def _turn(self) -> bool:
        """Begin to play the filled block; returns whether it has samples."""
        while self._filled < len(self._names):
            self._fill_one()
        self._playing, self._filling = self._filling, self._playing
        self._played, self._length = 0, self._coming
        self._first += self._length
        self._filled, self._coming = 0, self._block
        return self._length > 0

    def _fill_one(self) -> None:
        """Fill in the next joint's part of the coming block; the block ends with the joint that ends first."""
        for message, values in self._robot.columns(self._names[self._filled], self._block):
            count = len(values)
            self._coming = min(self._coming, count)
            place = self._places[message]
            block = self._filling[place.bus]
            block[:count, place.start : place.end] = records(message, values)
            counter = ((self._first + np.arange(count)) % COUNTER).astype("<u2")
            block[:count, place.end : place.end + 2] = counter.view(np.uint8).reshape(count, 2)
        self._filled += 1
