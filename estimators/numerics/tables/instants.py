"""Instants that are written as text: a date with a time of day, or a time of day alone."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

_DAYS: Final = re.compile(r"(\d+) days?,? (\d{1,2}:.*)")  # how long, as pandas and Python write it
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2}):(\d{2}(?:[.,]\d+|:\d{3})?)( ?[AaPp]\.?[Mm]\.?)?")
_DAY: Final = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:[ T]|, ?)(.*)")


def instants_of(column: Sequence[str]) -> NDArray[np.float64]:
    """Seconds of each cell, NaN for those that are no instant.

    05/11/2026 may be in May or in November: the order that reads more cells is taken for all.
    """
    day_first = np.array([_instant(one, day_first=True) for one in column])
    if np.isfinite(day_first).all():
        return day_first
    month_first = np.array([_instant(one, day_first=False) for one in column])
    return month_first if np.isfinite(month_first).sum() > np.isfinite(day_first).sum() else day_first


def _instant(cell: str, day_first: bool) -> float:
    long = _DAYS.fullmatch(cell)
    if long:
        return 86400.0 * int(long[1]) + _instant(long[2], day_first)
    clock = _CLOCK.fullmatch(cell)
    if clock:
        return 3600.0 * _hour(clock) + 60.0 * int(clock[2]) + float(re.sub("[,:]", ".", clock[3]))
    written = _DAY.fullmatch(cell)
    if written is None:
        text = cell.replace("/", "-")
    else:
        day, month = (written[1], written[3]) if day_first or written[2] == "." else (written[3], written[1])
        time = _CLOCK.fullmatch(written[5])
        rest = f"{_hour(time):02}:{time[2]}:{time[3]}" if time else written[5]
        text = f"{written[4]}-{int(month):02}-{int(day):02} {rest}"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return np.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _hour(clock: re.Match[str]) -> int:
    """The hour of a day of 24 hours."""
    hour = int(clock[1])
    if not clock[4]:
        return hour
    return hour % 12 + (12 if clock[4].strip().lower().startswith("p") else 0)
