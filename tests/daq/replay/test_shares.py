"""A recording that several processes play gives the messages of one, and one that dies is said."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import msgpack
import numpy as np
import pytest

from daq.config.load import load
from daq.config.sections import Config
from daq.core.pipeline import Pipeline
from daq.recording.reader import RecordingError
from daq.replay.replay import BOOT, Played, play
from daq.replay.shares import Shares
from daq.replay.sources import Batch, Counts
from daq.stream.update import Message
from drivers.files.bytes_read import note, observed
from drivers.reading import READING

NAMES = ("shoulder", "elbow", "wrist")
BUS = """
[drivers.bus]
kind = "can"
interface = "virtual"
channel = "x"
"""
JOINT = """
[[drivers.bus.frames]]
name = "{0}"
id = {1}
length = 8
signals.position = {{ start = 0, bits = 32, type = "signed" }}
signals.torque = {{ start = 32, bits = 32, type = "signed" }}
[joints.{0}]
rate = 200.0
model = {{ kind = "rigid" }}
channels.position = {{ signal = "bus.{0}.position" }}
channels.torque = {{ signal = "bus.{0}.torque" }}
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    file = tmp_path_factory.mktemp("shares") / "c.toml"
    file.write_text(BUS + "".join(JOINT.format(name, number) for number, name in enumerate(NAMES, 1)))
    return load(file)


def readings() -> np.ndarray:
    """20 s of three joints at 200 Hz; the second one says nothing for two seconds."""
    n = np.arange(4000)
    t = n[:, None] * 5e-3
    w = 2.0 * np.pi * np.array([0.5, 0.6, 0.7])
    torque = -(w**2) * np.sin(w * t) + 2.0 * w * np.cos(w * t) + np.sign(np.cos(w * t))
    torque += np.random.default_rng(4).normal(0.0, 0.02, torque.shape)
    table = np.zeros((len(n), 6), READING)
    table["time"], table["channel"] = 10**12 + n[:, None] * 5_000_000, np.arange(6)
    table["value"][:, ::2], table["value"][:, 1::2] = np.sin(w * t), torque
    silent = np.zeros(table.shape, bool)
    silent[1000:1400, 2:4] = True
    return table[~silent]


def source(counts: Counts, played: Played) -> Iterator[Batch]:
    """It breaks off at its end, and says what it counted."""
    every = readings()
    played.expected = len(every)
    for part in np.array_split(every, 7):
        note(part.nbytes)
        yield part
    counts["bus"] = Counter(frames=12)
    raise RecordingError("it breaks off here")


def samples_of(pipeline: Pipeline) -> list[tuple[str, int]]:
    return [(joint.name, joint.followers.samples) for joint in pipeline.joints]


def shared(config: Config, processors: int) -> tuple[list[Message], Shares[list[tuple[str, int]]], int]:
    read: list[int] = []
    with Shares(config, source, samples_of, processors=processors) as shares, observed(read.append):
        messages = list(shares.messages(lambda _: None))
    return messages, shares, sum(read)


@pytest.mark.parametrize("processors", [2, 3])
def test_several_processes_say_what_one_says(config: Config, processors: int) -> None:
    alone, first, bytes_alone = shared(config, 1)
    together, shares, read = shared(config, processors)
    assert together == alone
    assert {msgpack.unpackb(body)["kind"] for topic, body in alone if topic == b"event/elbow"} >= {"fault", "recovered"}
    assert shares.results != first.results
    assert list(chain(*shares.results)) == list(chain(*first.results))
    assert (shares.counts, shares.failed) == (first.counts, "it breaks off here")
    assert shares.counts["bus"]["frames"] == 12
    assert vars(shares.played) == vars(first.played)
    assert (shares.played.readings, read) == (len(readings()), bytes_alone)


def test_the_messages_are_those_of_the_whole_pipeline(config: Config) -> None:
    """Turn by turn, though in each turn joint by joint."""
    whole = list(play(Pipeline(config, BOOT), iter(np.array_split(readings(), 7)), Played()))
    for name in NAMES:
        mine = [[one for one in said if one[0].endswith(name.encode())] for said in (whole, shared(config, 2)[0])]
        assert mine[0] == mine[1] != []


def test_where_nobody_listens_events_alone_are_sent(config: Config) -> None:
    """So no process waits for one that has something else to do meanwhile."""
    with Shares(config, source, samples_of, listened=False, processors=2) as shares:
        found = list(shares.messages(lambda _: None))
    told = [(topic, msgpack.unpackb(body)) for topic, body in shared(config, 2)[0] if topic.startswith(b"event/")]
    assert [(topic, msgpack.unpackb(body)) for topic, body in found] == told != []


def test_a_process_that_dies_is_said_and_none_is_left(config: Config) -> None:
    def dying(counts: Counts, played: Played) -> Iterator[Batch]:
        yield readings()[:6000]
        os.kill(os.getpid(), signal.SIGKILL)

    with (
        pytest.raises(ChildProcessError, match="played shoulder has died"),
        Shares(config, dying, samples_of, processors=2) as shares,
    ):
        list(shares.messages(lambda _: None))
    assert not any(child.alive() for child in shares._children)


def test_who_stops_early_leaves_no_process(config: Config) -> None:
    with Shares(config, source, samples_of, processors=3) as shares:
        assert next(iter(shares.messages(lambda _: None)))
        assert len(shares._children) == 3
    assert not any(child.alive() for child in shares._children)


def test_a_whole_robot_is_played_by_one_process(config: Config) -> None:
    """Its model needs all joints together."""
    robot = config.robot.model_copy(update={"model": Path("arm.urdf")})
    with Shares(config.model_copy(update={"robot": robot}), source, samples_of, processors=3) as shares:
        assert not shares._children
