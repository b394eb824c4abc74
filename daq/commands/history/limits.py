"""`jointwatch history --limit PARAMETER=VALUE`: the time until a parameter that has changed reaches a limit.

There is no time before the service has reported a change of the parameter (a record in `change/<joint>` that is not
over), since there is no trend before its onset. Time is measured by the distance that the joint has travelled since the
file began, or since the last repair (a lasting return towards the reference). A day without motion does not count.
"""

import math

from daq.commands.history.source import SourceError
from daq.state.history.reading import HistoryReader
from daq.state.history.tables import DAY
from daq.state.history.time_left import Limit, TimeLeft, time_left_of, unknown


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
    """Estimate the time to this limit. now: Unix s."""
    open_changes = [
        one for one in history.changes(joint) if one["parameter"] == limit.parameter and not one.get("over", 0.0)
    ]
    values = history.values(DAY, 0.0, now, joint)
    days = next((rows for quantity, rows in values.items() if quantity.name == limit.parameter), [])
    if not days:
        return unknown(limit, "the history has no values of this parameter")
    if not open_changes:
        return unknown(limit, "no change has been reported, so there is no trend")
    reference = open_changes[0].get("from", days[0].mean)
    newest = open_changes[-1].get("to", days[-1].mean)
    ways = {row.start: row.counts.travel for row in history.use(DAY, 0.0, now, joint)}
    return time_left_of(limit, {row.start: row.mean for row in days}, ways, reference, newest)
