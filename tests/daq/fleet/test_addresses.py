"""Where the recordings of a fleet are, and whose each is as far as its place says; here and wherever fsspec reads."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from daq.fleet.addresses import SUFFIXES, at_hand, find
from daq.fleet.examine import Plan, examine
from daq.recording.reader import RecordingError

PLACES = ("arm1/b.npz", "arm1/deep/er/a.CSV", "arm2/x.mcap", "alone.log", "arm1/notes.txt", "README.md")
ROBOTS = {"arm1/b.npz": "arm1", "arm1/deep/er/a.CSV": "arm1", "arm2/x.mcap": "arm2", "alone.log": "alone"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for place in PLACES:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(place)
    (tmp_path / "a folder.csv").mkdir()
    return tmp_path


@pytest.fixture
def memory() -> Iterator[Any]:
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec: pip install 'jointwatch[fleet]'")
    system = fsspec.filesystem("memory")
    for place in PLACES:
        system.pipe(f"/fleet/{place}", place.encode())
    yield system
    system.rm("/fleet", recursive=True)


def test_a_recording_is_of_the_robot_whose_folder_it_is_in_however_deep_or_its_own_name(folder: Path) -> None:
    found = find([str(folder)])
    assert {one.text: one.robot for one in found} == {str(folder / place): robot for place, robot in ROBOTS.items()}
    assert [one.text for one in found] == sorted(one.text for one in found)


def test_a_recording_elsewhere_is_found_in_the_same_way(memory: Any) -> None:
    found = find(["memory://fleet"])
    assert {one.text: one.robot for one in found} == {
        f"memory:///fleet/{place}": robot for place, robot in ROBOTS.items()
    }
    assert {one.robot for one in find(["memory://fleet/arm1/"])} == {"b", "deep"}, "the folder itself was named"
    assert find(["memory://fleet/arm1/b.npz"])[0].robot == "b"


def test_a_file_that_was_named_is_taken_whatever_it_is_called_and_is_no_folders(folder: Path) -> None:
    [found] = find([str(folder / "arm1" / "notes.txt")])
    assert (found.text, found.robot) == (str(folder / "arm1" / "notes.txt"), "notes")


def test_what_was_named_twice_is_there_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert len(find(["arm1", str(folder / "arm1"), "arm1/b.npz"])) == 2


def test_places_without_recordings_are_all_named(folder: Path, memory: Any) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(RecordingError) as caught:
        find([str(folder), "nothing://at/all", str(folder / "empty"), str(folder / "nowhere"), "memory://nowhere"])
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("nothing://at/all: Protocol not known")
    assert lines[1] == f"{folder}/empty: found no recording, expected {', '.join(SUFFIXES)}"
    assert lines[2] == f"{folder}/nowhere: found no such folder or file"
    assert lines[3].startswith("memory://nowhere: ")
    assert len(lines) == 4


def test_a_storage_that_gives_no_list_is_named_with_its_reason(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> list[str]:
        raise PermissionError("the token has expired")

    monkeypatch.setattr(type(memory), "find", refuse)
    with pytest.raises(RecordingError, match=r"^memory://fleet: cannot be listed: the token has expired$"):
        find(["memory://fleet"])


def test_a_recording_elsewhere_is_at_hand_as_a_file_of_its_name_for_as_long_as_it_is_used(memory: Any) -> None:
    with at_hand("memory://fleet/arm2/x.mcap") as file:
        assert (file.name, file.read_text()) == ("x.mcap", "arm2/x.mcap")
    assert not file.parent.exists()
    with pytest.raises(RecordingError, match=r"^memory://fleet/none\.mcap: cannot be read: "):
        at_hand("memory://fleet/none.mcap").__enter__()


def test_a_recording_here_is_used_where_it_is(folder: Path) -> None:
    with at_hand(str(folder / "arm1" / "b.npz")) as file:
        assert file == folder / "arm1" / "b.npz"
    assert file.exists()


def test_what_is_wrong_with_a_recording_elsewhere_is_reported_by_its_address(memory: Any) -> None:
    [address] = find(["memory://fleet/alone.log"])
    assert examine(address, Plan(None, None, skew=False)).problem.startswith(
        "memory://fleet/alone.log: a log of frames needs --config"
    )


def test_without_fsspec_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(RecordingError, match=r"^s3://fleet: needs fsspec: pip install 'jointwatch\[fleet\]'$"):
        find(["s3://fleet"])
