"""docs/papers.md: every equation, table and figure of the five papers has a row, and what a row names is there."""

import re
from pathlib import Path
from typing import Final

import pytest

from daq.__main__ import COMMANDS
from hil_rig.commands.reproduce import PROGRAMS

ROOT = Path(__file__).parents[3]
PAGE: Final = ROOT / "docs" / "papers.md"
# heading → equations, tables, figures that the paper numbers (of Guo those that its text names)
NUMBERED: Final[dict[str, tuple[list[str], list[str], list[str]]]] = {
    "Pointing mechanism": ([str(k) for k in range(1, 45)], ["1", "2", "3"], [str(k) for k in range(1, 9)]),
    "Industrial robot": ([str(k) for k in range(1, 40)], ["1", "2", "3", "4"], [str(k) for k in range(1, 9)]),
    "ER-16": ([*map(str, range(1, 19)), "A.1"], ["1", "2", "3", "4", "5"], [str(k) for k in range(1, 9)]),
    "Elastic joint": (
        [f"3.{k}" for k in range(1, 9)] + [f"4.{k}" for k in range(1, 12)] + [f"5.{k}" for k in range(1, 5)],
        ["7.1"],
        ["2.1", "2.2", "3.1", "3.2", "6.1", *(f"7.{k}" for k in range(1, 9))],
    ),
    "Trees": (["19", "20", "21", "22", "24", "25", "26", "36", "38", "39", *map(str, range(42, 48)), "52", "54", "56"]
              + ["62", "63"], [], []),
}  # fmt: skip


def rows(heading: str) -> list[list[str]]:
    parts = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    (section,) = [part for part in parts if part.startswith(heading)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:2] == "| "][
        1:
    ]


def expanded(text: str, pattern: str, known: list[str]) -> set[str]:
    """Numbers that a first cell covers: single ones and ranges, in the paper's own order."""
    found: set[str] = set()
    for first, last in re.findall(pattern, text):
        begin, end = known.index(first), known.index(last or first)
        found.update(known[begin : end + 1])
    return found


@pytest.mark.parametrize("heading", NUMBERED)
def test_every_number_of_the_paper_has_a_row(heading: str) -> None:
    number = r"([\dA.]*\d)"
    patterns = (
        rf"\({number}\)(?:–\({number}\))?",
        rf"\bTables? {number}(?:–{number})?",
        rf"\bFigures? {number}(?:–{number})?",
    )
    cells = [row[0] for row in rows(heading)]
    for known, pattern, what in zip(NUMBERED[heading], patterns, ("equation", "table", "figure"), strict=True):
        covered = set().union(*(expanded(cell, pattern, known) for cell in cells if re.search(pattern, cell)))
        assert set(known) - covered == set(), f"{what}s without a row"


@pytest.mark.parametrize("heading", NUMBERED)
def test_every_row_names_a_file_that_is_there_and_says_what_differs(heading: str) -> None:
    for first, where, _, differs in rows(heading):
        files = re.findall(r"`([\w/.]+)`", where)
        assert files, first
        assert [one for one in files if not (ROOT / one).exists()] == []
        assert differs


def test_every_command_is_there_and_every_reproduction_of_a_paper_is_named() -> None:
    text = PAGE.read_text("utf-8").replace("\n", " ")
    commands = set(re.findall(r"`jointwatch ([\w-]+)", text))
    assert commands <= set(COMMANDS), "commands that the command line does not have"
    named = set(re.findall(r"jointwatch reproduce ([a-z][\w-]*)", text))
    recordings = {"emps", "emps-laws", "xl330", "sea", "lost-motion"}
    assert named == set(PROGRAMS) - recordings
