"""Recordings of a core that was played here, turn by turn: what it says again, over files, starts and gaps."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

from daq.config.load import load
from daq.config.sections import Config, Record
from daq.core.pipeline import Pipeline
from daq.core.replayable_executor import LOOKS, DeferredExecutor
from daq.recording.folder import recordings
from daq.recording.process import NextBlock, Recorder
from daq.recording.reader import RecordingError, said
from daq.replay.repeat import Repetition, compare
from daq.stream.transcript import Batch, TurnBlock
from daq.stream.update import ROBOT
from drivers.reading import READING
from estimators.refit.inline import Inline

TEXT = """
[recorder]
folder = "kept"
[drivers.bus]
kind = "can"
interface = "slcan"
channel = "/dev/ttyACM0"
[[drivers.bus.frames]]
name = "STATE"
id = 0x181
signals.position = { start = 0, bits = 32, type = "signed", scale = 1e-6, unit = "rad" }
signals.torque = { start = 32, bits = 32, type = "signed", scale = 1e-6, unit = "N·m" }
"""
JOINT = """
[joints.%s]
rate = 1000.0
model = { kind = "rigid" }
channels.position = { signal = "bus.STATE.position", scale = 0.5, offset = 0.25 }
channels.torque = { signal = "bus.STATE.torque" }
"""
NAMES = ("one", "two", "three", "four")
EPOCH = 1_700_000_000 * 10**9


def configured(folder: Path, more: str = "", joints: tuple[str, ...] = NAMES) -> Config:
    (folder / "c.toml").write_text(more + TEXT + "".join(JOINT % name for name in joints))
    config = load(folder / "c.toml")
    return config.model_copy(update={"recorder": Record(folder=folder / "kept", reserve=0.0)})


def readings(first: int, count: int) -> np.ndarray:
    """Four joints at 1 kHz from the first ms on."""
    n = np.arange(first, first + count)
    table = np.zeros((count, 2 * len(NAMES)), READING)
    table["time"] = 10**12 + n[:, None] * 10**6
    table["channel"] = np.arange(2 * len(NAMES))
    w = 2.0 * np.pi * np.array([0.5, 0.7, 0.9, 1.1])
    angle = w * n[:, None] * 1e-3
    table["value"][:, ::2] = np.sin(angle)
    table["value"][:, 1::2] = 2.0 * -(w**2) * np.sin(angle) + 0.7 * np.sign(np.cos(angle))
    return table.reshape(-1)


class Core:
    """A core that is played: each call is a block of two turns, which a recorder keeps."""

    def __init__(self, config: Config, boot: int, resumed: Mapping[str, Any] | None = None, sign: float = 1.0) -> None:
        """sign: of the torque."""
        self._looks, self._sign = DeferredExecutor(Inline(), LOOKS), sign
        self.pipeline, self._boot = Pipeline(config, boot, None, self._looks), boot
        self._number = self._time = 0
        self._resumed = resumed
        if resumed:
            self.pipeline.resume(resumed)

    def block(
        self, baseline: Mapping[str, Any] | None = None, late: bool = False, compiled: int | None = None
    ) -> TurnBlock:
        """The next 60 ms: a turn of 40, one of 20; the last look at silence comes a little later."""
        block = TurnBlock(self._boot, self._number)
        parts = []
        for length in (40, 20):
            if baseline:
                self.pipeline.set_baselines(baseline)
            if compiled is not None:
                self.pipeline.set_compiled(compiled)
            part, finished = readings(self._time, length), self._looks.release_finished()
            part["value"].reshape(-1, 2)[:, 1] *= self._sign
            told: list[int] = []
            end = int(part["time"][-1])

            def now(told: list[int] = told, end: int = end) -> int:
                told.append(end + 1000 * (len(told) + 1))
                return told[-1]

            said = self.pipeline.absorb(part, EPOCH, now, late)
            said += self.pipeline.check_silence(end + 500_000, EPOCH)
            batch = Batch(
                len(part), EPOCH, end + 500_000, told, finished, baseline, self._resumed, late, compiled=compiled
            )
            block.batches.append(batch)
            block.messages += said
            parts.append(part)
            self._time += length
            self._resumed = baseline = None
        block.readings = np.concatenate(parts)
        self._number += 1
        return block


def kept(config: Config, *blocks: TurnBlock) -> Path:
    """One more file of these blocks."""
    assert config.recorder is not None
    folder = config.recorder.folder
    expected = NextBlock(folder.parent / "next")
    recorder = Recorder(config, expected)
    for block in blocks:
        recorder.take(block)
    recorder.close()
    expected.close()
    return recordings(folder, "robot")[-1]


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the joints keep after a quarter of a minute, in which all of them have started."""
    core = Core(configured(tmp_path_factory.mktemp("before")), 4)
    for _ in range(250):
        core.block()
    found = {line.name: line.estimator.keep() for line in core.pipeline.joints}
    assert None not in found.values()
    return found


def updates(file: Path) -> int:
    return sum("/" in one.topic or one.topic == ROBOT for one in said(file))


def test_a_start_of_the_core_is_repeated_to_the_bit(tmp_path: Path) -> None:
    config = configured(tmp_path)
    core = Core(config, 5)
    file = kept(config, *(core.block() for _ in range(8)))
    repetition = Repetition([file])
    assert compare(repetition) == updates(file) > 50
    assert (repetition.played.readings, repetition.gaps) == (8 * 60 * 8, [])
    assert (repetition.played.first, repetition.played.last) == (10**12, 10**12 + 479 * 10**6)


def test_a_mistake_is_found_again_in_the_turn_in_which_it_was(tmp_path: Path) -> None:
    core = Core(configured(tmp_path), 5, sign=-1.0)
    file = kept(configured(tmp_path), *(core.block() for _ in range(220)))
    assert "mistake" in {one.update["kind"] for one in said(file) if one.topic.startswith("event/")}
    assert compare(Repetition([file])) == updates(file)


def test_a_start_that_waited_for_kernels_waits_at_the_same_places(tmp_path: Path) -> None:
    config = configured(tmp_path)
    core = Core(config, 5)
    stages = [0] * 40 + [1] * 240 + [2] + [None] * 9  # it begins after 2.4 s, and could end after 14.4, not 16.8
    file = kept(config, *(core.block(compiled=stage) for stage in stages))
    updates_of_one = [one.update for one in said(file) if one.topic == "estimate/one"]
    phases = [one["phase"] for one in updates_of_one]
    assert (phases[0], phases[-1]) == ("waiting", "normal")
    assert phases.count("waiting") > 100, "without the wait 1 s, 50 updates"
    waiting = ["kernels_compiling" in {one["code"] for one in update["health"]["reasons"]} for update in updates_of_one]
    assert all(waiting[:-50])
    assert len(updates_of_one[0]["health"]["reasons"]) == 1, "not for motion: there is some"
    assert not waiting[-1]
    started = [one.update["text"] for one in said(file) if one.topic == "event/one" and one.update["kind"] == "started"]
    assert [re.match(r"from 1[12]\.\d s of motion", one) is not None for one in started] == [True], started
    assert compare(Repetition([file])) == updates(file)


def test_turns_are_those_of_then(tmp_path: Path) -> None:
    config = configured(tmp_path)
    core = Core(config, 5)
    turns = list(Repetition([kept(config, core.block(), core.block())]).turns())
    assert [turn.batch.length for turn in turns] == [320, 160, 320, 160]
    assert [turn.batch.watched for turn in turns] == [10**12 + ms * 10**6 + 500_000 for ms in (39, 59, 99, 119)]
    assert len({id(turn.pipeline) for turn in turns}) == 1


def test_a_file_goes_on_from_those_before_it_and_a_new_start_from_nothing(tmp_path: Path) -> None:
    config = configured(tmp_path)
    first, second = Core(config, 5), Core(config, 6)
    one = kept(config, first.block(), first.block())
    two = kept(config, first.block(), first.block(), second.block(), second.block())
    three = kept(config, second.block())
    for file in (one, two, three):
        assert compare(Repetition([file])) == updates(file) > 5, file
    assert compare(Repetition([two, three])) == updates(two) + updates(three)
    pipelines = {id(turn.pipeline): turn.pipeline for turn in Repetition([two]).lead().turns()}
    assert len(pipelines) == 2
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / three.name).write_bytes(three.read_bytes())
    with pytest.raises(RecordingError, match="cannot be compared: blocks 0 to 1 of a start of the core are missing"):
        compare(Repetition([alone / three.name]))


def test_what_a_leads_files_say_is_not_said_again(tmp_path: Path) -> None:
    config = configured(tmp_path)
    core = Core(config, 5)
    kept(config, core.block(), core.block())
    last = kept(config, core.block())
    repetition = Repetition([last]).lead()
    assert repetition.played.readings == 0
    assert len(list(repetition.messages())) == updates(last)
    assert repetition.played.readings == 480


def test_a_block_that_is_missing_is_reported(tmp_path: Path) -> None:
    config = configured(tmp_path)
    core = Core(config, 5)
    blocks = [core.block() for _ in range(6)]
    file = kept(config, blocks[0], blocks[3], blocks[4])
    repetition = Repetition([file])
    list(repetition.messages())
    assert repetition.gaps == ["blocks 1 to 2 of a start of the core are missing"]
    with pytest.raises(RecordingError, match="blocks 1 to 2"):
        compare(Repetition([file]))


def test_updates_are_due_as_they_were_and_a_late_core_says_less(tmp_path: Path) -> None:
    config = configured(tmp_path)
    core = Core(config, 5)
    blocks = [core.block(), core.block(late=True), core.block(late=True), core.block()]
    file = kept(config, *blocks)
    assert compare(Repetition([file])) == updates(file)


def test_a_baseline_holds_from_the_turn_in_which_it_came(tmp_path: Path, states: dict[str, Any]) -> None:
    config = configured(tmp_path)
    core = Core(config, 6, resumed=states)
    names = core.pipeline.joints[0].estimator.estimate().names
    values = {"values": dict.fromkeys(names, 1.0), "deviations": dict.fromkeys(names, 0.1)}
    baseline = {"since": 5.0, "model": "rigid"} | values
    blocks = [core.block() for _ in range(3)] + [core.block({"one": baseline})] + [core.block() for _ in range(30)]
    told = [
        any(msgpack.unpackb(body)["reference"] == "baseline" for topic, body in block.messages if topic == b"drift/one")
        for block in blocks
    ]
    assert not any(told[:3]), "what stands there is compared with the start that the joint continued from"
    assert any(told[3:])
    file = kept(config, *blocks)
    assert compare(Repetition([file])) == updates(file)


def of_version_1(body: bytes, **more: object) -> bytes:
    """A message as it was when a reason was its text alone."""
    update = msgpack.unpackb(body) | {"v": 1} | more
    if "health" in update:
        words = ["inertia lacks excitation" for _ in update["health"]["reasons"]]
        update["health"] = update["health"] | {"reasons": words}
    return msgpack.packb(update)


def test_a_recording_of_version_1_is_compared_but_for_its_words(tmp_path: Path) -> None:
    config = configured(tmp_path)
    core = Core(config, 5)
    blocks = [core.block() for _ in range(3)]
    assert any(msgpack.unpackb(body).get("health", {}).get("reasons") for block in blocks for _, body in block.messages)
    for block in blocks:
        block.messages[:] = [(topic, of_version_1(body)) for topic, body in block.messages]
    file = kept(config, *blocks)
    assert compare(Repetition([file])) == updates(file) > 5
    topic, body = blocks[1].messages[0]
    blocks[1].messages[0] = (topic, of_version_1(body, joint="other"))
    with pytest.raises(RecordingError, match=r"differing: \['joint'\]"):
        compare(Repetition([kept(config, *blocks)]))


def test_a_sentence_put_otherwise_is_no_other_update_unless_its_numbers_differ(tmp_path: Path) -> None:
    config = configured(tmp_path)
    core = Core(config, 5)
    block = core.block()
    at, topic, update = next(
        (k, topic, update)
        for k, (topic, body) in enumerate(block.messages)
        if (update := msgpack.unpackb(body)).get("health", {}).get("reasons")
    )
    reason = update["health"]["reasons"][0]
    sentence = str(reason["text"])
    reason["text"] = "put otherwise: " + " ".join(re.findall(r"\d+(?:\.\d+)?", sentence))
    block.messages[at] = (topic, msgpack.packb(update))
    file = kept(config, block)
    assert compare(Repetition([file])) == updates(file)
    reason["text"] = sentence + " 17"
    block.messages[at] = (topic, msgpack.packb(update))
    with pytest.raises(RecordingError, match=r"differing: \['health'\]"):
        compare(Repetition([kept(config, block)]))


def test_other_updates_are_reported_with_what_differs(tmp_path: Path) -> None:
    config = configured(tmp_path)
    core = Core(config, 5)
    blocks = [core.block(), core.block()]
    topic, body = blocks[1].messages[0]
    blocks[1].messages[0] = (topic, msgpack.packb(msgpack.unpackb(body) | {"robot": "other"}))
    file = kept(config, *blocks)
    before = len(blocks[0].messages)
    with pytest.raises(RecordingError) as caught:
        compare(Repetition([file]))
    name = topic.decode()
    assert str(caught.value).endswith(
        f"after {before} equal updates, expected {name}, found {name}; differing: ['robot']"
    )


def test_an_update_too_few_or_too_many_is_reported(tmp_path: Path) -> None:
    config = configured(tmp_path)
    core = Core(config, 5)
    block = core.block()
    count = len(block.messages)
    last = block.messages.pop()
    few = kept(config, block)
    with pytest.raises(
        RecordingError, match=f"after {count - 1} equal updates, expected nothing, found {last[0].decode()}"
    ):
        compare(Repetition([few]))
    few.unlink()
    block.messages += [last, last]
    with pytest.raises(
        RecordingError, match=f"after {count} equal updates, expected {last[0].decode()}, found nothing"
    ):
        compare(Repetition([kept(config, block)]))


def test_of_a_file_that_breaks_off_the_last_block_may_have_lost_its_messages(tmp_path: Path) -> None:
    config = configured(tmp_path)
    core = Core(config, 5)
    file = kept(config, *(core.block() for _ in range(4)))
    whole = file.read_bytes()
    for part in (0.55, 0.8, 0.95):
        file.write_bytes(whole[: int(part * len(whole))])
        assert compare(Repetition([file])) == updates(file)


def test_another_configuration_must_have_the_same_channels(tmp_path: Path) -> None:
    config = configured(tmp_path)
    file = kept(config, Core(config, 5).block())
    with pytest.raises(RecordingError) as caught:
        Repetition([file], configured(tmp_path, joints=NAMES[:3]))
    assert str(caught.value) == (
        f"{file}: expected the channels as recorded: four.position = 0.5 × bus.STATE.position + 0.25; found no more"
    )
    with pytest.raises(RecordingError, match=r"recorded: no more; found five.position = 0.5 × bus.STATE.position"):
        Repetition([file], configured(tmp_path, joints=(*NAMES, "five")))
    with pytest.raises(RecordingError, match=r"recorded: two.position = .*; found three.position = "):
        Repetition([file], configured(tmp_path, joints=("one", "three", "two", "four")))


def test_every_file_must_have_the_same_channels(tmp_path: Path) -> None:
    config, other = configured(tmp_path), configured(tmp_path, joints=NAMES[:3])
    one = kept(config, Core(config, 5).block())
    two = kept(other, TurnBlock(6, 0, [Batch(0, EPOCH, 10**12, [], [], None)]))
    with pytest.raises(RecordingError, match=f"^{two}: expected the channels as recorded"):
        Repetition([one, two])


def test_at_another_rate_of_updates_there_are_others(tmp_path: Path) -> None:
    config = configured(tmp_path)
    core = Core(config, 5)
    file = kept(config, *(core.block() for _ in range(10)))
    slower = configured(tmp_path, "[publish]\nrate = 10.0\n")
    few = sum(topic.startswith(b"estimate/one") for topic, _ in Repetition([file], slower).messages())
    many = sum(one.topic == "estimate/one" for one in said(file))
    assert 5 <= few <= 7
    assert 28 <= many <= 31
    with pytest.raises(RecordingError, match="equal updates, expected "):
        compare(Repetition([file], slower))


def test_joints_go_on_from_what_they_had_kept(tmp_path: Path, states: dict[str, Any]) -> None:
    """A core that was started again resumes; a repetition of its recording alone does, too."""
    config = configured(tmp_path)
    core = Core(config, 6, resumed=states)
    file = kept(config, *(core.block() for _ in range(5)))
    assert [one.update["phase"] for one in said(file) if one.topic == "estimate/one"][-1] == "normal"
    assert compare(Repetition([file])) == updates(file)
    found = Repetition([file], configured(tmp_path, "[publish]\nrate = 40.0\n"))
    list(found.messages())
    assert found.pipeline.joints[0].estimator.estimate().phase != "normal", "another configuration starts anew"
