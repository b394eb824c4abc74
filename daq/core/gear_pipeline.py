"""The way of one gear: rows of a joint with two encoders, what they say of its lost motion published once a second."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from daq.config.sections import JointSection
from daq.state.baselines import Baseline
from daq.stream.reasons import as_maps
from daq.stream.update import Map, Publication
from estimators.base import Estimate
from estimators.models.joints.lost_motion import LOST_MOTION, WEARS
from estimators.online.gear.lost_motion import LostMotion
from estimators.online.gear.two_encoders import WatchedGear, gear_of
from estimators.quantities import Floats, Nanoseconds

Message = tuple[bytes, bytes]

EVERY: Final = 1_000_000_000  # ns of the rows' clock between two updates
NAMES: Final = tuple(one.name for one in WEARS)  # what a baseline remembers


class GearLine:
    """Beside the joint's own estimator, on the rows that it gets."""

    def __init__(
        self, gear: WatchedGear, joint: JointSection, channels: tuple[str, ...], publication: Publication
    ) -> None:
        """channels: of the rows, in their order."""
        self._gear, self._period = gear, 1.0 / joint.rate
        self._columns = [channels.index(role) for role in gear.roles]
        self._publication = publication
        self._last = self._slot = 0  # ns, s of the rows' clock
        self.watch = LostMotion(gear.settings, self._period)

    def absorb(self, time: Nanoseconds, values: Floats) -> None:
        """Rows of the joint without wild samples: (rows,) ns, (rows, channels)."""
        if len(time):
            self.watch.absorb(time, values[:, self._columns] * self._gear.scale)
            self._last = int(time[-1])

    def settle(self, epoch: int) -> list[Message]:
        """What the rows that came make due. epoch: ns to add to get Unix time."""
        messages = [
            self._publication.event(one.kind, one.text, (one.time + epoch) / 1e9) for one in self.watch.events()
        ]
        if self._last // EVERY != self._slot:
            self._slot = self._last // EVERY
            messages.append(self._publication.lost_motion(self.told(self.watch), (self._last + epoch) / 1e9))
        return messages

    @staticmethod
    def told(watch: LostMotion) -> Map:
        """What `lost_motion/<joint>` says."""
        report, kept = watch.report(), watch.kept
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
            "first": kept.reference[0],
            "grown": kept.told,
        }

    def beside(self, estimate: Estimate, baseline: Baseline) -> Estimate:
        """The joint's estimate with what is known of its gear, as far as the baseline has it."""
        places = [place for place, name in enumerate(NAMES) if name in baseline.values]
        if not places:
            return estimate
        report = self.watch.report()
        return estimate._replace(
            names=(*estimate.names, *(NAMES[place] for place in places)),
            values=np.append(estimate.values, report.values[places]),
            deviations=np.append(estimate.deviations, report.deviations[places]),
        )

    def keep(self) -> dict[str, Any] | None:
        """What outlives a restart; None while there is nothing."""
        return self.watch.keep()

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from what was kept. Raises NotTheSameError and what a damaged state raises, then starts anew."""
        try:
            self.watch.resume(state)
        except Exception:
            self.watch = LostMotion(self._gear.settings, self._period)
            raise


def line_of(joint: JointSection, channels: tuple[str, ...], publication: Publication) -> GearLine | None:
    """Of a joint with two encoders."""
    gear = gear_of(joint, joint.rate)
    return None if gear is None else GearLine(gear, joint, channels, publication)


def kept_as(joint: str) -> str:
    """Under which name a gear's state is kept: no joint has a dot in its name."""
    return f"{joint}.lost_motion"
