"""Gathers minutes for the history file from the messages that the outlet gets anyway."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from daq.outlet.history import JointLabel
from daq.state.history.friction import MIDDLES, band_of, quantity
from daq.state.history.interval import Figures, Interval, Quantity, SeenUse
from daq.state.history.tables import MINUTE
from daq.stream.curve_points import points
from estimators.base import Status
from estimators.models.joints.lost_motion import PARAMETERS as OF_GEAR
from estimators.wear.use_counts import UseCounts

#: s, argued: Time between two values of a parameter that go in: an estimate changes within seconds, not faster.
EVERY: Final = 0.19
GEAR: Final = "gear."  # before the names of the gear's parameters, which the joint's may have as well
TEMPERATURE: Final = "temperature"


class Minutes:
    """The present minute of all joints; the one before is handed over when it ends."""

    def __init__(self, joints: Sequence[JointLabel], finished: Callable[[Interval], None]) -> None:
        """finished: takes each minute, in order; it must not wait."""
        self._units = {label.name: label for label in joints}
        self._finished = finished
        self._valid = dict.fromkeys(self._units, False)
        self._taken = dict.fromkeys(self._units, 0.0)  # Unix s of the last parameters that went in
        self._changes: dict[str, Any] = {}  # joint → records as they were handed over last
        self._sides: dict[tuple[str, int], tuple[list[float], list[float]]] = {}  # joint, band → friction each way
        self._present = Interval(0)

    def absorb(self, topic: str, update: Mapping[str, Any], now: float) -> None:
        """Take a message of the stream, or of the core's status. now: Unix s."""
        start = int(now // MINUTE.seconds * MINUTE.seconds)
        if start != self._present.start:
            self.finish()
            self._present = Interval(start)
        family, _, joint = topic.partition("/")
        if topic == "status/core":
            self._use(update)
        elif joint not in self._units:
            return
        elif family == "samples" and self._valid[joint]:
            self._friction(joint, update)
        elif family == "estimate":
            self._estimate(joint, update)
        elif family == "residual" and self._valid[joint]:
            for name in ("residual", "measured"):
                called = name if name == "residual" else "torque"
                self._present.add(Quantity(joint, called, update["unit"]), update[name], update[name])
        elif family == "lost_motion" and update["known"]:
            deviations = update["deviations"]
            for one in OF_GEAR:
                if one.name in update["parameters"]:
                    quantity = Quantity(joint, GEAR + one.name, one.unit)
                    self._present.add(quantity, update["parameters"][one.name], deviations[one.name])
        elif family == "change" and (records := tuple(update["records"])) != self._changes.get(joint):
            self._changes[joint] = self._present.changes[joint] = records

    def finish(self) -> None:
        """Hand over the present minute as it is, where there is anything in it; another one begins."""
        self._add_friction()
        present, self._present = self._present, Interval(self._present.start)
        if not present.empty:
            self._finished(present)

    def _estimate(self, joint: str, update: Mapping[str, Any]) -> None:
        valid = self._valid[joint] = update["health"]["status"] == Status.VALID
        if not valid or 0.0 <= update["timestamp"] - self._taken[joint] < EVERY:
            return
        self._taken[joint] = update["timestamp"]
        units, deviations = self._units[joint].parameters, update["deviations"]
        for name, value in update["parameters"].items():
            self._present.add(Quantity(joint, name, units.get(name, "")), value, deviations[name])

    def _friction(self, joint: str, update: Mapping[str, Any]) -> None:
        """Take points of the friction curve: half the difference between both directions, where both are there."""
        velocity, friction = points(dict(update))[:, 1:3].T
        band = np.where(np.isfinite(velocity) & np.isfinite(friction), band_of(velocity), -1)
        for at in np.unique(band[band >= 0]):
            for one, forwards in zip(friction[band == at], velocity[band == at] > 0.0, strict=True):
                self._sides.setdefault((joint, int(at)), ([], []))[int(forwards)].append(float(one))

    def _add_friction(self) -> None:
        """Add the friction by speed of the present minute to it."""
        for (joint, at), (backwards, forwards) in self._sides.items():
            count = 2 * min(len(backwards), len(forwards))
            if count:
                half = (sum(forwards) / len(forwards) - sum(backwards) / len(backwards)) / 2.0
                found = self._present.figures[quantity(joint, MIDDLES[at], self._units[joint].unit)] = Figures()
                found.repeat(half, count)
        self._sides = {}

    def _use(self, update: Mapping[str, Any]) -> None:
        seen = []
        for joint, totals in update["joints"].items():
            use = totals.get("use")
            if use is None or joint not in self._units:
                continue
            counts = UseCounts(*(use[name] for name in UseCounts._fields))
            seen.append(SeenUse(update["boot"], joint, use["unit"], counts))
            if TEMPERATURE in use:
                self._present.add(Quantity(joint, TEMPERATURE, "°C"), use[TEMPERATURE], use[TEMPERATURE])
        self._present.see(seen)
