"""A file that is replaced as a whole: on the disk before it has its name, for whom it was meant."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from daq.state.files import BaselineError, replace


@pytest.fixture(autouse=True)
def usual_mask() -> Iterator[None]:
    """Modes are what was asked for, whatever mask the tests were started with."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode_of(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_the_new_file_has_its_own_content_and_mode_whatever_was_there_before(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "f"
    for before in (None, 0o400, 0o666):
        if before is not None:
            file.chmod(before)
        replace(file, b"new", mode)
        assert (file.read_bytes(), mode_of(file)) == (b"new", mode)
    assert list(tmp_path.iterdir()) == [file]


def test_the_draft_of_a_writer_that_died_is_in_nobodys_way_and_nothing_of_it_stays(tmp_path: Path) -> None:
    """A process that starts anew in a container has the same number as the one that died."""
    draft = tmp_path / f".f.{os.getpid()}"
    draft.write_bytes(b"half of what was to be written before")
    draft.chmod(0o666)
    replace(tmp_path / "f", b"new", 0o600)
    assert ((tmp_path / "f").read_bytes(), mode_of(tmp_path / "f")) == (b"new", 0o600)
    assert list(tmp_path.iterdir()) == [tmp_path / "f"]


def test_a_link_in_the_drafts_place_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"somebody's")
    (tmp_path / f".f.{os.getpid()}").symlink_to(tmp_path / "other")
    replace(tmp_path / "f", b"new", 0o600)
    assert (tmp_path / "other").read_bytes() == b"somebody's"
    assert not (tmp_path / "f").is_symlink()


def test_the_content_is_on_the_disk_before_it_has_the_files_name_and_the_name_when_it_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, synced, real = tmp_path / "f", [], os.fsync
    file.write_bytes(b"old")

    def fsync(descriptor: int) -> None:
        real(descriptor)
        it = Path(os.readlink(f"/proc/self/fd/{descriptor}"))  # noqa: PTH115 (resolved by the kernel)
        synced.append((it, it.read_bytes() if it.is_file() else b"", file.read_bytes()))

    monkeypatch.setattr(os, "fsync", fsync)
    replace(file, b"new", 0o600)
    (draft, content, meanwhile), (folder, _, after) = synced
    assert (draft.parent, content, meanwhile) == (tmp_path, b"new", b"old")
    assert (folder, after) == (tmp_path, b"new")


def test_what_cannot_be_replaced_stays_and_no_draft_and_no_open_file_is_left(tmp_path: Path) -> None:
    (tmp_path / "f" / "inside").mkdir(parents=True)
    opened = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(BaselineError, match=f"^{tmp_path}/f: cannot be written: is a directory$"):
        replace(tmp_path / "f", b"new", 0o600)
    replace(tmp_path / "g", b"new", 0o600)
    assert len(list(Path("/proc/self/fd").iterdir())) == opened
    assert sorted(tmp_path.iterdir()) == [tmp_path / "f", tmp_path / "g"]
    assert (tmp_path / "f" / "inside").is_dir()


def test_what_is_no_file_is_written_to_and_stays(tmp_path: Path) -> None:
    """`--out /dev/null` of root would else put a file in the place of the device."""
    os.mkfifo(pipe := tmp_path / "pipe")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    replace(pipe, b"new", 0o644)
    assert os.read(reader, 10) == b"new"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    os.close(reader)
