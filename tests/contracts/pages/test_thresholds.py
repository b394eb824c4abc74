"""Each number that decides something live is declared, and docs/thresholds.md is what the declarations say."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("thresholds", ROOT / "tests" / "support" / "thresholds.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


thresholds = load()


def written(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> Path:
    monkeypatch.setattr(thresholds, "ROOT", folder)
    file = folder / "one.py"
    file.write_text(text, "utf-8")
    return file


def test_the_page_is_what_the_source_declares() -> None:
    assert thresholds.PAGE.read_text("utf-8") == thresholds.page(), f"run `{thresholds.COMMAND}`"


def test_no_number_of_the_live_rooms_is_without_a_declaration_or_a_name() -> None:
    found = [line for inside in thresholds.files().values() for file in inside for line in thresholds.undeclared(file)]
    assert found == []


def test_what_the_lists_except_is_there() -> None:
    for name in {*thresholds.NO_THRESHOLD, *thresholds.FORMULAS}:
        assert (ROOT / name).is_file(), name


def test_a_declaration_is_unit_basis_and_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, monkeypatch, "#: s, argued: A reversal\n#: is shorter.\nREST: Final = 0.2\n")
    assert thresholds.declared(file) == [
        thresholds.Threshold("REST", "0.2", "s", "argued", "A reversal is shorter.", "one.py")
    ]
    assert list(thresholds.undeclared(file)) == []


def test_the_default_of_a_setting_is_a_threshold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, monkeypatch, "class Alarm(Settings):\n    memory: float = 60.0\n    kind: str = 'alarm'\n")
    assert list(thresholds.undeclared(file)) == ["one.py:2: Alarm.memory has no declaration"]


@pytest.mark.parametrize("text", ["REST = 0.2", "REST: Final = 3 * OTHER", "# s, argued: A reversal.\nREST = 2"])
def test_a_constant_without_a_declaration_is_found(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = thresholds.undeclared(written(tmp_path, monkeypatch, text))
    assert found.endswith("REST has no declaration")


@pytest.mark.parametrize("text", ["    return x < 0.3", "    y: float = max(x, 1e-4)"])
def test_a_bare_number_in_a_function_is_found(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = thresholds.undeclared(written(tmp_path, monkeypatch, f"def f(x):\n{text}\n"))
    assert found.endswith("in f has no name")


def test_a_default_argument_is_found_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = thresholds.undeclared(
        written(tmp_path, monkeypatch, "def f(patience=0.3):\n    return 0.5 * patience\n")
    )
    assert found == "one.py:1: 0.3 in f has no name"


def test_a_declaration_that_cannot_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="REST: expected"):
        thresholds.declared(written(tmp_path, monkeypatch, "#: s, guessed: So.\nREST = 0.2\n"))
