"""Readings cross a real socket unchanged, and every loss on the way is counted."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest
import zmq

from daq.stream.awaited import Awaited
from daq.stream.channel import HEADER, LONGEST, MAGIC, CoreReceiver, Sender
from drivers.reading import READING


def batch(start: int, count: int) -> np.ndarray:
    readings = np.zeros(count, READING)
    readings["time"] = np.arange(start, start + count)
    readings["value"] = np.sin(readings["time"])
    return readings


@pytest.fixture
def address(tmp_path: Path) -> str:
    return f"ipc://{tmp_path}/readings"


def gather(receiver: CoreReceiver, count: int) -> np.ndarray:
    got = [receiver.drain(2.0)]
    end = time.monotonic() + 60.0  # a guard: a sender that connects anew backs off first
    while sum(map(len, got)) < count:  # a look that finds a report alone, or what comes too late, finds no reading
        assert time.monotonic() < end, "too little came for 60 s"
        got.append(receiver.drain(2.0))
    return np.concatenate(got)


def test_readings_arrive_bit_for_bit(address: str) -> None:
    with CoreReceiver(address) as receiver:
        sender = Sender(address, "can0")
        sent = [batch(0, 3), batch(3, 1), batch(4, 100)]
        for readings in sent:
            sender.send(readings)
        got = gather(receiver, 104)
        assert got.tobytes() == np.concatenate(sent).tobytes()
        link = receiver.links["can0"]
        assert (link.readings, link.lost, link.restarts, link.up) == (104, 0, 0, True)
        sender.close()


def test_it_waits_on_for_the_reading_that_is_worth_a_batch(address: str) -> None:
    with CoreReceiver(address) as receiver:
        sender, now = Sender(address, "can0"), time.monotonic_ns()
        late = threading.Timer(0.1, lambda: sender.send(batch(now + 50_000_000, 2)))
        sender.send(batch(now, 3))
        late.start()
        got = receiver.drain(30.0, now + 50_000_000)
        late.join()
        assert len(got) == 5
        sender.close()


def test_it_does_not_wait_for_a_reading_that_never_comes(address: str) -> None:
    """A driver that goes on with stamps of the past must not keep the core from its other work."""
    over = threading.Event()
    with CoreReceiver(address) as receiver:
        sender = Sender(address, "can0")

        def stamps_of_the_past() -> None:
            while not over.wait(0.002):
                sender.send(batch(0, 1))

        thread = threading.Thread(target=stamps_of_the_past)
        thread.start()
        try:
            gather(receiver, 1)
            end = time.monotonic() + 60.0
            while len(receiver.drain(0.5, time.monotonic_ns() + 20_000_000)) < 2:  # the thread may have stood still
                assert time.monotonic() < end
            assert time.monotonic() < end
        finally:
            over.set()
            thread.join()
        sender.close()


def test_a_gap_in_the_sequence_is_counted(address: str) -> None:
    with CoreReceiver(address) as receiver:
        sender = Sender(address, "can0")
        sender.send(batch(0, 5))
        gather(receiver, 5)
        sender._made += 7  # what a full queue does: made, never delivered
        sender.send(batch(12, 2))
        gather(receiver, 2)
        assert receiver.links["can0"].lost == 7
        sender.close()


def test_a_restarted_driver_is_a_restart_and_no_loss(address: str) -> None:
    with CoreReceiver(address) as receiver:
        for _ in range(3):
            sender = Sender(address, "can0")
            sender.send(batch(0, 5))
            gather(receiver, 5)
            sender.close()
        link = receiver.links["can0"]
        assert (link.restarts, link.lost, link.readings) == (2, 0, 15)


def test_what_a_restarted_driver_lost_before_it_was_heard_is_counted(address: str) -> None:
    with CoreReceiver(address) as receiver:
        for start in (0, 7):  # the second is heard from its eighth reading on
            sender = Sender(address, "can0")
            sender._made = start
            sender.send(batch(start, 20))
            gather(receiver, 20)
            sender.close()
        link = receiver.links["can0"]
        assert (link.restarts, link.lost, link.readings) == (1, 7, 40)


def _message(boot: int, made: int, count: int, begin: int = 0) -> bytes:
    return HEADER.pack(MAGIC, 0, 1, boot, made) + batch(begin + 1000 * boot + made, count).tobytes() + b"x"


def test_a_killed_driver_and_the_next_one_are_distinguished_while_their_messages_come_in_turns(address: str) -> None:
    """Each has a connection of its own, and both queues are served in turns: none is lost, the old come first."""
    with CoreReceiver(address) as receiver:
        driver = zmq.Context.instance().socket(zmq.PUSH)
        driver.connect(address)
        driver.send(_message(7, 0, 100))
        gather(receiver, 100)
        now = time.monotonic_ns()
        for made in (0, 10):
            driver.send(_message(7, 100 + made, 10, now))
            driver.send(_message(8, made, 10, now))
        driver.send(_message(7, 120, 10, now))
        driver.send(_message(7, 135, 10, now))  # five are missing
        driver.send(_message(8, 20, 10, now))
        readings = receiver.drain(30.0, until=now + 8029)  # one look finds all
        assert list(readings["time"] - now) == [*range(7100, 7130), *range(7135, 7145), *range(8000, 8030)]
        link = receiver.links["x"]
        assert (link.restarts, link.lost, link.readings) == (1, 5, 170)
        driver.close(0)


def test_the_last_words_of_a_killed_driver_are_lost_once_readings_of_the_next_are_in_use(address: str) -> None:
    with CoreReceiver(address) as receiver:
        driver = zmq.Context.instance().socket(zmq.PUSH)
        driver.connect(address)
        for message in (_message(7, 0, 100), _message(8, 0, 10)):
            driver.send(message)
            gather(receiver, 10)
        driver.send(_message(7, 100, 20))
        driver.send(_message(8, 10, 10))
        assert list(gather(receiver, 10)["time"]) == list(range(8010, 8020))
        link = receiver.links["x"]
        assert (link.restarts, link.lost, link.readings) == (1, 20, 120)
        driver.close(0)


def test_what_a_killed_core_had_not_done_with_is_missing(address: str, tmp_path: Path) -> None:
    for made, held in ((0, 40), (100, 0)):
        with CoreReceiver(address, tmp_path / "heard") as receiver:
            driver = zmq.Context.instance().socket(zmq.PUSH)
            driver.connect(address)
            driver.send(HEADER.pack(MAGIC, 0, 1, 9, made) + batch(made, 100).tobytes() + b"x")
            gather(receiver, 100)
            link = receiver.links["x"]
            receiver.keep({"x": held})
            driver.close(0)
    assert (link.lost, link.restarts) == (40, 0)


def test_a_shorter_ledger_over_a_longer_one_is_read_to_its_own_end(address: str, tmp_path: Path) -> None:
    """A driver's totals take fewer bytes after the driver has restarted: the old ones' end is still there."""
    file = tmp_path / "heard"
    for boot, made in ((2**55, 10**9), (3, 0), (3, 17)):  # the last core finds what the one before has written
        # A socket for each core: one that is kept may still send into what the core before it has closed.
        with CoreReceiver(address, file) as receiver, zmq.Context.instance().socket(zmq.PUSH) as driver:
            driver.connect(address)
            driver.send(HEADER.pack(MAGIC, 0, 1, boot, made) + batch(made, 10).tobytes() + b"x")
            gather(receiver, 10)
            link = receiver.links["x"]
            receiver.keep({})
    assert (link.lost, link.restarts) == (7, 0)


@pytest.mark.parametrize("damage", ["a bit", "cut", "foreign"])
def test_a_damaged_ledger_is_refused_and_losses_count_from_there(
    address: str, tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "heard"
    for made in (5000, 5110, 5220):
        with CoreReceiver(address, file) as receiver, zmq.Context.instance().socket(zmq.PUSH) as driver:
            driver.connect(address)
            driver.send(HEADER.pack(MAGIC, 0, 1, 9, made) + batch(made, 10).tobytes() + b"x")
            gather(receiver, 10)
            link = receiver.links["x"]
            if made == 5110:
                assert (link.lost, link.restarts) == (0, 0), "what it made before is not called lost"
                driver.send(HEADER.pack(MAGIC, 0, 1, 9, 5122) + batch(5122, 8).tobytes() + b"x")
                gather(receiver, 8)
                assert link.lost == 2
            receiver.keep({})
        if made == 5000:
            data = file.read_bytes()
            bit = data[:-2] + bytes([data[-2] ^ 1]) + data[-1:]
            file.write_bytes({"a bit": bit, "cut": data[:-1], "foreign": b"\x80"}[damage])
    assert link.lost == 5220 - 5130, "the second core's ledger is good again"
    [line] = caplog.messages
    assert line.startswith(f"{file}: it is damaged")
    assert "losses are counted from now on" in line


def test_counters_travel_with_the_readings(address: str) -> None:
    with CoreReceiver(address) as receiver:
        sender = Sender(address, "port")
        sender.report(False, {"bad_crc": 3}, "unplugged")
        sender.send(batch(0, 1))
        gather(receiver, 1)
        link = receiver.links["port"]
        assert link.counters == {"bad_crc": 3}
        assert link.cause == "unplugged"
        sender.close()


def test_rubbish_is_counted_and_nothing_else_happens(address: str) -> None:
    with CoreReceiver(address) as receiver:
        stranger = zmq.Context.instance().socket(zmq.PUSH)
        stranger.connect(address)
        stranger.send(b"hello")
        stranger.send(MAGIC)
        stranger.send(HEADER.pack(MAGIC, 0, 9, 1, 0) + b"x")  # a name longer than the message
        stranger.send(HEADER.pack(MAGIC, 0, 1, 1, 0) + b"12345x")
        for body in (b"\xc1", b"\x07", b"\x81\xa2up\xc3", b""):  # no msgpack, no map, a map without what is needed
            stranger.send(HEADER.pack(MAGIC, 1, 1, 1, 0) + body + b"x")
        sender = Sender(address, "can0")
        sender.send(batch(0, 1))
        gather(receiver, 1)
        for _ in range(60):  # a guard: it takes one look or two
            if receiver.malformed >= 8:
                break
            receiver.drain(0.5)
        assert receiver.malformed == 8
        stranger.close(0)
        sender.close()


def test_a_core_after_a_killed_one_counts_what_is_missing_and_not_the_past(address: str, tmp_path: Path) -> None:
    sender = Sender(address, "can0")
    with CoreReceiver(address, tmp_path / "heard") as receiver:
        for start in range(0, 5000, 100):
            sender.send(batch(start, 100))
        gather(receiver, 5000)
        receiver.keep({})
    with CoreReceiver(address, tmp_path / "heard") as receiver:
        sender._made += 7  # lost in between
        made, heard = 5007, 0
        for _ in range(300):  # what is sent before the sender sees that its peer is gone goes the way of its pipe
            sender.send(batch(made, 10))
            made += 10
            got = receiver.drain(0.1)
            heard += len(got)
            if heard:
                break
        assert heard, "nothing came for 30 s"
        end = time.monotonic() + 60.0
        while got["time"][-1:].tolist() != [made - 1]:  # what was sent last
            assert time.monotonic() < end
            got = receiver.drain(0.5)
            heard += len(got)
        link = receiver.links["can0"]
        assert (5000 + heard + link.lost, link.restarts) == (made, 0)
        lost = link.lost
        assert lost >= 7
        sender.close()
        again = Sender(address, "can0")
        again.send(batch(0, 3))
        gather(receiver, 3)
        assert (receiver.links["can0"].lost, receiver.links["can0"].restarts) == (lost, 1)
        again.close()


def test_what_the_core_does_not_wait_for_goes_with_the_reading_that_it_waits_for(address: str, tmp_path: Path) -> None:
    awaited, now = Awaited(tmp_path / "awaited"), time.monotonic_ns()
    Awaited(tmp_path / "awaited").instant = now + 10_000_000  # as the core's process, which maps the file for itself
    with CoreReceiver(address) as receiver:
        sender = Sender(address, "can0", awaited)
        for part in range(5):
            sender.send(batch(now + part * 1_000_000, 3))
            assert sender.patience(0.1) <= 0.1
        assert len(receiver.drain(0.1)) == 0
        sender.send(batch(now + 10_000_000, 2))
        assert sender.patience(0.1) == 0.1
        got = gather(receiver, 17)
        assert (np.diff(got["time"]) > 0).all()
        assert (receiver.links["can0"].readings, receiver.links["can0"].lost) == (17, 0)
        sender.close()


def test_nothing_is_kept_for_longer_than_the_core_waits_or_behind_a_core_that_was_killed(
    address: str, tmp_path: Path
) -> None:
    awaited, now = Awaited(tmp_path / "awaited"), time.monotonic_ns()
    with CoreReceiver(address) as receiver:
        sender = Sender(address, "can0", awaited)
        awaited.instant = now + 3_600_000_000_000
        sender.send(batch(now, 1))
        assert len(receiver.drain(0.05)) == 0
        sender.send(batch(now + LONGEST, 1))
        gather(receiver, 2)
        awaited.instant = now - 1
        sender.send(batch(now, 1))
        gather(receiver, 1)
        sender.close()


def test_what_is_kept_waits_neither_for_a_silent_wire_nor_for_a_report(address: str, tmp_path: Path) -> None:
    awaited, now = Awaited(tmp_path / "awaited"), time.monotonic_ns()
    awaited.instant = now + 5_000_000
    with CoreReceiver(address) as receiver:
        sender = Sender(address, "can0", awaited)
        sender.send(batch(now, 1))
        assert 0.001 <= sender.patience(1.0) <= 0.005
        time.sleep(0.006)
        sender.send(batch(0, 0))
        gather(receiver, 1)
        awaited.instant = time.monotonic_ns() + 3_600_000_000_000
        sender.send(batch(time.monotonic_ns(), 4))
        sender.report(False, {}, "unplugged")
        gather(receiver, 4)
        while receiver.links["can0"].cause != "unplugged":
            receiver.drain(1.0)
        assert not receiver.links["can0"].up
        sender.close()
