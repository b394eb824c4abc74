"""Folders of compiled kernels that a wheel or an image brings along: whether one fits, and how it is filled.

`jointwatch compile --into FOLDER` fills one. It is used where it lies next to the packages as `jointwatch_kernels`, or
where the environment variable JOINTWATCH_KERNELS names it. A kernel is loaded from it if the sources, Python, numba and
the processor are the same as there (jointwatch_numba/compiled.py compares them kernel by kernel); any other is
compiled here.
"""

import hashlib
import importlib
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

MADE_FOR: Final = "made-for.json"  # in the folder: what its kernels fit
WORDS: Final = {
    "processor": "the processor {}",
    "python": "Python {}",
    "numba": "numba {}",
    "sources": "sources with the digest {}",
}


def fill(folder: Path, sources: str) -> int:
    """Copy all kernels of this process into the folder; returns how many. Raises OSError. sources: their digest."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MADE_FOR).unlink(missing_ok=True)  # until it is filled it fits no machine
    count: int = _jit().carry(folder)
    (folder / MADE_FOR).write_text(json.dumps(_here(sources), indent=1) + "\n", encoding="utf-8")
    return count


def misfit(folder: Path, sources: str) -> str | None:
    """Why the kernels of this folder are not those of this process; empty if they are, None without a folder."""
    if not folder.is_dir():
        return None
    try:
        there = json.loads((folder / MADE_FOR).read_text(encoding="utf-8"))
        wrong = [
            f"{WORDS[key].format(there[key])}, expected {value}"
            for key, value in _here(sources).items()
            if there[key] != value
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return f"{MADE_FOR} in it cannot be read"
    return "they are for " + "; ".join(wrong) if wrong else ""


def brought_along() -> Path:
    """The folder of kernels that this process would use."""
    folder: Path = _jit().CARRIED
    return folder


def _jit() -> Any:
    """The module that loads kernels; with numba, so that it is imported where it is needed."""
    return importlib.import_module("jointwatch_numba.compiled")


def _here(sources: str) -> dict[str, str]:
    """What kernels must have been made for to be used here."""
    architecture, name, features = _jit().processor()
    digest = hashlib.blake2b(features.encode(), digest_size=4).hexdigest()  # of a list of 90
    return {
        "processor": f"{name} ({architecture}, features {digest})",
        "python": platform.python_version(),
        "numba": version("numba"),
        "sources": sources,
    }
