"""The history file: minutes, hours and days agree with NumPy; nothing is lost or counted twice, whatever happens."""

import contextlib
import datetime
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from daq.processes.child import Child
from daq.state.history.file import FILE, HistoryError, HistoryFile
from daq.state.history.interval import Interval, Quantity, SeenUse
from daq.state.history.reading import grain_of, reading
from daq.state.history.tables import DAY, GRAINS, HOUR, MINUTE, VERSION, Grain
from estimators.wear.use_counts import UseCounts

WRITER = Path(__file__).parents[2] / "support" / "processes" / "history_writer.py"
START = int(datetime.datetime(2026, 3, 1, 22, 0, tzinfo=datetime.UTC).timestamp())
COULOMB = Quantity("elbow", "coulomb", "N·m")
FOR_EVER = 3660.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / f"arm.{FILE}"


@pytest.fixture
def file(path: Path) -> Iterator[HistoryFile]:
    opened = HistoryFile(path, FOR_EVER)
    yield opened
    opened.close()


def minute(number: int, values: "np.ndarray | tuple[float, ...]" = (), deviation: float = 0.1) -> Interval:
    interval = Interval(START + 60 * number)
    for value in values:
        interval.add(COULOMB, float(value), deviation)
    return interval


def used(number: int, boot: int, *counts: float) -> Interval:
    seconds, travel, reversals, starts = counts
    interval = Interval(START + 60 * number)
    interval.see([SeenUse(boot, "elbow", "rad", UseCounts(seconds, travel, int(reversals), int(starts)))])
    return interval


def rows(path: Path, grain: Grain, quantity: Quantity = COULOMB) -> list[tuple[float, ...]]:
    with reading(path) as history:
        return [tuple(row) for row in history.values(grain, 0, 1e11, quantity.joint).get(quantity, [])]


def total(path: Path) -> tuple[float, ...]:
    with reading(path) as history:
        found = history.total_use("elbow")
        assert found is None or (found.unit, found.since % 60) == ("rad", 0), "from the beginning of a minute"
        assert found is not None
        return tuple(found.counts)


@pytest.mark.parametrize("grain", GRAINS)
def test_each_grain_has_the_figures_that_numpy_has(file: HistoryFile, path: Path, grain: Grain) -> None:
    random = np.random.default_rng(4)
    kept: dict[int, list[tuple[float, float]]] = {}
    for number in range(200):  # over midnight
        if number % 7 == 3:
            continue  # a joint that rested
        values, deviation = random.normal(2.0, 0.3, random.integers(1, 40)), float(random.uniform(0.05, 0.2))
        file.write(minute(number, values, deviation))
        start = (START + 60 * number) // grain.seconds * grain.seconds
        kept.setdefault(start, []).extend((value, deviation) for value in values)
    found = rows(path, grain)
    assert [row[0] for row in found] == list(kept)
    for (_, n, mean, deviation, low, high), pairs in zip(found, kept.values(), strict=True):
        values, deviations = np.array(pairs).T
        expected = [values.mean(), np.sqrt((deviations**2).mean()), values.min(), values.max()]
        assert n == len(values)
        assert [mean, deviation, low, high] == pytest.approx(expected, rel=1e-12)


def test_values_that_are_not_finite_do_not_count(file: HistoryFile, path: Path) -> None:
    file.write(minute(0, (1.0, float("nan"), float("inf"), 3.0)))
    file.write(minute(1, (float("nan"),)))
    assert [row[1:3] for row in rows(path, MINUTE)] == [(2, 2.0)]


def test_an_interval_that_was_cut_by_a_restart_is_added_to_its_first_half(path: Path) -> None:
    for values in ((1.0, 2.0), (6.0,)):
        file = HistoryFile(path, FOR_EVER)
        file.write(minute(5, values))
        file.close()
    [(_, n, mean, _, low, high)] = rows(path, MINUTE)
    assert (n, mean, low, high) == (3, 3.0, 1.0, 6.0)


def test_use_goes_on_over_restarts_of_the_writer_and_of_the_core(path: Path) -> None:
    told = [
        used(0, 1, 50, 10.0, 4, 1),
        used(1, 1, 80, 16.0, 7, 1),
        "restart",  # of the writer: the same core has counted on
        used(2, 1, 90, 18.0, 9, 2),
        used(3, 2, 30, 5.0, 2, 1),  # another core has begun from zero
        "restart",
        used(3, 2, 30, 5.0, 2, 1),  # nothing new
    ]
    file = HistoryFile(path, FOR_EVER)
    for one in told:
        if isinstance(one, str):
            file.close()
            file = HistoryFile(path, FOR_EVER)
        else:
            file.write(one)
    file.close()
    assert total(path) == (120.0, 23.0, 11, 3)
    with reading(path) as history:
        for grain in GRAINS:
            sums = np.sum([row.counts for row in history.use(grain, 0, 1e11, "elbow")], axis=0)
            assert tuple(sums) == total(path)
        assert [row.counts.seconds for row in history.use(MINUTE, 0, 1e11, "elbow")] == [50, 30, 10, 30]


def test_two_cores_within_one_minute_both_count(file: HistoryFile, path: Path) -> None:
    interval = used(0, 1, 20, 4.0, 2, 1)
    interval.see([SeenUse(2, "elbow", "rad", UseCounts(7.0, 1.0, 1, 1))])
    file.write(interval)
    file.write(used(1, 2, 10, 1.5, 1, 1))
    assert total(path) == (30.0, 5.5, 3, 2)


def test_an_interval_that_is_given_up_leaves_its_use_and_changes_to_the_next(file: HistoryFile, path: Path) -> None:
    record = {"parameter": "coulomb", "told": 5.0, "over": 0.0}
    lost, following = used(0, 1, 20, 4.0, 2, 1), used(1, 2, 7, 1.0, 1, 1)
    lost.changes["elbow"] = (record,)
    following.take_over(lost)
    file.write(following)
    assert total(path) == (27.0, 5.0, 3, 2)
    with reading(path) as history:
        assert history.changes("elbow") == [record]


def test_a_change_is_kept_once_and_as_it_was_last(file: HistoryFile, path: Path) -> None:
    first = {"parameter": "coulomb", "told": 5.0, "over": 0.0, "text": "Coulomb friction +60 %"}
    for record in (first, first | {"over": 9.0}, first | {"told": 8.0}):
        interval = minute(0)
        interval.changes["elbow"] = (record,)
        file.write(interval)
    with reading(path) as history:
        assert [(one["told"], one["over"]) for one in history.changes("elbow")] == [(5.0, 9.0), (8.0, 0.0)]
        assert [one["told"] for one in history.changes("elbow", 6.0)] == [8.0]


def test_a_writer_that_is_killed_in_mid_write_loses_no_minute_that_it_had_written(path: Path) -> None:
    number, random = 0, np.random.default_rng(11)
    for _ in range(6):
        with subprocess.Popen(
            [sys.executable, WRITER, str(path), str(number)], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            said = [writer.stdout.readline()]
            time.sleep(float(random.uniform(0.0, 0.08)))
            writer.send_signal(signal.SIGKILL)
            said += writer.stdout.readlines()
        last = int(said[-1])
        with sqlite3.connect(path) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        quantity = Quantity("elbow", "p49", "N·m")
        found = rows(path, MINUTE, quantity)
        assert len(found) in (last + 1, last + 2)  # the next one may be written, and was not said
        assert [row[2] for row in found] == list(range(len(found)))
        end = len(found) - 1
        assert total(path) == (end, 2.0 * end, end, end // 10)
        for grain in (HOUR, DAY):
            assert sum(row[1] for row in rows(path, grain, quantity)) == len(found)
        number = len(found)


@pytest.mark.parametrize("harm", ["rubbish", "head", "middle"])
def test_a_damaged_file_is_set_aside_and_said_and_its_use_goes_on_where_it_can_be_read(path: Path, harm: str) -> None:
    file = HistoryFile(path, FOR_EVER)
    for number in range(120):
        file.write(minute(number, (1.0, 2.0)))
    file.write(used(400, 1, 500, 80.0, 6, 3))
    file.close()
    raw = bytearray(path.read_bytes())
    if harm == "rubbish":
        raw[:] = os.urandom(len(raw))
    elif harm == "head":
        raw[:16] = bytes(16)
    else:
        page = int.from_bytes(raw[16:18], "big")
        with contextlib.closing(sqlite3.connect(path)) as db:
            root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'minute'").fetchone()[0]
        raw[(root - 1) * page : root * page] = b"\xa5" * page
    path.write_bytes(raw)
    file = HistoryFile(path, FOR_EVER)
    file.write(used(401, 1, 510, 81.0, 7, 3))
    [said] = file.remarks
    file.close()
    [aside] = [one for one in path.parent.glob("*.damaged-*") if one.name.endswith("Z")]
    assert aside.name in said
    assert aside.read_bytes() == raw
    assert total(path) == (510.0, 81.0, 7, 3), "the core's counts since its start are known in any case"
    with reading(path) as history:
        assert said in [text for _, text in history.notes()]
    assert ("use counts of 1 joints" in said) == (harm == "middle")


def test_a_file_that_is_damaged_while_it_is_written_is_replaced(path: Path) -> None:
    file = HistoryFile(path, FOR_EVER)
    for number in range(300):
        file.write(minute(number, (1.0,)))
    file._opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with path.open("r+b") as raw:
        raw.seek(4096)
        raw.write(os.urandom(path.stat().st_size - 4096))
    file._opened.execute("PRAGMA shrink_memory")
    number = 300
    while not file.remarks:
        assert number < 330, "what was overwritten is never noticed"
        file.write(minute(number, (1.0,)))
        number += 1
    noticed = START + 60 * (number - 1)
    file.write(minute(number, (1.0,)))
    assert len(file.remarks) == 1
    file.close()
    assert [row[0] for row in rows(path, MINUTE)] == [noticed, noticed + 60], "nor is what was just being written lost"
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_what_cannot_be_written_is_said_and_is_written_when_there_is_room(file: HistoryFile, path: Path) -> None:
    file.write(minute(0, (1.0,)))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.with_name(path.name + "-wal").stat().st_size, hard))
    try:
        with pytest.raises(HistoryError, match="cannot be written: disk I/O error"):
            file.write(minute(1, (2.0,)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    file.write(minute(1, (2.0,)))
    assert [row[2] for row in rows(path, MINUTE)] == [1.0, 2.0]
    assert not file.remarks


def test_a_full_database_is_said_and_nothing_of_the_interval_is_in_it(file: HistoryFile, path: Path) -> None:
    file.write(minute(0, (1.0,)))
    pages = file._opened.execute("PRAGMA page_count").fetchone()[0]
    file._opened.execute(f"PRAGMA max_page_count={pages}")
    many = minute(1, (2.0,))
    for k in range(500):
        many.add(Quantity("elbow", f"q{k}", ""), 1.0, 1.0)
    with pytest.raises(HistoryError, match="database or disk is full"):
        file.write(many)
    assert len(rows(path, MINUTE)) == 1
    file._opened.execute("PRAGMA max_page_count=1000000")
    file.write(many)
    assert [row[2] for row in rows(path, MINUTE)] == [1.0, 2.0]
    assert len(rows(path, MINUTE, Quantity("elbow", "q499", ""))) == 1


def test_minutes_are_kept_for_their_days_and_hours_for_ever(path: Path) -> None:
    file = HistoryFile(path, 2.0)
    for day in range(6):
        for number in range(3):
            file.write(minute(1440 * day + number, (1.0,)))
    file.close()
    assert {(start - START) // 86_400 for start, *_ in rows(path, MINUTE)} == {3, 4, 5}
    assert len(rows(path, HOUR)) == len(rows(path, DAY)) == 6


def test_a_file_of_another_program_or_of_a_newer_version_is_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(HistoryError, match="another program's file"):
        HistoryFile(path, FOR_EVER)
    assert path.read_bytes() == before
    path.unlink()
    HistoryFile(path, FOR_EVER).close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version={VERSION + 1}")
    db.close()
    with pytest.raises(HistoryError, match=f"tables {VERSION + 1}, expected {VERSION}"):
        HistoryFile(path, FOR_EVER)
    with pytest.raises(HistoryError, match="tables"), reading(path):
        pass
    assert not list(path.parent.glob("*.damaged-*"))


def test_rows_later_than_now_are_said_and_not_shown(path: Path) -> None:
    file = HistoryFile(path, FOR_EVER)
    file.write(Interval(int(time.time()) + 40 * 86_400, {COULOMB: minute(0, (9.0,)).figures[COULOMB]}))
    file.write(minute(0, (1.0,)))
    file.close()
    again = HistoryFile(path, FOR_EVER)
    assert "later than now" in again.remarks[0]
    again.close()
    assert [row[2] for row in rows(path, DAY)] == [1.0]


def test_a_history_can_be_read_while_it_is_written_and_in_a_folder_that_nobody_may_write(
    file: HistoryFile, path: Path, tmp_path: Path
) -> None:
    file.write(minute(0, (1.0,)))
    with reading(path) as history:
        file.write(minute(1, (2.0,)))
        assert len(history.values(MINUTE, 0, 1e11, "elbow")[COULOMB]) == 2
    file.close()
    folder = tmp_path / "archive"
    folder.mkdir()
    shutil.copy(path, folder / "old.sqlite")
    folder.chmod(0o555)
    try:
        assert len(rows(folder / "old.sqlite", MINUTE)) == 2
    finally:
        folder.chmod(0o755)


def test_there_is_no_history_before_there_is_one(path: Path) -> None:
    with pytest.raises(HistoryError, match="no history yet"), reading(path):
        pass
    assert not path.exists()


@pytest.mark.parametrize(("seconds", "grain"), [(3600, MINUTE), (86_400, MINUTE), (30 * 86_400, HOUR), (3e7, DAY)])
def test_a_time_is_shown_in_the_grain_that_a_screen_can_show(seconds: float, grain: Grain) -> None:
    assert grain_of(seconds) == grain


def as_nobody(path: Path) -> str:
    """What a user who may write nothing reads of a history: how many minutes, or why none."""
    reads, writes = os.pipe()

    def work() -> int:
        os.setgid(65534)
        os.setuid(65534)
        try:
            told = str(len(rows(path, MINUTE)))
        except HistoryError as error:
            told = f"HistoryError: {error}"
        os.write(writes, told.encode())
        return 0

    child = Child("reader", work)
    os.close(writes)
    with os.fdopen(reads) as answer:
        said = answer.read()
    assert child.wait() == 0
    return said


@pytest.mark.skipif(os.getuid() != 0, reason="only root can try as another user")
def test_a_history_where_nothing_can_be_written_is_read_unless_its_log_lies_beside_it() -> None:
    with tempfile.TemporaryDirectory() as made:
        path, cut = Path(made, f"arm.{FILE}"), Path(made, f"cut.{FILE}")
        file = HistoryFile(path, FOR_EVER)
        file.write(minute(0, (1.0,)))
        for end in ("", "-wal"):  # as a power cut leaves them
            shutil.copy(f"{path}{end}", f"{cut}{end}")
        file.close()
        Path(made).chmod(0o555)
        assert as_nobody(path) == "1"
        assert "cannot be read" in as_nobody(cut), "without its log the newest minutes would be missing"
