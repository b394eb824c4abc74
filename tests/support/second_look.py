"""Runs pytest, and once more the few tests that failed, without others beside them: see docs/decisions/099.

Many of the tests start programs, and wait for what these do, four at a time on two cores that other programs may be
using. A test that fails for that reason is a fault of the test, and is reported as one (UNSTABLE, at the end, with
the first failure's whole output above), but it does not say that the product is broken. A test that fails twice does.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

#: 1: Failures at most that are looked at again: more of them have a common cause.
MOST: Final = 3
FAILED: Final = 1  # pytest's exit status when tests have failed, and nothing else was wrong
FAILURES: Final = Path(".pytest_cache/v/cache/lastfailed")


def main(arguments: list[str]) -> int:
    """Return the exit status. arguments: those of pytest."""
    FAILURES.unlink(missing_ok=True)
    pytest = [sys.executable, "-m", "pytest"]
    status = subprocess.call([*pytest, *arguments])
    failed = failures() if status == FAILED else []
    if not 0 < len(failed) <= MOST:
        return status
    print("once more, without others beside them:", *failed, sep="\n  ", flush=True)
    status = subprocess.call([*pytest, *failed])
    if status == 0:
        print("UNSTABLE: these tests failed beside others and passed alone; each is a test to be mended:", flush=True)
        print(*failed, sep="\n", flush=True)
    return status


def failures() -> list[str]:
    """The names of the tests that failed in the run before."""
    return sorted(json.loads(FAILURES.read_text())) if FAILURES.exists() else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
