"""Who joins late: complete at once, nobody delayed by it, nothing old taken for new; and who may not join at all."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import pytest
import zmq

from daq.stream.keys import Curve, KeyFileError, create, public_keys, read_pair
from daq.stream.sockets import Forwarder
from daq.stream.subscriptions import LastValues, answer
from daq.stream.update import Introduction
from daq.subscriber import Continuity, RefusedError, Subscriber

ANY = "tcp://127.0.0.1:0"


def message(topic: str, boot: int = 1, seq: int = 0) -> list[bytes]:
    return [topic.encode(), msgpack.packb({"boot": boot, "seq": seq})]


def test_last_values_are_the_newest_of_every_topic_that_was_asked_for() -> None:
    last = LastValues()
    for seq in range(3):
        for topic in ("estimate/a", "estimate/b", "residual/a", "event/a", "meta"):
            last.keep(message(topic, seq=seq))
    found = {topic: msgpack.unpackb(body)["seq"] for topic, body in last.matching({b"estimate/", b"meta"})}
    assert found == {b"estimate/a": 2, b"estimate/b": 2, b"meta": 2}
    assert {topic for topic, _ in last.matching({b""})} == {b"estimate/a", b"estimate/b", b"residual/a", b"meta"}


def test_values_of_a_core_that_is_no_more_are_not_handed_on() -> None:
    last = LastValues()
    last.keep(message("estimate/a", boot=1, seq=99))
    last.keep(message("estimate/b", boot=1, seq=99))
    last.keep(message("estimate/a", boot=2))
    assert [topic for topic, _ in last.matching({b""})] == [b"estimate/a"]


def test_a_late_joiner_has_everything_although_nothing_new_is_said(
    tmp_path: Path, core: Any, wait: Callable[..., None]
) -> None:
    with Forwarder(f"ipc://{tmp_path}/u", ANY) as forwarder:
        tap = forwarder.tap
        wait(lambda: core.estimate() or tap.poll(20))
        core.estimate("base")
        core.updates.send_multipart(Introduction("robot", core.boot, "0", {}).message(1.0))
        wait(lambda: tap.recv_multipart()[0] == b"meta")
        for _ in range(3):  # each newcomer anew
            with Subscriber(forwarder.endpoint, timeout=60) as late:
                topics = set[str]()
                while len(topics) < 5:  # of the first newcomer an estimate may be on its way
                    topics.add(next(late)[0])
            assert topics == {"estimate/elbow", "residual/elbow", "estimate/base", "residual/base", "meta"}
        with Subscriber(forwarder.endpoint, ("estimate/base",), timeout=60) as one:
            assert next(one)[0] == "estimate/base"


def test_those_who_were_there_first_see_nothing_twice(tmp_path: Path, core: Any, wait: Callable[..., None]) -> None:
    with Forwarder(f"ipc://{tmp_path}/u", ANY) as forwarder, Subscriber(forwarder.endpoint, timeout=60) as first:
        wait(lambda: core.estimate() or first._socket.poll(20))
        seen = []
        for _ in range(5):
            with Subscriber(forwarder.endpoint, timeout=60) as late:
                next(late)
        last = core.publications["elbow"].sequence["estimate"]
        core.estimate()
        while not seen or seen[-1] != ("estimate/elbow", last):
            topic, update = next(first)
            seen.append((topic, update["seq"]))
        assert len(seen) == len(set(seen))
        assert not first.gaps


def test_a_repetition_is_no_gap_and_no_restart() -> None:
    continuity = Continuity()
    for boot, seq in ((7, 4), (7, 5), (9, 0)):
        assert not continuity.repeats("estimate/a", {"boot": boot, "seq": seq})
        assert continuity.follow("estimate/a", {"boot": boot, "seq": seq}) == 0
    assert continuity.repeats("estimate/a", {"boot": 9, "seq": 0})
    assert continuity.repeats("estimate/a", {"boot": 7, "seq": 6})
    assert not continuity.repeats("estimate/b", {"boot": 9, "seq": 0})
    assert continuity.restarts == 1


def test_a_stalled_subscriber_delays_nobody(tmp_path: Path, core: Any) -> None:
    """40 MB for one that takes nothing; another has each message before the next one is sent."""
    with (
        Forwarder(f"ipc://{tmp_path}/u", ANY) as forwarder,
        Subscriber(forwarder.endpoint, ("event/",), timeout=60) as reader,
        zmq.Context() as context,
        context.socket(zmq.SUB) as stalled,
    ):
        stalled.setsockopt(zmq.RCVHWM, 10)
        stalled.setsockopt(zmq.RCVBUF, 4096)
        stalled.setsockopt(zmq.LINGER, 0)
        stalled.setsockopt(zmq.SUBSCRIBE, b"")
        stalled.connect(forwarder.endpoint)
        publication, ballast = core.publications["elbow"], "x" * 4000
        for _ in range(3000):
            core.updates.send_multipart(publication.event("first", "", time.time()))
            if stalled.poll(20) and reader._socket.poll(20):
                break
        taken = []
        sent = publication.sequence["event"]
        for seq in range(sent, sent + 10_000 + 2000):  # more than any queue on the way
            core.updates.send_multipart(publication.event("more", ballast, time.time()))
            while not taken or taken[-1] < seq:
                taken.append(next(reader)[1]["seq"])
        assert not reader.gaps
        assert taken == list(range(taken[0], taken[0] + len(taken)))
        found = []
        while stalled.poll(200):
            found.append(msgpack.unpackb(stalled.recv_multipart()[1])["seq"])
        assert len(found) < 12_000, "it was not stalled"


@pytest.fixture
def locked(tmp_path: Path) -> Curve:
    create(tmp_path / "keys", "server")
    (tmp_path / "keys" / "clients").mkdir()
    for name in ("laptop", "stranger"):
        create(tmp_path / "keys", name)
    (tmp_path / "keys" / "laptop.key").rename(tmp_path / "keys" / "clients" / "laptop.key")
    return Curve(read_pair(tmp_path / "keys" / "server.key_secret").secret, tmp_path / "keys" / "clients")


def test_only_a_listed_key_is_let_in_and_the_others_are_counted(
    tmp_path: Path, core: Any, locked: Curve, wait: Callable[..., None]
) -> None:
    keys = tmp_path / "keys"
    with Forwarder(f"ipc://{tmp_path}/u", ANY, locked) as forwarder:
        tap = forwarder.tap
        wait(lambda: core.estimate() or tap.poll(20))
        listed, stranger, server = keys / "laptop.key_secret", keys / "stranger.key_secret", keys / "server.key"
        with Subscriber(forwarder.endpoint, timeout=60, key=listed, server_key=server) as known:
            assert next(known)[1]["robot"] == "robot"
        assert forwarder.refused == 0
        for arguments in ({"key": stranger, "server_key": server}, {"key": listed, "server_key": stranger}, {}):
            before = forwarder.refused
            with Subscriber(forwarder.endpoint, timeout=0.3, **arguments) as refused:
                with pytest.raises((TimeoutError, RefusedError)):
                    next(refused)
                wait(lambda before=before: forwarder.refused > before)
        with Subscriber(forwarder.endpoint, timeout=60, key=stranger, server_key=server) as updates:
            with pytest.raises(RefusedError):
                next(updates)
            (keys / "stranger.key").rename(keys / "clients" / "stranger.key")  # allowed from now on, without a restart

            def heard() -> bool:
                with contextlib.suppress(RefusedError):  # of an attempt that had begun before
                    return bool(next(updates))
                return False

            wait(heard)


def test_secret_keys_are_the_owners_alone(tmp_path: Path, locked: Curve) -> None:
    secret = tmp_path / "keys" / "laptop.key_secret"
    assert secret.stat().st_mode & 0o777 == 0o600
    assert len(list(public_keys(locked.clients))) == 1
    secret.chmod(0o640)
    with pytest.raises(KeyFileError, match="chmod 600"):
        read_pair(secret)
    with pytest.raises(KeyFileError, match="expected a secret key"):
        read_pair(tmp_path / "keys" / "server.key")
    with pytest.raises(KeyFileError, match="exists"):
        create(tmp_path / "keys", "laptop")


@pytest.mark.parametrize("mechanism", [b"NULL", b"PLAIN"])
def test_no_other_mechanism_is_let_in(mechanism: bytes) -> None:
    request = [b"1.0", b"7", b"", b"127.0.0.1", b"", mechanism, b"name", b"word"]
    assert answer(request, lambda _: True)[:3] == [b"1.0", b"7", b"400"]


def test_half_a_key_is_a_clear_error(tmp_path: Path, locked: Curve) -> None:
    with pytest.raises(ValueError, match="expected both"):
        Subscriber(key=tmp_path / "keys" / "laptop.key_secret")
