"""A robot's folder: whose recordings these are, their order, names that nobody has, and which go first."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from daq.config.sections import Record
from daq.recording.folder import RecordingFolder, recordings


def shelf(folder: Path, keep: float = 1e6, reserve: float = 0.0) -> RecordingFolder:
    return RecordingFolder(
        Record(folder=folder, file_size=1e6, keep=1e6, reserve=reserve).model_copy(update={"keep": keep}), "arm"
    )


def filled(folder: Path, *names: str, size: int = 100) -> list[Path]:
    for name in names:
        (folder / name).write_bytes(bytes(size))
    return [folder / name for name in names]


def test_recordings_are_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    """Several of one second are counted, and ten comes after two."""
    files = filled(
        tmp_path,
        "arm-20250101T000000Z.mcap",
        "arm-20260101T000000Z.mcap",
        "arm-20260101T000000Z-2.mcap",
        "arm-20260101T000000Z-10.mcap",
        "arm-20260101T000001Z.mcap",
    )
    assert recordings(tmp_path, "arm") == files


def test_files_of_others_are_none_of_this_robots(tmp_path: Path) -> None:
    filled(
        tmp_path,
        "arm-left-20260101T000000Z.mcap",
        "arm-20260101T000000Z.mcap.part",
        "arm-20260101.mcap",
        "xarm-20260101T000000Z.mcap",
        "a.m-20260101T000000Z.mcap",
    )
    assert recordings(tmp_path, "arm") == []
    assert recordings(tmp_path, "a.m") == [tmp_path / "a.m-20260101T000000Z.mcap"]
    assert recordings(tmp_path / "none", "arm") == []


def test_a_new_name_is_one_that_no_file_has(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "records"
    first = shelf(folder).new()
    assert first.parent == folder
    assert folder.is_dir()
    first.touch()
    assert recordings(folder, "arm") == [first]
    told = datetime.strptime(first.name, "arm-%Y%m%dT%H%M%SZ.mcap").replace(tzinfo=UTC)
    assert timedelta(0) <= datetime.now(UTC) - told < timedelta(minutes=5)
    for later in range(300):  # whatever second it is by now
        second = f"{told + timedelta(seconds=later):%Y%m%dT%H%M%SZ}"
        filled(folder, f"arm-{second}.mcap", f"arm-{second}-3.mcap", f"leg-{second}-7.mcap")
    assert shelf(folder).new().name.endswith("Z-4.mcap")


def test_the_oldest_go_until_no_more_is_kept_than_was_asked_for(tmp_path: Path) -> None:
    names = [f"arm-2026010{day}T000000Z.mcap" for day in range(1, 6)]
    files = filled(tmp_path, *names)
    (other,) = filled(tmp_path, "leg-20250101T000000Z.mcap", size=1000)
    assert shelf(tmp_path, keep=500).make_room(None)
    assert recordings(tmp_path, "arm") == files
    assert shelf(tmp_path, keep=499).make_room(None)
    assert recordings(tmp_path, "arm") == files[1:]
    assert shelf(tmp_path, keep=250).make_room(files[1])
    assert recordings(tmp_path, "arm") == [files[1], *files[3:]], "the one that is written stays, and is not counted"
    assert other.exists()


def test_where_the_disk_is_too_full_everything_goes_but_the_file_that_is_written(tmp_path: Path) -> None:
    files = filled(tmp_path, *(f"arm-2026010{day}T000000Z.mcap" for day in range(1, 4)))
    full = shelf(tmp_path, reserve=1e18)
    assert not full.make_room(files[-1])
    assert recordings(tmp_path, "arm") == files[-1:]
    assert full.full().startswith(f"{tmp_path}: ")
    assert full.full().endswith(" MB of the disk are free, and [recorder] reserve = 1000000000000 MB")


@pytest.mark.parametrize("reserve", [0.0, 1.0])
def test_where_there_is_room_nothing_goes(tmp_path: Path, reserve: float) -> None:
    files = filled(tmp_path, "arm-20260101T000000Z.mcap")
    assert shelf(tmp_path, reserve=reserve).make_room(None)
    assert recordings(tmp_path, "arm") == files
