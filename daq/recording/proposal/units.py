"""Guesses the unit of a family of columns from names and sizes, and states the reason."""

import re
from typing import Final, NamedTuple

import numpy as np

from daq.recording.proposal.column_name import words_of
from daq.recording.proposal.families import ColumnFamily
from drivers.units import QuantitySettings, parse
from estimators.quantities import Floats

#: rad, argued: A larger |position| is not in rad: two turns, more than the range of a joint with limits.
DEGREES: Final = 13.0
#: rad, argued: For a larger |position| the unit rad is uncertain: one turn, and what encoders read beyond it.
ONE_TURN: Final = 6.6
#: deg, argued: For a larger |position| degrees are uncertain, too: two turns.
COUNTS: Final = 720.0
#: rad, argued: Joints of Universal Robots cannot exceed it: two turns either way.
TURNS: Final = 13.0
#: N·m, argued: Larger torques lead to a question, since the largest joints of industrial arms have some thousands.
LARGE: Final = 2000.0
#: N·m, argued: Larger torques are assumed to be in mN·m: no joint of an arm has so many N·m.
MILLI: Final = 20_000.0
#: A, argued: Larger currents are assumed to be in mA.
MILLIAMPERE: Final = 100.0


DEGREE: Final = QuantitySettings(unit="deg").conversion("").factor  # rad
#: rev, argued: Up to this |position| the unit may be turns: a single-turn encoder ends there.
TURN: Final = 1.0
SYMBOLS: Final = frozenset(  # symbols of textbooks and joint states, whose unit is rad
    ("joint", "joints", "jnt", "q", "qs", "qpos", "jpos", "theta", "th", "phi", "dof")
)


class Guess(NamedTuple):
    """A unit for a table of columns; empty: the values are in SI."""

    unit: str
    reason: str = ""
    question: str = ""
    usable: bool = True  # whether a line with it can be used before the question is answered


def position_unit(family: ColumnFamily, declared: str, gain: float) -> Guess:
    """Guess the unit of positions; gain: Δq over ∫ v dt of a velocity in rad/s (NaN without a velocity)."""
    named = declared or family.said.unit
    if named:
        return _doubted(_named(named, ("rad", "m")), family)
    if re.match(r"actual_q\W?_?\d", family.members[0].column) and family.largest <= TURNS:
        return Guess("", "rad, as RTDE gives them")
    if abs(gain * np.pi / 180.0 - 1.0) < 0.2:
        return Guess("deg", "it changes by 57.3 times what the velocity in rad/s makes")
    most = family.largest
    if "motor" in family.said.kinds and most > DEGREES:
        question = (
            f'values reach {most:.6g}: degrees (unit = "deg"), rad of a motor before its gear (scale), or counts?'
        )
        return Guess("", "", question)
    if most > COUNTS:
        question = f'values reach {most:.6g}: degrees of many turns, counts (unit = "counts", counts_per_rev), mm?'
        return Guess("", "", question, usable=False)
    if most > DEGREES:
        return Guess("deg", f"values reach {most:.4g}, more than two turns in rad")
    if most > ONE_TURN:
        return Guess("", "", f'values reach {most:.3g}: more than a turn in rad, or a few degrees? (unit = "deg")')
    words = words_of(family.members[0].column)
    if most <= TURN and not SYMBOLS & set(words):
        return Guess("", "", f'values reach {most:.3g}: rad, or turns (unit = "rev", and "rev/s" of a velocity)?')
    return Guess("", f"rad: values reach {most:.3g}")


def is_length(unit: str) -> bool:
    """Whether a unit, as written in a file, is a unit of length."""
    found = parse(unit)
    return found is not None and found.unit == "m"


def _doubted(guess: Guess, family: ColumnFamily) -> Guess:
    """Return the unit of the file, with a question if the values exceed the range of joints."""
    if guess.question or guess.unit or guess.reason.startswith("m,") or family.largest <= DEGREES:
        return guess
    if "motor" in family.said.kinds:
        return guess
    return Guess(
        "", "", f'the file says rad, and values reach {family.largest:.4g}: many turns, or degrees? (unit = "deg")'
    )


def encoder_period(values: Floats, unit: str) -> float:
    """Return the angle (rad) after which these positions, (rows,) in this unit, wrap around; 0 if they do not."""
    turn = {"deg": 360.0, "": 2.0 * np.pi, "rev": 1.0}.get(unit, 0.0)
    known = values[np.isfinite(values)]
    steps = np.abs(np.diff(known))
    jumps = steps[steps > 0.5 * turn]
    whole = turn > 0.0 and len(jumps) > 0 and bool(jumps.min() > 0.8 * turn) and bool(np.ptp(known) <= 1.001 * turn)
    return 2.0 * np.pi if whole else 0.0


def effort_unit(family: ColumnFamily, declared: str) -> Guess:
    """Guess the unit of torques, forces or currents."""
    named = declared or family.said.unit
    role = family.role
    if named in ("%", "‰"):
        share = "percent" if named == "%" else "per mille"
        question = f"{family.names} is in {share} of a rated torque: give rated and rated_unit"
        return Guess("", "", question, usable=False)
    if named:
        fitting = {"torque": ("N·m", "A"), "force": ("N",), "current": ("A", "N·m")}.get(role, ("N·m", "A", "N"))
        return _named(named, fitting)
    most = family.largest
    if role == "current":
        if most > MILLIAMPERE:
            return Guess("mA", "", f"values reach {most:.4g}: mA, or the drive's own counts? (scale, in A for 1)")
        return Guess("", f"A: values reach {most:.3g}")
    if role == "torque" and most > MILLI:
        question = f"taken for mN·m, since values reach {most:.6g}: is that so?"
        return Guess("mN·m", f"values reach {most:.6g}", question)
    if role == "torque" and most > LARGE:
        return Guess("", "", f"values reach {most:.5g}: N·m, or mN·m?")
    return Guess("")


def velocity_unit(written: str, gain: float, position: str) -> Guess | None:
    """Return the unit with which a velocity is the derivative of its position; None if neither rad/s nor deg/s is.

    written: its unit in the file, "" for none; gain: Δq over ∫ v dt with q as in the file; position: unit of q in the
    file, "deg" or another.
    """
    in_rad = gain * (np.pi / 180.0 if position == "deg" else 1.0)  # Δq in rad
    if written:
        guess = _named(written, ("rad/s", "m/s"))
        factor = QuantitySettings(unit=guess.unit or None).conversion("").factor if guess.usable else 1.0
        return guess if abs(in_rad / factor - 1.0) < 0.2 else None
    if abs(in_rad - 1.0) < 0.2:
        return Guess("")
    if abs(in_rad * 180.0 / np.pi - 1.0) < 0.2:
        return Guess("deg/s", "the position changes so")
    return None


def _named(written: str, fitting: tuple[str, ...]) -> Guess:
    try:
        found = QuantitySettings(
            unit=written, counts_per_rev=1.0 if written in ("counts", "ticks") else None
        ).conversion("")
    except ValueError:
        return Guess("", "", f'"{written}" is in its name and is not a known unit', usable=False)
    if written in ("counts", "ticks"):
        return Guess("", "", 'counts: give unit = "counts" and counts_per_rev', usable=False)
    if found.unit not in fitting:
        return Guess("", "", f"its unit is {written}, which is no {fitting[0]}", usable=False)
    if found.unit == written or found.factor == 1.0:
        return Guess("", f"{found.unit}, as the file says")
    return Guess("deg" if found.unit == "rad" and found.factor == DEGREE else written, "as the file says")
