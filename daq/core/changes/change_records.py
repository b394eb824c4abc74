"""Keeps records of the changes of a joint until a person acknowledges them: the source of `change/<joint>`.

A record begins when a parameter leaves its limits around the reference (daq/core/changes/drift.py): the baseline, or
without one the values of the joint's own start. While the change lasts, its numbers follow the estimate. When the
parameter returns within its limits, the record notes the time, and is kept. A record is open until it is acknowledged;
setting a baseline acknowledges all of them.

An alarm since the parameter was last within its limits is evidence of a sudden change, and the change is dated to the
first row of that alarm. Otherwise the change is gradual. It is then dated to the time when the parameter was last
within its limits, or to the first alarm of a change that the estimator reports as gradual
(estimators/online/monitor/gradual.py).
"""

import math
import time
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import msgpack

from daq.stream.update import Map, Publication
from estimators.base import Estimate
from estimators.causes.watch import Diagnosis

#: 1, argued: Largest number of records of one joint; the oldest acknowledged records are deleted first.
KEPT: Final = 20
#: 1, argued: Rankings after which a change of the signature is recorded by itself, where no parameter has left its
#: limits: 20 s of motion, in which a parameter that has changed is reported.
ALONE: Final = 4
SIGNATURE: Final = "signature"  # record of a change that no parameter shows: rms of the unexplained torque
#: s, argued: Time between two messages while only the numbers of an open record change.
REPEAT: Final = 10.0
#: s, argued: An alarm this long before a parameter was last seen within its limits can still have begun the change: the
#: comparison is made once a second, and the alarm is dated back to its first row.
ALARM_BEFORE: Final = 2.0


#: s, argued: A time below this limit, in the year 1970, is not a date: clocks of many recordings count from their
#: start.
DATED: Final = 365 * 86_400.0
WEAR: Final = "dry_wear"  # the parameter of a record about wear, which the history finds
# meanings of the parameters that only a model of the whole robot has
ABOUT: Final = {
    "friction_slow": "friction torque at a tenth of the joint's highest speed, by the model of the whole robot",
    "friction_fast": "friction torque at half of the joint's highest speed, by the model of the whole robot",
    "torque_offset": "the zero of the joint's torque, by the model of the whole robot",
    "torque_constant": "the torque measured over the true one, by the model of the whole robot",
    "encoder_slip": "what the encoder reads beyond what it did, by the model of the whole robot",
    "spring": "the stiffness of a spring, hose or cable that pulls on the joint, by the model of the whole robot",
}


def instant(stamp: float) -> str:
    """Return a time of the data (Unix s) as text."""
    if stamp < DATED:
        return f"{stamp:.1f} s of the data's clock"
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(stamp))


@dataclass(slots=True)
class ChangeRecord:
    """One change of one parameter; times are Unix s, and 0 if the event has not happened."""

    parameter: str
    unit: str
    before: float  # value of the reference
    before_deviation: float
    now: float
    now_deviation: float
    percent: float  # change as a percentage of the reference; NaN if the reference cannot be distinguished from zero
    z: float  # change over its standard deviation
    since: float  # when it began
    told: float  # time when it was recorded
    evidence: str  # alarm, gradual
    reference: str  # baseline, start
    cause: str = ""  # the common cause of all changes, if there is one
    over: float = 0.0  # time when it was within its limits again
    acknowledged: float = 0.0
    diagnosis: str = ""  # the likely cause in words; empty while it is unknown
    remedy: str = ""  # recommended action
    ranked: list[Map] = field(default_factory=list)  # causes with their probabilities, the most likely first

    @property
    def text(self) -> str:
        """The sentence that describes the change; page, reports and notifications all show it."""
        unit = f" {self.unit}" if self.unit else ""
        share = "" if math.isnan(self.percent) else f" ({self.percent:+.1f} %)"
        how = "suddenly" if self.evidence == "alarm" else "gradually"
        found = (
            f"{self.parameter} changed {how} from {self.before:.4g} ± {self.before_deviation:.2g} "
            f"to {self.now:.4g} ± {self.now_deviation:.2g}{unit}{share}, since {instant(self.since)}"
        )
        if self.parameter == SIGNATURE:
            found = f"the motion {how} needs another torque, by {self.now:.2g}{unit} rms, since {instant(self.since)}"
        if self.parameter in ABOUT:
            found += f"; {ABOUT[self.parameter]}"
        if self.cause:
            found += f"; {self.cause}"
        if self.diagnosis:
            found += f"; {self.diagnosis}"
        if self.reference == "start":
            found += "; measured against the joint's own start, since no baseline is set"
        if self.over and self.over == self.acknowledged:
            return f"{found}; another reference has settled it"
        return found if not self.over else f"{found}; it is within its limits again"

    def plain(self) -> Map:
        """Return the record as a map for the stream."""
        names = {"before": "from", "before_deviation": "from_deviation", "now": "to", "now_deviation": "to_deviation"}
        return {names.get(key, key): value for key, value in asdict(self).items()} | {"text": self.text}


def change_state_name(joint: str) -> str:
    """Return the name of a joint's records in the checkpoint; it has a dot, so no joint can have this name."""
    return f"{joint}.changes"


class ChangeRecords:
    """All records of one joint, and its messages about them."""

    def __init__(self, publication: Publication, units: Mapping[str, str]) -> None:
        """units: parameter → unit."""
        self._publication, self._units = publication, units
        self.records: list[ChangeRecord] = []
        self.reference = 0.0  # Unix s at which the baseline was set against which changes are measured; 0: none
        self._within: dict[str, float] = {}  # parameter → Unix s at which it was within its limits last
        self._alarm = 0.0  # Unix s of the first row of the last alarm
        self._gradual = 0.0  # Unix s at which a change began that was reported as gradual; 0: none
        self._said: tuple[Any, ...] = ()  # content of the last message without its numbers
        self._due = 0.0  # Unix s from which new numbers are published

    def note_alarm(self, begin: float) -> None:
        """Note an alarm. begin: Unix s of its first row."""
        self._alarm, self._gradual = begin, 0.0

    def note_gradual(self, begin: float) -> None:
        """Note that a change with alarms goes on gradually. begin: Unix s of the first row of the first alarm."""
        self._alarm, self._gradual = 0.0, begin
        for record in self.records:
            if not record.over and record.evidence == "alarm" and record.since >= begin:
                record.evidence, record.since = "gradual", begin

    def update(
        self,
        drift: Map,
        leaving: Collection[str],
        returning: Collection[str],
        estimate: Estimate,
        deviations: Mapping[str, float],
        timestamp: float,
    ) -> list[tuple[bytes, bytes]]:
        """Update the records after one comparison; returns the due message, if any.

        drift: content of `drift/<joint>`; leaving: parameters that are beyond their limits now; returning: parameters
        that are within them again, for however short a time; deviations: standard deviations of the reference;
        timestamp: Unix s of the estimate.
        """
        values = dict(zip(estimate.names, zip(estimate.values, estimate.deviations, strict=True), strict=True))
        standing = {record.parameter: record for record in self.records if not record.over}
        for name in drift["baseline"]:
            if name not in leaving:
                self._within[name] = timestamp
            record = standing.get(name)
            if name in drift["drifted"]:
                if record is None:
                    record = self._new(name, drift["baseline"][name], deviations[name], drift["reference"], timestamp)
                if name not in returning:
                    record.now, record.now_deviation = (float(one) for one in values[name])
                    record.percent, record.z, record.cause = drift["percent"][name], drift["z"][name], drift["cause"]
            elif record is not None:
                record.over = timestamp
        return self._message_due(timestamp)

    def follow(self, found: ChangeRecord | None, parameter: str, timestamp: float) -> list[tuple[bytes, bytes]]:
        """Update the record of a quantity that is not a parameter and has its own reference; returns the due message,
        if any.

        found: its change, or None; timestamp: Unix s.
        """
        record = next((one for one in self.records if one.parameter == parameter and not one.over), None)
        if found is None and record is not None:
            record.over = timestamp
        elif found is not None and record is None:
            self._add(found)
        elif found is not None and record is not None:
            record.now, record.now_deviation = found.now, found.now_deviation
            record.percent, record.z = found.percent, found.z
        return self._message_due(timestamp)

    def note_wear(self, wear: Map) -> list[tuple[bytes, bytes]]:
        """Update the record of wear from the fields of `wear/<joint>`; returns the due message, if any."""
        record = next((one for one in self.records if one.parameter == WEAR and not one.over), None)
        if wear["told"] and record is None:
            record = self._new(WEAR, 0.0, wear["deviation"], "baseline", wear["timestamp"])
            record.since, record.evidence = wear["onset"], "gradual"
        if record is not None and wear["told"]:
            record.now, record.now_deviation = 100.0 * wear["wear"], 100.0 * wear["deviation"]
            record.before_deviation, record.z, record.cause = record.now_deviation, wear["z"], wear["text"]
        elif record is not None:
            record.over = wear["timestamp"]
        return self._message_due(wear["timestamp"])

    def diagnose(self, found: Diagnosis | None, unit: str, epoch: float, timestamp: float) -> list[tuple[bytes, bytes]]:
        """Write the likely cause into all records that are open; returns the due message, if any.

        found: diagnosis, or None if the signature of the joint has not changed; unit: of torque; epoch: s to add to the
        clock of the rows to get Unix time; timestamp: Unix s.
        """
        standing = [one for one in self.records if not one.over]
        own = next((one for one in standing if one.parameter == SIGNATURE), None)
        if found is None:
            if own is not None:
                own.over = timestamp
            return self._message_due(timestamp)
        certain = found.answer.names[0] == "collision"
        if own is None and (certain or (not standing and found.rankings >= ALONE)):
            own = ChangeRecord(
                SIGNATURE, unit, 0.0, found.deviation, found.size, found.deviation, math.nan,
                math.sqrt(2.0 * max(found.evidence, 0.0)), found.onset + epoch, timestamp,
                "alarm" if found.sudden else "gradual", "start",
            )  # fmt: skip
            self._add(own)
            standing.append(own)
        if own is not None:
            own.now = found.size
        for record in standing:
            record.diagnosis, record.remedy = found.answer.text, found.answer.remedy
            record.ranked = [{"cause": name, "probability": share} for name, share in found.ranked]
        return self._message_due(timestamp)

    def standing(self, names: Collection[str]) -> set[str]:
        """Return the named parameters whose change is not over."""
        return {record.parameter for record in self.records if not record.over and record.parameter in names}

    def acknowledge(self, timestamp: float) -> list[tuple[bytes, bytes]]:
        """Mark all records as acknowledged by a person. timestamp: Unix s. Returns the message."""
        for record in self.records:
            record.acknowledged = record.acknowledged or timestamp
        return self._message_due(timestamp)

    def refer(self, reference: float, timestamp: float) -> list[tuple[bytes, bytes]]:
        """Measure changes against the reference set at this Unix time (s); a new reference settles earlier changes.

        Returns the due message, if any.
        """
        if reference == self.reference:
            return []
        self.reference = reference
        for record in self.records:
            record.over = record.over or timestamp
        self._within.clear()
        return self.acknowledge(timestamp)

    def settle(self, parameters: Collection[str], timestamp: float) -> list[tuple[bytes, bytes]]:
        """Settle the changes of these parameters after a new reference was set; returns the due message, if any."""
        for record in self.records:
            if record.parameter in parameters and not record.over:
                record.over, record.acknowledged = timestamp, record.acknowledged or timestamp
        return self._message_due(timestamp)

    def keep(self) -> Map:
        """Return all records as plain data."""
        return {"reference": self.reference, "records": [asdict(record) for record in self.records]}

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Continue from saved records. Raises TypeError or KeyError if they have another form."""
        self.reference, self.records = float(saved["reference"]), [ChangeRecord(**one) for one in saved["records"]]

    def _new(self, name: str, before: float, deviation: float, reference: str, timestamp: float) -> ChangeRecord:
        within = self._within.get(name, timestamp)
        sudden = self._alarm > 0.0 and self._alarm >= within - ALARM_BEFORE
        record = ChangeRecord(
            name,
            "%" if name == WEAR else self._units.get(name, ""),
            before,
            deviation,
            math.nan,
            math.nan,
            math.nan,
            math.nan,
            self._alarm if sudden else min(within, self._gradual or within),
            timestamp,
            "alarm" if sudden else "gradual",
            reference,
        )
        self._add(record)
        return record

    def _add(self, record: ChangeRecord) -> None:
        """Add a record; if there are too many, delete the oldest record that is settled."""
        self.records.append(record)
        if len(self.records) > KEPT:
            settled = next((one for one in self.records if one.acknowledged and one.over), self.records[0])
            self.records.remove(settled)

    def _message_due(self, timestamp: float) -> list[tuple[bytes, bytes]]:
        """Return the message if its text is new, or if new numbers of an open record are due; otherwise nothing."""
        said = tuple(
            (one.parameter, one.told, bool(one.over), bool(one.acknowledged), one.remedy) for one in self.records
        )
        moving = any(not one.over and not one.acknowledged for one in self.records)
        if said == self._said and not (moving and timestamp >= self._due):
            return []
        self._said, self._due = said, timestamp + REPEAT
        body = self._publication.head("change", timestamp) | {"records": [one.plain() for one in self.records]}
        return [(f"change/{self._publication.joint}".encode(), msgpack.packb(body))]
