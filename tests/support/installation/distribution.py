"""Wheel and source distribution of a tree, and an empty environment that a wheel is installed into."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.support.installation.layered_root import network

ROOT: Final = Path(__file__).parents[3]
CONSTRAINTS: Final = ROOT / "constraints.txt"
LEFT_OUT: Final = (".git", ".venv", "__pycache__", "build", "out", "*.egg-info", ".*_cache", ".hypothesis")


def copy_of_tree(place: Path) -> Path:
    """What a clone has, without what is generated: building writes into its tree."""
    return Path(shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(*LEFT_OUT)))


def build(tree: Path, out: Path, kind: str) -> Path:
    """The file of a tree that the build backend of pyproject.toml makes; kind: wheel or sdist."""
    out.mkdir(parents=True, exist_ok=True)
    program = f"import sys, setuptools.build_meta as b; print(b.build_{kind}(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", program, str(out)], cwd=tree, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return out / done.stdout.splitlines()[-1]


class EmptyEnvironment:
    """A virtual environment in which nothing is installed, used from a folder that is no checkout."""

    def __init__(self, place: Path) -> None:
        self.bin = place / "environment" / "bin"
        self.folder = place / "work"
        self.folder.mkdir(parents=True)
        self.variables = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(self.folder), "LANG": "C.UTF-8"}
        subprocess.run([sys.executable, "-m", "venv", str(self.bin.parent)], check=True, timeout=300)

    def install(self, wheel: Path) -> None:
        """The wheel and what it needs, in the versions of constraints.txt."""
        done = subprocess.run(
            [self.bin / "python", "-m", "pip", "install", "--quiet", "--constraint", CONSTRAINTS, wheel],
            capture_output=True, text=True, timeout=900, cwd=self.folder, check=False,
            env=self.variables | network() | {"HOME": os.environ["HOME"]},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    def run(self, *words: str, seconds: float = 1800.0, **variables: str) -> subprocess.CompletedProcess[str]:
        """A command of the environment to its end, in its folder; nothing of our own environment is seen."""
        return subprocess.run(
            [self.bin / words[0], *words[1:]], cwd=self.folder, env=self.variables | variables, capture_output=True,
            text=True, timeout=seconds, check=False,
        )  # fmt: skip

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A command of the environment that goes on, with its words in started.log; the caller ends it."""
        with (self.folder / "started.log").open("w") as log:
            return subprocess.Popen(
                [self.bin / words[0], *words[1:]], cwd=self.folder, env=self.variables, stdout=log,
                stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
