"""A configuration's mistakes are all reported at once, each with its line, what was expected and the nearest name."""

import re
from pathlib import Path

import pytest

from daq.__main__ import main
from daq.config.load import load
from daq.config.routes import routes, wanted
from daq.config.sections import Config
from daq.config.words import ConfigError
from tests.support.processes.commands import called

TEMPLATE = Path(__file__).parents[3] / "daq" / "jointwatch.toml"

FIVE_MISTAKES = """\
[robot]
name = "arm one"
[publish]
rate = -5
[drivers.bus]
kind = "can"
interface = "slcn"
channel = "/dev/ttyACM0"
[[drivers.bus.frames]]
name = "STATE"
id = 0x181
signals.position = { start = 0, bits = 32, unit = "rad" }
[joints.elbow]
rate = 1000.0
model = { kind = "rigid", inerta = true }
[joints.elbow.channels]
position = { signal = "bus.STATE.position" }
torque = { signal = "box.STATE.current" }
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "jointwatch.toml"
    file.write_text(text)
    return file


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(write(folder, text))
    return [str(problem) for problem in caught.value.problems]


def changed(old: str, new: str) -> str:
    text = TEMPLATE.read_text()
    assert old in text
    return text.replace(old, new)


def test_the_template_is_good_and_deploy_has_the_same() -> None:
    config = load(TEMPLATE)
    assert [(route.joint, route.role) for route in routes(config)] == [
        ("elbow", "position"),
        ("elbow", "torque"),
        ("elbow", "counter"),
    ]
    deployed = TEMPLATE.parents[1] / "deploy" / "jointwatch.toml"
    assert deployed.read_text() == TEMPLATE.read_text()


def test_a_configuration_written_as_json_reads_as_the_same() -> None:
    config = load(TEMPLATE)
    again = Config.model_validate_json(config.model_dump_json())
    assert again.joints == config.joints
    assert wanted(again, "bus") == wanted(config, "bus")


def test_five_mistakes_are_five_messages(tmp_path: Path) -> None:
    found = problems(tmp_path, FIVE_MISTAKES)
    assert len(found) == 5
    assert found[0] == "2: robot.name: expected letters, digits, _ and - only, 64 at most, found 'arm one'"
    assert found[1] == "4: publish.rate: expected greater than or equal to 0.01, found -5"
    assert found[2].startswith("7: drivers.bus.interface: ")
    assert 'did you mean "slcan"?' in found[2]
    assert found[3].startswith('15: joints.elbow.model.inerta: unknown key "inerta"')
    assert found[3].endswith('did you mean "inertia"?')
    assert found[4].startswith('18: joints.elbow.channels.torque.signal: unknown driver "box"')


@pytest.mark.parametrize(
    ("old", "new", "line_has", "message"),
    [
        ("rate = 50.0", "rat = 50.0", "rat = 50.0", 'did you mean "rate"?'),
        ("[publish]", "[pubish]", "[pubish]", 'did you mean "publish"?'),
        ('kind = "can"', 'kind = "cann"', "[drivers.bus]", 'did you mean "can"?'),
        ('kind = "can"\n', "", "[drivers.bus]", 'expected a table with kind = "…"'),
        ("bus.STATE.position", "bus.STATE.postion", "bus.STATE.postion", 'did you mean "STATE.position"?'),
        ("bus.STATE.position", "STATE.position", '"STATE.position"', "expected driver.MESSAGE.signal"),
        ("position = { signal", "positon = { signal", "positon = ", 'did you mean "position"?'),
        ("rate = 1000.0", "rate = 1e9", "rate = 1e9", "expected less than or equal to 20000"),
        (
            "rate = 1000.0",
            "rate = 19.0",
            "rate = 19.0",
            "expected at least 20 Hz, found 19: slower samples do not show",
        ),
        ("rate = 1000.0 ", "# ", "[joints.elbow]", "expected a value, found none"),
        ('"tcp://127.0.0.1:5556"', '"127.0.0.1:5556"', "endpoint", "expected tcp://HOST:PORT"),
        ('"http://127.0.0.1:8080"', '"127.0.0.1"', "page =", "expected http://HOST:PORT"),
        ("bits = 32", "bits = 33", "[[drivers.bus.frames]]", "overlapping"),
        ('"bus.STATE.counter"', '"bus.OTHER.counter"', "counter =", "the frame of the reference channel"),
        ("modulo = 65536", "modulo = 2", "counter =", "expected greater than or equal to 4"),
    ],
)
def test_one_mistake(tmp_path: Path, old: str, new: str, line_has: str, message: str) -> None:
    text = changed(old, new)
    found = problems(tmp_path, text)
    hits = [problem for problem in found if message in problem]
    assert hits, found
    line = int(hits[0].split(":")[0])
    assert line_has in text.splitlines()[line - 1]


def test_a_file_that_is_no_toml_or_not_there(tmp_path: Path) -> None:
    (only,) = problems(tmp_path, "[robot\n")
    assert only.startswith("1: not valid TOML")
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load(tmp_path / "none.toml")
    (tmp_path / "latin").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="expected UTF-8"):
        load(tmp_path / "latin")


def test_nothing_configured_is_said(tmp_path: Path) -> None:
    found = problems(tmp_path, "")
    assert any("[drivers.NAME]" in problem for problem in found)
    assert any("[joints.NAME]" in problem for problem in found)


def test_check_exits_78_and_init_writes_what_check_accepts(tmp_path: Path) -> None:
    bad = called("check", str(write(tmp_path, FIVE_MISTAKES)))
    assert bad.returncode == 78
    assert len(bad.stderr.strip().splitlines()) == 5
    assert bad.stderr.startswith(f"{tmp_path}/jointwatch.toml:2: robot.name:")
    good = tmp_path / "new.toml"
    assert called("init", str(good)).returncode == 0
    assert called("check", str(good)).returncode == 0
    assert called("init", str(good)).returncode == 1
    assert called("listen", "--nonsense").returncode == 2


def test_the_devices_time_stands_alone_and_in_the_references_frame(tmp_path: Path) -> None:
    both = changed(
        "[joints.elbow.channels]",
        'device_time = { signal = "bus.STATE.counter", wrap = 0.065536 }\n[joints.elbow.channels]',
    )
    found = "\n".join(problems(tmp_path, both))
    assert "expected either counter or device_time, found both" in found
    assert "device_time.wrap: expected at least 0.512 s at 1000 Hz, found 0.065536" in found


def test_two_drivers_claiming_one_wire_are_distinguished_or_refused(tmp_path: Path) -> None:
    (tmp_path / "by-id").symlink_to("/dev/ttyACM0")
    port = f"""
[drivers.port]
kind = "serial"
port = "{tmp_path / "by-id"}"
[[drivers.port.packets]]
name = "TORQUE"
id = 1
fields = [{{ name = "torque", type = "i16" }}]
"""
    [problem] = problems(tmp_path, TEMPLATE.read_text() + port)
    assert (
        f'drivers.port.port: expected a wire of its own, found "{tmp_path / "by-id"}", which is driver bus' in problem
    )
    load(write(tmp_path, TEMPLATE.read_text() + port.replace(str(tmp_path / "by-id"), "/dev/ttyUSB7")))


@pytest.mark.parametrize(
    ("first", "second", "clash"),
    [
        ('interface = "socketcan", channel = "can0"', 'interface = "socketcan", channel = "can0"', True),
        ('interface = "socketcan", channel = "can0"', 'interface = "socketcan", channel = "can1"', False),
        ('interface = "socketcan", channel = "0"', 'interface = "kvaser", channel = "0"', False),
        ('interface = "slcan", channel = "/dev/ttyS99@115200"', 'interface = "slcan", channel = "/dev/ttyS99"', True),
        (
            'interface = "udp_multicast", channel = "239.1.1.1"',
            'interface = "udp_multicast", channel = "239.1.1.1"',
            True,
        ),
        (
            'interface = "udp_multicast", channel = "239.1.1.1", options = { port = 5 }',
            'interface = "udp_multicast", channel = "239.1.1.1", options = { port = 6 }',
            False,
        ),
        ('kind = "file", path = "a.log"', 'kind = "file", path = "a.log"', True),
        ('kind = "file", path = "a.log", channel = "can0"', 'kind = "file", path = "a.log", channel = "can1"', False),
        ('kind = "file", path = "a.log", channel = "can0"', 'interface = "socketcan", channel = "can0"', False),
    ],
)
def test_one_wire_has_one_driver_whatever_its_kind(tmp_path: Path, first: str, second: str, clash: bool) -> None:
    layout = 'frames = [{ name = "A", id = 1, signals = { s = { start = 0, bits = 8 } } }]'
    tables = []
    for name, words in (("one", first), ("two", second)):
        kind = "" if "kind" in words else 'kind = "can", '
        tables.append(f"{name} = {{ {kind}{words}, {layout} }}")
    text = "[drivers]\n" + "\n".join(tables) + "\n[joints]\n"
    said = [problem for problem in problems(tmp_path, text) if "wire of its own" in problem]
    assert len(said) == clash
    assert all("which is driver one's" in problem for problem in said)


COLLINEAR = 'model = { kind = "rigid", gravity_sin = true, friction = { kind = "cyclic" } }'
SPRING = 'model = { kind = "friction" }'
BOUNDS = "monitor = { refit = { bounds = { omega_tanh = [0.3, 0.1] } } }"


LOADED = 'model = { kind = "rigid", friction = { kind = "load_dependent" } }'
LOAD = 'model = { kind = "rigid", load = true }'
DRIVE = 'model = { kind = "friction", friction = { kind = "load_dependent" } }'
GEAR = 'model = { kind = "two_mass", motor_friction = { kind = "load_dependent" } }'


@pytest.mark.parametrize(
    ("joint", "line", "words"),
    [
        (LOADED, LOADED, 'friction of kind "load_dependent" grows with the load: expected load = true'),
        (LOAD, LOAD, "expected friction that grows with the load where load = true, found none"),
        (DRIVE, DRIVE, "grows with the load: expected joint_torque = true"),
        (GEAR, GEAR, "grows with the load, here the torque that it explains"),
        (COLLINEAR, "[joints.elbow]", "found the columns of cyclic_sin and gravity_sin collinear under any motion"),
        (f"{SPRING}\n{BOUNDS}", "[joints.elbow]", "bounds of omega_tanh: expected low < high within"),
        (f"{SPRING}\n{BOUNDS.replace('0.1', '0.3')}", "[joints.elbow]", "found [0.3, 0.3]"),
    ],
)
def test_check_refuses_what_cannot_be_determined_and_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], joint: str, line: str, words: str
) -> None:
    text = re.sub("^model = .*$", joint, TEMPLATE.read_text(), count=1, flags=re.MULTILINE)
    file = write(tmp_path, text)
    assert main(["check", str(file)]) == 78
    said = [problem for problem in capsys.readouterr().err.splitlines() if words in problem]
    assert len(said) == 1
    assert said[0].startswith(f"{file}:{text.splitlines().index(line) + 1}: joints.elbow")


@pytest.mark.parametrize(
    ("line", "nearest"),
    [
        ('monitor = { refit = { search = "cukoo" } }', "cuckoo"),
        ('monitor = { refit = { search = "latice" } }', "lattice"),
        ('monitor = { design = "papr" }', "paper"),
        ('forgetting = { kind = "alrm" }', "alarm"),
    ],
)
def test_the_name_of_an_algorithm_that_is_misspelt_is_reported_with_its_line_and_the_nearest_one(
    tmp_path: Path, line: str, nearest: str
) -> None:
    text = changed("rate = 1000.0", f"{line}\nrate = 1000.0")
    (said,) = problems(tmp_path, text)
    place = 1 + text.splitlines().index(line)
    assert said.startswith(f"{place}: ")
    assert f'did you mean "{nearest}"?' in said


def test_a_search_that_is_none_is_refused_and_every_one_of_the_catalogue_is_taken(tmp_path: Path) -> None:
    line = 'monitor = {{ refit = {{ search = "{}" }} }}\nrate = 1000.0'
    (said,) = problems(tmp_path, changed("rate = 1000.0", line.format("nonsense")))
    assert '"mcs", "cuckoo"' in said
    assert 'the nearest is "' in said
    from estimators.search import SEARCHES

    for name in (*SEARCHES, "lattice", "chaotic-cuckoo"):
        joint = load(write(tmp_path, changed("rate = 1000.0", line.format(name)))).joints["elbow"]
        assert joint.monitor.refit.search == name.replace("-", "_")


def test_delta_how_long_it_is_exceeded_and_the_limits_of_a_refit_are_settings(tmp_path: Path) -> None:
    line = "monitor = { delta = 0.5, hold = 2, delta_theta = 0.05, accept = { certain = 0.1, plausible = 3 } }"
    monitor = load(write(tmp_path, changed("rate = 1000.0", f"{line}\nrate = 1000.0"))).joints["elbow"].monitor
    assert (monitor.delta, monitor.hold, monitor.delta_theta) == (0.5, 2.0, 0.05)
    assert (monitor.accept.certain, monitor.accept.plausible, monitor.accept.better) == (0.1, 3.0, 20.0)
    (said,) = problems(tmp_path, changed("rate = 1000.0", "monitor = { delta = 0 }\nrate = 1000.0"))
    assert "above 0" in said or "greater than 0" in said or "> 0" in said, said
