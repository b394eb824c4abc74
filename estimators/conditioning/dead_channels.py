"""What a joint's channels lack: one that is never finite, or never changes while others do."""

import math
from collections.abc import Sequence
from typing import Annotated, Final

import numpy as np

from estimators.reasons import Reason
from jointwatch_numba.layout import Layout, Matrix

#: s, argued: Time over which a channel must change to be alive.
SPAN: Final = 2.0
SLOW: Final = "temperature"  # ends the names of channels that change slowly and come seldom: they may well stay


class Watched(Layout):
    """Raw rows that are looked at together."""

    values: Annotated[Matrix, "span", "channels"]
    count: int = 0  # of them that are there


class Channels:
    """Watches the raw rows of one joint, span by span."""

    def __init__(self, names: Sequence[str], period: float, standstill: float) -> None:
        """period: s between raw rows; standstill: rad/s (m/s)."""
        self.faults: tuple[Reason, ...] = ()
        self.certain: tuple[Reason, ...] = ()  # those that standstill does not excuse
        self._names = names
        self.span = max(2, round(SPAN / period))
        self._seconds = self.span * period
        self._places = [i for i, name in enumerate(names) if name.endswith("position")]
        self._still = standstill * self._seconds  # rad (m) that a joint at rest moves at most
        self.watched = Watched(values=np.empty((self.span, len(names))))

    def look(self) -> None:
        """Judge the span, where it is full, and begin another one."""
        if self.watched.count < self.span:
            return
        self.watched.count = 0
        values = np.ascontiguousarray(self.watched.values.T)  # channel by channel: NumPy is quick along a row only
        valid = np.isfinite(values)
        found = np.asarray(valid.any(axis=1))
        low = np.where(valid, values, math.inf).min(axis=1)
        high = np.where(valid, values, -math.inf).max(axis=1)
        constant = found & (low == high)
        moves = bool((high - low > self._still)[self._places].any())
        dead, stuck = [], []
        for name, finite, same, value in zip(self._names, found, constant, low, strict=True):
            if not finite:
                dead.append(Reason("channel_dead", name, {"seconds": self._seconds}))
            elif same and not constant.all() and not name.endswith(SLOW):
                stuck.append(Reason("channel_stuck", name, {"value": float(value)}))
        self.faults = (*dead, *stuck)
        self.certain = self.faults if moves else tuple(dead)
