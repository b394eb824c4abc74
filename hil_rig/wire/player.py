"""Plays a robot's samples over a wire: each when it is due, late ones in a burst, nothing before somebody listens."""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from hil_rig.messages import Floats, Frame, Message, frames
from hil_rig.plants.base import Plant
from hil_rig.wire.base import Wire
from hil_rig.wire.faults import Faults, Late

BLOCK: Final = 20  # samples prepared at once, in the time until the next is due
LONGEST: Final = 0.02  # s asleep at most: a signal must not wait
PRECISION: Final = 1e-4  # s before it is due that a sample may go: a shorter sleep is not worth the call
BREATH: Final = 1e-3  # s between bursts on a wire that limits them
HOLD: Final = 2.0  # s that the wire stays open after the last sample


class Robot:
    """Joints that are sampled together, as batches of frames per sample."""

    def __init__(self, joints: Mapping[str, Plant], faults: Faults, loop: bool) -> None:
        """loop: a recording starts again at its end."""
        self.joints = joints
        self._faults, self._loop = faults, loop
        plants = list(joints.values())
        self.rate = plants[0].rate
        self.times: Floats | None = plants[0].times()
        self.messages: dict[str, tuple[Message, ...]] = {
            name: tuple(one.of_node(node, len(joints)) for one in faults.on_messages(plant.messages))
            for node, (name, plant) in enumerate(joints.items(), 1)
        }
        self.buses = 1 + max(one.bus for messages in self.messages.values() for one in messages)
        self._late = {name: self._delays(messages) for name, messages in self.messages.items()}
        self._next = 0

    def _delays(self, messages: Sequence[Message]) -> dict[int, Late]:
        """Column of a joint's rows → what makes it late."""
        fields = [(one, field) for one in messages for field in one.fields]
        delays = ((column, self._faults.skew_of(*pair)) for column, pair in enumerate(fields))
        return {column: Late(delay * self.rate) for column, delay in delays if delay > 0}

    def due(self, elapsed: float) -> int:
        """How many samples are due this long (s) after the first."""
        if self.times is None:
            return int(elapsed * self.rate) + 1
        rounds, rest = divmod(elapsed, self._round()) if self._loop else (0, elapsed)
        return int(rounds) * len(self.times) + int(np.searchsorted(self.times, rest, "right"))

    def at(self, sample: int) -> float:
        """When a sample is due, s after the first; inf beyond the end."""
        if self.times is None:
            return sample / self.rate
        rounds, place = divmod(sample, len(self.times))
        if rounds and not self._loop:
            return float("inf")
        return float(self.times[place]) + (rounds * self._round() if rounds else 0.0)

    def _round(self) -> float:
        assert self.times is not None
        return float(self.times[-1]) + 1 / self.rate

    def samples(self, count: int) -> list[list[Frame]]:
        """The frames of the next samples; fewer samples only at the end."""
        rows = {name: plant.rows(count) for name, plant in self.joints.items()}
        count = min(len(values) for values in rows.values())
        batches = [batch for name, values in rows.items() for batch in self._frames(name, values[:count])]
        self._next += count
        return [list(sample) for sample in zip(*batches, strict=True)]

    def _frames(self, name: str, values: Floats) -> list[list[Frame]]:
        if self._late[name]:
            values = values.copy()
            for column, late in self._late[name].items():
                values[:, column] = late(values[:, column])
        batches, start = [], 0
        for message in self.messages[name]:
            end = start + len(message.fields)
            batches.append(frames(message, values[:, start:end], self._next))
            start = end
        return batches


class Player:
    """One performance. `samples` played; `late`: played more than a period after they were due; `latest`: s.

    `began`: Unix s at which the first sample was due; NaN before.
    """

    def __init__(self, robot: Robot, wires: Sequence[Wire], faults: Faults, speed: float) -> None:
        """wires: one a bus. speed: × real time; inf: as fast as the wires take it."""
        self._robot, self._wires, self._faults, self._speed = robot, wires, faults, speed
        self._prepared: deque[list[Frame]] = deque()  # of each of the next samples
        self.samples = self.late = 0
        self.latest = 0.0
        self.began = float("nan")
        self.started = False

    def play(self, stop: Callable[[], bool]) -> None:
        """Wait for a reader, then play until the end or until told to stop."""
        if not self._wait_for_reader(stop):
            return
        self.started, self.began = True, time.time()
        self._paced(stop) if np.isfinite(self._speed) else self._flat_out(stop)
        end = time.monotonic() + HOLD
        while not stop() and time.monotonic() < end:
            self._listening()
            self._full()
            time.sleep(LONGEST)

    def _listening(self) -> bool:
        """Whether somebody is there on any wire; also answers what the readers of all say."""
        return bool([wire for wire in self._wires if wire.listening()])

    def _full(self) -> bool:
        return bool([wire for wire in self._wires if wire.full()])

    def _wait_for_reader(self, stop: Callable[[], bool]) -> bool:
        while not stop():
            if self._listening():
                time.sleep(max(wire.settle for wire in self._wires))
                return True
            time.sleep(0.005)
        return False

    def _paced(self, stop: Callable[[], bool]) -> None:
        robot, period = self._robot, 1 / self._robot.rate
        most = max(1, self._wires[0].burst // sum(map(len, robot.messages.values())))
        start, held = time.monotonic(), 0.0
        while not stop():
            elapsed = (time.monotonic() - start) * self._speed
            count = robot.due(elapsed + PRECISION) - self.samples if elapsed >= held else 0
            if count > 0:
                behind = elapsed - robot.at(self.samples) - self._faults.jitter
                if behind > period:
                    last = robot.due(elapsed - self._faults.jitter - period)
                    self.late += min(count, last - self.samples)
                    self.latest = max(self.latest, behind / self._speed)
                if not self._send(self._take(min(count, most))):
                    return
                if count > most:
                    time.sleep(BREATH)
                held = robot.at(self.samples) + self._faults.lateness() * self._speed
            if len(self._prepared) < BLOCK // 2:
                self._prepare(BLOCK)
            due = max(held, robot.at(self.samples))
            if not np.isfinite(due):
                return
            wait = due / self._speed - (time.monotonic() - start)
            if wait > 0:
                time.sleep(min(LONGEST, wait))

    def _flat_out(self, stop: Callable[[], bool]) -> None:
        while not stop():
            while self._listening() and self._full() and not stop():
                time.sleep(2e-4)
            if not self._send(self._take(BLOCK)):
                return

    def _take(self, count: int) -> list[Frame]:
        """The frames of the next samples; fewer at the end."""
        taken: list[Frame] = []
        self._prepare(count - len(self._prepared))
        for _ in range(min(count, len(self._prepared))):
            taken += self._prepared.popleft()
            self.samples += 1
        return taken

    def _prepare(self, count: int) -> None:
        while count > 0:
            block = self._robot.samples(min(count, 50 * BLOCK))
            if not block:
                return
            self._prepared += block
            count -= len(block)

    def _send(self, batch: list[Frame]) -> bool:
        """Whether there is anything left to play."""
        for bus, wire in enumerate(self._wires):
            mine = [frame for frame in batch if frame.message.bus == bus]
            if wire.listening():
                wire.send([unit for frame in mine for unit in self._faults.on_frame(frame, wire)])
            else:
                wire.unheard += len(mine)
        return self._robot.at(self.samples) < float("inf") or bool(self._prepared)
