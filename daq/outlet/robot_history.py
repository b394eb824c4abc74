"""The last minutes of the whole robot, and of a mechanism with loops: residuals, bounded, and the newest values."""

import math
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from daq.outlet.current_values import CurrentValues
from daq.outlet.trace import Trace
from daq.state.baselines import friction_names, friction_speeds
from daq.stream.reasons import as_maps, with_todo
from daq.stream.update import Map
from estimators.base import Phase, Status
from estimators.reasons import Reason

RATE: Final = 25.0  # rows/s kept: a push of a tenth of a second is seen
RECENT: Final = 10  # s of which each joint's residual is compared with its threshold
PAYLOAD: Final = 3  # columns before the residuals: time, mass, its deviation


class NewestAndTrace:
    """What both histories have in common: the newest message, and residuals of its joints or drives by time."""

    def __init__(self, columns: int) -> None:
        """columns: of a row before the residuals."""
        self._columns = columns
        self._state: Map = {}
        self._trace = Trace(columns, RATE)
        self._names: tuple[str, ...] = ()

    def _take(
        self, update: Mapping[str, Any], parts: str, row: tuple[float, ...], fields: tuple[str, ...], now: float
    ) -> bool:
        """Take a message; returns whether its joints or drives (parts) have changed.

        row: what stands before the residuals; fields: what is kept of the message; now: Unix s of its arrival.
        """
        names = tuple(update[parts])
        fresh = names != self._names
        if fresh:
            self._names, self._trace = names, Trace(self._columns + len(names), RATE)
        self._trace.append((*row, *(one["residual"] for one in update[parts].values())))
        health = update["health"]
        self._state = {key: update[key] for key in fields} | {"received": now}
        self._state["health"] = health | {"reasons": with_todo(health["reasons"])}
        return fresh

    def latest(self, stale: Reason | None) -> Map:
        """The newest values; empty before the first message. stale: why they are out of date, or None."""
        if not self._state or stale is None:
            return self._state
        faulted = {"status": str(Status.FAULTED), "reasons": with_todo(as_maps([stale]))}
        return self._state | {"phase": str(Phase.FAULTED), "health": faulted}

    def skip(self) -> None:
        """Skip a message while no page is open."""
        self._trace.skip()

    def message(self, base: float, stale: Reason | None, whole: bool) -> Map:
        """The part of a message to a page: newest values, and all rows or those since the last message."""
        if not self._state:
            return {}
        rows: Callable[[float], bytes] = self._trace.all if whole else self._trace.fresh
        return {"state": self.latest(stale), "rows": rows(base)}


class RobotHistory(NewestAndTrace):
    """The robot's history; it stays empty where no model of the whole robot is configured."""

    def __init__(self) -> None:
        super().__init__(PAYLOAD)
        self._parameters: Map = {}
        # of the last RECENT s, second by second: joint → largest residual over its threshold then, least threshold
        self._nearest: deque[tuple[int, dict[str, tuple[float, float]]]] = deque(maxlen=RECENT)
        self.drift: Map = {}  # the newest of drift/robot

    def absorb(self, name: str, update: Mapping[str, Any], now: float) -> bool:
        """Take `robot` (name "") or `robot/parameters`; returns whether the joints have changed."""
        if name == "parameters":
            self._parameters = {key: update[key] for key in ("parameters", "deviations", "friction", "learnt")}
            return False
        payload = update["payload"]
        row = update["timestamp"], payload["mass"], payload["mass_deviation"]
        fields = ("timestamp", "phase", "progress", "joints", "payload")
        fresh = self._take(update, "joints", row, fields, now)
        self._state |= {key: update.get(key) for key in ("tool", "contact", "findings")}
        self._compare(int(update["timestamp"]), update["joints"])
        return fresh

    def latest(self, stale: Reason | None) -> Map:
        """The newest values; empty without a model. stale: why they are out of date, or None."""
        state = super().latest(stale)
        if not state:
            return {}
        joints = {name: one | self._near(name) for name, one in state["joints"].items()}
        state = state | {"joints": joints}
        message = {"friction": self._parameters.get("friction", {}), "learnt": self._parameters.get("learnt", 0)}
        return state | message | {"drift": self.drift}

    def current_values(self) -> CurrentValues | None:
        """The present friction torques, for a baseline; None before the first update."""
        friction = self._parameters.get("friction")
        if not self._state or not friction:
            return None
        health, names = self._state["health"], friction_names(friction)
        values, deviations = (
            dict(zip(names, (value for one in friction.values() for value in one[key]), strict=True))
            for key in ("torques", "deviations")
        )
        speeds = friction_speeds({joint: one["speeds"] for joint, one in friction.items()})
        time = self._state["timestamp"]
        return CurrentValues(time, health["status"], health["reasons"], values, deviations, speeds)

    def _compare(self, second: int, joints: Mapping[str, Mapping[str, float]]) -> None:
        """Note how near each joint comes to its threshold, which is larger while the joint turns around."""
        if not self._nearest or self._nearest[-1][0] != second:
            self._nearest.append((second, {}))
        now = self._nearest[-1][1]
        for name, one in joints.items():
            if one["threshold"] > 0.0:  # NaN: it is not known yet
                most, least = now.get(name, (0.0, math.inf))
                now[name] = max(most, abs(one["residual"]) / one["threshold"]), min(least, one["threshold"])

    def _near(self, name: str) -> Map:
        """`largest_share` and `usual_threshold` of a joint; empty before its threshold is known."""
        found = [one[name] for _, one in self._nearest if name in one]
        if not found:
            return {}
        return {"largest_share": max(most for most, _ in found), "usual_threshold": min(least for _, least in found)}


class MechanismHistory(NewestAndTrace):
    """The mechanism's history; it stays empty where no mechanism is configured."""

    def __init__(self) -> None:
        super().__init__(1)

    def absorb(self, update: Mapping[str, Any], now: float) -> bool:
        """Take `mechanism`; returns whether the drives have changed."""
        fields = ("timestamp", "phase", "progress", "drives", "joints")
        return self._take(update, "drives", (update["timestamp"],), fields, now)
