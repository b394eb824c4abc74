"""The folder of the service's own sockets: locked against cleaners of /tmp, and known to be gone when it is."""

import fcntl
import os
import shutil
from pathlib import Path

import pytest

from daq.processes.runtime_folder import RuntimeFolder


def test_a_cleaner_that_asks_for_the_lock_gets_it_not_and_what_is_removed_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """systemd-tmpfiles takes an exclusive lock of each folder that it empties, and leaves those it does not get."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = RuntimeFolder()
    cleaner = os.open(folder.path, os.O_RDONLY)
    try:
        with pytest.raises(BlockingIOError):
            fcntl.flock(cleaner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert folder.stands()
        shutil.rmtree(folder.path)
        assert not folder.stands()
        folder.remove()  # is no error
    finally:
        os.close(cleaner)
    other = RuntimeFolder()
    assert other.stands()
    other.remove()
    assert not list(tmp_path.iterdir())
