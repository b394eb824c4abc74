"""Recordings read while they are written, and cut anywhere: always as far as they are whole, never called damaged.

What is in them: the configuration, what was said, and which files one start of the core went through.
"""

import itertools
import math
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgpack
import numpy as np
import pytest
from mcap.records import Attachment, Message

from daq.config import load as config_file
from daq.config.load import load
from daq.config.sections import Config, Record
from daq.recording.folder import recordings
from daq.recording.mcap_file import McapFile
from daq.recording.process import NextBlock, Recorder
from daq.recording.reader import RecordingError, before, blocks, break_of, configuration, digest, said
from daq.stream import transcript
from daq.stream.transcript import BLOCKS, Batch, TurnBlock
from drivers.files.mcap_records import records
from drivers.reading import READING

TEMPLATE = Path(__file__).parents[3] / "daq" / "jointwatch.toml"
SCHEMA = b'{"type": "object", "title": "' + b"long enough to span pages " * 200 + b'"}'


def block(number: int) -> TurnBlock:
    readings = np.zeros(20 + number % 7, READING)
    readings["value"] = number
    return TurnBlock(1, number, [Batch(len(readings), 0, number, (), (), None)], readings)


def write(file: McapFile, number: int) -> None:
    """What the recorder writes for one block."""
    file.attachment(f"readings 1 {number}", BLOCKS, number, transcript.pack(block(number)))
    channel = file.channel(f"topic/{number % 40}", 1)
    file.message(channel, number, number, number, b'{"number": %d}' % number)
    file.write()


def begin(path: Path) -> McapFile:
    file = McapFile(path, "test")
    file.metadata("configuration", {"json": "{}"})
    file.schema("s", SCHEMA)
    return file


def copies(folder: Path, data: bytes) -> Iterator[tuple[int, Path]]:
    """The file as a loss of power leaves it: cut at every byte, minutes ago."""
    path = folder / "cut.mcap"
    path.write_bytes(data)
    for length in range(len(data), -1, -1):
        os.truncate(path, length)
        os.utime(path, (1e9, 1e9))
        yield length, path


def test_a_file_cut_at_any_byte_is_read_up_to_its_last_whole_record(tmp_path: Path) -> None:
    whole = tmp_path / "x.mcap"
    sizes = []
    with McapFile(whole, "test") as file:
        file.schema("s", b"{}")
        for number in range(4):
            write(file, number)
            sizes.append(file.size)
    for length, cut in copies(tmp_path, whole.read_bytes()):
        numbers, told = [one.number for one in blocks(cut)], [one.update["number"] for one in said(cut)]
        complete = sum(size <= length for size in sizes)
        assert numbers == list(range(len(numbers)))
        assert complete <= len(numbers) <= complete + 1  # a block's readings stand before its messages
        assert complete <= len(told) <= complete + 1


def test_zeros_where_power_was_lost_are_an_end(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    with McapFile(path, "test") as file:
        file.schema("s", b"{}")
        write(file, 0)
        size = file.size
    for length in (10, 100, 4096):
        path.write_bytes(path.read_bytes()[:size] + bytes(length))
        os.utime(path, (1e9, 1e9))
        assert [one.number for one in blocks(path)] == [0]


def test_a_write_seen_half_gives_what_was_there_before_it_or_after_it(tmp_path: Path) -> None:
    """At every byte that a write may have come to, while its process stands still there and then goes on."""
    path = tmp_path / "x.mcap"
    file = begin(path)
    write(file, 0)
    old = path.read_bytes()
    write(file, 1)
    new = path.read_bytes()
    file.close()
    first = next(place for place in range(len(old)) if old[place] != new[place])
    assert len(old) - first > 5000, "the old end is long enough that much of it can stand after new data"

    def seen(place: int) -> list[int]:
        torn = tmp_path / f"torn{place}.mcap"
        torn.write_bytes(new[:place] + old[place:])
        descriptor = os.open(torn, os.O_WRONLY)
        rest = threading.Timer(0.02, os.pwrite, (descriptor, new[place:], place))
        rest.start()
        numbers = [one.number for one in blocks(torn)]
        rest.join()
        os.close(descriptor)
        torn.unlink()
        return numbers

    with ThreadPoolExecutor(8) as readers:  # most of their time is waiting
        for numbers in readers.map(seen, range(first, len(new), 37)):
            assert numbers in ([0], [0, 1])


def test_a_file_is_read_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    file = begin(path)
    done = threading.Event()

    def writing() -> None:
        for number in itertools.count():
            if done.is_set():
                return
            write(file, number)

    writer = threading.Thread(target=writing)
    writer.start()
    try:
        last = 0
        while last < 400:
            found = list(records(path))
            numbers = [int(one.name.split()[2]) for one in found if isinstance(one, Attachment)]
            assert numbers == list(range(len(numbers)))
            assert sum(isinstance(one, Message) for one in found) == len(numbers)
            assert len(numbers) >= last
            last = len(numbers)
    finally:
        done.set()
        writer.join()
        file.close()
    assert len(list(blocks(path))) >= last


@pytest.mark.parametrize("content", [b"\x89MCAP0\r\n" + b"rubbish" * 100, b"junk"])
def test_rubbish_is_no_recording(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.mcap"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match="not a recording"):
        list(blocks(path))


def test_a_damaged_length_in_a_whole_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    with begin(path) as file:
        write(file, 0)
        place = file.size
        write(file, 1)
    data = bytearray(path.read_bytes())
    data[place + 4] = 1  # 16 MB more than there are
    path.write_bytes(data)
    assert [one.number for one in blocks(path)] == [0], "what stands before is read"
    assert "breaks off after 1 block of" in break_of(path)


@pytest.mark.parametrize("damage", range(0, 200, 3))
def test_a_damaged_byte_breaks_the_file_there_and_is_said(tmp_path: Path, damage: int) -> None:
    path = tmp_path / "x.mcap"
    with begin(path) as file:
        write(file, 0)
        place = file.size
        write(file, 1)
        end = file.size
    data = bytearray(path.read_bytes())
    data[place + damage * (end - place) // 200] ^= 0x5A
    path.write_bytes(data)
    numbers, told = [one.number for one in blocks(path)], [one.update["number"] for one in said(path)]
    assert numbers in ([0], [0, 1])
    assert told in ([0], [0, 1])
    if (numbers, told) != ([0, 1], [0, 1]):
        assert "breaks off after" in break_of(path)


def test_a_cut_file_says_so_and_a_whole_one_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    with begin(path) as file:
        write(file, 0)
        write(file, 1)
        size = file.size
    assert break_of(path) == ""
    os.truncate(path, size - 5)
    os.utime(path, (1e9, 1e9))
    assert "breaks off after 2 blocks" in break_of(path)


def told(folder: Path) -> Config:
    """What the recorder of these tests is told."""
    return load(TEMPLATE).model_copy(update={"recorder": Record(folder=folder, reserve=0.0)})


def recorded(folder: Path, *parts: tuple[int, int]) -> Path:
    """One more recording in the folder; parts: boot and number of its blocks."""
    expected = NextBlock(folder / "next")
    recorder = Recorder(told(folder), expected)
    for boot, number in parts:
        update = {"timestamp": 5.0, "seq": number, "boot": boot, "joint": "elbow", "error": math.nan, "progress": 4.5}
        batch = Batch(0, 10**18, 10**9 * number, (), (), None)
        recorder.take(TurnBlock(boot, number, [batch], messages=[(b"estimate/elbow", msgpack.packb(update))]))
    recorder.close()
    expected.close()
    return recordings(folder, "arm")[-1]


def test_the_files_of_one_start_of_the_core_are_those_since_it_began(tmp_path: Path) -> None:
    """It may begin within a file; those of the start before that one are not of it."""
    first = recorded(tmp_path, (1, 0), (1, 1))
    second = recorded(tmp_path, (1, 2))
    third = recorded(tmp_path, (1, 3), (2, 0), (2, 1))
    fourth = recorded(tmp_path, (2, 2))
    fifth = recorded(tmp_path, (2, 3), (3, 0))
    sixth = recorded(tmp_path, (4, 0))
    seventh = recorded(tmp_path, (4, 1))
    assert before(first) == []
    assert before(second) == [first]
    assert before(third) == [first, second]
    assert before(fourth) == [third]
    assert before(fifth) == [third, fourth]
    assert before(sixth) == []
    assert before(seventh) == [sixth]


def test_files_elsewhere_or_of_another_robot_are_not_of_it(tmp_path: Path) -> None:
    first, second = recorded(tmp_path, (1, 0)), recorded(tmp_path, (1, 1))
    other = first.rename(first.with_name(first.name.replace("arm-", "leg-")))
    assert before(second) == []
    other.rename(first)
    (tmp_path / "copy").mkdir()
    copy = tmp_path / "copy" / second.name
    copy.write_bytes(second.read_bytes())
    assert before(copy) == []
    assert before(second) == [first]
    renamed = second.rename(tmp_path / "mine.mcap")
    assert before(renamed) == [], "its name does not show when it was recorded"


def test_files_without_a_block_belong_to_nothing(tmp_path: Path) -> None:
    first = recorded(tmp_path, (1, 0))
    empty = tmp_path / first.name.replace(".mcap", "-9.mcap")
    with McapFile(empty, "test") as file:
        file.metadata("configuration", {"json": configuration(first).model_dump_json(by_alias=True)})
    assert before(empty) == []


def test_the_configuration_is_that_of_then_without_wires(tmp_path: Path) -> None:
    config = told(tmp_path)
    file = recorded(tmp_path, (1, 0))
    found = configuration(file)
    assert (found.joints, found.robot, found.publish.rate) == (config.joints, config.robot, config.publish.rate)
    assert found.drivers == {}
    assert digest(file) == config_file.digest(config)


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({}, "found no configuration in it; is it a recording of jointwatch?"),
        ({"configuration": {"digest": "x"}}, "its configuration cannot be used: 'json'"),
        ({"configuration": {"json": "{"}}, "its configuration cannot be used: Expecting"),
        ({"configuration": {"json": '{"publish": {}}'}}, "its configuration cannot be used: 'rate'"),
        (
            {"configuration": {"json": '{"publish": {"rate": 5.0}, "joints": {"a": {"rate": -1.0}}}'}},
            "its configuration cannot be used: joints.a.",
        ),
        ({"other": {"json": "{}"}}, "found no configuration in it"),
    ],
)
def test_a_recording_without_a_configuration_that_can_be_used_says_so(
    tmp_path: Path, metadata: dict[str, dict[str, str]], said: str
) -> None:
    path = tmp_path / "x.mcap"
    with McapFile(path, "test") as file:
        for name, values in metadata.items():
            file.metadata(name, values)
    with pytest.raises(RecordingError) as caught:
        configuration(path)
    assert str(caught.value).startswith(f"{path}: {said}")
    assert "\n" not in str(caught.value)


def test_what_was_said_has_the_instant_at_which_its_block_was_closed_and_no_number_that_is_none(tmp_path: Path) -> None:
    file = recorded(tmp_path, (1, 0), (1, 2))
    found = [one for one in said(file) if one.topic == "estimate/elbow"]
    assert [one.time for one in found] == [10**18, 10**18 + 2 * 10**9]
    assert [one.update["seq"] for one in found] == [0, 2]
    assert all(one.update["progress"] == 4.5 and "error" not in one.update for one in found)


@pytest.mark.parametrize(("channel", "text"), [(9, b"{}"), (1, b"{"), (1, b"[" * 100_000)])
def test_a_message_that_cannot_be_read_breaks_the_recording_there(tmp_path: Path, channel: int, text: bytes) -> None:
    path = tmp_path / "x.mcap"
    with begin(path) as file:
        write(file, 0)
        file.message(channel, 0, 0, 0, text)
        file.write()
        write(file, 1)
    assert [one.update for one in said(path)] == [{"number": 0}]
    assert break_of(path).startswith(f"{path} breaks off after 1 block of readings: ")


def test_attachments_of_others_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    with begin(path) as file:
        file.attachment("picture", "image/png", 0, b"no block")
        write(file, 0)
    assert [one.number for one in blocks(path)] == [0]
    assert break_of(path) == ""


def test_a_block_that_is_none_breaks_the_recording_there(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    with begin(path) as file:
        write(file, 0)
        file.attachment("readings 1 1", BLOCKS, 0, b"no block")
        write(file, 2)
    assert [one.number for one in blocks(path)] == [0]
    assert "breaks off after 1 block of" in break_of(path)


def test_a_recording_that_is_not_there_is_said(tmp_path: Path) -> None:
    for read in (configuration, digest, break_of, lambda file: list(said(file)), lambda file: list(blocks(file))):
        with pytest.raises(RecordingError, match=r"none.mcap: No such file"):
            read(tmp_path / "none.mcap")
