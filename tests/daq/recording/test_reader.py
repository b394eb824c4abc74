"""Recordings read while they are written, and cut anywhere: always as far as they are whole, never called damaged."""

import itertools
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from mcap.records import Attachment, Message

from daq.recording.mcap_file import McapFile
from daq.recording.reader import RecordingError, blocks, break_of, said
from daq.stream import transcript
from daq.stream.transcript import BLOCKS, Batch, Block
from drivers.files.mcap_records import records
from drivers.reading import READING

SCHEMA = b'{"type": "object", "title": "' + b"long enough to span pages " * 200 + b'"}'


def block(number: int) -> Block:
    readings = np.zeros(20 + number % 7, READING)
    readings["value"] = number
    return Block(1, number, [Batch(len(readings), 0, number, (), (), None)], readings)


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
    assert len(old) - first > 5000, "the old end is long enough that much of it can stand behind new data"
    for place in range(first, len(new), 37):
        torn = tmp_path / "torn.mcap"
        torn.write_bytes(new[:place] + old[place:])
        descriptor = os.open(torn, os.O_WRONLY)
        rest = threading.Timer(0.02, os.pwrite, (descriptor, new[place:], place))
        rest.start()
        numbers = [one.number for one in blocks(torn)]
        rest.join()
        os.close(descriptor)
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
    assert "breaks off after 1 blocks" in break_of(path)


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
