"""The interface of a wire's device end: it sends frames, and a reader may connect, vanish (even killed) and return.

A wire never blocks the rig: frames that the kernel does not take wait in a backlog as large as an adapter's buffer, and
frames that do not fit are refused and counted.
"""

from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hil_rig.messages import Message, MessageFrame

STRANGE_ID: Final = 0x7F5  # id of an unknown frame or packet
STRANGE_PACKET: Final = 0xFE


class Wire(Protocol):
    """A wire. `sent`, `refused` and `unheard` count frames: taken, not taken, and sent without a reader."""

    device: str
    settle: float
    burst: int  # largest number of frames in a row
    sent: int
    refused: int
    unheard: int

    def listening(self) -> bool:
        """Whether a reader is connected; also answers its requests."""

    def send(self, units: Sequence[bytes]) -> None:
        """Send encoded frames; returns at once."""

    def full(self) -> bool:
        """Whether a frame would have to wait."""

    def form(self, frame: MessageFrame) -> bytes:
        """Encode a frame for the wire."""

    def cut(self, frame: MessageFrame, rng: np.random.Generator) -> bytes:
        """Return the bytes of a frame without its end."""

    def miscounted(self, frame: MessageFrame) -> bytes:
        """Return the bytes of a frame with a wrong checksum. Raises RigError if the wire has no checksum of its own."""

    def stranger(self, rng: np.random.Generator) -> bytes:
        """Return a valid frame with an unknown id."""

    def rubbish(self, rng: np.random.Generator) -> bytes:
        """Return bytes that are not a frame and do not damage the next frame."""

    def close(self) -> None:
        """Close the wire, and remove its symbolic link."""


@runtime_checkable
class PackedWire(Wire, Protocol):
    """A wire that sends the frames of a whole sample in one call, as rows of bytes that differ only in their data."""

    def template(self, message: Message) -> tuple[bytes, int]:
        """Return an encoded frame of this message, and the place of its fields; the counter follows them."""

    def send_packed(self, samples: NDArray[np.uint8], ends: Sequence[int]) -> None:
        """Send the frames of some samples, (samples, bytes); ends: ends of the frames within a sample."""


def without(rng: np.random.Generator, delimiters: bytes) -> bytes:
    """Return random bytes without a delimiter of frames."""
    return rng.bytes(int(rng.integers(1, 20))).translate(None, delimiters)
