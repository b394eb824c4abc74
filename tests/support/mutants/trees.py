"""Copies of the code with its tests and kernels, and one error put into a copy."""

import json
import shutil
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
HERE: Final = Path(__file__).parent
WRONG: Final = "wrong_source.json"  # which file of the copy has which text instead of what stands there


def copied(tree: Path) -> Path:
    """The code, its tests and its kernels; Python takes a module with an error from where `put` says."""
    left = shutil.ignore_patterns(".git", "build", ".venv", ".*_cache", ".hypothesis", "docs")
    shutil.copytree(ROOT, tree, ignore=left)
    (tree / "docs").symlink_to(ROOT / "docs")
    shutil.copy2(HERE / "wrong_source.py", tree / "sitecustomize.py")  # Python imports it whenever it starts
    put(tree)
    return tree


def put(tree: Path, file: str = "", text: str = "") -> None:
    """From now on, what is started in this tree has this text of the file; none, the file's own again."""
    (tree / WRONG).write_text(json.dumps({"file": str(tree / file) if file else "", "text": text}), "utf-8")
