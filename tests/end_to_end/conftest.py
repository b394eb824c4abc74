"""What live tests share, and guests of User-Mode-Linux."""

import os
import subprocess
from pathlib import Path

import pytest

WHOLE_XSTATE = Path(__file__).with_name("whole_xstate.c")


@pytest.fixture(autouse=True)
def _forked(forked_programs: None) -> None:
    """Rigs and services start at once."""


@pytest.fixture(scope="session")
def whole_registers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment in which ptrace takes registers of any length, as the guest needs on a processor with AMX."""
    library = tmp_path_factory.mktemp("preload") / "whole_xstate.so"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", library, WHOLE_XSTATE, "-ldl"]
    subprocess.run(command, check=True)
    return os.environ | {"LD_PRELOAD": str(library)}
