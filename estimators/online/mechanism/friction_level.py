"""Ratio of the friction that each drive feels to the model's, measured from the residual of 20 s of motion.

    r = (ratio − 1) f + s τ_ideal + o

f is the model's friction, τ_ideal the rest of its torque: so a wrong mass or torque constant is not mistaken for
friction. Deviations are those of blocks of rows (recursive/blocks.py), so they contain the errors of the model.
"""

from typing import Final

import numpy as np

from estimators.base import Event
from estimators.online.mechanism.estimate import FrictionRatio
from estimators.quantities import Floats
from estimators.recursive.blocks import Blocks, spread
from estimators.thresholds import IMITATED, LASTING_CHANGE

COLUMNS: Final = 3  # constant, friction, ideal torque
FRICTION: Final = 1
#: rows, argued: Rows of a block at 200 Hz: 1 s, longer than a residual's errors last.
ROWS: Final = 200
#: blocks, argued: Blocks that one value takes, 20 s of motion: with fewer, the spread of the blocks is not known.
BLOCKS: Final = 20
#: 1, argued: Relative change of friction that is reported: warming up changes it by less within a shift.
GROWTH: Final = 0.25
#: 1, argued: The same where the residual exceeds its threshold: friction may be the cause.
SUSPECTED: Final = 0.05
#: 1, argued: Share of the limits below which a change that was reported is over (hysteresis).
OVER: Final = 0.5


class FrictionLevel:
    """Watches one drive."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._rows = np.empty((ROWS, COLUMNS + 1))
        self._count = 0
        self.blocks = Blocks(COLUMNS, BLOCKS, ROWS)
        self.ratio = FrictionRatio(np.nan, np.nan, 0.0)
        self.changed = False  # whether the friction differs from the model's
        self._least = GROWTH  # relative change that is reported
        self._resumed = 0.0  # share that was adopted before a restart, or before the window began anew

    def absorb(
        self, time: int, residual: Floats, friction: Floats, ideal: Floats, suspected: bool = False
    ) -> Event | None:
        """Take rows (rows,) of the moving drive; returns what has happened.

        time: ns; suspected: the residual has exceeded its threshold.
        """
        if not self.changed:
            self._least = SUSPECTED if suspected else GROWTH
        event = None
        for r, f, torque in zip(residual, friction, ideal, strict=True):
            self._rows[self._count] = 1.0, f, torque, r
            self._count += 1
            if self._count == ROWS:
                self._count = 0
                phi, y = self._rows[:, :COLUMNS], self._rows[:, COLUMNS]
                self.blocks.add(phi.T @ phi, phi.T @ y)
                event = self._judge(time)
        return event

    def begin_anew(self) -> None:
        """Forget the rows so far: they are from before a change."""
        self._count = 0
        self.blocks.forget()

    @property
    def adopted(self) -> float:
        """The reported change, as a share of the model's friction, which is added to it."""
        return self.ratio.ratio - 1.0 if self.changed and np.isfinite(self.ratio.ratio) else self._resumed

    def resume(self, share: float) -> None:
        """Go on with an adopted share from before a restart."""
        self._resumed, self.changed = share, share != 0.0

    def _judge(self, time: int) -> Event | None:
        which = self.blocks.last()
        progress = 100.0 * len(which) / BLOCKS
        if self.changed and np.isfinite(self.ratio.ratio):
            self._resumed = self.ratio.ratio - 1.0
        self.ratio = FrictionRatio(np.nan, np.nan, progress)
        if len(which) < BLOCKS or not self.blocks.imitated(FRICTION, which, (0, 2)) < IMITATED:
            return None
        theta, left_out = self.blocks.solve(which)
        found, deviation = float(theta[FRICTION]), float(spread(left_out)[FRICTION])
        if not np.isfinite([found, deviation]).all():
            return None
        self.ratio = FrictionRatio(1.0 + found, deviation, progress)
        share = OVER if self.changed else 1.0
        beyond = abs(found) > share * max(self._least, LASTING_CHANGE * deviation)
        if beyond == self.changed:
            return None
        self.changed, self._resumed = beyond, 0.0
        words = f"friction is {100.0 * (1.0 + found):.0f} ± {100.0 * deviation:.1f} % of the model's"
        kind = "friction" if beyond else "recovered"
        return Event(time, kind, f"{self._name}: {words}{'' if beyond else ', within its limit again'}")
