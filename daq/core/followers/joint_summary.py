"""Makes `summary/<joint>`: one small message a second with everything that a fleet compares and stores of a joint."""

import msgpack

from daq.core.changes.change_records import ChangeRecords
from daq.core.followers.joint_use import EVERY, JointUse
from daq.stream.update import Map, Publication
from estimators.base import Estimate


class JointSummary:
    """The summaries of one joint."""

    def __init__(
        self, model: str, unit: str, units: Map, publication: Publication, use: JointUse, records: ChangeRecords | None
    ) -> None:
        """model: kind of the joint's model; unit: unit of its torque (force); units: units of its parameters, by name;
        use: its counts; records: records of its changes."""
        self._fixed = {"model": model, "unit": unit}
        self._units, self._publication, self._use, self._records = units, publication, use, records
        self._last = -1  # s on the clock of the samples, time of the last summary
        self._status = ""

    def due(self, tick: int) -> bool:
        """Whether a summary is due at this sample (ns)."""
        return tick // EVERY != self._last

    @property
    def next_due(self) -> int:
        """Time of the sample (ns) at which the next summary is due."""
        return (self._last + 1) * EVERY

    def messages(self, estimate: Estimate, tick: int, timestamp: float) -> list[tuple[bytes, bytes]]:
        """Return the summary if one is due, or if the status has changed since the last one.

        tick: time of the newest sample, ns; timestamp: the same instant, Unix s.
        """
        status = estimate.status.value
        if not self.due(tick) and status == self._status:
            return []
        self._last, self._status = tick // EVERY, status
        names = estimate.names
        body = self._publication.head("summary", timestamp) | self._fixed
        body |= {
            "phase": estimate.phase.value,
            "status": status,
            "parameters": dict(zip(names, estimate.values.tolist(), strict=True)),
            "deviations": dict(zip(names, estimate.deviations.tolist(), strict=True)),
            "units": {name: self._units.get(name, "") for name in names},
            "error": estimate.error,
            "changed": {one.parameter: one.before for one in self._records.records if not one.over}
            if self._records is not None
            else {},
            "use": self._use.before_second_of(tick),
        }
        return [(f"summary/{self._publication.joint}".encode(), msgpack.packb(body))]
