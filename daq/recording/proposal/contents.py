"""The contents of a recording for a proposal: columns, families and clocks. Unsuitable recordings are refused here."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from daq.recording.columns import named, without_numbers
from daq.recording.proposal.clock import Clock, find_clock, rising_column
from daq.recording.proposal.column_name import read_name, usual_unit, words_of
from daq.recording.proposal.families import ColumnFamily, Member, families_of
from daq.recording.proposal.headerless import guess, is_clock
from daq.recording.reader import SUFFIX, RecordingError, configuration
from daq.recording.ros_bag import KINDS, is_bag, topics_of
from daq.recording.ros_database import is_database
from estimators.numerics.tables.named_columns import UNNAMED, unnamed_texts
from estimators.quantities import Floats

ROLES: Final = ("position", "velocity", "torque", "force", "current")
TOPICS: Final = 20  # largest number of topics of a bag that are listed
_FRAME: Final = re.compile(r"\(\d+\.\d+\)\s+\S+\s+[0-9A-Fa-f]+#")
_JOINT_COLUMN: Final = ("joint", "jointname", "jointid", "axis", "name", "jointindex", "jointnumber")


@dataclass(slots=True)
class Contents:
    """The contents of a recording on which a proposal is based."""

    table: dict[str, Floats]
    families: list[ColumnFamily]
    units: dict[str, str]
    notes: list[str]
    joint_names: dict[str, str] = field(default_factory=dict)  # key of a joint → name of the joint in the file
    clock: Clock | None = None  # clock of a table without names
    unnamed: bool = False

    def clock_of(self, family: ColumnFamily) -> Clock | None:
        """Return the clock of a family's columns."""
        if self.unnamed:
            return self.clock
        return find_clock(self.table, len(family.members[0].values), family.container, self.units)

    def rising_clock(self, family: ColumnFamily) -> Clock | None:
        """Return a column next to a family that rises like times but has another name; a person has to decide."""
        rest = {name: one for name, one in self.table.items() if one.ndim == 1 and not read_name(name).role}
        return None if self.unnamed else rising_column(rest, len(family.members[0].values), self.units)


def read_contents(file: Path, within: Sequence[str] = ()) -> Contents:
    """Read a recording. Raises RecordingError."""
    _refuse_frames(file)
    bag = is_bag(file)
    found = named(file, within)
    table = {name: one for name, one in found.columns.items() if one.ndim in (1, 2) and one.size > 1}
    table = {name: one for name, one in table.items() if np.isfinite(one).any()}
    if not table:
        raise RecordingError(without_numbers(file))
    long = found.long or _numbered_joints(table)
    if long:
        raise RecordingError(
            f'{file}: every row is of another joint (column "{long}"): write a column for each joint and quantity, '
            "as JOINT.position and JOINT.torque, a row an instant"
        )
    units = {name: usual_unit(unit) for name, unit in found.units.items()}
    contents = Contents(table, [], units, list(found.notes), _names(found.texts))
    names = list(found.columns)
    if bag:
        stems = dict.fromkeys(name.rpartition(".")[0] for name in names if name != "time")
        contents.joint_names = {stem: stem for stem in stems}
        contents.families = _of_bag(table, list(stems))
        return contents
    for rows in _lengths(table):
        contents.families += [_without_clock(one, contents) for one in families_of(table, rows, units)]
    unnamed = [name for name, one in table.items() if one.ndim == 2 and not read_name(name).role]
    if not any(one.role in ROLES for one in contents.families) and len(unnamed) == 1:
        _guess(file, contents, unnamed[0], unnamed_texts(found.texts))
    return contents


def _refuse_frames(file: Path) -> None:
    """Raise RecordingError for recordings that have no columns."""
    bag = file.suffix.lower() == SUFFIX or is_database(file)
    if bag and file.exists() and not is_bag(file):
        try:
            configuration(file)
        except RecordingError:
            has = ", ".join(f"{topic} ({kind})" for topic, kind in list(topics_of(file).items())[:TOPICS])
            raise RecordingError(
                f"{file}: found no joint states in it ({', '.join(KINDS)}); it has {has or 'no topic'}: other types "
                "need a table, as PlotJuggler exports one (CSV)"
            ) from None
        raise RecordingError(f"{file}: a recording of jointwatch needs no table: jointwatch replay {file.name}")
    if file.suffix.lower() in (".blf", ".asc", ".trc") or (file.suffix.lower() in (".log", ".txt") and _frames(file)):
        raise RecordingError(
            f"{file}: frames of a CAN bus, not columns: they need a configuration with a DBC (jointwatch init --from "
            f"FILE.dbc), then: jointwatch replay {file.name} CONFIG"
        )


def _frames(file: Path) -> bool:
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            return any(_FRAME.match(line) for line, _ in zip(lines, range(20), strict=False))
    except OSError:
        return False


def _lengths(table: Mapping[str, Floats]) -> list[int]:
    """Return the numbers of rows of columns with a quantity in their name, the most frequent first."""
    count: Counter[int] = Counter()
    for name, one in table.items():
        if read_name(name).role in ROLES:
            count[max(one.shape)] += min(one.shape) if one.ndim == 2 else 1
    if not count:
        count[max(max(one.shape) for one in table.values())] += 1
    return [rows for rows, _ in count.most_common() if rows > 2]


def _without_clock(family: ColumnFamily, contents: Contents) -> ColumnFamily:
    """Separate the first column of a matrix if it is the time, as in a file for each quantity."""
    if not family.matrix or family.role not in ROLES or len(family.members) < 2:
        return family
    first = family.members[0]
    others = any(is_clock(one.values) for one in family.members[1:])
    if not is_clock(first.values) or others:
        return family
    stem = first.column.rpartition("[")[0]
    contents.table[f"{stem}[0]"] = first.values
    return ColumnFamily(family.role, family.said, family.members[1:], stem, matrix=True)


def _names(texts: Mapping[str, str]) -> dict[str, str]:
    """Return names of joints by number, from columns field.name0, field.name1, … with the same text in every row."""
    found = {}
    for column, text in texts.items():
        words = words_of(column)
        if len(words) > 1 and words[-1].isdigit() and words[-2] in ("name", "names") and text:
            found[words[-1]] = text
    return found


def _numbered_joints(table: Mapping[str, Floats]) -> str:
    """Return a column that counts the joints repeatedly, while every instant occurs several times."""
    for name, one in table.items():
        plain = "".join(word for word in words_of(name.rpartition(".")[2]))
        values = one.ravel()
        if plain in _JOINT_COLUMN and one.ndim == 1 and 1 < len(np.unique(values[:1000])) <= 64:
            return name
    return ""


def _of_bag(table: Mapping[str, Floats], joints: Sequence[str]) -> list[ColumnFamily]:
    """Return positions, velocities and efforts of a bag, in which joints have names."""
    found = []
    for last in ("position", "velocity", "effort"):
        members = [
            Member((joint,), f"{joint}.{last}", table[f"{joint}.{last}"].astype(float))
            for joint in joints
            if f"{joint}.{last}" in table
        ]
        if members:
            found.append(ColumnFamily("torque" if last == "effort" else last, read_name(last), members))
    return found


def _guess(file: Path, contents: Contents, name: str, texts: Sequence[str]) -> None:
    """Interpret a table without names; texts: the texts in every row, such as names of joints.

    Raises RecordingError.
    """
    matrix = contents.table[name]
    across = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    found = guess(across, name, find_clock(contents.table, len(across), "", contents.units), len(texts))
    if found.lacking:
        shape = f"{max(matrix.shape)} rows of {min(matrix.shape)} columns without names"
        raise RecordingError(f"{file}: {'' if name == UNNAMED else name + ': '}{shape}: {found.lacking}")
    contents.clock, contents.families, contents.unnamed = found.clock, found.families, True
    joints = len(found.families[0].members)
    if len(texts) >= joints:  # the name of a frame may come before them
        contents.joint_names = {str(i): one for i, one in enumerate(texts[-joints:])}
    contents.notes.append(found.form)
