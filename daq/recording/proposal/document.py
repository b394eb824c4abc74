"""Writes the proposed table of columns: a line for each channel with the reason for its unit, and open questions."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from daq.recording.proposal.choice import EFFORTS, Match, efforts, match, measured, positions, same_values
from daq.recording.proposal.clock import FACTORS, Clock, by_velocity
from daq.recording.proposal.column_name import read_name
from daq.recording.proposal.contents import Contents, read_contents
from daq.recording.proposal.derivative import FOLLOWS, NONE, Rate, together
from daq.recording.proposal.doubts import of_effort, of_position
from daq.recording.proposal.families import ColumnFamily, Key, Member, is_number
from daq.recording.proposal.template import UnnamedQuantitiesError, template
from daq.recording.proposal.units import Guess, effort_unit, encoder_period, is_length, position_unit, velocity_unit
from daq.recording.proposal.words import SILENT
from daq.recording.questions import ASK, open_questions
from daq.state.toml_text import toml_text

BY_HAND: Final = (  # advice if the names are not sufficient
    'if it has them under other names, write a table by hand: a line time = "COLUMN", then [joints.NAME] with '
    'position = { column = "COLUMN", unit = "deg" } and torque = { column = "COLUMN" } (docs/files.md)'
)
LISTED: Final = 60  # largest number of unused columns that are listed
RATE: Final = 1000.0  # Hz, if the file states no rate
LEFT_OUT: Final = "# without a torque, and left out: "  # followed by the columns of these positions
_BAD: Final = re.compile(r"[^A-Za-z0-9_-]+")


def propose(file: Path, names: Sequence[str] = (), within: Sequence[str] = ()) -> str:
    """Propose a table as TOML; names: names of the robot's joints, or none; within: the files of a folder that are
    used.

    Raises RecordingError that states what is missing.
    """
    contents = read_contents(file, within)
    candidates = positions(contents.families, len(names))
    position = next((one for one in candidates if efforts(contents.families, one)), None) or next(
        iter(candidates), None
    )
    if position is None:
        raise UnnamedQuantitiesError(_lacking(file, contents, None), BY_HAND, template(file, contents))
    found = efforts(contents.families, position)
    if not found or found[0].family.moving == 0:
        raise UnnamedQuantitiesError(_lacking(file, contents, position), BY_HAND, template(file, contents))
    return _Document(file, contents, position, found, tuple(names), within).text()


def questions_of(table: str) -> list[str]:
    """Return the questions of a proposed table, in order."""
    return [question for _, question in open_questions(table)]


def left_out_of(table: str) -> list[str]:
    """Return the columns of positions that a proposed table omits, since they have no torque."""
    lines = (line.removeprefix(LEFT_OUT) for line in table.splitlines() if line.startswith(LEFT_OUT))
    return [name for line in lines for name in line.split(", ")]


def _lacking(file: Path, contents: Contents, position: ColumnFamily | None) -> str:
    """Return the message that states what a recording lacks and what it contains."""
    still = [one for one in efforts(contents.families, position) if not one.family.moving] if position else []
    if position is not None and still:
        names = ", ".join(one.family.names for one in still)
        why = f"the positions are {position.names}, but {names} never changes, and there is no other torque or current"
    elif position is not None:
        why = f"no column has a name like torque (effort, tau, current) for the joints of {position.names}"
        near = [one.names for one in measured(contents.families, EFFORTS)]
        why += f"; {', '.join(near[:3])} do not belong to these joints by their names" if near else ""
    else:
        has = {role: measured(contents.families, (role,)) for role in ("torque", "force", "current")}
        known = next((one[0] for one in has.values() if one), None)
        what = "position" if known else "position and torque"
        why = f"no column has a name like {what}" + (f" for the joints of {known.names}" if known else "")
    kept = [one.names for one in contents.families if one.said.reference and one.role in ("position", "torque")]
    plans = f" ({', '.join(kept[:4])}: plans or answers of a model, not measured)" if kept else ""
    listed = ", ".join(f"{name} {list(one.shape)}" for name, one in list(contents.table.items())[:30])
    return f"{file}: {why}{plans}; it has {listed}"


class _Document:
    """Builds one proposal."""

    def __init__(
        self,
        file: Path,
        contents: Contents,
        position: ColumnFamily,
        found: Sequence[Match],
        names: tuple[str, ...],
        within: Sequence[str],
    ) -> None:
        self._file, self._contents, self._position, self._within = file, contents, position, within
        self._found, self._effort = found, found[0]
        self._others = [
            one for one in found[1:]
            if one.family.moving and one.family.role == self._effort.family.role
            and one.family.said.estimated == self._effort.family.said.estimated
            and one.family.container == self._effort.family.container and not same_values(one, self._effort)
        ]  # fmt: skip
        self._questions: list[str] = []
        self._used: set[str] = set()
        self._clock = contents.clock_of(position)
        self._guessed_clock = None if self._clock is not None else contents.rising_clock(position)
        self._clock = self._clock or self._guessed_clock
        self._velocity, self._rate = self._find_velocity()
        self._names = self._joint_names(names)

    def text(self) -> str:
        """Return the whole table."""
        body = [*self._head(), *self._joints()]
        notes = [f"# The file: {'; '.join(self._contents.notes)}."] if self._contents.notes else []
        first = f"# Proposed from the header of {self._file.name}: check names, units, signs and gear ratios (scale)."
        questions = [f"# {ASK}{one}" for one in self._questions]
        others = [
            name for name in self._contents.table
            if name not in self._used and not any(used.startswith(f"{name}[") for used in self._used)
        ]  # fmt: skip
        more = ", …" if len(others) > LISTED else ""
        rest = [f"\n# not used: {', '.join(_in_comment(one) for one in others[:LISTED])}{more}"] if others else []
        return "\n".join([first, *notes, *questions, *body, *rest]) + "\n"

    def _find_velocity(self) -> tuple[Match | None, Rate]:
        """Find the velocities that are the derivative of the positions, and the factor."""
        best: tuple[Match | None, Rate] = (None, NONE)
        for family in self._contents.families:
            if (
                family.role != "velocity"
                or family.said.cartesian
                or len(family.members[0].values) != len(self._position.members[0].values)
            ):
                continue
            one = match(self._position, family)
            if one is None or one.by_order:
                continue
            pairs = [(p.values, v.values) for p, v in zip(self._position.members, one.members, strict=True) if v]
            time = self._clock.values if self._clock is not None else None
            rate = together([p for p, _ in pairs], [v for _, v in pairs], time)
            if rate.correlation > max(FOLLOWS, best[1].correlation) and not family.said.reference:
                best = one, rate
        return best

    def _joint_names(self, names: tuple[str, ...]) -> list[str]:
        """Return the names of the joints: from the robot, from the file, or numbers."""
        keys = self._position.keys
        own = self._names_in_file(keys)
        if not all(own):
            own = [_named(key, keys) for key in keys]
        if len(keys) == 1 and not keys[0]:
            own = [_common(self._position, self._effort.family) or own[0]]
        safe = [_BAD.sub("_", one)[:64] for one in own]
        if len(set(safe)) < len(safe):
            safe = [f"joint{i}" for i in range(1, len(keys) + 1)]
        if len(names) != len(keys) or set(names) == set(safe):
            return safe
        if not all(is_number(key) or not key for key in keys):
            pairs = ", ".join(f"{a} = {b}" for a, b in zip(names, safe, strict=True))
            self._questions.append(f"names by the order of the columns: {pairs}. Is that so?")
        return list(names)

    def _names_in_file(self, keys: Sequence[Key]) -> list[str]:
        """Return the names in the file by key, or in a list with one entry a joint; "" for a joint without a name."""
        known = self._contents.joint_names
        if all(is_number(key) for key in keys):
            if len(known) != len(keys):
                return [""]  # nothing shows to which joints they belong
            if keys[-1][0] not in known:
                return list(known.values())  # the list counts from 0, the columns from 1
        return [known.get(key[-1], "") if key else "" for key in keys]

    def _head(self) -> list[str]:
        lines = [toml_text({"files": list(self._within)}).strip()] if self._within else []
        clock = self._clock
        if clock is None:
            return [*lines, self._rate_line()]
        self._used.add(clock.column)
        unit, reason, doubtful = clock.unit, clock.reason, clock.doubtful
        if self._velocity is not None and doubtful:
            unit, sure = by_velocity(clock, self._rate.gain)
            if sure:
                reason, doubtful = "positions and velocities agree in it", False
        also = f"; also {', '.join(clock.others[:3])}" if clock.others else ""
        if self._guessed_clock is not None:
            also = f"; {ASK}the times? It rises evenly in every row"
        lines.append(toml_text({"time": clock.column}).strip() + (f"  # {_in_comment(also[2:])}" if also else ""))
        if unit != "s" or doubtful:
            mark = f"{ASK}{unit}? by the size of its steps: " if doubtful else ""
            lines.append(f'time_unit = "{unit}"  # {mark}{reason}')
        self._clock = clock._replace(unit=unit)
        if clock.backwards:
            self._questions.append(f"{clock.column} goes back {clock.backwards} times: several runs in one file?")
        return lines

    def _rate_line(self) -> str:
        """Return the line with the rate of a recording without times."""
        if self._velocity is not None and self._rate.gain > 0:
            in_degrees = self._position_guess().unit == "deg"
            guess = self._velocity.family.said.unit or ("deg/s" if in_degrees else "rad/s")
            factor = {(True, True): 1.0, (False, False): 1.0, (True, False): np.pi / 180, (False, True): 180 / np.pi}[
                (in_degrees, guess.startswith("deg"))
            ]
            rate = 1.0 / (self._rate.gain * factor)
            return (
                f"rate = {float(f'{rate:.3g}')!r}  # {ASK}the file has no times: say its rate in Hz (this is how far "
                "positions move from row to row, over the velocities)"
            )
        return f"rate = {RATE}  # {ASK}the file has no times: say its rate in Hz"

    def _gain(self) -> float:
        """Return Δq over ∫ v dt with times in s; NaN without times or velocities."""
        if self._clock is None or self._velocity is None:
            return float("nan")
        return self._rate.gain / FACTORS[self._clock.unit]

    def _odd_rate(self) -> bool:
        """Whether positions and velocities agree in shape, but not by the factor of any units."""
        gain = abs(self._gain())
        written = "" if self._velocity is None else self._declared(self._velocity.family.members[0])
        if written and velocity_unit(written, self._gain(), self._position_guess().unit) is not None:
            return False
        return all(abs(np.log(gain / factor)) > np.log(1.2) for factor in (1.0, 180.0 / np.pi, np.pi / 180.0))

    def _position_guess(self) -> Guess:
        return position_unit(self._position, self._declared(self._position.members[0]), self._gain())

    def _own_guess(self, family: ColumnFamily, member: Member, guess: Guess) -> Guess:
        """Return the guess for one column: the guess for its family, unless the file gives the column its own unit."""
        declared = self._declared(member)
        if declared == self._declared(family.members[0]):
            return guess
        alone = replace(family, members=[member])
        if family.role in EFFORTS:
            return effort_unit(alone, declared)
        return position_unit(alone, declared, float("nan"))

    def _effort_of(self, place: int) -> tuple[ColumnFamily, Member] | None:
        """Return the torque of a joint, or the force of a joint without a torque if other joints have torques."""
        for one in (self._effort, *(other for other in self._found if other.family.role == "force")):
            member = one.members[place]
            if member is not None:
                return one.family, member
        return None

    def _joints(self) -> list[str]:
        self._ask()
        position = self._position_guess()
        effort = effort_unit(self._effort.family, self._declared(self._effort.family.members[0]))
        velocity = None
        if self._velocity is not None and self._clock is not None:
            said = self._velocity.family
            velocity = velocity_unit(self._declared(said.members[0]), self._gain(), position.unit)
        lines: list[str] = []
        without = []
        for i, (name, member) in enumerate(zip(self._names, self._position.members, strict=True)):
            own = self._effort_of(i)
            if own is None:
                without.append(member.column)
                continue
            lines.append(f"\n[joints.{name}]")
            guess = self._own_guess(self._position, member, position)
            lines.append(self._line("position", member, guess, self._clock))
            rate = self._velocity.members[i] if self._velocity is not None else None
            if velocity is not None and rate is not None:
                lines.append(self._line("velocity", rate, velocity, self._clock))
            family, column = own
            role = {"input": "torque", "load": "torque"}.get(family.role, family.role)
            clock = self._contents.clock_of(family)
            lines.append(self._line(role, column, self._own_guess(family, column, effort), clock))
        if without:
            lines.append(f"\n{LEFT_OUT}{', '.join(map(_in_comment, without))}")
        return lines

    def _ask(self) -> None:
        """Add a question for every doubt about the choice."""
        length = is_length(self._declared(self._position.members[0]))
        self._questions += of_effort(self._effort, self._position, self._others, self._contents.unnamed, length)
        if self._velocity is not None and self._clock is not None and self._odd_rate():
            self._questions.append(
                f"{self._position.names} change by {self._gain():.4g} times what {self._velocity.family.names} "
                "make of the times: which unit, or gear ratio, is another?"
            )
        self._questions += of_position(self._position)

    def _declared(self, member: Member) -> str:
        """Return the unit that the file gives to a column, in a row of units or in its name."""
        return self._contents.units.get(member.column, "") or read_name(member.column).unit

    def _line(self, role: str, member: Member, guess: Guess, clock: Clock | None) -> str:
        """Return the line of one channel; a line that needs an answer before it can be used is commented out."""
        self._used.add(member.column)
        entry: dict[str, Any] = {"column": member.column} | ({"unit": guess.unit} if guess.unit else {})
        if role == "current" and guess.usable:
            entry["scale"] = 1.0
        period = encoder_period(member.values, guess.unit) if role == "position" and guess.usable else 0.0
        if period:
            entry["wrap"] = period
        if (
            clock is not None
            and self._clock is not None
            and not np.array_equal(clock.values, self._clock.values, equal_nan=True)
        ):
            entry["time"] = clock.column
            self._used.add(clock.column)
        inside = ", ".join(toml_text({key: value}).strip() for key, value in entry.items())
        why = ", ".join(filter(None, (guess.reason, "it starts again after a turn" if period else "")))
        said = f"{ASK}{guess.question}" if guess.question else why
        mark = "" if guess.usable else "# "
        return f"{mark}{role} = {{ {inside} }}" + (f"  # {said}" if said else "")


def _named(key: Key, keys: Sequence[Key]) -> str:
    """Return a name for the joint with this key."""
    if not key:
        return "joint1"
    if all(is_number(one) for one in keys):
        return f"joint{int(key[0]) + (min(int(one[0]) for one in keys) == 0)}"
    return "_".join(key)


def _common(position: ColumnFamily, effort: ColumnFamily) -> str:
    """Return the name that both columns of a single joint share, without their quantities ("elbow"), or nothing."""
    both = [word for word in position.said.rest if word in effort.said.rest and word not in SILENT]
    return "_".join(dict.fromkeys(both))


def _in_comment(name: str) -> str:
    """Return the name of a column as one line."""
    return " ".join(name.split())
