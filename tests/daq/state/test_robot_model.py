"""The file of a whole robot's model: whole or not at all, for everybody to read."""

import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from daq.state.files import BaselineError
from daq.state.robot_model import save
from estimators.models.robots.files.identified import IdentifiedRobot


def test_it_says_what_wrote_it_and_is_read_back_by_whomever(tmp_path: Path) -> None:
    document = {"format": "x", "theta": {"values": [0.1, 1 / 3]}}
    found, file = cast(IdentifiedRobot, SimpleNamespace(document=lambda: document)), tmp_path / "arm.model.toml"
    file.write_text("what was there before")
    save(found, file)
    assert tomllib.loads(file.read_text("utf-8")) == document
    assert file.read_text("utf-8").startswith("# A whole robot's model, written by `jointwatch identify`")
    assert file.stat().st_mode & 0o444 == 0o444
    with pytest.raises(BaselineError, match="cannot be written"):
        save(found, tmp_path / "no such folder" / "arm.model.toml")
