"""The import directions of the house are a test, not a wish."""

import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_import_contracts_hold() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


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
