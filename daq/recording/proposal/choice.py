"""Chooses the families of columns that are position, torque and velocity of the joints."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from daq.recording.proposal.families import BARE, ColumnFamily, Key, Member, is_number
from daq.recording.proposal.words import ROLES

EFFORTS: Final = ("torque", "force", "input", "current", "load")  # the first of these that exists is proposed


class Match(NamedTuple):
    """A family of columns other than the positions, joint by joint."""

    family: ColumnFamily
    members: list[Member | None]  # in the order of the positions; None if a joint has no such column
    by_order: bool  # whether the keys differ, so that only the order relates columns to joints


def measured(families: Sequence[ColumnFamily], roles: Sequence[str]) -> list[ColumnFamily]:
    """Return the families of these quantities that are measurements of joints."""
    return [
        one
        for one in families
        if one.role in roles and not (one.said.reference or one.said.estimated) and not one.said.cartesian
    ]


def _estimated(families: Sequence[ColumnFamily], roles: Sequence[str]) -> list[ColumnFamily]:
    """Return the families of these quantities that a drive or an observer computed."""
    computed = [one for one in families if one.role in roles and one.said.estimated]
    return [one for one in computed if not one.said.reference and not one.said.cartesian]


def positions(families: Sequence[ColumnFamily], count: int) -> list[ColumnFamily]:
    """Return the candidates for the position, the best first; count: number of joints, or 0 if unknown."""
    efforts = [*measured(families, EFFORTS), *_estimated(families, EFFORTS)]
    found = measured(families, ("position",)) or _estimated(families, ("position",)) or measured(families, (BARE,))

    def score(one: ColumnFamily) -> float:
        partner = any(match(one, effort) is not None for effort in efforts)
        kinds = sum({"motor": 1.0, "link": 2.0, "filtered": 2.0}.get(kind, 0.5) for kind in one.said.kinds)
        return (
            100.0 * (len(one.members) == count)
            + 30.0 * partner
            + 20.0 * one.said.measured
            + _rank(one)
            + 5.0 * one.moving / len(one.members)
            - kinds
        )

    return sorted(found, key=score, reverse=True)


def efforts(families: Sequence[ColumnFamily], position: ColumnFamily) -> list[Match]:
    """Return the candidates for the torque of these positions, the best first; columns that never change come last."""
    candidates = [*measured(families, EFFORTS), *_estimated(families, EFFORTS)]
    found = [one for family in candidates if (one := match(position, family)) is not None]

    def score(one: Match) -> float:
        family = one.family
        filled = sum(member is not None for member in one.members) / len(one.members)
        kinds = sum({"sensor": -3.0, "from current": 3.0}.get(kind, 1.0) for kind in family.said.kinds)
        return (
            -1000.0 * (family.moving == 0)
            - 300.0 * family.said.estimated
            - 200.0 * EFFORTS.index(family.role)
            + 40.0 * filled
            + 20.0 * family.said.measured
            + 15.0 * (family.container == position.container)
            + _rank(family)
            + 5.0 * family.moving / len(family.members)
            - kinds
            - 10.0 * one.by_order
        )

    return sorted(found, key=score, reverse=True)


def _rank(family: ColumnFamily) -> float:
    words = ROLES.get(family.role, ("",))
    return 10.0 * (len(words) - family.said.rank) / len(words)


def match(position: ColumnFamily, other: ColumnFamily) -> Match | None:
    """Assign the columns of another family to the joints; None if they do not belong to these joints."""
    by_key = {one.key: one for one in other.members}
    keys = position.keys
    if len(keys) == len(other.members) == 1:
        return Match(other, list(other.members), by_order=False)
    if position.matrix != other.matrix and len(keys) == len(by_key) and _numbers(keys) and _numbers(other.keys):
        return Match(other, list(other.members), by_order=False)  # [0] and 1 both name the first joint
    hits = sum(key in by_key for key in keys)
    if hits == len(keys) or (hits == len(by_key) and hits > 0):
        members = [by_key.get(key) for key in keys]
        return Match(replace(other, members=[one for one in members if one]), members, by_order=False)
    last = {key[-1:]: member for key, member in by_key.items()}  # after the numbers of channels: "#3 Torque Axis 1"
    if len(last) == len(keys) == len({key[-1:] for key in keys}) and all(map(_all_numbers, (*keys, *by_key))):
        members = [last.get(key[-1:]) for key in keys]
        if all(members) and not (_numbers(keys) and _numbers(other.keys)):
            return Match(other, members, by_order=False)
    if len(keys) == len(by_key) and _numbers(keys) and _numbers(other.keys):
        return Match(other, list(other.members), by_order=True)
    return None


def _all_numbers(key: Key) -> bool:
    return bool(key) and all(part.isdigit() for part in key)


def _numbers(keys: Sequence[Key]) -> bool:
    return all(is_number(key) for key in keys)


def same_values(one: Match, other: Match) -> bool:
    """Whether two candidates contain the same numbers."""
    return all(
        a is None or b is None or np.array_equal(a.values, b.values, equal_nan=True)
        for a, b in zip(one.members, other.members, strict=True)
    )
