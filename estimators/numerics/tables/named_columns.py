"""What a reader of columns returns: the arrays by name, and what the file says of them beside the numbers."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

UNNAMED: Final = "data"  # the name of the one matrix of a file that names no columns
_SECONDS: Final = ("secs", "sec", "seconds")
_NANOSECONDS: Final = ("nsecs", "nanosec", "nsec", "nanoseconds")


@dataclass(slots=True)
class NamedColumns:
    """Numbers by name: columns (rows,), matrices in either orientation, scalars."""

    columns: dict[str, NDArray[Any]]
    units: dict[str, str] = field(default_factory=dict)  # column → unit, from a row of units
    texts: dict[str, str] = field(default_factory=dict)  # columns that hold the same text in every row
    notes: list[str] = field(default_factory=list)  # what was understood of the file's form, in words
    long: str = ""  # the column of names, where every row is of another joint


def with_whole_stamps(found: NamedColumns) -> NamedColumns:
    """Add a column NAME, s, for every pair of columns NAME.secs and NAME.nsecs, as ROS writes stamps."""
    for name in list(found.columns):
        for mark in (".", "/", "_"):
            stem, separator, last = name.rpartition(mark)
            whole = stem or "stamp"
            if last.lower() not in _SECONDS or whole in found.columns:
                continue
            other = next((n for n in _NANOSECONDS if f"{stem}{separator}{n}" in found.columns), None)
            if other is not None:
                seconds, rest = found.columns[name], found.columns[f"{stem}{separator}{other}"]
                if seconds.ndim == rest.ndim == 1 and seconds.size:
                    origin = seconds[0]  # whole seconds since 1970 would leave float64 a resolution of 0.2 µs only
                    found.columns[whole] = (seconds - origin).astype(np.float64) + 1e-9 * rest
                    found.units[whole] = "s"
                    found.notes.append(f"{whole} is {last} + {other}, counted from the first row")
    return found
