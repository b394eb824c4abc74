"""The pipelines of one joint's gear and bearing; they publish lost motion and clearance once a second.

A gear is between two encoders, or behind one. Two proximity sensors measure a bearing if the joint has them; otherwise
two encoders, one on either side, if `clearance` is configured.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeVar

import numpy as np

from daq.config.sections import JointSection
from daq.core.changes.change_records import ChangeRecord, ChangeRecords
from daq.state.baselines import Baseline
from daq.stream.reasons import as_maps
from daq.stream.update import Map, Message, Publication
from estimators.base import Estimate, Knowledge, ParameterState
from estimators.models.joints.lost_motion import LOST_MOTION, WEARS
from estimators.online.clearance.bearing import BearingWatch
from estimators.online.clearance.ring import RingWatch
from estimators.online.clearance.watch import ClearanceWatch
from estimators.online.gear.lost_motion import LostMotion
from estimators.online.gear.one_encoder import OneEncoder
from estimators.online.gear.two_encoders import WatchedGear, gear_of
from estimators.online.settings import LINK, NEAR
from estimators.quantities import Floats, Nanoseconds

#: ns, argued: Time on the clock of the rows between two updates of a gear, or of a bearing.
EVERY: Final = 1_000_000_000
NAMES: Final = tuple(one.name for one in WEARS)  # names of the parameters that a baseline stores
# suffixes of the names of their states in the checkpoint; they contain a dot, so no joint can have such a name
GEAR_STATE: Final = ".lost_motion"
CLEARANCE_STATE: Final = ".clearance"
Watch = TypeVar("Watch", LostMotion | OneEncoder, BearingWatch)


class PlayPipeline(Generic[Watch]):
    """The common base of both pipelines; its `watch` measures the play."""

    def __init__(self, columns: list[int], build: Callable[[], Watch], publication: Publication) -> None:
        """columns: channels of the rows that the watch uses; build: makes a new, empty watch."""
        self._build: Callable[[], Watch] = build
        self._columns, self._publication = columns, publication
        self._last = self._slot = 0  # ns, s on the clock of the rows
        self.watch: Watch = build()

    def absorb(self, time: Nanoseconds, values: Floats) -> None:
        """Take rows of the joint: (rows,) ns, (rows, channels)."""
        if len(time):
            self.watch.absorb(time, self._sensed(values[:, self._columns]))
            self._last = int(time[-1])

    def messages_due(self, epoch: int) -> list[Message]:
        """Return the messages that are due after the rows so far. epoch: ns to add to get Unix time."""
        messages = [
            self._publication.event(one.kind, one.text, (one.time + epoch) / 1e9) for one in self.watch.events()
        ]
        if self._last // EVERY != self._slot:
            self._slot = self._last // EVERY
            messages += self._messages(epoch)
        return messages

    def keep(self) -> dict[str, Any] | None:
        """Return the state for a checkpoint; None while there is none."""
        return self.watch.keep()

    def start_anew(self) -> None:
        """Discard all measurements."""
        self.watch = self._build()

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue from a stored state. If that fails, starts anew and raises (NotTheSameError if the settings
        differ)."""
        try:
            self.watch.resume(state)
        except Exception:
            self.start_anew()
            raise

    def _sensed(self, values: Floats) -> Floats:
        """Return the channels that the watch uses, (rows, columns)."""
        return values

    def _messages(self, epoch: int) -> list[Message]:
        """Return the messages of one second, see `messages_due`."""
        raise NotImplementedError


class GearPipeline(PlayPipeline[LostMotion | OneEncoder]):
    """The pipeline of one joint's gear; it gets the same rows as the joint's own estimator, without wild samples."""

    def __init__(
        self, gear: WatchedGear, joint: JointSection, channels: tuple[str, ...], publication: Publication
    ) -> None:
        """channels: names of the columns of the rows."""
        self._gear = gear
        columns = [channels.index(role) for role in gear.roles]
        super().__init__(columns, lambda: gear.watch(1.0 / joint.rate), publication)

    def _sensed(self, values: Floats) -> Floats:
        return values * self._gear.scale

    def _messages(self, epoch: int) -> list[Message]:
        return [self._publication.lost_motion(lost_motion_body(self.watch), (self._last + epoch) / 1e9)]

    def extended(self, estimate: Estimate, baseline: Baseline) -> Estimate:
        """Append the gear's parameters to the joint's estimate, if the baseline contains them."""
        places = [place for place, name in enumerate(NAMES) if name in baseline.values]
        if not places:
            return estimate
        report = self.watch.report()
        return estimate._replace(
            names=(*estimate.names, *(NAMES[place] for place in places)),
            values=np.append(estimate.values, report.values[places]),
            deviations=np.append(estimate.deviations, report.deviations[places]),
            states=estimate.states and (*estimate.states, *(ParameterState(Knowledge.KNOWN) for _ in places)),
        )


class ClearancePipeline(PlayPipeline[BearingWatch]):
    """The pipeline of one joint's bearing: its clearance, and the growth of the clearance."""

    def __init__(
        self, joint: JointSection, channels: tuple[str, ...], publication: Publication, records: ChangeRecords | None
    ) -> None:
        """channels: names of the columns of the samples; records: records of the joint's changes."""
        roles = NEAR if set(NEAR) <= set(channels) else ("position", LINK, "torque")
        self._records = records
        columns = [channels.index(role) for role in roles if role in channels]
        super().__init__(columns, lambda: _bearing_watch(joint, roles == NEAR), publication)

    def _messages(self, epoch: int) -> list[Message]:
        now = (self._last + epoch) / 1e9
        messages = [self._publication.clearance(clearance_body(self.watch), now)]
        if self._records is not None:
            messages += self._records.follow(self._change(now, epoch), "clearance", now)
        return messages

    def _change(self, now: float, epoch: int) -> ChangeRecord | None:
        """Return the record of the growth of the clearance with its newest value; None if it has not grown."""
        watch, report = self.watch, self.watch.report
        if not watch.grown or not math.isfinite(report.clearance):
            return None
        grown, sigma = report.clearance - watch.first, math.hypot(report.deviation, watch.first_deviation)
        return ChangeRecord(
            "clearance", "m", watch.first, watch.first_deviation, report.clearance, report.deviation,
            100.0 * grown / watch.first, grown / sigma, (watch.since + epoch) / 1e9, now, "gradual", "start",
        )  # fmt: skip


def _bearing_watch(joint: JointSection, near: bool) -> BearingWatch:
    """Make a new watch of the bearing that uses proximity sensors (near) or encoders."""
    if near:
        return ClearanceWatch(1.0 / joint.rate)
    assert joint.clearance is not None
    return RingWatch(joint.clearance, 1.0 / joint.rate)


def lost_motion_body(watch: LostMotion | OneEncoder) -> Map:
    """Return the content of `lost_motion/<joint>`."""
    report, state = watch.report(), watch.state
    return {
        "parameters": dict(zip(watch.names, report.values.tolist(), strict=True)),
        "deviations": dict(zip(watch.names, report.deviations.tolist(), strict=True)),
        "known": bool(np.isfinite(report.values[LOST_MOTION])),
        "reasons": as_maps(report.reasons),
        "reversals": report.reversals,
        "rarer": report.rarer,
        "imitated": report.imitated,
        "progress": report.progress,
        "soft": report.soft,
        "first": state.reference[0],
        "grown": state.reported,
    }


def clearance_body(watch: BearingWatch) -> Map:
    """Return the content of `clearance/<joint>`."""
    report = watch.report
    return {
        "way": watch.way,
        "clearance": report.clearance,
        "deviation": report.deviation,
        "known": math.isfinite(report.clearance),
        "reasons": as_maps(report.reasons),
        "progress": report.progress,
        "arc": report.arc,
        "touching": report.touching,
        "first": watch.first,
        "grown": watch.grown,
    }


def gear_pipeline_of(joint: JointSection, channels: tuple[str, ...], publication: Publication) -> GearPipeline | None:
    """Return the pipeline of a joint's gear; None if the gear is not watched."""
    gear = gear_of(joint, joint.rate)
    return None if gear is None else GearPipeline(gear, joint, channels, publication)


def clearance_pipeline_of(
    joint: JointSection, channels: tuple[str, ...], publication: Publication, records: ChangeRecords | None
) -> ClearancePipeline | None:
    """Return the pipeline of a joint's bearing; None if no sensor measures it."""
    if not set(NEAR) <= set(channels) and joint.clearance is None:
        return None
    return ClearancePipeline(joint, channels, publication, records)
