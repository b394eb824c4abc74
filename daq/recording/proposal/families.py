"""Groups columns into families: one quantity of every joint, with a key that identifies the joint."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from daq.recording.proposal.column_name import ColumnName, counts_rows, is_bare, is_state, read_name
from daq.recording.proposal.words import SILENT
from drivers.units import parse
from estimators.quantities import Floats

#: 1, argued: Largest deviation from one of the norm of a quaternion's four numbers; joint angles have no such norm.
UNIT_NORM: Final = 1e-3

BARE: Final = "bare"  # role of columns whose name is only that of a joint
_BY_UNIT: Final = {"rad": "position", "rad/s": "velocity", "N·m": "torque", "A": "current"}
_SLIDES: Final = {"m": "position", "N": "force"}

Key = tuple[str, ...]  # identifies a joint: a number, or words


class Member(NamedTuple):
    """One column of a family."""

    key: Key
    column: str  # name of the column in tables of columns
    values: Floats


@dataclass(slots=True)
class ColumnFamily:
    """One quantity, joint by joint."""

    role: str
    said: ColumnName  # meaning of the name of its first column
    members: list[Member]
    container: str = ""  # the part before the last dot or slash, or the name of the matrix
    matrix: bool = False

    @property
    def keys(self) -> list[Key]:
        """The joints' keys in order."""
        return [one.key for one in self.members]

    @property
    def names(self) -> str:
        """The names of the family's columns as text."""
        first, last = self.members[0].column, self.members[-1].column
        return first if len(self.members) == 1 else f"{first} … {last}"

    @property
    def largest(self) -> float:
        """The largest magnitude of all its columns."""
        return max(float(np.abs(one.values[np.isfinite(one.values)]).max(initial=0.0)) for one in self.members)

    @property
    def moving(self) -> int:
        """Number of its columns that are not constant."""
        return sum(
            len(known := one.values[np.isfinite(one.values)]) > 1 and bool(np.ptp(known) > 0) for one in self.members
        )


def families_of(table: Mapping[str, Floats], rows: int, units: Mapping[str, str]) -> list[ColumnFamily]:
    """Return all families of columns and all matrices of any quantity, without scalars and columns of other lengths.

    units: column → unit, from a row of units, which shows the quantity of columns that are only named after a joint.
    """
    found: list[ColumnFamily] = []
    loose: dict[tuple[object, ...], list[tuple[str, ColumnName, Floats]]] = {}
    for name, values in table.items():
        said = read_name(name)
        unit = units.get(name) or said.unit
        if values.size == rows and (is_bare(said) or (not said.role and unit)):
            bare = is_bare(said)
            said = said._replace(role=(_BY_UNIT | _SLIDES if bare else _BY_UNIT).get(_si(unit), BARE if bare else ""))
        if values.ndim == 2 and min(values.shape) > 1 and rows == max(values.shape):
            if not said.role and is_state(said):
                said = said._replace(role=BARE)
            across = values if values.shape[0] == rows else values.T
            members = [Member((str(i),), f"{name}[{i}]", across[:, i].astype(float)) for i in range(across.shape[1])]
            found.append(ColumnFamily(said.role, said, members, _container(name), matrix=True))
        elif values.size == rows and not counts_rows(name):
            about = (said.role, said.kinds, said.reference, said.estimated, said.cartesian, said.measured, _shape(name))
            loose.setdefault(about, []).append((name, said, values.ravel().astype(float)))
    found.extend(_family(group) for group in _mixed(loose))
    return [one for one in found if not _quaternion(one)]


def _si(unit: str) -> str:
    found = parse(unit) if unit else None
    return "" if found is None else found.unit


def _shape(name: str) -> str:
    """Return the name of the matrix of a column, or nothing; keys distinguish columns of one quantity."""
    match = re.fullmatch(r"(.*)\[\d+\]", name)
    return match[1] if match and "joint" not in match[1].lower() else ""


def _mixed(
    groups: Mapping[tuple[object, ...], list[tuple[str, ColumnName, Floats]]],
) -> Iterable[list[tuple[str, ColumnName, Floats]]]:
    """Split the groups in which two columns would belong to the same joint, by the other parts of their names."""
    for members in groups.values():
        keys = _keys([one[1].rest for one in members])
        if len(set(keys)) == len(keys):
            yield members
            continue
        split: dict[str, list[tuple[str, ColumnName, Floats]]] = {}
        for one in members:
            split.setdefault(re.sub(r"\d+", "#", one[0]), []).append(one)
        yield from split.values()


def _family(members: list[tuple[str, ColumnName, Floats]]) -> ColumnFamily:
    keys = _keys([one[1].rest for one in members])
    whole = [Member(key, name, values) for key, (name, _, values) in zip(keys, members, strict=True)]
    if all(is_number(one.key) for one in whole):
        whole.sort(key=lambda one: int(one.key[-1]))
    said = members[0][1]
    return ColumnFamily(said.role, said, whole, _container(members[0][0]))


def _keys(rests: list[tuple[str, ...]]) -> list[Key]:
    """Return the words that differ between the columns, or only the numbers if the numbers differ."""
    telling = [tuple(word for word in rest if word not in SILENT) for rest in rests]
    if len(rests) > 1 and len({len(one) for one in telling}) == 1:
        differs = [len(set(place)) > 1 for place in zip(*telling, strict=True)]
        keys = [tuple(word for word, one in zip(rest, differs, strict=True) if one) for rest in telling]
        once = [tuple(dict.fromkeys(key)) for key in keys]  # J1_State/J1_Position names the joint twice
        return once if len(set(once)) == len(keys) else keys
    shared = set(telling[0]).intersection(*telling) if len(rests) > 1 else set()
    keys = [tuple(word for word in rest if word not in shared) for rest in telling]
    if len(set(keys)) < len(keys):  # a number in all names is also the number of one joint
        keys = telling
    if len(rests) == 1:
        numbers = tuple(word for word in telling[0] if word.isdigit())
        return [numbers[-1:]]
    return keys


def is_number(key: Key) -> bool:
    """Whether a key is the number of a joint."""
    return len(key) == 1 and key[0].isdigit()


def _container(name: str) -> str:
    head, dot, _ = name.rpartition(".")
    return head if dot else ""


def _quaternion(family: ColumnFamily) -> bool:
    """Whether four columns are an orientation, whose norm is one in every row."""
    if len(family.members) != 4:
        return False
    norm = np.sqrt(sum(one.values**2 for one in family.members))
    known = norm[np.isfinite(norm)]
    return len(known) > 1 and bool(np.abs(known - 1.0).max() < UNIT_NORM)
