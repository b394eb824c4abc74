"""A bus of Dynamixel servos without a master on a pseudo-terminal: the servos answer any reader."""

import math
import select
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from hil_rig.messages import Message
from hil_rig.wire.pty import Pty
from hil_rig.wire.servo import CURRENT, LENGTH, ServoBank, ServoWire, registers

WAIT: Final = 0.05  # s between checks whether the rig has ended
ALONE: Final = 0.005  # s between checks for a reader
LAG: Final = 0.5  # s by which a servo's values are delayed, since the rig may be late, unlike a real servo
BESIDE: Final = 3  # least delay in samples: interpolation needs a later sample


class _AnsweringPty(Pty):
    """A pseudo-terminal on which servos answer in a thread, since a reader waits for each answer."""

    def __init__(self, link: Path | None, idents: Sequence[int], sample: Callable[[ServoBank], None]) -> None:
        """sample: puts what the servos measure now into their registers."""
        super().__init__(link)
        self.lock = threading.Lock()
        self.bank = ServoBank(idents)
        self._sample = sample
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self._thread.start()

    def _answer(self) -> None:
        while not self._over.is_set():
            if select.select([self.master], [], [], WAIT)[0] and not self.listening():
                self._over.wait(ALONE)

    def listening(self) -> bool:
        """Whether a program has the port open; also answers its requests."""
        with self.lock:
            return super().listening()

    def hear(self, data: bytes) -> None:
        """Answer each request; servos sample when they are asked."""
        self._sample(self.bank)
        self.send([answer for _, answers in self.bank.hear(data) for answer in answers])

    def close(self) -> None:
        """End the thread, then the terminal."""
        self._over.set()
        self._thread.join()
        super().close()


class PolledServoWire(ServoWire):
    """A bus that plays the rig: each of its messages is a servo, which measures between the rig's samples, too."""

    pty: _AnsweringPty

    def __init__(self, link: Path | None, messages: Sequence[Message], rate: float) -> None:
        self._began = 0.0  # s at which sample 0 was due
        self._lag = max(BESIDE, math.ceil(LAG * rate))
        self._newest: deque[tuple[int, Sequence[tuple[float, ...]]]] = deque(maxlen=2 * self._lag)
        super().__init__(link, messages, rate)

    def line(self, link: Path | None) -> Pty:
        """The terminal with the servos."""
        return _AnsweringPty(link, self.idents, self.sample)

    def publish(self, number: int, values: Sequence[tuple[float, ...]]) -> None:
        """Remember one sample."""
        with self.pty.lock:
            self._began = self._began or time.monotonic() - number / self.rate
            self._newest.append((number, values))

    def sample(self, bank: ServoBank) -> None:
        """Put the present motion, LAG late, into the registers, interpolated between two samples of the rig."""
        if not self._newest:
            return
        place = (time.monotonic() - self._began) * self.rate - self._lag
        at = math.floor(place) - self._newest[0][0]
        before, behind = (self._newest[min(max(at + one, 0), len(self._newest) - 1)] for one in (0, 1))
        part = min(1.0, max(0.0, (place - before[0]) / (behind[0] - before[0]))) if behind[0] > before[0] else 0.0
        for ident, message, first, second in zip(self.idents, self.messages, before[1], behind[1], strict=True):
            values = [a + part * (b - a) for a, b in zip(first, second, strict=True)]
            bank.registers[ident][CURRENT : CURRENT + LENGTH] = registers(message, values)

    def full(self) -> bool:
        """Return False, since servos do not block the rig; also sends bytes that the kernel has not taken yet."""
        with self.pty.lock:
            self.pty.push()
        return False

    def table(self) -> list[str]:
        """Lines of [drivers.NAME]."""
        return [*super().table(), f"poll = true\npoll_rate = {self.rate:g}"]
