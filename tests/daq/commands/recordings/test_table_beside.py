"""A table that another process writes: what goes wrong there is said here, and nothing waits for what will not come."""

import os
import signal
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

from daq.commands.recordings.table_beside import TableBeside

LONG = np.zeros(100_000)  # more than a pipe holds


def test_rows_are_in_the_file_once_it_is_closed(tmp_path: Path) -> None:
    file = tmp_path / "readings.csv"
    with TableBeside() as beside:
        table = beside.open("csv", file, ["value"])
        table.add({"value": [1.5, None]})
        table.add({"value": LONG})
        table.close()
        assert file.read_bytes() == b"value\r\n1.5\r\n\r\n" + b"0.0\r\n" * len(LONG)


def _write(table: TableBeside, parts: int) -> None:
    for _ in range(parts):
        table.add({"value": LONG})
    table.close()


@pytest.mark.parametrize("parts", [1, 50])
def test_a_full_disk_is_said_by_the_process_that_reads(parts: int) -> None:
    with TableBeside() as beside:
        table = beside.open("csv", Path("/dev/full"), ["value"])
        with pytest.raises(OSError, match="No space left"):
            _write(table, parts)
        table.close()  # once more, as who closes all tables does


def test_another_error_ends_the_table(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with TableBeside() as beside:
        table = beside.open("csv", tmp_path / "readings.csv", ["one", "other"])
        table.add({"one": [1.0, 2.0], "other": [1.0]})
        with pytest.raises(ChildProcessError, match="has died"):
            table.close()
    assert "ValueError" in capfd.readouterr().err


def test_nobody_waits_for_a_table_whose_rows_were_broken_off(tmp_path: Path) -> None:
    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with TableBeside() as beside:
            table = beside.open("csv", tmp_path / "readings.csv", ["value"])
            os.kill(table._child.pid, signal.SIGSTOP)
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(KeyboardInterrupt):
                table.add({"value": LONG})
            table.close()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert table._child.code == -signal.SIGKILL
