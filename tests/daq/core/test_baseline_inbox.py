"""What the outlet tells the core of baselines and of the page: heard once, forgotten where it is no news."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import msgpack
import pytest
import zmq

from daq.core import baseline_inbox
from daq.core.baseline_inbox import EVERY, WATCHING, BaselineInbox
from daq.state.baselines import SEEN, TOPIC, WATCHED, WEAR, Baseline, Baselines, write
from daq.stream.sockets import Socket, open_publisher

Told = Callable[[BaselineInbox, bytes, bytes], None]
EPOCH = 1.6e9  # Unix s less the monotonic clock's


def of(**since: float) -> Baselines:
    return Baselines(joints={
        name: [Baseline(since=at, model="rigid", values={"inertia": 2.0}, deviations={"inertia": 0.1})]
        for name, at in since.items()
    })  # fmt: skip


def maps(baselines: Baselines) -> dict[str, object]:
    return {name: found[0].model_dump() for name, found in baselines.joints.items()}


class Hand:
    """The clock of a test."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Hand:
    hand = Hand()
    monkeypatch.setattr(baseline_inbox, "time", SimpleNamespace(monotonic=hand, time=lambda: hand.now + EPOCH))
    return hand


@pytest.fixture
def context() -> Iterator["zmq.Context[Socket]"]:
    one: zmq.Context[Socket] = zmq.Context()
    yield one
    one.term()


@pytest.fixture
def tell(context: "zmq.Context[Socket]", tmp_path: Path) -> Iterator[Told]:
    """Says it until it has arrived: a publisher's first words may be lost."""
    publisher = open_publisher(context, f"ipc://{tmp_path}/b")

    def told(inbox: BaselineInbox, topic: bytes, content: bytes) -> None:
        for _ in range(600):
            publisher.send_multipart((topic, content))
            if inbox._news.poll(100):
                return
        pytest.fail("nothing arrives")

    yield told
    publisher.close(0)


@pytest.fixture
def open_inbox(context: "zmq.Context[Socket]", tmp_path: Path) -> Iterator[Callable[[], BaselineInbox]]:
    """One of these addresses; what is wrong with the file is said as it opens."""
    opened: list[BaselineInbox] = []

    def one() -> BaselineInbox:
        opened.append(BaselineInbox(context, f"ipc://{tmp_path}/b", tmp_path / "baseline.json"))
        return opened[0]

    yield one
    for each in opened:
        each.close()


def news(inbox: BaselineInbox, clock: Hand) -> dict[str, object] | None:
    """What the next look finds."""
    clock.now += EVERY
    return inbox.changed()


def test_the_file_counts_from_the_start_and_once(
    open_inbox: Callable[[], BaselineInbox], clock: Hand, tmp_path: Path
) -> None:
    write(tmp_path / "baseline.json", of(elbow=5.0, base=6.0))
    inbox = open_inbox()
    assert inbox.changed() == maps(of(elbow=5.0, base=6.0))
    clock.now += EVERY
    assert inbox.changed() is None


def test_a_file_that_is_none_is_said_and_the_core_runs(
    open_inbox: Callable[[], BaselineInbox], clock: Hand, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "baseline.json").write_text("no baselines")
    inbox = open_inbox()
    assert "drift is not measured" in caplog.text
    assert inbox.changed() is None


def test_what_is_reported_is_heard_five_times_a_second_at_most_and_only_where_it_is_new(
    open_inbox: Callable[[], BaselineInbox], clock: Hand, tell: Told
) -> None:
    inbox = open_inbox()
    assert inbox.changed() is None
    tell(inbox, TOPIC, of(elbow=5.0).model_dump_json().encode())
    clock.now += 0.9 * EVERY
    assert inbox.changed() is None, "not yet time for another look"
    assert news(inbox, clock) == maps(of(elbow=5.0))
    tell(inbox, TOPIC, of(elbow=5.0).model_dump_json().encode())
    assert news(inbox, clock) is None, "said again, for those who join"
    tell(inbox, TOPIC, of(elbow=7.0).model_dump_json().encode())
    assert news(inbox, clock) == maps(of(elbow=7.0))


def test_a_word_that_somebody_looks_counts_for_three_seconds_and_is_no_baseline(
    open_inbox: Callable[[], BaselineInbox], clock: Hand, tell: Told
) -> None:
    inbox = open_inbox()
    assert not inbox.watched
    tell(inbox, WATCHED, b"")
    assert news(inbox, clock) is None
    assert inbox.watched
    for step, watched in ((WATCHING - 0.5, True), (1.0, False)):
        clock.now += step
        assert inbox.changed() is None
        assert inbox.watched is watched


def test_channels_are_wanted_while_somebody_watches_and_the_last_word_counts(
    open_inbox: Callable[[], BaselineInbox], clock: Hand, tell: Told
) -> None:
    inbox = open_inbox()
    assert inbox.wanted == ()
    for content, wanted in ((msgpack.packb(["elbow", "base"]), ("elbow", "base")), (b"", ())):
        tell(inbox, WATCHED, content)
        assert news(inbox, clock) is None
        assert inbox.wanted == wanted
    tell(inbox, WATCHED, msgpack.packb(["base"]))
    news(inbox, clock)
    clock.now += WATCHING + EVERY
    inbox.changed()
    assert inbox.wanted == ()


def test_what_a_person_has_seen_is_told_once_with_the_time_at_which_it_was_heard(
    open_inbox: Callable[[], BaselineInbox], clock: Hand, tell: Told
) -> None:
    inbox = open_inbox()
    assert inbox.acknowledged() is None
    tell(inbox, SEEN, msgpack.packb(["elbow", "base"]))
    assert news(inbox, clock) is None, "it is no baseline"
    first = clock.now + EPOCH
    tell(inbox, SEEN, msgpack.packb(["wrist"]))
    news(inbox, clock)
    assert inbox.acknowledged() == {"elbow": first, "base": first, "wrist": first + EVERY}
    assert inbox.acknowledged() is None


def test_wear_is_reported_once_and_again_where_it_is_another(
    open_inbox: Callable[[], BaselineInbox], clock: Hand, tell: Told
) -> None:
    inbox = open_inbox()
    assert inbox.worn() is None
    for turns, heard in ((5.0, True), (5.0, False), (6.0, True), (5.0, True)):
        tell(inbox, WEAR, msgpack.packb({"elbow": {"turns": turns}}))
        assert news(inbox, clock) is None, "it is no baseline"
        assert inbox.worn() == ({"elbow": {"turns": turns}} if heard else None)
        assert inbox.worn() is None
