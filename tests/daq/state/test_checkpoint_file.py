"""A checkpoint that others might have written is not used."""

import os
from pathlib import Path

import msgpack
import pytest

from daq.state import checkpoint_file

STATES = {"joint1": ["key", 1.0, {"theta": [1.0]}]}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A checkpoint of ours alone."""
    file = tmp_path / "checkpoint"
    file.write_bytes(msgpack.packb(STATES))
    file.chmod(0o600)
    return file


def test_ours_is_read(kept: Path) -> None:
    assert checkpoint_file.read(kept) == STATES


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_what_others_may_write_is_not(kept: Path, mode: int, caplog: pytest.LogCaptureFixture) -> None:
    kept.chmod(mode)
    assert checkpoint_file.read(kept) == {}
    assert "not ours alone" in caplog.text


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_what_others_may_only_read_is(kept: Path, mode: int) -> None:
    kept.chmod(mode)
    assert checkpoint_file.read(kept) == STATES


def test_what_is_another_users_is_not(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: kept.stat().st_uid + 1)
    assert checkpoint_file.read(kept) == {}
