"""The tutorial does what it says: its files are written, its commands run, and what it shows is what is printed.

A comment in front of a block of docs/tutorial.md says what to do with it: `<!-- file NAME -->` writes it,
`<!-- run -->` runs it, `<!-- keep -->` leaves it running, `<!-- again -->` runs it until the block of text after it
is seen. `slow` in front of these words leaves a block to `make test-slow`. What is shown is written anew by
`python tests/support/tutorial_page.py`.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

pytestmark = pytest.mark.compiled
ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
BLOCK = re.compile(r"<!-- ([^\n]+?) -->\n```\w+\n(.*?)\n```(?:(?:(?!<!--|\n## ).)*?```text\n(.*?)\n```)?", re.DOTALL)
NUMBER = re.compile(r"[-−+]?\d[\d,.:T×]*(?:e[-+]?\d+)?Z?")
COUNT = re.compile(r"(?<![\d.])\d{1,3}(?:,\d{3})+(?![\d.])|(?<=; )\d+(?= samples)|\d+(?= readings)")
VALUE = re.compile(r"([-−]?\d[\d.]*(?:e[-+]?\d+)?)\s+±\s+([\d.]+(?:e[-+]?\d+)?)")
PATIENCE: Final = 300.0  # s for a live service to say what is waited for, beside another test: alone it takes half

WORKER_IS_NOTED: Final = """
import os, pathlib, time, pytest
@pytest.mark.parametrize("n", (1, 2))
def test_it(n):
    time.sleep(0.1)
    with pathlib.Path("workers").open("a") as file:
        file.write(os.environ["PYTEST_XDIST_WORKER"] + "\\n")
"""


@dataclass(frozen=True)
class Block:
    """One block of the tutorial: what to do with it, what is in it, and what has to be seen then."""

    words: tuple[str, ...]
    text: str
    shown: str

    @property
    def slow(self) -> bool:
        return self.words[0] == "slow"

    @property
    def action(self) -> str:
        return self.words[1] if self.slow else self.words[0]


def sections() -> dict[str, list[Block]]:
    """Every numbered section's blocks, in their order."""
    parts = re.split(r"^## (\d+)\. .+$", TUTORIAL, flags=re.MULTILINE)
    return {
        number: [Block(tuple(words.split()), text, shown) for words, text, shown in BLOCK.findall(body)]
        for number, body in zip(parts[1::2], parts[2::2], strict=True)
    }


SECTIONS = sections()
QUICK = [number for number, blocks in SECTIONS.items() if any(one.action == "run" and not one.slow for one in blocks)]
SLOW = [number for number, blocks in SECTIONS.items() if any(one.slow for one in blocks)]


def skeleton(line: str) -> str:
    """A line without the values of its numbers."""
    return " ".join(NUMBER.sub("#", line).split())


def alike(shown: str, printed: str) -> bool:
    """Whether two lines have the same words."""
    return skeleton(shown) == skeleton(printed)


def same(shown: str, printed: str) -> bool:
    """Whether two lines say the same: words, counts, values within six σ, and σ within a factor of three."""
    if not alike(shown, printed) or COUNT.findall(shown) != COUNT.findall(printed):
        return False
    pairs = list(zip(VALUE.findall(shown), VALUE.findall(printed), strict=True))
    near = all(abs(float(a) - float(b)) <= 6.0 * (float(s) + float(t)) for (a, s), (b, t) in pairs)
    return near and all(float(s) <= 3.0 * float(t) and float(t) <= 3.0 * float(s) for (_, s), (_, t) in pairs)


def missing(shown: str, said: str, equal: Callable[[str, str], bool] = same) -> list[str]:
    """Lines that the page shows and a command did not print."""
    printed = said.splitlines()
    return [line for line in shown.splitlines() if not any(equal(line, one) for one in printed)]


def environment() -> dict[str, str]:
    return os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


def run(line: str, folder: Path) -> tuple[int, str]:
    """One command line of the tutorial by a shell: exit code, and all that it prints."""
    done = subprocess.run(
        line, shell=True, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=300, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def follow(block: Block, folder: Path, running: ExitStack, equal: Callable[[str, str], bool] = same) -> str:
    """Do what one block says, and compare; returns what was printed."""
    said = ""
    if block.action == "file":
        (folder / block.words[-1]).write_text(block.text + "\n", "utf-8")
    elif block.action == "keep":
        if block.text.startswith("jointwatch rig"):
            running.close()  # as the page says: those before end when another rig begins
        output = running.enter_context((folder / "kept.txt").open("ab"))
        process = subprocess.Popen(shlex.split(block.text), cwd=folder, env=environment(), stderr=subprocess.STDOUT,
                                   stdout=output)  # fmt: skip
        running.callback(process.wait, 30)
        running.callback(process.send_signal, signal.SIGTERM)
        time.sleep(5.0)  # as long as a person needs for the second terminal, and a rig for its configuration
    elif block.action == "again":
        said = until_seen(block, folder, equal)
    else:
        for line in block.text.splitlines():
            code, words = run(line, folder)
            assert code == 0, f"{line}\n{words}"
            said += words
        assert missing(block.shown, said, equal) == [], said
    return said


def until_seen(block: Block, folder: Path, equal: Callable[[str, str], bool]) -> str:
    """Run a command of a live service until it says what the page shows; returns what it said."""
    end, said = time.monotonic() + PATIENCE, ""
    while missing(block.shown, said, equal):
        assert time.monotonic() < end, f"{block.text}\nlast said:\n{said}\nkept:\n{(folder / 'kept.txt').read_text()}"
        said = run(f"timeout 20 {block.text}", folder)[1]
        time.sleep(0.5)
    return said


def filled(place: Path) -> Path:
    """A folder with the tutorial's files and the recordings that they write."""
    for block in (one for blocks in SECTIONS.values() for one in blocks if one.action == "file"):
        follow(block, place, ExitStack())
    for program in ("make_arm.py", "make_log.py"):
        code, said = run(f"python {program}", place)
        assert code == 0, said
    return place


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("first"))


@pytest.fixture
def running() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_the_tutorial_has_what_is_run_and_what_is_seen() -> None:
    assert (len(QUICK), len(SLOW)) == (4, 3)
    assert sum(bool(one.shown) for blocks in SECTIONS.values() for one in blocks) >= 12


def test_a_line_is_the_same_with_other_digits_and_not_with_another_value() -> None:
    shown = "    coulomb        1.70097 ± 0.0017    N·m"
    assert same(shown, "  coulomb  1.7100 ± 0.0016 N·m")
    assert not same(shown, "  coulomb  1.75 ± 0.0016 N·m")
    assert not same(shown, "  viscous  1.70097 ± 0.0017 N·m")
    assert not same(shown, "  coulomb  1.70097 ± 0.0057 N·m"), "a deviation of an older version"
    assert not same("frames   15,000", "frames   30,000")


@pytest.mark.parametrize("number", QUICK)
def test_the_section_does_what_it_says(number: str, folder: Path, running: ExitStack) -> None:
    for block in SECTIONS[number]:
        if not block.slow:
            follow(block, folder, running)


def test_one_worker_runs_all_that_listens_on_the_ports_of_a_user(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "deploy"
    folder.mkdir(parents=True)
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_xdist_make_scheduler\n")
    for name in ("test_first.py", "test_second.py"):
        (folder / name).write_text(WORKER_IS_NOTED)
    grouped = f"{sys.executable} -m pytest -q --import-mode=importlib --numprocesses=2 --dist=loadgroup tests"
    code, said = run(grouped, tmp_path)
    assert (code, len(set((tmp_path / "workers").read_text().split()))) == (0, 1), said


@pytest.mark.slow
@pytest.mark.parametrize("number", SLOW)
def test_the_live_section_does_what_it_says(number: str, folder: Path, running: ExitStack) -> None:
    for block in SECTIONS[number]:
        follow(block, folder, running)
