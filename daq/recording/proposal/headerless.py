"""Finds positions, velocities and torques in a table without names by testing which column is a derivative of which.

The result is accepted only if the columns are k quantities of n joints, ordered by quantity or by joint, exactly one
quantity is the position, one is its derivative (with four quantities one more is the second derivative), and one
quantity remains.
"""

from itertools import permutations
from typing import Final, NamedTuple

import numpy as np

from daq.recording.proposal.clock import EVEN, Clock
from daq.recording.proposal.column_name import read_name
from daq.recording.proposal.derivative import FOLLOWS, together
from daq.recording.proposal.families import ColumnFamily, Member
from estimators.quantities import Floats

ROWS: Final = 4000  # largest number of compared rows


class Guessed(NamedTuple):
    """The interpretation of a table without names."""

    clock: Clock | None
    families: list[ColumnFamily]  # position, velocity, torque
    form: str  # in words
    lacking: str = ""  # reason why nothing can be proposed


def guess(matrix: Floats, name: str, beside: Clock | None = None, texts: int = 0) -> Guessed:
    """Interpret a table (rows, columns).

    beside: times outside of the table; texts: number of texts in each row.
    """
    clock, rest = (beside, list(range(matrix.shape[1]))) if beside is not None else _clock(matrix, name)
    time = None if clock is None else clock.values[:ROWS]
    if len(rest) in (3 * texts, 3 * texts - 3) and texts > 1:
        states = _joint_states(matrix, name, rest, time)
        if states:
            return Guessed(clock, states, "joint states as ROS prints them: positions, velocities, efforts")
    found = []
    for count in (2, 3, 4, 5):
        if len(rest) % count:
            continue
        joints = len(rest) // count
        for form, places in (
            ("quantity by quantity", [rest[k * joints : (k + 1) * joints] for k in range(count)]),
            ("joint by joint", [rest[k::count] for k in range(count)]),
        ):
            if joints == 1 and form != "quantity by quantity":
                continue
            for a, b in permutations(range(count), 2):
                rate = together([matrix[:ROWS, i] for i in places[a]], [matrix[:ROWS, i] for i in places[b]], time)
                if rate.correlation > FOLLOWS and rate.gain > 0:
                    found.append((count, form, places, a, b, rate.gain))
    names = "a line of names above the numbers (time,q1,…,qd1,…,tau1,…), or a table of columns by hand"
    if not found:
        return Guessed(clock, [], "", f"no column is the rate of another: which is which? Write {names}")
    count, form, places, *_ = found[0]
    same = [one for one in found if one[:2] == (count, form)]
    if any(one[:2] != (count, form) for one in found):
        return Guessed(clock, [], "", f"its columns can be read in more than one way: write {names}")
    chain = {one[3]: one[4] for one in same}
    first = [k for k in chain if k not in chain.values()]
    if len(first) != 1 or len(chain) != len(same):
        return Guessed(clock, [], "", f"several quantities have rates (a plan as well?): write {names}")
    known = {first[0], *chain.values()}
    others = [k for k in range(count) if k not in known]
    if len(others) != 1:
        lacking = "no torque with them" if not others else f"{len(others)} more quantities, any may be the torque"
        return Guessed(clock, [], "", f"found positions and their rates, {lacking}: write {names}")
    roles = {"position": first[0], "velocity": chain[first[0]], "torque": others[0]}
    families = [_family(role, [(i, matrix[:, i]) for i in places[k]], name) for role, k in roles.items()]
    return Guessed(clock, families, f"{count} quantities of {len(places[0])} joints, {form}")


def _joint_states(matrix: Floats, name: str, rest: list[int], time: Floats | None) -> list[ColumnFamily]:
    """Return the quantities of joint states in order if the second is the derivative of the first, else nothing."""
    joints = len(rest) // 3
    parts = [[(i, matrix[:, i]) for i in rest[k * joints : (k + 1) * joints]] for k in range(3)]
    q, v = ([values[:ROWS] for _, values in part] for part in parts[:2])
    if together(q, v, time).correlation <= FOLLOWS:
        return []
    return [_family(role, part, name) for role, part in zip(("position", "velocity", "torque"), parts, strict=True)]


def _clock(matrix: Floats, name: str) -> tuple[Clock | None, list[int]]:
    """Return the first column if it rises evenly, or the second after a counter of rows; and all other indices."""
    places = list(range(matrix.shape[1]))
    at = 0
    if is_counter(matrix[:, 0]) and matrix.shape[1] > 1 and is_clock(matrix[:, 1].astype(float)):
        at = 1
    times = matrix[:, at].astype(float)
    if not is_clock(times):
        return None, places
    steps = float(np.median(np.diff(times)))
    unit = next((u for least, u in ((1e5, "ns"), (100.0, "us"), (0.2, "ms")) if steps >= least), "s")
    return Clock(f"{name}[{at}]", times, unit, f"its steps are {steps:.6g}", unit != "s", 0), places[at + 1 :]


def is_counter(values: Floats) -> bool:
    """Whether a column numbers the rows from 0 or 1."""
    return values[0] in (0, 1) and bool((np.diff(values) == 1).all())


def is_clock(values: Floats) -> bool:
    """Whether a column rises in nearly equal steps."""
    steps = np.diff(values)
    middle = float(np.median(steps)) if len(steps) > 2 else 0.0
    return middle > 0 and bool((steps > 0).all()) and float(np.median(np.abs(steps - middle))) < EVEN * middle


def _family(role: str, columns: list[tuple[int, Floats]], name: str) -> ColumnFamily:
    members = [Member((str(k),), f"{name}[{i}]", values.astype(float)) for k, (i, values) in enumerate(columns)]
    return ColumnFamily(role, read_name(role), members, matrix=True)
