"""Proposes a table of columns from the names in a recording's header; a person has to check it before use."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from daq.recording.columns import numeric_columns
from daq.recording.reader import RecordingError
from daq.recording.ros_bag import is_bag, read_bag
from daq.state.toml_text import toml_text
from estimators.quantities import Floats

# words in names of columns, the best first; a name that also has a word of NOT is a reference or a plan
WORDS: Final = {
    "position": ("act_pos_mot", "actual_q", "joint_pos", "positions", "position", "pos", "angle", "theta", "q"),
    "torque": ("torquesm", "joint_torque", "torque_abs", "torques", "torque", "effort", "tau", "trq", "moment"),
}
ROLES: Final = ("position", "torque")
NOT: Final = ("target", "ref", "cmd", "cmptd", "command", "desired", "des", "error", "cur", "init", "max", "min", "rel")
TIME: Final = ("time_cont", "timestamp", "times", "time", "t", "stamp", "sec", "secs")
STEPS: Final = ((1e5, "ns"), (100.0, "µs"), (0.2, "ms"))  # median step from which times are no seconds
DEGREES: Final = 13.0  # largest |position| above which it is none in rad


class Group(NamedTuple):
    """Columns that belong to one kind of quantity, joint by joint."""

    role: str
    columns: list[str]
    values: list[Floats]


def propose(file: Path, names: tuple[str, ...]) -> str:
    """Propose a table as TOML; names: of the robot's joints, or none. Raises RecordingError."""
    table = _table(file)
    rows = max(max(one.shape) for one in table.values())
    groups = {role: _group(role, table, rows, len(names)) for role in ROLES}
    position, torque = groups["position"], groups["torque"]
    time = _time(table, rows, position.columns[0].rpartition(".")[0] if position.columns else "")
    if not position.columns or not torque.columns:
        lacking = " and ".join(role for role in ROLES if not groups[role].columns)
        listed = ", ".join(f"{name} {list(one.shape)}" for name, one in list(table.items())[:30])
        raise RecordingError(f"{file}: no column has a name like {lacking}; it has {listed}")
    count = len(position.columns)
    if len(names) != count:
        names = tuple(f"joint{i + 1}" for i in range(count))
    document: dict[str, Any] = {}
    if time is None:
        document["rate"] = 1000.0
    else:
        document["time"] = time[0]
        if time[1] != "s":
            document["time_unit"] = time[1]
    document["joints"] = {
        name: {
            group.role: {"column": group.columns[i]} | ({"unit": "deg"} if _degrees(group) else {})
            for group in (position, torque)
            if i < len(group.columns)
        }
        for i, name in enumerate(names)
    }
    return _words(file, document, table)


def _words(file: Path, document: Mapping[str, Any], table: Mapping[str, Floats]) -> str:
    """The document with inline tables, one line per channel, and a comment with the columns that are not used."""
    lines = [f"# Proposed from the header of {file.name}: check names, units, signs and gear ratios (scale)."]
    for key, value in document.items():
        if key != "joints":
            note = "  # the file has no times: say its rate in Hz" if key == "rate" else ""
            lines.append(toml_text({key: value}).strip() + note)
    for joint, roles in document["joints"].items():
        lines.append(f"\n[joints.{joint}]")
        for role, column in roles.items():
            inside = ", ".join(toml_text({key: value}).strip() for key, value in column.items())
            lines.append(f"{role} = {{ {inside} }}")
    used = {column["column"].split("[")[0] for roles in document["joints"].values() for column in roles.values()}
    others = [name for name in table if name not in used and name != document.get("time")]
    if others:
        lines.append(f"\n# not used: {', '.join(others[:60])}{', …' if len(others) > 60 else ''}")
    return "\n".join(lines) + "\n"


def _table(file: Path) -> dict[str, Floats]:
    if is_bag(file):
        return {f"{name}.{field}": one for name, (_, fields) in read_bag(file).items() for field, one in fields.items()}
    found = {name: one for name, one in numeric_columns(file).items() if one.size > 1 and one.ndim <= 2}
    if not found:
        raise RecordingError(f"{file}: found no numbers")
    return found


def _time(table: Mapping[str, Floats], rows: int, beside: str) -> tuple[str, str] | None:
    """Name and unit of the column of times; one in the same structure as the positions is preferred."""
    near = sorted(table.items(), key=lambda one: one[0].rpartition(".")[0] != beside)
    for word in TIME:
        for name, values in near:
            last = name.split(".")[-1].lower()
            if values.size != rows or not (last == word or re.match(rf"{word}(_|\b|\[)", last)):
                continue
            steps = np.diff(values.ravel())
            step = float(np.median(steps)) if len(steps) else 0.0
            if step > 0:
                named = re.search(r"(?:_|\b)(ns|us|µs|ms)$", last)
                unit = named[1] if named else next((unit for least, unit in STEPS if step >= least), "s")
                return name, unit
    return None


def _group(role: str, table: Mapping[str, Floats], rows: int, count: int) -> Group:
    """The best columns for a role: one matrix, or columns whose names differ in a number or in the joint's name."""
    best, score = Group(role, [], []), -1.0
    families: dict[str, list[tuple[tuple[float, str], str, Floats]]] = {}
    for name, values in table.items():
        if values.ndim == 2 and min(values.shape) > 1:
            across = values if values.shape[0] == rows else values.T
            columns = [(f"{name}[{i}]", across[:, i]) for i in range(across.shape[1])]
            score, best = _better(role, name, columns, count, score, best)
        elif values.size == rows:
            stem = re.sub(r"\d+", "#", name)
            parts = name.rsplit(".", 1)
            if len(parts) == 2 and "#" not in re.sub(r"\d+", "#", parts[1]):
                stem = f"*.{parts[1]}"
            number = re.findall(r"\d+", name)
            key = (float(number[-1]) if number else 0.0, "" if number else name)
            families.setdefault(stem, []).append((key, name, values.ravel()))
    for stem, members in families.items():
        ordered = sorted(members, key=lambda one: one[0])
        score, best = _better(role, stem, [(name, values) for _, name, values in ordered], count, score, best)
    return best


def _better(
    role: str, name: str, columns: list[tuple[str, Floats]], count: int, score: float, best: Group
) -> tuple[float, Group]:
    words = WORDS[role]
    plain = re.sub(r"[^a-z]+", "_", name.split("[")[0].lower()).strip("_")
    last = plain.rsplit(".", 1)[-1]
    place = next((i for i, word in enumerate(words) if re.search(_pattern(word), last)), None)
    if place is None or any(re.search(rf"(?:^|_){word}", last) or last.endswith(word) for word in NOT):
        return score, best
    moving = sum(float(np.nanmax(values) - np.nanmin(values)) > 0 for _, values in columns if np.isfinite(values).any())
    mine = 100.0 * (len(columns) == count) + 10.0 * (len(words) - place) / len(words) + 5.0 * moving / len(columns)
    if mine <= score:
        return score, best
    return mine, Group(role, [one for one, _ in columns], [values for _, values in columns])


def _pattern(word: str) -> str:
    return rf"(?:^|_){word}(?:_|$)" if len(word) < 3 else word


def _degrees(group: Group) -> bool:
    if group.role != "position":
        return False
    named = any("deg" in name.lower() for name in group.columns)
    return named or any(
        float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) > DEGREES for values in group.values
    )
