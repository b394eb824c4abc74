"""The pipeline of the whole robot: all joints on one clock; publishes residual torque, payload and parameters."""

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Final

import msgpack
import numpy as np
from numpy.typing import NDArray

from daq.config.robots.robot_model import torque_role
from daq.config.sections import JointSection, RobotSection
from daq.core.changes.change_records import ChangeRecords
from daq.core.changes.drift import Comparison, Drift
from daq.core.changes.joint_in_robot import JointInRobot, JointNow
from daq.core.mechanisms.joints_together import JointsTogether
from daq.state.baselines import Baseline, friction_names, friction_speeds
from daq.stream.reasons import as_maps
from daq.stream.update import ROBOT, Map, Message, Publication
from estimators.base import Estimate, Phase, Status
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.online.robot.estimate import Friction, RobotEstimate
from estimators.online.robot.estimator import RobotEstimator
from estimators.online.robot.findings.contact_force import ContactForce
from estimators.online.robot.findings.tool import ConfiguredTool, ToolDifference
from estimators.online.settings import LINK
from estimators.quantities import Floats
from estimators.reasons import Reason

#: ns, argued: Time between two reports of a robot's parameters.
PARAMETERS_EVERY: Final = 1_000_000_000


class RobotPipeline:
    """Processes all joints of the robot's model together; the joints' own estimators run independently."""

    def __init__(
        self,
        learnt: IdentifiedRobot,
        joints: Mapping[str, JointSection],
        publication: Publication,
        interval: int,
        settings: RobotSection,
        executor: Executor | None = None,
        records: Mapping[str, ChangeRecords] | None = None,
    ) -> None:
        """learnt: the robot's model; joints: joints of the configuration, including all joints of the model; interval:
        ns between two updates; settings: limits of drift, and the tool; executor: runs the refits of friction laws;
        records: records of the changes of each joint."""
        self.name = ROBOT
        self._names = learnt.robot.names
        rates = [joints[name].rate for name in self._names]
        twisted = [self._names[j] for j in learnt.model().twisted]
        columns: list[NDArray[np.int64]] = []
        for name in self._names:
            second = (LINK if name in twisted else "position",) if twisted else ()
            roles = ("position", torque_role(joints[name]), *second)
            columns.append(np.array([joints[name].roles().index(role) for role in roles], np.int64))
        self._together = JointsTogether(self._names, rates, columns)
        self.rows_of = self._together.rows_of
        configured = settings.tool
        tool = None if configured is None else ConfiguredTool(configured.mass, np.array(configured.centre))
        self._build = partial(RobotEstimator, learnt, self._together.period, executor=executor, tool=tool)
        self.estimator = self._build()
        self._publication = publication
        self._interval = interval
        self._slot, self._second = -1, -1  # numbers of the intervals of the last update and of the last parameters
        self._comparison, self._drift = Comparison(ROBOT, settings.drift, publication), settings.drift
        self._effort = [joint.axis.effort for joint in learnt.robot.joints]
        self._changes = {
            one.name: JointInRobot(
                one.name, one.axis.effort, one.axis.length, settings.drift, (records or {})[one.name]
            )
            for one in learnt.robot.joints
            if one.name in (records or {})
        }

    def messages_due(self, epoch: int) -> list[Message]:
        """Return the messages that are due after the rows so far. epoch: ns to add to get Unix time."""
        if not self._together.settled:
            return []
        for tick, row in self._together.batches():
            self.estimator.absorb(tick, *(row[:, :, column] for column in range(row.shape[2])))
        last = self._together.last
        messages = [
            self._publication.event(one.kind, one.text, (one.time + epoch) / 1e9, None, one.details)
            for one in self.estimator.events()
        ]
        if last // self._interval != self._slot:
            self._slot = last // self._interval
            messages.append(self._update(epoch))
        if last // PARAMETERS_EVERY != self._second:
            self._second = last // PARAMETERS_EVERY
            messages.append(self._parameters(epoch))
            messages += self._comparison.compare(*self._comparable(), (last + epoch) / 1e9)
            messages += self._compare_joints(epoch)
        return messages

    def check_joints(self, faults: Mapping[str, tuple[Reason, ...]], now: int, epoch: int) -> list[Message]:
        """Return the messages while joints of the model give no rows; the robot is then faulted as well.

        faults: joint → reason why it gives no rows; now: monotonic ns.
        """
        well = "every joint gives rows again"
        messages = self._together.fault_event(faults, self._publication, well, (now + epoch) / 1e9)
        if messages:
            self.estimator.distrust()
        return [*messages, self._update(epoch)] if self._together.fault_due(now) else messages

    def keep(self) -> Map | None:
        """Return the state for a checkpoint as plain data; None while there is none."""
        state = self.estimator.keep()
        if state is None:
            return None
        return {name: one.tolist() if isinstance(one, np.ndarray) else one for name, one in asdict(state).items()}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue from a stored state. If that fails, starts anew and raises ValueError."""
        try:
            self.estimator.resume(state)
        except Exception:
            self.estimator = self._build()
            raise

    def set_baseline(self, baseline: Baseline) -> None:
        """Measure drift against this baseline from now on."""
        self._comparison.set_baseline(baseline)
        estimate, speeds = self._comparable()
        fits = Drift(self._drift, baseline).fits(ROBOT, speeds(), estimate.names)
        for one in self._changes.values():
            one.set_baseline(baseline if fits else None)

    def refer(self, joint: str, since: float) -> None:
        """Note that a joint itself is compared with a baseline set at this Unix time (s)."""
        if joint in self._changes:
            self._changes[joint].refer(since)

    def acknowledge(self, joint: str, timestamp: float) -> list[Message]:
        """Acknowledge the changes of a joint for a person. timestamp: Unix s. Returns the messages."""
        return self._changes[joint].acknowledge(timestamp) if joint in self._changes else []

    def keep_changes(self) -> Map:
        """Return the references of the joints' changes, for a checkpoint."""
        return {name: one.keep() for name, one in self._changes.items()}

    def resume_changes(self, kept: Mapping[str, Any]) -> None:
        """Continue from a state of `keep_changes`. Raises TypeError, KeyError or ValueError if it has another form."""
        for name, one in self._changes.items():
            if name in kept:
                one.resume(kept[name])

    def counters(self) -> dict[str, int]:
        """Return the counters since the start: learnt blocks, faults, dropped rows."""
        return {"learnt": self.estimator.learnt, "faults": self.estimator.faults, "dropped": self._together.dropped}

    def _comparable(self) -> tuple[Estimate, Callable[[], Map]]:
        """Return the values that are compared with a baseline: friction torques as parameters, and their speeds."""
        found, friction = self.estimator.estimate(), self.estimator.friction()
        names = friction_names(self._names)
        estimate = Estimate(
            found.time, found.phase, found.status, found.reasons, names, friction.torque.ravel(),
            friction.deviations.ravel(), math.nan, 1.0, math.nan, math.nan, found.progress,
        )  # fmt: skip
        return estimate, lambda: friction_speeds(dict(zip(self._names, friction.speeds.tolist(), strict=True)))

    def _compare_joints(self, epoch: int) -> list[Message]:
        """Update the records of each joint with its changes in the whole robot's model."""
        estimator, found = self.estimator, self.estimator.estimate()
        status = Status.FAULTED if self._together.faults else found.status
        friction, held = estimator.friction(), estimator.held()
        values = dict(zip(estimator.model.names, zip(*estimator.parameters(), strict=True), strict=True))
        messages: list[Message] = []
        for j, name in enumerate(self._names):
            if name in self._changes:
                offset, deviation = values[f"offset.{name}"]
                now = JointNow(
                    found.time, epoch, status, (friction.torque[j], friction.deviations[j]),
                    (float(offset), float(deviation)), held.get(name, {}),
                    [one for one in found.findings if name in one.joints],
                )  # fmt: skip
                messages += self._changes[name].compare(now)
        return messages

    def _update(self, epoch: int) -> Message:
        found = self.estimator.estimate()
        if self._together.faults:
            found = replace(found, phase=Phase.FAULTED, status=Status.FAULTED, reasons=self._together.faults)
        head = robot_head(self._publication, "robot", (found.time + epoch) / 1e9)
        return b"robot", msgpack.packb(head | robot_body(found, self._names, self._effort))

    def _parameters(self, epoch: int) -> Message:
        head = robot_head(self._publication, "robot/parameters", (self._together.last + epoch) / 1e9)
        values, deviations = self.estimator.parameters()
        body = parameters_body(self.estimator.model.names, values, deviations, self._names, self.estimator.friction())
        known = self.estimator.compensations().items()
        compensation = {name: {"on": on, "ratio": ratio} for name, (on, ratio) in known}
        more = {"learnt": self.estimator.learnt, "compensation": compensation}
        return b"robot/parameters", msgpack.packb(head | body | more)


def robot_head(publication: Publication, topic: str, timestamp: float) -> Map:
    """Return the fields that every message has, for a message about the whole robot."""
    head = publication.head(topic, timestamp)
    del head["joint"]
    return head


def robot_body(found: RobotEstimate, names: Sequence[str], efforts: Sequence[str]) -> Map:
    """Return the content of `robot`; efforts: unit of each joint, N·m or N."""
    payload = found.payload
    measured, predicted, deviations, thresholds, compensation = (
        one.tolist()
        for one in (found.measured, found.predicted, found.deviations, found.thresholds, found.compensation)
    )
    more = {} if found.tool is None else {"tool": tool_body(found.tool)}
    more |= {} if found.touch is None else {"contact": contact_body(found.touch, names)}
    return {
        "phase": str(found.phase),
        "health": {"status": str(found.status), "reasons": as_maps(found.reasons)},
        "progress": found.progress,
        "joints": {
            name: {
                "measured": measured[j],
                "predicted": predicted[j],
                "residual": measured[j] - predicted[j],
                "deviation": deviations[j],
                "threshold": thresholds[j],
                "contact": found.contact[j],
                "compensation": compensation[j],
                "unit": efforts[j],
            }
            for j, name in enumerate(names)
        },
        "payload": {
            "carried": payload.carried,
            "mass": payload.mass,
            "mass_deviation": payload.mass_deviation,
            "centre": payload.centre.tolist(),
            "centre_deviation": payload.centre_deviation.tolist(),
            "inertia": payload.inertia.tolist(),
            "inertia_deviation": payload.inertia_deviation.tolist(),
        },
        "findings": [
            {
                "number": one.number,
                "seconds": (found.time - one.since) / 1e9,
                "cause": one.cause,
                "joints": list(one.joints),
                "text": one.text,
                "others": list(one.others),
                "over": one.over,
            }
            for one in found.findings
        ],
    } | more


def tool_body(found: ToolDifference) -> Map:
    """Return the part of `robot` about the tool configured in the controller."""
    return {
        "differs": found.differs,
        "text": found.text,
        "mass": found.mass,
        "mass_deviation": found.mass_deviation,
        "centre": found.centre.tolist(),
        "centre_deviation": found.centre_deviation.tolist(),
    }


def contact_body(found: ContactForce, names: Sequence[str]) -> Map:
    """Return the part of `robot` about a contact: link, point and force."""
    return {
        "link": names[found.link],
        "probability": found.probability,
        "point": found.point.tolist(),
        "force": found.force.tolist(),
        "force_deviation": found.deviation.tolist(),
    }


def parameters_body(
    names: Sequence[str], values: Floats, deviations: Floats, joints: Sequence[str], friction: Friction
) -> Map:
    """Return the content of `robot/parameters` without the counters of learning."""
    return {
        "parameters": dict(zip(names, values.tolist(), strict=True)),
        "deviations": dict(zip(names, deviations.tolist(), strict=True)),
        "friction": {
            name: {
                "speeds": friction.speeds[j].tolist(),
                "torques": friction.torque[j].tolist(),
                "deviations": friction.deviations[j].tolist(),
            }
            for j, name in enumerate(joints)
        },
    }
