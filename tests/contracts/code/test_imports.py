"""What processes and the page import. The contracts between the rooms are checked by `make check`."""

import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

ROOT = Path(__file__).parents[3]


def test_the_modules_of_the_page_import_without_a_circle() -> None:
    folder = ROOT / "daq" / "outlet" / "dashboard"
    files = [*folder.glob("*.js"), *(folder / "views").glob("*.js")]
    imports = {
        file: {(file.parent / name).resolve() for name in re.findall(r'from "([./\w]+\.js)"', file.read_text("utf-8"))}
        for file in files
    }
    order = list(TopologicalSorter(imports).static_order())  # raises CycleError
    assert set(order) == imports.keys(), "every import is a file"
    assert order[-1] == folder / "main.js"


WEB: Final = {"uvicorn", "starlette", "prometheus_client"}
CAN: Final = {"can", "cantools", "serial"}
# numba imports scipy itself, but none of its rooms as long as nothing is compiled
SCIPY: Final = {f"scipy.{room}" for room in ("linalg", "signal", "stats", "interpolate", "optimize", "special", "io")}
# what numba imports where it is installed
OTHERS: Final = {"coverage", "yaml"}
# what processes of a service, and the commands that are run most, do not import: memory, and time at every start
NEVER: Final = {
    "daq.commands.check": {*SCIPY, *OTHERS, *WEB, *CAN, "rich", "mcap"},
    "daq.core.process": {*SCIPY, *OTHERS, *WEB, *CAN, "rich", "mcap"},
    "daq.outlet.process": {*SCIPY, *OTHERS, *CAN, "rich", "mcap"},
    "daq.recording.process": {*SCIPY, *OTHERS, *WEB, *CAN, "rich"},
    "daq.processes.driver": {*SCIPY, *OTHERS, *WEB, *CAN, "rich", "mcap"},
    "daq.commands.recordings.replay": {*SCIPY, *OTHERS, *WEB, "rich"},
    "daq.commands.recordings.export": {*SCIPY, *OTHERS, *WEB, *CAN, "rich", "pyarrow"},
}
# a line for each module, imported in a fork of an interpreter that has imported what all of them import
LOADED: Final = """
import importlib, os, sys
import numpy, pydantic, daq.config.load
for module in sys.argv[1:]:
    if os.fork() == 0:
        importlib.import_module(module)
        print(*{".".join(name.split(".")[:depth]) for name in sys.modules for depth in (1, 2)}, flush=True)
        os._exit(0)
    if os.wait()[1] != 0:
        sys.exit(module)
"""


@pytest.fixture(scope="module")
def loaded() -> dict[str, set[str]]:
    """What is imported with each module."""
    command = [sys.executable, "-c", LOADED, *NEVER]
    lines = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return {module: {*line.split()} for module, line in zip(NEVER, lines, strict=True)}


@pytest.mark.parametrize("module", NEVER)
def test_a_process_imports_only_what_it_uses(loaded: dict[str, set[str]], module: str) -> None:
    assert ".".join(module.split(".")[:2]) in loaded[module], "it was imported"
    assert not NEVER[module].intersection(loaded[module])


INTERPRETED: Final = """
import sys
from daq.__main__ import main
sys.argv = ["jointwatch", *sys.argv[1:]]
main()
print(*{name.partition(".")[0] for name in sys.modules})
"""


def test_check_finds_a_configuration_good_without_numba() -> None:
    command = [sys.executable, "-c", INTERPRETED, "check", str(ROOT / "daq" / "jointwatch.toml")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "good" in done.stderr
    assert not {"numba", "llvmlite"}.intersection(done.stdout.split())
