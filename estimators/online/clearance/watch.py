"""Watches the clearance of one bearing: its value with a deviation while the motion tells one, and its growth.

Two proximity sensors across each other see the pin's centre run on a circle (models/mechanisms/pin_circle.py): the
window is the last POINTS places, and every two seconds a circle is fitted to them. Both halves of a window must show
the same clearance: places before and after a change lie on two circles, and one fitted to both is neither. The first
whole window is what growth is measured against.

σ has two parts: what blocks of time differ by, and a share of the value that no row shows, SEEN: sensors are as exact
as their scale, and the pin is pressed into its bearing by less than that.
"""

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from estimators.base import Event
from estimators.models.mechanisms.pin_circle import ARC, THICK, circle
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason

VERSION: Final = 1  # of what is kept
#: s, argued: Time between two places of a window: the pin has moved on, so that its noise is another.
APART: Final = 0.05
#: places, argued: Places of a window: half a minute, in which a joint in work turns its load several times.
POINTS: Final = 600
#: places, argued: Places between two fits, which take milliseconds: two seconds.
EVERY: Final = 40
#: 1, argued: Share of the clearance that the sensors' scale and the pin's depth in its bearing may be off.
SEEN: Final = 0.01
#: deviations, argued: By which the halves of a window may differ: of two circles in one window neither is the pin's.
AGREE: Final = 3.0
#: 1, argued: Relative growth that is told: a bearing is worn by it, while warmth moves a clearance by less.
GROWTH: Final = 0.25
#: deviations, argued: By which growth must be certain; it is asked every two seconds, for years.
SIGNIFICANT: Final = 5.0
#: windows, argued: Fits in a row beyond the limit before growth is told.
CONFIRMED: Final = 3
#: m, argued: No bearing has more.
IMPLAUSIBLE: Final = 5e-3
#: deviations, argued: A clearance below it cannot be told from none.
NOTHING: Final = 2.0


class ClearanceReport(NamedTuple):
    """What is known of a bearing."""

    clearance: float  # m; NaN where there is no number
    deviation: float  # m
    reasons: tuple[Reason, ...]  # why there is no number
    progress: float  # of the window, per cent
    arc: float  # rad of its circle that the pin has visited in either half of the window
    touching: float  # share of the window's places where the pin touches


class ClearanceState(NamedTuple):
    """What outlives a restart."""

    version: int
    first: float  # m, of the first whole window; NaN before there is one
    first_deviation: float  # m
    since: int  # ns of the first growth that stands; 0: none


EMPTY: Final = ClearanceReport(
    math.nan, math.nan, (Reason("clearance_filling", None, {"percent": 0.0}),), 0.0, 0.0, 0.0
)


class ClearanceWatch:
    """Watches one bearing by two proximity sensors."""

    def __init__(self, period: float) -> None:
        """period: s between samples."""
        self._stride = max(1, round(APART / period))
        self._skip = 0  # samples until the next place
        self._places = np.full((POINTS, 2), np.nan)
        self._count = 0  # places ever taken
        self.report = EMPTY
        self.first = self.first_deviation = math.nan
        self.since = 0  # ns
        self._above = 0
        self._events: list[Event] = []

    @property
    def grown(self) -> bool:
        """Whether it has grown since the first window."""
        return self.since != 0

    def absorb(self, time: Nanoseconds, near: Floats) -> None:
        """Take samples: (rows,) ns, (rows, 2) m; a missing one is NaN."""
        for row in range(self._skip, len(near), self._stride):
            if np.isfinite(near[row]).all():
                self._places[self._count % POINTS] = near[row]
                self._count += 1
                if self._count % EVERY == 0:
                    self._fit(int(time[row]))
        self._skip = (self._skip - len(near)) % self._stride

    def events(self) -> list[Event]:
        """What happened since the last call."""
        told, self._events = self._events, []
        return told

    def keep(self) -> dict[str, Any] | None:
        """State that outlives a restart, as plain data; None while there is none."""
        if not math.isfinite(self.first):
            return None
        return ClearanceState(VERSION, self.first, self.first_deviation, self.since)._asdict()

    def resume(self, kept: Mapping[str, Any]) -> None:
        """Go on from what `keep` gave. Raises ValueError where it is of another version."""
        if kept.get("version") != VERSION:
            raise ValueError("what was kept of the clearance is of another version: it starts anew")
        self.first, self.first_deviation = float(kept["first"]), float(kept["first_deviation"])
        self.since = int(kept["since"])

    def refer(self) -> None:
        """Measure growth against the next window."""
        self.first = self.first_deviation = math.nan
        self.since = self._above = 0

    def _fit(self, now: int) -> None:
        whole = self._count >= POINTS
        progress = min(100.0, 100.0 * self._count / POINTS)
        if not whole:
            why = Reason("clearance_filling", None, {"percent": progress})
            self.report = EMPTY._replace(reasons=(why,), progress=progress)
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
            reasons.append(Reason("clearance_changing", None, {"older": 1e6 * older, "newer": 1e6 * newer}))
        if not max(NOTHING * deviation, THICK * found.spread) < found.clearance < IMPLAUSIBLE:
            reasons.append(
                Reason("clearance_none", None, {"value": 1e6 * found.clearance, "deviation": 1e6 * deviation})
            )
        told = (math.nan, math.nan) if reasons else (found.clearance, deviation)
        self.report = ClearanceReport(*told, tuple(reasons), progress, arc, found.touching)
        if not reasons:
            self._watch(now)

    def _watch(self, now: int) -> None:
        """Compare with the first window."""
        value, deviation = self.report.clearance, self.report.deviation
        if not math.isfinite(self.first):
            self.first, self.first_deviation = value, deviation
            self._events.append(Event(now, "clearance_known", f"clearance {_micro(value)} ± {_micro(deviation)} µm"))
            return
        limit = max(GROWTH * self.first, SIGNIFICANT * math.hypot(deviation, self.first_deviation))
        self._above = self._above + 1 if value - self.first > limit else 0
        if self._above >= CONFIRMED and not self.grown:
            self.since = now
            text = f"clearance has grown from {_micro(self.first)} µm, the last rows say {_micro(value)}"
            self._events.append(Event(now, "clearance_grown", text))
        elif self.grown and value - self.first < 0.5 * limit:
            self.since = 0


def _micro(length: float) -> str:
    return f"{1e6 * length:.1f}"
