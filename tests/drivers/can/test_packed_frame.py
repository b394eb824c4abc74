"""Frames in datagrams, read without Python, against the msgpack library."""

import socket
from collections.abc import Iterator
from typing import Any

import can
import msgpack
import numpy as np
import pytest
from can.interfaces.udp_multicast.utils import pack_message

from drivers.can.recvmmsg import BulkReceiver, prepare
from drivers.layout.frame import ERROR, EXTENDED, REMOTE

pytestmark = pytest.mark.interpreted
Ends = tuple[BulkReceiver, socket.socket]
Found = tuple[int, bytes] | None


@pytest.fixture
def ends() -> Iterator[Ends]:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as near,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far,
    ):
        near.bind(("127.0.0.1", 0))
        prepare(near)
        far.connect(near.getsockname())
        yield BulkReceiver(near.fileno(), packed=True), far


def heard(ends: Ends, datagram: bytes) -> Found:
    receiver, far = ends
    malformed = receiver.malformed
    far.send(datagram)
    frames = receiver.receive(5.0)
    assert len(frames.ids) + receiver.malformed - malformed == 1
    if not len(frames.ids):
        return None
    assert not frames.payload[0, frames.lengths[0] :].any()
    return int(frames.ids[0]), frames.payload[0, : frames.lengths[0]].tobytes()


def reference(datagram: bytes) -> Found:
    """By the library; text is not looked at."""
    try:
        one: dict[bytes, Any] = msgpack.unpackb(datagram, raw=True, strict_map_key=False, use_list=False)
        ident, data = one[b"arbitration_id"], one[b"data"]
        extended, remote, error = (one[b"is_" + key] for key in (b"extended_id", b"remote_frame", b"error_frame"))
    except (ValueError, KeyError, TypeError, IndexError, msgpack.UnpackException):
        return None
    numbers = [ident, extended, remote, error]
    if not all(isinstance(number, int) for number in numbers) or not isinstance(data, bytes) or len(data) > 64:
        return None
    if not all(0 <= flag <= 1 for flag in numbers[1:]) or not 0 <= ident < (1 << 29 if extended else 1 << 11):
        return None
    return ident | EXTENDED * extended | REMOTE * remote | ERROR * error, b"" if remote else data


def message(rng: np.random.Generator) -> can.Message:
    extended = bool(rng.integers(2))
    flexible = bool(rng.integers(2))
    data = rng.bytes(int(rng.choice([0, 1, 7, 8, 12, 64] if flexible else [0, 1, 5, 8])))
    return can.Message(
        timestamp=float(rng.choice([0.0, 1.7e9])),
        arbitration_id=int(rng.integers(1 << (29 if extended else 11))),
        is_extended_id=extended,
        is_remote_frame=not data and bool(rng.integers(2)),
        is_fd=flexible,
        channel=["", None, "can0", 3, "x" * 40][rng.integers(5)],
        data=data,
    )


def test_what_python_can_sends_is_read(ends: Ends) -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        one = message(rng)
        flags = EXTENDED * one.is_extended_id | REMOTE * one.is_remote_frame
        assert heard(ends, pack_message(one)) == (one.arbitration_id | flags, bytes(one.data))


def test_keys_may_come_in_any_order_with_anything_beside_them(ends: Ends) -> None:
    core = {"data": b"12", "arbitration_id": 5, "is_error_frame": True, "is_remote_frame": False}
    others = {7: [1, [2, {"data": b"no"}], None], "is_extended_id": False, "nested": {"arbitration_id": 9}, "n": -5}
    others |= {"wide": "x" * 300, "ext": msgpack.ExtType(5, b"12345"), "f": 1.5, (): "tuple"}
    datagram = msgpack.packb(others | core)
    assert reference(datagram) == heard(ends, datagram) == (5 | ERROR, b"12")


def test_damaged_datagrams_are_judged_as_the_library_judges_them(ends: Ends) -> None:
    rng = np.random.default_rng(2)
    judged = {True: 0, False: 0}
    for _ in range(400):
        damaged = bytearray(pack_message(message(rng)))
        for _ in range(int(rng.integers(1, 3))):
            match rng.integers(4):
                case 0:
                    del damaged[int(rng.integers(len(damaged) + 1)) :]
                case 1:
                    damaged += rng.bytes(1)
                case _ if damaged:
                    damaged[int(rng.integers(len(damaged)))] = int(rng.integers(256))
        expected = reference(bytes(damaged))
        judged[expected is None] += 1
        assert heard(ends, bytes(damaged)) == expected, damaged.hex()
    assert min(judged.values()) > 20


@pytest.mark.parametrize("datagram", [b"", b"\xc1", b"\x81", b"\xdf\xff\xff\xff\xff", b"\xdd\xff\xff\xff\xff" * 9])
def test_what_is_no_map_is_counted(ends: Ends, datagram: bytes) -> None:
    assert heard(ends, datagram) is None


def test_a_datagram_that_is_too_long_is_counted(ends: Ends) -> None:
    whole = msgpack.unpackb(pack_message(can.Message(arbitration_id=1, is_extended_id=False)))
    assert heard(ends, msgpack.packb(whole | {"channel": "x" * 2000})) is None
