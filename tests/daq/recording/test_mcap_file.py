"""The file after every write, read by the format's own library; and what a full disk leaves."""

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mcap.reader import NonSeekingReader, SeekingReader, make_reader
from mcap.records import Attachment, MessageIndex
from mcap.stream_reader import StreamReader

from daq.recording.mcap_file import McapFile
from daq.recording.mcap_index import index_again

SCHEMA = json.dumps({"type": "object", "properties": {"x": {"type": "number"}}}).encode()


def fill(file: McapFile, first: int, count: int) -> None:
    schema = file.schema("s", SCHEMA) if first == 0 else 1
    for index in range(first, first + count):
        channel = file.channel(f"topic/{index % 3}", schema)
        file.message(channel, index, 1000 + index, 500 + index, json.dumps({"x": index}).encode())
    file.attachment(f"block {first}", "application/x", 1000 + first, bytes(range(256)))


def read(path: Path, reader: type[SeekingReader] | type[NonSeekingReader]) -> list[tuple[str, int, int, int]]:
    with path.open("rb") as stream:
        opened = reader(stream, validate_crcs=True)
        return [
            (channel.topic, message.log_time, message.publish_time, json.loads(message.data)["x"])
            for _, channel, message in opened.iter_messages(log_time_order=False)
        ]


def expected(count: int) -> list[tuple[str, int, int, int]]:
    return [(f"topic/{index % 3}", 1000 + index, 500 + index, index) for index in range(count)]


@pytest.mark.parametrize("reader", [SeekingReader, NonSeekingReader])
def test_the_file_is_complete_after_every_write(tmp_path: Path, reader: type[SeekingReader]) -> None:
    path = tmp_path / "x.mcap"
    with McapFile(path, "test") as file:
        file.metadata("configuration", {"a": "b"})
        for turn in range(20):
            fill(file, 7 * turn, 7)
            file.write()
            assert read(path, reader) == expected(7 * (turn + 1))
            with path.open("rb") as stream:
                summary = make_reader(stream, validate_crcs=True).get_summary()
            assert summary is not None
            assert {channel.topic for channel in summary.channels.values()} == {"topic/0", "topic/1", "topic/2"}
            assert summary.statistics is not None
            assert summary.statistics.message_count == 7 * (turn + 1)
            assert summary.statistics.attachment_count == turn + 1
    assert read(path, reader) == expected(140)


def test_a_closed_file_has_the_index_of_its_chunks(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    file = McapFile(path, "test")
    for turn in range(5):
        fill(file, 7 * turn, 7)
        file.write()
    file.close()
    file.close()
    with path.open("rb") as stream:
        summary = make_reader(stream).get_summary()
        assert summary is not None
        assert len(summary.chunk_indexes) == 5
        for turn, index in enumerate(summary.chunk_indexes):
            for channel, offset in index.message_index_offsets.items():
                stream.seek(offset)
                record = next(iter(StreamReader(stream, skip_magic=True).records))
                assert isinstance(record, MessageIndex)
                assert record.channel_id == channel
                mine = [at for at in range(7 * turn, 7 * turn + 7) if at % 3 == channel - 1]
                assert [time for time, _ in record.records] == [1000 + at for at in mine], "log times"
    with path.open("rb") as stream:
        attachments = [one for one in StreamReader(stream).records if isinstance(one, Attachment)]
    assert [one.data for one in attachments] == [bytes(range(256))] * 5


def test_the_official_reader_finds_every_attachment_and_the_metadata_by_the_summary(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    with McapFile(path, "test") as file:
        file.metadata("configuration", {"a": "b"})
        for turn in range(30):
            fill(file, 7 * turn, 7)
            if turn % 3:
                file.write()
        with path.open("rb") as stream:
            found = [(one.name, one.metadata) for one in make_reader(stream).iter_metadata()]
        assert found == [("configuration", {"a": "b"})], "while it is being written, too"
    with path.open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        assert [one.name for one in reader.iter_attachments()] == [f"block {7 * turn}" for turn in range(30)]
        assert [one.data for one in reader.iter_attachments()] == [bytes(range(256))] * 30
        assert [(one.name, one.metadata) for one in reader.iter_metadata()] == [("configuration", {"a": "b"})]


def test_a_file_whose_writer_was_killed_gets_its_index(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    file = McapFile(path, "test")
    file.metadata("configuration", {"a": "b"})
    for turn in range(30):
        fill(file, 7 * turn, 7)
        file.write()
    with path.open("rb") as stream:
        assert list(make_reader(stream).iter_attachments()) == [], "killed here"
    assert index_again(path) == 60
    with path.open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        assert [one.name for one in reader.iter_attachments()] == [f"block {7 * turn}" for turn in range(30)]
        assert [(one.name, one.metadata) for one in reader.iter_metadata()] == [("configuration", {"a": "b"})]
        found = [message.log_time for _, _, message in reader.iter_messages(topics="topic/1", starting_at=1030)]
    assert found == [time for time in range(1030, 1210) if (time - 1000) % 3 == 1]
    assert read(path, SeekingReader) == read(path, NonSeekingReader) == expected(210)
    assert index_again(path) == 0, "it has one"
    killed = path.read_bytes()
    file.close()
    assert path.read_bytes() == killed, "as if it had been closed"


def test_what_is_damaged_or_broken_off_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    file = McapFile(path, "test")
    fill(file, 0, 7)
    file.write()
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert index_again(path) == 0
    assert path.read_bytes() == whole[:-20]
    file.close()


def test_half_of_it_found_by_time(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    with McapFile(path, "test") as file:
        for turn in range(10):
            fill(file, 10 * turn, 10)
            file.write()
    with path.open("rb") as stream:
        found = [
            message.log_time
            for _, _, message in make_reader(stream).iter_messages(
                topics="topic/1", starting_at=1030, ending_before=1060
            )
        ]
    assert found == [time for time in range(1030, 1060) if (time - 1000) % 3 == 1]


def test_the_summary_counts_everything_and_knows_the_first_and_the_last_instant(tmp_path: Path) -> None:
    """In whatever order they were written: an update may speak of an instant before the last one's."""
    path = tmp_path / "x.mcap"
    times = [[50, 20, 70], [10, 90], [60]]
    with McapFile(path, "test") as file:
        file.metadata("configuration", {"a": "b"})
        schemas = [file.schema(name, SCHEMA) for name in ("s", "t")]
        for turn, part in enumerate(times):
            for time in part:
                file.message(file.channel(f"topic/{time // 50}", schemas[time // 50]), turn, time, 0, b"{}")
            file.attachment(f"block {turn}", "application/x", 7 + turn, bytes(5 + turn))
            file.write()
            with path.open("rb") as stream:
                now = make_reader(stream).get_summary()
            assert now is not None
            assert now.statistics is not None
            told = [time for one in times[: turn + 1] for time in one]
            assert (now.statistics.message_start_time, now.statistics.message_end_time) == (min(told), max(told))
            assert now.statistics.chunk_count == turn + 1
    with path.open("rb") as stream:
        summary = make_reader(stream).get_summary()
    assert summary is not None
    assert summary.statistics is not None
    assert summary.statistics.channel_message_counts == {1: 4, 2: 2}
    assert (summary.statistics.metadata_count, summary.statistics.schema_count) == (1, 2)
    assert summary.statistics.channel_count == 2
    assert {one.topic: summary.schemas[one.schema_id].name for one in summary.channels.values()} == {
        "topic/0": "s",
        "topic/1": "t",
    }
    spans = [(one.message_start_time, one.message_end_time) for one in summary.chunk_indexes]
    assert spans == [(20, 70), (10, 90), (60, 60)]
    found = [
        (one.name, one.media_type, one.log_time, one.create_time, one.data_size) for one in summary.attachment_indexes
    ]
    assert found == [(f"block {turn}", "application/x", 7 + turn, 7 + turn, 5 + turn) for turn in range(3)]


def test_the_index_that_is_written_again_knows_the_instants_too(tmp_path: Path) -> None:
    """The index equals that of a closed file, with the times of attachments and of chunks of several channels."""
    path = tmp_path / "x.mcap"
    file = McapFile(path, "test")
    schema = file.schema("s", SCHEMA)
    for turn in range(3):
        file.attachment(f"block {turn}", "application/x", 7 + turn, bytes(5 + turn))
        for time in (50, 20, 70) if turn else ():
            file.message(file.channel(f"topic/{time}", schema), turn, time + turn, 0, b"{}")
        file.write()
    assert index_again(path) == 3 + 2
    again = path.read_bytes()
    file.close()
    assert path.read_bytes() == again, "as if it had been closed"


def test_a_sequence_number_beyond_four_bytes_begins_again(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    with McapFile(path, "test") as file:
        channel = file.channel("t", file.schema("s", SCHEMA))
        for sequence in (0, (1 << 32) - 1, 1 << 32, (1 << 32) + 5):
            file.message(channel, sequence, 0, 0, b"{}")
    with path.open("rb") as stream:
        assert [one.sequence for _, _, one in make_reader(stream).iter_messages()] == [0, (1 << 32) - 1, 0, 5]


def test_the_size_is_that_of_the_data_without_the_end(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    with McapFile(path, "test") as file:
        begun = file.size
        file.attachment("a", "application/x", 1, bytes(1000))
        assert file.size == begun, "nothing was written yet"
        file.write()
        grown = file.size - begun
    assert 1000 < grown < 1100
    assert begun + grown < path.stat().st_size


def test_another_file_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "x.mcap").write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        McapFile(tmp_path / "x.mcap", "test")
    assert (tmp_path / "x.mcap").read_bytes() == b"mine"


def with_room_for(size: int, do: Callable[[], object]) -> None:
    """While no file may be longer than this; Python ignores the signal that would end it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        do()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_no_file_is_left_where_there_is_no_room_even_for_its_beginning(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="File too large"):
        with_room_for(20, lambda: McapFile(tmp_path / "x.mcap", "test"))
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_finds_no_room_leaves_the_file_as_it_was_and_closed(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    file = McapFile(path, "test")
    fill(file, 0, 7)
    file.write()
    before = path.read_bytes()
    fill(file, 7, 70)
    with pytest.raises(OSError, match="File too large"):
        with_room_for(len(before) + 100, file.write)
    assert path.read_bytes() == before
    file.close()
    assert path.read_bytes() == before


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from daq.recording.mcap_file import McapFile
from test_mcap_file import fill
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
file = McapFile(Path(sys.argv[1]), "test")
written = 0
try:
    while True:
        fill(file, written, 7)
        file.write()
        written += 7
except OSError as error:
    print(written, error.strerror)
file.close()
"""


def test_a_full_disk_leaves_what_was_written_before(tmp_path: Path) -> None:
    path, here = tmp_path / "x.mcap", Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path), str(here), str(here.parents[2])],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    written, _, cause = done.stdout.strip().partition(" ")
    assert cause == "File too large"
    assert int(written) > 0
    assert read(path, SeekingReader) == expected(int(written))
