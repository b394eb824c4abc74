"""Exit codes of every command, and the one line on stderr that says why; stdout is data."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

EXIT_RUNTIME: Final = 1
EXIT_USAGE: Final = 2
EXIT_CONFIG: Final = 78


def fail(why: object, code: int = EXIT_RUNTIME) -> int:
    """Say why the command cannot do what it was asked for."""
    print(f"jointwatch: {why}", file=sys.stderr)
    return code


def tell_breaks(files: Iterable[Path]) -> None:
    """Say of recordings that break off where: what stands before counts. Raises RecordingError."""
    from daq.recording.reader import break_of  # a second, which nothing else here needs

    for words in filter(None, map(break_of, files)):
        print(f"jointwatch: {words}; everything before that was read", file=sys.stderr)


def refuse(mistakes: Exception) -> int:
    """Show every mistake of a configuration, each with its file and line."""
    print(mistakes, file=sys.stderr)
    return EXIT_CONFIG
