"""The fuzz damages good files: undamaged, every one is read whole."""

from pathlib import Path

import pytest
from fuzz_files import Files

pytestmark = pytest.mark.compiled


def test_every_seed_is_good_and_goes_through_the_pipeline(tmp_path: Path) -> None:
    files = Files(tmp_path)
    assert {suffix for suffix, _ in files.seeds} >= {
        ".mcap",
        ".log",
        ".asc",
        ".blf",
        ".dbc",
        ".model",
        ".urdf",
        ".toml",
    }
    for suffix, data in files.seeds:
        assert files.read(suffix, data, deep=True) == "read", suffix
