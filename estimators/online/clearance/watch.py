"""Watches the clearance of one bearing by two proximity sensors: its value while the motion shows one, and its growth.

Two proximity sensors across each other see the pin's centre run on a circle (models/mechanisms/pin_circle.py): the
window is the last POINTS places, and every two seconds a circle is fitted to them. Both halves of a window must show
the same clearance: places before and after a change lie on two circles, and one fitted to both is neither.

σ has two parts: the difference of blocks of time, and a share SEEN of the value that no row shows: the error of the
sensors' scale, and the depth to which the pin is pressed into its bearing.
"""

import math
from typing import ClassVar, Final

import numpy as np

from estimators.models.mechanisms.pin_circle import ARC, THICK, circle
from estimators.online.clearance.bearing import (
    AGREE,
    IMPLAUSIBLE,
    NOTHING,
    BearingWatch,
    ClearanceReport,
    changing,
    nothing,
)
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason

#: s, argued: Time between two places of a window: the pin has moved on, so that their noise is independent.
APART: Final = 0.05
#: places, argued: Places of a window: half a minute, in which the load of a working joint turns several times.
POINTS: Final = 600
#: places, argued: Places between two fits, which take milliseconds: two seconds.
EVERY: Final = 40
#: 1, argued: Share of the clearance that the sensors' scale and the pin's depth in its bearing may be off.
SEEN: Final = 0.01


class ClearanceWatch(BearingWatch):
    """Watches one bearing by two proximity sensors."""

    way: ClassVar[str] = "proximity sensors"

    def __init__(self, period: float) -> None:
        """period: s between samples."""
        super().__init__()
        self._stride = max(1, round(APART / period))
        self._skip = 0  # samples until the next place
        self._places = np.full((POINTS, 2), np.nan)
        self._count = 0  # places ever taken

    def absorb(self, time: Nanoseconds, values: Floats) -> None:
        """Take samples: (rows,) ns, (rows, 2) m; a missing one is NaN."""
        for row in range(self._skip, len(values), self._stride):
            if np.isfinite(values[row]).all():
                self._places[self._count % POINTS] = values[row]
                self._count += 1
                if self._count % EVERY == 0:
                    self._fit(int(time[row]))
        self._skip = (self._skip - len(values)) % self._stride

    def _fit(self, now: int) -> None:
        progress = min(100.0, 100.0 * self._count / POINTS)
        if self._count < POINTS:
            self.fill(progress)
            return
        places = np.roll(self._places, -(self._count % POINTS), axis=0)
        found, *halves = (circle(*part.T) for part in (places, places[: POINTS // 2], places[POINTS // 2 :]))
        deviation = float(np.hypot(found.deviation, SEEN * found.clearance))
        reasons, arc = [], min(one.arc for one in halves)
        older, newer = (one.clearance for one in halves)
        apart = math.hypot(*(math.hypot(one.deviation, SEEN * one.clearance) for one in halves))
        if arc < ARC:
            reasons.append(Reason("clearance_arc", None, {"arc": math.degrees(arc), "needed": math.degrees(ARC)}))
        elif abs(newer - older) > AGREE * apart:
            reasons.append(changing(older, newer))
        if not max(NOTHING * deviation, THICK * found.spread) < found.clearance < IMPLAUSIBLE:
            reasons.append(nothing(found.clearance, deviation))
        self.publish(now, ClearanceReport(found.clearance, deviation, tuple(reasons), progress, arc, found.touching))
