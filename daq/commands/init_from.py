"""Proposes a configuration from a DBC, a URDF, or a CSV; lines marked ASK need an answer."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from daq.commands.recordings.inputs import FRAMES, how_to_configure
from daq.recording.columns import Columns, load_columns, read
from daq.recording.proposal import propose
from daq.recording.proposal.choice import Match, efforts, positions
from daq.recording.proposal.families import ColumnFamily, families_of, is_number
from daq.recording.questions import ASK, open_questions
from daq.recording.reader import RecordingError
from daq.recording.ros_bag import is_bag
from daq.replay.from_columns import configured, with_torque
from daq.state.toml_text import toml_text
from drivers.base import LayoutError
from drivers.layout.dbc import from_dbc
from drivers.layout.frame import FrameLayout
from drivers.units import QuantitySettings
from estimators.models.robots.description import RobotError
from estimators.models.robots.files.urdf import read_urdf
from estimators.quantities import Axis

DATABASES: Final = (".dbc", ".kcd", ".arxml", ".sym")
HEAD: Final = (
    "# Proposed by `jointwatch init --from {name}`: answer what is marked ASK, then: jointwatch check {path}\n"
    '[robot]\nname = "{robot}"\n\n[publish]\nendpoint = "tcp://127.0.0.1:5556"\npage = "http://127.0.0.1:8080"\n'
)
PLAYED: Final = (
    "\n# the file is played as if it were live; the joints need no change if a bus replaces it\n"
    '[drivers.played]\nkind = "file"\n'
)
BUS: Final = (
    '\n[drivers.bus]\nkind = "can"\n'
    'interface = "socketcan"              # {ask}the adapter: "socketcan", "slcan", "pcan", … and its channel\n'
    'channel = "can0"\n'
)
COUNTER: Final = re.compile(  # a signal's name
    r"(?i)^(?!.*(?:enc|pos|pulse|err|lost|duty)).*"
    r"(?:(?<![a-z])(?:count|cnt|ctr|seq|cycle)|counter|sequence|zaehler|zähler)_?\d*$"
)
HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")  # where a word of a name begins: Swing|Ctr
COUNTS: Final = re.compile(r"(?i)(?:count|cnt|tick|pulse)s?_?\d*$")  # a signal's name
IN_MESSAGES: Final = re.compile(r"_?(?:Estimates?|(?i:status)(?=[^.]*\.))")  # words without information on a signal
TURNING: Final = 'kind = "rigid", gravity_sin = true, gravity_cos = true'
SLIDING: Final = 'kind = "rigid", axis = "prismatic"'
EFFORT_UNITS: Final = {"torque": Axis.ROTARY.effort, "force": Axis.PRISMATIC.effort}  # of columns without a unit
ROWS: Final = 8  # of columns that stand for signals


def proposed(source: Path, path: Path, table: Path | None = None) -> str:
    """The text of a configuration; path: its future file; table: of a CSV's columns, with the user's answers.

    Raises RecordingError, RobotError, LayoutError, ConfigError, OSError.
    """
    kind = source.suffix.lower()
    if table is not None and kind != ".csv":
        raise RecordingError(f"{source}: --columns says what the columns of a .csv are, found {kind or 'no ending'}")
    head = HEAD.format(name=source.name, path=path, robot=_name(source.stem))
    if kind in DATABASES:
        return head + "\n".join(_from_database(source)) + "\n"
    if kind == ".urdf":
        return head + "\n".join(_from_urdf(source)) + "\n"
    if kind == ".csv":
        if table is not None:
            return head + "\n".join(_from_answers(source, load_columns(table), table)) + "\n"
        return head + "\n".join(_from_csv(source)) + "\n"
    if is_bag(source):
        raise RecordingError(
            f"{source} is a ROS 2 bag. jointwatch doctor --kind ros2 --at INTERFACE proposes a configuration from the "
            f"live topic; to replay the bag: jointwatch columns {source} > table.toml"
        )
    if kind in FRAMES:
        raise RecordingError(f"{source}: {how_to_configure(source)}")
    if kind == ".toml":
        raise RecordingError(
            f"{source}: init --from takes what the table describes: jointwatch init --from RECORDING.csv "
            f"--columns {source} {path}"
        )
    raise RecordingError(
        f"{source}: init --from takes a DBC ({', '.join(DATABASES)}), a .urdf or a .csv, found "
        f"{kind or 'a name without an ending'}; to replay another recording: jointwatch columns {source} > table.toml"
    )


def _name(text: str) -> str:
    return "".join(one if (one.isalnum() and one.isascii()) or one in "_-" else "_" for one in text)[:64] or "robot"


def _from_database(source: Path) -> Iterator[str]:
    """Joints whose position and torque, or current, have signals with names that fit."""
    layout = from_dbc(source, {}, limits=False)
    rows = np.arange(ROWS, dtype=float)
    # a dot would be read as that of a structure; what a drive estimates, or sends as its status, is what it measures
    names = {IN_MESSAGES.sub("", name).replace(".", "/"): name for name in layout.signals}
    table = {name: rows * (k + 1) for k, name in enumerate(names)}
    units = {name: unit for name, whole in names.items() if (unit := layout.signals[whole].unit) != "1"}
    families = families_of(table, ROWS, units)
    # an encoder's counts are no angle yet
    angles = [one for one in positions(families, 0) if not all(COUNTS.search(own.column) for own in one.members)]
    position = next((one for one in angles if efforts(families, one)), None)
    yield BUS.format(ask=f"{ASK}") + f'dbc = "{source.resolve()}"'
    if position is None:
        yield from _by_units(layout)
        return
    best = efforts(families, position)[0]
    for name, first, second in _pairs(position, best):
        counter = _counter(layout, names[first])
        yield from _joint(name, f"bus.{names[first]}", f"bus.{names[second]}", best.family.role, False, counter)


def _by_units(layout: FrameLayout) -> Iterator[str]:
    """A joint for every message with one position and one torque or current by units; else a list of all signals."""
    found = []
    for message in dict.fromkeys(name.rpartition(".")[0] for name in (*layout.signals, *layout.unusable)):
        of = {name: one.unit for name, one in layout.signals.items() if name.rpartition(".")[0] == message}
        angles = [name for name, unit in of.items() if unit in ("rad", "m")] or [
            name for name in layout.unknown_units if name.rpartition(".")[0] == message
        ]
        efforts_of = [name for name, unit in of.items() if unit in ("N·m", "N")] or [
            name for name, unit in of.items() if unit == "A"
        ]
        if len(angles) == len(efforts_of) == 1:
            found.append((angles[0], efforts_of[0]))
    for name, _ in found:
        if name in layout.unknown_units:
            yield f'corrections."{name}" = {{ unit = "deg" }}  # {ASK}{layout.unknown_units[name]}'
    for number, (position, effort) in enumerate(found, 1):
        role = "current" if layout.signals[effort].unit == "A" else "torque"
        yield f"\n# {ASK}chosen by their units, not by names: are these the position and the {role} of one joint?"
        counter = _counter(layout, position)
        yield from _joint(f"joint{number}", f"bus.{position}", f"bus.{effort}", role, False, counter)[1:]
    if not found:
        yield f"\n# {ASK}no signal is called like the position and the torque (or current) of one joint. Signals are:"
        yield from (f"#   bus.{name}  [{one.unit}]" for name, one in layout.signals.items())
        yield from (f"#   bus.{name}  cannot be used: {why}" for name, why in layout.unusable.items())
        yield from _joint("joint1", "bus.MESSAGE.position", "bus.MESSAGE.torque", "torque", True)


def _counter(layout: FrameLayout, position: str) -> str:
    """The line for a counter of samples in the frame of a position; empty if no signal has the name of a counter."""
    frame = position.rpartition(".")[0]
    for name, signal in layout.signals.items():
        own = name.rpartition(".")
        whole = signal.scale == 1.0 and signal.offset == 0.0 and signal.kind == "unsigned"
        if own[0] == frame and whole and COUNTER.search(HUMPS.sub("_", own[2])):
            return f'counter = {{ signal = "bus.{name}", modulo = {2**signal.bits} }}  # of the device, by its name'
    return ""


def _pairs(position: ColumnFamily, effort: Match) -> Iterator[tuple[str, str, str]]:
    """Yield name, position column and torque column of each joint."""
    keys = position.keys
    zero = all(is_number(key) for key in keys) and min((int(key[0]) for key in keys), default=1) == 0
    for member, own in zip(position.members, effort.members, strict=True):
        if own is not None:
            key = member.key
            name = f"joint{int(key[0]) + zero}" if is_number(key) else "_".join(key) or "joint1"
            yield _name(name), member.column, own.column


def _joint(name: str, position: str, effort: str, role: str, hidden: bool, counter: str = "") -> list[str]:
    """The tables of one joint."""
    scale = ", scale = 1.0" if role in ("current", "load", "input") else ""
    why = {"current": "N·m per A at the joint", "load": "N·m per unit"}.get(role, "")
    lines = [
        f"[joints.{name}]",
        f"rate = 1000.0                        # {ASK}Hz at which the device samples",
        *([counter] if counter else []),
        'model = { kind = "rigid", gravity_sin = true, gravity_cos = true }',
        f"[joints.{name}.channels]",
        f'position = {{ signal = "{position}" }}',
        f'torque = {{ signal = "{effort}"{scale} }}' + (f"  # {ASK}scale: {why}" if why else ""),
    ]
    return ["", *((f"# {line}" for line in lines) if hidden else lines)]


def _from_urdf(source: Path) -> Iterator[str]:
    """A joint for each joint of the robot, with a frame that the user has to describe."""
    robot = read_urdf(source).robot
    yield BUS.format(ask=f"{ASK}")
    for number, joint in enumerate(robot.joints):
        unit, effort = joint.axis.length, joint.axis.effort
        yield f'\n[[drivers.bus.frames]]\nname = "{_name(joint.name)}"'
        yield f"id = {0x181 + number:#x}                           # {ASK}the frame in which this joint's drive answers"
        yield f'signals.position = {{ start = 0, bits = 32, type = "signed", scale = 1e-6, unit = "{unit}" }}'
        yield f'signals.torque = {{ start = 32, bits = 16, type = "signed", scale = 0.01, unit = "{effort}" }}'
    for joint in robot.joints:
        name = _name(joint.name)
        slides = joint.axis is Axis.PRISMATIC
        model = SLIDING if slides else TURNING
        yield f"\n[joints.{name}]\nrate = 1000.0                        # {ASK}Hz\nmodel = {{ {model} }}"
        yield f"[joints.{name}.channels]"
        yield f'position = {{ signal = "bus.{name}.position" }}'
        yield f'{"force" if slides else "torque"} = {{ signal = "bus.{name}.torque" }}'


def _from_csv(source: Path) -> Iterator[str]:
    """A driver that plays the file, as if it were live, and its joints."""
    table = propose(source)
    columns = Columns.model_validate(tomllib.loads(table))
    if columns.time is None:
        raise RecordingError(f"{source}: without times it cannot be played: take jointwatch columns and replay")
    yield PLAYED + f'path = "{source.resolve()}"'
    asked = _questions(table)
    unit = next((one[one.index(ASK) :] for one in asked if one.startswith("# time_unit")), "")
    yield toml_text({"time": columns.time, "time_unit": columns.time_unit}).strip() + (f"  # {unit}" if unit else "")
    for joint, roles in columns.joints.items():
        for role, column in roles.items():
            unit = column.unit or ("" if asked else EFFORT_UNITS.get(role, ""))
            inside = {"column": column.column} | ({"unit": unit} if unit else {})
            yield f"columns.{joint}_{role} = {_inline(inside)}"
    yield from (one for one in asked if not one.startswith("# time_unit"))
    rate = _rate(source, columns)
    for joint, roles in columns.joints.items():
        yield f"\n[joints.{joint}]\nrate = {rate!r}\nmodel = {{ {SLIDING if 'force' in roles else TURNING} }}"
        yield f"[joints.{joint}.channels]"
        for role in ("position", "torque", "force", "current"):
            if role in roles:
                scale = f", scale = 1.0 }}  # {ASK}N·m per A" if role == "current" else " }"
                yield f'{"torque" if role == "current" else role} = {{ signal = "played.row.{joint}_{role}"{scale}'


def _from_answers(source: Path, columns: Columns, table: Path) -> Iterator[str]:
    """A driver that plays the file, and its joints, by a table with the user's answers. Raises RecordingError."""
    if columns.time is None:
        raise RecordingError(f"{source}: without times it cannot be played: take jointwatch replay")
    columns = with_torque(columns)
    config = configured(source, read(source, columns), columns)
    own = [one.column for joint in config.joints for one in columns.joints[joint].values() if one.time is not None]
    if own:
        raise RecordingError(f"{source}: {', '.join(own)}: a column with times of its own cannot be played live")
    yield PLAYED + f'path = "{source.resolve()}"'
    yield toml_text({"time": columns.time, "time_unit": columns.time_unit}).strip()
    for name, joint in config.joints.items():
        for role in joint.channels:
            column = columns.joints[name][role]
            said = column.model_dump(include=set(QuantitySettings.model_fields), exclude_none=True)
            yield f"columns.{name}_{role} = {_inline({'column': column.column} | said)}"
    for number, question in open_questions(table.read_text("utf-8")):
        yield f"# {ASK}{question}  ({table.name}, line {number})"
    for name, joint in config.joints.items():
        model = SLIDING if "force" in joint.channels else TURNING
        yield f"\n[joints.{name}]\nrate = {joint.rate!r}\nmodel = {{ {model} }}"
        yield f"[joints.{name}.channels]"
        for role in joint.channels:
            answers = columns.joints[name][role].model_dump(
                include={"scale", "offset", "delay", "wrap"}, exclude_defaults=True
            )
            yield f"{role} = {_inline({'signal': f'played.row.{name}_{role}'} | answers)}"


def _inline(entries: Mapping[str, object]) -> str:
    """A table of TOML on one line."""
    return f"{{ {', '.join(toml_text({key: value}).strip() for key, value in entries.items())} }}"


def _questions(table: str) -> Sequence[str]:
    return [line if line.startswith("#") else f"# {line}" for line in table.splitlines() if ASK in line]


def _rate(source: Path, columns: Columns) -> float:
    found = with_torque(columns)
    config = configured(source, read(source, found), found)
    return next(iter(config.joints.values())).rate


__all__ = ["LayoutError", "RobotError", "proposed"]
