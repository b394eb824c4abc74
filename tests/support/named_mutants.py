"""`python tests/support/named_mutants.py [WORD …]`: errors that once stayed unnoticed, put in one at a time.

In copies of the tree, with the machinery of `make mutants`. WORD: only those whose name has it. Exit 1 when one is not
noticed.
"""

import sys
import tempfile
import tomllib
from concurrent.futures import as_completed
from pathlib import Path
from typing import Final, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.support.mutants.kernels import is_compiled
from tests.support.mutants.processes.forkers import Answer, Worker, workers
from tests.support.mutants.processes.trees import ROOT, linked, order, rewrite

LONGEST: Final = 900.0  # s for the tests of one


class Error(NamedTuple):
    """One, and the tests that must notice."""

    name: str
    file: str
    right: str
    wrong: str
    tests: str
    compiled: bool = False  # too slow interpreted

    def problems(self) -> list[str]:
        """Why it cannot be put in."""
        places = [one.partition("::")[0] for one in (self.file, *self.tests.split())]
        found = [f"{one} does not exist" for one in places if not (ROOT / one).exists()]
        if not found and (times := (ROOT / self.file).read_text("utf-8").count(self.right)) != 1:
            found.append(f"{self.file} has {self.right!r} {times} times, expected once")
        return [f"{self.name}: {one}" for one in found]


ERRORS: Final = tuple(
    Error(**one) for one in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["error"]
)


def main() -> int:
    """One line an error."""
    chosen = [one for one in ERRORS if not sys.argv[1:] or any(word in one.name for word in sys.argv[1:])]
    if problems := [problem for one in chosen for problem in one.problems()]:
        print(*problems, sep="\n")
        return 1
    alive = 0
    with workers(2) as crew:
        running = {crew.submit(_tried, one): one for one in chosen}
        for done in as_completed(running):
            answer = done.result()
            alive += not answer.how
            print(f"{running[done].name:36} {answer.how or 'NOT NOTICED'}", flush=True)
    print(f"{len(chosen) - alive} of {len(chosen)} noticed")
    return 1 if alive else 0


def _tried(worker: Worker, one: Error) -> Answer:
    text = (ROOT / one.file).read_text("utf-8")
    wrong = text.replace(one.right, one.wrong)
    tests = one.tests.split()
    begin = text.index(one.right) + len(one.right) - len(one.right.lstrip())
    in_kernel = is_compiled(one.file, text.count("\n", 0, begin) + 1)
    if not (in_kernel and one.compiled):
        order(worker.tree, one.file, wrong)
        return worker.run(tests, interpreted=in_kernel, limit=LONGEST)
    order(worker.tree)
    with tempfile.TemporaryDirectory(dir=worker.folder, ignore_cleanup_errors=True) as folder:
        tree = linked(worker.tree, Path(folder) / "tree")
        rewrite(tree / one.file, wrong)
        return worker.run(tests, interpreted=False, limit=LONGEST, tree=tree)


if __name__ == "__main__":
    sys.exit(main())
