"""`check` knows what a channel is: a torque in rad is an error, with what would mend it."""

from pathlib import Path

import pytest

from daq.__main__ import main
from daq.config.load import load
from daq.config.words import ConfigError

CONFIG = """\
[drivers.bus]
kind = "can"
interface = "virtual"
channel = "x"
layouts = [{{ kind = "odrive", name = "knee", node = 3 }}]
[[drivers.bus.frames]]
name = "MORE"
id = 0x700
signals.force = {{ start = 0, bits = 8, unit = "N" }}
signals.slide = {{ start = 8, bits = 8, unit = "mm" }}
signals.wheel = {{ start = 16, bits = 8, unit = "kph" }}
signals.bare = {{ start = 24, bits = 8 }}
signals.count = {{ start = 32, bits = 8 }}
signals.heat = {{ start = 40, bits = 8, unit = "degC" }}
signals.motor_position = {{ start = 48, bits = 8, unit = "rev" }}
[joints.knee]
rate = 1000
model = {{ kind = "rigid", axis = "{axis}" }}
{more}
[joints.knee.channels]
position = {position}
{effort} = {torque}
"""
POSITION, TORQUE = '{ signal = "bus.knee_encoder.position" }', '{ signal = "bus.knee_torque.estimate" }'


def written(
    folder: Path,
    position: str = POSITION,
    torque: str = TORQUE,
    axis: str = "rotary",
    effort: str = "torque",
    more: str = "",
) -> Path:
    file = folder / "jointwatch.toml"
    file.write_text(CONFIG.format(position=position, torque=torque, axis=axis, effort=effort, more=more))
    return file


def mistakes(file: Path) -> list[str]:
    try:
        load(file)
    except ConfigError as error:
        return [str(problem) for problem in error.problems]
    return []


def test_what_fits_is_good(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(written(tmp_path))]) == 0
    assert "note:" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("torque", "said"),
    [
        (
            "bus.knee_encoder.position",
            "bus.knee_encoder.position is in rad; scale must be the stiffness",
        ),
        ("bus.knee_encoder.velocity", "found a rotational speed: bus.knee_encoder.velocity is in rad/s, and no scale"),
        ("bus.knee_current.measured", "found a current: bus.knee_current.measured is in A; scale must be the torque"),
        ("bus.MORE.force", "found a force: bus.MORE.force is in N; scale must be the lever arm, in m"),
        (
            "bus.MORE.wheel",
            "found a speed: bus.MORE.wheel is in m/s, and no scale converts one to the other; ",
        ),
        ("bus.MORE.heat", "found a temperature: bus.MORE.heat is in °C, and no scale"),
    ],
)
def test_a_torque_from_something_else_says_what_would_mend_it(tmp_path: Path, torque: str, said: str) -> None:
    [only] = mistakes(written(tmp_path, torque=f'{{ signal = "{torque}" }}'))
    assert only.startswith("22: joints.knee.channels.torque.signal: expected a torque in N·m, ")
    assert said in only
    if "no scale" in said:
        assert "this driver has knee_torque.target or knee_torque.estimate or " in only


@pytest.mark.parametrize(
    ("torque", "good"),
    [
        ('{ signal = "bus.knee_current.measured", scale = 0.083 }', True),
        ('{ signal = "bus.knee_current.measured", scale = 1.0 }', True),  # somebody's constant is one
        ('{ signal = "bus.knee_encoder.position", scale = 350.0 }', True),  # a spring's twist
        ('{ signal = "bus.knee_encoder.position", scale = -1.0 }', False),
        ('{ signal = "bus.knee_encoder.velocity", scale = 350.0 }', False),
        ('{ signal = "bus.MORE.wheel", scale = 350.0 }', False),
        ('{ signal = "bus.MORE.bare", scale = 0.1 }', True),
    ],
)
def test_a_scale_makes_a_torque_of_what_can_become_one(tmp_path: Path, torque: str, good: bool) -> None:
    assert (mistakes(written(tmp_path, torque=torque)) == []) is good


def test_the_wheel_speeds_of_a_car_are_no_joint(tmp_path: Path) -> None:
    wheel = '{ signal = "bus.MORE.wheel", scale = 2.0 }'
    found = mistakes(written(tmp_path, position=wheel, torque=wheel))
    assert len(found) == 2
    assert all("found a speed: bus.MORE.wheel is in m/s, and no scale" in one for one in found)
    assert "this driver has MORE.motor_position or knee_encoder.position or " in found[0]


def test_a_joint_without_channels_is_told_which_it_needs_and_no_more(tmp_path: Path) -> None:
    file = written(tmp_path)
    file.write_text(file.read_text().partition("[joints.knee.channels]")[0] + "channels = {}\n")
    assert mistakes(file) == [
        f'20: joints.knee.channels: the model "rigid" needs the channel "{role}", found none'
        for role in ("position", "torque")
    ]


def test_a_slide_is_in_metres_and_newtons(tmp_path: Path) -> None:
    slide, force = '{ signal = "bus.MORE.slide" }', '{ signal = "bus.MORE.force" }'
    assert mistakes(written(tmp_path, slide, force, "prismatic", "force")) == []
    found = mistakes(written(tmp_path, POSITION, TORQUE, "prismatic", "force"))
    assert "scale must be the radius (lead / 2π for a spindle), in m per rad" in found[0]
    assert "scale must be one over the radius (2π / lead for a spindle), per m" in found[1]


def test_counters_and_clocks_have_a_sense_too(tmp_path: Path) -> None:
    clock = 'counter = { signal = "bus.knee_encoder.velocity" }'
    assert "expected a plain count, found a rotational speed" in mistakes(written(tmp_path, more=clock))[0]
    clock = 'device_time = { signal = "bus.knee_encoder.velocity" }'
    assert "expected a time, found a rotational speed" in mistakes(written(tmp_path, more=clock))[0]


def test_what_may_be_right_is_remarked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    motor = '{ signal = "bus.MORE.motor_position" }'
    assert main(["check", str(written(tmp_path, motor, '{ signal = "bus.MORE.bare" }'))]) == 0
    said = capsys.readouterr().err
    assert "note: knee.position: the name bus.MORE.motor_position suggests the motor's side" in said
    assert "scale = 1/gear ratio" in said
    assert "note: knee.torque: bus.MORE.bare has no unit and is assumed to be in N·m" in said
    scaled = '{ signal = "bus.MORE.motor_position", scale = 0.01 }'
    assert main(["check", str(written(tmp_path, scaled, '{ signal = "bus.MORE.bare", scale = 1.0 }'))]) == 0
    said = capsys.readouterr().err
    assert "suggests the motor" not in said
    assert "has no unit" not in said


def test_check_names_each_unsound_message_of_a_dbc(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "arm.dbc").write_text(
        'VERSION ""\nBU_: X\nBO_ 1 A: 8 X\n SG_ q : 0|8@1+ (1,0) [0|0] "deg" X\n SG_ tau : 8|8@1+ (1,0) [0|0] "Nm" X\n'
        'BO_ 2 B: 1 X\n SG_ S : 4|8@1+ (1,0) [0|0] "" X\n'
    )
    text = """
[drivers.bus]
kind = "can"
interface = "virtual"
channel = "x"
dbc = "arm.dbc"
[joints.knee]
rate = 1000
model = { kind = "rigid" }
channels.position = { signal = "bus.A.q" }
channels.torque = { signal = "bus.A.tau" }
"""
    file = tmp_path / "jointwatch.toml"
    file.write_text(text)
    assert main(["check", str(file)]) == 0
    assert "note: bus: message B is left out: The signal S does not fit in message B" in capsys.readouterr().err
    file.write_text(text.replace("bus.A.tau", "bus.B.S"))
    assert main(["check", str(file)]) == 78
    assert '"B.S" cannot be used: The signal S does not fit in message B' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("bits", "given", "said"),
    [
        (14, "", "steps of 0.00038 rad want a kernel of half_width = 0.073 s, and get it"),
        (14, "conditioning.half_width = 0.02", "half_width = 0.073 s would do"),
        (20, "", ""),
    ],
)
def test_an_encoder_too_coarse_for_the_inertia_is_said(
    bits: int, given: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, position='{ signal = "bus.MORE.coarse" }')
    field = f'signals.coarse = {{ start = 0, bits = 24, unit = "counts", counts_per_rev = {2**bits} }}'
    file.write_text(
        file.read_text()
        .replace(
            "[joints.knee]\n",
            f'[[drivers.bus.frames]]\nname = "FINE"\nid = 0x701\n{field}\n[joints.knee]\n{given}\n',
            1,
        )
        .replace("bus.MORE.coarse", "bus.FINE.coarse")
    )
    assert main(["check", str(file)]) == 0
    told = capsys.readouterr().err
    assert ("knee.position: steps of" in told) is bool(said)
    assert said in told
