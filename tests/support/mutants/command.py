"""Draws mutants of rooms, has them tried, and prints those that no test noticed."""

import argparse
import json
import signal
import sys
from collections.abc import Callable
from concurrent.futures import as_completed
from pathlib import Path
from typing import Final

from .draw import draw
from .kernels import is_compiled
from .operators import Mutant, mutants
from .processes.forkers import Workers, workers
from .processes.trees import ROOT
from .report import Result, known, page, summary
from .rooms import ROOMS, Room
from .runner import Outcome, tried, tried_compiled
from .seen import Seen, observed

FEW: Final = 3  # mutants of kernels that are compiled at once: to observe all tests interpreted would take longer


def main(words: list[str] | None = None) -> int:
    """Exit 0: it says, it does not judge."""
    options = _options(words)
    known()  # a list with mistakes is said at once
    drawn = _survivors(options.again) if options.again else _drawn(options)
    if options.list:
        for name, some in drawn.items():
            print(name, *(f"    {one.place}" for one in some), sep="\n")
        return 0
    results: list[Result] = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with workers(options.jobs) as crew:
            for name, some in drawn.items():
                _try_room(crew, ROOMS[name], some, options, results.append)
    except KeyboardInterrupt:
        _say("stopped; so far:")
        return 130
    finally:
        results.sort(key=lambda one: (one.room, one.file, one.line))
        print(summary(results))
        if options.json:
            options.json.write_text(
                json.dumps([one._asdict() for one in results], ensure_ascii=False, indent=1), "utf-8"
            )
    if options.write:
        if options.again:
            results = _with_earlier(options.again, results)
        earlier = options.write.read_text("utf-8") if options.write.exists() else ""
        options.write.write_text(page(results, earlier), "utf-8")
    return 0


def _options(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--only", action="append", choices=ROOMS, metavar="ROOM", help=f"one of: {', '.join(ROOMS)}")
    parser.add_argument("--file", action="append", metavar="PATH", help="only mutants of these files")
    parser.add_argument("--each", type=int, default=30, metavar="N", help="mutants a room (30)")
    parser.add_argument("--seed", default="1", help="the same one draws the same from the same code (1)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="at once (2)")
    parser.add_argument("--list", action="store_true", help="say what is drawn, and no more")
    parser.add_argument("--mirrored", action="store_true", help="tests of the mirrored folder alone: less time")
    parser.add_argument("--compile", action="store_true", help="compile kernels whose mutants survive interpreted")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="the table, such as docs/mutants.md")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep what was found")
    parser.add_argument(
        "--again",
        type=Path,
        metavar="FILE",
        help="only the survivors that --json kept in this file; a page has the others, too",
    )
    return parser.parse_args(words)


def _drawn(options: argparse.Namespace) -> dict[str, list[Mutant]]:
    """Mutants by room."""
    found = {}
    for name in options.only or ROOMS:
        texts = {file: (ROOT / file).read_bytes() for file in ROOMS[name].files()}
        if options.file:
            texts = {file: text for file, text in texts.items() if file in options.file}
        found[name] = draw(texts, options.each, f"{options.seed} {name}")
    return {name: some for name, some in found.items() if some}


def _survivors(kept: Path) -> dict[str, list[Mutant]]:
    """As they stand in the code of today."""
    found: dict[str, list[Mutant]] = {}
    for one in _kept(kept):
        if one.noticed:
            continue
        every = mutants(one.file, (ROOT / one.file).read_bytes())
        here = [other for other in every if (other.before, other.after) == (one.before, one.after)]
        if here:
            found.setdefault(one.room, []).append(min(here, key=lambda other: abs(other.line - one.line)))
        else:
            _say(f"{one.file}: {one.before} is no longer there")
    return found


def _with_earlier(kept: Path, results: list[Result]) -> list[Result]:
    """What was kept; of those that survived then, whether they are noticed since."""
    now = {(one.file, one.before, one.after): one for one in results if one.noticed}
    told = []
    for one in _kept(kept):
        again = None if one.noticed else now.get((one.file, one.before, one.after))
        told.append(one if again is None else one._replace(since=True, how=again.how))
    return told


def _kept(file: Path) -> list[Result]:
    return [Result(**one) for one in json.loads(file.read_text("utf-8"))]


def _try_room(
    crew: Workers, room: Room, drawn: list[Mutant], options: argparse.Namespace, keep: Callable[[Result], object]
) -> None:
    _say(f"{room.folder}: {len(drawn)} mutants")
    kinds = {one: is_compiled(one.file, one.line) for one in drawn}
    seen: dict[bool, Seen] = {}

    def observe(*modes: bool) -> None:
        files, tests = room.files(), room.tests(options.mirrored)
        running = {mode: crew.submit(observed, tests, files, mode) for mode in modes if mode not in seen}
        seen.update({mode: one.result() for mode, one in running.items()})
        for mode in running:
            _tell(seen[mode], mode)

    def told(one: Mutant, outcome: Outcome) -> None:
        word = "noticed" if outcome.noticed else "ALIVE"
        _say(f"  {word:8}{outcome.seconds:6.1f} s  {one.place}  ({outcome.how})")
        keep(Result.of(room.folder, one, outcome, options.seed))

    later = [one for one, kind in kinds.items() if kind]
    if len(later) > FEW:
        later = []
    observe(*sorted({kind for one, kind in kinds.items() if one not in later}))
    running = {crew.submit(tried, one, seen[kind], kind): one for one, kind in kinds.items() if one not in later}
    for done in as_completed(running):
        one, outcome = running[done], done.result()
        if options.compile and kinds[one] and not outcome.noticed:
            later.append(one)
        else:
            told(one, outcome)
    if later:
        observe(False)
        running = {crew.submit(tried_compiled, one, seen.get(True), seen[False]): one for one in later}
        for done in as_completed(running):
            told(running[done], done.result())


def _tell(seen: Seen, interpreted: bool) -> None:
    seconds = sum(seen.seconds.values())
    _say(f"  {len(seen.every)} tests {'interpreted' if interpreted else 'compiled'}, {seconds:.0f} s")
    for test, why in seen.failed.items():
        _say(f"  left out, since it fails as it is: {test}: {why.splitlines()[-1] if why else ''}")


def _say(words: str) -> None:
    """As it goes."""
    print(words, file=sys.stderr, flush=True)
