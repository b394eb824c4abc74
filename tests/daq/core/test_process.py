"""The core as its process runs it: readings in over a socket, everything that comes out, until it is told to stop."""

import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
import zmq

from daq.config.load import load
from daq.core import process
from daq.core.process import CoreProcess, run
from daq.processes.child import Child
from daq.processes.heartbeat import Heartbeats, Life, alone
from daq.processes.process import live
from daq.state.baselines import TOPIC, Baseline, Baselines
from daq.stream.channel import DriverLink, Sender
from daq.stream.reasons import texts
from daq.stream.sockets import open_publisher
from daq.stream.transcript import TurnBlock, received
from drivers.reading import READING
from hil_rig.truth.moves import moves

SAMPLES, LAST = 1000, 7  # at 1 kHz; of these the last, which come with the order to stop
BASELINE = Baselines(joints={"elbow": [Baseline(since=1.0, model="rigid", values={}, deviations={})]})
PATIENCE = 120.0  # s for anything that is waited for


def motion(first: int, count: int, begin: int) -> np.ndarray:
    """Samples of the template's joint from the first on, one a millisecond; begin: ns, of sample 0."""
    k = np.arange(first, first + count)
    table = np.zeros((count, 3), READING)
    table["time"] = begin + 1_000_000 * k[:, None]
    table["channel"] = [0, 1, 2]
    table["value"] = np.column_stack([np.sin(0.005 * k), np.cos(0.005 * k), k % 65536])
    return table.reshape(-1)


class Outside:
    """Everyone around the core: a driver, the outlet and the recorder; in a thread, as the core has the main one."""

    def __init__(self, folder: Path) -> None:
        self.context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self.said: list[tuple[float, str, dict[str, Any]]] = []  # Unix s at which it came
        self.bodies: list[tuple[bytes, bytes]] = []  # of the public ones
        self.blocks: list[TurnBlock] = []
        self.sent: list[np.ndarray] = []
        self._folder = folder
        self._hears = {name: self.context.socket(zmq.SUB) for name in ("updates", "status", "checkpoints")}
        self._hears["transcript"] = self.context.socket(zmq.PULL)
        for name, socket in self._hears.items():
            if name != "transcript":
                socket.subscribe(b"")
            socket.bind(f"ipc://{folder}/{name}")
        self._tells = open_publisher(self.context, f"ipc://{folder}/baselines")
        self.wrong: list[BaseException] = []
        self.began = self.ended = time.monotonic()  # s, before the core began, and after it had ended
        self.silent: dict[str, Any] = {}  # its totals while the driver was silent
        self.stopped = False  # whether the core was asked to stop, or has ended
        self.thread = threading.Thread(target=self._live)

    def of(self, topic: str) -> list[dict[str, Any]]:
        return [body for _, name, body in self.said if name == topic]

    def status(self) -> dict[str, Any]:
        return self.of("status/core")[-1]

    def recorded(self) -> list[tuple[bytes, bytes]]:
        """Every word that the core gave the recorder, from the first on that the socket of updates brought: what is
        sent before a subscription has reached the sender is not sent at all.
        """
        words = [message for block in self.blocks for message in block.messages]
        return words[words.index(self.bodies[0]) :] if self.bodies and self.bodies[0] in words else []

    def _live(self) -> None:
        try:
            self._play()
        except BaseException as error:  # the main thread is to say so
            self.wrong.append(error)
        finally:
            self._stop()

    def _stop(self) -> None:
        """Once: whoever runs here afterwards is no core."""
        if not self.stopped:
            self.stopped = True
            os.kill(os.getpid(), signal.SIGTERM)

    def _play(self) -> None:
        driver = Sender(f"ipc://{self._folder}/readings", "bus")
        self._until(lambda: self.of("meta"))
        self._until(lambda: driver.report(True, {"frames": 11, "malformed": 2}) or self._driver_is(True))
        begin, size = time.monotonic_ns(), 5
        for first in range(0, SAMPLES, size):
            self._until(lambda first=first: time.monotonic_ns() >= begin + (first + size) * 1_000_000)
            self._send(driver, motion(first, size, begin))
        self._until(lambda: self._tell_baseline() or self.baselines())
        self._until(lambda: self.status()["joints"]["elbow"]["samples"] >= SAMPLES - 200)
        self._until(lambda: [one for one in self.of("event/elbow") if one["kind"] == "fault"])
        self._until(lambda: self._driver_is(False))
        self.silent = self.status()
        process.WAIT = 2.0  # type: ignore[misc]  # s for which its last turn waits for what is on its way
        self._send(driver, motion(SAMPLES, LAST, time.monotonic_ns() - (SAMPLES + LAST) * 1_000_000))
        self._stop()
        self._until(lambda: sum(len(block.readings) for block in self.blocks) == 3 * (SAMPLES + LAST))
        self._until(lambda: len(self.recorded()) == len(self.bodies))
        driver.close()

    def _driver_is(self, up: bool) -> bool:
        """Whether the core says so of the driver."""
        found = self.of("status/core")[-1:]
        return bool(found and found[0]["drivers"]) and found[0]["drivers"]["bus"]["up"] is up

    def _tell_baseline(self) -> None:
        """Said again and again, as by the outlet: the core may have connected just now."""
        self._tells.send_multipart((TOPIC, BASELINE.model_dump_json().encode()))

    def baselines(self) -> list[Any]:
        batches = [batch for block in self.blocks for batch in block.batches]
        return [batch.baseline for batch in batches if batch.baseline is not None]

    def _send(self, driver: Sender, readings: np.ndarray) -> None:
        driver.send(readings)
        self.sent.append(readings)

    def _until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, "waited in vain"
            for name, socket in self._hears.items():
                while socket.poll(0):
                    parts = socket.recv_multipart()
                    if name == "transcript":
                        self.blocks.append(received(parts[0]))
                        continue
                    topic, body = parts
                    self.said.append((time.time(), topic.decode(), msgpack.unpackb(body)))
                    if name == "updates":
                        self.bodies.append((topic, body))
            time.sleep(0.001)  # between two looks

    def close(self) -> None:
        for socket in (*self._hears.values(), self._tells):
            socket.close(0)
        self.context.term()


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Outside:
    """The whole life of one core."""
    folder = tmp_path_factory.mktemp("core")
    template = (Path(__file__).parents[3] / "daq" / "jointwatch.toml").read_text()
    (folder / "jointwatch.toml").write_text(f'{template}\n[recorder]\nfolder = "{folder}"\n')
    one = Outside(folder)
    wait, signals = process.WAIT, {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGALRM)}
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("the core does not stop"))
    signal.alarm(round(8 * PATIENCE))
    heartbeats = Heartbeats(2)
    one.thread.start()
    try:
        run("core", load(folder / "jointwatch.toml"), folder, Life(heartbeats, 1))
        one.thread.join(2 * PATIENCE)
        one.ended = time.monotonic()
    finally:
        one.stopped, process.WAIT = True, wait  # type: ignore[misc]
        signal.alarm(0)
        for number, handler in signals.items():
            signal.signal(number, handler)
        gc.unfreeze()
        one.close()
    assert one.wrong == []
    assert heartbeats.ready(1)
    return one


def test_every_update_is_of_now_and_says_when_its_reading_came(outside: Outside) -> None:
    estimates = outside.of("estimate/elbow")
    lively = [one for one in estimates if one["health"]["status"] != "faulted"]
    assert lively, "50 a second of data, or fewer of a core that is late"
    assert [one["seq"] for one in estimates] == list(range(estimates[0]["seq"], estimates[-1]["seq"] + 1))
    assert {one["boot"] for one in estimates} == {outside.status()["boot"]} == {outside.of("meta")[0]["boot"]}
    came = [at for at, topic, _ in outside.said if topic == "estimate/elbow"]
    for at, one in zip(came, estimates, strict=True):
        # a faulted one is of the look that found it silent; 1 ms: the two clocks are read one after the other
        assert one["timestamp"] <= at + 1e-3
        assert one["arrival"] + one["latency"] <= at + 1e-3
        assert 0.0 < one["latency"] < PATIENCE
        assert abs(at - one["arrival"]) < PATIENCE


def test_it_introduces_itself_once_a_second(outside: Outside) -> None:
    told = outside.of("meta")
    assert [one["seq"] for one in told] == list(range(told[0]["seq"], told[-1]["seq"] + 1))
    assert 2 <= len(told) <= told[-1]["seq"] + 1 <= 1 + outside.ended - outside.began
    assert told[0]["joints"].keys() == {"elbow"}


def test_everything_that_is_counted_is_reported_twice_a_second(outside: Outside) -> None:
    told = outside.of("status/core")
    last = outside.silent
    assert 2 <= len(told) <= 1 + 2 * (outside.ended - outside.began)
    joint, driver = last["joints"]["elbow"], last["drivers"]["bus"]
    assert SAMPLES - 200 <= joint["samples"] <= SAMPLES  # some wait for a neighbour that does not come any more
    assert 0 < joint["updates"] <= len(outside.of("estimate/elbow"))
    assert not any(joint["lost"].values())
    assert (joint["interpolated"], joint["skew"], last["robot"], last["malformed"]) == (0, {}, None, 0)
    assert (driver["readings"], driver["lost"], driver["restarts"]) == (3 * SAMPLES, 0, 0)
    assert driver["counters"] == {"frames": 11, "malformed": 2}
    assert any(one["drivers"]["bus"]["up"] and one["drivers"]["bus"]["cause"] == "" for one in told if one["drivers"])


def test_a_driver_without_a_word_is_not_up_any_more_and_its_joint_has_a_fault(outside: Outside) -> None:
    driver = outside.silent["drivers"]["bus"]
    assert not driver["up"]
    words = driver["cause"].removeprefix("no word from the driver for ").removesuffix(" s")
    assert 1.5 <= float(words) < PATIENCE
    events = [msgpack.unpackb(body) for topic, body in outside.recorded() if topic == b"event/elbow"]
    assert {"fault", "recovered"} <= {one["kind"] for one in events}
    *_, (fault, recovered) = ((one, then) for one, then in pairwise(events) if then["kind"] == "recovered")
    assert (fault["kind"], recovered["text"]) == ("fault", "data again")
    assert fault["text"].startswith("no data for ")
    reasons = [texts(one["health"]["reasons"]) for one in outside.of("estimate/elbow") if one["phase"] == "faulted"]
    assert [text for told in reasons for text in told if text.startswith("no data for ")], "at a look of its own"


def test_what_the_page_draws_comes_every_five_seconds_where_nobody_looks(outside: Outside) -> None:
    assert len(outside.of("samples/elbow")) <= 1 + (outside.ended - outside.began) / 5


def test_the_recorder_gets_every_reading_and_every_word_up_to_the_end(outside: Outside) -> None:
    blocks = outside.blocks
    assert [block.number for block in blocks] == list(range(len(blocks)))
    recorded = b"".join(block.readings.tobytes() for block in blocks)
    assert recorded == b"".join(part.tobytes() for part in outside.sent), "those that came with the order to stop, too"
    batches = [batch for block in blocks for batch in block.batches]
    assert sum(batch.length for batch in batches) == 3 * (SAMPLES + LAST)
    assert outside.recorded() == outside.bodies
    assert outside.baselines() == [{"elbow": BASELINE.joints["elbow"][0].model_dump(mode="json")}]
    assert all(abs(batch.epoch - (time.time_ns() - time.monotonic_ns())) < 1e9 for batch in batches)
    assert (np.diff([batch.watched for batch in batches]) > 0).all()
    assert all(batch.resumed is None for batch in batches)


def test_a_stop_while_the_core_is_being_built_ends_it_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    building = tmp_path / "building"

    def build(*_: object) -> None:
        building.touch()
        time.sleep(PATIENCE)

    monkeypatch.setattr("daq.core.process.Pipeline", build)
    config = load(Path(__file__).parents[3] / "daq" / "jointwatch.toml")
    core = Child("core", partial(live, "core", "daq.core.process:run", config, tmp_path, Life(Heartbeats(1), 0)))
    deadline = time.monotonic() + PATIENCE
    while not building.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    core.send(signal.SIGTERM)
    assert core.wait() == -signal.SIGTERM, "a stop in the middle of a start used to take the three seconds of a kill"


class Clock:
    """A hand on both clocks of the core, in place of the module `time` that its process uses; it sleeps in no time."""

    def __init__(self) -> None:
        self.now = 5_000_000_000  # ns
        self.slept: list[float] = []  # s
        self.sleep = self.slept.append

    def monotonic_ns(self) -> int:
        return self.now

    def monotonic(self) -> float:
        return self.now / 1e9

    def time_ns(self) -> int:
        return self.now + EPOCH

    def time(self) -> float:
        return self.time_ns() / 1e9


EPOCH = 1_700_000_000 * 10**9  # ns from the monotonic clock to Unix time


class Arriving:
    """Readings and links as a receiver of the core hands them over, in the batches that a test says."""

    def __init__(self) -> None:
        self.links: dict[str, DriverLink] = {}
        self.malformed = 4
        self.next: np.ndarray = np.zeros(0, READING)
        self.waited: list[tuple[float, int]] = []
        self.kept: list[dict[str, int]] = []

    def drain(self, wait: float, until: int) -> np.ndarray:
        self.waited.append((wait, until))
        batch, self.next = self.next, np.zeros(0, READING)
        return batch

    def keep(self, waiting: dict[str, int]) -> None:
        self.kept.append(waiting)


class Core:
    """A core whose turns a test makes one by one, and what it sent in each."""

    def __init__(self, folder: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, joints: int = 1) -> None:
        self.clock, self.receiver = clock, Arriving()
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self._topic = b""
        for module in ("daq.core.process", "daq.stream.transcript", "drivers.clock"):
            monkeypatch.setattr(f"{module}.time", clock)
        monkeypatch.setattr("daq.core.process.open_publisher", lambda *_: self)
        template = (Path(__file__).parents[3] / "daq" / "jointwatch.toml").read_text()
        (folder / "jointwatch.toml").write_text(template)
        config = load(folder / "jointwatch.toml")
        elbow = config.joints["elbow"]
        more = {f"joint{k}": elbow.model_copy() for k in range(joints - 1)}
        self.core = CoreProcess(config.model_copy(update={"joints": {"elbow": elbow} | more}), folder, alone())

    def send(self, part: bytes, flags: int = 0) -> None:
        if flags == zmq.SNDMORE:
            self._topic = part
        else:
            self.sent.append((self._topic.decode(), msgpack.unpackb(part)))

    def send_multipart(self, parts: tuple[bytes, bytes]) -> None:
        self.sent.append((parts[0].decode(), msgpack.unpackb(parts[1])))

    def close(self) -> None:
        self.sent.append(("closed", {}))

    def turn(self, at: int, batch: np.ndarray | None = None, going: bool = True) -> list[tuple[str, dict[str, Any]]]:
        """What one turn sends. at: ms since the start."""
        self.clock.now = 5_000_000_000 + at * 1_000_000
        if batch is not None:
            self.receiver.next = batch
        self.sent.clear()
        self.core.turn(self.receiver, going)  # type: ignore[arg-type]
        return list(self.sent)


@pytest.fixture
def core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Core]:
    one = Core(tmp_path, Clock(), monkeypatch)
    yield one
    one.core.close()
    assert one.sent[-2:] == [("closed", {})] * 2, "both of its own publishers"


def begun(core: Core) -> int:
    """ns of the monotonic clock at which its turns begin."""
    return core.clock.now


def test_totals_come_twice_a_second_and_the_introduction_once(core: Core) -> None:
    told = {at: [topic for topic, _ in core.turn(at)] for at in range(0, 2101, 50)}
    assert [at for at, topics in told.items() if "status/core" in topics] == [0, 500, 1000, 1500, 2000]
    assert [at for at, topics in told.items() if "meta" in topics] == [0, 1000, 2000]
    core.turn(2499)
    assert [topic for topic, _ in core.turn(2549) if topic == "status/core"], "counted from when it was due last"


def test_the_introduction_and_the_totals_have_the_hosts_time(core: Core) -> None:
    told = dict(core.turn(0))
    now = (core.clock.now + EPOCH) / 1e9
    assert (told["meta"]["timestamp"], told["status/core"]["timestamp"]) == (now, now)
    assert told["meta"]["boot"] == told["status/core"]["boot"] < 1 << 48
    assert (told["status/core"]["malformed"], told["status/core"]["robot"]) == (4, None)


def test_memory_is_given_back_once_a_start_is_over(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    monkeypatch.setattr("daq.core.process.give_memory_back", lambda: given.append(core.core._pipeline.starting))
    trial, begin, over = moves(0, 20, "moves", 1000.0), begun(core), 0
    values = trial.sample(20_000).values
    for at in range(20, 20_001, 20):
        part = motion(at - 20, 20, begin)
        part["value"].reshape(-1, 3)[:, :2] = values[at - 20 : at]
        told = [body["kind"] for topic, body in core.turn(at, part) if topic == "event/elbow"]
        over = over or at * ("started" in told)
        assert not given or over, "not before"
    assert 0 < over < 19_500
    assert given == [0]


def test_a_turn_without_readings_looks_again_only_after_50_ms(core: Core) -> None:
    core.turn(0)
    looked = []
    for at in range(1, 121):
        kept = len(core.receiver.kept)
        core.turn(at)
        looked += [at] * (len(core.receiver.kept) - kept)
    assert looked == [50, 100], "a turn that does nothing notes nothing"
    assert {wait for wait, _ in core.receiver.waited} == {0.05}


def test_the_last_turn_takes_every_reading_although_nothing_is_due(core: Core) -> None:
    begin = begun(core)
    core.turn(0)
    for at in range(20, 2481, 20):
        core.turn(at, motion(at - 20, 20, begin))
    core.turn(2481, motion(2480, 1, begin))  # with it an interval begins
    assert core.turn(2484, motion(2481, 3, begin)) == [], "they wait until the interval ends"
    told = dict(core.turn(2500, going=False))
    assert told["status/core"]["joints"]["elbow"]["samples"] == 2484
    assert core.receiver.kept[-1] == {"bus": 0}


def test_readings_are_taken_when_their_update_is_due_and_it_says_when_they_came(core: Core) -> None:
    begin = begun(core)
    estimates = []
    for at in range(1, 1001):
        for topic, body in core.turn(at, motion(at - 1, 1, begin)):
            if topic == "estimate/elbow":
                estimates.append((at, body))
    late = [(at, body) for at, body in estimates if at > 500]
    assert len(late) == pytest.approx(25, abs=1)
    for at, body in late:
        newest = begin + (at - 1) * 1_000_000
        assert body["arrival"] == (newest + EPOCH) / 1e9
        assert body["latency"] == pytest.approx(1e-3), "the clock of the test goes on by one with each reading"
    assert 0.01 < max(core.clock.slept[-100:]) <= 0.02, "until the next is due, and an interval has 20 ms"


@pytest.mark.parametrize(("behind", "updates"), [(100, 5), (101, 1)])
def test_a_core_that_is_a_tenth_of_a_second_behind_makes_the_last_update_of_several(
    core: Core, behind: int, updates: int
) -> None:
    """Counted from the oldest reading that it takes."""
    begin = begun(core)
    for at in range(20, 1001, 20):
        core.turn(at, motion(at - 20, 20, begin))
    batch = motion(1000, 100, begin)
    told = core.turn(1000 + behind, batch)
    assert len([1 for topic, _ in told if topic == "estimate/elbow"]) == updates


def test_a_driver_is_up_while_it_has_spoken_in_the_last_second_and_a_half(core: Core) -> None:
    link = DriverLink(readings=9, lost=2, restarts=-1, up=True, cause="", counters={"frames": 3})
    core.receiver.links["bus"] = link

    def told(at: int, silent: float, **more: object) -> dict[str, Any]:
        for name, value in more.items():
            setattr(link, name, value)
        link.seen = 5.0 + at / 1000 - silent
        return dict(dict(core.turn(at))["status/core"]["drivers"]["bus"])

    assert told(0, 1.4) == {
        "up": True, "cause": "", "readings": 9, "lost": 2, "restarts": 0, "counters": {"frames": 3},
    }  # fmt: skip
    mute = told(1000, 1.5)
    assert (mute["up"], mute["cause"]) == (False, "no word from the driver for 1.5 s")
    down = told(2000, 0.5, up=False, cause="no such port", restarts=3)
    assert (down["up"], down["cause"], down["restarts"]) == (False, "no such port", 3)


@pytest.mark.parametrize(("watched", "every"), [(False, 2500), (True, 100)])
def test_of_two_joints_the_page_gets_one_at_a_time_five_times_a_second_while_somebody_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watched: bool, every: int
) -> None:
    asked: list[int] = []
    monkeypatch.setattr("daq.core.process.BaselineInbox.watched", property(lambda _: watched))
    monkeypatch.setattr("daq.core.process.Pipeline.inspect_next_joint", lambda *_: asked.append(1) or [])
    core = Core(tmp_path, Clock(), monkeypatch, joints=2)
    looked = []
    for at in range(0, 5001, 50):
        before = len(asked)
        core.turn(at)
        looked += [at] * (len(asked) - before)
    core.core.close()
    assert looked == list(range(0, 5001, every))


def test_a_mistake_comes_from_beside_the_core_and_is_logged(core: Core, caplog: pytest.LogCaptureFixture) -> None:
    """The look is made in a thread, since no joint has a search: turns go on meanwhile."""
    trial, begin, told, at = moves(0, 20, "moves", 1000.0), begun(core), [], 0
    values, patience = trial.sample(12_000).values, time.monotonic() + PATIENCE
    while not told and time.monotonic() < patience:
        part = motion(at, 20, begin)
        part["value"].reshape(-1, 3)[:, :2] = values[np.arange(at, at + 20) % len(values)] * (1.0, -1.0)
        at += 20
        told = [body for topic, body in core.turn(at, part) if topic == "event/elbow" and body["kind"] == "mistake"]
        if at == len(values):  # all of a start: what is left is to wait for the thread
            at -= 20
            time.sleep(0.01)
    (event,) = told
    assert event["text"].startswith("the sign of the torque looks reversed")
    assert [record.message for record in caplog.records] == [f"elbow: {event['text']}"]
