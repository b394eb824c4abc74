"""Plays a robot's samples over a wire: each when it is due, late ones in a burst, and none before a reader listens."""

import time
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from hil_rig.wire.base import Wire
from hil_rig.wire.faults import Faults
from hil_rig.wire.queues import BLOCK, queue
from hil_rig.wire.robot import RigRobot

LONGEST: Final = 0.02  # longest sleep, s, since a signal must not wait
PRECISION: Final = 1e-4  # s by which a sample may be sent early: a shorter sleep is not worth the call
BREATH: Final = 1e-3  # longest pause between bursts on a wire that limits them, s
MADE_UP: Final = 0.125  # largest pause as a share of the time that a burst makes up, so that the player catches up
HOLD: Final = 2.0  # s for which the wire stays open after the last sample
ROOM: Final = 1.0  # s at most until a wire that has refused frames has room for a last sample


class Player:
    """One performance. `samples` played; `late`: played more than a period after they were due; `latest`: s.

    `began`: Unix s at which the first sample was due; NaN before.
    """

    def __init__(self, robot: RigRobot, wires: Sequence[Wire], faults: Faults, speed: float) -> None:
        """wires: one a bus. speed: × real time; inf: as fast as the wires take it."""
        self._robot, self._wires, self._faults, self._speed = robot, wires, faults, speed
        self._queue = queue(robot, wires, faults)
        self.samples = self.late = 0
        self.latest = 0.0
        self.began = float("nan")
        self.started = False

    def play(self, stop: Callable[[], bool]) -> None:
        """Wait for a reader, then play until the end or until stopped."""
        if not self._wait_for_reader(stop):
            return
        self.started, self.began = True, time.time()
        self._paced(stop) if np.isfinite(self._speed) else self._flat_out(stop)
        if any(wire.refused for wire in self._wires):
            self._last_sample()
        end = time.monotonic() + HOLD
        while not stop() and time.monotonic() < end:
            self._listening()
            self._full()
            time.sleep(LONGEST)

    def _last_sample(self) -> None:
        """Play one more sample when the wires have space, since a reader can count a loss only at the next frame."""
        if self._has_room():
            self.samples += self._queue.send(1)
            self._has_room()

    def _has_room(self) -> bool:
        """Wait until the wires have taken all frames; False if there is no reader, or if it takes too long."""
        end = time.monotonic() + ROOM
        while self._full() and self._listening() and time.monotonic() < end:
            time.sleep(BREATH)
        return not self._full()

    def _listening(self) -> bool:
        """Whether a reader is connected on any wire; also answers the requests of all readers."""
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
        most = max(2, self._wires[0].burst // sum(map(len, robot.messages.values())))  # 1 would never catch up
        breath = min(BREATH, MADE_UP * most * period / self._speed)
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
                sent = self._queue.send(min(count, most))
                self.samples += sent
                if sent < min(count, most):
                    return
                if count > most:
                    time.sleep(breath)
                held = robot.at(self.samples) + self._faults.lateness() * self._speed
            self._queue.prepare()
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
            sent = self._queue.send(BLOCK)
            self.samples += sent
            if sent < BLOCK:
                return
