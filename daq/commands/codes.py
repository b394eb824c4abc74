"""The exit codes of all commands, and the line on stderr that gives the reason; stdout is for data."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

EXIT_RUNTIME: Final = 1
EXIT_USAGE: Final = 2
EXIT_CONFIG: Final = 78
EXIT_INTERRUPTED: Final = 130  # by Ctrl-C, as shells count


def fail(why: object, code: int = EXIT_RUNTIME) -> int:
    """Print why the command failed; returns the exit code."""
    print(f"jointwatch: {why}", file=sys.stderr)
    return code


def tell_breaks(files: Iterable[Path]) -> None:
    """Report recordings that break off, and where; everything before is used. Raises RecordingError."""
    from daq.recording.reader import break_of  # the import takes a second, and nothing else here needs it

    for words in filter(None, map(break_of, files)):
        tell_break(words)


def tell_break(words: str) -> None:
    """Report a recording that breaks off. words: of break_of."""
    print(f"jointwatch: {words}; everything before that was read", file=sys.stderr)


def to_answer(questions: int) -> str:
    """Tell the user what to do with a proposal that has questions."""
    return "answer the line marked ASK" if questions == 1 else f"answer the {questions} lines marked ASK"


def refuse(mistakes: Exception) -> int:
    """Print every mistake of a configuration with its file and line; returns the exit code."""
    print(mistakes, file=sys.stderr)
    return EXIT_CONFIG
