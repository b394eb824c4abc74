"""Names on a command line that are none: refused with the nearest one."""

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
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


def test_an_option_that_there_is_not_is_refused_by_the_command_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["report", "arm.mcap", "--outt", "arm.html"])
    told = capsys.readouterr().err
    assert stopped.value.code == 2
    assert told.startswith("usage: jointwatch report ")
    assert told.endswith('found the unknown arguments --outt arm.html; did you mean "--out"?\n')


def test_so_does_a_program_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments_of_demo().parse_args(["--pag", "1", "--port=2"])  # the first is short for --page
    assert capsys.readouterr().err.endswith("found the unknown arguments --port=2\n")


def test_help_compiles_nothing(tmp_path: Path) -> None:
    """On a first start it would else take two minutes to be told how a command is called."""
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-m", "daq", "identify", "--help"], capture_output=True, text=True, check=True, timeout=300,
        cwd=root, env=os.environ | {"PYTHONPATH": str(root), "NUMBA_CACHE_DIR": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout.startswith("usage: jointwatch identify ")
    assert not list(tmp_path.rglob("*.nb?"))


def test_a_demo_says_which_port_is_in_use_before_it_starts_anything() -> None:
    root = Path(__file__).parents[3]
    with socket.create_server(("127.0.0.1", 0)) as other:
        page = f"http://127.0.0.1:{other.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, "-m", "hil_rig.commands.demo", "--page", page], capture_output=True, text=True,
            check=False, timeout=300, cwd=root,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"jointwatch demo: {page} is in use, perhaps by another demo; choose a free address with --page, "
    )


INTERRUPTED = {
    "columns": "columns: interrupted: what was printed is not complete",
    "replay": "replay: interrupted: what was printed is not complete",
    "skew": "skew: interrupted: what was printed is not complete",
    "report": "report: interrupted: {folder}/arm.html is not written, or not complete",
    "export": "export: interrupted: the tables in {folder}/arm are not complete",
}


@pytest.mark.parametrize("command", INTERRUPTED)
def test_ctrl_c_ends_a_command_at_once_with_one_line(command: str, tmp_path: Path) -> None:
    """The recording is a pipe without a writer: whoever opens it waits until the end, as after a dead network disk."""
    kind = "mcap" if command in ("report", "export") else "csv"
    os.mkfifo(recording := tmp_path / f"arm.{kind}")
    table = tmp_path / "arm.columns.toml"
    table.write_text('time = "t"\n[joints.elbow]\nposition.column = "q"\ntorque.column = "u"\n')
    words = [command, str(recording), *([str(table)] if command in ("replay", "skew") else [])]
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-m", "daq", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=root, env=os.environ | {"PYTHONPATH": str(root)},
    ) as running:  # fmt: skip
        _wait_until_it_opens(running.pid, recording)
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=120)  # it would wait for its recording for ever
    assert told.splitlines()[-1] == f"jointwatch: {INTERRUPTED[command].format(folder=tmp_path)}"
    assert "Traceback" not in told
    assert running.returncode == 130


def _wait_until_it_opens(pid: int, pipe: Path) -> None:
    """Wait until a process waits for a pipe's writer: the kernel says where it sleeps."""
    for _ in range(3000):
        if Path(f"/proc/{pid}/wchan").read_text(encoding="utf-8") == "wait_for_partner":
            return
        time.sleep(0.1)
    raise AssertionError(f"{pipe} is not opened")
