"""Names on a command line that are none: refused with the nearest one."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from daq.__main__ import main
from daq.commands.command_line import CommandLine
from hil_rig.__main__ import parser_of_rig
from hil_rig.commands.demo import arguments_of_demo
from hil_rig.commands.reproduce import arguments_of_reproduce


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["excit"], "excite"),
        (["excite", "arm.urdf", "--limits", "x.toml", "--search", "cukoo"], "cuckoo"),
        (["excite", "arm.urdf", "--limits", "x.toml", "--search", "chaotic_cuckoo"], "chaotic-cuckoo"),
        (["excite", "arm.urdf", "--limits", "x.toml", "--objective", "blok"], "block"),
        (["identify", "arm.urdf", "--friction", "bearings"], "bearing"),
        (["identify", "arm.urdf", "--compensation", "mixtur"], "mixture"),
        (["model", "export", "arm.model.toml", "--to", "mjfc"], "mjcf"),
    ],
)
def test_a_name_that_is_none_is_refused_with_the_nearest_one(
    words: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    assert f'did you mean "{meant}"?' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("parser", "words", "meant"),
    [
        (arguments_of_reproduce, ["er61"], "er16"),
        (parser_of_rig, ["two_mas"], "two_mass"),
        (arguments_of_demo, ["--wire", "seral"], "serial"),
    ],
)
def test_so_are_those_of_rigs_and_reproductions(
    parser: "type[argparse.ArgumentParser]", words: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(words)
    assert f'did you mean "{meant}"?' in capsys.readouterr().err


def test_a_name_that_is_like_none_is_refused_with_all_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    parser = CommandLine()
    parser.add_argument("--search", choices=["mcs", "cma"])
    with pytest.raises(SystemExit):
        parser.parse_args(["--search", "zzzzz"])
    told = capsys.readouterr().err
    assert "'mcs', 'cma'" in told
    assert "did you mean" not in told


def test_a_full_disk_behind_stdout_is_one_sentence() -> None:
    """Half a table of columns looks like a whole one."""
    root = Path(__file__).parents[3]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "daq", "reasons"], stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            cwd=root, env=os.environ | {"PYTHONPATH": str(root)},
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "jointwatch: reasons: what was printed is not complete: No space left on device\n"
