"""`jointwatch reproduce double-encoder-robot` and `er16`: whole programs; minutes each, hence slow."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.compiled]


@pytest.mark.parametrize(("name", "evaluations"), [("double-encoder-robot", 600), ("er16", 400)])
def test_it_judges_every_figure_and_draws(name: str, evaluations: int, tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'jointwatch[learned]'")
    picture = tmp_path / "plot.png"
    words = [sys.executable, "-m", "daq", "reproduce", name, "--json", "--plot", str(picture)]
    done = subprocess.run([*words, "--evaluations", str(evaluations)], capture_output=True, text=True)
    said = json.loads(done.stdout)
    assert done.returncode == (0 if said["ok"] else 1)
    assert len(said["figures"]) > 25
    assert picture.stat().st_size > 10_000
    by_name = {row["name"]: row for row in said["figures"]}
    if name == "er16":
        wanted = [row for row in by_name if "projection" in row or "bent / linear" in row or "limit checker" in row]
    else:
        wanted = [row for row in by_name if row.startswith(("friction both ways", "(a)", "(b)", "(c)", "full Ω"))]
    assert len(wanted) > 8
    assert [row for row in wanted if not by_name[row]["ok"]] == [], "whatever the short search of a trajectory found"
