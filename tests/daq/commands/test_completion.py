"""A shell completes commands and their arguments."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("argcomplete", reason="needs argcomplete: pip install 'jointwatch[completion]'")


def completions(line: str) -> list[str]:
    """What argcomplete's protocol answers to a shell for this line, the cursor at its end."""
    reading, writing = os.pipe()
    environment = os.environ | {
        "_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_STDOUT_FILENAME": f"/dev/fd/{writing}",
        "COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
    }  # fmt: skip
    words = [sys.executable, "-m", "daq"]
    subprocess.run(words, env=environment, pass_fds=(writing,), timeout=300, check=False, capture_output=True)
    os.close(writing)
    with os.fdopen(reading) as answer:
        return [word.strip() for word in answer.read().splitlines()]


def test_commands_and_their_arguments_are_completed() -> None:
    assert {"check", "run", "doctor", "rig"} <= set(completions("jointwatch "))
    assert completions("jointwatch ba") == ["baseline"]
    assert {"--endpoint", "--topic", "--json", "--key", "--server-key", "--count"} <= set(
        completions("jointwatch listen --")
    )
