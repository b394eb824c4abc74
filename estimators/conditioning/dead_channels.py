"""What a joint's channels lack, in words: one that is never finite, or never changes while others do."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.quantities import Floats

SPAN: Final = 2.0  # s over which a channel is looked at
SLOW: Final = "temperature"  # ends the names of channels that change slowly and come seldom: they may well stay


class Channels:
    """Watches the raw rows of one joint, span by span."""

    def __init__(self, names: Sequence[str], period: float, standstill: float) -> None:
        """period: s between raw rows; standstill: rad/s (m/s)."""
        self.faults: tuple[str, ...] = ()
        self.certain: tuple[str, ...] = ()  # those that standstill does not excuse
        self._names = names
        self.span = max(2, round(SPAN / period))
        self._seconds = self.span * period
        self._places = [i for i, name in enumerate(names) if name.endswith("position")]
        self._still = standstill * self._seconds  # rad (m) that a joint at rest moves at most
        self.seen = np.zeros(1, np.int64)  # rows of the span
        self.values = np.empty((self.span, len(names)))  # looked at together

    def absorb(self, values: Floats) -> None:
        """Look at rows: (rows, channels)."""
        first = 0
        while first < len(values):
            begin = int(self.seen[0])
            part = values[first : first + self.span - begin]
            self.values[begin : begin + len(part)] = part
            self.seen += len(part)
            first += len(part)
            if self.seen[0] == self.span:
                self._look()
                self.seen[:] = 0

    def _look(self) -> None:
        valid = np.isfinite(self.values)
        found = np.asarray(valid.any(axis=0))
        low = np.min(self.values, axis=0, where=valid, initial=math.inf)
        high = np.max(self.values, axis=0, where=valid, initial=-math.inf)
        constant = found & (low == high)
        moves = bool((high - low > self._still)[self._places].any())
        dead, stuck = [], []
        for name, finite, same, value in zip(self._names, found, constant, low, strict=True):
            if not finite:
                dead.append(f"{name} gave no finite value for {self._seconds:g} s")
            elif same and not constant.all() and not name.endswith(SLOW):
                stuck.append(f"{name} stays at {value:.6g} although other channels change")
        self.faults = (*dead, *stuck)
        self.certain = self.faults if moves else tuple(dead)
