"""Commands called as functions, for tests that do not depend on a process of its own."""

import contextlib
import io
import logging
import subprocess
from collections.abc import Iterator

from daq.__main__ import main


@contextlib.contextmanager
def log_handlers_restored() -> Iterator[None]:
    """What the log is written to is as before: a command that sets up its log would leave a stream that is closed."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = before
        root.setLevel(level)


def called(*words: object) -> "subprocess.CompletedProcess[str]":
    """Run `jointwatch WORDS` in this process; returns its output and exit code."""
    arguments = list(map(str, words))
    out, err = io.StringIO(), io.StringIO()
    with log_handlers_restored(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())
