"""What a joint's channels lack, in words: one that is never finite, or never changes while others do."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.base import Floats

SPAN: Final = 2.0  # s over which a channel is looked at


class Channels:
    """Watches the raw rows of one joint, span by span."""

    def __init__(self, names: Sequence[str], period: float) -> None:
        """period: s between raw rows."""
        self.faults: tuple[str, ...] = ()
        self._names = names
        self._span = max(2, round(SPAN / period))
        self._seconds = self._span * period
        self._rows = 0
        count = len(names)
        self._finite = np.zeros(count, np.int64)
        self._low, self._high = np.full(count, math.inf), np.full(count, -math.inf)

    def absorb(self, values: Floats) -> None:
        """Look at rows: (rows, channels)."""
        first = 0
        while first < len(values):
            part = values[first : first + self._span - self._rows]
            finite = np.isfinite(part)
            self._finite += finite.sum(axis=0)
            self._low = np.minimum(self._low, np.min(part, axis=0, where=finite, initial=math.inf))
            self._high = np.maximum(self._high, np.max(part, axis=0, where=finite, initial=-math.inf))
            self._rows += len(part)
            first += len(part)
            if self._rows == self._span:
                self._look()
                self._begin()

    def _begin(self) -> None:
        self._rows = 0
        self._finite[:] = 0
        self._low[:], self._high[:] = math.inf, -math.inf

    def _look(self) -> None:
        constant = (self._finite > 0) & (self._low == self._high)
        faults = []
        for name, finite, same, value in zip(self._names, self._finite, constant, self._low, strict=True):
            if not finite:
                faults.append(f"{name} gave no finite value for {self._seconds:g} s")
            elif same and not constant.all():
                faults.append(f"{name} stays at {value:.6g} although other channels change")
        self.faults = tuple(faults)
