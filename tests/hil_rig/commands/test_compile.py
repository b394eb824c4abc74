"""`jointwatch compile` reaches every kernel there is."""

import json
import subprocess
import sys
from pathlib import Path

from hil_rig.commands.compile import LIVE, REFIT

ROOT = Path(__file__).parents[3]


def loaded(modules: tuple[str, ...]) -> set[str]:
    program = f"import json, sys\nfor name in {modules}: __import__(name)\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True, cwd=ROOT)
    return set(json.loads(done.stdout))


def with_kernels() -> set[str]:
    files = (file for top in ("drivers", "estimators", "hil_rig") for file in (ROOT / top).rglob("*.py"))
    return {
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for file in files
        if any(line.startswith("@kernel(") for line in file.read_text(encoding="utf-8").splitlines())
    }


def test_every_kernel_is_compiled_by_it() -> None:
    assert with_kernels() <= loaded(sum((*LIVE, *REFIT), ()))


def test_the_live_path_without_nonlinear_parameters_needs_no_more_than_its_part() -> None:
    live = loaded(("daq.core.process", "daq.processes.driver", "daq.outlet.process", "hil_rig.__main__"))
    assert with_kernels() & live <= loaded(sum(LIVE, ()))
