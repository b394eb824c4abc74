"""Recordings of a running service: complete after a kill, counted where something is missing, and nobody waits."""

import contextlib
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
import zmq
from jsonschema import Draft202012Validator
from mcap.reader import make_reader
from playwright.sync_api import sync_playwright

from daq.config.load import load
from daq.config.sections import Config, CurveKeys, Publish, Record
from daq.config.words import ConfigError
from daq.outlet.history import History
from daq.outlet.metrics import Metrics
from daq.processes.heartbeat import Heartbeats, Life
from daq.recording.folder import RecordingFolder, recordings
from daq.recording.json_channels import JsonChannels
from daq.recording.mcap_file import McapFile
from daq.recording.process import NextBlock, Recorder, run
from daq.recording.reader import blocks, configuration, said
from daq.stream.transcript import WIRE, Batch, TurnBlock, pack
from daq.stream.update import Introduction
from daq.subscriber import Subscriber
from drivers.reading import READING
from hil_rig.live import Live

FLAGS = ["--no-sandbox", "--disable-gpu"]
TEMPLATE = Path(__file__).parents[3] / "daq" / "jointwatch.toml"


class Clock:
    """The recorder's monotonic clock: it stands until a test moves it."""

    now = 1000.0  # s
    time, time_ns = staticmethod(time.time), staticmethod(time.time_ns)

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    one = Clock()
    monkeypatch.setattr("daq.recording.process.time", one)
    return one


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Recorder]]:
    """Starts recorders of one service, one after the other."""
    opened: list[NextBlock] = []

    def begin(config: Config) -> Recorder:
        opened.append(NextBlock(tmp_path / "recorder.next"))
        return Recorder(config, opened[-1])

    yield begin
    for expected in opened:
        expected.close()


def configured(folder: Path, **limits: float) -> Config:
    record = Record(folder=folder, reserve=0.0).model_copy(update=limits)
    return load(TEMPLATE).model_copy(update={"recorder": record})


def block(number: int, boot: int = 1, size: int = 100) -> TurnBlock:
    rng = np.random.default_rng(number)
    rows = np.zeros(size, READING)
    rows["value"] = rng.standard_normal(size)
    update = {"timestamp": 1.5 + number, "kind": "started", "text": "μ", "seq": number, "boot": boot, "joint": "elbow",
              "robot": "arm", "v": 2}  # fmt: skip
    batch = Batch(size, 10**18, number, [], [], None)
    return TurnBlock(boot, number, [batch], rows, [(b"event/elbow", msgpack.packb(update))])


def test_what_was_taken_is_in_the_file(tmp_path: Path, start: Callable[..., Recorder]) -> None:
    recorder = start(configured(tmp_path))
    for number in range(10):
        recorder.take(block(number))
        (file,) = recordings(tmp_path, "arm")
        assert [one.number for one in blocks(file)] == list(range(number + 1))
    recorder.close()
    events = [one for one in said(file) if one.topic == "event/elbow"]
    assert [(one.update["seq"], one.update["text"]) for one in events] == [(number, "μ") for number in range(10)]
    assert configuration(file).joints == load(TEMPLATE).joints
    with file.open("rb") as stream:
        for schema, channel, message in make_reader(stream).iter_messages():
            assert schema is not None
            assert channel.message_encoding == "json"
            assert list(Draft202012Validator(json.loads(schema.data)).iter_errors(json.loads(message.data))) == []
            if channel.topic == "log":
                assert (schema.name, json.loads(message.data)["name"]) == ("foxglove.Log", "elbow")
            assert channel.topic == "clock" or message.log_time == round(1.5e9 + message.sequence * 1e9)


def test_an_infinite_bound_keeps_to_its_schema(tmp_path: Path) -> None:
    """The core's introduction of a joint fits its schema, because JSON leaves out a bound that has no end."""
    unbounded = {"unit": "m", "low": -math.inf, "high": math.inf, "equation": "(1)"}
    joint = {"model": "rigid", "unit": "N·m", "rate": 1000.0, "parameters": {"offset": unbounded}}
    topic, body = Introduction("arm", 7, "0" * 16, {"elbow": joint}).message(1.0)
    with McapFile(tmp_path / "x.mcap", "test") as file:
        JsonChannels(file).message(topic.decode(), body, 10**9)
    with (tmp_path / "x.mcap").open("rb") as stream:
        found = list(make_reader(stream).iter_messages())
    assert len(found) == 1
    for schema, _, message in found:
        assert schema is not None
        told = json.loads(message.data)
        assert list(Draft202012Validator(json.loads(schema.data)).iter_errors(told)) == []
        assert told["joints"]["elbow"]["parameters"]["offset"] == {"unit": "m", "equation": "(1)"}


def test_a_recording_of_a_locked_stream_is_read_without_its_keys(
    tmp_path: Path, start: Callable[..., Recorder]
) -> None:
    curve = CurveKeys.model_construct(secret=Path("/secret"), clients=Path("/clients"))
    publish = Publish(rate=25.0).model_copy(update={"endpoint": "tcp://0.0.0.0:5556", "curve": curve})
    recorder = start(configured(tmp_path).model_copy(update={"publish": publish}))
    recorder.take(block(0))
    recorder.close()
    (file,) = recordings(tmp_path, "arm")
    assert configuration(file).publish.rate == 25.0
    assert b"/secret" not in file.read_bytes()


def test_its_status_says_what_is_written_and_where(tmp_path: Path, start: Callable[..., Recorder]) -> None:
    recorder = start(configured(tmp_path))
    before = recorder.status()
    assert (before["up"], before["file"], before["written"], before["blocks"], before["bytes"]) == (False, "", 0, 0, 0)
    recorder.take(block(0))
    [file] = recordings(tmp_path, "arm")
    begun = recorder.status()["bytes"]
    for number in range(1, 5):
        recorder.take(block(number))
    status = recorder.status()
    assert (status["up"], status["cause"], status["file"]) == (True, "", file.name)
    assert (status["blocks"], status["lost"]) == (5, 0)
    assert status["written"] == pytest.approx((10**18 + 4) / 1e9, abs=1e-6)
    packed = sum(len(pack(block(number))) for number in range(1, 5))
    assert packed < status["bytes"] - begun < packed + 4 * 1000, "what a block has beside it is small"
    assert status["bytes"] < file.stat().st_size
    recorder.close()
    assert not recorder.status()["up"]


def test_how_the_clocks_stood_is_in_every_file_and_not_with_every_block(
    tmp_path: Path, start: Callable[..., Recorder], clock: Clock
) -> None:
    recorder = start(configured(tmp_path))
    for number in range(5):
        clock.now += 0.19
        recorder.take(block(number))
    clock.now += 1e9
    recorder.take(block(5))
    clock.now += 1.0
    recorder.take(block(6))
    recorder.close()
    found = [[one.update for one in said(file) if one.topic == "clock"] for file in recordings(tmp_path, "arm")]
    assert [[round(1e9 * one["monotonic"]) for one in file] for file in found] == [[0], [5, 6]]
    assert {one["epoch"] for file in found for one in file} == {str(10**18)}


def test_what_is_written_is_on_the_disk_within_a_second(
    tmp_path: Path, start: Callable[..., Recorder], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not with every block: a slow disk would not keep up."""
    synced: list[int] = []
    fdatasync = os.fdatasync

    def counted(file: int) -> None:
        synced.append(file)
        fdatasync(file)

    monkeypatch.setattr(os, "fdatasync", counted)
    recorder = start(configured(tmp_path))
    recorder.take(block(0))
    assert len(synced) == 1
    clock.now += 0.99
    recorder.take(block(1))
    assert len(synced) == 1
    clock.now += 0.01
    recorder.take(block(2))
    assert len(synced) == 2
    recorder.close()
    assert len(synced) == 3


def test_a_file_ends_where_the_disk_has_become_full_and_another_begins_when_there_is_room(
    tmp_path: Path, start: Callable[..., Recorder], clock: Clock
) -> None:
    recorder = start(configured(tmp_path))
    recorder.take(block(0))
    recorder.take(block(1))
    enough = recorder._folder
    recorder._folder = RecordingFolder(Record(folder=tmp_path, reserve=1e18), "arm")
    clock.now += 4.9
    recorder.take(block(2))
    assert recorder.status()["up"], "it looks now and then, not at every block"
    clock.now += 0.1
    recorder.take(block(3))
    assert not recorder.status()["up"]
    assert "are free" in recorder.status()["cause"]
    recorder._folder = enough
    clock.now += 1.9
    recorder.take(block(4))
    assert recorder.status()["lost"] == 2, "it is not tried again at once"
    clock.now += 0.1
    recorder.take(block(5))
    recorder.close()
    numbers = [[one.number for one in blocks(file)] for file in recordings(tmp_path, "arm")]
    assert numbers == [[0, 1, 2], [5]]
    assert recorder.status()["lost"] == 2


def test_a_last_file_that_is_damaged_stays_and_another_begins(tmp_path: Path, start: Callable[..., Recorder]) -> None:
    damaged = tmp_path / "arm-20260101T000000Z.mcap"
    damaged.write_bytes(b"rubbish")
    recorder = start(configured(tmp_path))
    recorder.take(block(0))
    recorder.close()
    assert damaged.read_bytes() == b"rubbish"
    assert [one.number for one in blocks(recordings(tmp_path, "arm")[-1])] == [0]


def test_what_is_missing_is_known_by_the_number_that_came_last(tmp_path: Path) -> None:
    expected = NextBlock(tmp_path / "next")
    assert expected.missing(7, 3) == 0, "nothing is known of another start of the core"
    expected.passed(7, 3)
    assert [expected.missing(7, number) for number in (2, 3, 4, 5, 9)] == [0, 0, 0, 1, 5]
    assert expected.missing(8, 9) == 0
    expected.close()
    after = NextBlock(tmp_path / "next")
    assert after.missing(7, 6) == 2
    after.close()


def test_without_a_table_of_its_own_there_is_no_recorder(tmp_path: Path) -> None:
    expected = NextBlock(tmp_path / "next")
    with pytest.raises(ValueError, match=r"with \[recorder\]"):
        Recorder(load(TEMPLATE), expected)
    expected.close()


def test_files_are_of_limited_size_and_the_oldest_go(tmp_path: Path, start: Callable[..., Recorder]) -> None:
    other = tmp_path / "arm-left-20260101T000000Z.mcap"
    other.write_bytes(bytes(1000))
    recorder = start(configured(tmp_path, file_size=30_000, keep=100_000))
    for number in range(400):
        recorder.take(block(number))
    recorder.close()
    files = recordings(tmp_path, "arm")
    assert len(files) > 2
    assert max(file.stat().st_size for file in files) < 50_000
    assert sum(file.stat().st_size for file in files) < 150_000
    numbers = [one.number for file in files for one in blocks(file)]
    assert numbers == list(range(numbers[0], 400)), "without a gap from file to file"
    assert numbers[0] > 0
    assert other.exists(), "another robot's"


def test_a_file_ends_after_its_duration_or_when_somebody_deletes_it(
    tmp_path: Path, start: Callable[..., Recorder], clock: Clock
) -> None:
    recorder = start(configured(tmp_path, file_duration=1000.0))
    recorder.take(block(0))
    clock.now += 999.0
    recorder.take(block(10))
    assert len(recordings(tmp_path, "arm")) == 1
    clock.now += 1.0
    recorder.take(block(1))
    first, second = recordings(tmp_path, "arm")
    second.unlink()
    recorder.take(block(2))
    assert recorder.status()["lost"] == 9 + 1, "those between 0 and 10, and the one that the deleted file held"
    recorder.close()
    files = recordings(tmp_path, "arm")
    assert [one.number for file in files for one in blocks(file)] == [0, 10, 2]
    assert files[0] == first


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def replaced(file: Path) -> None:
    file.unlink()
    file.touch()


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 1)


@pytest.mark.parametrize("fault", [emptied, replaced, cut])
def test_what_another_program_does_to_the_file_costs_what_it_held_and_is_said(
    tmp_path: Path, start: Callable[..., Recorder], fault: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    """`: > current.mcap` and `rm f; touch f` once left a recorder that was up, lost nothing and kept nothing."""
    recorder = start(configured(tmp_path))
    for number in range(5):
        recorder.take(block(number))
    (file,) = recordings(tmp_path, "arm")
    fault(file)
    left = file.read_bytes()
    for number in range(5, 8):
        recorder.take(block(number))
    status = recorder.status()
    assert (status["up"], status["lost"], status["cause"]) == (True, 5, "")
    recorder.close()
    assert file.read_bytes() == left, "nothing more is written into it"
    (other,) = (one for one in recordings(tmp_path, "arm") if one != file)
    assert [one.number for one in blocks(other)] == [5, 6, 7]
    assert "5 blocks that it held are lost, a new recording begins" in caplog.text


def test_a_file_that_is_moved_away_is_ended_and_nothing_is_lost(tmp_path: Path, start: Callable[..., Recorder]) -> None:
    recorder = start(configured(tmp_path))
    recorder.take(block(0))
    (file,) = recordings(tmp_path, "arm")
    moved = file.rename(tmp_path / "kept.mcap")
    recorder.take(block(1))
    assert recorder.status()["lost"] == 0
    recorder.close()
    assert [one.number for one in blocks(moved)] == [0]
    assert [one.number for file in recordings(tmp_path, "arm") for one in blocks(file)] == [1]


def test_lost_blocks_are_counted_over_a_restart_of_the_recorder(tmp_path: Path, start: Callable[..., Recorder]) -> None:
    recorder = start(configured(tmp_path))
    for boot, number in ((1, 5), (1, 6), (1, 9), (2, 0), (2, 3)):
        recorder.take(block(number, boot))
    assert recorder.status()["lost"] == 2 + 2
    recorder.close()
    recorder = start(configured(tmp_path))
    recorder.take(block(5, 2))
    assert recorder.status()["lost"] == 1
    recorder.close()


def test_a_folder_that_cannot_be_written_is_said_and_tried_again(
    tmp_path: Path, start: Callable[..., Recorder], clock: Clock
) -> None:
    (tmp_path / "records").write_text("in the way")
    recorder = start(configured(tmp_path / "records"))
    recorder.take(block(0))
    status = recorder.status()
    assert (status["up"], status["lost"]) == (False, 1)
    assert str(tmp_path / "records") in status["cause"]
    (tmp_path / "records").unlink()
    clock.now += 2.0
    recorder.take(block(1))
    assert recorder.status()["up"]
    assert recorder.status()["cause"] == ""
    assert recorder.status()["lost"] == 1
    recorder.close()


def test_a_disk_that_is_nearly_full_is_left_alone(tmp_path: Path, start: Callable[..., Recorder]) -> None:
    recorder = start(configured(tmp_path, reserve=1e18))
    recorder.take(block(0))
    assert not recorder.status()["up"]
    assert "are free" in recorder.status()["cause"]
    assert recordings(tmp_path, "arm") == []


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from daq.recording import process
from daq.recording.process import NextBlock, Recorder
from test_process import block, configured
process.AGAIN = 1e9  # another file would be begun meanwhile on a machine that stands still
folder = Path(sys.argv[1])
recorder = Recorder(configured(folder), NextBlock(folder / "next"))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
for number in range(100):
    recorder.take(block(number))
print(recorder.status()["lost"], recorder.status()["cause"])
"""


def test_a_full_disk_costs_blocks_that_are_counted_and_no_file(tmp_path: Path) -> None:
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path), str(here), str(here.parents[2])],
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    lost, _, cause = done.stdout.strip().partition(" ")
    assert cause == f"{tmp_path}: File too large"
    (file,) = recordings(tmp_path, "arm")
    kept = [one.number for one in blocks(file)]
    assert kept == list(range(100 - int(lost)))
    with file.open("rb") as stream:
        assert sum(1 for _ in make_reader(stream, validate_crcs=True).iter_messages(topics="event/elbow")) == len(kept)


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from daq.recording.mcap_file import McapFile
from daq.recording.process import NextBlock, Recorder
from test_process import block, configured
folder = Path(sys.argv[1])
recorder = Recorder(configured(folder), NextBlock(folder / "recorder.next"))
for number in range(5):
    recorder.take(block(number))
McapFile.write = lambda file: os.kill(os.getpid(), signal.SIGKILL)
recorder.take(block(5))
"""


def test_the_block_that_a_recorder_was_killed_over_is_counted_by_the_next(
    tmp_path: Path, start: Callable[..., Recorder]
) -> None:
    here = Path(__file__).parent
    arguments = [sys.executable, "-c", KILLED, str(tmp_path), str(here), str(here.parents[2])]
    assert subprocess.run(arguments, check=False, timeout=300).returncode == -signal.SIGKILL
    recorder = start(configured(tmp_path))
    recorder.take(block(6))
    recorder.close()
    with recordings(tmp_path, "arm")[0].open("rb") as stream:
        assert len(list(make_reader(stream).iter_attachments())) == 5, "the next recorder gives its file an index"
    assert [one.number for file in recordings(tmp_path, "arm") for one in blocks(file)] == [0, 1, 2, 3, 4, 6]
    assert recorder.status()["lost"] == 1


def test_what_is_recorded_is_configured(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(TEMPLATE.read_text() + '\n[recorder]\nfolder = "kept"\nkeep = 3e6\nfile_size = 2e6\n')
    record = load(file).recorder
    assert record == Record(folder=tmp_path / "kept", keep=3e6, file_size=2e6)
    assert load(TEMPLATE).recorder is None
    file.write_text(TEMPLATE.read_text() + "\n[recorder]\nkeep = 1e6\nsize = 3\n")
    with pytest.raises(ConfigError) as wrong:
        load(file)
    assert "recorder.folder: expected a value, found none" in str(wrong.value)
    assert 'recorder.size: unknown key "size"' in str(wrong.value)


def test_what_the_recorder_says_reaches_page_and_metrics(tmp_path: Path, start: Callable[..., Recorder]) -> None:
    recorder = start(configured(tmp_path))
    for number in (0, 1, 4):
        recorder.take(block(number))
    status = recorder.status()
    recorder.close()
    metrics, history = Metrics({}), History("arm", [])
    metrics.absorb("recorder/status", status)
    history.absorb("recorder/status", status, 0.0)
    lines = metrics.exposition("")[0].decode().splitlines()
    assert "jointwatch_recorder_up 1.0" in lines
    assert "jointwatch_recorder_blocks_lost_total 2.0" in lines
    assert f"jointwatch_recorder_bytes_total {float(status['bytes'])}" in lines
    assert history.latest(status["timestamp"] + 1)["recorder"]["up"]
    stuck = history.latest(status["timestamp"] + 4)["recorder"]
    assert (stuck["up"], stuck["cause"]) == (False, "no word from the recorder for 4 s")


class Around(threading.Thread):
    """The core and the outlet around a recorder, which has the main thread; the order to stop is the last they say."""

    def __init__(self, folder: Path, count: int) -> None:
        super().__init__(name="around")
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._blocks, self._status = self._context.socket(zmq.PUSH), self._context.socket(zmq.SUB)
        self._status.subscribe(b"")
        self._status.bind(f"ipc://{folder}/status")
        self._blocks.connect(f"ipc://{folder}/transcript")
        self._count = count
        self.said: list[tuple[str, dict[str, Any]]] = []

    def run(self) -> None:
        try:
            self._hear_of(0)
            for number in range(self._count):
                self._send(number)
            self._hear_of(self._count)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            self._send(self._count)  # the last, which comes with the order to stop
            self._status.close(0)
            self._blocks.close(2000)
            self._context.term()

    def _send(self, number: int) -> None:
        one = block(number)
        turn = (one.batches[0], one.readings.tobytes(), one.messages)
        self._blocks.send(WIRE.pack(one.boot, number) + msgpack.packb(turn))

    def _hear_of(self, written: int) -> None:
        """Until it says that it has written so many."""
        while not self.said or self.said[-1][1]["blocks"] < written:
            assert self._status.poll(60_000), "the recorder says nothing"
            topic, body = self._status.recv_multipart()
            self.said.append((topic.decode(), msgpack.unpackb(body)))


def test_a_recorder_writes_all_that_comes_and_says_so_until_it_is_told_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nice: list[int] = []
    monkeypatch.setattr(os, "nice", nice.append)
    monkeypatch.setattr("daq.recording.process.REST", 4.0)  # s, for which the last block may be on its way here
    config, heartbeats, before = configured(tmp_path / "records"), Heartbeats(2), signal.getsignal(signal.SIGTERM)
    around = Around(tmp_path, 20)
    around.start()
    try:
        run("recorder", config, tmp_path, Life(heartbeats, 1))
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        around.join(60.0)
        signal.signal(signal.SIGTERM, before)
    assert heartbeats.ready(1)
    assert heartbeats.last(1) > 0.0
    assert nice == [5], "a file may wait, the core may not"
    assert {topic for topic, _ in around.said} == {"recorder/status"}
    assert not around.said[0][1]["up"]
    assert around.said[-1][1]["up"]
    times = np.diff([one["timestamp"] for _, one in around.said])
    assert (times > 0.4).all(), "every half second, not with every block"
    [file] = recordings(tmp_path / "records", "arm")
    assert [one.number for one in blocks(file)] == list(range(21))
    assert [one.readings.tobytes() for one in blocks(file)] == [
        block(number).readings.tobytes() for number in range(21)
    ]
    with file.open("rb") as stream:
        assert make_reader(stream).get_summary() is not None, "the file has its end"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where recordings are to go; something is in the way at first."""
    folder = tmp_path_factory.mktemp("live") / "records"
    folder.write_text("")
    return folder


@pytest.fixture(scope="module")
def live(folder: Path, forked_programs: None) -> Iterator[Live]:
    more = f'\n[recorder]\nfolder = "{folder}"\nreserve = 0\n'
    with Live(["rigid", "--joints", "2", "--wire", "udp"], more=more) as started:
        yield started


@pytest.fixture
def recording(live: Live, folder: Path, wait: Callable[..., None]) -> Live:
    if folder.is_file():
        folder.unlink()
    wait(lambda: metric(live, "jointwatch_recorder_up") == 1)
    return live


def state(live: Live) -> dict[str, dict[str, object]]:
    with urllib.request.urlopen(f"{live.page}/api/state", timeout=60) as response:
        found: dict[str, dict[str, object]] = json.load(response)
    return found


def pid_of(live: Live, name: str, wait: Callable[..., None]) -> int:
    """The id of a process of the service, once it runs."""

    def found() -> int:
        told = state(live)["processes"].get(name, {"up": False})
        return told["pid"] if told["up"] and Path(f"/proc/{told['pid']}").exists() else 0  # type: ignore[index, return-value]

    wait(found)
    pid = found()
    assert pid > 1
    return pid


def sleeps(pid: int) -> bool:
    """Whether each thread of a process waits for something else than a processor or a disk."""
    return all(") S " in stat.read_text() for stat in Path(f"/proc/{pid}/task").glob("*/stat"))


def metric(live: Live, name: str) -> float:
    """Its value; NaN before the recorder has said anything."""
    with urllib.request.urlopen(f"{live.page}/metrics", timeout=60) as response:
        text = response.read().decode()
    return next((float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(f"{name} ")), math.nan)


def test_a_service_that_cannot_record_runs_and_says_so(live: Live, folder: Path, wait: Callable[..., None]) -> None:
    with Subscriber(live.endpoint, ("estimate/",), timeout=60.0) as subscriber:
        assert next(subscriber)
    wait(lambda: metric(live, "jointwatch_recorder_blocks_lost_total") > 0)
    assert metric(live, "jointwatch_recorder_up") == 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{live.page}/#/acquisition")
        page.get_by_text(re.compile(f"^Not recording: {folder}: Not a directory")).wait_for()
        folder.unlink()
        page.get_by_text(re.compile("^Recording into rigid-")).wait_for()
        browser.close()


def test_a_killed_recorder_loses_less_than_100_ms_and_its_file_opens(
    recording: Live, folder: Path, wait: Callable[..., None]
) -> None:
    live, lost = recording, metric(recording, "jointwatch_recorder_blocks_lost_total")
    wait(lambda: metric(live, "jointwatch_recorder_bytes_total") > 100_000)
    pid = pid_of(live, "recorder", wait)
    wait(lambda: sleeps(pid), pause=0.001)  # it has taken all that has come: it may have had no processor before
    os.kill(pid, signal.SIGKILL)
    wait(lambda: len(recordings(folder, "rigid")) == 2)
    first, second = recordings(folder, "rigid")
    with first.open("rb") as stream:
        summary = make_reader(stream, validate_crcs=True).get_summary()
        assert summary is not None
        assert summary.statistics is not None
        stream.seek(0)
        assert sum(1 for _ in make_reader(stream).iter_messages()) == summary.statistics.message_count > 100
    wait(lambda: len(list(blocks(second))))
    before, after = list(blocks(first)), list(blocks(second))
    assert after[0].boot == before[-1].boot
    missing = after[0].number - before[-1].number - 1
    assert missing <= 2, "blocks of 40 ms"
    wait(lambda: metric(live, "jointwatch_recorder_up") == 1)
    wait(lambda: metric(live, "jointwatch_recorder_blocks_lost_total") == lost + missing)


def test_a_recorder_that_stands_still_delays_nobody(recording: Live, wait: Callable[..., None]) -> None:
    live = recording
    pid, lost = pid_of(live, "recorder", wait), metric(live, "jointwatch_recorder_blocks_lost_total")
    os.kill(pid, signal.SIGSTOP)
    stopped = time.monotonic()
    try:
        with Subscriber(live.endpoint, ("estimate/",), timeout=60) as subscriber:
            for _ in range(100):
                next(subscriber)
            assert not subscriber.gaps
        wait(lambda: "no word" in str(state(live)["recorder"]["cause"]))
    finally:
        with contextlib.suppress(ProcessLookupError):  # one that was held for long is ended, and started anew
            os.kill(pid, signal.SIGCONT)
    held = time.monotonic() - stopped
    wait(lambda: state(live)["recorder"]["up"])
    waited = metric(live, "jointwatch_recorder_blocks_lost_total") == lost
    assert waited or held > 9.0, "they were waiting; in ten seconds there is no more room"
