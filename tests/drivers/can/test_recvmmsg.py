"""SocketCAN's records in bulk, from a UDP socket standing in for AF_CAN; error frames in words."""

import logging
import socket
import struct
import time
from collections.abc import Iterator

import numpy as np
import pytest

from drivers.can.bus_errors import CAUSES, QUIET, BusErrors
from drivers.can.recvmmsg import MOST, BulkReceiver, prepare
from drivers.can.socketcan import filters
from drivers.layout.frame import ERROR, EXTENDED, REMOTE, Frames

Ends = tuple[BulkReceiver, socket.socket, socket.socket]


@pytest.fixture
def ends() -> Iterator[Ends]:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as near,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far,
    ):
        near.bind(("127.0.0.1", 0))
        prepare(near)
        far.connect(near.getsockname())
        yield BulkReceiver(near.fileno()), near, far


def classic(ident: int, data: bytes, length: int | None = None) -> bytes:
    return struct.pack("<IB3x8s", ident, len(data) if length is None else length, data)


def flexible(ident: int, data: bytes) -> bytes:
    return struct.pack("<IBB2x64s", ident, len(data), 4, data)


def unpacked(frames: Frames) -> list[tuple[int, bytes]]:
    return [(int(i), row[:n].tobytes()) for i, row, n in zip(frames.ids, frames.payload, frames.lengths, strict=True)]


def drained(receiver: BulkReceiver) -> list[tuple[int, bytes]]:
    """Everything that is there, copied."""
    found = []
    while len((frames := receiver.receive(0.05)).ids):
        found += unpacked(frames)
    return found


def test_classic_and_fd_records_mixed_come_out_as_sent_and_stamped_in_between(ends: Ends) -> None:
    receiver, _, far = ends
    random = np.random.default_rng(1)
    sent = []
    before = time.monotonic_ns()
    for _ in range(200):
        ident = int(random.integers(0x800)) | (EXTENDED if random.integers(2) else 0)
        data = random.bytes(int(random.choice([0, 1, 7, 8, 12, 24, 64])))
        far.send(classic(ident, data) if len(data) <= 8 and random.integers(2) else flexible(ident, data))
        sent.append((ident, data))
    after = time.monotonic_ns()
    frames = receiver.receive(1.0)
    assert unpacked(frames) == sent
    # stamps are of the host's wall clock, which is stepped now and then: beyond 10 ms they are not believed
    assert (np.diff(frames.times) > -10_000_000).all()
    assert before - 10_000_000 <= frames.times[0]
    assert frames.times[-1] <= after + 10_000_000
    assert not frames.flags.any()
    assert receiver.restamped == 0
    assert len(receiver.receive(0.0).ids) == 0


def test_what_is_no_record_is_counted_and_a_remote_frame_carries_nothing(ends: Ends) -> None:
    receiver, _, far = ends
    for record in (b"", b"short", bytes(17), bytes(100), classic(1, b"", 9), struct.pack("<IB3x64s", 1, 65, b"")):
        far.send(record)
    far.send(classic(5 | REMOTE, b"", 8))
    far.send(classic(4 | ERROR, bytes(8)))
    assert drained(receiver) == [(5 | REMOTE, b""), (4 | ERROR, bytes(8))]
    assert (receiver.malformed, receiver.errors) == (6, 1)


def test_a_flood_is_taken_in_bounded_pieces(ends: Ends) -> None:
    receiver, near, far = ends
    near.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    for number in range(MOST + 100):
        far.send(classic(number & 0x7FF, number.to_bytes(4, "little")))
    first = unpacked(receiver.receive(1.0))
    assert len(first) + receiver.dropped <= MOST
    rest = drained(receiver)
    far.send(classic(1, b""))  # the drops so far come with it
    last = drained(receiver)
    numbers = [int.from_bytes(data, "little") for _, data in first + rest]
    assert numbers == sorted(set(numbers))
    assert len(numbers) + len(last) + receiver.dropped == MOST + 101


def test_drops_are_counted_exactly(ends: Ends) -> None:
    receiver, near, far = ends
    near.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 10_000)
    got = 0
    for burst in (500, 3, 700):
        for _ in range(burst):
            far.send(classic(1, b"x"))
        got += len(drained(receiver))
    far.send(classic(1, b"x"))
    got += len(drained(receiver))
    assert receiver.dropped > 1000
    assert got + receiver.dropped == 1204


def test_an_error_behind_frames_is_said_once_they_were_handed_over(ends: Ends) -> None:
    """Where it meets the second system call of one go: as when an interface goes down meanwhile."""
    receiver, _, far = ends
    vectors = receiver._vectors
    whole, beyond = vectors.copy(), struct.pack("<QQ", 0xFFFF << 48, 16)  # an address of the kernel's
    vectors[-1] = vectors.ctypes.data, len(beyond)  # the last record of a call says where the first of the next goes
    for _ in range(len(vectors) - 1):
        far.send(classic(5, b"x"))
    far.send(beyond)
    far.send(classic(5, b"x"))
    assert unpacked(receiver.receive(1.0))[:-1] == [(5, b"x")] * (len(vectors) - 1)
    vectors[:] = whole
    far.send(classic(6, b"y"))
    with pytest.raises(OSError, match="EFAULT"):
        receiver.receive(1.0)
    assert unpacked(receiver.receive(1.0)) == [(6, b"y")], "said once"


def test_a_closed_socket_is_an_error(ends: Ends) -> None:
    receiver, near, _ = ends
    near.close()
    with pytest.raises(OSError, match="EBADF"):
        receiver.receive(0.0)


def test_a_filter_lets_through_exactly_the_data_frames_of_an_id() -> None:
    pairs = list(struct.iter_unpack("=II", filters({0x123, 0x123 | EXTENDED})))

    def passes(ident: int) -> bool:  # as net/can/af_can.c has it
        return any(ident & mask == one & mask for one, mask in pairs)

    assert passes(0x123)
    assert passes(0x123 | EXTENDED)
    assert not any(passes(one) for one in (0x124, 0x123 | REMOTE, 0x1123 | EXTENDED, 0x123 | EXTENDED | REMOTE))


def error(ident: int, detail: int = 0, count: int = 1) -> tuple[np.ndarray, np.ndarray]:
    payload = np.zeros((count, 64), np.uint8)
    payload[:, 1] = detail
    return np.full(count, ident | ERROR, np.uint32), payload


def test_error_frames_are_counted_by_cause_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    errors = BusErrors("can7", lambda: now)
    with caplog.at_level(logging.WARNING, "jointwatch"):
        errors.absorb(*error(0x20, count=1000))
        now = 1.0
        errors.absorb(*error(0x20, count=1000))
        errors.absorb(*error(0x4, 0x10))
        errors.absorb(*error(0x40))
        errors.absorb(*error(0x2))
        now = 1.5 + QUIET
        errors.absorb(*error(0x20 | 0x8))
    counts = {name: count for name, count in errors.counts.items() if count}
    assert counts == {
        "not_acknowledged": 2001,
        "error_passive": 1,
        "bus_off": 1,
        "arbitration_lost": 1,
        "bus_errors": 1,
    }
    said = [record.getMessage() for record in caplog.records]
    assert [
        sum(word in text for text in said) for word in ("acknowledges", "error-passive", "bus-off", "damaged bits")
    ] == [*(2, 1, 1, 1)]
    assert "`sudo ip link set can7 type can restart-ms 100`" in next(text for text in said if "bus-off" in text)
    assert errors.counts.keys() == CAUSES.keys()
