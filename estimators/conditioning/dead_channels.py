"""What a joint's channels lack, in words: one that is never finite, or never changes while others do."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.quantities import Floats

SPAN: Final = 2.0  # s over which a channel is looked at


class Channels:
    """Watches the raw rows of one joint, span by span."""

    def __init__(self, names: Sequence[str], period: float, standstill: float) -> None:
        """period: s between raw rows; standstill: rad/s (m/s)."""
        self.faults: tuple[str, ...] = ()
        self.certain: tuple[str, ...] = ()  # those that standstill does not excuse
        self._names = names
        self._span = max(2, round(SPAN / period))
        self._seconds = self._span * period
        self._places = [i for i, name in enumerate(names) if name.endswith("position")]
        self._still = standstill * self._seconds  # rad (m) that a joint at rest moves at most
        self._rows = 0
        self._values = np.empty((self._span, len(names)))  # looked at together: rows come one or two at a time

    def absorb(self, values: Floats) -> None:
        """Look at rows: (rows, channels)."""
        end = self._rows + len(values)
        if end < self._span:  # as nearly always
            self._values[self._rows : end] = values
            self._rows = end
            return
        first = 0
        while first < len(values):
            part = values[first : first + self._span - self._rows]
            self._values[self._rows : self._rows + len(part)] = part
            self._rows += len(part)
            first += len(part)
            if self._rows == self._span:
                self._look()
                self._rows = 0

    def _look(self) -> None:
        valid = np.isfinite(self._values)
        found = np.asarray(valid.any(axis=0))
        low = np.min(self._values, axis=0, where=valid, initial=math.inf)
        high = np.max(self._values, axis=0, where=valid, initial=-math.inf)
        constant = found & (low == high)
        moves = bool((high - low > self._still)[self._places].any())
        dead, stuck = [], []
        for name, finite, same, value in zip(self._names, found, constant, low, strict=True):
            if not finite:
                dead.append(f"{name} gave no finite value for {self._seconds:g} s")
            elif same and not constant.all():
                stuck.append(f"{name} stays at {value:.6g} although other channels change")
        self.faults = (*dead, *stuck)
        self.certain = self.faults if moves else tuple(dead)
