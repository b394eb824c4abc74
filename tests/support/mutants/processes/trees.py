"""Copies of the code with its tests and kernels, and what Python does differently there."""

import json
import os
import shutil
from pathlib import Path
from typing import Final

from .startup import ORDERS

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[3]


def copied(tree: Path, root: Path = ROOT) -> Path:
    """The code, its tests and its kernels."""
    left = shutil.ignore_patterns(".git", "build", ".venv", ".*_cache", ".hypothesis", "docs")
    shutil.copytree(root, tree, ignore=left)
    if (root / "docs").is_dir():
        (tree / "docs").symlink_to(root / "docs")
    shutil.copy2(HERE / "startup.py", tree / "sitecustomize.py")
    order(tree)
    return tree


def linked(tree: Path, copy: Path) -> Path:
    """A copy of a copy that shares its files until one is replaced."""
    return Path(shutil.copytree(tree, copy, symlinks=True, copy_function=os.link))


def order(tree: Path, file: str = "", text: str = "", observe: tuple[str, ...] = (), into: Path | None = None) -> None:
    """What is started in this tree from now on has this text of the file, or records which lines of files it runs."""
    orders = {
        "file": str(tree / file) if file else "",
        "text": text,
        "observe": [str(tree / one) for one in observe],
        "into": str(into),
    }
    rewrite(tree / ORDERS, json.dumps(orders))


def rewrite(file: Path, text: str) -> None:
    """Another file in this one's place."""
    draft = file.with_name(f"{file.name}~")
    draft.write_text(text, "utf-8")
    draft.replace(file)
