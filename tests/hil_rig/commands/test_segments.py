"""The benchmark of disjoint segments: z of what both have learnt, and its exit code."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "segments.py"


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


@pytest.mark.parametrize(("outside", "code"), [(1, 0), (2, 1)])
def test_only_halves_of_one_recording_are_asked_for_nine_of_ten(
    segments: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], outside: int, code: int
) -> None:
    own, across = np.where(np.arange(10) < outside, 3.0, 0.5), np.full(10, 5.0)
    found = [segments.Pair("halves", own, True), segments.Pair("two recordings", across, False)]
    monkeypatch.setattr(segments, "pairs", lambda _: iter(found))
    assert segments.main() == code
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] == (code == 0)
    assert [row["covered"] for row in told["rows"]] == pytest.approx([100.0 - 10.0 * outside, 0.0, 100 - 10 * outside])
