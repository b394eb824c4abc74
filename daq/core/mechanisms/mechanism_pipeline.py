"""The pipeline of a mechanism with loops: all its drives on one clock; publishes residuals and constraint forces."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import msgpack
import numpy as np

from daq.config.robots.robot_mechanism import driving_joints
from daq.config.robots.robot_model import torque_role
from daq.config.sections import JointSection
from daq.core.mechanisms.joints_together import JointsTogether
from daq.stream.reasons import as_maps
from daq.stream.update import MECHANISM, Map, Message, Publication
from estimators.base import Phase, Status
from estimators.models.mechanisms.description import Description
from estimators.models.mechanisms.joint_load import AXIAL, BENDING, RADIAL, RUB
from estimators.online.mechanism.estimate import MechanismEstimate
from estimators.online.mechanism.estimator import MechanismEstimator
from estimators.reasons import Reason

# key of a joint's load in the message → column of the load
CARRIED: Final = {"radial": RADIAL, "axial": AXIAL, "bending": BENDING, "friction": RUB}


class MechanismPipeline:
    """Processes all drives of the mechanism together; the joints' own estimators run independently."""

    def __init__(
        self, description: Description, joints: Mapping[str, JointSection], publication: Publication, interval: int
    ) -> None:
        """joints: joints of the configuration, including all drives of the mechanism; interval: ns between updates."""
        self.name = MECHANISM
        driving = driving_joints(description, joints)
        self._joints = [driving[link.name] for link in description.links if link.drive]  # in the order of the drives
        rates = [joints[name].rate for name in self._joints]
        columns = [
            np.array([joints[name].roles().index(role) for role in ("position", torque_role(joints[name]))], np.int64)
            for name in self._joints
        ]
        self._together = JointsTogether(self._joints, rates, columns)
        self.rows_of = self._together.rows_of
        self._build = partial(MechanismEstimator, description, self._together.period)
        self.estimator = self._build()
        self._description = description
        self._slot = -1
        self._publication, self._interval = publication, interval

    def messages_due(self, epoch: int) -> list[Message]:
        """Return the messages that are due after the rows so far. epoch: ns to add to get Unix time."""
        if not self._together.settled:
            return []
        for tick, row in self._together.batches():
            self.estimator.absorb(tick, row[:, :, 0], row[:, :, 1])
        messages = [
            self._publication.event(one.kind, one.text, (one.time + epoch) / 1e9) for one in self.estimator.events()
        ]
        if self._together.last // self._interval != self._slot:
            self._slot = self._together.last // self._interval
            messages.append(self._update(epoch))
        return messages

    def check_joints(self, faults: Mapping[str, tuple[Reason, ...]], now: int, epoch: int) -> list[Message]:
        """Return the messages while a drive gives no rows; the mechanism is then faulted as well.

        faults: joint → reason why it gives no rows; now: monotonic ns.
        """
        well = "every drive gives rows again"
        messages = self._together.fault_event(faults, self._publication, well, (now + epoch) / 1e9)
        return [*messages, self._update(epoch)] if self._together.fault_due(now) else messages

    def keep(self) -> Map | None:
        """Return the state for a checkpoint as plain data; None while there is none."""
        return self.estimator.keep()

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue from a stored state. If that fails, starts anew and raises ValueError."""
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
        if self._together.faults:
            health = {"status": str(Status.FAULTED), "reasons": as_maps(self._together.faults)}
            body |= {"phase": str(Phase.FAULTED), "health": health}
        return b"mechanism", msgpack.packb(head | body)


def mechanism_body(found: MechanismEstimate, description: Description) -> Map:
    """Return the content of `mechanism`."""
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
