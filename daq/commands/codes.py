"""Exit codes of every command, and the one line on stderr that says why; stdout is data."""

import sys
from typing import Final

EXIT_RUNTIME: Final = 1
EXIT_USAGE: Final = 2
EXIT_CONFIG: Final = 78


def fail(why: object, code: int = EXIT_RUNTIME) -> int:
    """Say why the command cannot do what it was asked for."""
    print(f"jointwatch: {why}", file=sys.stderr)
    return code


def refuse(mistakes: Exception) -> int:
    """Show every mistake of a configuration, each with its file and line."""
    print(mistakes, file=sys.stderr)
    return EXIT_CONFIG
