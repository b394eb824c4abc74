"""How long joints of a fleet take to a limit, from the lake's days; of joints whose parameter has changed only."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from daq.fleet.live.roll_up import DAYS
from daq.fleet.live.standing import Reader
from daq.state.history.time_left import Limit, TimeLeft, time_left_of
from daq.stream.json_messages import finite

#: s, argued: Time that is looked back on: what is older tells little of the wear now.
LOOK_BACK = 3 * 366 * 86_400.0

# days of the parameters that have left a value on their last day, with what the joint has travelled on each
QUERY = """
    WITH changed AS (
        SELECT robot, joint, quantity, arg_max("left", start) AS "left" FROM finer WHERE quantity IN (SELECT unnest($names))
        GROUP BY robot, joint, quantity HAVING isfinite(arg_max("left", start))
    ), travelled AS (
        SELECT robot, joint, start, sum(high - low) AS travel FROM finer WHERE quantity = 'use.travel'
        GROUP BY robot, joint, start
    )
    SELECT robot, joint, quantity, epoch(start)::BIGINT, median(value), any_value(travel), any_value(changed."left")
    FROM finer JOIN changed USING (robot, joint, quantity) LEFT JOIN travelled USING (robot, joint, start)
    WHERE value IS NOT NULL GROUP BY robot, joint, quantity, start ORDER BY robot, joint, quantity, start"""  # noqa: E501


class FleetTimeLeft(NamedTuple):
    """What is said of one parameter of one joint of one robot."""

    robot: str
    joint: str
    time_left: TimeLeft

    @property
    def soonest(self) -> float:
        """Days to the limit by the lower end of the interval; inf where nothing can be said."""
        return float("inf") if self.time_left.left is None else self.time_left.left.low

    def as_map(self) -> dict[str, Any]:
        """The time left as a JSON object."""
        one = self.time_left
        left = None if one.left is None else one.left._asdict()
        found: dict[str, Any] = finite({"robot": self.robot, "joint": self.joint, **one._asdict(), "left": left})
        return found


def times_left(reader: Reader, limits: Sequence[Limit], end: float) -> list[FleetTimeLeft]:
    """The soonest first. limits: one each parameter; end: Unix s. Raises LakeError."""
    wanted = {one.parameter: one for one in limits}
    rows = reader.rows(DAYS.table, QUERY, end - LOOK_BACK, end, names=list(wanted))
    series: dict[tuple[str, str, str], list[tuple[Any, ...]]] = {}
    for robot, joint, name, *row in rows:
        series.setdefault((robot, joint, name), []).append(tuple(row))
    found = []
    for (robot, joint, name), days in series.items():
        values = {start: value for start, value, _, _ in days}
        ways = {start: travel for start, _, travel, _ in days if travel is not None}
        left, newest = float(days[-1][3]), float(days[-1][1])
        found.append(FleetTimeLeft(robot, joint, time_left_of(wanted[name], values, ways, left, newest)))
    return sorted(found, key=lambda one: (one.soonest, one.robot, one.joint))
