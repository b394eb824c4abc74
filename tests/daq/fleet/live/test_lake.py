"""A lake: files appear as a whole, are found by their time, in a folder and in an object store."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyarrow
import pytest

from daq.fleet.live.lake import Lake, LakeError, database
from daq.fleet.live.standing import Reader
from daq.fleet.live.writer import LakeWriter, Retention
from hil_rig.ports import free_port
from tests.support.processes.summaries import batch, summary

DAY = 86_400


@cache
def rows() -> pyarrow.Table:
    """Three rows; made by the test that wants them, since pyarrow imports pandas for it, where that is installed."""
    return pyarrow.table({"x": [1, 2, 3]})


def test_files_are_found_by_their_time_and_collector(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path / "lake"))
    assert lake.files("minutes", 0, float("inf")) == []
    for day in (100, 101):
        for start in (day * DAY, day * DAY + 60):
            lake.write("minutes", "hall", start, start + 60, rows())
    lake.write("minutes", "yard", 100 * DAY, 100 * DAY + 60, rows())
    lake.write("raw", "hall", 101 * DAY - 5, 101 * DAY + 5, rows())
    firsts = [(one.collector, one.first) for one in lake.files("minutes", 0, float("inf"))]
    assert len(firsts) == 5
    assert [one.first for one in lake.files("minutes", 100 * DAY + 59, 100 * DAY + 61, "hall")] == [
        100 * DAY, 100 * DAY + 60,
    ]  # fmt: skip
    assert [one.first for one in lake.files("minutes", 101 * DAY, 101 * DAY + 60)] == [101 * DAY]
    assert len(lake.files("raw", 101 * DAY, 101 * DAY + 1)) == 1, "a file belongs to the day of its first row"
    assert (tmp_path / "lake" / "minutes" / "day=1970-04-11").is_dir()


def test_an_interval_is_replaced_as_a_whole_and_a_killed_ones_draft_is_removed(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    one = lake.write("hours", "hall", 0, 3600, rows(), {b"key": b"value"})
    assert lake.write("hours", "hall", 0, 3600, rows().slice(1)).path == one.path
    draft = Path(one.path).with_name(f".{Path(one.path).name}.123")
    draft.write_bytes(b"half")
    assert len(lake.files("hours", 0, 3600)) == 1
    lake.remove_drafts("hall")
    assert not draft.exists()
    connection = database(1)
    lake.view(connection, "finer", lake.files("hours", 0, 1))
    assert connection.sql("SELECT x FROM finer ORDER BY x").fetchall() == [(2,), (3,)]


def test_a_place_that_is_none_is_one_sentence() -> None:
    with pytest.raises(LakeError, match="expected a folder, or a URL that pyarrow reads"):
        Lake("ftp://somewhere/x")


def test_what_cannot_be_listed_or_read_is_one_sentence_with_its_place(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    (tmp_path / "hours").write_text("a file where a folder should be")
    with pytest.raises(LakeError, match=f"^{tmp_path}: cannot be listed: "):
        lake.files("hours", 0, 3600)
    written = lake.write("days", "hall", 0, DAY, rows(), {b"key": b"value"})
    assert lake.metadata(written)[b"key"] == b"value"
    Path(written.path).unlink()
    with pytest.raises(LakeError, match=f"^{written.path}: cannot be read: "):
        lake.metadata(written)


def test_a_day_that_was_removed_since_it_was_listed_has_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake(str(tmp_path))
    monkeypatch.setattr(lake, "_days", lambda _: ["1970-01-01", "1970-01-02"])
    lake.write("days", "hall", DAY, 2 * DAY, rows())
    assert [one.first for one in lake.files("days", 0, 3 * DAY)] == [DAY]


def test_a_lake_in_a_folder_with_a_quote_in_its_name_is_read(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path / "O'Brien's"))
    lake.write("days", "hall", 0, DAY, rows())
    connection = database(1)
    lake.view(connection, "finer", lake.files("days", 0, DAY))
    assert connection.sql("SELECT sum(x)::BIGINT FROM finer").fetchall() == [(6,)]


@pytest.mark.parametrize(("missing", "words"), [("pyarrow.fs", "pyarrow and DuckDB"), ("duckdb", "DuckDB")])
def test_what_is_not_installed_is_said_with_what_to_do(
    missing: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(LakeError, match=rf"a lake needs {words}: pip install 'jointwatch\[fleet\]'"):
        Lake(str(tmp_path)) if missing == "pyarrow.fs" else database(1)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a bucket of an S3 server of its own process."""
    boto3 = pytest.importorskip("boto3", reason="needs boto3 and moto: pip install 'jointwatch[test]'")
    pytest.importorskip("moto", reason="needs moto: pip install 'jointwatch[test]'")
    port = free_port()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 120
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < end, "the server does not start"
            time.sleep(0.1)
        address = f"http://127.0.0.1:{port}"
        boto3.client("s3", endpoint_url=address, region_name="us-east-1").create_bucket(Bucket="fleet")
        yield f"s3://fleet/lake?scheme=http&endpoint_override=127.0.0.1:{port}&region=us-east-1"
    finally:
        server.terminate()
        server.wait(60)


def test_an_object_store_holds_a_lake_as_a_folder_does(store: str, tmp_path: Path) -> None:
    """Written, continued after a restart, rolled up and asked: all as in a folder."""
    told = []
    for place in (store, str(tmp_path)):
        for part in (range(90), range(90, 150)):
            writer = LakeWriter(Lake(place), "hall", Retention(2, 60))
            writer.start()
            sent = [summary(f"r{i}", seq, 1.8e9 + seq, {"coulomb": 5.0 + i}) for seq in part for i in range(6)]
            writer.put(batch(*sent, sent[0]), 1.8e9 + part.stop)
            writer.stop()
            assert (writer.lost, writer.repeated, writer.causes) == (0, 1, {})
        standing = Reader(place).standing(1.8e9 - 60, 1.8e9 + 300, "minutes")
        told.append((standing.quantities, standing.joints))
    assert str(told[0]) == str(told[1])
    assert {one.messages for one in told[0][1]} == {150}
    assert [one.value for one in told[0][0]] == [5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
