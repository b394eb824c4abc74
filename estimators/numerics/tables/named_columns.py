"""What a reader of columns returns: the arrays by name, and what the file says of them beside the numbers."""

import re
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


def with_whole_stamps(found: NamedColumns) -> NamedColumns:
    """Add a column NAME, s, for every pair as NAME.secs and NAME.nsecs (ROS), or NAME_s and NAME_us (ABB's EGM)."""
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
        if np.any((rest < 0) | (unit * rest >= 1.0)) or np.any(seconds % 1 != 0.0):
            continue  # two clocks, not one in two parts
        origin = seconds[0]  # whole seconds since 1970 would leave float64 a resolution of 0.2 µs only
        found.columns[whole] = (seconds - origin).astype(np.float64) + unit * rest
        found.units[whole] = "s"
        found.notes.append(f"{whole} is {name} + {other}, counted from the first row")
    return found
