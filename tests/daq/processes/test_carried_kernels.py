"""A folder of kernels that was brought along says what it is for, and why it is not used."""

import json
from pathlib import Path

import pytest

from daq.processes.carried_kernels import MADE_FOR, fill, misfit
from daq.processes.kernels import ahead


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    fill(tmp_path, "sources")
    return tmp_path


def test_a_folder_that_was_filled_here_fits(folder: Path) -> None:
    assert misfit(folder, "sources") == ""


def test_no_folder_is_no_misfit(tmp_path: Path) -> None:
    assert misfit(tmp_path / "none", "sources") is None


@pytest.mark.parametrize("key", ["processor", "python", "numba", "sources"])
def test_what_is_different_is_named(folder: Path, key: str) -> None:
    made_for = json.loads((folder / MADE_FOR).read_text())
    (folder / MADE_FOR).write_text(json.dumps(made_for | {key: "another"}))
    why = misfit(folder, "sources")
    assert why is not None
    assert "another" in why
    assert made_for[key] in why


@pytest.mark.parametrize("text", ["", "[]", "{}", "7"])
def test_a_folder_that_says_nothing_of_itself_does_not_fit(folder: Path, text: str) -> None:
    (folder / MADE_FOR).write_text(text)
    assert "cannot be read" in (misfit(folder, "sources") or "")


def test_a_first_start_compiles_nothing_with_kernels_that_fit_and_says_why_others_do_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    compiled: list[str] = []
    monkeypatch.setattr("daq.processes.kernels._compile", lambda roots, _: len(compiled.extend(roots) or ()))
    monkeypatch.setattr("daq.processes.kernels._mark", lambda root: folder / "no-mark" / root)
    monkeypatch.setattr("daq.processes.kernels.sources", lambda: "sources")
    monkeypatch.setattr("jointwatch_numba.compiled.CARRIED", folder)
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    ahead(["estimators.base"], said.append)
    assert said == []
    (folder / MADE_FOR).write_text("{}")
    ahead(["estimators.base"], said.append)
    assert "are not used" in said[0]
    assert "first start" in said[1]
