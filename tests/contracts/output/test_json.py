"""Every command that has --json is run with it, and what it prints is JSON; a new one without an example fails."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgpack
import numpy as np
import pytest
import zmq

from daq.__main__ import COMMANDS
from hil_rig.commands.reproduce import PROGRAMS
from hil_rig.plants.recording import DATA
from hil_rig.ports import free_port

ROOT = Path(__file__).parents[3]
OPTION: Final = re.compile(r"\"--json\"")

URDF = (
    '<robot name="one"><link name="base"/><link name="arm"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>'
    '<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="elbow" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>'
    '<limit lower="-3" upper="3" velocity="4" effort="90"/></joint></robot>'
)
LINES: Final = ("replay",)  # one object a line


def motion() -> np.ndarray:
    """Time, position, torque of one joint."""
    t = np.arange(0.0, 16.0, 2e-3)
    w = 2 * np.pi * np.array([[0.5], [1.3]])
    a = np.array([[0.5], [0.3]])
    q, v, acc = (a * np.sin(w * t)).sum(0), (a * w * np.cos(w * t)).sum(0), (-a * w**2 * np.sin(w * t)).sum(0)
    return np.column_stack([t, q, 0.2 * acc + 1.0 * v + 0.7 * np.sign(v) + 2.0 * np.sin(q)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("json")
    for name in ("a.csv", "b.csv"):
        head = "time,elbow.position,elbow.torque"
        np.savetxt(folder / name, motion(), delimiter=",", header=head, comments="")
    (folder / "one.urdf").write_text(URDF)
    columns = '[joints.elbow]\nposition = { column = "elbow.position" }\ntorque = { column = "elbow.torque" }\n'
    (folder / "columns.toml").write_text('time = "time"\n' + columns)
    return folder


EXAMPLES: Final[dict[str, tuple[str, ...]]] = {
    "replay": ("a.csv", "columns.toml"),
    "skew": ("a.csv",),
    "identify": ("one.urdf", "a.csv"),
    "fleet": ("identify", "a.csv", "--workers", "0", "--no-skew"),
}
ELSEWHERE: Final = {  # where it needs a service or a source tree of its own, the test that runs it
    "listen": "tests/contracts/output/test_json.py",
    "bench": "tests/hil_rig/commands/test_bench.py",
    "reproduce": "tests/contracts/output/test_json.py",
    "doctor": "tests/daq/commands/test_doctor.py",
    "decode": "tests/daq/commands/recordings/test_decode.py",
    "excite": "tests/daq/commands/test_excite.py",
    "clearance": "tests/daq/commands/identify/test_clearance.py",
    "model": "tests/daq/commands/test_model.py",
    "history": "tests/daq/commands/test_history_commands.py",
    "compare": "tests/daq/commands/test_history_commands.py",
    "rig": "tests/contracts/families/test_rigs.py",
}


OF_RECORDINGS: Final = ("emps-laws", "xl330", "sea")
MECHANISMS: Final = "tests/hil_rig/papers/test_mechanisms.py"
TWO_ENCODERS: Final = "tests/hil_rig/papers/double_encoder_robot/test_judge.py"
REPRODUCED: Final = {  # the tests that run each of the others with --json
    "emps": "tests/end_to_end/test_live.py",
    "search": "tests/hil_rig/papers/searches/test_reproduce_search.py",
    "irj-case1": "tests/hil_rig/papers/space_joint/test_reproduce_irj.py",
    "irj-case2": "tests/hil_rig/papers/space_joint/test_reproduce_irj.py",
    **dict.fromkeys(("pointing", "clearance", "tree", "closed-chain", "lost-motion"), MECHANISMS),
    **dict.fromkeys(("double-encoder-robot", "er16"), TWO_ENCODERS),
}


def source(command: str) -> str:
    module = COMMANDS[command][0]
    path = ROOT.joinpath(*module.split("."))
    return (path / "__main__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")


WITH = sorted(command for command in COMMANDS if OPTION.search(source(command)))


def test_every_command_with_json_is_run_with_it() -> None:
    assert [command for command in WITH if command not in EXAMPLES and command not in ELSEWHERE] == []
    for command, place in ELSEWHERE.items():
        assert "--json" in (ROOT / place).read_text(encoding="utf-8"), command


@pytest.mark.compiled
@pytest.mark.parametrize("command", sorted(EXAMPLES.keys() - ELSEWHERE.keys()))
def test_what_is_printed_is_json(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, run_program: Callable[..., Any]
) -> None:
    monkeypatch.chdir(folder)
    done = run_program("daq", command, *EXAMPLES[command], "--json")
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr
    for text in done.stdout.splitlines() if command in LINES else [done.stdout]:
        json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_every_reproduction_is_run_with_json() -> None:
    assert PROGRAMS.keys() == REPRODUCED.keys() | set(OF_RECORDINGS)
    for name, place in REPRODUCED.items():
        text = (ROOT / place).read_text(encoding="utf-8")
        assert "--json" in text, name
        assert f'"{name}"' in text or place.endswith(f"_{name}.py"), name


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason=f"the recordings are not at {DATA}")
@pytest.mark.parametrize("name", OF_RECORDINGS)
def test_a_reproduction_of_a_recording_prints_json(name: str, run_program: Callable[..., Any]) -> None:
    done = run_program(f"hil_rig.papers.{PROGRAMS[name]}", "--json")  # what the command runs
    assert "Traceback" not in done.stderr
    told = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert done.returncode == (0 if told["ok"] else 1)
    assert told.keys() == {"figures", "words", "ok"}


def test_listen_prints_json_even_of_what_is_not_known(start_program: Callable[..., Any]) -> None:
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    update = {"timestamp": 1.0, "seq": 0, "boot": 1, "joint": "elbow", "error": float("nan")}
    with (
        zmq.Context() as context,
        context.socket(zmq.PUB) as publisher,
    ):
        publisher.bind(endpoint)
        listening = start_program("daq", "listen", "--endpoint", endpoint, "--json", "--count", "1")
        end = time.monotonic() + 300
        while listening.poll() is None and time.monotonic() < end:
            publisher.send_multipart((b"estimate/elbow", msgpack.packb(update)))
            time.sleep(0.05)  # twenty a second, as a joint may
        listening.kill()
        assert listening.stdout is not None
        told = json.loads(listening.stdout.read(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert told == update | {"topic": "estimate/elbow", "error": None}
