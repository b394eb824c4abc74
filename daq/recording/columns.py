"""Reads the channels of joints in SI from recordings in columns, with a table that names the columns.

Every kind of file of estimators/numerics/named_arrays.py is read, a folder of such files, and bags of ROS 2.

    time = "rec.time_cont"                 # s; or time_unit = "ms"; or rate = 250.0 instead
    [joints.axis1]
    position = { column = "rec.act_pos_mot_deg[0]", unit = "deg" }
    link_position = { column = "rec.act_pos_se_deg[0]", unit = "deg" }

One table describes all joints of a robot and serves all its recordings. Without a table the columns must be named
`time` and `JOINT.ROLE`, in SI; a ROS 2 bag has the names JOINT.position, .velocity and .effort. In a .mat file a dot
selects a field of a structure, and [i] selects one row or column (from 0) across the time axis. In a folder the first
word is the name of the file. A channel may have its own `time`. Our own recordings need no table, since their
configuration describes the channels.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Self

import numpy as np
from pydantic import Field, model_validator

from daq.config.fields import Name, Section
from daq.config.routes import routes
from daq.config.toml_file import read_toml, validate
from daq.recording.reader import SUFFIX, RecordingError, blocks, configuration
from daq.recording.ros_bag import is_bag, read_bag
from drivers.base import nearest
from drivers.reading import READING
from drivers.units import QuantitySettings, Scale
from estimators.alignment.channel_delay import ChannelSeries
from estimators.numerics.named_arrays import named_columns
from estimators.numerics.tables.named_columns import NamedColumns
from estimators.offline.robot.motion import GAP_SECONDS, running_backwards
from estimators.quantities import Floats

Channels = dict[str, dict[str, ChannelSeries]]  # joint → role → channel

#: Hz, argued: No joint is recorded more slowly; times in ms that are mistaken for s give 0.1 to 1 Hz.
SLOWEST: Final = 5.0
#: 1, argued: From this share of rows without a value on, they are rows of other sources in the same log; a sensor that
#: fails in so many rows would not be a measurement.
FOREIGN: Final = 0.1
FIRST_ROWS: Final = 1000  # rows by which the rate of a recording is judged
_INDEX: Final = re.compile(r"(.*?)(?:\[(\d+)\])?")


class Column(QuantitySettings):
    """One channel of a joint: value = scale × (column in SI) + offset."""

    column: str
    scale: Scale = 1.0
    offset: float = Field(default=0.0, allow_inf_nan=False)
    wrap: float | None = Field(default=None, gt=0, description="rad (m) after which the encoder starts again")
    delay: float = Field(default=0.0, ge=-1.0, le=1.0, description="s by which it is late (see jointwatch skew)")
    time: str | None = Field(default=None, description="its own column of times, where it is not the table's")


class Columns(Section):
    """The table that describes each column of a recording."""

    time: str | None = None
    time_unit: Annotated[str, Field(pattern="^(s|ms|us|µs|ns)$")] = "s"
    rate: float | None = Field(default=None, gt=0, description="Hz, where the recording has no times")
    files: list[str] = Field(default=[], description="of a folder that is one recording: the files that are meant")
    joints: dict[Name, dict[Name, Column]] = Field(default={}, description="of each joint, role → column")

    @model_validator(mode="after")
    def _has_joints_and_time(self) -> Self:
        if not self.joints:
            raise ValueError(
                'found no joint: add [joints.NAME] with position = { column = "COLUMN" } and torque = '
                '{ column = "COLUMN" } for each (jointwatch columns RECORDING proposes them)'
            )
        if (self.time is None) == (self.rate is None):
            raise ValueError(f"expected either time or rate, found {'none' if self.time is None else 'both'}")
        return self


def is_configuration(file: Path) -> bool:
    """Whether a file is a complete configuration rather than a table of columns. Raises ConfigError."""
    return "drivers" in read_toml(file)[0]


def load_columns(file: Path) -> Columns:
    """Load a table of columns. Raises ConfigError."""
    data, lines = read_toml(file)
    return validate(Columns, data, file, lines)


def read(file: Path, columns: Columns | None) -> Channels:
    """Read the channels of a recording, each with its own times. Raises RecordingError with all mistakes."""
    if is_bag(file):
        return _of_bag(file, columns)
    if file.suffix.lower() == SUFFIX:
        return _of_our_own(file, columns)
    table = numeric_columns(file, [] if columns is None else columns.files)
    if columns is None:
        columns = _by_name(file, table)
    problems: list[str] = []
    shared = _time(table, columns, columns.time, problems)
    found: Channels = {}
    for joint, roles in columns.joints.items():
        found[joint] = {}
        for role, column in roles.items():
            time = shared if column.time is None else _time(table, columns, column.time, problems)
            try:
                raw = _pick(table, column.column, len(time))
            except ValueError as mistake:
                problems.append(str(mistake))
                continue
            if len(time) and len(raw) != len(time):
                problems.append(f"{column.column} has {len(raw)} rows, {column.time or 'time'} has {len(time)}")
                continue
            found[joint][role] = _of_own_rows(time - column.delay, _channel(raw, column))
    if problems:
        raise RecordingError("\n".join(f"{file}: {problem}" for problem in dict.fromkeys(problems)))
    return _without_empty_rows(found)


def check_times(file: Path, channels: Channels) -> None:
    """Raise RecordingError if times run backwards, or if rows are so far apart that times in ms were mistaken for s.

    Rows that are somewhat late are sorted; a second run in the same file would be mixed with the first.
    """
    for roles in channels.values():
        for series in roles.values():
            if len(series.time) > 1 and np.diff(series.time).min() < -GAP_SECONDS:
                raise RecordingError(f"{file}: {running_backwards(series.time)}")
            steps = np.diff(series.time[:FIRST_ROWS])
            step = float(np.median(steps)) if len(steps) else 0.0
            if step > 1.0 / SLOWEST:
                raise RecordingError(
                    f"{file}: a row every {step:.6g} s would be {1.0 / step:.3g} Hz, too slow for a joint: are its "
                    'times in ms (time_unit = "ms" in the table of columns), µs or ns?'
                )


def _of_our_own(file: Path, columns: Columns | None) -> Channels:
    """Read our own recording: readings in order of arrival, in SI and already scaled; times in s since the first."""
    if columns is not None:
        raise RecordingError(f"{file}: expected no table of columns: our own recording knows its channels")
    config = configuration(file)
    readings = np.concatenate([np.zeros(0, READING), *(block.readings for block in blocks(file))])
    begin = readings["time"][:1].sum()
    found: Channels = {name: {} for name in config.joints}
    for index, route in enumerate(routes(config)):
        joint = config.joints[route.joint]
        if route.role in joint.channels:
            mine = readings[readings["channel"] == index]
            values = _unwrapped(mine["value"], joint.channels[route.role].wrap)
            found[route.joint][route.role] = ChannelSeries((mine["time"] - begin) * 1e-9, values)
    return found


def _of_bag(file: Path, columns: Columns | None) -> Channels:
    """Read the joint states of a ROS 2 bag."""
    bag = read_bag(file)
    if columns is None:
        return {
            name: {field: ChannelSeries(time, one) for field, one in fields.items()}
            for name, (time, fields) in bag.items()
        }
    found: Channels = {}
    problems = []
    for joint, roles in columns.joints.items():
        found[joint] = {}
        for role, column in roles.items():
            name, _, field = column.column.rpartition(".")
            if name not in bag or field not in bag[name][1]:
                known = [f"{one}.{key}" for one, (_, fields) in bag.items() for key in fields]
                problems.append(f'{file}: found no column "{column.column}", {nearest(column.column, known)}')
                continue
            time, fields = bag[name]
            found[joint][role] = ChannelSeries(time - column.delay, _channel(fields[field], column))
    if problems:
        raise RecordingError("\n".join(problems))
    return found


def _time(table: Mapping[str, Floats], columns: Columns, name: str | None, problems: list[str]) -> Floats:
    """Return the times of a column, (rows,) s; without times an empty array, and an entry in `problems`."""
    if name is None:
        length = max(max(np.shape(one)) for one in table.values())
        return np.arange(length) / float(columns.rate or 1)
    try:
        return _pick(table, name, 0) * QuantitySettings(unit=columns.time_unit).conversion("").factor
    except ValueError as mistake:
        problems.append(str(mistake))
        return np.zeros(0)


def _by_name(file: Path, table: Mapping[str, Floats]) -> Columns:
    names = [name for name in table if re.fullmatch(r"[\w-]+\.[\w-]+", name)]
    if "time" not in table or not names:
        listed = ", ".join(f"{name} {list(one.shape)}" for name, one in list(table.items())[:20])
        raise RecordingError(
            f"{file}: expected the columns time and JOINT.ROLE, or a table that says which column is what "
            f"(jointwatch columns proposes one); found {listed}"
        )
    joints: dict[str, dict[str, Column]] = {}
    for name in names:
        joint, role = name.split(".")
        joints.setdefault(joint, {})[role] = Column(column=name)
    return Columns(time="time", joints=joints)


def _channel(raw: Floats, column: Column) -> Floats:
    """Convert the numbers of a column according to the table."""
    unit = column.conversion("")
    return _unwrapped(column.scale * (unit.factor * raw + unit.offset) + column.offset, column.wrap)


def _of_own_rows(time: Floats, values: Floats) -> ChannelSeries:
    """Return a channel without rows that have no time, and without rows of other sources in the same log."""
    own = np.isfinite(time)
    has_value = np.isfinite(values)
    if has_value.any() and np.mean(~has_value) > FOREIGN:
        own &= has_value
    return ChannelSeries(time[own], values[own])


def _without_empty_rows(channels: Channels) -> Channels:
    """Remove rows in which no channel of the table has a value: rows of sources that the table does not use."""
    every = [one for roles in channels.values() for one in roles.values()]
    if not every or any(not np.array_equal(one.time, every[0].time) for one in every[1:]):
        return channels
    full = np.any([np.isfinite(one.values) for one in every], axis=0)
    if full.all() or not full.any():
        return channels
    return {
        joint: {role: ChannelSeries(one.time[full], one.values[full]) for role, one in roles.items()}
        for joint, roles in channels.items()
    }


def _unwrapped(values: Floats, wrap: float | None) -> Floats:
    if wrap is None:
        return values
    known = np.isfinite(values)
    values = values.copy()
    values[known] = np.unwrap(values[known], period=wrap)
    return values


def _pick(table: Mapping[str, Floats], path: str, rows: int) -> Floats:
    """Return one column, (rows,). Raises ValueError."""
    match = None if path in table else _INDEX.fullmatch(path)  # a name itself may end with [0]
    name, index = (match[1], int(match[2] or 0)) if match else (path, 0)
    if name not in table:
        raise ValueError(f'found no column "{name}", {nearest(name, table)}')
    values = np.atleast_1d(table[name].squeeze())
    if values.ndim == 2 and match and match[2]:
        lying = values.shape[1] == rows or (values.shape[0] != rows and values.shape[0] < values.shape[1])
        across = 0 if lying else 1
        if index >= values.shape[across]:
            raise ValueError(f"{name} has {values.shape[across]} columns, found [{index}]")
        values = np.moveaxis(values, across, 0)[index]
    elif index:
        raise ValueError(f"{name} has one column, found [{index}]")
    if values.ndim != 1:
        raise ValueError(f"{name} has the shape {list(values.shape)}, expected one column: {name}[0]")
    return values.astype(np.float64)


def numeric_columns(file: Path, within: Sequence[str] = ()) -> dict[str, Floats]:
    """Return every numeric column or matrix of a file or folder by its name. Raises RecordingError."""
    try:
        table = {name: one for name, one in named_columns(file, within).columns.items() if one.ndim}
    except OSError as error:
        raise RecordingError(f"{error.filename or file}: {error.strerror or error}") from error
    except ValueError as error:
        raise RecordingError(f"{file}: {error}") from error
    if not table:
        raise RecordingError(without_numbers(file))
    return table


def without_numbers(file: Path) -> str:
    """Return the error message for a recording without numeric columns."""
    empty = file.is_file() and not file.stat().st_size
    return f"{file}: found no numbers{': the file is empty' if empty else ', expected rows of them under the names'}"


def named(file: Path, within: Sequence[str] = ()) -> NamedColumns:
    """Return the columns of another program's recording by name, with the file's notes. Raises RecordingError."""
    if is_bag(file):
        bag = read_bag(file)
        columns = {f"{name}.{key}": one for name, (_, fields) in bag.items() for key, one in fields.items()}
        clock = max((time for time, _ in bag.values()), key=len)
        units = {"time": "s"} | {name: "rad" for name in columns if name.endswith(".position")}
        notes = ["times are the stamps of the messages"]
        if any(name.endswith(".effort") for name in columns):
            notes.append(
                "effort is a torque (N·m) by its definition; where a driver puts motor current there, give scale"
            )
        return NamedColumns({"time": clock} | columns, units, notes=notes)
    try:
        return named_columns(file, within)
    except OSError as error:
        raise RecordingError(f"{error.filename or file}: {error.strerror or error}") from error
    except ValueError as error:
        raise RecordingError(f"{file}: {error}") from error
