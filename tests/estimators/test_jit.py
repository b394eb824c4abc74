"""The disk cache of a kernel is tied to all the sources it is made of."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from estimators.numerics.jit import sources

ESTIMATORS = Path(__file__).parents[2] / "estimators"


def test_sources_follow_imports_within_the_package() -> None:
    found = {Path(path).name for path, _, _ in sources(ESTIMATORS / "resample.py")}
    assert found == {"resample.py", "rings.py", "clock.py", "unwrap.py", "base.py", "jit.py"}
    assert "viscous_coulomb.py" in {Path(path).name for path, _, _ in sources(ESTIMATORS / "joints" / "rigid.py")}


@pytest.mark.compiled
def test_a_changed_helper_is_not_taken_from_the_cache(tmp_path: Path) -> None:
    package = tmp_path / "estimators"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "jit.py").write_text((ESTIMATORS / "jit.py").read_text())
    (package / "user.py").write_text(
        "from estimators.helper import number\nfrom estimators.jit import kernel\n\n\n"
        "@kernel('i8()')\ndef answer():\n    return number()\n\n\n"
        "print(answer(), answer.stats.cache_hits.total())\n"
    )

    def run(value: int, stamp: int) -> str:
        helper = package / "helper.py"
        helper.write_text(
            f"from estimators.numerics.jit import inline\n\n\n@inline\ndef number():\n    return {value}\n"
        )
        os.utime(helper, (stamp, stamp))
        command = [sys.executable, "-c", "import estimators.user"]
        environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert run(1, 1_000) == "1 0"
    assert run(1, 1_000) == "1 1"
    assert run(2, 2_000) == "2 0"
