"""Frames taken from a socket by the hundred, and decoded: from the wait for them to the readings one kernel call.

The structures are those of recvmmsg(2), cmsg(3) and linux/can.h.

Stamps come as CLOCK_REALTIME. Each is converted with the difference of the clocks as it is now; where that cannot be
true (before the queue was last empty, or later than now), because somebody has set the clock, with the difference as
it was at the last call; where neither can be true, the frame is stamped as it is taken.
"""

from typing import Final

import numpy as np

from drivers.can import packed_frame
from drivers.can.burst import BURST, foreseen, met, missed, note
from drivers.can.burst import READ as LAST_READ
from drivers.can.system_calls import MONOTONIC, difference, errno_location, now, readable, recvmmsg, sleep_until
from drivers.decode.extract import extract
from drivers.jit import inline, kernel
from drivers.layout.frame import REMOTE

SO_TIMESTAMPNS: Final = 35
SO_RXQ_OVFL: Final = 40
CONTROL: Final = 12  # words of a record's control messages: 32 bytes for the stamp, 24 for the drops, and spare
# words of a struct mmsghdr
NAME_SIZE, VECTOR, VECTORS, CONTROLS, CONTROL_SIZE, FLAGS, SIZE, HEADER = 1, 2, 3, 4, 5, 6, 7, 8
_CLASSIC: Final = 16
FLEXIBLE: Final = 72  # bytes of a record
_OWN_FRAME: Final = 0x4  # MSG_DONTROUTE: sent by this host
_CUT_OFF: Final = 0x20  # MSG_TRUNC
_DONTWAIT: Final = 0x40
_STAMP: Final = 1 | SO_TIMESTAMPNS << 32  # level SOL_SOCKET and type of a control message
_DROPS: Final = 1 | SO_RXQ_OVFL << 32
_SLACK: Final = 10_000_000  # ns; some clocks tick as coarsely
_AGAIN: Final = (11, 4)  # EAGAIN, EINTR
# state between two calls; then scratch for clocks and for a frame's head, and what is known of bursts
DIFFERENCE, EMPTY, SEEN_DROPS, DROPPED, OWN, MALFORMED, ERRNO, PENDING, RESTAMPED, ERRORS, CLOCKS = range(11)
HEAD: Final = CLOCKS + 2
BURSTS: Final = HEAD + 8
STATE: Final = BURSTS + BURST


@inline
def _believable(time, empty, arrived):  # type: ignore[no-untyped-def]
    """Whether a frame can have come then: after the queue was empty, before now."""
    return empty - _SLACK <= time <= arrived + _SLACK


@kernel("void(i8[::1])")
def settle(state):  # type: ignore[no-untyped-def]
    """The clocks as they are when a socket is opened."""
    state[DIFFERENCE] = difference(state[CLOCKS:])
    state[EMPTY] = now(MONOTONIC, state[CLOCKS:])


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
            state[DROPPED] += (drops - state[SEEN_DROPS]) & 0xFFFFFFFF
            state[SEEN_DROPS] = drops
        if control[place] < 16:
            break
        place += (control[place] + 7) // 8
    return stamp


@inline
def _time(stamp, apart, arrived, state):  # type: ignore[no-untyped-def]
    """A stamp on CLOCK_MONOTONIC."""
    time = stamp - apart
    if not _believable(time, state[EMPTY], arrived):
        time = stamp - state[DIFFERENCE]
        if not _believable(time, state[EMPTY], arrived):
            state[RESTAMPED] += 1
            return arrived
    return min(time, arrived)


@inline
def _record(record, size, cut_off, words, head):  # type: ignore[no-untyped-def]
    """Read a record of the kernel; head: id with flags, and length. Returns whether it is one."""
    ident = np.int64(record[0])
    length = (ident >> 32) & 0xFF
    if size not in (_CLASSIC, FLEXIBLE) or length > size - 8 or cut_off:
        return False
    if ident & REMOTE:  # its length is what it asks for
        length = np.int64(0)
    for word in range((length + 7) // 8):
        words[word] = record[1 + word]
    head[0], head[1] = ident & 0xFFFFFFFF, length
    return True


@inline
def _take(  # type: ignore[no-untyped-def]
    descriptor, packed, keep_own, headers, records, control, state, marks, words, lengths, times
):
    """Take what is there, without waiting. Returns the number of frames, or −1 and the state's errno."""
    head, clocks = state[HEAD:], state[CLOCKS:]
    found = 0
    apart = np.int64(0)
    while found + len(headers) <= len(times):
        before = now(MONOTONIC, clocks)
        taken = recvmmsg(descriptor, headers.ctypes.data, len(headers), _DONTWAIT, 0)
        if taken < 0:
            code = np.int64(errno_location()[0])
            if found == 0:
                state[ERRNO] = code
                return -1
            state[PENDING] = 0 if code in _AGAIN else code
            break
        if found == 0 or taken == len(headers):
            apart = difference(clocks)
        arrived = now(MONOTONIC, clocks)
        for one in range(taken):
            stamp = _control_messages(control[one], headers[one, CONTROL_SIZE], state)
            size = headers[one, SIZE] & 0xFFFFFFFF
            flags = headers[one, FLAGS]
            headers[one, NAME_SIZE], headers[one, CONTROL_SIZE] = 0, 8 * CONTROL  # for the next call
            cut_off = flags & _CUT_OFF
            if packed:
                whole = records[one].view(np.uint8)
                good = cut_off == 0 and packed_frame.read(whole, size, words[found].view(np.uint8), head)
            else:
                good = _record(records[one], size, cut_off, words[found], head)
            if not good:
                state[MALFORMED] += 1
                continue
            own = flags & _OWN_FRAME
            if own:
                state[OWN] += 1
                if not keep_own:
                    continue
            marks[0, found], marks[1, found] = head[0], 1 if own else 0
            state[ERRORS] += (head[0] >> 29) & 1
            lengths[found] = head[1]
            times[found] = arrived if stamp == 0 else _time(stamp, apart, arrived, state)
            found += 1
        if taken < len(headers):
            state[EMPTY] = before
            break
    if apart != 0:
        state[DIFFERENCE] = apart
    return found


@inline
def _wait_and_take(  # type: ignore[no-untyped-def]
    descriptor, packed, keep_own, timeout, headers, records, control, state, marks, words, lengths, times
):
    """The next burst: as a whole where it is foreseen, else what is there once its first frame is."""
    if state[PENDING]:
        state[ERRNO], state[PENDING] = state[PENDING], 0
        return -1
    burst, clocks = state[BURSTS:], state[CLOCKS:]
    found = 0
    until = foreseen(burst, now(MONOTONIC, clocks))
    if until > 0:
        sleep_until(until, clocks)
        found = _take(descriptor, packed, keep_own, headers, records, control, state, marks, words, lengths, times)
        if found > 0:
            met(burst, until, True)
        elif found < 0 and state[ERRNO] not in _AGAIN:
            return found
        else:
            missed(burst)
    if found <= 0:
        if readable(descriptor, timeout, clocks):
            arrived = now(MONOTONIC, clocks)
            pause = met(burst, arrived, False)
            if pause > 0:
                sleep_until(arrived + pause, clocks)
        found = _take(descriptor, packed, keep_own, headers, records, control, state, marks, words, lengths, times)
    if found > 0:
        burst[LAST_READ] = now(MONOTONIC, clocks)
        note(burst, times[:found])
    return found


@kernel("i8(i4, b1, b1, i4, i8[:,::1], u8[:,::1], i8[:,::1], i8[::1], u4[:,::1], u8[:,::1], i8[::1], i8[::1])")
def receive(  # type: ignore[no-untyped-def]
    descriptor, packed, keep_own, timeout, headers, records, control, state, marks, words, lengths, times
):
    """Wait (timeout: ms) and take: frames into marks (ids; flags), words, lengths and times.

    Returns how many, or −1 and the state's errno.
    """
    return _wait_and_take(
        descriptor, packed, keep_own, timeout, headers, records, control, state, marks, words, lengths, times
    )


@kernel(
    "UniTuple(i8, 2)(i4, b1, b1, i4, i8[:,::1], u8[:,::1], i8[:,::1], i8[::1], u4[:,::1], u8[:,::1], i8[::1], "
    "i8[::1], i8[:,::1], i8[:,::1], i8[:,::1], f8[:,::1], i8[::1], i8[:,::1], i8[:,::1], i8[::1], i8[::1])"
)
def read(  # type: ignore[no-untyped-def]
    descriptor,
    packed,
    keep_own,
    timeout,
    headers,
    records,
    control,
    state,
    marks,
    words,
    lengths,
    times,
    index,
    frames,
    signals,
    scales,
    allowed,
    checks,
    tables,
    readings,
    totals,
):
    """The same, decoded (see extract): returns how many frames, and how many readings or −1."""
    found = _wait_and_take(
        descriptor, packed, keep_own, timeout, headers, records, control, state, marks, words, lengths, times
    )
    if found <= 0:
        return found, 0
    made = extract(
        marks[0, :found], words[:found], lengths[:found], times[:found], marks[1, :found],
        index, frames, signals, scales, allowed, checks, tables, readings, totals,
    )  # fmt: skip
    return found, made
