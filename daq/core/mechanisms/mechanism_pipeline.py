"""The pipeline of a mechanism with loops: all its drives on one clock; publishes residuals and constraint forces."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import msgpack
import numpy as np

from daq.config.robots.robot_mechanism import driving_joints
from daq.config.robots.robot_model import torque_role
from daq.config.sections import JointSection
from daq.core.mechanisms.equidistant import SETTLED, equidistant
from daq.stream.reasons import as_maps
from daq.stream.update import MECHANISM, Map, Publication
from estimators.alignment.common_clock import CommonClock
from estimators.base import Phase, Status
from estimators.models.mechanisms.description import Description
from estimators.models.mechanisms.joint_load import AXIAL, BENDING, RADIAL, RUB
from estimators.online.mechanism.estimate import MechanismEstimate
from estimators.online.mechanism.estimator import MechanismEstimator
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason, joined

Message = tuple[bytes, bytes]

#: ns, argued: Time between two updates of a mechanism of which a drive gives no rows.
FAULTED_EVERY: Final = 500_000_000
CARRIED: Final = {"radial": RADIAL, "axial": AXIAL, "bending": BENDING, "friction": RUB}


class MechanismPipeline:
    """All drives of the mechanism together; the joints' own estimators run independently."""

    def __init__(
        self, description: Description, joints: Mapping[str, JointSection], publication: Publication, interval: int
    ) -> None:
        """joints: of the configuration, with all that drive the mechanism; interval: ns between two updates."""
        self.name = MECHANISM
        driving = driving_joints(description, joints)
        self._joints = [driving[link.name] for link in description.links if link.drive]  # in the order of the drives
        rates = [joints[name].rate for name in self._joints]
        self._period = 1.0 / rates[0]
        self._build = partial(MechanismEstimator, description, self._period)
        self.estimator = self._build()
        self._description = description
        self._clock = CommonClock([1.0 / rate for rate in rates], columns=2)
        self._places = {name: index for index, name in enumerate(self._joints)}
        self._columns = [
            np.array([joints[name].roles().index(role) for role in ("position", torque_role(joints[name]))], np.int64)
            for name in self._joints
        ]
        self._first = 0  # rows of the first drive that wait
        self._last_tick, self._slot = 0, -1
        self._publication, self._interval = publication, interval
        self._faults: tuple[Reason, ...] = ()  # of its drives
        self._last_fault = 0  # monotonic ns of the last update that a fault alone has made

    def note(self, joint: str, ticks: Nanoseconds, rows: Floats) -> None:
        """Take the samples that one joint's own estimator got: ticks (rows,) ns, rows (rows, channels).

        Both are views that the next batch overwrites; the common clock copies them.
        """
        index = self._places.get(joint)
        if index is None or not len(ticks):
            return
        self._clock.absorb(index, ticks, rows, self._columns[index])
        if index == 0:
            self._first += len(ticks)

    def messages_due(self, epoch: int) -> list[Message]:
        """The messages that are due after the rows so far. epoch: ns to add to get Unix time."""
        if self._first * self._period < SETTLED:
            return []
        self._first = 0
        ticks, rows = self._clock.release()
        for tick, row in equidistant(ticks, rows, self._last_tick, self._period):
            self.estimator.absorb(tick, row[:, :, 0], row[:, :, 1])
        if len(ticks):
            self._last_tick = int(ticks[-1])
        messages = [
            self._publication.event(one.kind, one.text, (one.time + epoch) / 1e9) for one in self.estimator.events()
        ]
        if self._last_tick // self._interval != self._slot:
            self._slot = self._last_tick // self._interval
            messages.append(self._update(epoch))
        return messages

    def check_joints(self, faults: Mapping[str, tuple[Reason, ...]], now: int, epoch: int) -> list[Message]:
        """The messages while a drive gives no rows: the mechanism is faulted, as it is.

        faults: joint → why it gives none; now: monotonic ns.
        """
        reasons = tuple(
            Reason("joint_faulted", name, words={"cause": joined(faults[name])})
            for name in self._joints
            if name in faults
        )
        messages = list[Message]()
        if bool(reasons) != bool(self._faults):
            kind, text = ("fault", joined(reasons)) if reasons else ("recovered", "every drive gives rows again")
            messages.append(self._publication.event(kind, text, (now + epoch) / 1e9))
        self._faults = reasons
        if reasons and now - self._last_fault >= FAULTED_EVERY:
            self._last_fault = now
            messages.append(self._update(epoch))
        return messages

    def keep(self) -> Map | None:
        """The state for a checkpoint, as plain data; None while there is none."""
        return self.estimator.keep()

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue from a stored state. Raises ValueError, and then starts anew."""
        try:
            self.estimator.resume(state)
        except Exception:
            self.estimator = self._build()
            raise

    def _update(self, epoch: int) -> Message:
        found = self.estimator.estimate()
        head = self._publication.head("mechanism", (found.time + epoch) / 1e9)
        del head["joint"]
        body = mechanism_body(found, self._description)
        if self._faults:
            health = {"status": str(Status.FAULTED), "reasons": as_maps(self._faults)}
            body |= {"phase": str(Phase.FAULTED), "health": health}
        return b"mechanism", msgpack.packb(head | body)


def mechanism_body(found: MechanismEstimate, description: Description) -> Map:
    """What `mechanism` says."""
    driven = [link for link in description.links if link.drive]
    joints = [(link.name, link.kind == "prismatic") for link in description.links]
    joints += [(cut.name, False) for cut in description.cuts]
    return {
        "phase": str(found.phase),
        "health": {"status": str(found.status), "reasons": as_maps(found.reasons)},
        "progress": found.progress,
        "drives": {
            link.name: {
                "measured": float(found.measured[j]),
                "predicted": float(found.predicted[j]),
                "residual": float(found.measured[j] - found.predicted[j]),
                "friction": float(found.friction[j]),
                "deviation": float(found.deviations[j]),
                "threshold": float(found.thresholds[j]),
                "contact": found.contact[j],
                "friction_ratio": found.ratios[j].ratio,
                "friction_ratio_deviation": found.ratios[j].deviation,
                "unit": "N" if link.kind == "prismatic" else "N·m",
            }
            for j, link in enumerate(driven)
        },
        "joints": {
            name: {key: float(found.loads[j, place]) for key, place in CARRIED.items()}
            | ({"position": float(found.position[j])} if j < len(found.position) else {})
            | {"unit": "N" if slides else "N·m"}
            for j, (name, slides) in enumerate(joints)
        },
    }
