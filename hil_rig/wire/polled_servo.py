"""A bus of Dynamixel servos on a pseudo-terminal that has no master: the servos answer whoever reads them."""

import select
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hil_rig.wire.pty import Pty
from hil_rig.wire.servo import CURRENT, LENGTH, ServoBank, ServoWire, registers

WAIT: Final = 0.05  # s between looks whether the rig is over
ALONE: Final = 0.005  # s between looks for a reader


class _AnsweringPty(Pty):
    """A terminal behind which servos answer, in a thread: a reader waits for each answer."""

    def __init__(self, link: Path | None, idents: Sequence[int]) -> None:
        super().__init__(link)
        self.lock = threading.Lock()
        self.bank = ServoBank(idents)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self._thread.start()

    def _answer(self) -> None:
        while not self._over.is_set():
            if select.select([self._master], [], [], WAIT)[0] and not self.listening():
                self._over.wait(ALONE)

    def listening(self) -> bool:
        """Whether some program has the port open; answers what it asks."""
        with self.lock:
            return super().listening()

    def hear(self, data: bytes) -> None:
        """Answer each request."""
        self.send([answer for _, answers in self.bank.hear(data) for answer in answers])

    def close(self) -> None:
        """End the thread, then the terminal."""
        self._over.set()
        self._thread.join()
        super().close()


class PolledServoWire(ServoWire):
    """A bus that plays the rig: each of its messages is a servo, whose registers hold the newest sample."""

    _pty: _AnsweringPty

    def line(self, link: Path | None) -> Pty:
        """The terminal with the servos."""
        return _AnsweringPty(link, self._idents)

    def publish(self, _number: int, values: Sequence[tuple[float, ...]]) -> None:
        """Put one sample into the registers."""
        with self._pty.lock:
            for ident, one, mine in zip(self._idents, self.messages, values, strict=True):
                self._pty.bank.registers[ident][CURRENT : CURRENT + LENGTH] = registers(one, mine)

    def full(self) -> bool:
        """Servos make nobody wait; what the kernel has not taken goes out now."""
        with self._pty.lock:
            self._pty.push()
        return False

    def table(self) -> list[str]:
        """Lines of [drivers.NAME]."""
        return [*super().table(), f"poll = true\npoll_rate = {self.rate:g}"]
