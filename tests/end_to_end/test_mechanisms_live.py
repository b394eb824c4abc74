"""Mechanisms on a wire: recorded, identified as a whole with friction by constraint forces, and watched with that."""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from daq.config.robot_model import load_model
from daq.recording.folder import recordings
from hil_rig.live import Live

pytestmark = pytest.mark.compiled


class Whole(NamedTuple):
    """What docs/mechanisms.md does with a rig, and what must come of it."""

    rig: list[str]
    options: list[str]  # of identify
    seconds: float  # recorded
    error: float  # % on rows not learnt from, at most
    friction: dict[str, float]  # coefficient → truth
    within: float  # relative


WHOLE: Final = {
    # μ R_p/R_b of bearings alike: 0.1 · 20/40. 0.3 % on a quiet machine; on one that is loaded tenfold the joints'
    # clocks are apart by milliseconds for the first seconds, which cost 4 %
    "tree5": Whole(["tree5"], [], 40.0, 5.0, {"bending.joint2": 0.05, "bending.joint4": 0.05}, 0.1),
    # the second joint's 10 mN·m; the first has μ R₂ F_n under a weight that hardly changes, 29 mN·m
    "pointing": Whole(
        ["pointing", "--set", "period=5"], ["--transition", "0.02"], 30.0, 1.5, {"coulomb.joint2": 0.01}, 0.05
    ),
}


def state(live: Live) -> dict[str, Any]:
    with urllib.request.urlopen(f"{live.page}/api/state", timeout=10) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def until(condition: Callable[[], object], timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.2)  # between two looks at a page


def run(*words: object) -> str:
    command = [sys.executable, "-m", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["tree5", pytest.param("pointing", marks=pytest.mark.slow)])
def test_a_mechanism_is_identified_as_a_whole_and_watched_with_that(name: str, tmp_path: Path) -> None:
    whole = WHOLE[name]
    sheet, model = tmp_path / f"{name}.urdf", tmp_path / f"{name}.model.toml"
    run("hil_rig", *whole.rig, "--urdf", sheet, "--duration", "0.1")
    recorder = f'\n[recorder]\nfolder = "{tmp_path}"\nreserve = 0\n'
    with Live([*whole.rig, "--wire", "udp"], more=recorder):
        time.sleep(whole.seconds)  # the motion that is recorded
    files = recordings(tmp_path, name)
    chosen = ["--friction", "bearing", *whole.options, "--out", model, "--json"]
    told = json.loads(run("daq", "identify", sheet, *files, *chosen))
    assert told["validation"]["error"] < whole.error
    identified = load_model(model)
    found = dict(zip(identified.model().names, identified.theta.tolist(), strict=True))
    for coefficient, truth in whole.friction.items():
        assert found[coefficient] == pytest.approx(truth, rel=whole.within), coefficient
    with Live([*whole.rig, "--wire", "udp", "--model", str(model)]) as live:
        until(lambda: state(live)["whole"].get("phase") == "normal", 120.0)
        inside = 0
        for _ in range(20):
            joints = state(live)["whole"]["joints"]
            inside += all(abs(one["residual"]) < one["threshold"] for one in joints.values())
            time.sleep(0.25)  # over the motion
        assert inside >= 15, "a single look may fall on a clock that a loaded machine has moved"


@pytest.mark.slow
def test_a_leg_of_three_loops_plays_in_real_time_and_is_identified_with_its_loops(tmp_path: Path) -> None:
    recorder = f'\n[recorder]\nfolder = "{tmp_path}"\nreserve = 0\n'
    with Live(["leg", "--wire", "slcan"], more=recorder) as live:
        until(lambda: state(live)["joints"]["joint1"].get("phase") in ("normal", "transient", "held"), 180.0)
        alone = state(live)["joints"]["joint1"]["error"]
    assert alone < 0.06
    mechanism = Path(__file__).parents[2] / "docs" / "leg.toml"
    told = json.loads(run("daq", "identify", mechanism, *recordings(tmp_path, "leg"), "--json"))
    assert told["unexplained"]["crank"] < 0.03
