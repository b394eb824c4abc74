"""Frames of a classic CAN bus, and an slcan adapter that speaks them over a pseudo-terminal."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from hil_rig.messages import MessageFrame
from hil_rig.plants.base import RigError
from hil_rig.wire.base import STRANGE_ID, without
from hil_rig.wire.pty import Pty


class CanFrames:
    """Frames of up to eight bytes: the fields and the sample counter."""

    def form(self, frame: MessageFrame) -> bytes:
        return self._can(frame.message.can_id, self._payload(frame))

    def cut(self, frame: MessageFrame, rng: np.random.Generator) -> bytes:
        payload = self._payload(frame)
        return self._can(frame.message.can_id, payload[: rng.integers(1, len(payload))])

    def miscounted(self, frame: MessageFrame) -> bytes:
        raise RigError(f"expected the fault crc on serial only: a CAN adapter checks {frame.message.name} by itself")

    def stranger(self, rng: np.random.Generator) -> bytes:
        return self._can(STRANGE_ID, rng.bytes(8))

    def _payload(self, frame: MessageFrame) -> bytes:
        return frame.fields + frame.counter.to_bytes(2, "little")

    def _can(self, identifier: int, payload: bytes) -> bytes:
        raise NotImplementedError


class SlcanWire(CanFrames, Pty):
    """An slcan adapter (LAWICEL protocol): silent until its channel is opened; frames sent to it go nowhere."""

    settle = 0.0
    ANSWERS: Final[Mapping[bytes, bytes]] = {
        **dict.fromkeys((b"S", b"s", b"Y", b"Z", b"M", b"m", b"W", b"Q", b"X", b"U", b""), b"\r"),
        **{b"V": b"V1013\r", b"v": b"v0100\r", b"N": b"NRIG0\r", b"F": b"F00\r"},
        **dict.fromkeys((b"t", b"r", b"d", b"b"), b"z\r"),
        **dict.fromkeys((b"T", b"R", b"D", b"B"), b"Z\r"),
    }

    def __init__(self, link: Path | None) -> None:
        super().__init__(link)
        self._open = False
        self._command = b""

    def listening(self) -> bool:
        """Whether a program has opened the port and the adapter's channel."""
        self._open = super().listening() and self._open
        return self._open

    def hear(self, data: bytes) -> None:
        *commands, self._command = (self._command + data).split(b"\r")
        self._command = self._command[-256:]
        for command in commands:
            self._obey(command[:1])
        self.push()

    def _obey(self, letter: bytes) -> None:
        answer = self.ANSWERS.get(letter, b"\a")
        if letter in (b"O", b"L"):
            self._open, answer = True, b"\r"
        elif letter == b"C":
            self._open, answer = False, b"\r"
            self.forget()
        self.queue(answer, 0)

    def forget(self) -> None:
        self._command = b""
        super().forget()

    def _can(self, identifier: int, payload: bytes) -> bytes:
        return f"t{identifier:03X}{len(payload)}{payload.hex().upper()}\r".encode()

    def rubbish(self, rng: np.random.Generator) -> bytes:
        return b"#" + without(rng, b"\r\a") + b"\r"
