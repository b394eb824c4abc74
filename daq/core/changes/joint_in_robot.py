"""Finds changes of one joint by the model of the whole robot, and adds them to the joint's own records.

    friction_slow, friction_fast   friction torque at two speeds, compared like a parameter of the joint (drift.py)
    torque_offset                  a changed zero of its torque, if a finding reports it
    torque_constant, encoder_slip, spring   a correction that a finding states and the robot adds to its model

The reference of friction is the robot's baseline, or without one the values of the robot's own start. The reference of
the other parameters is their value before the finding. A payload, the tool, a tilted base and links that do not fit are
not changes of one joint; they stay among the findings of the robot.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from pydantic import ValidationError

from daq.config.sections import DriftSettings
from daq.core.changes.change_records import ALARM_BEFORE, ChangeRecord, ChangeRecords
from daq.core.changes.drift import NOTHING, SETTLING, Drift
from daq.state.baselines import JUDGED, Baseline, friction_names
from daq.stream.update import ROBOT, Map, Message
from estimators.base import Estimate, Phase, Status
from estimators.online.robot.estimate import HeldFinding
from estimators.online.robot.findings.record import RobotFinding
from estimators.quantities import Floats

FRICTION: Final = ("friction_slow", "friction_fast")
OFFSET: Final = "torque_offset"
#: 1, derived: For each correction of the model: its value before, the factor to its unit, and its unit. A torque
#: constant is stated in per cent, a slip as an angle, and a spring by its stiffness.
HELD: Final = {
    "torque_constant": (100.0, 100.0, "%"),
    "encoder_slip": (0.0, 1.0, "{length}"),
    "spring": (0.0, 1.0, "{effort}/{length}"),
}
SUDDEN: Final = ("contact", "friction")  # causes of findings that give the time at which friction has changed


class JointNow(NamedTuple):
    """Values of one joint at one instant by the model of the whole robot."""

    time: int  # ns, clock of the rows
    epoch: int  # ns to add to get Unix time
    status: Status
    friction: tuple[Floats, Floats]  # torques at the two speeds, and their deviations, (2,) each
    offset: tuple[float, float]  # zero of its torque, and the deviation
    held: Mapping[str, HeldFinding]  # by cause
    findings: Sequence[RobotFinding]  # findings that name the joint, the oldest first

    @property
    def timestamp(self) -> float:
        """Unix s."""
        return (self.time + self.epoch) / 1e9


class JointInRobot:
    """Compares one joint with its references in the model of the whole robot."""

    def __init__(self, name: str, effort: str, length: str, settings: DriftSettings, records: ChangeRecords) -> None:
        """effort, length: the joint's units of torque (force) and angle (length); records: the records of the joint."""
        self._name, self._effort, self._length = name, effort, length
        self._settings, self._records = settings, records
        self._drift: Drift | None = None
        self._own: Baseline | None = None  # friction at the robot's own start
        self._commissioned: Baseline | None = None  # friction in the robot's baseline
        # Unix s of the robot's baseline against which records are measured, and of the joint's own baseline; 0: none
        self._since = self._referred = 0.0
        self._settling = SETTLING  # comparisons during which the own reference may still be replaced
        self._offset: tuple[float, float] | None = None  # zero of the torque before a finding, and its deviation
        self._seen: set[int] = set()  # numbers of the findings of an offset that are already recorded
        self._accepted: set[str] = set()  # causes that still hold, and that a person has acknowledged
        self._within: dict[str, float] = {}  # friction parameter → Unix s at which it was last within its limits

    def set_baseline(self, baseline: Baseline | None) -> None:
        """Compare the friction with this baseline of the robot from now on; None: the baseline has another model."""
        self._drift, self._commissioned = None, None
        if baseline is not None:
            values, deviations = (
                dict(zip(FRICTION, (found[name] for name in friction_names([self._name])), strict=True))
                for found in (baseline.values, baseline.deviations)
            )
            self._commissioned = Baseline(since=baseline.since, model=ROBOT, values=values, deviations=deviations)

    def compare(self, now: JointNow) -> list[Message]:
        """Compare the present values, once a second; returns the messages about the joint's records."""
        messages = self._compare_friction(now) if now.status in JUDGED else []
        return messages + self._follow_offset(now) + self._follow_held(now)

    def acknowledge(self, timestamp: float) -> list[Message]:
        """Acknowledge all changes for a person; without a baseline the present values become the reference.

        timestamp: Unix s. Returns the messages about it.
        """
        settled = (OFFSET,) if self._commissioned is not None else (OFFSET, *FRICTION)
        self._refer_anew()
        return self._records.settle(settled, timestamp)

    def refer(self, since: float) -> None:
        """Note that the joint itself has a new baseline, set at this Unix time (s); it settles earlier changes."""
        if since != self._referred:
            self._referred = since
            self._refer_anew()

    def keep(self) -> Map:
        """Return the state that outlives a restart, as plain data."""
        own = None if self._own is None else self._own.model_dump()
        return {
            "own": own, "settling": self._settling, "since": self._since, "referred": self._referred,
            "accepted": sorted(self._accepted), "offset": self._offset,
        }  # fmt: skip

    def resume(self, kept: Mapping[str, Any]) -> None:
        """Continue from a state of `keep`. Raises TypeError, KeyError or ValueError if it has another form."""
        own = None if kept["own"] is None else Baseline.model_validate(kept["own"])
        offset = None if kept["offset"] is None else (float(kept["offset"][0]), float(kept["offset"][1]))
        self._settling, self._since, self._referred = (
            int(kept["settling"]),
            float(kept["since"]),
            float(kept["referred"]),
        )
        self._own, self._offset, self._accepted = own, offset, set(kept["accepted"])

    def _compare_friction(self, now: JointNow) -> list[Message]:
        settled = self._begin(now)
        if self._drift is None:
            return settled
        estimate = _estimate(now)
        compared, _ = self._drift.update(estimate)
        away, back = self._drift.leaving | self._drift.unsure, self._drift.returning
        messages = settled
        for k, name in enumerate(FRICTION):
            if name not in away:
                self._within[name] = now.timestamp
            if name in back or name not in self._drift.drifted | self._records.standing(FRICTION):
                continue
            found = self._changed(k, compared, now) if name in self._drift.drifted else None
            messages += self._records.follow(found, name, now.timestamp)
        return messages

    def _begin(self, now: JointNow) -> list[Message]:
        """Take the reference of the friction, while there is none or the start settles; returns the due messages."""
        settled: list[Message] = []
        reference = self._commissioned
        if reference is not None and reference.since != self._since:
            self._since = reference.since
            settled = self._records.settle(FRICTION, now.timestamp)
        if reference is None:
            reference = self._own
            if reference is not None and any(one > reference.since for one in self._sudden(now)):
                self._settling = 0  # later values cannot become the reference of a start
            if now.status is Status.VALID and self._settling > 0:
                self._settling -= 1
                reference = self._own = _as_baseline(now) or reference
                self._drift = None
        if self._drift is None and reference is not None:
            self._drift = Drift(self._settings, reference)
            self._drift.drifted |= self._records.standing(FRICTION)
        return settled

    def _changed(self, k: int, compared: Map, now: JointNow) -> ChangeRecord:
        """Return the record of how friction at one of the two speeds differs from its reference."""
        assert self._drift is not None
        name, reference = FRICTION[k], self._drift.baseline
        since, evidence = self._began(name, now)
        torque, deviations = now.friction
        return ChangeRecord(
            name, self._effort, reference.values[name], reference.deviations[name], float(torque[k]),
            float(deviations[k]), compared["percent"][name], compared["z"][name], since, now.timestamp, evidence,
            "start" if self._commissioned is None else "baseline",
        )  # fmt: skip

    def _began(self, name: str, now: JointNow) -> tuple[float, str]:
        """Return the time at which friction began to change (Unix s), and whether a sudden finding shows it."""
        within = self._within.get(name, now.timestamp)
        sudden = [one for one in self._sudden(now) if one >= within - ALARM_BEFORE]
        return (min(sudden), "alarm") if sudden else (within, "gradual")

    def _sudden(self, now: JointNow) -> list[float]:
        """Return the times (Unix s) of sudden findings at the joint."""
        return [(one.since + now.epoch) / 1e9 for one in now.findings if one.cause in SUDDEN and not one.gradual]

    def _follow_offset(self, now: JointNow) -> list[Message]:
        """Record a changed zero of the torque, from its finding until it is acknowledged."""
        standing = bool(self._records.standing([OFFSET]))
        fresh = [one for one in now.findings if one.cause == "offset" and one.number not in self._seen]
        self._seen |= {one.number for one in fresh}
        value, deviation = now.offset
        if self._offset is None or not (standing or fresh):
            self._offset = value, deviation
            return []
        before, uncertain = self._offset
        since = ((fresh[0].since if fresh else now.time) + now.epoch) / 1e9
        return self._records.follow(
            _record(OFFSET, self._effort, (before, uncertain), (value, deviation), since, now.timestamp), OFFSET,
            now.timestamp,
        )  # fmt: skip

    def _follow_held(self, now: JointNow) -> list[Message]:
        """Record each correction that is added to the model, until a robot with trusted values needs it no more."""
        messages: list[Message] = []
        standing = self._records.standing(HELD)
        for cause, (before, scale, unit) in HELD.items():
            held = now.held.get(cause)
            if held is not None and (cause in standing or cause not in self._accepted):
                value, since = (before + scale * held.value, scale * held.deviation), (held.since + now.epoch) / 1e9
                found = _record(
                    cause,
                    unit.format(effort=self._effort, length=self._length),
                    (before, 0.0),
                    value,
                    since,
                    now.timestamp,
                )
                messages += self._records.follow(found, cause, now.timestamp)
            elif held is None and now.status in JUDGED:
                self._accepted.discard(cause)
                messages += self._records.follow(None, cause, now.timestamp) if cause in standing else []
        return messages

    def _refer_anew(self) -> None:
        """Measure later changes against the present values; a baseline of the robot remains in use."""
        self._accepted |= self._records.standing(HELD)
        self._offset = None
        if self._commissioned is None:
            self._own, self._drift, self._settling = None, None, SETTLING


def _estimate(now: JointNow) -> Estimate:
    """Return the friction torques as an estimate of parameters."""
    torque, deviations = now.friction
    nothing = float("nan")
    return Estimate(
        now.time, Phase.NORMAL, now.status, (), FRICTION, torque, deviations, nothing, 1.0, nothing, nothing, 100.0
    )


def _as_baseline(now: JointNow) -> Baseline | None:
    """Return the present friction as a reference; None if a value is not finite."""
    try:
        return Baseline.of(_estimate(now), now.timestamp, ROBOT, None)
    except ValidationError:
        return None


def _record(
    parameter: str, unit: str, before: tuple[float, float], after: tuple[float, float], since: float, now: float
) -> ChangeRecord:
    """Make a record of a finding; before, after: value and deviation; since, now: Unix s."""
    change, sigma = after[0] - before[0], float(np.hypot(before[1], after[1]))
    percent = 100.0 * change / abs(before[0]) if abs(before[0]) > NOTHING * before[1] else float("nan")
    z = change / sigma if sigma > 0.0 else float("nan")
    return ChangeRecord(parameter, unit, *before, *after, percent, z, since, now, "alarm", "start")
