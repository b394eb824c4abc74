"""Reads hundreds of frames from a socket and decodes them, from waiting to readings in one kernel call.

The structures are those of recvmmsg(2), cmsg(3) and linux/can.h.

Time stamps are on CLOCK_REALTIME. Each is converted with the present difference of the clocks. If the result is
impossible (before the queue was last empty, or later than now) because the clock was set, the difference of the last
call is used. If that is impossible too, the frame gets the time at which it is read.
"""

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from drivers.can import packed_frame
from drivers.can.burst import Burst, burst_missed, first_frame_came, note_frames, time_of_burst
from drivers.can.packed_frame import PackedRead
from drivers.can.system_calls import MONOTONIC, difference, errno_location, now, readable, recvmmsg, sleep_until
from drivers.decode.extract import CompiledLayout, extract
from drivers.jit import inline, kernel
from drivers.layout.frame import REMOTE
from jointwatch_numba.layout import Array, IntegerMatrix, Integers, Layout, Scratch

SO_TIMESTAMPNS: Final = 35
SO_RXQ_OVFL: Final = 40
CONTROL: Final = 12  # words of a record's control messages: 32 bytes for the stamp, 24 for the drops, and spare
# words of a struct mmsghdr
NAME_SIZE: Final = 1
VECTOR: Final = 2  # address of the buffer for the bytes
VECTORS: Final = 3
CONTROLS: Final = 4  # address of the control messages
CONTROL_SIZE: Final = 5
FLAGS: Final = 6
SIZE: Final = 7
HEADER: Final = 8  # number of words
_CLASSIC: Final = 16
FLEXIBLE: Final = 72  # bytes of a record
_OWN_FRAME: Final = 0x4  # MSG_DONTROUTE: the frame was sent by this host
_CUT_OFF: Final = 0x20  # MSG_TRUNC
_DONTWAIT: Final = 0x40
_STAMP: Final = 1 | SO_TIMESTAMPNS << 32  # level SOL_SOCKET and type of a control message
_DROPS: Final = 1 | SO_RXQ_OVFL << 32
_SLACK: Final = 10_000_000  # ns; some clocks tick as coarsely
_AGAIN: Final = (11, 4)  # EAGAIN, EINTR
Words = Annotated[NDArray[np.uint64], Array("u8", 2)]
Marks = Annotated[NDArray[np.uint32], Array("u4", 2)]


class Intake(Layout):
    """The state of reading a socket between two calls, and the buffers for its frames. Instants are ns."""

    descriptor: int
    packed: bool  # whether datagrams are python-can's maps instead of the kernel's records
    keep_own: bool  # whether frames of this host are delivered too
    burst: Burst
    # what the system call fills
    headers: Annotated[IntegerMatrix, "records", "8"]  # struct mmsghdr of each record
    records: Annotated[Words, "records", "width"]  # bytes of each record
    control: Annotated[IntegerMatrix, "records", "12"]  # control messages of each record
    # clocks, errors and counts
    difference: int = 0  # CLOCK_REALTIME − CLOCK_MONOTONIC at the last read
    empty: int = 0  # time at which the queue was last empty, monotonic
    seen_drops: int = 0  # last value of the kernel's 32-bit counter
    dropped: int = 0  # frames that the kernel dropped
    own: int = 0  # frames that this host sent
    malformed: int = 0  # records that are no frames
    restamped: int = 0  # frames with an impossible time stamp, which was replaced
    errors: int = 0  # error frames
    errno: int = 0  # error number of a failed call
    pending: int = 0  # errno that the next call reports; 0: none
    # frames
    marks: Annotated[Marks, "2", "frames"]  # ids; flags of the readings
    words: Annotated[Words, "frames", "8"]  # payload
    lengths: Annotated[Integers, "frames"]  # bytes
    times: Annotated[Integers, "frames"]  # monotonic
    # what they are decoded by, and where the readings go, three words each
    layout: CompiledLayout
    readings: Integers
    # scratch
    found: PackedRead  # a frame's id and length …
    clocks: Scratch[Annotated[Integers, "2"]]  # … and a struct timespec, or pollfd


@inline
def _believable(time, empty, arrived):  # type: ignore[no-untyped-def]
    """Whether a frame can have arrived at this time: after the queue was empty and before now."""
    return empty - _SLACK <= time <= arrived + _SLACK


@kernel((Intake,))
def settle(intake):  # type: ignore[no-untyped-def]
    """Initialise the clocks when a socket is opened."""
    intake.difference = difference(intake.clocks)
    intake.empty = now(MONOTONIC, intake.clocks)


@inline
def _control_messages(control, size, intake):  # type: ignore[no-untyped-def]
    """Return the time stamp in a record's control messages (CLOCK_REALTIME, ns; 0: none), and add up dropped frames."""
    stamp = np.int64(0)
    place = 0
    while 8 * place + 16 <= size:
        if control[place + 1] == _STAMP:
            stamp = control[place + 2] * 1_000_000_000 + control[place + 3]
        elif control[place + 1] == _DROPS:
            drops = control[place + 2] & 0xFFFFFFFF
            intake.dropped += (drops - intake.seen_drops) & 0xFFFFFFFF
            intake.seen_drops = drops
        if control[place] < 16:
            break
        place += (control[place] + 7) // 8
    return stamp


@inline
def _time(stamp, apart, arrived, intake):  # type: ignore[no-untyped-def]
    """Convert a time stamp to CLOCK_MONOTONIC."""
    time = stamp - apart
    if not _believable(time, intake.empty, arrived):
        time = stamp - intake.difference
        if not _believable(time, intake.empty, arrived):
            intake.restamped += 1
            return arrived
    return min(time, arrived)


@inline
def _record(record, size, cut_off, words, found):  # type: ignore[no-untyped-def]
    """Parse a record of the kernel into `words` and `found`. Returns whether it is a valid frame."""
    ident = np.int64(record[0])
    length = (ident >> 32) & 0xFF
    if size not in (_CLASSIC, FLEXIBLE) or length > size - 8 or cut_off:
        return False
    if ident & REMOTE:  # its length is what it asks for
        length = np.int64(0)
    for word in range((length + 7) // 8):
        words[word] = record[1 + word]
    found.ident, found.length = ident & 0xFFFFFFFF, length
    return True


@inline
def _take(intake):  # type: ignore[no-untyped-def]
    """Read all available frames without waiting. Returns their number, or −1 and sets `errno` of the intake."""
    headers, records, control, clocks = intake.headers, intake.records, intake.control, intake.clocks
    marks, words, one_frame = intake.marks, intake.words, intake.found
    found = 0
    apart = np.int64(0)
    while found + len(headers) <= len(intake.times):
        before = now(MONOTONIC, clocks)
        taken = recvmmsg(intake.descriptor, headers.ctypes.data, len(headers), _DONTWAIT, 0)
        if taken < 0:
            code = np.int64(errno_location()[0])
            if found == 0:
                intake.errno = code
                return -1
            intake.pending = 0 if code in _AGAIN else code
            break
        if found == 0 or taken == len(headers):
            apart = difference(clocks)
        arrived = now(MONOTONIC, clocks)
        for one in range(taken):
            stamp = _control_messages(control[one], headers[one, CONTROL_SIZE], intake)
            size = headers[one, SIZE] & 0xFFFFFFFF
            flags = headers[one, FLAGS]
            headers[one, NAME_SIZE], headers[one, CONTROL_SIZE] = 0, 8 * CONTROL  # for the next call
            cut_off = flags & _CUT_OFF
            if intake.packed:
                whole = records[one].view(np.uint8)
                good = cut_off == 0 and packed_frame.read(whole, size, words[found].view(np.uint8), one_frame)
            else:
                good = _record(records[one], size, cut_off, words[found], one_frame)
            if not good:
                intake.malformed += 1
                continue
            own = flags & _OWN_FRAME
            if own:
                intake.own += 1
                if not intake.keep_own:
                    continue
            marks[0, found], marks[1, found] = one_frame.ident, 1 if own else 0
            intake.errors += (one_frame.ident >> 29) & 1
            intake.lengths[found] = one_frame.length
            intake.times[found] = arrived if stamp == 0 else _time(stamp, apart, arrived, intake)
            found += 1
        if taken < len(headers):
            intake.empty = before
            break
    if apart != 0:
        intake.difference = apart
    return found


@inline
def _wait_and_take(timeout, intake):  # type: ignore[no-untyped-def]
    """Read the next burst: as a whole if it is predicted, else all frames that are available with its first frame."""
    if intake.pending:
        intake.errno, intake.pending = intake.pending, 0
        return -1
    burst, clocks = intake.burst, intake.clocks
    found = 0
    until = time_of_burst(burst, now(MONOTONIC, clocks))
    if until > 0:
        sleep_until(until, clocks)
        found = _take(intake)
        if found > 0:
            first_frame_came(burst, until, True)
        elif found < 0 and intake.errno not in _AGAIN:
            return found
        else:
            burst_missed(burst)
    if found <= 0:
        if readable(intake.descriptor, timeout, clocks):
            arrived = now(MONOTONIC, clocks)
            pause = first_frame_came(burst, arrived, False)
            if pause > 0:
                sleep_until(arrived + pause, clocks)
        found = _take(intake)
    if found > 0:
        burst.read = now(MONOTONIC, clocks)
        note_frames(burst, intake.times[:found])
    return found


@kernel(("i4", Intake))
def receive(timeout, intake):  # type: ignore[no-untyped-def]
    """Wait (timeout: ms) and read frames. Returns their number, or −1 and sets `errno` of the intake."""
    return _wait_and_take(timeout, intake)


@kernel(("i4", Intake))
def read(timeout, intake):  # type: ignore[no-untyped-def]
    """Read and decode in one call (see extract). Returns the numbers of frames and of readings, or −1."""
    found = _wait_and_take(timeout, intake)
    if found <= 0:
        return found, 0
    made = extract(
        intake.marks[0, :found], intake.words[:found], intake.lengths[:found], intake.times[:found],
        intake.marks[1, :found], intake.layout, intake.readings,
    )  # fmt: skip
    return found, made
