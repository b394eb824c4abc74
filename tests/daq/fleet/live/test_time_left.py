"""In which order the times are told that joints of a fleet take to a limit."""

import json
import math

from daq.fleet.live.time_left import FleetTimeLeft
from daq.state.history.time_left import Limit, TimeLeft, unknown
from estimators.wear.time_to_limit import Remaining

LIMIT = Limit("coulomb", 9.0)


def told(robot: str, left: Remaining | None) -> FleetTimeLeft:
    one = unknown(LIMIT, "it has moved on too few days") if left is None else TimeLeft("coulomb", 9.0, left, "in days")
    return FleetTimeLeft(robot, "elbow", one)


def test_the_soonest_is_the_lower_end_and_what_is_not_known_comes_last() -> None:
    late, soon, nothing = Remaining(20.0, 25.0, 30.0, 0.2, 1.0), Remaining(3.0, 40.0, math.inf, 0.2, 1.0), None
    every = [told("a", nothing), told("b", late), told("c", soon)]
    assert [one.soonest for one in every] == [math.inf, 20.0, 3.0]
    assert [one.robot for one in sorted(every, key=lambda one: one.soonest)] == ["c", "b", "a"]


def test_what_has_no_end_or_is_not_known_is_null_in_json() -> None:
    found = told("c", Remaining(3.0, 40.0, math.inf, 0.2, 1.0)).as_map()
    assert (found["robot"], found["joint"], found["parameter"], found["limit"]) == ("c", "elbow", "coulomb", 9.0)
    assert found["left"] == {"low": 3.0, "middle": 40.0, "high": None, "stepwise": 0.2, "exponent": 1.0}
    json.dumps(found, allow_nan=False)
    assert told("a", None).as_map()["left"] is None
