"""Days until a changed parameter reaches a limit, from its daily values and the way that the joint made on each day.

The clock is the way that the joint has made since its first day, or since the last repair: a fall towards the reference
that stays. A day without motion does not count.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from estimators.wear.repairs import last_repair
from estimators.wear.time_to_limit import FEWEST, PACE, Remaining, days_to_limit


class Limit(NamedTuple):
    """A value of a parameter at which something must be done."""

    parameter: str
    value: float


class TimeLeft(NamedTuple):
    """The time left of one parameter of one joint, in days and in words."""

    parameter: str
    limit: float
    left: Remaining | None  # in days; None: not known
    text: str


def time_left_of(
    limit: Limit, values: Mapping[int, float], ways: Mapping[int, float], reference: float, newest: float
) -> TimeLeft:
    """The time left of a parameter that is reported as changed.

    values: the parameter's mean of each day (Unix s of its start), in order; ways: the way made on each day, rad (m),
    in order; reference: the value that the change has left; newest: the value now.
    """
    towards = math.copysign(1.0, limit.value - reference)
    if towards * (newest - reference) <= 0.0:
        return unknown(limit, "it moves away from its limit")
    travel, way = {}, 0.0
    for start, made in ways.items():
        way += made
        travel[start] = way
    known = [start for start in values if start in travel]
    if len(known) < FEWEST:
        return unknown(limit, f"{len(known)} days with values, {FEWEST} are needed")
    use = np.array([travel[start] for start in known])
    drift = towards * (np.array([values[start] for start in known]) - reference)
    begin = last_repair(drift)
    use, drift = use[begin:] - (use[begin - 1] if begin else 0.0), drift[begin:]
    if len(use) < FEWEST:
        return unknown(limit, f"{len(use)} days with values since its repair, {FEWEST} are needed")
    if use[-1] <= use[-PACE - 1 :][0]:
        return unknown(limit, "the joint is not in use")
    left = days_to_limit(use, drift, towards * (limit.value - reference))
    return TimeLeft(limit.parameter, limit.value, left, _words(left))


def unknown(limit: Limit, why: str) -> TimeLeft:
    """The answer where no time can be stated; why: the reason in words."""
    return TimeLeft(limit.parameter, limit.value, None, f"not known: {why}")


def _words(left: Remaining) -> str:
    if left.high == 0.0:
        return "reached"
    span = f"{left.low:.0f}–{left.high:.0f}" if math.isfinite(left.high) else f"{left.low:.0f} or more"
    middle = f", most likely about {left.middle:.0f}" if math.isfinite(left.middle) else ""
    return f"in {span} days in use (80 %){middle}, at the use of the last {PACE} days"
