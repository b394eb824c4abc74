"""A folder of programs or of tests is one that a newcomer can look through: it holds fourteen Python files at most."""

from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LIMIT = 14
TREES = ("daq", "drivers", "estimators", "hil_rig", "jointwatch_client", "jointwatch_numba", "tests")


def too_full(trees: list[Path]) -> dict[Path, int]:
    """Folders with more files than the limit, `__init__.py` and `conftest.py` among them, and how many."""
    files = Counter(file.parent for tree in trees for file in tree.rglob("*.py"))
    return {folder: count for folder, count in files.items() if count > LIMIT}


def test_no_folder_holds_more_than_fourteen_python_files() -> None:
    assert too_full([ROOT / tree for tree in TREES]) == {}


@pytest.mark.parametrize(("files", "whether"), [(LIMIT, False), (LIMIT + 1, True)])
def test_a_folder_with_one_more_is_found_however_deep_it_is(tmp_path: Path, files: int, whether: bool) -> None:
    folder = tmp_path / "tests" / "some" / "deep"
    folder.mkdir(parents=True)
    for name in ("__init__", "conftest", *map(str, range(files - 2))):
        (folder / f"{name}.py").touch()
    (folder / "words.toml").touch()
    assert too_full([tmp_path / "tests"]) == ({folder: files} if whether else {})
