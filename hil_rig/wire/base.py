"""What the device's end of a wire is: frames go out, a reader may come, vanish (even killed) and come back.

A wire never blocks the rig: what the kernel does not take waits in a backlog as large as an adapter's buffer, what that
does not hold is refused and counted.
"""

from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hil_rig.messages import Message, MessageFrame

STRANGE_ID: Final = 0x7F5  # of an unknown frame or packet
STRANGE_PACKET: Final = 0xFE


class Wire(Protocol):
    """Where frames go. `sent`, `refused`, `unheard` count frames: taken, not taken, and without anyone listening."""

    device: str
    settle: float
    burst: int  # frames that may go out in a row
    sent: int
    refused: int
    unheard: int

    def listening(self) -> bool:
        """Whether somebody is there; also answers what the reader says."""

    def send(self, units: Sequence[bytes]) -> None:
        """Hand over formed frames; returns at once."""

    def full(self) -> bool:
        """Whether a frame would have to wait."""

    def form(self, frame: MessageFrame) -> bytes:
        """A frame as it stands on the wire."""

    def cut(self, frame: MessageFrame, rng: np.random.Generator) -> bytes:
        """The bytes of a frame without its end."""

    def miscounted(self, frame: MessageFrame) -> bytes:
        """The bytes of a frame with a wrong checksum. Raises RigError where the wire has none of its own."""

    def stranger(self, rng: np.random.Generator) -> bytes:
        """A good frame with an unknown id."""

    def rubbish(self, rng: np.random.Generator) -> bytes:
        """Bytes that are no frame; they do not damage the next one."""

    def close(self) -> None:
        """Give the wire back, and remove what pointed at it."""


@runtime_checkable
class PackedWire(Wire, Protocol):
    """A wire that takes a whole sample's frames in one call, as rows of bytes that only differ in their data."""

    def template(self, message: Message) -> tuple[bytes, int]:
        """A frame of this message as it stands on the wire, and where its fields begin; the counter is after them."""

    def send_packed(self, samples: NDArray[np.uint8], ends: Sequence[int]) -> None:
        """Hand over the frames of some samples, (samples, bytes); ends: of the frames within a sample."""


def without(rng: np.random.Generator, delimiters: bytes) -> bytes:
    """Random bytes, none of which ends a frame."""
    return rng.bytes(int(rng.integers(1, 20))).translate(None, delimiters)
