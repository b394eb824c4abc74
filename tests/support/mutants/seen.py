"""Which tests run which lines, so that a mutant is shown to those only that can notice it."""

import hashlib
import json
import math
import re
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from .operators import Mutant
from .processes.forkers import Worker
from .processes.trees import HERE, ROOT, order, rewrite

LONGEST: Final = 3600.0  # s for the tests of a room at most
SLOWER, SPARE = 10.0, 20.0  # s: a mutant's tests end after so many times what they took, and so much more
CACHING: Final = re.compile(r"\b(lru_)?cache\b")  # a file of tests that does: who ran first ran for the others
KEPT: Final = ROOT / "build" / "mutants"  # what a file of tests ran is the same until it or the code changes
HOW: Final = frozenset({"forker.py", "plugins.py", "startup.py"})  # of this tool: what an observation depends on
PACKAGES: Final = ("daq", "drivers", "estimators", "hil_rig", "jointwatch_client", "jointwatch_numba")


class Seen:
    """What the tests of a room ran, each, and how long it took."""

    def __init__(self, tree: Path, found: Iterable[dict[str, Any]]) -> None:
        self._tree = tree
        self.seconds: dict[str, float] = {}
        self.failed: dict[str, str] = {}
        self._unseen: set[str] = set()
        self._lines: dict[str, dict[int, set[str]]] = {}
        for one in found:
            self.seconds |= one["seconds"]
            self.failed |= one["failed"]
            self._unseen |= set(one["unseen"])
            for file, lines in one["lines"].items():
                mine = self._lines.setdefault(file, {})
                for line, tests in lines.items():
                    mine.setdefault(int(line), set()).update(tests)

    @cached_property
    def every(self) -> set[str]:
        """Tests that pass."""
        return self.seconds.keys() - self.failed.keys()

    def first(self, mutant: Mutant) -> set[str]:
        """Tests that ran the line; where the module runs it, those that ran one with a name that it binds."""
        if mutant.names:
            word = re.compile(rf"\b({'|'.join(map(re.escape, mutant.names))})\b")
            found = {test for file in self._lines for test in self._mentioning(file, word)}
        else:
            begin, end = mutant.lines
            lines = self._lines.get(mutant.file, {})
            found = {test for line in range(begin, end + 1) for test in lines.get(line, ())}
        return self._with_cached(found & self.every)

    def others(self, mutant: Mutant) -> set[str]:
        """Further tests that could meet it: they ran another part of its file, or something into which nobody saw."""
        of_file = {test for tests in self._lines.get(mutant.file, {}).values() for test in tests}
        of_file = self.every if mutant.names else self._with_cached(of_file & self.every)
        return (of_file | (self._unseen & self.every)) - self.first(mutant)

    def ordered(self, tests: Iterable[str]) -> list[str]:
        """The quickest first; those of one file together where they take about as long."""
        place = {test: number for number, test in enumerate(self.seconds)}

        def key(test: str) -> tuple[int, str, int]:
            return max(-1, math.ceil(math.log10(self.seconds[test]))), _file(test), place[test]

        return sorted(tests, key=key)

    def nearest(self, mutant: Mutant, tests: Iterable[str], seconds: float) -> list[str]:
        """As many as take so long together: those of files that import the mutant's first, each time the quickest."""
        module = mutant.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        package, _, name = module.rpartition(".")
        word = re.compile(rf"\b{re.escape(module)}\b|\bfrom {re.escape(package)} import .*\b{name}\b")
        tests = set(tests)
        near = {test for test in tests if word.search(self._text(_file(test)))}
        found = []
        for test in [*self.ordered(near), *self.ordered(tests - near)]:
            seconds -= self.seconds[test]
            if seconds >= 0.0:
                found.append(test)
        return found

    def limit(self, tests: Iterable[str]) -> float:
        """Seconds after which these tests run in a circle."""
        return SLOWER * sum(self.seconds[test] for test in tests) + SPARE

    def _mentioning(self, file: str, word: re.Pattern[str]) -> Iterator[str]:
        text = self._text(file).splitlines()
        for line, tests in self._lines[file].items():
            if 0 < line <= len(text) and word.search(text[line - 1]):  # an empty file has no line
                yield from tests

    def _with_cached(self, tests: set[str]) -> set[str]:
        files = {file for file in {_file(test) for test in tests} if CACHING.search(self._text(file))}
        return tests | {test for test in self.every if _file(test) in files}

    @cache  # noqa: B019
    def _text(self, file: str) -> str:
        return (self._tree / file).read_text("utf-8")


def observed(worker: Worker, tests: list[str], files: list[str], interpreted: bool, folder: Path = KEPT) -> Seen:
    """Run files of tests once, as everything is, those excepted of which the folder says what they ran."""
    kept = {one: folder / f"{_digest(worker.tree, one, tuple(files), interpreted)}.json" for one in tests}
    fresh = [one for one in tests if not kept[one].exists()]
    found = [json.loads(kept[one].read_text("utf-8")) for one in tests if one not in fresh]
    if fresh:
        new = _observed(worker, fresh, tuple(files), interpreted)
        folder.mkdir(parents=True, exist_ok=True)
        for one in fresh:
            found.append(_part(new, one))
            if not found[-1]["failed"].keys() - found[-1]["slow"]:
                rewrite(kept[one], json.dumps(found[-1]))
    return Seen(worker.tree, found)


def _observed(worker: Worker, tests: list[str], files: tuple[str, ...], interpreted: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=worker.folder) as folder:
        into = Path(folder)
        order(worker.tree, observe=files, into=into)
        answer = worker.run(tests, interpreted=interpreted, limit=LONGEST, into=into)
        if not (into / "seen.json").exists():
            raise RuntimeError(f"the tests were not observed to their end: {answer.how}\n{answer.output}")
        found: dict[str, Any] = json.loads((into / "seen.json").read_text("utf-8"))
        return found


def _part(found: dict[str, Any], file: str) -> dict[str, Any]:
    """What the tests of one file ran."""
    lines = {
        source: {line: mine for line, tests in some.items() if (mine := [one for one in tests if _file(one) == file])}
        for source, some in found["lines"].items()
    }
    return {
        "lines": {source: some for source, some in lines.items() if some},
        "seconds": {test: seconds for test, seconds in found["seconds"].items() if _file(test) == file},
        "failed": {test: why for test, why in found["failed"].items() if _file(test) == file},
        "unseen": [test for test in found["unseen"] if _file(test) == file],
        "slow": [test for test in found["slow"] if _file(test) == file],
    }


def _file(test: str) -> str:
    return test.partition("::")[0]


def _digest(tree: Path, test: str, files: tuple[str, ...], interpreted: bool) -> str:
    words = f"{test} {files} {interpreted}".encode()
    return hashlib.blake2b(_code(tree) + words + (tree / test).read_bytes(), digest_size=16).hexdigest()


@cache
def _code(tree: Path) -> bytes:
    """Digest of all that a file of tests can depend on, other such files excepted."""
    digest = hashlib.blake2b(digest_size=16)
    some = [tree / "pyproject.toml", *tree.glob("jointwatch*.py")]
    some += [one for package in PACKAGES for one in (tree / package).rglob("*")]
    some += [one for one in (tree / "tests").rglob("*") if not one.name.startswith("test_")]
    tool = tree / HERE.parent.relative_to(ROOT)
    for one in sorted(some):
        if tool in one.parents and one.name not in HOW:
            continue
        if one.is_file() and one.parent.name != "__pycache__" and not one.name.endswith("_mutants.toml"):
            digest.update(b"%b\n%b\n" % (str(one.relative_to(tree)).encode(), one.read_bytes()))
    return digest.digest()
