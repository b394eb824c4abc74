"""A whole robot over a real wire: a friction leaves its law, and its nonlinear parameter is searched live and told."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from daq.recording.folder import recordings
from daq.subscriber import Subscriber
from hil_rig.live import Live

pytestmark = [pytest.mark.compiled, pytest.mark.slow]
STRONG = ("--jump", "0:joint2.bend=8")  # friction that settles with speed: 2.4 N·m of it, at 8 s/rad
OTHER = ("--set", "trajectory.draw=3", "--set", "trajectory.frequency=0.08")  # not the motion that was learnt from
TRUTH = 0.7 * 8.0  # s/rad, after the jump; no coefficient of the law can follow it


def run(*words: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *map(str, words)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_friction_of_a_robot_that_leaves_its_law_is_searched_in_the_worker_accepted_and_reported(
    tmp_path: Path,
) -> None:
    sheet, model = tmp_path / "lwr4.urdf", tmp_path / "lwr4.model.toml"
    run("hil_rig", "lwr4", "--urdf", sheet, "--duration", "0.1")
    recorder = f'\n[recorder]\nfolder = "{tmp_path}"\nreserve = 0\n'
    with Live(["lwr4", "--wire", "udp", "--set", "trajectory.frequency=0.1", *STRONG], more=recorder):
        time.sleep(40.0)  # the motion that is recorded
    files = recordings(tmp_path, "lwr4")
    told = json.loads(run("daq", "identify", sheet, *files, "--friction", "arctangent", "--out", model, "--json"))
    assert told["validation"]["error"] < 5.0
    events = []
    rig = ["lwr4", "--wire", "udp", *OTHER, *STRONG, "--jump", "60:joint2.bend_rate=0.7", "--model", str(model)]
    with (
        Live(rig) as live,
        Subscriber(live.endpoint, ("event/robot",), timeout=240.0) as updates,
    ):
        for _, update in updates:
            events.append(update)
            if update["kind"] == "refit_accepted" or len(events) > 200:
                break
        live.stop_rig()
    accepted, kinds = events[-1], [(one["timestamp"], one["kind"], one["text"]) for one in events]
    assert accepted["kind"] == "refit_accepted", kinds
    assert 60.0 < accepted["timestamp"] - live.farewell["began"] < 130.0, kinds
    assert accepted["search"]["method"] == "mcs"
    found = accepted["text"].removeprefix("friction of joint2: slope ").split()
    assert float(found[2]) == pytest.approx(TRUTH, rel=0.1), accepted["text"]
