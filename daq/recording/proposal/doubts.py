"""Questions about the chosen positions and torques that their names and numbers do not answer."""

from collections.abc import Iterator, Sequence

from daq.recording.proposal.choice import Match
from daq.recording.proposal.families import BARE, ColumnFamily


def of_effort(
    effort: Match, position: ColumnFamily, others: Sequence[Match], unnamed: bool, length: bool
) -> Iterator[str]:
    """Return the questions about the torque.

    others: other candidates for the torque; unnamed: whether the columns have no names; length: whether the file states
    that the position is a length.
    """
    family = effort.family
    if unnamed:
        yield (
            "the columns have no names: position and velocity are recognised by one being the rate of the other, "
            "and the column that is left is taken for the torque. Is it?"
        )
    if effort.by_order:
        yield f"{position.names} and {family.names} are numbered differently: joint by joint in order?"
    columns = [len(position.members), len(family.members)]
    if position.matrix and family.matrix and columns[0] != columns[1]:
        yield (
            f"{position.names} are {columns[0]} columns and {family.names} {columns[1]}: which belong together? (a "
            "base that is free has 7 positions, 6 velocities and 6 forces)"
        )
    if family.role == "current":
        yield (
            f"there is no torque: {family.names} is a motor current. Give scale in N·m/A (gear ratio times torque "
            "constant), and its sign"
        )
    if family.role == "load":
        yield f"{family.names} is a load without a unit: is it a torque, and how many N·m is 1? (scale)"
    if family.role == "input":
        yield f"{family.names} is taken for the torque, the input of the model: is it measured, in N·m?"
    if family.said.estimated:
        yield f"{family.names} is computed by the drive or an observer by its name: is it measured?"
    sides = ["motor" in one.said.kinds for one in (position, family)]
    if sides[0] != sides[1]:
        first, second = (position, family) if sides[0] else (family, position)
        yield (
            f"{first.names} are the motor's by their name, {second.names} not: give the gear ratio (scale), or say "
            "that both are on the joint's side"
        )
    if family.role == "force" and not length:
        yield f"{family.names} is a force: is the joint prismatic, its position in m?"
    if family.said.kinds == ("from current",) and not others:
        yield f"{family.names} is a torque made from a motor's current; no sensor's torque moves"
    if others:
        listed = ", ".join(one.family.names for one in others[:4])
        yield f"which is the torque of the drive? Taken: {family.names}; there are also {listed}"


def of_position(position: ColumnFamily) -> Iterator[str]:
    """Return the questions about the positions."""
    if position.role == BARE:
        yield f"{position.names} are called after joints, and nothing else: are they positions?"
    odd = [key for key in position.keys if len(key) == 1 and len(key[0]) == 1 and not key[0].isdigit()]
    if odd and len(position.members) > 1:
        yield f"are {', '.join(key[0] for key in odd)} joints? Their columns: {position.names}"
