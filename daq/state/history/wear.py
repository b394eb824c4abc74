"""Judges the wear of a joint from its history: friction apart from heat and load, and the time to a limit.

The reference is the first days after `since`: the baseline's time, or the beginning of the file. A new baseline after a
repair therefore begins a new life.
"""

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from daq.state.history.friction import friction_hours
from daq.state.history.reading import HistoryReader
from daq.state.history.tables import DAY, HOUR
from estimators.quantities import Floats
from estimators.wear.dry_wear import COMMISSIONING, follow, wear_of
from estimators.wear.time_to_limit import FEWEST, PACE, Remaining, days_to_limit

#: 1, argued: Hours outside these quantiles of a parameter are outliers, not an effect of temperature.
RANGE: Final = (0.01, 0.99)


class JointWear(NamedTuple):
    """The wear of a joint; times are Unix s."""

    since: float  # beginning of the reference
    judged: float  # end of the last day that went in; 0: none yet
    days: int  # with motion in the reference, of COMMISSIONING
    wear: float  # share by which dry friction has grown; NaN: not known yet
    deviation: float
    z: float
    told: bool
    onset: float  # 0: before it is detected
    new: float  # share of the last day's hours at temperatures that the reference does not contain
    thermometer: bool
    limit: float  # share at which something must be done
    left: Remaining | None  # in days in use; None: before an onset, or not known
    usual: dict[str, tuple[float, float]]  # parameter → range of its hours' means that heat and load explain

    @property
    def text(self) -> str:
        """The wear in a sentence."""
        if not self.judged:
            return f"wear is not known yet: {self.days} of {COMMISSIONING} days in motion are learnt"
        size = f"{100 * self.wear:.0f} ± {100 * self.deviation:.0f} %"
        if not self.told:
            cold = "; not known at today's temperature yet" if self.new > 0.5 else ""
            return f"no wear is reported: dry friction has changed by {size}, corrected for heat and load{cold}"
        return f"dry friction has grown by {size}, corrected for heat and load; {self.limit_text}"

    @property
    def limit_text(self) -> str:
        """When the limit is reached, in words."""
        return f"limit of {100 * self.limit:.0f} % {in_words(self.left)}"

    def plain(self) -> dict[str, Any]:
        """The wear as a map of the stream."""
        found = self._asdict() | {"text": self.text}
        found["left"] = [] if self.left is None else [self.left.low, self.left.middle, self.left.high]
        found["usual"] = {name: list(both) for name, both in self.usual.items()}
        return found


def in_words(left: Remaining | None) -> str:
    """The time left in words: `in 30–55 days at this use`."""
    if left is None:
        return "not known yet"
    if left.high == 0.0:
        return "is reached"
    if not math.isfinite(left.low):
        return "beyond what can be foreseen at this use"
    span = f"{left.low:.0f}–{left.high:.0f}" if math.isfinite(left.high) else f"{left.low:.0f} or more"
    return f"in {span} days at this use"


def judge(
    history: HistoryReader, joint: str, since: float, now: float, limit: float, parameters: Sequence[str]
) -> JointWear | None:
    """The wear of a joint by the last whole day; parameters: of its friction. None where no friction by speed is known.

    since: Unix s of the baseline, or 0; limit: share of dry friction.
    """
    begin = max(since, float(history.span()[0]))
    hours = friction_hours(history, joint, begin, now // DAY.seconds * DAY.seconds)
    if hours is None:
        return None
    first = begin // DAY.seconds * DAY.seconds
    moving = len({int(at) // 24 for at in np.flatnonzero(np.isfinite(hours.load))})
    nothing = JointWear(begin, 0.0, moving, math.nan, math.nan, 0.0, False, 0.0, 1.0, False, limit, None, {})
    found = wear_of(hours)
    if found is None or not found.days:
        return nothing
    newest, left, onset = found.days[-1], None, 0.0
    wear, deviation = newest.wear, newest.deviation
    if found.onset is not None:
        onset = first + found.onset * DAY.seconds
        days, track, sigma = follow(hours, found.onset)
        if len(track):
            wear, deviation = float(track[-1]), math.hypot(float(sigma[-1]), deviation)
        left = _left(history, joint, first, now, days, track, limit)
    usual = _usual(history, joint, begin, onset or now, parameters)
    judged = first + (newest.day + 1) * DAY.seconds
    told = found.detected is not None
    return JointWear(
        *(begin, judged, moving, wear, deviation, newest.z, told, onset, newest.new, found.thermometer, limit),
        left,
        usual,
    )


def _left(
    history: HistoryReader, joint: str, first: float, now: float, days: Floats, drift: Floats, limit: float
) -> Remaining | None:
    """The days in use to the limit, from the wear of each day since its onset."""
    if len(days) < FEWEST:
        return None
    way = {(row.start - first) // DAY.seconds: row.counts.travel for row in history.use(DAY, first, now, joint)}
    travel = np.cumsum([way.get(day, 0.0) for day in range(int(days[0]), int(days[-1]) + 1)])
    use = travel[(days - days[0]).astype(int)]
    if use[-1] <= use[-PACE - 1 :][0]:
        return None
    return days_to_limit(use, drift, limit)


def _usual(
    history: HistoryReader, joint: str, begin: float, end: float, parameters: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """The range of each parameter's hourly means before the onset."""
    found = {}
    for quantity, rows in history.values(HOUR, begin, end, joint).items():
        if quantity.name in parameters:
            low, high = np.quantile([row.mean for row in rows], RANGE)
            found[quantity.name] = (float(low), float(high))
    return found
