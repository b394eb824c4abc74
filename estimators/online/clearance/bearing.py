"""State and report of a bearing whose clearance is watched: the newest value, the first one, and whether it has grown.

watch.py (two proximity sensors) and ring.py (an encoder on either side) measure the value. Growth is measured against
the first whole window.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Final, NamedTuple

from estimators.base import Event
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason
from estimators.thresholds import LASTING_CHANGE

VERSION: Final = 1  # of the kept state
#: 1, argued: Relative growth that is reported: such a bearing is worn, while temperature changes a clearance by less.
GROWTH: Final = 0.25
#: windows, argued: Fits in a row beyond the limit before growth is reported.
CONFIRMED: Final = 3
#: m, argued: The largest clearance that a bearing may have.
IMPLAUSIBLE: Final = 5e-3
#: deviations, argued: A clearance below it cannot be distinguished from none.
NOTHING: Final = 2.0
#: deviations, argued: By which the halves of a window may differ: with a change between them the value is of neither.
AGREE: Final = 3.0


class ClearanceReport(NamedTuple):
    """What is known of a bearing."""

    clearance: float  # m; NaN where there is no number
    deviation: float  # m
    reasons: tuple[Reason, ...]  # why no number is known
    progress: float  # of the window, per cent
    arc: float  # rad of its circle that the pin has visited in either half of the window
    touching: float  # share of the window's places where the pin touches; NaN where the sensors do not show it


class ClearanceState(NamedTuple):
    """State that a restart keeps."""

    version: int
    first: float  # m, of the first whole window; NaN before there is one
    first_deviation: float  # m
    since: int  # ns of the first growth that lasts; 0: none


EMPTY: Final = ClearanceReport(
    math.nan, math.nan, (Reason("clearance_filling", None, {"percent": 0.0}),), 0.0, 0.0, 0.0
)


class BearingWatch:
    """Watches one bearing: `absorb` learns, `report` is what is known, `events` lists what happened."""

    way: ClassVar[str]  # how the clearance is measured, in words

    def __init__(self) -> None:
        self.report = EMPTY
        self.first = self.first_deviation = math.nan
        self.since = 0  # ns
        self._above = 0
        self._events: list[Event] = []

    def absorb(self, time: Nanoseconds, values: Floats) -> None:
        """Take samples: (rows,) ns, (rows, channels) SI; a missing one is NaN."""
        raise NotImplementedError

    @property
    def grown(self) -> bool:
        """Whether it has grown since the first window."""
        return self.since != 0

    def events(self) -> list[Event]:
        """What happened since the last call."""
        events, self._events = self._events, []
        return events

    def keep(self) -> dict[str, Any] | None:
        """State that a restart keeps, as plain data; None while there is none."""
        if not math.isfinite(self.first):
            return None
        return ClearanceState(VERSION, self.first, self.first_deviation, self.since)._asdict()

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Go on from the state that `keep` returned. Raises ValueError for another version."""
        if saved.get("version") != VERSION:
            raise ValueError("what was kept of the clearance is of another version: it starts anew")
        self.first, self.first_deviation = float(saved["first"]), float(saved["first_deviation"])
        self.since = int(saved["since"])

    def refer(self) -> None:
        """Measure growth against the next window."""
        self.first = self.first_deviation = math.nan
        self.since = self._above = 0

    def fill(self, progress: float) -> None:
        """Report how much of the first window is filled, per cent."""
        why = Reason("clearance_filling", None, {"percent": progress})
        self.report = EMPTY._replace(reasons=(why,), progress=progress)

    def publish(self, now: int, report: ClearanceReport) -> None:
        """Publish a whole window's value, or why there is none, and compare it with the first. now: ns."""
        if report.reasons:
            self.report = report._replace(clearance=math.nan, deviation=math.nan)
            return
        self.report = report
        value, deviation = report.clearance, report.deviation
        if not math.isfinite(self.first):
            self.first, self.first_deviation = value, deviation
            self._events.append(Event(now, "clearance_known", f"clearance {_micro(value)} ± {_micro(deviation)} µm"))
            return
        limit = max(GROWTH * self.first, LASTING_CHANGE * math.hypot(deviation, self.first_deviation))
        self._above = self._above + 1 if value - self.first > limit else 0
        if self._above >= CONFIRMED and not self.grown:
            self.since = now
            text = f"clearance has grown from {_micro(self.first)} µm, the last rows say {_micro(value)}"
            self._events.append(Event(now, "clearance_grown", text))
        elif self.grown and value - self.first < 0.5 * limit:
            self.since = 0


def nothing(clearance: float, deviation: float) -> Reason:
    """Report that this is no clearance of a bearing."""
    return Reason("clearance_none", None, {"value": 1e6 * clearance, "deviation": 1e6 * deviation})


def changing(older: float, newer: float) -> Reason:
    """Report that the halves of a window differ."""
    return Reason("clearance_changing", None, {"older": 1e6 * older, "newer": 1e6 * newer})


def _micro(length: float) -> str:
    return f"{1e6 * length:.1f}"
