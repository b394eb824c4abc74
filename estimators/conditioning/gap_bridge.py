"""Replaces missing values of rows by the last ones for a moment, and restarts low-passes after a long gap."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.causal_low_pass import LowPassState
from estimators.quantisation.robot_errors_in_variables import RINGING
from estimators.quantities import Floats

#: s, argued: A missing value may be taken for the last one for this long.
BRIDGED: Final = 0.05


class GapBridge:
    """Watches the rows of some channels."""

    def __init__(self, channels: int, period: float, passes: Sequence[LowPassState]) -> None:
        """period: s between rows; passes: restarted when a gap is too long to be bridged."""
        self._period, self._passes = period, passes
        self._last = np.full(channels, np.nan)
        self._every: NDArray[np.bool_] = np.ones(round(1.0 / period), np.bool_)
        self._settled, self._missing, self._restarted = 0, 0, False

    def absorb(self, values: Floats) -> tuple[Floats, NDArray[np.bool_], bool]:
        """Rows (rows, channels) without gaps, which are usable, and whether all are.

        A row is usable when all its values are there and the low-passes have settled.
        """
        settled = self._missing == 0 and self._settled * self._period >= RINGING
        if settled and math.isfinite(np.add.reduce(values, None)):  # one pass; a sum that overflows is looked into
            self._last = values[-1]
            return values, self._every[: len(values)], True
        usable: NDArray[np.bool_] = np.ones(len(values), np.bool_)
        values = values.copy()
        for row in range(len(values)):
            there = np.isfinite(values[row])
            self._missing = 0 if there.all() else self._missing + 1
            if self._missing * self._period > BRIDGED and not self._restarted:
                self._restarted = True
                for one in self._passes:
                    one.restart()
            values[row, ~there] = np.where(np.isfinite(self._last), self._last, 0.0)[~there]
            self._last = values[row].copy()
            self._settled = self._settled + 1 if self._missing == 0 else 0  # the step back takes time to pass
            self._restarted &= self._missing > 0
            usable[row] = there.all() and self._settled * self._period >= RINGING
        return values, usable, bool(usable.all())
