"""The core as its process runs it: readings in over a socket, everything that comes out, until it is told to stop."""

import gc
import os
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
import zmq

from daq.config.load import load
from daq.core.process import run
from daq.processes.child import Child
from daq.processes.heartbeat import Heartbeats, Life
from daq.processes.process import live
from daq.state.baselines import TOPIC, Baseline, Baselines
from daq.stream.channel import Sender
from daq.stream.reasons import texts
from daq.stream.sockets import open_publisher
from daq.stream.transcript import TurnBlock, received
from drivers.reading import READING

SAMPLES, LAST = 1000, 7  # at 1 kHz; of these the last, which come with the order to stop
BASELINE = Baselines(joints={"elbow": [Baseline(since=1.0, model="rigid", values={}, deviations={})]})
PATIENCE = 60.0  # s for anything that is waited for


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
        self.stopped = False  # whether the core was asked to stop, or has ended
        self.thread = threading.Thread(target=self._live)

    def of(self, topic: str) -> list[dict[str, Any]]:
        return [body for _, name, body in self.said if name == topic]

    def status(self) -> dict[str, Any]:
        return self.of("status/core")[-1]

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
        self._tells.send_multipart((TOPIC, BASELINE.model_dump_json().encode()))
        driver.report(True, {"frames": 11, "malformed": 2})
        begin, size = time.monotonic_ns(), 5
        for first in range(0, SAMPLES, size):
            self._until(lambda first=first: time.monotonic_ns() >= begin + (first + size) * 1_000_000)
            self._send(driver, motion(first, size, begin))
        self._until(lambda: self.of("status/core") and self.status()["joints"]["elbow"]["samples"] >= SAMPLES - 200)
        self._until(lambda: [one for one in self.of("event/elbow") if one["kind"] == "fault"])
        self._until(lambda: not self.status()["drivers"]["bus"]["up"])
        self._send(driver, motion(SAMPLES, LAST, time.monotonic_ns() - (SAMPLES + LAST) * 1_000_000))
        self._stop()
        self._until(lambda: sum(len(block.readings) for block in self.blocks) == 3 * (SAMPLES + LAST))
        driver.close()

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
    signals = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGALRM)}
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("the core does not stop"))
    signal.alarm(round(5 * PATIENCE))
    heartbeats = Heartbeats(2)
    one.thread.start()
    try:
        run("core", load(folder / "jointwatch.toml"), folder, Life(heartbeats, 1))
        one.thread.join(PATIENCE)
    finally:
        one.stopped = True
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
    assert len(lively) >= 10, "50 a second of data, or fewer of a core that is late"
    assert [one["seq"] for one in estimates] == list(range(len(estimates)))
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
    assert [one["seq"] for one in told] == list(range(len(told)))
    lasted = told[-1]["timestamp"] - told[0]["timestamp"]
    assert 2 <= len(told) <= 2 + lasted, "one more where the first was held up"
    assert told[0]["joints"].keys() == {"elbow"}


def test_everything_that_is_counted_is_told_twice_a_second(outside: Outside) -> None:
    told = outside.of("status/core")
    last = told[-1]
    assert 4 <= len(told) <= 2 + 2 * (last["timestamp"] - told[0]["timestamp"])
    joint, driver = last["joints"]["elbow"], last["drivers"]["bus"]
    assert SAMPLES - 200 <= joint["samples"] <= SAMPLES  # some wait for a neighbour that does not come any more
    assert 0 < joint["updates"] <= len(outside.of("estimate/elbow"))
    assert not any(joint["lost"].values())
    assert (joint["interpolated"], joint["skew"], last["robot"], last["malformed"]) == (0, {}, None, 0)
    assert (driver["readings"], driver["lost"], driver["restarts"]) == (3 * SAMPLES, 0, 0)
    assert driver["counters"] == {"frames": 11, "malformed": 2}
    assert any(one["drivers"]["bus"]["up"] and one["drivers"]["bus"]["cause"] == "" for one in told if one["drivers"])


def test_a_driver_without_a_word_is_not_up_any_more_and_its_joint_has_a_fault(outside: Outside) -> None:
    driver = outside.status()["drivers"]["bus"]
    assert not driver["up"]
    words = driver["cause"].removeprefix("no word from the driver for ").removesuffix(" s")
    assert 1.5 <= float(words) < PATIENCE
    *_, fault, recovered = outside.of("event/elbow")
    assert (fault["kind"], recovered["kind"], recovered["text"]) == ("fault", "recovered", "data again")
    assert fault["text"].startswith("no data for ")
    reasons = [texts(one["health"]["reasons"]) for one in outside.of("estimate/elbow") if one["phase"] == "faulted"]
    assert [fault["text"]] in reasons


def test_what_the_page_draws_comes_once_a_second_where_nobody_looks(outside: Outside) -> None:
    came = [at for at, topic, _ in outside.said if topic == "samples/elbow"]
    assert 1 <= len(came) <= 1 + outside.said[-1][0] - outside.said[0][0]


def test_the_recorder_gets_every_reading_and_every_word_up_to_the_end(outside: Outside) -> None:
    blocks = outside.blocks
    assert [block.number for block in blocks] == list(range(len(blocks)))
    recorded = b"".join(block.readings.tobytes() for block in blocks)
    assert recorded == b"".join(part.tobytes() for part in outside.sent), "those that came with the order to stop, too"
    batches = [batch for block in blocks for batch in block.batches]
    assert sum(batch.length for batch in batches) == 3 * (SAMPLES + LAST)
    words = [message for block in blocks for message in block.messages]
    assert words[: len(outside.bodies)] == outside.bodies
    baselines = [batch.baseline for batch in batches if batch.baseline is not None]
    assert baselines == [{"elbow": BASELINE.joints["elbow"][0].model_dump()}]
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
    begin = time.monotonic()
    core.send(signal.SIGTERM)
    assert core.wait() == -signal.SIGTERM
    assert time.monotonic() - begin < 1.0, "a stop in the middle of a start used to take the three seconds of a kill"
