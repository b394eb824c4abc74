"""The benchmark of disjoint segments: z of what both have learnt, and its exit code."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "robots" / "segments.py"


@pytest.fixture
def segments(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("segments", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "segments", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(sys, "argv", ["segments", "--json"])
    return module


def test_z_is_of_what_both_have_learnt(segments: ModuleType) -> None:
    one, other = {"a": (5.0, 3.0), "b": (1.0, 1.0)}, {"c": (2.0, 1.0), "a": (-5.0, 4.0)}
    assert segments.apart(one, other) == pytest.approx([2.0])
    assert segments.covered(np.array([-2.0, 2.0, 2.1, 0.0])) == pytest.approx(75.0)


@pytest.mark.parametrize(("own", "across", "code"), [(1, 1, 0), (2, 1, 1), (1, 2, 1)])
def test_halves_of_one_recording_and_of_different_ones_are_asked_for_nine_of_ten(
    segments: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    own: int,
    across: int,
    code: int,
) -> None:
    found = [
        segments.Pair(name, np.where(np.arange(10) < outside, 3.0, 0.5), same)
        for name, outside, same in (("halves", own, True), ("two recordings", across, False))
    ]
    monkeypatch.setattr(segments, "pairs", lambda _: iter(found))
    assert segments.main() == code
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] == (code == 0)
    assert [row["covered"] for row in told["rows"]] == pytest.approx(2 * [100.0 - 10.0 * own, 100.0 - 10.0 * across])
