"""`jointwatch history --limit PARAMETER=VALUE`: how long a parameter that has changed takes to a limit.

Nothing is said before the service has told a change of the parameter (a record in `change/<joint>` that is not over):
before an onset there is no trend. The clock is the way that the joint has made since the file began, or since the last
repair: a fall towards the reference that stays. A day without motion does not count.
"""

import math
from typing import NamedTuple

import numpy as np

from daq.commands.history.source import SourceError
from daq.state.history.reading import HistoryReader
from daq.state.history.tables import DAY
from daq.state.history.wear import PACE
from estimators.wear.repairs import last_repair
from estimators.wear.time_to_limit import FEWEST, Remaining, time_to_limit


class Limit(NamedTuple):
    """A value of a parameter at which something must be done."""

    parameter: str
    value: float


class TimeLeft(NamedTuple):
    """What is said of one parameter of one joint."""

    parameter: str
    limit: float
    left: Remaining | None  # in days; None: nothing can be said
    text: str


def limits(words: list[str]) -> list[Limit]:
    """The limits of NAME=VALUE. Raises SourceError."""
    found = []
    for one in words:
        name, _, value = one.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not name or not math.isfinite(number):
            raise SourceError(f"--limit: expected PARAMETER=VALUE, found {one!r}")
        found.append(Limit(name, number))
    return found


def time_left(history: HistoryReader, joint: str, limit: Limit, now: float) -> TimeLeft:
    """What can be said of this limit. now: Unix s."""
    open_changes = [
        one for one in history.changes(joint) if one["parameter"] == limit.parameter and not one.get("over", 0.0)
    ]
    values = history.values(DAY, 0.0, now, joint)
    days = next((rows for quantity, rows in values.items() if quantity.name == limit.parameter), [])
    if not days:
        return _unknown(limit, "the history has no values of it")
    if not open_changes:
        return _unknown(limit, "no change has been told, so there is no trend")
    reference = open_changes[0].get("from", days[0].mean)
    towards = math.copysign(1.0, limit.value - reference)
    if towards * (open_changes[-1].get("to", days[-1].mean) - reference) <= 0.0:
        return _unknown(limit, "it moves away from its limit")
    travel, way = {}, 0.0
    for row in history.use(DAY, 0.0, now, joint):
        way += row.counts.travel
        travel[row.start] = way
    known = [row for row in days if row.start in travel]
    if len(known) < FEWEST:
        return _unknown(limit, f"{len(known)} days with values, {FEWEST} are needed")
    use = np.array([travel[row.start] for row in known])
    drift = towards * (np.array([row.mean for row in known]) - reference)
    begin = last_repair(drift)
    use, drift = use[begin:] - (use[begin - 1] if begin else 0.0), drift[begin:]
    if len(use) < FEWEST:
        return _unknown(limit, f"{len(use)} days with values since its repair, {FEWEST} are needed")
    steps = np.diff(use[-PACE - 1 :])
    pace = float(steps.mean())
    if pace <= 0.0:
        return _unknown(limit, "the joint is not in use")
    found = time_to_limit(use, drift, towards * (limit.value - reference))
    left = found._replace(low=found.low / pace, middle=found.middle / pace, high=found.high / pace)
    return TimeLeft(limit.parameter, limit.value, left, _words(left))


def _words(left: Remaining) -> str:
    if left.high == 0.0:
        return "reached"
    span = f"{left.low:.0f}–{left.high:.0f}" if math.isfinite(left.high) else f"{left.low:.0f} or more"
    middle = f", most likely about {left.middle:.0f}" if math.isfinite(left.middle) else ""
    return f"in {span} days in use (80 %){middle}, at the use of the last {PACE}"


def _unknown(limit: Limit, why: str) -> TimeLeft:
    return TimeLeft(limit.parameter, limit.value, None, f"not known: {why}")
