"""Draws mutants of rooms, has them tried, and tells what nobody noticed."""

import argparse
import json
import random
import sys
from collections.abc import Iterable
from concurrent.futures import as_completed
from pathlib import Path
from typing import Any

from .operators import Mutant, mutants
from .report import Result, page, summary
from .rooms import ROOMS, Room
from .runner import Outcome, Seen, Workers, interpreted, observed, tried, workers
from .trees import ROOT


def main(words: list[str] | None = None) -> int:
    """Exit 0: it says, it does not judge."""
    options = _options(words)
    drawn = _again(options.again) if options.again else _drawn(options)
    if options.list:
        for name, some in drawn.items():
            print(
                name,
                *(f"    {'interpreted' if interpreted(one) else 'compiled':12}{one.place}" for one in some),
                sep="\n",
            )
        return 0
    results: list[Result] = []
    try:
        with workers(options.jobs) as crew:
            for name, some in drawn.items():
                results += _room(crew, ROOMS[name], some)
    except KeyboardInterrupt:
        say("stopped")
        return 130
    finally:
        if options.json:
            options.json.write_text(
                json.dumps([one._asdict() for one in results], ensure_ascii=False, indent=1), "utf-8"
            )
    print(summary(results))
    if options.write:
        options.write.write_text(page(results, options.seed, options.each), "utf-8")
    return 0


def say(words: str) -> None:
    """As it goes."""
    print(words, file=sys.stderr, flush=True)


def draw(candidates: list[Mutant], texts: dict[str, bytes], each: int, seed: str) -> list[Mutant]:
    """Some, each from a place of its own: first one a line; of what can be wrong at a place, one."""
    chance = random.Random(seed)
    places: dict[tuple[str, int, int], list[Mutant]] = {}
    for one in candidates:
        places.setdefault((one.file, one.line, one.column), []).append(one)
    shuffled = chance.sample(sorted(places), len(places))
    lines: set[tuple[str, int]] = set()
    alone = [lines.add(place[:2]) or place for place in shuffled if place[:2] not in lines]  # type: ignore[func-returns-value]
    found: list[Mutant] = []
    for place in dict.fromkeys([*alone, *shuffled]):
        if len(found) == each:
            break
        some = chance.sample(places[place], len(places[place]))
        found += [one for one in some if one.is_one(texts[one.file])][:1]
    return sorted(found)


def _options(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--only", action="append", choices=ROOMS, metavar="ROOM", help=f"one of: {', '.join(ROOMS)}")
    parser.add_argument("--file", action="append", metavar="PATH", help="only mutants of these files")
    parser.add_argument("--each", type=int, default=30, metavar="N", help="mutants a room (30)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="at once (2)")
    parser.add_argument("--list", action="store_true", help="say what is drawn, and no more")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="the table, such as docs/mutants.md")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep what was found")
    parser.add_argument("--again", type=Path, metavar="FILE", help="only the survivors that --json kept in this file")
    return parser.parse_args(words)


def _drawn(options: argparse.Namespace) -> dict[str, list[Mutant]]:
    found = {}
    for name in options.only or ROOMS:
        files = [file for file in ROOMS[name].files() if not options.file or file in options.file]
        texts = {file: (ROOT / file).read_bytes() for file in files}
        candidates = [one for file in files for one in mutants(file, texts[file])]
        found[name] = draw(candidates, texts, options.each, f"{options.seed} {name}")
    return {name: some for name, some in found.items() if some or not options.file}


def _again(kept: Path) -> dict[str, list[Mutant]]:
    """Survivors as they stand in the code of today."""
    found: dict[str, list[Mutant]] = {}
    for one in (Result(**one) for one in json.loads(kept.read_text("utf-8"))):
        if one.noticed:
            continue
        here = [
            other
            for other in mutants(one.file, (ROOT / one.file).read_bytes())
            if (other.before, other.after) == (one.before, one.after)
        ]
        if here:
            found.setdefault(one.room, []).append(min(here, key=lambda other: abs(other.line - one.line)))
        else:
            say(f"{one.file}: {one.before} is no longer there")
    return found


def _room(crew: Workers, room: Room, drawn: list[Mutant]) -> list[Result]:
    """Try the mutants of one room."""
    say(f"{room.folder}: {len(drawn)} mutants")
    if not drawn:
        return []
    modes = sorted({interpreted(one) for one in drawn})
    files, tests = room.files(), room.tests()
    seen = dict(zip(modes, _wait([crew.submit(observed, tests, files, mode) for mode in modes]), strict=True))
    for mode, found in seen.items():
        _tell(found, mode)
    running = {crew.submit(tried, one, seen[interpreted(one)], interpreted(one)): one for one in drawn}
    results = []
    for done in as_completed(running):
        one, outcome = running[done], done.result()
        say(_line(one, outcome))
        results.append(Result.of(room.folder, one, outcome))
    return sorted(results, key=lambda one: (one.file, one.line))


def _wait(futures: Iterable[Any]) -> list[Any]:
    return [one.result() for one in futures]


def _tell(seen: Seen, as_python: bool) -> None:
    seconds = sum(seen.seconds.values())
    say(f"  {len(seen.every)} tests {'interpreted' if as_python else 'compiled'}, {seconds:.0f} s")
    for test, why in seen.failed.items():
        say(f"  left out, since it fails as it is: {test}: {why.splitlines()[-1] if why else ''}")


def _line(mutant: Mutant, outcome: Outcome) -> str:
    word = "noticed" if outcome.noticed else "ALIVE"
    return f"  {word:8}{outcome.seconds:6.1f} s  {mutant.place}  ({outcome.how})"
