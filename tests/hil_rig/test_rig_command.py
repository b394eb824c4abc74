"""`jointwatch rig`: time, readers that come and go, the end, and what it says about mistakes."""

import json
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import serial

from hil_rig.__main__ import main
from hil_rig.wire.player import HOLD

pytestmark = pytest.mark.compiled


class Rig:
    """One `jointwatch rig` on a serial wire."""

    def __init__(self, start_program: Callable[..., Any], *words: str) -> None:
        self.process = start_program("hil_rig", *words, "--json", "--wire", "serial")
        self.hello = self.line()

    def line(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(self.process.stdout.readline())
        return said

    def reader(self) -> serial.Serial:
        return serial.Serial(self.hello["device"], 3_000_000, timeout=0.05)

    def stop(self, number: int = signal.SIGTERM) -> dict[str, Any]:
        self.process.send_signal(number)
        farewell = self.line()
        assert self.process.wait(60) == 0
        return farewell


@pytest.fixture
def rig(start_program: Callable[..., Any]) -> Callable[..., Rig]:
    return partial(Rig, start_program)


def read(port: serial.Serial, seconds: float) -> int:
    """Packets that came in this time."""
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        count += port.read(4096).count(b"\0")
    return count


def read_until(port: serial.Serial, packets: int) -> int:
    """As many packets; fewer when they do not come within a time that no machine needs."""
    end, count = time.monotonic() + 60, 0
    while count < packets and time.monotonic() < end:
        count += port.read(4096).count(b"\0")
    return count


@pytest.fixture
def recording(tmp_path: Path) -> list[str]:
    t = np.arange(1500) / 1000
    np.savez(tmp_path / "run.npz", t=t, qm=np.sin(t), vir=np.cos(t))
    return ["recording", "--file", str(tmp_path / "run.npz")]


@pytest.mark.parametrize("speed", [1.0, 4.0])
def test_it_keeps_time(rig: Callable[..., Rig], speed: float) -> None:
    one = rig("rigid", "--speed", str(speed))
    with one.reader() as port:
        assert read_until(port, 1) >= 1
        paces = []
        while not paces or (not 0.5 < paces[-1] < 1.1 and len(paces) < 20):  # where either got no processor: once more
            began = time.monotonic()
            count = read(port, 1.5)
            paces.append(count / (1000 * speed * (time.monotonic() - began)))
        assert 0.5 < paces[-1] < 1.1, paces


def test_what_comes_late_comes_in_a_burst_and_is_counted(rig: Callable[..., Rig]) -> None:
    for _ in range(10):
        one = rig("rigid")
        with one.reader() as port:
            assert read_until(port, 100) >= 100
            one.process.send_signal(signal.SIGSTOP)
            time.sleep(0.5)  # how late it shall be
            one.process.send_signal(signal.SIGCONT)
            read_until(port, 600)  # all that is late, and some that is not
            farewell = one.stop()
        if farewell["latest"] < 1.4 and not farewell["refused"]:
            break  # else once more: beyond the backlog of 1.5 s on a machine that stands still
    assert farewell["late"] > 300
    assert farewell["latest"] > 0.4
    assert farewell["samples"] == farewell["sent"] + farewell["refused"] + farewell["unheard"]
    assert farewell["refused"] == 0, "half a second of samples fits"


def test_nothing_is_played_before_somebody_listens_and_time_goes_on_when_they_leave(rig: Callable[..., Rig]) -> None:
    one = rig("rigid")
    time.sleep(0.5)  # there is no listener: what it would play meanwhile would be counted
    with one.reader() as port:
        assert read_until(port, 50) >= 50
    time.sleep(2.0)  # of which 0.2 s must be played unheard
    with one.reader() as port:
        assert read_until(port, 50) >= 50
    farewell = one.stop()
    assert farewell["unheard"] > 200
    assert farewell["samples"] == farewell["sent"] + farewell["refused"] + farewell["unheard"]


def test_a_recording_is_played_whole_from_the_first_sample_held_and_left(
    rig: Callable[..., Rig], recording: list[str]
) -> None:
    late = True
    while late:  # where this got no processor while the line was open: once more
        one = rig(*recording, "--speed", "5")
        time.sleep(0.3)  # as long as the whole recording lasts at this speed
        with one.reader() as port:
            began = time.monotonic()
            read_it, runs = read_until(port, 1500), one.process.poll() is None
            late = time.monotonic() - began > 0.3 + 0.5 * HOLD
            assert one.process.wait(60) == 0
    assert read_it == 1500
    assert runs, "the line is held open for a moment"
    assert one.line().items() >= {"samples": 1500, "sent": 1500, "refused": 0, "unheard": 0}.items()


def test_as_fast_as_the_wire_takes_it_loses_nothing(rig: Callable[..., Rig], recording: list[str]) -> None:
    one = rig(*recording, "--speed", "inf")
    with one.reader() as port:
        time.sleep(0.5)  # a reader that is busy elsewhere: the rig must wait for it
        assert read_until(port, 1500) == 1500
        assert read(port, 0.2) == 0


def test_a_loop_has_no_end(rig: Callable[..., Rig], recording: list[str]) -> None:
    one = rig(*recording, "--speed", "8", "--loop")
    with one.reader() as port:
        assert read_until(port, 3100) >= 3100
        assert one.process.poll() is None
    one.stop()


def test_one_joint_alone_is_set_and_jumps(rig: Callable[..., Rig]) -> None:
    words = ("--joints", "2", "--jump", "0.1:joint2.coulomb=1.5", "--set", "joint1.viscous=4")
    one = rig("rigid", *words)
    assert one.hello["parameters"]["joint1"]["viscous"] == 4
    assert one.hello["parameters"]["joint2"]["viscous"] != 4
    before = {name: truth["coulomb"] for name, truth in one.hello["truth"].items()}
    with one.reader() as port:
        assert read_until(port, 600) >= 600
        after = {name: truth["coulomb"] for name, truth in one.stop()["truth"].items()}
    assert after["joint1"] == before["joint1"]
    assert after["joint2"] == pytest.approx(1.5 * before["joint2"])


def test_a_jump_is_announced_and_changes_the_truth(rig: Callable[..., Rig]) -> None:
    one = rig("rigid", "--jump", "0.2:coulomb=1.5", "--set", "viscous=4", "--set", "trajectory.period=2")
    assert one.hello["jumps"] == [{"time": 0.2, "name": "coulomb", "factor": 1.5, "sets": False}]
    assert one.hello["truth"]["joint1"]["coulomb"] == 5.0
    assert one.hello["truth"]["joint1"]["viscous"] == 4.0
    with one.reader() as port:
        assert read_until(port, 300) >= 300
        assert one.stop()["truth"]["joint1"]["coulomb"] == 7.5


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_any_way_of_stopping_it_leaves_nothing_behind(rig: Callable[..., Rig], number: int, tmp_path: Path) -> None:
    one = rig("rigid", "--link", str(tmp_path / "robot"))
    assert (tmp_path / "robot").is_symlink()
    one.stop(number)
    assert not (tmp_path / "robot").is_symlink()


def test_it_survives_that_nobody_reads_what_it_says(start_program: Callable[..., Any]) -> None:
    one = start_program("hil_rig", "rigid", "--duration", "0.3")
    one.stdout.close()
    assert "Traceback" not in one.stderr.read()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "expected the name of a rig: two_mass, rigid, arm"),
        (["rigid", "--loop"], "--loop is for recordings only"),
        (["rigid", "--wire", "udp", "--speed", "inf"], "--speed inf needs a wire with flow control"),
        (["rigid", "--jump", "5:mass=2"], 'unknown parameter "mass", expected one of inertia, viscous'),
        (
            ["rigid", "--joints", "2", "--jump", "5:joint3.mass=2"],
            'unknown joint "joint3" in joint3.mass, expected one of joint1, joint2',
        ),
        (["rigid", "--joints", "2", "--set", "joint9.viscous=2"], "joint9.viscous: there is no joint9"),
        (["rigid", "--jump", "soon"], "expected T:NAME=FACTOR, found soon"),
        (
            ["rigid", "--set", "mass=2", "--set", "rate=-1"],
            "rate: Input should be greater than 0; mass: Extra inputs are",
        ),
        (["rigid", "--set", "trajectory.kind=round"], "trajectory.kind: Input should be 'velocity' or 'position'"),
        (["rigid", "--fault", "drop=much"], "fault drop: expected probability"),
        (["rigid", "--speed", "0"], "expected a positive number, found 0"),
        (["recording", "--file", "/nowhere.npz"], "/nowhere.npz does not exist"),
    ],
)
def test_a_mistake_is_one_clear_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code: Any = main(words)
    except SystemExit as ending:
        code = ending.code
    said = capsys.readouterr()
    assert code == 2
    assert message in said.err.strip().splitlines()[-1]
    assert said.out == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fault", "crc=0.1"], "expected the fault crc on serial only"),
        (["--config", "/nowhere/rig.toml"], "--config /nowhere/rig.toml: No such file or directory"),
    ],
)
def test_what_does_not_work_out_is_one_clear_line(
    words: list[str], message: str, run_program: Callable[..., Any]
) -> None:
    done = run_program("hil_rig", "rigid", *words)
    assert done.returncode == 1
    assert message in done.stderr.strip().splitlines()[-1]
    assert done.stdout == ""
