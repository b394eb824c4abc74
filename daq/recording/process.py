"""The recorder process: writes the core's transcript into MCAP files in a folder of limited size.

No other process waits for it. While the disk is slow, blocks wait in memory; blocks that do not fit are lost and
counted. If the disk is full or not writable, the recorder reports it and tries again. A block is written as soon as it
arrives, and synced within SYNC_EVERY, so a loss of power loses no more than that time.
"""

import json
import os
import struct
import time
from pathlib import Path
from typing import Final

import msgpack
import zmq

from daq.config.load import digest
from daq.config.sections import Config
from daq.processes.heartbeat import Life
from daq.processes.logs import log
from daq.processes.process import StopSignal, endpoint
from daq.recording.folder import RecordingFolder, recordings
from daq.recording.json_channels import JsonChannels
from daq.recording.mcap_file import McapFile
from daq.recording.mcap_index import index_again
from daq.stream import transcript
from daq.stream.checksum import DamagedError, SealedFile
from daq.stream.sockets import open_publisher
from daq.stream.transcript import BLOCKS, TurnBlock, received
from daq.stream.update import Map

STATUS_EVERY: Final = 0.5  # s
ROOM_EVERY: Final = 5.0  # s between two checks of the folder's limits
AGAIN: Final = 2.0  # s between two attempts to begin a file
REST: Final = 0.3  # s for which a stop waits for the core's last block
SYNC_EVERY: Final = 1.0  # s between two syncs
NICE: Final = 5  # niceness: a file may wait, the core may not
CLOCK_EVERY: Final = 1.0  # s between two records of the clocks' relation


def run(_: str, config: Config, runtime: Path, life: Life) -> None:
    """Record until SIGTERM."""
    stop = StopSignal()
    os.nice(NICE)
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context.instance()
    blocks = context.socket(zmq.PULL)
    blocks.setsockopt(zmq.RCVHWM, transcript.QUEUE)
    blocks.bind(endpoint(runtime, "transcript"))
    status = open_publisher(context, endpoint(runtime, "status"))
    expected = NextBlock(runtime / "recorder.next")
    recorder = Recorder(config, expected)
    life.ready()
    due = 0.0
    while not stop.asked or blocks.poll(int(REST * 1000)):
        life.beat()
        if blocks.poll(100):
            recorder.take(received(blocks.recv()))
        if time.monotonic() >= due:
            status.send_multipart((b"recorder/status", msgpack.packb(recorder.status())))
            due = time.monotonic() + STATUS_EVERY
    recorder.close()
    expected.close()
    blocks.close(0)
    status.close()


class NextBlock:
    """Stores the number of the next block in a file, so that the recorder after a killed one counts the missing blocks.

    The number is stored after a block is written or counted as lost, so a block during which the recorder was killed is
    counted too.
    """

    LAYOUT: Final = struct.Struct("<QQ")  # boot, number

    def __init__(self, path: Path) -> None:
        self._file = SealedFile(path)
        self._boot = self._number = 0  # of the next expected block; 0: none was written yet
        try:
            self._boot, self._number = self.LAYOUT.unpack(self._file.read() or bytes(self.LAYOUT.size))
        except (DamagedError, struct.error) as error:
            log.warning("%s: %s: which blocks the recorder before has lost is unknown", path, error)

    def missing(self, boot: int, number: int) -> int:
        """The number of blocks that are missing before this one."""
        return max(0, number - self._number) if boot == self._boot else 0

    def passed(self, boot: int, number: int) -> None:
        """Note that this block was written or counted as lost."""
        self._boot, self._number = boot, number + 1
        self._file.write(self.LAYOUT.pack(boot, number + 1))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Recorder:
    """Writes the recordings of one robot, one file after the other."""

    def __init__(self, config: Config, expected: NextBlock) -> None:
        if config.recorder is None:
            raise ValueError("expected a configuration with [recorder]")
        self._settings, self._config, self._expected = config.recorder, config, expected
        self._folder = RecordingFolder(config.recorder, config.robot.name)
        self._start = time.time_ns()
        self._file: McapFile | None = None
        self._began = 0.0  # monotonic s at which the file began
        self._next_attempt = 0.0  # monotonic s before which no new file is begun
        self._room = 0.0  # monotonic s of the next check of the folder
        self._clock = 0.0  # monotonic s of the next record of the clocks
        self._sync = 0.0  # monotonic s of the next sync
        self._channels: JsonChannels | None = None  # of the file
        self._cause = ""
        self._looked = False  # whether the last recording of the previous recorder was checked
        self._bytes = self._blocks = self._lost = 0
        self._held = 0  # number of blocks in the file
        self._written = 0.0  # Unix s of the last block in a file

    def take(self, block: TurnBlock) -> None:
        """Write a block; a block that cannot be written is counted as lost."""
        self._lost += self._expected.missing(block.boot, block.number)
        try:
            self._check_file()
            self._keep_in_limits()
            if self._file is None:
                self._begin()
            if self._file is not None and self._channels is not None:
                self._write(self._file, self._channels, block)
                return
        except OSError as error:
            self._fail(f"{self._folder.folder}: {error.strerror or error}")
        self._lost += 1
        self._expected.passed(block.boot, block.number)

    def status(self) -> Map:
        """Return the recorder's state for metrics and page."""
        return {
            "timestamp": time.time(),
            "start": self._start,
            "up": self._file is not None,
            "cause": self._cause,
            "file": "" if self._file is None else self._file.path.name,
            "written": self._written,
            "bytes": self._bytes,
            "blocks": self._blocks,
            "lost": self._lost,
        }

    def close(self) -> None:
        """End the file."""
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except OSError as error:
                self._fail(f"{self._folder.folder}: {error.strerror or error}")

    def _fail(self, cause: str) -> None:
        if cause != self._cause:
            log.warning("not recording: %s", cause)
        self._file, self._cause = None, cause  # a file closes itself after an error
        self._next_attempt = time.monotonic() + AGAIN

    def _check_file(self) -> None:
        """End a file that another program has altered; its blocks are lost, unless the file was only moved."""
        file = self._file
        altered = "" if file is None else file.altered()
        if file is None or not altered:
            return
        self._next_attempt = 0.0
        if altered == "moved":
            log.warning("%s was moved by another program: a new recording begins", file.path)
            self.close()
            return
        log.warning(
            "%s was %s by another program: %d blocks that it held are lost, a new recording begins",
            file.path, altered, self._held,
        )  # fmt: skip
        self._lost += self._held
        self._file = None
        file.leave()

    def _keep_in_limits(self) -> None:
        """Close a file that has reached its largest size or duration; check the folder every ROOM_EVERY."""
        now = time.monotonic()
        if self._file is not None and (
            self._file.size >= self._settings.file_size or now - self._began >= self._settings.file_duration
        ):
            self.close()
            self._next_attempt = 0.0
        if self._file is not None and now >= self._room:
            self._room = now + ROOM_EVERY
            if not self._folder.make_room(self._file.path):
                self.close()
                self._fail(self._folder.full())

    def _begin(self) -> None:
        if time.monotonic() < self._next_attempt:
            return
        self._finish_last()
        path = self._folder.new()
        if not self._folder.make_room(None):
            self._fail(self._folder.full())
            return
        file = McapFile(path, "jointwatch")
        file.metadata("configuration", {"digest": digest(self._config), "json": _recorded_configuration(self._config)})
        self._file, self._cause = file, ""
        self._channels = JsonChannels(file)
        self._began = self._room = time.monotonic()
        self._clock = self._sync = 0.0
        self._held = 0
        log.info("recording into %s", file.path)

    def _finish_last(self) -> None:
        """Add the index to the file of a killed recorder; done once."""
        last = [] if self._looked else recordings(self._folder.folder, self._config.robot.name)[-1:]
        self._looked = True
        for file in last:
            try:
                count = index_again(file)
            except (OSError, ValueError) as error:
                log.warning("%s gets no index and can be read only from its beginning: %s", file, error)
            else:
                if count:
                    log.info("%s: its recorder was killed; an index of its %d parts was added", file, count)

    def _write(self, file: McapFile, channels: JsonChannels, block: TurnBlock) -> None:
        before = file.size
        last = block.batches[-1]
        said = last.watched + last.epoch
        file.attachment(f"readings {block.boot} {block.number}", BLOCKS, said, transcript.pack(block))
        for topic, body in block.messages:
            channels.message(topic.decode(), body, said)
        if time.monotonic() >= self._clock:
            self._clock = time.monotonic() + CLOCK_EVERY
            channels.clock(last.watched, last.epoch)
        file.write()
        self._expected.passed(block.boot, block.number)
        if time.monotonic() >= self._sync:
            self._sync = time.monotonic() + SYNC_EVERY
            file.sync()
        self._bytes += file.size - before
        self._blocks += 1
        self._held += 1
        self._written = said / 1e9


def _recorded_configuration(config: Config) -> str:
    """Return the configuration as JSON without sections about this machine: keys, notifications, gateways."""
    without: dict[str, bool | set[str]] = {"folder": True, "notify": True, "gateways": True, "publish": {"curve"}}
    if not config.robot_model:
        without["robot_model"] = True
    settings = config.model_dump(mode="json", by_alias=True, exclude=without)
    return json.dumps(settings, ensure_ascii=False)
