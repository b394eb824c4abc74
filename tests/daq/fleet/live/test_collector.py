"""A collector on a real socket, by a clock of its own: minutes are handed over when they end, rubbish is counted."""

import contextlib
import logging
import math
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import msgpack
import pytest
import zmq

from daq.__main__ import main
from daq.fleet.live import collector as module
from daq.fleet.live.batch import SummaryBatch
from daq.fleet.live.collector import GRACE, Collector
from daq.fleet.live.lake import RAW
from daq.fleet.live.settings import CollectedService, load_collector
from daq.fleet.live.standing import Reader
from daq.fleet.live.subscription import LOCKED, LONGEST, NOT_KNOWN, NOT_LOCKED, OTHER_KEY, Subscription
from hil_rig.ports import free_port
from tests.support.processes.summaries import SendingService, locked, summary

MINUTE = 1_800_000_000.0  # Unix s, at which one begins
ROWS_OF_ONE = 3  # coulomb, seconds and travel


class Clock:
    """One that goes on by a second wherever somebody sleeps."""

    def __init__(self) -> None:
        self.now = MINUTE

    def time(self) -> float:
        return self.now

    def sleep(self, _seconds: float) -> None:
        self.now += 1.0


@pytest.fixture
def service(tmp_path: Path) -> Iterator[SendingService]:
    found = SendingService(tmp_path)
    (tmp_path / "lake.toml").write_text(
        f'[lake]\nplace = "lake"\n[robots]\narm1 = {{ endpoint = "{found.endpoint}" }}\n'
    )
    yield found
    found.close()


def until_true(subscription: Subscription, condition: Callable[[], object]) -> None:
    """Until a condition holds, while the subscription looks at its connections."""
    deadline = time.monotonic() + 120.0
    while not condition():
        assert time.monotonic() < deadline
        subscription.wait(0.05)


def until(subscription: Subscription, true: bool, name: str = "arm1") -> None:
    """Until a service is connected, or no longer is."""
    until_true(subscription, lambda: (name in subscription.connected) is true)


def until_answered(subscription: Subscription) -> None:
    """Until the last values have come that the service had sent before all."""
    until_true(subscription, lambda: list(subscription.messages(1_000)))


def test_what_came_in_a_minute_is_handed_over_two_seconds_after_its_end_and_many_rows_before(
    service: SendingService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.send_before_all()
    clock, one = Clock(), Collector(load_collector(tmp_path / "lake.toml"))
    until_answered(one.subscription)
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(module, "EVERY", 0.001)
    monkeypatch.setattr(module, "ROWS", 25 * ROWS_OF_ONE)
    put, handed, told = one.writer.put, list[tuple[int, float]](), list[float]()

    def putting(batch: SummaryBatch, complete: float) -> None:
        handed.append((len(batch), complete))
        put(batch, complete)

    monkeypatch.setattr(one.writer, "put", putting)
    sent = 0

    def stopped() -> bool:
        nonlocal sent
        service.send(summary("arm1", sent, clock.now))
        sent += 1
        assert one.subscription._socket.poll(60_000), "one message a second"
        return clock.now >= MINUTE + 150.0

    one.run(stopped, lambda _: told.append(clock.now))
    ends = [MINUTE + GRACE, MINUTE + 60.0 + GRACE, MINUTE + 120.0 + GRACE]
    assert [complete for _, complete in handed if complete] == [*ends, MINUTE + 150.0]
    assert told == [*ends, MINUTE + 150.0]
    assert [count for count, _ in handed] == [2, 25, 25, 10, 25, 25, 10, 25, 4]
    assert one.received == sent == 151
    [(rows, lost)] = Reader(str(tmp_path / "lake")).rows(
        RAW, "SELECT count(*), sum(lost)::BIGINT FROM finer WHERE quantity = 'coulomb'", 0, math.inf
    )
    assert (rows, lost) == (one.received, 0)
    assert one.seen == {"arm1": MINUTE + 150.0}


def test_what_is_no_summary_is_counted_and_said_once(
    service: SendingService, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    service.send_before_all()
    one = Collector(load_collector(tmp_path / "lake.toml"))
    until_answered(one.subscription)
    for frames in ((b"summary/elbow", b"\xc1"), (b"summary/elbow",), (b"summary/elbow", b"\x80", b"more")):
        service._socket.send_multipart(frames)
    service.send(summary("arm1", 3, time.time()))
    with contextlib.closing(one.subscription), caplog.at_level(logging.WARNING, "jointwatch"):
        until_true(one.subscription, lambda: one._take(time.time()) and one.received >= 4)
    assert (one.received, one.malformed, len(one._batch)) == (4, 3, 1)
    assert caplog.text.count("a summary cannot be read") == 1


def test_a_service_that_goes_is_not_connected_any_more(service: SendingService, tmp_path: Path) -> None:
    with Subscription(load_collector(tmp_path / "lake.toml").robots, None) as subscription:
        until(subscription, True)
        service.close()
        until(subscription, False)
    with pytest.raises(zmq.ZMQError):
        list(subscription.messages(1))


def robot(endpoint: str, server_key: Path | None = None) -> dict[str, CollectedService]:
    return {"arm1": CollectedService(endpoint=endpoint, server_key=server_key)}


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """A folder with a server's keys and those of its client, and one beside it that has nothing to do with them."""
    assert main(["keys", str(tmp_path / "keys"), "fleet"]) == 0
    assert main(["keys", str(tmp_path / "others"), "fleet"]) == 0
    return tmp_path / "keys"


@pytest.fixture
def endpoint() -> str:
    """One that stays the same when a service ends and another begins."""
    return f"tcp://127.0.0.1:{free_port()}"


@pytest.mark.parametrize(
    ("client", "server_key", "lock", "why"),
    [
        ("others", "keys", True, [NOT_KNOWN]),
        ("keys", None, True, [LOCKED]),
        ("keys", "others", True, [OTHER_KEY]),
        ("keys", "keys", False, [NOT_LOCKED, OTHER_KEY]),  # whichever end says first that it does not understand
    ],
)
def test_a_service_that_refuses_is_reported_with_why(
    client: str, server_key: str | None, lock: bool, why: list[str], keys: Path, tmp_path: Path
) -> None:
    known = None if server_key is None else tmp_path / server_key / "server.key"
    with (
        SendingService(tmp_path, locked(keys) if lock else None) as service,
        Subscription(robot(service.endpoint, known), tmp_path / client / "fleet.key_secret") as subscription,
    ):
        # an attempt may break off before the reason shows
        until_true(subscription, lambda: subscription.refused.get("arm1") in why)
        assert subscription.connected == set()


def test_a_service_that_is_locked_no_more_is_heard(keys: Path, endpoint: str, tmp_path: Path) -> None:
    with Subscription(robot(endpoint), None) as subscription:
        with SendingService(tmp_path, locked(keys), endpoint):
            until_true(subscription, lambda: subscription.refused)
        with SendingService(tmp_path, None, endpoint):
            until(subscription, True)
        assert subscription.refused == {}


def test_a_service_that_is_told_our_key_is_heard(keys: Path, tmp_path: Path) -> None:
    with (
        SendingService(tmp_path, locked(keys)) as service,
        Subscription(
            robot(service.endpoint, keys / "server.key"), tmp_path / "others" / "fleet.key_secret"
        ) as subscription,
    ):
        until_true(subscription, lambda: subscription.refused.get("arm1") == NOT_KNOWN)
        shutil.copy(tmp_path / "others" / "clients" / "fleet.key", keys / "clients" / "another.key")
        until(subscription, True)
        assert subscription.refused == {}


def test_a_service_under_a_hosts_name_is_connected_again_after_its_restart(endpoint: str, tmp_path: Path) -> None:
    with Subscription(robot(endpoint.replace("127.0.0.1", "localhost")), None) as subscription:
        for _ in range(2):
            with SendingService(tmp_path, None, endpoint):
                until(subscription, True)
            until(subscription, False)


def test_a_service_that_sent_too_much_at_once_is_heard_again(service: SendingService) -> None:
    service.send_before_all()
    with Subscription(robot(service.endpoint), None) as subscription:
        until_answered(subscription)
        service._socket.send_multipart((b"summary/elbow", bytes(LONGEST + 1)))
        until(subscription, False)
        service.send(sent := summary("arm1", 3, 5.0))  # replaces what the service sends to those who come
        heard = list[bytes]()
        until_true(subscription, lambda: heard.extend(subscription.messages(5)) or msgpack.packb(sent) in heard)
        until(subscription, True)


def test_what_came_before_a_connection_ended_is_kept(service: SendingService, tmp_path: Path) -> None:
    service.send_before_all()
    with Subscription(robot(service.endpoint), None) as subscription:
        until_answered(subscription)
        sent = summary("arm1", 3, 5.0)
        service.send(sent)
        assert subscription._socket.poll(60_000)
        service.close()
        until(subscription, False)
        assert [msgpack.unpackb(one) for one in subscription.messages(5)] == [sent]
        assert not list(subscription.messages(5))


def test_an_address_that_cannot_be_used_names_its_robot() -> None:
    nowhere = SimpleNamespace(endpoint="nowhere://x", server_key=None)
    with pytest.raises(ValueError, match=r"robots\.arm1: cannot connect to nowhere://x"):
        Subscription({"arm1": nowhere}, None)  # type: ignore[dict-item]
