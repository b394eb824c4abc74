"""SocketCAN's records taken from a socket by the hundred: recvmmsg, time stamps and drop counts in one kernel.

Linux on 64-bit little-endian machines; the structures are those of recvmmsg(2), cmsg(3) and linux/can.h. Any datagram
socket will do whose datagrams are can_frame (16 bytes) or canfd_frame (72), which is how its speed is measured where
there is no CAN, or python-can's maps (packed_frame).

Stamps come as CLOCK_REALTIME. Each is converted with the difference of the clocks as it is now; where that cannot be
true (before the queue was last empty, or later than now), because somebody has set the clock, with the difference as
it was at the last call; where neither can be true, the frame is stamped as it is taken.
"""

import ctypes
import errno
import math
import select
import socket
from typing import Any, Final

import numpy as np
from numba import types

from drivers.can import packed_frame
from drivers.can.burst import Burst
from drivers.jit import INTERPRETED, inline, kernel
from drivers.layout.frame import REMOTE, Frames

MOST: Final = 4096  # frames in one go: a flooded bus must not keep its first frames waiting
SO_TIMESTAMPNS: Final = 35
SO_RXQ_OVFL: Final = 40
_RECORDS: Final = 256  # in one system call; their buffers stay in the cache
_CLASSIC: Final = 16
_FLEXIBLE: Final = 72  # bytes of a record
_PACKED: Final = 1024  # bytes that a map may have; python-can's have 170 to 270
_OWN_FRAME: Final = 0x4  # MSG_DONTROUTE: sent by this host
_CUT_OFF: Final = 0x20  # MSG_TRUNC
_DONTWAIT: Final = 0x40
_STAMP: Final = 1 | SO_TIMESTAMPNS << 32  # level SOL_SOCKET and type of a control message
_DROPS: Final = 1 | SO_RXQ_OVFL << 32
_CONTROL: Final = 12  # words: 32 bytes for the stamp, 24 for the drops, and spare
_SLACK: Final = 10_000_000  # ns; some clocks tick as coarsely
_REALTIME, _MONOTONIC = 0, 1
# state between two calls
_DIFFERENCE, _EMPTY, _SEEN_DROPS, _DROPPED, _OWN, _MALFORMED, _ERRNO, _PENDING, _RESTAMPED, _ERRORS = range(10)


def _functions() -> tuple[Any, Any, Any]:
    """recvmmsg, clock_gettime and where errno is; by name: a kernel with an address in it could not be kept on disk."""
    if not INTERPRETED:
        where = types.CPointer(types.int32)  # type: ignore[no-untyped-call]
        return (
            types.ExternalFunction(
                "recvmmsg", types.int32(types.int32, types.intp, types.uint32, types.int32, types.intp)
            ),
            types.ExternalFunction("clock_gettime", types.int32(types.int32, types.intp)),
            types.ExternalFunction("__errno_location", where()),
        )
    c = ctypes.CDLL(None, use_errno=True)
    c.recvmmsg.argtypes = (ctypes.c_int, ctypes.c_ssize_t, ctypes.c_uint, ctypes.c_int, ctypes.c_ssize_t)
    c.clock_gettime.argtypes = (ctypes.c_int, ctypes.c_ssize_t)
    return c.recvmmsg, c.clock_gettime, lambda: [ctypes.get_errno()]


_recvmmsg, _clock_gettime, _errno_location = _functions()


class Receiver:
    """Takes frames from a socket in bulk. What `receive` returns is valid until its next call.

    `dropped` counts what the kernel dropped for want of room in the socket's queue (known with the next frame), `own`
    the frames that this host sent, `malformed` records that are none, `errors` error frames.
    """

    def __init__(self, descriptor: int, keep_own: bool = True, packed: bool = False) -> None:
        """packed: the datagrams are python-can's maps, not the kernel's records."""
        self._descriptor, self._keep_own, self._packed = descriptor, keep_own, packed
        width = _PACKED if packed else _FLEXIBLE
        self._burst = Burst()
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._records = np.zeros((_RECORDS, width // 8), np.uint64)
        self._bytes = self._records.view(np.uint8)
        self._found = np.zeros(8, np.int64)
        self._control = np.zeros((_RECORDS, _CONTROL), np.int64)
        self._vectors = np.zeros((_RECORDS, 2), np.int64)
        self._headers = np.zeros((_RECORDS, 8), np.int64)
        self._vectors[:, 0] = self._records.ctypes.data + width * np.arange(_RECORDS)
        self._vectors[:, 1] = width
        self._headers[:, 2] = self._vectors.ctypes.data + 16 * np.arange(_RECORDS)
        self._headers[:, 3] = 1
        self._headers[:, 4] = self._control.ctypes.data + 8 * _CONTROL * np.arange(_RECORDS)
        self._clocks = np.zeros(2, np.int64)
        self._state = np.zeros(10, np.int64)
        self._ids, self._flags = np.zeros((2, MOST), np.uint32)
        self._payload = np.zeros((MOST, 64), np.uint8)
        self._words = self._payload.view(np.uint64)
        self._lengths, self._times = np.zeros((2, MOST), np.int64)
        _settle(self._state, self._clocks)

    @property
    def dropped(self) -> int:
        """Frames that the kernel dropped."""
        return int(self._state[_DROPPED])

    @property
    def own(self) -> int:
        """Frames that this host sent."""
        return int(self._state[_OWN])

    @property
    def malformed(self) -> int:
        """Records that are no frames."""
        return int(self._state[_MALFORMED])

    @property
    def errors(self) -> int:
        """Error frames."""
        return int(self._state[_ERRORS])

    @property
    def restamped(self) -> int:
        """Frames whose own stamp could not be true."""
        return int(self._state[_RESTAMPED])

    def receive(self, timeout: float) -> Frames:
        """Wait for the first frame, then take all that are there. Raises OSError."""
        if self._burst.foresee() and self._poll.poll(0):
            self._burst.gather(whole=True)
        elif self._poll.poll(math.ceil(1000 * max(0.0, timeout))):
            self._burst.gather()
        found = _receive(
            self._descriptor,
            self._packed,
            self._found,
            self._headers,
            self._records,
            self._bytes,
            self._control,
            self._clocks,
            self._state,
            self._keep_own,
            self._ids,
            self._words,
            self._payload,
            self._lengths,
            self._times,
            self._flags,
        )
        if found < 0:
            code = int(self._state[_ERRNO])
            if code not in (errno.EAGAIN, errno.EINTR):
                raise OSError(code, f"error {errno.errorcode.get(code, code)} of the socket")
            found = 0
        if found:
            self._burst.note(int(self._times[0]))
        return Frames(
            self._ids[:found], self._payload[:found], self._lengths[:found], self._times[:found], self._flags[:found]
        )


def prepare(sock: socket.socket) -> None:
    """Ask the kernel to stamp every datagram and to say how many it dropped."""
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    sock.setsockopt(socket.SOL_SOCKET, SO_RXQ_OVFL, 1)


@inline
def _now(clock, clocks):  # type: ignore[no-untyped-def]
    """ns of a clock."""
    _clock_gettime(clock, clocks.ctypes.data)
    return clocks[0] * 1_000_000_000 + clocks[1]


@inline
def _difference(clocks):  # type: ignore[no-untyped-def]
    """CLOCK_REALTIME − CLOCK_MONOTONIC in ns, read again where something came between."""
    best = np.int64(1 << 62)
    difference = np.int64(0)
    for _ in range(5):
        before = _now(_MONOTONIC, clocks)
        real = _now(_REALTIME, clocks)
        after = _now(_MONOTONIC, clocks)
        if after - before < best:
            best = after - before
            difference = real - (before + after) // 2
        if best < 2000:
            break
    return difference


@inline
def _believable(time, empty, arrived):  # type: ignore[no-untyped-def]
    """Whether a frame can have come then: after the queue was empty, before now."""
    return empty - _SLACK <= time <= arrived + _SLACK


@kernel("void(i8[::1], i8[::1])")
def _settle(state, clocks):  # type: ignore[no-untyped-def]
    """The clocks as they are when a socket is opened."""
    state[_DIFFERENCE] = _difference(clocks)
    state[_EMPTY] = _now(_MONOTONIC, clocks)


@inline
def _control_messages(control, size, state):  # type: ignore[no-untyped-def]
    """The stamp in a record's control messages (ns of CLOCK_REALTIME, 0: none); drops are added up."""
    stamp = np.int64(0)
    place = 0
    while 8 * place + 16 <= size:
        if control[place + 1] == _STAMP:
            stamp = control[place + 2] * 1_000_000_000 + control[place + 3]
        elif control[place + 1] == _DROPS:
            drops = control[place + 2] & 0xFFFFFFFF
            state[_DROPPED] += (drops - state[_SEEN_DROPS]) & 0xFFFFFFFF
            state[_SEEN_DROPS] = drops
        if control[place] < 16:
            break
        place += (control[place] + 7) // 8
    return stamp


@inline
def _time(stamp, difference, arrived, state):  # type: ignore[no-untyped-def]
    """A stamp on CLOCK_MONOTONIC."""
    time = stamp - difference
    if not _believable(time, state[_EMPTY], arrived):
        time = stamp - state[_DIFFERENCE]
        if not _believable(time, state[_EMPTY], arrived):
            state[_RESTAMPED] += 1
            return arrived
    return min(time, arrived)


@inline
def _record(record, size, cut_off, words, head):  # type: ignore[no-untyped-def]
    """Read a record of the kernel; head: id with flags, and length. Returns whether it is one."""
    ident = np.int64(record[0])
    length = (ident >> 32) & 0xFF
    if size not in (_CLASSIC, _FLEXIBLE) or length > size - 8 or cut_off:
        return False
    if ident & REMOTE:  # its length is what it asks for
        length = np.int64(0)
    for word in range((length + 7) // 8):
        words[word] = record[1 + word]
    head[0], head[1] = ident & 0xFFFFFFFF, length
    return True


@kernel(
    "i8(i4, b1, i8[::1], i8[:,::1], u8[:,::1], u1[:,::1], i8[:,::1], i8[::1], i8[::1], b1, "
    "u4[::1], u8[:,::1], u1[:,::1], i8[::1], i8[::1], u4[::1])"
)
def _receive(  # type: ignore[no-untyped-def]
    descriptor,
    packed,
    head,
    headers,
    records,
    raw,
    control,
    clocks,
    state,
    keep_own,
    ids,
    words,
    payload,
    lengths,
    times,
    flags,
):
    """Take what is there, without waiting. Returns the number of frames, or −1 and the state's errno."""
    if state[_PENDING]:
        state[_ERRNO] = state[_PENDING]
        state[_PENDING] = 0
        return -1
    found = 0
    difference = np.int64(0)
    while found + len(headers) <= len(ids):
        for one in range(len(headers)):
            headers[one, 1] = 0
            headers[one, 5] = 8 * control.shape[1]
        before = _now(_MONOTONIC, clocks)
        taken = _recvmmsg(descriptor, headers.ctypes.data, len(headers), _DONTWAIT, 0)
        if taken < 0:
            code = np.int64(_errno_location()[0])
            if found == 0:
                state[_ERRNO] = code
                return -1
            state[_PENDING] = 0 if code in (11, 4) else code  # EAGAIN, EINTR
            break
        if found == 0 or taken == len(headers):
            difference = _difference(clocks)
        arrived = _now(_MONOTONIC, clocks)
        for one in range(taken):
            stamp = _control_messages(control[one], headers[one, 5], state)
            size = headers[one, 7] & 0xFFFFFFFF
            cut_off = headers[one, 6] & _CUT_OFF
            if packed:
                good = cut_off == 0 and packed_frame.read(raw[one], size, payload[found], head)
            else:
                good = _record(records[one], size, cut_off, words[found], head)
            if not good:
                state[_MALFORMED] += 1
                continue
            own = headers[one, 6] & _OWN_FRAME
            if own:
                state[_OWN] += 1
                if not keep_own:
                    continue
            ids[found] = head[0]
            state[_ERRORS] += (head[0] >> 29) & 1
            lengths[found] = head[1]
            flags[found] = 1 if own else 0
            times[found] = arrived if stamp == 0 else _time(stamp, difference, arrived, state)
            found += 1
        if taken < len(headers):
            state[_EMPTY] = before
            break
    if difference != 0:
        state[_DIFFERENCE] = difference
    return found
