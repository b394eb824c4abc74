"""Writes the proposed table of columns: a line for each channel with the reason for its unit, and questions."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from daq.recording.proposal.choice import EFFORTS, Match, efforts, match, measured, positions, same_values
from daq.recording.proposal.clock import FACTORS, Clock, by_velocity
from daq.recording.proposal.contents import Contents, read_contents
from daq.recording.proposal.derivative import FOLLOWS, NONE, Rate, together
from daq.recording.proposal.families import BARE, ColumnFamily, Key, is_number
from daq.recording.proposal.template import UnnamedQuantitiesError, template
from daq.recording.proposal.units import Guess, effort_unit, is_length, position_unit, velocity_unit
from daq.recording.proposal.words import SILENT
from daq.recording.questions import ASK, open_questions
from daq.state.toml_text import toml_text

BY_HAND: Final = (  # what to do where names say too little
    'if it has them under other names, write a table by hand: a line time = "COLUMN", then [joints.NAME] with '
    'position = { column = "COLUMN", unit = "deg" } and torque = { column = "COLUMN" } (docs/files.md)'
)
LISTED: Final = 60  # columns that are not used, at most
RATE: Final = 1000.0  # Hz, where the file says nothing
_BAD: Final = re.compile(r"[^A-Za-z0-9_-]+")


def propose(file: Path, names: Sequence[str] = (), within: Sequence[str] = ()) -> str:
    """Propose a table as TOML; names: of the robot's joints, or none; within: the files of a folder that are meant.

    Raises RecordingError with what is missing.
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
    """The questions of a proposed table, in order."""
    return [question for _, question in open_questions(table)]


def _lacking(file: Path, contents: Contents, position: ColumnFamily | None) -> str:
    """What a recording lacks, and what it has."""
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
    """One proposal in the making."""

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
        self._effort = found[0]
        self._others = [
            one for one in found[1:]
            if one.family.moving and one.family.role == self._effort.family.role
            and one.family.said.estimated == self._effort.family.said.estimated
            and one.family.container == self._effort.family.container and not same_values(one, self._effort)
        ]  # fmt: skip
        self._questions: list[str] = []
        self._used: set[str] = set()
        self._clock = contents.clock_of(position)
        self._velocity, self._rate = self._find_velocity()
        self._names = self._joint_names(names)

    def text(self) -> str:
        """The whole table."""
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
        """The velocities that are the rate of the positions, and how."""
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
        """The joints' names: those of the robot, those of the file, or numbers."""
        keys = self._position.keys
        own = [self._contents.joint_names.get(key[-1], "") if key else "" for key in keys]
        if not all(own):
            own = [_named(key, keys) for key in keys]
        if len(keys) == 1 and not keys[0]:
            own = [_common(self._position, self._effort.family) or own[0]]
        safe = [_BAD.sub("_", one)[:64] for one in own]
        if len(names) != len(keys) or set(names) == set(safe):
            return safe
        if not all(is_number(key) or not key for key in keys):
            pairs = ", ".join(f"{a} = {b}" for a, b in zip(names, safe, strict=True))
            self._questions.append(f"names by the order of the columns: {pairs}. Is that so?")
        return list(names)

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
        lines.append(toml_text({"time": clock.column}).strip() + (f"  # {_in_comment(also[2:])}" if also else ""))
        if unit != "s" or doubtful:
            mark = f"{ASK}{unit}? by the size of its steps: " if doubtful else ""
            lines.append(f'time_unit = "{unit}"  # {mark}{reason}')
        self._clock = clock._replace(unit=unit)
        if clock.backwards:
            self._questions.append(f"{clock.column} goes back {clock.backwards} times: several runs in one file?")
        return lines

    def _rate_line(self) -> str:
        """The rate of a recording without times."""
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
        """Δq over ∫ v dt with times in s; NaN without times or velocities."""
        if self._clock is None or self._velocity is None:
            return float("nan")
        return self._rate.gain / FACTORS[self._clock.unit]

    def _odd_rate(self) -> bool:
        """Whether positions and velocities fit by shape, but by no factor that units have."""
        gain = abs(self._gain())
        return all(abs(np.log(gain / factor)) > np.log(1.2) for factor in (1.0, 180.0 / np.pi, np.pi / 180.0))

    def _position_guess(self) -> Guess:
        first = self._position.members[0].column
        return position_unit(self._position, self._contents.units.get(first, ""), self._gain())

    def _joints(self) -> list[str]:
        position, effort = self._position_guess(), self._effort_guess()
        velocity = None
        if self._velocity is not None and self._clock is not None:
            said = self._velocity.family
            declared = self._contents.units.get(said.members[0].column, "")
            velocity = velocity_unit(declared, said.said.unit, self._gain(), position.unit)
        role = {"input": "torque", "load": "torque"}.get(self._effort.family.role, self._effort.family.role)
        lines: list[str] = []
        without = []
        clock = self._contents.clock_of(self._effort.family)
        for i, (name, member) in enumerate(zip(self._names, self._position.members, strict=True)):
            own = self._effort.members[i]
            if own is None:
                without.append(member.column)
                continue
            lines.append(f"\n[joints.{name}]")
            lines.append(self._line("position", member.column, position, self._clock))
            rate = self._velocity.members[i] if self._velocity is not None else None
            if velocity is not None and rate is not None:
                lines.append(self._line("velocity", rate.column, velocity, self._clock))
            lines.append(self._line(role, own.column, effort, clock))
        if without:
            lines.append(f"\n# without a torque, and left out: {', '.join(map(_in_comment, without))}")
        return lines

    def _effort_guess(self) -> Guess:
        """The unit of the torque, and every doubt about it as a question."""
        family, ask = self._effort.family, self._questions
        guess = effort_unit(family, self._contents.units.get(family.members[0].column, ""))
        if self._contents.unnamed:
            ask.append("the columns have no names: position and velocity are told by the one being the rate of the "
                       "other, and what is left over is taken for the torque. Is it?")  # fmt: skip
        if self._effort.by_order:
            ask.append(f"{self._position.names} and {family.names} are numbered differently: joint by joint in order?")
        if family.role == "current":
            ask.append(f"there is no torque: {family.names} is a motor current. Give scale in N·m/A (gear ratio times "
                       "torque constant), and its sign")  # fmt: skip
        if family.role == "load":
            ask.append(f"{family.names} is a load without a unit: is it a torque, and how many N·m is 1? (scale)")
        if family.role == "input":
            ask.append(f"{family.names} is taken for the torque, the input of the model: is it measured, in N·m?")
        if family.said.estimated:
            ask.append(f"{family.names} is computed by the drive or an observer by its name: is it measured?")
        sides = ["motor" in one.said.kinds for one in (self._position, family)]
        if sides[0] != sides[1]:
            first, second = (self._position, family) if sides[0] else (family, self._position)
            ask.append(f"{first.names} are the motor's by their name, {second.names} not: give the gear ratio (scale), "
                       "or say that both are on the joint's side")  # fmt: skip
        if self._velocity is not None and self._clock is not None and self._odd_rate():
            ask.append(f"{self._position.names} change by {self._gain():.4g} times what {self._velocity.family.names} "
                       "make of the times: which unit, or gear ratio, is another?")  # fmt: skip
        said = self._contents.units.get(self._position.members[0].column, self._position.said.unit)
        if family.role == "force" and not is_length(said):
            ask.append(f"{family.names} is a force: is the joint prismatic, its position in m?")
        if family.said.kinds == ("from current",) and self._others == []:
            ask.append(f"{family.names} is a torque made from a motor's current; no sensor's torque moves")
        if self._others:
            listed = ", ".join(one.family.names for one in self._others[:4])
            ask.append(f"which is the torque of the drive? Taken: {family.names}; there are also {listed}")
        if self._position.role == BARE:
            ask.append(f"{self._position.names} are called after joints, and nothing else: are they positions?")
        odd = [key for key in self._position.keys if len(key) == 1 and len(key[0]) == 1 and not key[0].isdigit()]
        if odd and len(self._position.members) > 1:
            ask.append(f"are {', '.join(key[0] for key in odd)} joints? Their columns: {self._position.names}")
        return guess

    def _line(self, role: str, column: str, guess: Guess, clock: Clock | None) -> str:
        """One channel; a line that cannot be used before a question is answered is commented out."""
        self._used.add(column)
        entry: dict[str, Any] = {"column": column} | ({"unit": guess.unit} if guess.unit else {})
        if role == "current" and guess.usable:
            entry["scale"] = 1.0
        if clock is not None and self._clock is not None and not np.array_equal(clock.values, self._clock.values):
            entry["time"] = clock.column
            self._used.add(clock.column)
        inside = ", ".join(toml_text({key: value}).strip() for key, value in entry.items())
        said = f"{ASK}{guess.question}" if guess.question else guess.reason
        mark = "" if guess.usable else "# "
        return f"{mark}{role} = {{ {inside} }}" + (f"  # {said}" if said else "")


def _named(key: Key, keys: Sequence[Key]) -> str:
    """A name for the joint of a key."""
    if not key:
        return "joint1"
    if all(is_number(one) for one in keys):
        return f"joint{int(key[0]) + (min(int(one[0]) for one in keys) == 0)}"
    return "_".join(key)


def _common(position: ColumnFamily, effort: ColumnFamily) -> str:
    """What the two columns of a file's only joint are both called, beside their quantities: "elbow"; or nothing."""
    both = [word for word in position.said.rest if word in effort.said.rest and word not in SILENT]
    return "_".join(dict.fromkeys(both))


def _in_comment(name: str) -> str:
    """A name of a column on one line."""
    return " ".join(name.split())
