"""A collector on a real socket, by a clock of its own: minutes are handed over when they end, rubbish is counted."""

import logging
import math
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import zmq

from daq.__main__ import main
from daq.fleet.live import collector as module
from daq.fleet.live.batch import SummaryBatch
from daq.fleet.live.collector import GRACE, Collector
from daq.fleet.live.lake import RAW
from daq.fleet.live.settings import load_collector
from daq.fleet.live.standing import Reader
from daq.fleet.live.subscription import Subscription
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


def until(subscription: Subscription, true: bool, name: str = "arm1") -> None:
    """Until a service is connected, or no longer is."""
    deadline = time.monotonic() + 30.0
    while (name in subscription.connected) is not true:
        assert time.monotonic() < deadline
        subscription.wait(0.05)


def until_answered(subscription: Subscription) -> None:
    """Until the last values have come that the service had sent before all."""
    deadline = time.monotonic() + 30.0
    while not list(subscription.messages(1_000)):
        assert time.monotonic() < deadline
        subscription.wait(0.05)


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
        assert one.subscription._socket.poll(30_000), "one message a second"
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
    deadline = time.monotonic() + 30.0
    with caplog.at_level(logging.WARNING, "jointwatch"):
        while one.received < 4:
            assert time.monotonic() < deadline
            one.subscription.wait(0.05)
            one._take(time.time())
    assert (one.received, one.malformed, len(one._batch)) == (4, 3, 1)
    assert caplog.text.count("a summary cannot be read") == 1
    one.subscription.close()


def test_a_service_that_goes_is_not_connected_any_more(service: SendingService, tmp_path: Path) -> None:
    with Subscription(load_collector(tmp_path / "lake.toml").robots, None) as subscription:
        until(subscription, True)
        service.close()
        until(subscription, False)
    with pytest.raises(zmq.ZMQError):
        list(subscription.messages(1))


@pytest.mark.parametrize("lacks", ["us", "its key"])
def test_a_locked_service_that_refuses_is_reported_with_why(lacks: str, tmp_path: Path) -> None:
    """It does not know us; or we do not know that it is locked."""
    assert main(["keys", str(tmp_path / "keys"), "fleet"]) == 0
    assert main(["keys", str(tmp_path / "others"), "fleet"]) == 0
    keys = (tmp_path / "others" if lacks == "us" else tmp_path / "keys") / "fleet.key_secret"
    service = SendingService(tmp_path, locked(tmp_path / "keys"))
    known = tmp_path / "keys" / "server.key"
    robot = SimpleNamespace(endpoint=service.endpoint, server_key=known if lacks == "us" else None)
    with Subscription({"arm1": robot}, keys) as subscription:  # type: ignore[dict-item]
        deadline = time.monotonic() + 30.0
        why = "put its public half" if lacks == "us" else "server_key is there for locked streams only"
        while why not in subscription.refused.get("arm1", ""):  # an attempt may break off before that shows
            assert time.monotonic() < deadline
            subscription.wait(0.05)
        assert subscription.connected == set()
    service.close()


def test_a_service_that_lets_us_in_after_all_is_refused_no_more(service: SendingService, tmp_path: Path) -> None:
    with Subscription(load_collector(tmp_path / "lake.toml").robots, None) as subscription:
        subscription.refused["arm1"] = "does not know our key"
        until(subscription, True)
        assert subscription.refused == {}


def test_an_address_that_cannot_be_used_names_its_robot() -> None:
    robot = SimpleNamespace(endpoint="nowhere://x", server_key=None)
    with pytest.raises(ValueError, match=r"robots\.arm1: cannot connect to nowhere://x"):
        Subscription({"arm1": robot}, None)  # type: ignore[dict-item]
