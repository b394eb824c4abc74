"""Finds the column of times in a recording, its unit, and the reason for the unit."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from daq.recording.proposal.column_name import read_name, words_of
from estimators.quantities import Floats

#: 1, argued: Largest share of rows at which times go back, as with several runs in one file.
BACKWARDS: Final = 0.02
#: 1, argued: Largest share of rows at which times repeat: a logger that is faster than its source writes rows twice.
TWICE: Final = 0.5
#: 1, argued: Largest median deviation of a clock's steps from their median; a rising position has unequal steps.
EVEN: Final = 0.2
# median step from which on times are not in seconds: joints are recorded at 5 Hz to 5 kHz
STEPS: Final = ((1e5, "ns"), (100.0, "µs"), (0.2, "ms"))
#: s, argued: Shortest step of times in s: joints are recorded at 20 kHz at most; steps in days are shorter.
LEAST: Final = 5e-5
FACTORS: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_UNIT: Final = re.compile(
    r"(?:^|[_\W])(ns|nsecs?|us|usecs?|µs|ms|msecs?|milliseconds?|microseconds?|nanoseconds?|s|secs?|seconds?)\W*$"
)
_LONG: Final = {"n": "ns", "u": "us", "µ": "us", "m": "ms", "mil": "ms", "mic": "us", "nan": "ns", "s": "s"}


class Clock(NamedTuple):
    """A column of times."""

    column: str
    values: Floats
    unit: str
    reason: str  # reason for the unit, in words
    doubtful: bool  # whether the unit is only guessed from the size of the steps
    backwards: int  # number of rows at which times go back
    others: tuple[str, ...] = ()  # other columns that rise like times


def find_clock(table: Mapping[str, Floats], rows: int, beside: str, units: Mapping[str, str]) -> Clock | None:
    """Return the best column of times with this number of rows; beside: the structure that contains the positions."""
    found = []
    for name, values in table.items():
        said = read_name(name)
        if said.role != "time" or values.size != rows or rows < 3 or said.reference:
            continue
        times = values.ravel().astype(float)
        steps = np.diff(times[np.isfinite(times)])
        ahead = steps[steps > 0.0]
        if not len(ahead) or np.mean(steps < 0.0) > BACKWARDS or np.mean(steps == 0.0) > TWICE:
            continue
        middle = float(np.median(ahead))
        uneven = float(np.median(np.abs(ahead - middle))) / middle
        near = name.rpartition(".")[0] == beside
        header = "header" in words_of(name) and words_of(name)[-1] in ("stamp", "time")
        doubtful = _unit(name, times, units.get(name, ""))[2]
        order = (not near, not header, doubtful, said.rank, round(uneven, 3))
        found.append((order, name, times, int(np.sum(steps < 0.0))))
    if not found:
        return None
    found.sort(key=lambda one: one[0])
    _, name, times, backwards = found[0]
    unit, reason, doubtful = _unit(name, times, units.get(name, ""))
    return Clock(name, times, unit, reason, doubtful, backwards, tuple(one[1] for one in found[1:]))


def rising_column(table: Mapping[str, Floats], rows: int, units: Mapping[str, str]) -> Clock | None:
    """Return the column that rises most evenly, whatever its name; a counter of rows (steps of 1) is excluded."""
    found = []
    for name, values in table.items():
        times = values.ravel().astype(float)
        steps = np.diff(times) if values.size == rows and rows > 2 else np.zeros(1)
        if not np.all(steps > 0.0) or np.all(steps == 1.0):
            continue
        middle = float(np.median(steps))
        found.append((float(np.median(np.abs(steps - middle))) / middle, name, times))
    uneven, name, times = min(found, key=lambda one: one[0], default=(np.inf, "", np.zeros(0)))
    return Clock(name, times, *_unit(name, times, units.get(name, "")), 0) if uneven <= EVEN else None


def _unit(name: str, times: Floats, declared: str) -> tuple[str, str, bool]:
    steps = np.diff(times[np.isfinite(times)])
    step = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 0.0
    plain = declared.strip().lower()
    if plain in ("s", "ms", "us", "µs", "ns", "sec", "seconds"):
        unit = "s" if plain.startswith("sec") else plain
        return unit, "from the row of units", False
    named = _UNIT.search(name.lower().strip("[]() ")) if len(words_of(name)) > 1 else None
    if named:
        word = named[1]
        unit = _LONG.get(word[:3], _LONG.get(word[:1], "s")) if len(word) > 2 else word
        if not re.search(r"\bsecs?\b|stamp.s$", name.lower()) or unit != "s":
            return unit, "as its name says", False
    by_size = next((unit for least, unit in STEPS if step >= least), "s")
    if by_size == "s":
        if step >= LEAST or step == 0.0:
            return "s", "", False
        return (
            "s",
            f"a step of {step:.6g} would be {1.0 / step:.3g} Hz; days or minutes have to be converted to s",
            True,
        )
    rate = 1.0 / (step * FACTORS[by_size])
    return by_size, f"a step of {step:.6g} would be {1.0 / step:.3g} Hz in s, and is {rate:.6g} Hz in {by_size}", True


def by_velocity(clock: Clock, gain: float) -> tuple[str, bool]:
    """Return the unit with which a velocity is the derivative of its position, and whether such a unit was found.

    gain: Δq over ∫ v dt if the times are assumed to be seconds, with position and velocity in the same unit of angle,
    or one of them in degrees and the other in rad.
    """
    for unit in ("s", "ms", "us", "ns"):
        for factor in (1.0, 180.0 / np.pi, np.pi / 180.0):
            if abs(np.log(abs(gain) / (FACTORS[unit] * factor))) < np.log(1.2):
                return unit, True
    return clock.unit, False
