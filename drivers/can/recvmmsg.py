"""Reads a socket whose datagrams are CAN frames in bulk, with time stamps and counts of dropped frames.

It requires Linux on a 64-bit little-endian machine. It can read any datagram socket whose datagrams are can_frame (16
bytes), canfd_frame (72 bytes) or python-can's maps (packed_frame), so its speed can be measured without CAN.
"""

import errno
import math
import socket
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivers.can import take
from drivers.can.burst import Burst
from drivers.can.packed_frame import PackedRead
from drivers.decode.decoder import NOTHING, Decoder
from drivers.layout.frame import Frames
from drivers.reading import READING, WORDS, empty

MOST: Final = 4096  # frames in one read: on a flooded bus the first frames must not wait
_RECORDS: Final = 256  # records in one system call; their buffers stay in the cache
_PACKED: Final = 1024  # largest size of a map in bytes; python-can's maps have 170 to 270


class BulkReceiver:
    """Reads frames from a socket in bulk. The result of `receive` is valid until its next call.

    `dropped` counts frames that the kernel dropped because the socket's queue was full (known with the next frame),
    `own` frames that this host sent, `malformed` records that are not frames, and `errors` error frames.
    """

    def __init__(self, descriptor: int, keep_own: bool = True, packed: bool = False) -> None:
        """packed: whether the datagrams are python-can's maps instead of the kernel's records."""
        width = _PACKED if packed else take.FLEXIBLE
        records = np.zeros((_RECORDS, width // 8), np.uint64)
        control = np.zeros((_RECORDS, take.CONTROL), np.int64)
        self._vectors = np.zeros((_RECORDS, 2), np.int64)  # where a record's bytes go, and how many
        self._vectors[:, 0] = records.ctypes.data + width * np.arange(_RECORDS)
        self._vectors[:, 1] = width
        headers = np.zeros((_RECORDS, take.HEADER), np.int64)
        headers[:, take.VECTOR] = self._vectors.ctypes.data + 16 * np.arange(_RECORDS)
        headers[:, take.VECTORS] = 1
        headers[:, take.CONTROLS] = control.ctypes.data + 8 * take.CONTROL * np.arange(_RECORDS)
        headers[:, take.CONTROL_SIZE] = 8 * take.CONTROL
        self._payload = np.zeros((MOST, 64), np.uint8)
        self._intake = take.Intake(
            descriptor=descriptor,
            packed=packed,
            keep_own=keep_own,
            burst=Burst(),
            headers=headers,
            records=records,
            control=control,
            marks=np.zeros((2, MOST), np.uint32),
            words=self._payload.view(np.uint64),
            lengths=np.zeros(MOST, np.int64),
            times=np.zeros(MOST, np.int64),
            layout=NOTHING,
            readings=np.zeros(0, np.int64),
            found=PackedRead(),
            clocks=np.zeros(2, np.int64),
        )
        self._decoder: Decoder | None = None
        self._readings = memoryview(b"")
        take.settle(self._intake)

    @property
    def dropped(self) -> int:
        """Frames that the kernel dropped."""
        return self._intake.dropped

    @property
    def own(self) -> int:
        """Frames that this host sent."""
        return self._intake.own

    @property
    def malformed(self) -> int:
        """Records that are not frames."""
        return self._intake.malformed

    @property
    def errors(self) -> int:
        """Error frames."""
        return self._intake.errors

    @property
    def restamped(self) -> int:
        """Frames with an impossible time stamp, which was replaced."""
        return self._intake.restamped

    def receive(self, timeout: float) -> Frames:
        """Wait for the first frame, then read all available frames. Raises OSError."""
        return self.frames(self._checked(take.receive(_ms(timeout), self._intake)))

    def read(self, timeout: float, decoder: Decoder) -> tuple[int, NDArray[np.void]]:
        """Receive and decode in one call: how many frames, and a READING array. Raises OSError."""
        if decoder is not self._decoder:
            readings = np.zeros(MOST * decoder.most * WORDS, np.int64)
            self._decoder, self._intake.layout, self._intake.readings = decoder, decoder.layout, readings
            self._readings = readings.data.cast("B")
        found, made = take.read(_ms(timeout), self._intake)
        if made > 0:
            return found, np.frombuffer(bytes(self._readings[: made * READING.itemsize]), READING)
        found = self._checked(found)
        return found, decoder.decode(self.frames(found)) if made < 0 else empty()

    def frames(self, found: int) -> Frames:
        """Return the first `found` frames of the last read."""
        ids, flags = self._intake.marks[:, :found]
        return Frames(ids, self._payload[:found], self._intake.lengths[:found], self._intake.times[:found], flags)

    def _checked(self, found: int) -> int:
        """Return the number of frames. Raises OSError."""
        if found >= 0:
            return found
        code = self._intake.errno
        if code not in (errno.EAGAIN, errno.EINTR):
            raise OSError(code, f"error {errno.errorcode.get(code, code)} of the socket")
        return 0


def _ms(timeout: float) -> int:
    """Return the timeout in ms for poll(2), at least 0, since a negative timeout is infinite."""
    return math.ceil(1000 * max(0.0, timeout))


def prepare(sock: socket.socket) -> None:
    """Ask the kernel to stamp every datagram and to report the number of dropped ones."""
    sock.setsockopt(socket.SOL_SOCKET, take.SO_TIMESTAMPNS, 1)
    sock.setsockopt(socket.SOL_SOCKET, take.SO_RXQ_OVFL, 1)
