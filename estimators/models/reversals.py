"""Rows that see a change of direction teach nothing to a law that only knows the direction's sign.

Around a reversal a joint sticks, its bristles turn over, its teeth change sides: friction goes from −Fc to Fc as no
law with a
sign says, and at the row's own noise that is an error of a hundred standard deviations. Both directions are told by
all other
rows. Found by looking: the columns of a law that are 0, 1 or −1 at every speed; a row in which such a column is
anything
between saw both. Such a row counts as standing still (rows.speed = 0). Where more than half of the rows that move see a
reversal there is nothing else to learn from, and they teach.
"""

from typing import Final

import numpy as np

from estimators.models.base import Model, NonlinearPlace
from estimators.models.friction.base import FrictionSettings
from estimators.quantities import Floats
from estimators.rows import Rows

MIXED: Final = 1e-9  # from 0 and 1
MOST: Final = 0.5  # of the rows, that may be left out


class Reversals:
    """Marks rows of one model that see a reversal."""

    def __init__(self, model: Model) -> None:
        self._columns = [(place.output, column) for place in model.blocks for column in _signs(place)]
        self.count = 0  # rows that were marked
        self._rows = 0

    def absorb(self, rows: Rows) -> Rows:
        """The same rows; those that see a reversal stand still."""
        if not self._columns or not len(rows.time):
            return rows
        mixed = np.zeros(len(rows.time), np.bool_)
        still = np.ones(len(rows.time), np.bool_)
        for output, column in self._columns:
            size = np.abs(rows.phi[:, output, column])
            mixed |= (size > MIXED) & (size < 1.0 - MIXED)
            still &= size <= MIXED
        mixed |= still
        seen = self.count + np.cumsum(mixed & ~still)
        total = self._rows + np.cumsum(~still)
        leave = mixed & (seen <= MOST * np.maximum(total, 1.0))
        self.count, self._rows = int(seen[-1]), int(total[-1])
        if not leave.any():
            return rows
        return rows._replace(speed=np.where(leave[:, None], 0.0, rows.speed))


def _signs(place: NonlinearPlace) -> list[int]:
    """Columns of phi that are 0, 1 or −1 at every speed and change with it."""
    assert isinstance(place.law, FrictionSettings)
    built = place.law.law(place.axis)
    if built.nonlinear or built.stops:
        return []
    speeds: Floats = np.concatenate([-np.geomspace(1e-6, 10.0, 40), np.geomspace(1e-6, 10.0, 40)])
    columns = built.columns(np.full(80, 0.3), speeds, np.ones(80), built.start)
    return [
        place.columns[k]
        for k in range(columns.shape[1])
        if np.isin(columns[:, k], (-1.0, 0.0, 1.0)).all() and np.ptp(columns[:, k]) > 0.0
    ]
