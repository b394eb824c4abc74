"""The writer's thread: nothing is lost or counted twice over restarts, late rows and a disk that fails; drops show."""

import logging
import threading
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from daq.fleet.live.lake import RAW, Lake, LakeError, LakeFile
from daq.fleet.live.roll_up import DAYS, HOURS, MINUTES
from daq.fleet.live.standing import Reader
from daq.fleet.live.writer import MOST, LakeWriter, Retention
from tests.support.processes.summaries import batch, summary
from tests.support.processes.waiting import wait_until

T0 = 1_800_000_000 // 86_400 * 86_400.0  # Unix s, a midnight
KEPT = Retention(2, 60)
SUM = "SELECT robot, min(known), sum(n)::BIGINT, sum(lost)::BIGINT FROM finer WHERE quantity = 'coulomb' GROUP BY robot"


def asked(place: Path, table: str, query: str = SUM) -> list[tuple[Any, ...]]:
    return Reader(str(place)).rows(table, query, 0, float("inf"))


def test_minutes_hours_and_days_are_what_the_raw_rows_are(tmp_path: Path) -> None:
    writer = LakeWriter(Lake(str(tmp_path)), "hall", KEPT)
    writer.start()
    values = [float((7 * seq) % 11) for seq in range(180)]
    sent = [summary("a", seq, T0 + seq, {"coulomb": values[seq]}, changed={"coulomb": 4.0}) for seq in range(180)]
    sent[30] |= {"status": "faulted"}
    writer.put(batch(*sent[:100]), T0 + 100)
    writer.put(batch(*sent[100:]), T0 + 180)
    writer.stop()
    query = """SELECT epoch(start)::BIGINT, n, known, value, low, high, deviation, lost, status, "left" FROM finer
        WHERE quantity = 'coulomb' ORDER BY start"""
    minutes = asked(tmp_path, MINUTES.table, query)
    middle = sorted(values[:30] + values[31:60])[29]
    assert minutes[0] == (T0, 60, 59, middle, 0.0, 10.0, 0.02, 0, "valid", 4.0)
    assert [row[1] for row in minutes] == [60, 60, 60]
    medians = sorted(row[3] for row in minutes)
    for grain in (HOURS, DAYS):
        assert asked(tmp_path, grain.table, query) == [(T0, 180, 179, medians[1], 0.0, 10.0, 0.02, 0, "valid", 4.0)]


def test_a_restart_continues_and_late_rows_are_rolled_up_again(tmp_path: Path) -> None:
    """Cut in the middle of a minute; some of it comes twice, some never, and some late."""
    parts = ([*range(70)], [68, 69, *range(75, 100)], [*range(100, 130)])
    for part in parts:
        writer = LakeWriter(Lake(str(tmp_path)), "hall", KEPT)
        writer.start()
        writer.put(batch(*(summary("a", seq, T0 + seq) for seq in part)), T0 + part[-1])
        writer.stop()
    assert asked(tmp_path, RAW, SUM.replace("min(known), sum(n)", "0, count(*)")) == [("a", 0, 125, 5)]
    assert asked(tmp_path, DAYS.table) == [("a", 125, 125, 5)]
    late = LakeWriter(Lake(str(tmp_path)), "hall", KEPT)
    late.start()
    late.put(batch(*(summary("b", seq, T0 + seq) for seq in range(60))), T0 + 130)
    late.stop()
    assert sorted(asked(tmp_path, DAYS.table)) == [("a", 125, 125, 5), ("b", 60, 60, 0)]


def test_a_process_that_dies_before_it_rolls_up_has_it_done_by_the_next(tmp_path: Path) -> None:
    """What a killed collector leaves: raw files without minutes, and a draft."""
    lake = Lake(str(tmp_path))
    dead = LakeWriter(lake, "hall", KEPT)
    dead._write_rows(batch(*(summary("a", seq, T0 + seq) for seq in range(90))))
    (tmp_path / "raw" / "day=2027-01-15").mkdir(parents=True, exist_ok=True)
    writer = LakeWriter(lake, "hall", KEPT)
    writer.start()
    writer.stop()
    assert asked(tmp_path, MINUTES.table) == [("a", 30, 90, 0)]
    assert asked(tmp_path, DAYS.table) == [("a", 90, 90, 0)]


class SlowLake(Lake):
    """A lake whose disk does not answer until it is let."""

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self.free, self.asked = threading.Event(), threading.Event()

    def write(self, *told: Any, **named: Any) -> LakeFile:
        self.asked.set()
        assert self.free.wait(60)
        return super().write(*told, **named)


def test_a_slow_disk_loses_the_oldest_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    lake = SlowLake(str(tmp_path))
    writer = LakeWriter(lake, "hall", KEPT)
    writer.start()
    writer.put(batch(summary("a", 0, T0)), T0)
    assert lake.asked.wait(60), "the first is being written"
    with caplog.at_level(logging.WARNING, "jointwatch"):
        for seq in range(1, MOST + 3):
            writer.put(batch(summary("a", seq, T0 + seq)), T0 + seq)
    assert (writer.waiting, writer.given_up) == (MOST, 3)
    assert "is too slow: 1 messages are given up, 3 so far" in caplog.text
    lake.free.set()
    writer.stop()
    # the first was given up while it was being written: it is there all the same, and what is lost is counted
    assert asked(tmp_path, DAYS.table) == [("a", MOST + 1, MOST + 1, 2)]


def test_a_disk_that_fails_is_written_again_without_loss(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daq.fleet.live.writer.AGAIN", 0.05)
    place = tmp_path / "lake"
    place.mkdir()
    writer = LakeWriter(Lake(str(place)), "hall", KEPT)
    (place / "raw").write_text("a file where a folder should be")
    writer.start()
    with caplog.at_level(logging.INFO, "jointwatch"):
        for seq in range(3):
            writer.put(batch(summary("a", seq, T0 + seq)), T0 + seq)
        wait_until(lambda: "write" in writer.causes, look=0.02)
        (place / "raw").unlink()
        wait_until(lambda: not writer.waiting, look=0.02)
    writer.stop()
    assert "cannot write" in caplog.text
    assert "can write again" in caplog.text
    assert asked(place, DAYS.table) == [("a", 3, 3, 0)]


def test_old_files_are_removed_and_days_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = LakeWriter(Lake(str(tmp_path)), "hall", Retention(1, 3))
    monkeypatch.setattr("daq.fleet.live.writer.time.time", lambda: T0 + 5 * 86_400 + 10)
    writer.start()
    for seq in range(6):
        writer.put(batch(summary("a", seq, T0 + seq * 86_400)), T0 + seq * 86_400 + 61)
    writer.stop()
    writer = LakeWriter(Lake(str(tmp_path)), "hall", Retention(1, 3))
    writer.start()
    writer.put(batch(summary("a", 6, T0 + 5 * 86_400 + 5)), T0 + 5 * 86_400 + 10)
    writer.stop()
    lake = Lake(str(tmp_path))
    assert [one.first for one in lake.files(RAW, 0, float("inf"))] == [T0 + 5 * 86_400, T0 + 5 * 86_400 + 5]
    assert [one.first for one in lake.files(MINUTES.table, 0, float("inf"))] == [T0 + k * 86_400 for k in (2, 3, 4, 5)]
    assert len(lake.files(DAYS.table, 0, float("inf"))) == 6


def test_a_batch_that_is_there_already_is_counted_and_makes_no_file(tmp_path: Path) -> None:
    writer = LakeWriter(Lake(str(tmp_path)), "hall", KEPT)
    again = [summary("a", seq, T0 + seq) for seq in range(3)]
    writer._write_rows(batch(*again))
    assert (writer.messages, writer.repeated, writer.files) == (3, 0, 1)
    writer._write_rows(batch(*again))
    assert (writer.messages, writer.repeated, writer.files, writer.lost) == (3, 3, 1, 0)
    writer._write_rows(batch(summary("a", 2, T0 + 2), summary("a", 5, T0 + 5)))
    assert (writer.messages, writer.repeated, writer.files, writer.lost) == (4, 4, 2, 2)


def test_a_file_that_is_of_no_collector_is_named_before_anything_is_written(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    file = lake.write(RAW, "hall", 0, 60, pyarrow.table({"x": [1]}))
    with pytest.raises(LakeError, match=rf"^{file.path}: is not of a collector \(.*\): move it elsewhere"):
        LakeWriter(lake, "hall", KEPT)
    LakeWriter(lake, "yard", KEPT)


def test_what_cannot_be_rolled_up_or_removed_is_a_cause_until_it_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = LakeWriter(Lake(str(tmp_path)), "hall", KEPT)
    writer._write_rows(batch(summary("a", 0, T0)))
    (tmp_path / MINUTES.table).write_text("a file where a folder should be")
    writer._roll(T0 + 60, partial=False)
    writer._clean(T0 + 400 * 86_400.0)
    assert sorted(writer.causes) == ["remove old files", "roll up"]
    assert all(str(tmp_path) in cause for cause in writer.causes.values())
    (tmp_path / MINUTES.table).unlink()
    writer._roll(T0 + 60, partial=False)
    writer._clean(T0 + 1.0)
    assert writer.causes == {}
