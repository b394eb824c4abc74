"""A jump of a joint's position within one sample, by which an encoder that slips is told from a contact at once.

Its moment is a torque that the low-passes hold for a while, as of a push; gravity may show the slip itself little or
not at all. But nobody can push a joint so that it is twice as fast as ever for a single sample, and as fast as before
again: that takes an acceleration up and down by as much as the speed over one sample.
"""

from collections import deque
from typing import Final, NamedTuple

import numpy as np

from estimators.quantities import Floats

#: s, derived: Positions that are kept: what the quick low-pass holds of a jump is reported as a contact within it.
KEPT: Final = 0.15
#: 1, argued: Times the fastest speed of teaching, beyond which no joint is for a single sample.
FASTER: Final = 2.0
#: 1, argued: Times the next largest step by which a jump is larger: a value that is wild goes back, and values that are
#: held jump again and again.
ALONE: Final = 2.0


class PositionJump(NamedTuple):
    """Declares a jump of one joint's position."""

    joint: int
    size: float  # rad (m)


class PositionJumps:
    """Keeps the last positions of n joints, and says whether one has jumped."""

    def __init__(self, reach: Floats, period: float, chunk: int) -> None:
        """reach: (n,) fastest speed of teaching, rad/s (m/s); period: s between rows; chunk: rows."""
        self._most = np.where(reach > 0.0, FASTER * period * reach, np.inf)
        self._last = deque[Floats](maxlen=max(2, round(KEPT / (period * chunk))))

    def absorb(self, q: Floats) -> None:
        """Take the next positions (rows, n)."""
        self._last.append(q)

    def found(self) -> PositionJump | None:
        """The jump in the positions that are kept, beyond what is possible by the largest factor; None without."""
        if not self._last:
            return None
        steps = np.diff(np.concatenate(self._last), axis=0)
        if len(steps) < 2 or not np.isfinite(steps).all():
            return None
        steps -= np.median(steps, axis=0)
        largest = np.sort(np.abs(steps), axis=0)[-2:]
        beyond = np.where(largest[1] > ALONE * largest[0], largest[1] / self._most, 0.0)
        j = int(np.argmax(beyond))
        return PositionJump(j, float(steps[np.abs(steps[:, j]).argmax(), j])) if beyond[j] > 1.0 else None
