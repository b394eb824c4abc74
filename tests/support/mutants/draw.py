"""Some of all mutants, by chance."""

import random

from .operators import Mutant, mutants


def draw(texts: dict[str, bytes], each: int, seed: str) -> list[Mutant]:
    """At most `each`: every place in the files is as likely as any other, and what can be wrong there, too.

    No line has a second one before each has its first.
    """
    chance = random.Random(seed)
    places: dict[tuple[str, int, int], list[Mutant]] = {}
    for file in sorted(texts):
        for one in mutants(file, texts[file]):
            places.setdefault((file, one.line, one.column), []).append(one)
    shuffled = chance.sample(sorted(places), len(places))
    firsts = {place[:2]: place for place in reversed(shuffled)}
    found: list[Mutant] = []
    for place in dict.fromkeys([*(place for place in shuffled if firsts[place[:2]] == place), *shuffled]):
        if len(found) == each:
            break
        some = chance.sample(places[place], len(places[place]))
        found += [one for one in some if one.is_one(texts[one.file])][:1]
    return sorted(found)
