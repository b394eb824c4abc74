"""Parses arguments that name a history file and a time: a configuration or a file, `@DAY`, `30d`, a date."""

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from daq.config.load import load
from daq.state.files import place
from daq.state.history.file import FILE

SUFFIX: Final = ".sqlite"  # of a history; everything else is a configuration
DAY_SECONDS: Final = 86_400.0
UNITS: Final = {"m": 60.0, "h": 3600.0, "d": DAY_SECONDS, "w": 7 * DAY_SECONDS, "y": 365.25 * DAY_SECONDS}


class SourceError(Exception):
    """The argument names no file or no time; the text is shown to the user."""


class Source(NamedTuple):
    """A file and the selected days; None: its last day."""

    path: Path
    first: float | None  # Unix s
    end: float | None  # Unix s

    def days(self) -> str:
        """The days in words."""
        if self.first is None or self.end is None:
            return "its last day"
        last = self.end - DAY_SECONDS
        return day(self.first) if last <= self.first else f"{day(self.first)} to {day(last)}"


def day(instant: float) -> str:
    """The day (UTC) of an instant, Unix s."""
    return f"{datetime.fromtimestamp(instant, UTC):%Y-%m-%d}"


def file_of(given: Path) -> Path:
    """The history file of a configuration, or the file itself. Raises ConfigError."""
    return given if given.suffix == SUFFIX else place(load(given), FILE)


def source(words: str) -> Source:
    """What FILE, FILE@DAY or FILE@DAY..DAY means. Raises SourceError and ConfigError."""
    name, _, days = words.partition("@")
    if not name:
        raise SourceError(f"{words}: expected a configuration or a {SUFFIX} file before @")
    if not days:
        return Source(file_of(Path(name)), None, None)
    first, _, last = days.partition("..")
    begin, final = _date(first), _date(last or first)
    if final < begin:
        raise SourceError(f"{words}: expected days in order, found {first} after {last}")
    return Source(file_of(Path(name)), begin, final + DAY_SECONDS)


def since(words: str, now: float) -> float:
    """The instant (Unix s) that 90m, 12h, 30d, 2w, 1y or a date means. Raises SourceError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([mhdwy])", words)
    return now - float(match[1]) * UNITS[match[2]] if match else _date(words)


def _date(words: str) -> float:
    if words in ("today", "yesterday"):
        today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return (today - timedelta(days=int(words == "yesterday"))).timestamp()
    try:
        return datetime.combine(date.fromisoformat(words), datetime.min.time(), UTC).timestamp()
    except ValueError:
        raise SourceError(f"expected a day such as 2026-01-31, today or yesterday, found {words!r}") from None
