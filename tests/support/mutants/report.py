"""What was found: a line a room, the generated page, and survivors that are known to mean nothing."""

import datetime
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from .operators import Mutant, squeezed
from .processes.trees import HERE, ROOT
from .runner import Outcome

EQUIVALENT = HERE.parents[1] / "equivalent_mutants.toml"


class Result(NamedTuple):
    """One mutant and its outcome, as it is kept."""

    room: str
    file: str
    line: int
    before: str
    after: str
    kind: str
    noticed: bool
    how: str
    seconds: float
    processor: float
    seed: str
    day: str  # of the draw
    since: bool = False  # noticed by tests that were written after the draw

    @classmethod
    def of(cls, room: str, mutant: Mutant, outcome: Outcome, seed: str) -> "Result":
        """From what a room's tests said."""
        day = datetime.date.today().isoformat()
        return cls(room, mutant.file, mutant.line, mutant.before, mutant.after, mutant.kind, *outcome, seed, day)

    @property
    def reason(self) -> str:
        """Why it means nothing; empty where it does."""
        return known().get((self.file, self.before, self.after), "")


class Equivalent(NamedTuple):
    """A change that no test can notice."""

    file: str
    line: str
    changed: str
    reason: str


@cache
def known() -> dict[tuple[str, str, str], str]:
    """Why survivors mean nothing."""
    return equivalent(EQUIVALENT.read_text("utf-8"), ROOT)


def equivalent(text: str, root: Path) -> dict[tuple[str, str, str], str]:
    """Reasons by file, text of the line, and what it is changed to; raises ValueError where a line is gone."""
    every = [Equivalent(**one) for one in tomllib.loads(text).get("equivalent", [])]
    stale = [f"{one.file}: {one.line}" for one in every if one.line not in squeezed((root / one.file).read_bytes())]
    if stale:
        raise ValueError(f"{EQUIVALENT.name} names what is no longer there: {'; '.join(stale)}")
    return {(one.file, one.line, one.changed): one.reason for one in every}


class Score(NamedTuple):
    """What came of one draw of errors, or of several."""

    drawn: int
    noticed: int
    equivalent: int
    since: int  # survivors that tests notice which were written after the draw

    @property
    def share(self) -> str:
        """Share of the noticed ones among those that mean something, as they were drawn."""
        rest = self.drawn - self.equivalent
        return f"{100.0 * self.noticed / rest:.0f} %" if rest else "-"

    def cells(self) -> str:
        """A line of the table."""
        survived = self.drawn - self.noticed
        return f"{self.drawn} | {self.noticed} | {survived} | {self.equivalent} | {self.share} | {self.since}"


def _score(results: list[Result]) -> Score:
    alive = [one for one in results if not one.noticed]
    equivalent = sum(bool(one.reason) for one in alive)
    return Score(len(results), len(results) - len(alive), equivalent, sum(one.since for one in alive))


def _rooms(results: list[Result]) -> dict[str, list[Result]]:
    return {name: [one for one in results if one.room == name] for name in dict.fromkeys(one.room for one in results)}


def summary(results: list[Result]) -> str:
    """For a terminal."""
    told = []
    for name, some in [*_rooms(results).items(), ("together", results)]:
        score = _score(some)
        seconds = sum(one.seconds for one in some) / max(1, len(some))
        processor = sum(one.processor for one in some) / max(1, len(some))
        told.append(
            f"{name:28}{score.noticed:4} of{score.drawn:4} noticed,{score.equivalent:3} of the others equivalent:"
            f" {score.share:>5}   ({seconds:.1f} s each, {processor:.1f} s of a processor)"
        )
        if name != "together":
            told += [f"    {_survivor(one)}" for one in some if not one.noticed]
    return "\n".join(told)


def _survivor(one: Result) -> str:
    why = one.reason or one.how.removeprefix("survived").lstrip("; ")
    return f"{one.file}:{one.line}  {one.before}  →  {one.after}" + (f"  ({why})" if why else "")


HEAD: Final = """\
# What the tests notice

Small errors that a person could make are drawn by chance and put into the code one at a time; a test should notice:
one of those nearest to the changed line, of which as many are run as took two minutes when they were observed. Written
by `make mutants`. A line is one draw of a room, with its seed and the day, of the code, the tests and this tool as they
were that day. A room that was drawn again had been given tests for what survived before, so a seed had never been drawn
before the tests that it judges were written. Of the survivors of a draw some are noticed *since*: by tests that were
written after it. A survivor is equivalent where it is known why no test can notice it
(`tests/support/equivalent_mutants.toml`); the percentage is of the others, as they were drawn.

| room | seed | day | drawn | noticed | survived | of which equivalent | noticed of the rest | since |
|---|---|---|---|---|---|---|---|---|
"""
_LINE: Final = re.compile(r"\| ([\w/]+) \| (\w+) \| ([\d-]+) \| (\d+) \| (\d+) \| \d+ \| (\d+) \| [^|]+ \| (\d+) \|")


class Draw(NamedTuple):
    """A line of the page, and what it lists below."""

    room: str
    seed: str
    day: str
    score: Score
    survivors: str


def page(results: list[Result], earlier: str = "") -> str:
    """In Markdown; draws of an earlier page that are not among the results stay as they are told there."""
    new = [
        Draw(room, seed, some[0].day, _score(some), "\n".join(_item(one) for one in some if not one.noticed))
        for room, of_room in _rooms(results).items()
        for seed in dict.fromkeys(one.seed for one in of_room)
        if (some := [one for one in of_room if one.seed == seed])
    ]
    fresh = {(one.room, one.seed) for one in new}
    draws = sorted(
        [*(one for one in _draws(earlier) if (one.room, one.seed) not in fresh), *new],
        key=lambda one: (one.room, one.day, one.seed),
    )
    last = {one.room: one for one in draws}
    together = Score(*(sum(column) for column in zip(*(one.score for one in last.values()), strict=True)))
    told = [f"| {one.room} | {one.seed} | {one.day} | {one.score.cells()} |" for one in draws]
    told += [f"| **the last draw of each** | | | {together.cells()} |", "", "## Survivors of the last draw", ""]
    for one in last.values():
        if one.survivors:
            told += [f"### {one.room}", "", one.survivors, ""]
    return HEAD + "\n".join(told).rstrip() + "\n"


def _draws(text: str) -> list[Draw]:
    """Those of a page."""
    listed = dict(part.split("\n", 1) for part in text.split("\n### ")[1:])
    draws = [
        Draw(room, seed, day, Score(*map(int, numbers)), "")
        for room, seed, day, *numbers in (match.groups() for match in _LINE.finditer(text))
    ]
    last = {one.room: one for one in draws}
    return [one._replace(survivors=listed.get(one.room, "").strip()) if last[one.room] is one else one for one in draws]


def _item(one: Result) -> str:
    why = f"equivalent: {one.reason}" if one.reason else one.how.removeprefix("survived").lstrip("; ")
    if one.since:
        why = f"since then noticed by {one.how}"
    return f"- {one.file}:{one.line}: `` {one.before} `` → `` {one.after} ``" + (f" ({why})" if why else "")
