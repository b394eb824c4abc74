"""Tests that fail once are run once more, alone; those that fail twice, or are many, are failures."""

from pathlib import Path

import pytest

from tests.support.second_look import MOST, main

UNSTABLE = """
from pathlib import Path
def test_unstable():
    before = Path("before").exists()
    Path("before").touch()
    assert before
"""
WRONG = "import pytest\n@pytest.mark.parametrize('one', range({}))\ndef test_wrong(one): assert False\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    (tmp_path / "pytest.ini").touch()
    return tmp_path


def test_what_fails_once_only_is_told_and_passes(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "test_one.py").write_text(UNSTABLE)
    (folder / "test_two.py").write_text("def test_right(): pass\n")
    assert main(["-q"]) == 0
    told = capfd.readouterr().out
    assert "1 failed, 1 passed" in told
    assert told.rstrip().endswith("each is a test to be mended:\ntest_one.py::test_unstable")


def test_what_fails_twice_fails(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "test_one.py").write_text(UNSTABLE + WRONG.format(1))
    assert main(["-q"]) == 1
    told = capfd.readouterr().out
    assert "2 failed" in told
    assert "1 failed, 1 passed" in told
    assert "UNSTABLE" not in told


def test_many_failures_are_failures_at_once(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "test_one.py").write_text(WRONG.format(MOST + 1))
    assert main(["-q"]) == 1
    assert "once more" not in capfd.readouterr().out


def test_what_cannot_be_collected_is_an_error_at_once(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "test_one.py").write_text("an error in Python")
    assert main(["-q"]) == 2
    assert "once more" not in capfd.readouterr().out
