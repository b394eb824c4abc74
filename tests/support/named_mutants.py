"""`python tests/support/named_mutants.py [WORD …]`: errors that once stayed unnoticed, put in one at a time.

In a copy of the tree, most of them interpreted. WORD: only those whose name has it. Exit 1 when one is not noticed.
"""

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Final, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.support.mutants.trees import copied


class Error(NamedTuple):
    """One, and the tests that must notice."""

    name: str
    file: str
    right: str
    wrong: str
    tests: str
    compiled: bool = False  # too slow interpreted


ERRORS: Final = tuple(
    Error(**one) for one in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["error"]
)


def main() -> int:
    """One line an error."""
    chosen = [one for one in ERRORS if not sys.argv[1:] or any(word in one.name for word in sys.argv[1:])]
    alive = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder) / "tree")
        for one in chosen:
            file = tree / one.file
            text = file.read_text("utf-8")
            if text.count(one.right) != 1:
                print(f"{one.name:36} {one.file} has it {text.count(one.right)} times: mend this list", flush=True)
                alive += 1
                continue
            file.write_text(text.replace(one.right, one.wrong), "utf-8")
            environment = os.environ | {"NUMBA_DISABLE_JIT": str(int(not one.compiled)), "PYTHONPATH": str(tree)}
            which = "not slow" if one.compiled else "not slow and not compiled"
            tests = ["-q", "-x", "-p", "no:cacheprovider", "-m", which, *one.tests.split()]
            done = subprocess.run(
                [sys.executable, "-m", "pytest", *tests], cwd=tree, env=environment, capture_output=True, check=False
            )
            file.write_text(text, "utf-8")
            alive += done.returncode != 1
            print(
                f"{one.name:36} {'noticed' if done.returncode == 1 else f'NOT NOTICED ({done.returncode})'}", flush=True
            )
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
