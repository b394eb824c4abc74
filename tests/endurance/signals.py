"""`python tests/endurance/signals.py`: signals that lie, offline through the real pipeline; prints a table.

The exit code is 1 where a signal is valid with wrong values, or a joint says nothing, for more than three seconds.
"""

import sys
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.signals.lies import FAULTS, LIES
from tests.support.signals.lying_signals import Judged, LyingSignal, cases, run

LONGEST: Final = 3.0  # s
HEAD: Final = """| signal | counter | from | wrong and valid until | silent at most | named after | reason | then |
|---|---|---|---|---|---|---|---|"""


def bad(lie: LyingSignal, found: Judged) -> bool:
    """Whether a signal lied, or left its reader without a word."""
    unnamed = bool(lie.codes) and not set(lie.codes) <= set(found.codes)
    return found.wrong > LONGEST or found.blind > LONGEST or unnamed


def line(lie: LyingSignal, counted: bool, early: bool, found: Judged) -> str:
    """One row of the table."""
    named = f"{found.named:.1f} s" if found.codes else ""
    return (
        f"| {lie.name} | {'yes' if counted else 'no'} | {'the start' if early else 'mid-run'} | {found.wrong:.1f} s | "
        f"{found.blind:.1f} s | {named} | {', '.join(found.codes)} | {found.last}{' **not so**' * bad(lie, found)} |"
    )


def main() -> int:
    """Play them all."""
    print(HEAD)
    lies = 0
    for kinds, seconds in ((LIES, 6.0), (FAULTS, 20.0)):
        for lie, counted, early in cases(kinds):
            found = run(lie, counted, early, seconds)
            lies += bad(lie, found)
            print(line(lie, counted, early, found), flush=True)
    print(f"\n{lies} lie or go blind")
    return bool(lies)


if __name__ == "__main__":
    sys.exit(main())
