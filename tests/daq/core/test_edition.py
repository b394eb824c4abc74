"""What voids a checkpoint: another program, and nothing that a program does not do."""

import shutil
from functools import cache
from pathlib import Path

import pytest

import estimators
from daq.core import checkpoint

SOURCE = '''"""A module."""

LIMIT = 2.0  # of something


def twice(x: float) -> float:
    """Two times x."""
    return LIMIT * x
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# of something", "# of something else"),
        ('"""Two times x."""', '"""x, doubled."""'),
        ('"""A module."""', '"""Another text."""'),
        ("return LIMIT * x", "return (\n        LIMIT * x\n    )"),
    ],
)
def test_words_and_line_breaks_mean_nothing(old: str, new: str) -> None:
    assert old in SOURCE
    assert checkpoint.meaning(SOURCE.replace(old, new)) == checkpoint.meaning(SOURCE)


@pytest.mark.parametrize(("old", "new"), [("2.0", "3.0"), ("LIMIT * x", "x * LIMIT"), ("twice", "thrice")])
def test_another_program_is_another_one(old: str, new: str) -> None:
    assert checkpoint.meaning(SOURCE.replace(old, new)) != checkpoint.meaning(SOURCE)


MEANING = cache(checkpoint.meaning)  # of hundreds of files, of which a test changes one


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copied") / "estimators"
    return Path(shutil.copytree(Path(estimators.__path__[0]), folder, ignore=shutil.ignore_patterns("__pycache__")))


@pytest.fixture
def package(copied: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of estimators that the edition is taken of; tests leave it as they found it."""
    monkeypatch.setattr(estimators, "__path__", [str(copied)])
    monkeypatch.setattr(checkpoint, "meaning", MEANING)
    return copied


def edition() -> str:
    return checkpoint.digest()


def test_a_comment_and_a_docstring_leave_the_edition_as_it_is(package: Path) -> None:
    before = edition()
    phases = package / "online" / "phases.py"
    text = phases.read_text(encoding="utf-8")
    first = text.index('\n    """') + 8
    changed = f"# a comment\n{text[:first]}Other words. {text[first:]}"
    phases.write_text(changed, encoding="utf-8")
    after = edition()
    phases.write_text(text, encoding="utf-8")
    assert after == before


@pytest.mark.parametrize("room", checkpoint.ROOMS)
def test_a_number_in_any_room_that_a_state_depends_on_is_another_edition(package: Path, room: str) -> None:
    before = edition()
    another = package / room / "another.py"
    another.write_text("x = 1\n", encoding="utf-8")
    after = edition()
    another.unlink()
    assert after != before
    assert edition() == before
