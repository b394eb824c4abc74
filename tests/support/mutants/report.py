"""What was found: a line a room, the generated page, and survivors that are known to mean nothing."""

import datetime
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .operators import Mutant, squeezed
from .runner import Outcome
from .trees import HERE, ROOT

EQUIVALENT = HERE.parent / "equivalent_mutants.toml"


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

    @classmethod
    def of(cls, room: str, mutant: Mutant, outcome: Outcome) -> "Result":
        """From what a room's tests said."""
        return cls(room, mutant.file, mutant.line, mutant.before, mutant.after, mutant.kind, *outcome)

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
    """Of a room, or of all."""

    drawn: int
    noticed: int
    equivalent: int

    @property
    def share(self) -> str:
        """Of those that mean something."""
        rest = self.drawn - self.equivalent
        return f"{100.0 * self.noticed / rest:.0f} %" if rest else "-"


def _score(results: list[Result]) -> Score:
    alive = [one for one in results if not one.noticed]
    return Score(len(results), len(results) - len(alive), sum(bool(one.reason) for one in alive))


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
    why = one.reason or one.how.removeprefix("survived")
    return f"{one.file}:{one.line}  {one.before}  →  {one.after}" + (f"  ({why})" if why else "")


def page(results: list[Result], seed: str, each: int) -> str:
    """In Markdown."""
    told = [
        "# What the tests notice",
        "",
        "Small errors that a person could make are drawn by chance and put into the code one at a time; a test",
        f"should notice. Written by `make mutants` on {datetime.date.today()}, seed {seed}, at most {each} a room.",
        "A survivor is equivalent where it is known why no test can notice it",
        "(`tests/support/equivalent_mutants.toml`); the percentage is of the others.",
        "",
        "| room | drawn | noticed | survived | of which equivalent | noticed of the rest |",
        "|---|---|---|---|---|---|",
    ]
    for name, some in [*_rooms(results).items(), ("**together**", results)]:
        score = _score(some)
        survived = score.drawn - score.noticed
        told.append(f"| {name} | {score.drawn} | {score.noticed} | {survived} | {score.equivalent} | {score.share} |")
    told += ["", "## Survivors", ""]
    for name, some in _rooms(results).items():
        alive = [one for one in some if not one.noticed]
        if alive:
            told += [f"### {name}", "", *(_item(one) for one in alive), ""]
    return "\n".join(told).rstrip() + "\n"


def _item(one: Result) -> str:
    why = f"equivalent: {one.reason}" if one.reason else one.how.removeprefix("survived")
    return f"- {one.file}:{one.line}: `` {one.before} `` → `` {one.after} ``" + (f" ({why})" if why else "")
