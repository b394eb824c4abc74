"""`jointwatch replay` of recordings of a running service: the same to the bit, over files, restarts and refits."""

import contextlib
import json
import os
import shutil
import signal
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from daq.__main__ import main
from daq.recording.folder import recordings
from daq.recording.reader import RecordingError, before, blocks, said
from daq.replay.aligned import aligned
from estimators.refit.job import warm
from hil_rig.live import Live
from tests.support.processes.waiting import wait_until


class Done(NamedTuple):
    """Exit code and output of one `jointwatch replay`."""

    code: int
    out: str
    err: str


@pytest.fixture
def replay(capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    def run(*words: object) -> Done:
        code = main(["replay", *map(str, words)])
        return Done(code, *capsys.readouterr())

    return run


def recorder(folder: Path, duration: float) -> str:
    return f'\n[recorder]\nfolder = "{folder}"\nreserve = 0\nfile_duration = {duration}\n'


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, forked_programs: None) -> list[Path]:
    """Files of a second of two starts of the core; jointwatch.toml lies beside them."""
    folder = tmp_path_factory.mktemp("records")
    with Live(["rigid", "--joints", "2", "--wire", "udp"], more=recorder(folder, 1.0)) as live:
        wait_until(lambda: len(found := recordings(folder, "rigid")) >= 3 and len(list(blocks(found[-1]))) > 5)
        with urllib.request.urlopen(f"{live.page}/api/state", timeout=60) as response:
            os.kill(json.load(response)["processes"]["core"]["pid"], signal.SIGKILL)
        wait_until(lambda: len({block.boot for file in recordings(folder, "rigid")[2:] for block in blocks(file)}) == 2)
        wait_until(lambda: len(list(blocks(recordings(folder, "rigid")[-1]))) > 5)
        (folder / "jointwatch.toml").write_bytes(live.config.read_bytes())
        for dbc in live.config.parent.glob("*.dbc"):
            (folder / dbc.name).write_bytes(dbc.read_bytes())
    return recordings(folder, "rigid")


def test_every_file_says_the_same_to_the_bit(files: list[Path], replay: Callable[..., Done]) -> None:
    assert before(files[0]) == []
    assert before(files[2]) == files[:2]
    compared = []
    for file in files[2:]:  # the core was killed in one of them
        done = replay(file, file.with_name("jointwatch.toml"), "--check")
        assert done.code == 0, done.err
        compared.append(int(done.out.split()[0]))
        assert compared[-1] == sum("/" in one.topic for one in said(file))
    assert sum(compared) > 10, "a second of a loaded machine may have none"


def test_what_is_missing_or_changed_is_said(files: list[Path], tmp_path: Path, replay: Callable[..., Done]) -> None:
    alone = tmp_path / files[2].name
    alone.write_bytes(files[2].read_bytes())
    config = files[2].with_name("jointwatch.toml")
    done = replay(alone, config, "--check")
    assert done.code == 1
    assert "the updates cannot be compared: blocks 0 to" in done.err
    done = replay(alone, config)
    assert done.code == 0
    assert "the updates differ from the recorded ones" in done.err
    assert "joint2: " in done.out
    other = config.with_name("other.toml")
    other.write_text(config.read_text().replace("joint2", "joint3"))
    done = replay(alone, other)
    assert done.code == 1
    assert "expected the channels as recorded: joint2.position = " in done.err


def test_another_configuration_gives_other_updates(files: list[Path], replay: Callable[..., Done]) -> None:
    config = files[0].with_name("jointwatch.toml")
    other = config.with_name("slower.toml")
    other.write_text(config.read_text().replace("[publish]", "[publish]\nrate = 7.0"))
    done = replay(files[0], other, "--json")
    assert done.code == 0, done.err
    estimates = [json.loads(line)["timestamp"] for line in done.out.splitlines() if '"estimate/joint1"' in line]
    assert np.median(np.diff(estimates)) == pytest.approx(1 / 7, abs=0.02)
    done = replay(files[0], other, "--check")
    assert done.code == 1
    assert "equal updates, expected " in done.err


def described() -> str:
    """A robot of the rig's two joints, an upright swing each, that pull on each other."""
    link = '<link name="{0}"><inertial><origin xyz="0.2 0 0"/><mass value="{1}"/>'
    link += '<inertia ixx="0.02" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    joint = (
        '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="{3} 0 0" rpy="{4} 0 0"/>'
    )
    joint += '<axis xyz="0 0 1"/><limit lower="-3" upper="3"/></joint>'
    parts = [link.format("base", 1), link.format("one", 4), link.format("two", 2)]
    parts += [joint.format("joint1", "base", "one", 0, 1.5708), joint.format("joint2", "one", "two", 0.4, 0)]
    return f'<robot name="pair">{"".join(parts)}</robot>'


def topics_of(folder: Path) -> list[str]:
    """Topics of all messages in the files so far; none where a file is torn because it is being written."""
    with contextlib.suppress(RecordingError):
        return [one.topic for file in recordings(folder, "rigid") for one in said(file)]
    return []


def test_a_whole_robot_is_repeated_from_its_recording_alone(tmp_path: Path, replay: Callable[..., Done]) -> None:
    """Neither configuration nor model lie beside it."""
    begun, folder = tmp_path / "begun", tmp_path / "records"
    begun.mkdir()
    time_ = np.arange(600) / 100.0
    angle = 2.0 * np.pi * 0.4 * time_
    columns = [time_, np.sin(angle), 3.0 * np.cos(angle), np.cos(1.3 * angle), np.sin(1.3 * angle)]
    (begun / "pair.urdf").write_text(described())
    head = "time,joint1.position,joint1.torque,joint2.position,joint2.torque"
    np.savetxt(begun / "run.csv", np.column_stack(columns), delimiter=",", header=head, comments="")
    model = begun / "pair.model.toml"
    assert main(["identify", *map(str, (begun / "pair.urdf", begun / "run.csv")), "--out", str(model)]) == 0
    words = ["rigid", "--joints", "2", "--wire", "udp", "--model", str(model)]
    with Live(words, more=recorder(folder, 3600.0)) as live:
        wait_until(lambda: topics_of(folder).count("robot") > 10)
        live.config.unlink()
    shutil.rmtree(begun)
    [file] = recordings(folder, "rigid")
    done = replay(file, "--check")
    assert done.code == 0, done.err
    topics = topics_of(folder)
    told = done.out.splitlines()[-1]  # after what identify said
    assert int(told.split()[0]) == sum("/" in topic or topic == "robot" for topic in topics)


def test_what_is_no_recording_is_said(files: list[Path], tmp_path: Path, replay: Callable[..., Done]) -> None:
    (tmp_path / "x.mcap").write_bytes(b"\x89MCAP0\r\n" + b"rubbish" * 100)
    for wrong in (tmp_path / "x.mcap", tmp_path / "none.mcap"):
        done = replay(wrong, files[0].with_name("jointwatch.toml"))
        assert done.code == 1
        assert done.err.startswith(f"jointwatch: {wrong}: ")


def accepted(file: Path) -> bool:
    """Whether a refit is in a file that is being written: who reads across a write may see it torn."""
    with contextlib.suppress(RecordingError):
        return any(one.update.get("kind") == "refit_accepted" for one in said(file))
    return False


@pytest.mark.slow
@pytest.mark.compiled
def test_refits_count_when_they_did(tmp_path: Path, replay: Callable[..., Done]) -> None:
    warm()
    rig = ["two_mass", "--set", "identify=friction", "--jump", "20:nonlinear=1.2"]
    with Live(rig, more=recorder(tmp_path, 600.0)) as live:
        wait_until(lambda: len(recordings(tmp_path, "two_mass")) == 1)
        (file,) = recordings(tmp_path, "two_mass")
        wait_until(lambda: accepted(file), 120.0)
        begun = len(list(blocks(file)))
        wait_until(lambda: len(list(blocks(file))) > begun + 1)  # what the refit changed is said
        config = tmp_path / "jointwatch.toml"
        config.write_bytes(live.config.read_bytes())
        for dbc in live.config.parent.glob("*.dbc"):
            (tmp_path / dbc.name).write_bytes(dbc.read_bytes())
    assert sum(len(batch.refits) for block in blocks(file) for batch in block.batches)
    done = replay(file, config, "--check")
    assert done.code == 0, done.err


def test_samples_of_a_recording_stand_on_the_devices_clock_and_not_on_arrival(files: list[Path]) -> None:
    series = aligned(files[0])["joint2"]["position"]
    known = np.isfinite(series.values)
    assert known.mean() > 0.9
    steps = np.diff(series.time[known])
    arrivals = np.concatenate([block.readings["time"] for block in blocks(files[0])]) * 1e-9
    assert np.median(steps) == pytest.approx(1e-3, rel=0.1)
    assert np.percentile(steps, 95) - np.percentile(steps, 5) < 0.5e-3
    assert np.median(np.diff(arrivals)) < 0.5e-3, "two joints of three channels each come in one burst"
