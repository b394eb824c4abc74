"""`jointwatch compile` compiles what it is asked for, and a first start finds it."""

import sys
from pathlib import Path

import pytest

from daq.processes.carried_kernels import misfit
from daq.processes.kernels import ahead, sources
from drivers.can.bus import CanBusSettings
from hil_rig.commands.compile import LIVE, main


@pytest.mark.parametrize("words", [["compile"], ["compile", "--live"]])
def test_what_the_command_has_compiled_is_not_compiled_by_a_first_start(
    words: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("hil_rig.commands.compile.jobs", lambda roots: {frozenset({"hil_rig.messages"}): set()})
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.setattr(sys, "argv", words)
    assert main() == 0
    capfd.readouterr()
    ahead(LIVE)
    assert capfd.readouterr().err == ""


def test_the_wire_of_the_demo_needs_no_other_kernels() -> None:
    settings = CanBusSettings.model_construct(interface="slcan")
    assert set(settings.modules()) <= set(LIVE)


def test_kernels_are_copied_into_a_folder_that_fits(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("hil_rig.commands.compile.jobs", lambda roots: {frozenset({"hil_rig.messages"}): set()})
    monkeypatch.setattr(sys, "argv", ["compile", "--into", str(tmp_path / "kernels")])
    assert main() == 0
    assert f"are in {tmp_path / 'kernels'}" in capfd.readouterr().err
    assert misfit(tmp_path / "kernels", sources()) == ""
    (tmp_path / "file").touch()
    monkeypatch.setattr(sys, "argv", ["compile", "--into", str(tmp_path / "file")])
    assert main() == 1
    assert str(tmp_path / "file") in capfd.readouterr().err


def test_modules_that_fail_are_not_said_to_be_compiled(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("hil_rig.commands.compile.jobs", lambda roots: {frozenset({"hil_rig.no_such_module"}): set()})
    monkeypatch.setattr(sys, "argv", ["compile"])
    assert main() == 1
    said = capfd.readouterr().err
    assert "hil_rig.no_such_module" in said
    assert "are missing" in said
    assert "kernels compiled, in" not in said
