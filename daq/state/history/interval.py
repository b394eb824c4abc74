"""One minute of the history file: figures of each quantity, use counts, records of changes."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from estimators.wear.use_counts import UseCounts


@dataclass(slots=True)
class Figures:
    """Mean, rms deviation and extremes of the values of a quantity."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0  # of deviations
    low: float = math.inf
    high: float = -math.inf

    def add(self, value: float, deviation: float) -> None:
        """Add a value; one that is not finite does not count."""
        if not (math.isfinite(value) and math.isfinite(deviation)):
            return
        self.n += 1
        self.total += value
        self.squares += deviation * deviation
        self.low, self.high = min(self.low, value), max(self.high, value)

    def repeat(self, value: float, count: int) -> None:
        """Set them to those of `count` equal values."""
        self.n, self.total, self.squares = count, count * value, count * value * value
        self.low = self.high = value

    def row(self) -> tuple[int, float, float, float, float]:
        """n, mean, deviation, low, high."""
        return self.n, self.total / self.n, math.sqrt(self.squares / self.n), self.low, self.high


BAND: Final = "friction@"  # prefix of the names of a friction's bands of speed


class Quantity(NamedTuple):
    """A quantity of which figures are kept."""

    joint: str
    name: str
    unit: str

    @property
    def speed(self) -> float:
        """The middle of the speeds that a friction's band is of; 0 of every other quantity."""
        return float(self.name.removeprefix(BAND)) if self.name.startswith(BAND) else 0.0


class SeenUse(NamedTuple):
    """What the core had counted of one joint, since its own start."""

    boot: int  # which core
    joint: str
    unit: str  # of travel: rad or m
    counts: UseCounts


@dataclass(slots=True)
class Interval:
    """One minute."""

    start: int  # Unix s
    figures: dict[Quantity, Figures] = field(default_factory=dict)
    use: dict[tuple[str, int], SeenUse] = field(default_factory=dict)  # by joint and boot, in order of time
    changes: dict[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)  # joint → all its records

    def add(self, quantity: Quantity, value: float, deviation: float) -> None:
        """Add a value of a quantity."""
        found = self.figures.get(quantity)
        if found is None:
            found = self.figures[quantity] = Figures()
        found.add(value, deviation)

    def see(self, seen: Iterable[SeenUse]) -> None:
        """Note what the core has counted up to now."""
        self.use |= {(one.joint, one.boot): one for one in seen}

    def take_over(self, lost: "Interval") -> None:
        """Take use and changes from an earlier interval that is not written, so that only its figures are lost."""
        self.use = lost.use | self.use
        self.changes = lost.changes | self.changes

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return not (self.use or self.changes or any(one.n for one in self.figures.values()))
