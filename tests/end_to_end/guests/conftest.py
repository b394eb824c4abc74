"""What guests of User-Mode-Linux share."""

import os
import subprocess
from pathlib import Path

import pytest

WHOLE_XSTATE = Path(__file__).with_name("whole_xstate.c")


@pytest.fixture(scope="session")
def whole_registers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment in which ptrace takes registers of any length, as the guest needs on a processor with AMX."""
    library = tmp_path_factory.mktemp("preload") / "whole_xstate.so"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", library, WHOLE_XSTATE, "-ldl"]
    subprocess.run(command, check=True)
    return os.environ | {"LD_PRELOAD": str(library)}
