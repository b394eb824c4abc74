"""Recordings in columns (.mat, .npz, .csv) → the channels of joints in SI: a table says which column is what.

    time = "rec.time_cont"                 # s; or time_unit = "ms"; or rate = 250.0 instead
    [joints.axis1]
    position = { column = "rec.act_pos_mot_deg[0]", unit = "deg" }
    link_position = { column = "rec.act_pos_se_deg[0]", unit = "deg" }

Without a table the columns must be called `time` and `JOINT.ROLE`, in SI. In a .mat file a dot leads into a structure,
[i] picks one row or column (from 0), whichever is not time.
"""

import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Self

import numpy as np
from pydantic import Field, model_validator
from scipy.io import loadmat

from daq.config.load import read_toml, validate
from daq.config.sections import Name, Section
from daq.recording.reader import RecordingError
from drivers.base import nearest
from drivers.units import Quantity, Scale
from estimators.alignment.channel_delay import Series
from estimators.quantities import Floats

Channels = dict[str, dict[str, Series]]  # joint → role → channel

_INDEX: Final = re.compile(r"(.*?)(?:\[(\d+)\])?")


class Column(Quantity):
    """One channel of a joint: value = scale × (column in SI) + offset."""

    column: str
    scale: Scale = 1.0
    offset: float = Field(default=0.0, allow_inf_nan=False)
    wrap: float | None = Field(default=None, gt=0, description="rad (m) after which the encoder starts again")


class Columns(Section):
    """Which column of a recording is what."""

    time: str | None = None
    time_unit: Annotated[str, Field(pattern="^(s|ms|us|µs|ns)$")] = "s"
    rate: float | None = Field(default=None, gt=0, description="Hz, where the recording has no times")
    joints: dict[Name, dict[Name, Column]] = Field(min_length=1)

    @model_validator(mode="after")
    def _has_time(self) -> Self:
        if (self.time is None) == (self.rate is None):
            raise ValueError(f"expected either time or rate, found {'none' if self.time is None else 'both'}")
        return self


def is_configuration(file: Path) -> bool:
    """Whether a file is a whole configuration rather than a table of columns. Raises ConfigError."""
    return "drivers" in read_toml(file)[0]


def load_columns(file: Path) -> Columns:
    """A table of columns. Raises ConfigError."""
    data, lines = read_toml(file)
    return validate(Columns, data, file, lines)


def read(file: Path, columns: Columns | None) -> Channels:
    """The channels of a recording. Raises RecordingError."""
    table = _table(file)
    if columns is None:
        columns = _by_name(file, table)
    if columns.time is None:
        length = max(max(np.shape(one)) for one in table.values())
        time = np.arange(length) / float(columns.rate or 1)
    else:
        factor = Quantity(unit=columns.time_unit).conversion("").factor
        time = _pick(file, table, columns.time, 0) * factor
    found: Channels = {}
    for joint, roles in columns.joints.items():
        found[joint] = {}
        for role, column in roles.items():
            raw = _pick(file, table, column.column, len(time))
            if len(raw) != len(time):
                raise RecordingError(f"{file}: {column.column} has {len(raw)} rows, time has {len(time)}")
            unit = column.conversion("")
            value = column.scale * (unit.factor * raw + unit.offset) + column.offset
            found[joint][role] = Series(time, value if column.wrap is None else _unwrapped(value, column.wrap))
    return found


def _by_name(file: Path, table: Mapping[str, Floats]) -> Columns:
    names = [name for name in table if re.fullmatch(r"[\w-]+\.[\w-]+", name)]
    if "time" not in table or not names:
        raise RecordingError(
            f"{file}: expected the columns time and JOINT.ROLE, or a table that says which column is what; "
            f"found {', '.join(f'{name} {list(one.shape)}' for name, one in list(table.items())[:20])}"
        )
    joints: dict[str, dict[str, Column]] = {}
    for name in names:
        joint, role = name.split(".")
        joints.setdefault(joint, {})[role] = Column(column=name)
    return Columns(time="time", joints=joints)


def _unwrapped(values: Floats, wrap: float) -> Floats:
    known = np.isfinite(values)
    values = values.copy()
    values[known] = np.unwrap(values[known], period=wrap)
    return values


def _pick(file: Path, table: Mapping[str, Floats], path: str, rows: int) -> Floats:
    match = _INDEX.fullmatch(path)
    name, index = (match[1], match[2]) if match else (path, None)
    if name not in table:
        raise RecordingError(f'{file}: found no column "{name}", {nearest(name, table)}')
    values = table[name].squeeze()
    if index is not None and values.ndim == 2:
        across = 0 if values.shape[1] == rows or values.shape[0] < values.shape[1] else 1
        if int(index) >= values.shape[across]:
            raise RecordingError(f"{file}: {name} has {values.shape[across]} columns, found [{index}]")
        values = np.moveaxis(values, across, 0)[int(index)]
    if values.ndim != 1:
        raise RecordingError(f"{file}: {name} has the shape {list(values.shape)}, expected one column: {name}[0]")
    return values.astype(np.float64)


def _table(file: Path) -> dict[str, Floats]:
    """Every numeric column or matrix of a file by its name."""
    readers = {".mat": _mat, ".npz": _npz, ".csv": _csv}
    if file.suffix.lower() not in readers:
        raise RecordingError(f"{file}: expected one of {', '.join(readers)}, found {file.suffix or 'no ending'}")
    try:
        table = readers[file.suffix.lower()](file)
    except OSError as error:
        raise RecordingError(f"{file}: {error.strerror or error}") from error
    except Exception as error:  # damaged files make readers raise whatever they like
        raise RecordingError(f"{file}: cannot be read: {str(error).splitlines()[0]}") from error
    if not table:
        raise RecordingError(f"{file}: found no numbers")
    return table


def _mat(file: Path) -> dict[str, Floats]:
    return dict(_leaves("", loadmat(str(file), simplify_cells=True)))


def _npz(file: Path) -> dict[str, Floats]:
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as data:
        return dict(_leaves("", data))


def _csv(file: Path) -> dict[str, Floats]:
    with file.open(encoding="utf-8-sig") as lines, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty file is said by whoever finds no numbers
        names = [name.strip().strip('"') for name in next(lines, "").split(",")]
        rows = np.genfromtxt(lines, delimiter=",", ndmin=2, dtype=np.float64)
    if rows.size == 0:
        return {}
    if rows.shape[1] != len(names):
        raise ValueError(f"the first line names {len(names)} columns, the others have {rows.shape[1]}")
    return dict(zip(names, rows.T, strict=True))


def _leaves(prefix: str, node: Mapping[str, Any]) -> Iterator[tuple[str, Floats]]:
    for key, value in node.items():
        if key.startswith("__"):
            continue
        if isinstance(value, Mapping):
            yield from _leaves(f"{prefix}{key}.", value)
        elif isinstance(value, np.ndarray) and value.dtype.kind in "fiu" and value.ndim in (1, 2) and value.size > 1:
            yield prefix + key, value
