"""The pipeline of one gear, between two encoders or behind one: its lost motion, published once a second."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from daq.config.sections import JointSection
from daq.state.baselines import Baseline
from daq.stream.reasons import as_maps
from daq.stream.update import Map, Message, Publication
from estimators.base import Estimate, Knowledge, ParameterState
from estimators.models.joints.lost_motion import LOST_MOTION, WEARS
from estimators.online.gear.lost_motion import LostMotion
from estimators.online.gear.one_encoder import OneEncoder
from estimators.online.gear.two_encoders import WatchedGear, gear_of
from estimators.quantities import Floats, Nanoseconds

#: ns, argued: Time of the rows' clock between two updates of a gear, or of a bearing.
EVERY: Final = 1_000_000_000
NAMES: Final = tuple(one.name for one in WEARS)  # what a baseline remembers


class GearPipeline:
    """The gear of one joint; it gets the same rows as the joint's own estimator."""

    def __init__(
        self, gear: WatchedGear, joint: JointSection, channels: tuple[str, ...], publication: Publication
    ) -> None:
        """channels: the columns of the rows."""
        self._gear, self._period = gear, 1.0 / joint.rate
        self._columns = [channels.index(role) for role in gear.roles]
        self._publication = publication
        self._last = self._slot = 0  # ns, s of the rows' clock
        self.watch = gear.watch(self._period)

    def absorb(self, time: Nanoseconds, values: Floats) -> None:
        """Rows of the joint without wild samples: (rows,) ns, (rows, channels)."""
        if len(time):
            self.watch.absorb(time, values[:, self._columns] * self._gear.scale)
            self._last = int(time[-1])

    def messages_due(self, epoch: int) -> list[Message]:
        """The messages that are due after the rows so far. epoch: ns to add to get Unix time."""
        messages = [
            self._publication.event(one.kind, one.text, (one.time + epoch) / 1e9) for one in self.watch.events()
        ]
        if self._last // EVERY != self._slot:
            self._slot = self._last // EVERY
            messages.append(self._publication.lost_motion(self.body(self.watch), (self._last + epoch) / 1e9))
        return messages

    @staticmethod
    def body(watch: LostMotion | OneEncoder) -> Map:
        """The content of `lost_motion/<joint>`."""
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

    def extended(self, estimate: Estimate, baseline: Baseline) -> Estimate:
        """The joint's estimate with the gear's parameters appended, as far as the baseline has them."""
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

    def keep(self) -> dict[str, Any] | None:
        """The state for a checkpoint; None while there is none."""
        return self.watch.keep()

    def start_anew(self) -> None:
        """Forget what was measured."""
        self.watch = self._gear.watch(self._period)

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue from a stored state. Raises NotTheSameError and what a damaged state raises, then starts anew."""
        try:
            self.watch.resume(state)
        except Exception:
            self.start_anew()
            raise


def gear_pipeline_of(joint: JointSection, channels: tuple[str, ...], publication: Publication) -> GearPipeline | None:
    """The pipeline of a joint's gear; None where it is not watched."""
    gear = gear_of(joint, joint.rate)
    return None if gear is None else GearPipeline(gear, joint, channels, publication)


def gear_state_name(joint: str) -> str:
    """The name of a gear's state in the checkpoint; it cannot be a joint's, whose name has no dot."""
    return f"{joint}.lost_motion"
