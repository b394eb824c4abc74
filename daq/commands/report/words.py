"""Formats numbers and times as text."""

import time


def readable(name: str) -> str:
    """A name with spaces in place of underscores."""
    return name.replace("_", " ")


def number(value: float, digits: int) -> str:
    """A number with these significant digits, and a power of ten only where it would be long."""
    text = f"{value:.{digits}g}"
    if "e" in text and 1e-4 <= abs(value) < 1e7:
        text = f"{float(text):.0f}"
    return text.replace("-", "−")


def share(part: float, whole: float) -> str:
    """A part of a whole in per cent."""
    if not whole:
        return "–"
    share = 100 * part / whole
    return "< 0.01 %" if 0 < share < 0.005 else f"{share:.3g} %"


def often(count: int) -> str:
    """A count as "once" or "N times"."""
    return "once" if count == 1 else f"{count} times"


def date(stamp: float) -> str:
    """Day and minute, of Unix s."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(stamp))


def stamp(stamp: float) -> str:
    """Day and second, of Unix s."""
    return time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(stamp))


def clock(stamp: float) -> str:
    """Time of the day, of Unix s."""
    return time.strftime("%H:%M:%S", time.localtime(stamp))


def duration(seconds: float) -> str:
    """A duration in s, as text."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{seconds:.1f} s"
