"""The pipeline of one joint's bearing: its clearance, once a second, and what has grown.

By two proximity sensors where the joint has them; else by an encoder on either side, where `clearance` is configured.
"""

import math
from collections.abc import Mapping
from typing import Any, Final

from daq.config.sections import JointSection
from daq.core.changes.change_records import ChangeRecord, ChangeRecords
from daq.core.gear_pipeline import EVERY
from daq.stream.reasons import as_maps
from daq.stream.update import Map, Message, Publication
from estimators.online.clearance.bearing import BearingWatch
from estimators.online.clearance.ring import RingWatch
from estimators.online.clearance.watch import ClearanceWatch
from estimators.online.settings import LINK, NEAR
from estimators.quantities import Floats, Nanoseconds

STATE: Final = ".clearance"  # how the name of its state ends


class ClearancePipeline:
    """The bearing of one joint."""

    def __init__(
        self, joint: JointSection, channels: tuple[str, ...], publication: Publication, records: ChangeRecords | None
    ) -> None:
        """channels: the columns of the rows; records: of what has changed of the joint."""
        roles = NEAR if set(NEAR) <= set(channels) else ("position", LINK, "torque")
        self._columns = [channels.index(role) for role in roles if role in channels]
        self._joint, self._publication, self._records = joint, publication, records
        self._last = self._slot = 0  # ns, s of the rows' clock
        self.watch = self._begun(roles == NEAR)

    def absorb(self, time: Nanoseconds, values: Floats) -> None:
        """Samples of the joint: (rows,) ns, (rows, channels)."""
        if len(time):
            self.watch.absorb(time, values[:, self._columns])
            self._last = int(time[-1])

    def messages_due(self, epoch: int) -> list[Message]:
        """The messages that are due after the rows so far. epoch: ns to add to get Unix time."""
        messages = [
            self._publication.event(one.kind, one.text, (one.time + epoch) / 1e9) for one in self.watch.events()
        ]
        if self._last // EVERY != self._slot:
            self._slot = self._last // EVERY
            now = (self._last + epoch) / 1e9
            messages.append(self._publication.clearance(clearance_body(self.watch), now))
            if self._records is not None:
                messages += self._records.follow(self._change(now, epoch), "clearance", now)
        return messages

    def keep(self) -> dict[str, Any] | None:
        """The state for a checkpoint; None while there is none."""
        return self.watch.keep()

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue from a stored state. Raises ValueError or KeyError, then starts anew."""
        try:
            self.watch.resume(state)
        except Exception:
            self.watch = self._begun(isinstance(self.watch, ClearanceWatch))
            raise

    def _begun(self, near: bool) -> BearingWatch:
        """A watch that knows nothing yet, by proximity sensors or by encoders."""
        period, bearing = 1.0 / self._joint.rate, self._joint.clearance
        if near:
            return ClearanceWatch(period)
        assert bearing is not None
        return RingWatch(bearing, period)

    def _change(self, now: float, epoch: int) -> ChangeRecord | None:
        """How it has grown, with the newest number; None where it has not."""
        watch, report = self.watch, self.watch.report
        if not watch.grown or not math.isfinite(report.clearance):
            return None
        grown, sigma = report.clearance - watch.first, math.hypot(report.deviation, watch.first_deviation)
        return ChangeRecord(
            "clearance", "m", watch.first, watch.first_deviation, report.clearance, report.deviation,
            100.0 * grown / watch.first, grown / sigma, (watch.since + epoch) / 1e9, now, "gradual", "start",
        )  # fmt: skip


def clearance_body(watch: BearingWatch) -> Map:
    """What `clearance/<joint>` says."""
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


def clearance_pipeline_of(
    joint: JointSection, channels: tuple[str, ...], publication: Publication, records: ChangeRecords | None
) -> ClearancePipeline | None:
    """The pipeline of a joint's bearing; None where nothing sees it."""
    if not set(NEAR) <= set(channels) and joint.clearance is None:
        return None
    return ClearancePipeline(joint, channels, publication, records)


def clearance_state_name(joint: str) -> str:
    """The name of a bearing's state in the checkpoint; it cannot be a joint's, whose name has no dot."""
    return f"{joint}{STATE}"
