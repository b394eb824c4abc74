"""Mechanisms on a wire: recorded, identified as a whole with friction by constraint forces, and watched with that."""

import json
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from daq.config.robots.robot_model import load_model
from daq.recording.folder import recordings
from hil_rig.live import Live
from tests.support.processes.waiting import wait_until

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
    "tree5": Whole(["tree5"], [], 25.0, 5.0, {"bending.joint2": 0.05, "bending.joint4": 0.05}, 0.1),
    # the second joint's 10 mN·m; the first has μ R₂ F_n under a weight that hardly changes, 29 mN·m
    "pointing": Whole(
        ["pointing", "--set", "period=5"], ["--transition", "0.02"], 30.0, 1.5, {"coulomb.joint2": 0.01}, 0.05
    ),
}


def state(live: Live) -> dict[str, Any]:
    with urllib.request.urlopen(f"{live.page}/api/state", timeout=60) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


@pytest.fixture
def run(run_program: Callable[..., Any]) -> Callable[..., str]:
    def run(*words: object) -> str:
        done = run_program(*words)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    return run


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
def test_a_mechanism_is_identified_as_a_whole_and_watched_with_that(
    name: str, tmp_path: Path, run: Callable[..., str]
) -> None:
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
        wait_until(lambda: state(live)["whole"].get("phase") == "normal", 120.0)
        inside = 0
        for _ in range(20):
            joints = state(live)["whole"]["joints"]
            inside += all(abs(one["residual"]) < one["threshold"] for one in joints.values())
            time.sleep(0.25)  # over the motion
        assert inside >= 15, "a single look may fall on a clock that a loaded machine has moved"


class Looped(NamedTuple):
    """A mechanism with loops on a rig, its file, and what must come of it."""

    rig: list[str]
    file: str
    drive: str
    bearing: str  # of which the force is compared with what the plant carries at most
    most: float  # N, by the plant itself, in this motion


LOOPED: Final = {
    "four_bar": Looped(["four_bar"], "four_bar.toml", "crank", "tip", 15.8),
    # Guo, Ju, Wang 2024, second mechanism
    "leg": Looped(["leg"], "leg.toml", "crank", "tie-rocker", 88.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "leg"])
def test_a_mechanism_with_loops_is_identified_from_its_drive_and_watched(
    name: str, tmp_path: Path, run: Callable[..., str]
) -> None:
    looped = LOOPED[name]
    docs, model = Path(__file__).parents[2] / "docs", tmp_path / f"{name}.model.toml"
    sheet = tmp_path / "sheet.toml"
    sheet.write_text((docs / looped.file).read_text("utf-8").replace("coulomb = 0.0", "coulomb = 0.00"), "utf-8")
    recorder = f'\n[recorder]\nfolder = "{tmp_path}"\nreserve = 0\n'
    with Live([*looped.rig, "--wire", "slcan"], more=recorder):
        time.sleep(22.0)  # the motion that is recorded
    told = json.loads(run("daq", "identify", sheet, *recordings(tmp_path, name), "--out", model, "--json"))
    assert told["unexplained"][looped.drive] < 0.03
    jump = ["--jump", "30:friction=2"]  # every bearing rubs twice as much
    with Live([*looped.rig, "--wire", "slcan", "--model", str(model), *jump]) as live:
        wait_until(lambda: state(live)["mechanism"].get("phase") == "normal", 120.0)
        largest, inside = 0.0, 0
        for _ in range(20):
            found = state(live)["mechanism"]
            drive = found["drives"][looped.drive]
            inside += abs(drive["residual"]) < drive["threshold"]
            largest = max(largest, found["joints"][looped.bearing]["radial"])
            time.sleep(0.25)  # over the motion
        assert inside >= 18
        assert 0.7 * looped.most < largest < 1.1 * looped.most, "twenty looks at a motion may miss its peak"
        wait_until(lambda: any(one["kind"] == "friction" for one in state(live)["events"]), 90.0)
        drive = state(live)["mechanism"]["drives"][looped.drive]
        assert drive["friction_ratio"] > 1.2
