"""What a reader of columns returns: the arrays by name, and what else the file says about them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

UNNAMED: Final = "data"  # the name of the one matrix of a file that names no columns
_SECONDS: Final = re.compile(r"(?i)(.*?)(?:[._/ ]?(?:in[._ ]?)?(?:secs?|seconds)|[._/ ]s)")
_PARTS: Final = (  # of a second, in which the rest of a stamp is counted
    (1e-9, re.compile(r"(?i)(.*?)(?:[._/ ]?(?:in[._ ]?)?(?:nsecs?|nanosecs?|nanoseconds|nanos)|[._/ ]ns)")),
    (1e-6, re.compile(r"(?i)(.*?)(?:[._/ ]?(?:in[._ ]?)?(?:usecs?|microsecs?|microseconds|micros)|[._/ ]us)")),
)


@dataclass(slots=True)
class NamedColumns:
    """Numbers by name: columns (rows,), matrices in either orientation, scalars."""

    columns: dict[str, NDArray[Any]]
    units: dict[str, str] = field(default_factory=dict)  # column → unit, from a row of units
    texts: dict[str, str] = field(default_factory=dict)  # columns that hold the same text in every row
    notes: list[str] = field(default_factory=list)  # what was understood of the file's form, in words
    long: str = ""  # the column of names, where every row is of another joint
    labels: Sequence[str] = ()  # the texts in that column


def numbered_texts(name: str, texts: Sequence[str]) -> dict[str, str]:
    """The texts of one list, each under the name of the list and its place, as ROS 1 writes them: name0, name1, …"""
    return {f"{name}{i}": one for i, one in enumerate(texts)}


def unnamed_texts(texts: Mapping[str, str]) -> list[str]:
    """The texts in columns without names, in order."""
    return [text for name, text in texts.items() if re.fullmatch(rf"{UNNAMED}\d+", name)]


def with_joints_apart(found: NamedColumns) -> NamedColumns:
    """Columns for each joint and quantity (elbow.position) from a table in which every row is of another joint.

    Only where every joint has its row at every instant, in one order; others stay as they are.
    """
    if not found.long:
        return found
    labels = list(found.labels)
    order = list(dict.fromkeys(labels))
    count = len(order)
    if labels != order * (len(labels) // count) or not all(order):
        return found
    apart: dict[str, NDArray[Any]] = {}
    units: dict[str, str] = {}
    for name, values in found.columns.items():
        if name == found.long or values.ndim != 1 or len(values) != len(labels):
            continue
        parts = [values[i::count] for i in range(count)]
        shared = all(np.array_equal(one, parts[0], equal_nan=True) for one in parts)
        named = (
            [(name, parts[0])]
            if shared
            else [(f"{label}.{name}", one) for label, one in zip(order, parts, strict=True)]
        )
        apart.update(named)
        units |= {one: found.units[name] for one, _ in named if name in found.units}
    return NamedColumns(apart, units, found.texts, [*found.notes, f"each row is of one of {count} joints"])


def with_whole_stamps(found: NamedColumns) -> NamedColumns:
    """Add a column NAME, s, for every pair as NAME.secs and NAME.nsecs (ROS), or NAME_s and NAME_us (ABB's EGM)."""
    _pairs_to_stamps(found)
    parts = {
        match[1]: (name, unit) for unit, form in _PARTS for name in found.columns if (match := form.fullmatch(name))
    }
    for name in list(found.columns):
        match = _SECONDS.fullmatch(name)
        whole = "" if match is None else match[1] or "stamp"
        if match is None or match[1] not in parts or whole in found.columns:
            continue
        other, unit = parts[match[1]]
        seconds, rest = found.columns[name], found.columns[other]
        if not (seconds.ndim == rest.ndim == 1 and 0 < seconds.size == rest.size):
            continue
        known = np.isfinite(seconds) & np.isfinite(rest)
        if np.any((rest < 0) | (unit * rest >= 1.0)) or np.any(seconds[known] % 1 != 0.0) or not known.any():
            continue  # two clocks, not one in two parts
        origin = seconds[known][0]  # whole seconds since 1970 would leave float64 a resolution of 0.2 µs only
        found.columns[whole] = (seconds - origin).astype(np.float64) + unit * rest
        found.units[whole] = "s"
        found.notes.append(f"{whole} is {name} + {other}, counted from the first row")
    return found


def _pairs_to_stamps(found: NamedColumns) -> None:
    """Make one column of times, s, of lists [s, ns] in each row, and of a nameless table's first two columns."""
    for name, table in list(found.columns.items()):
        if table.ndim != 2 or len(table) <= table.shape[1] or not (table.shape[1] == 2 or name == UNNAMED):
            continue
        stamp = _stamp_of(table[:, 0], table[:, 1]) if table.shape[1] > 1 else None
        if stamp is None:
            continue
        if name == UNNAMED and table.shape[1] > 2:
            found.columns = {"stamp": stamp} | found.columns | {UNNAMED: table[:, 2:]}
        else:
            found.columns[name] = stamp
        whole = "stamp" if name == UNNAMED else name
        found.units[whole] = "s"
        found.notes.append(f"{whole} is s and ns in two columns, counted from the first row")


def _stamp_of(seconds: NDArray[Any], rest: NDArray[Any]) -> NDArray[np.float64] | None:
    """The times, s from the first whole second, of numbers that can only be s and ns of one clock."""
    if np.any(seconds % 1 != 0.0) or np.any(rest % 1 != 0.0) or not (rest.min() >= 0 and 1e6 < rest.max() < 1e9):
        return None
    stamp = (seconds - seconds[0]).astype(np.float64) + 1e-9 * rest
    return stamp if np.all(np.diff(stamp) >= 0.0) and np.any(np.diff(rest) < 0) else None
