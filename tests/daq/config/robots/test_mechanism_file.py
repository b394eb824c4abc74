"""Mistakes of a mechanism file: every one at once, each with its line and, where a name is near, that name."""

from pathlib import Path

import pytest

from daq.__main__ import main
from daq.config.load import load
from daq.config.robots.mechanism_file import read_mechanism
from daq.config.words import ConfigError

DOCS = Path(__file__).parents[4] / "docs"
WRONG = """gravity = [0, -9.8]
colour = "red"
[[links]]
name = "crank"
mas = 2
[[links]]
name = "rod"
parent = "krank"
mass = -1
[[links]]
name = "rod"
axis = [0, 0, 0]
[[links]]
name = "lever"
parent = "late"
[[links]]
name = "late"
[[cuts]]
name = "pin"
link = "rodd"
point = [1, 0, 0]
other = "crank"
[[cuts]]
name = "self"
link = "rod"
point = [1, 0, 0]
other = "rod"
other_point = [1, 0, 0]
bearing = { coulomb = 9 }
[[residuals]]
drive = "crang"
peak = -1
deviation = 1
"""
TOLD = {
    "1: gravity.2: expected a value, found none",
    '2: colour: unknown key "colour", expected one of cuts, gravity, links, residuals, transition',
    '8: links.1.parent: unknown link "krank", expected one of crank, rod, lever, late; did you mean "crank"?',
    "9: links.1.mass: expected greater than or equal to 0, found -1",
    "10: links.2: expected an axis with a direction, found zero",
    '11: links.2.name: expected a name of its own, found "rod" twice',
    '15: links.3.parent: expected a link that is listed before it, found "late"',
    "18: cuts.0.other_point: expected a value, found none",
    '20: cuts.0.link: unknown link "rodd", expected one of crank, rod, lever, late; did you mean "rod"?',
    '27: cuts.1.other: expected two links, found "rod" at both ends',
    "29: cuts.1.bearing.coulomb: expected less than or equal to 2, found 9",
    '31: residuals.0.drive: unknown link "crang", expected one of crank, rod, lever, late; did you mean "crank"?',
    "32: residuals.0.peak: expected greater than or equal to 0, found -1",
}
ARM = """<robot name="arm"><link name="base"/>
<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="aa" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint></robot>"""


def test_every_mistake_is_reported_at_once_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(WRONG)
    assert main(["check", str(file)]) == 78
    told = {line.removeprefix(f"{file}:") for line in capsys.readouterr().err.splitlines()}
    assert {line for line in told if "links.0.mas:" not in line} == TOLD
    assert any(line.startswith("5: links.0.mas: unknown key") and 'did you mean "mass"?' in line for line in told)


def test_mistakes_beside_a_urdf_are_reported_at_once_too(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ARM)
    file = tmp_path / "arm.toml"
    file.write_text(
        'urdf = "arm.urdf"\ndrives = ["ab"]\n[bearings.wheel]\n[[cuts]]\nname = "c"\nlink = "b"\npoint = [0, 0, 0]\n'
        'other = ""\nother_point = [0, 0, 0]\n'
    )
    with pytest.raises(ConfigError) as caught:
        read_mechanism(file)
    text = str(caught.value)
    for words in (
        '2: drives.0: unknown joint "ab"',
        '3: bearings.wheel: unknown joint "wheel"',
        "6: cuts.0.link: unknown",
    ):
        assert words in text
    file.write_text('urdf = "none.urdf"')
    with pytest.raises(ConfigError, match=r"none\.urdf"):
        read_mechanism(file)


def test_what_cannot_move_or_close_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (DOCS / "four_bar.toml").read_text("utf-8")
    for before, after, words in (
        ("drive = false", "drive = true", "expected 1 driven joints"),
        ("origin = [0.3, 0, 0]", "origin = [3.0, 0, 0]", "the loops cannot close"),
    ):
        file = tmp_path / "four_bar.toml"
        file.write_text(text.replace(before, after), "utf-8")
        assert main(["check", str(file)]) == 78
        assert words in capsys.readouterr().err
    assert main(["check", str(DOCS / "four_bar.toml")]) == 0
    assert "tip joins coupler and rocker: planar" in capsys.readouterr().out


CONFIG = """[robot]
{model}
[drivers.wire]
kind = "can"
channel = "can0"
interface = "socketcan"
[[drivers.wire.frames]]
name = "M"
id = 1
signals.q = {{ start = 0, bits = 32, type = "float", unit = "rad" }}
signals.t = {{ start = 32, bits = 32, type = "float", unit = "N·m" }}
[joints.{joint}]
rate = 1000
model = {{ kind = "rigid" }}
[joints.{joint}.channels]
position = {{ signal = "wire.M.q" }}
torque = {{ signal = "wire.M.t" }}
"""


def problems(folder: Path, model: str, joint: str = "crank") -> str:
    file = folder / "jointwatch.toml"
    file.write_text(CONFIG.format(model=model, joint=joint))
    try:
        load(file)
    except ConfigError as error:
        return "\n".join(line for line in str(error).splitlines() if "robot" in line or "joints" in line)
    return ""


def test_a_configuration_tells_what_is_wrong_with_its_mechanism(tmp_path: Path) -> None:
    good = f'mechanism = "{DOCS / "four_bar.toml"}"'
    assert problems(tmp_path, good, "any") == "", "one drive and one joint belong together"
    assert "stands for the mechanism" in problems(tmp_path, good, "mechanism")
    assert "write mechanism =" in problems(tmp_path, good.replace("mechanism =", "model ="))
    (tmp_path / "wrong.toml").write_text(WRONG)
    told = problems(tmp_path, 'mechanism = "wrong.toml"')
    assert told.count("wrong.toml:") == len(TOLD) + 1, "every mistake of that file"
    two = (DOCS / "four_bar.toml").read_text("utf-8") + '\n[[links]]\nname = "arm"\n'
    (tmp_path / "two.toml").write_text(two, "utf-8")
    assert 'its drive unknown [joints.NAME] "arm"' in problems(tmp_path, 'mechanism = "two.toml"')
