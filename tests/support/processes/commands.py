"""Commands called as functions, for tests that do not depend on a process of its own."""

import contextlib
import io
import subprocess

from daq.__main__ import main


def called(*words: object) -> "subprocess.CompletedProcess[str]":
    """Run `jointwatch WORDS` in this process; returns its output and exit code."""
    arguments = list(map(str, words))
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            code = main(arguments)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())
