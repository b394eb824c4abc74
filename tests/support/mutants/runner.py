"""Whether a test notices a mutant."""

import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from .operators import Mutant
from .processes.forkers import Answer, Worker
from .processes.trees import linked, order, rewrite
from .seen import Seen

COMPILING: Final = 1200.0  # s more, where kernels have to be made again
TESTS: Final = 120.0  # s of tests for one mutant, as long as they took when they were observed: the nearest ones
LONG: Final = 20.0  # s: a test that fails after so long may have waited in vain, and is asked without the mutant, too


class Outcome(NamedTuple):
    """Result of one mutant."""

    noticed: bool
    how: str  # the test that failed, or why nothing did
    seconds: float
    processor: float  # seconds of it


def tried(worker: Worker, mutant: Mutant, seen: Seen, interpreted: bool) -> Outcome:
    """Run the tests that could notice: those that run the line, then those of which it is not certain that they do not.

    Of both the nearest, as many as take TESTS. A kernel is Python first and is run as such, with the tests that can do
    without machine code.
    """
    order(worker.tree, mutant.file, mutant.applied((worker.tree / mutant.file).read_bytes()).decode())
    first, others = seen.first(mutant), seen.others(mutant)
    seconds = processor = 0.0
    left, slower = TESTS, 0
    for every in (first, others):
        tests = seen.nearest(mutant, every, left)
        left, slower = left - sum(seen.seconds[test] for test in tests), slower + len(every) - len(tests)
        if tests:
            answer = worker.run(tests, interpreted=interpreted, limit=seen.limit(tests))
            seconds, processor = seconds + answer.seconds, processor + answer.processor
            if answer.how and answer.seconds > LONG and _fails_anyway(worker, answer, seen, interpreted):
                return Outcome(False, f"{answer.failed} fails without it, too", seconds, processor)
            if answer.how:
                return Outcome(True, answer.how, seconds, processor)
    nobody = "no test runs this line" + (", interpreted" if interpreted else "")
    survived = f"survived; {slower} slower tests were not run" if slower else "survived"
    return Outcome(False, survived if first or mutant.names else nobody, seconds, processor)


def _fails_anyway(worker: Worker, answer: Answer, seen: Seen, interpreted: bool) -> bool:
    """Whether the test that failed does so with the code as it is, as on a busy machine: it has noticed nothing."""
    if answer.failed not in seen.every:
        return False
    order(worker.tree)
    return bool(worker.run([answer.failed], interpreted=interpreted, limit=seen.limit([answer.failed])).how)


def tried_compiled(worker: Worker, mutant: Mutant, interpreted: Seen | None, compiled: Seen) -> Outcome:
    """Run the tests that were not run interpreted, with every kernel made again that the mutant is in."""
    tests = compiled.every - (set() if interpreted is None else interpreted.every)
    if not tests:
        return Outcome(False, "survived", 0.0, 0.0)
    with tempfile.TemporaryDirectory(dir=worker.folder, ignore_cleanup_errors=True) as folder:
        order(worker.tree)
        tree = linked(worker.tree, Path(folder) / "tree")
        rewrite(tree / mutant.file, mutant.applied((tree / mutant.file).read_bytes()).decode())
        limit = compiled.limit(tests) + COMPILING
        answer = worker.run(compiled.ordered(tests), interpreted=False, limit=limit, tree=tree)
    how = f"compiled: {answer.how}" if answer.how else "survived"
    return Outcome(bool(answer.how), how, answer.seconds, answer.processor)
