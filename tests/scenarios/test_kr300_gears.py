"""The stiffness of the KR300's gears from the real recordings, against what docs/identify.md says of it."""

import re
from pathlib import Path

import pytest

from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.robot.gear_twists import gear_twists
from hil_rig.plants.recording import DATA
from tests.benchmarks.robots.parts.recorded_robots import splits

PAGE = Path(__file__).parents[2] / "docs" / "identify.md"
NUMBER = r"(\d+\.\d) ± (\d+\.\d)"
SAID = re.compile(
    rf"KR300: axis 2 {NUMBER} \(A\), {NUMBER} \(B\), {NUMBER} \(both\), axis 3 {NUMBER}, {NUMBER} and\s+"
    rf"{NUMBER}e6 N·m/rad, (\d\.\d) ms late"
)

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not (DATA / "kr300").is_dir(), reason="needs the recordings of ../shared/data"),
]


def test_the_stiffness_and_lag_of_the_page_are_those_that_identify_finds() -> None:
    forward, _ = splits(folders=["kr300"])
    model = WholeRobot(forward.description)
    found = [gear_twists(model, runs)[0] for runs in (forward.train, forward.test, forward.train + forward.test)]
    said = SAID.search(PAGE.read_text("utf-8"))
    assert said is not None, "the page says the stiffness in these words"
    *numbers, late = said.groups()
    told = [f"{1e-6 * number:.1f}" for j in (1, 2) for one in found for number in (one[j].stiffness, one[j].deviation)]
    assert numbers == told
    assert late == f"{1e3 * found[-1][1].lag:.1f}"
