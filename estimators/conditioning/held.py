"""Channels that change slowly and come seldom: a missing value is the one before it."""

from collections.abc import Sequence

import numpy as np

from estimators.quantities import Floats


class Held:
    """Of the rows of one joint."""

    def __init__(self, channels: Sequence[int]) -> None:
        """channels: which columns."""
        self._channels = tuple(channels)
        self._last = [np.nan] * len(self._channels)

    @property
    def any(self) -> bool:
        """Whether there are such columns."""
        return bool(self._channels)

    def absorb(self, values: Floats) -> Floats:
        """values (rows, channels) → the same without gaps in these columns; NaN before the first value stays."""
        if not self._channels or not len(values):
            return values
        values = values.copy()
        for i, channel in enumerate(self._channels):
            column = np.append(self._last[i], values[:, channel])
            known = np.maximum.accumulate(np.where(np.isfinite(column), np.arange(len(column)), 0))
            values[:, channel] = column[known][1:]
            self._last[i] = float(values[-1, channel])
        return values
