"""When samples go on the wire, on a simulated clock: each as it is due, and after a hold-up all that were."""

import os
import select
import threading
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from hil_rig.plants import RIGS
from hil_rig.plants.base import PlantSettings
from hil_rig.wire import player
from hil_rig.wire.can import SlcanWire
from hil_rig.wire.faults import Faults
from hil_rig.wire.network.multicast import MulticastWire
from hil_rig.wire.robot import RigRobot

WAKING = 60e-6  # s that a sleep takes longer
DATAGRAM = 5e-6  # s to send one


class Clock:
    """A machine that is held up once: whoever sleeps over `begin` wakes so much later."""

    def __init__(self, begin: float, longer: float) -> None:
        self.now, self._begin, self._longer = 0.0, begin, longer

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds + WAKING
        if self.now > self._begin:
            self.now, self._begin = self.now + self._longer, np.inf


class Timed(MulticastWire):
    """A wire that keeps when each sample went, on that clock."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(None)
        self._clock = clock
        self.sent_at: list[float] = []

    def listening(self) -> bool:
        return True

    def send_packed(self, samples: np.ndarray, ends: list[int]) -> None:  # type: ignore[override]
        for _ in samples:
            self._clock.now += DATAGRAM * len(ends)
            self.sent_at.append(self._clock.now)


@pytest.mark.parametrize("joints", [1, 7, 56])
@pytest.mark.parametrize("longer", [0.02, 0.2])
def test_a_rig_that_was_held_up_makes_up_for_it(monkeypatch: pytest.MonkeyPatch, joints: int, longer: float) -> None:
    """In the time that it was held up, at most; every sample goes, and none before it is due."""
    clock = Clock(0.1, longer)
    settings: PlantSettings = RIGS["rigid"].settings()
    faults = Faults([], 1)
    wire = Timed(clock)
    one = player.Player(RigRobot(settings.robot(joints, 1, []), faults, False), [wire], faults, 1.0)
    monkeypatch.setattr(player, "time", SimpleNamespace(monotonic=clock.monotonic, sleep=clock.sleep, time=lambda: 0.0))
    over: Callable[[], bool] = lambda: clock.now > 0.12 + 2.2 * longer + 0.05  # noqa: E731
    one.play(over)
    wire.close()
    late = np.array(wire.sent_at) - 1e-3 * np.arange(len(wire.sent_at))
    assert late.min() > -player.PRECISION
    assert late.max() > 0.9 * longer
    assert np.all(late[-40:] < 2e-3), "back on its grid"


def test_a_wire_that_refused_frames_carries_one_more_sample_when_it_has_room() -> None:
    """So the last frame of each joint stands after every loss, and a reader can count all that was not sent."""
    wire = SlcanWire(None)
    port = os.open(wire.device, os.O_RDWR | os.O_NOCTTY)
    os.write(port, b"O\r")
    faults = Faults([], 1)
    robot = RigRobot(RIGS["rigid"].settings().robot(7, 1, []), faults, False)
    one = player.Player(robot, [wire], faults, 20.0)
    full, over, heard = threading.Event(), threading.Event(), bytearray()

    def read() -> None:  # nothing until frames were refused
        full.wait(60.0)
        with os.fdopen(port, "rb", buffering=0) as stream:
            while select.select([stream], [], [], 0.1)[0] or not over.is_set():
                if select.select([stream], [], [], 0.0)[0]:
                    heard.extend(stream.read(4096))

    def refused() -> bool:
        if wire.refused > 700:
            full.set()
        return full.is_set()

    reader = threading.Thread(target=read)
    reader.start()
    one.play(refused)
    over.set()
    reader.join(60.0)
    wire.close()
    frames = [line for line in bytes(heard).split(b"\r") if line.startswith(b"t")]
    last = {frame[1:4]: int.from_bytes(bytes.fromhex(frame[-4:].decode()), "little") for frame in frames}
    assert len(last) == sum(map(len, robot.messages.values()))
    assert set(last.values()) == {(one.samples - 1) & 0xFFFF}
    assert len(frames) == wire.sent == one.samples * len(last) - wire.refused
