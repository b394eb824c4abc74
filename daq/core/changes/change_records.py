"""Keeps what has changed of a joint until a person acknowledges it: the source of `change/<joint>`.

A record begins when a parameter leaves its limits around the reference (daq/core/changes/drift.py): the baseline, or
without one the values of the joint's own start. While the change stands its numbers follow the estimate. Where the
parameter is within its limits again, the record says when, and stays. A record is open until it is acknowledged;
setting a baseline acknowledges all of them.

An alarm that came since the parameter was last within its limits is the evidence of a sudden change, and the change is
dated to the first row of that alarm. Otherwise the change is gradual, and dated to when the parameter was last within;
or to the first alarm of a change that the estimator says goes on (estimators/online/monitor/gradual.py).
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

#: 1, argued: Records of one joint that are kept; the oldest acknowledged ones go first.
KEPT: Final = 20
#: 1, argued: Rankings after which a change of the signature is recorded by itself, where no parameter has left its
#: limits: 20 s of motion, in which a parameter that has changed is reported.
ALONE: Final = 4
SIGNATURE: Final = "signature"  # record of a change that no parameter shows: rms of torque that is not explained
#: s, argued: Time between two messages while nothing but the numbers of an open record changes.
REPEAT: Final = 10.0
#: s, argued: An alarm this long before a parameter was last seen within its limits can still have begun the change: the
#: comparison is made once a second, and the alarm is dated back to its first row.
ALARM_BEFORE: Final = 2.0


#: s, argued: A time below this, the year 1970, is no date: many a recording's clock counts from its start.
DATED: Final = 365 * 86_400.0
WEAR: Final = "dry_wear"  # the parameter of a record about wear, which the history finds
# what a parameter is that no model of the joint alone has
ABOUT: Final = {
    "friction_slow": "friction torque at a tenth of the joint's highest speed, by the model of the whole robot",
    "friction_fast": "friction torque at half of the joint's highest speed, by the model of the whole robot",
    "torque_offset": "the zero of the joint's torque, by the model of the whole robot",
    "torque_constant": "the torque measured over the true one, by the model of the whole robot",
    "encoder_slip": "what the encoder reads beyond what it did, by the model of the whole robot",
    "spring": "the stiffness of a spring, hose or cable that pulls on the joint, by the model of the whole robot",
}


def instant(stamp: float) -> str:
    """A time of the data, Unix s, in words."""
    if stamp < DATED:
        return f"{stamp:.1f} s of the data's clock"
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(stamp))


@dataclass(slots=True)
class ChangeRecord:
    """One change of one parameter; times are Unix s, 0 where something has not happened."""

    parameter: str
    unit: str
    before: float  # the reference
    before_deviation: float
    now: float
    now_deviation: float
    percent: float  # of the reference; NaN where that cannot be distinguished from zero
    z: float  # change over its standard deviation
    since: float  # when it began
    told: float  # when it was recorded
    evidence: str  # alarm, gradual
    reference: str  # baseline, start
    cause: str = ""  # common to all that has changed, where it is one
    over: float = 0.0  # when it was within its limits again
    acknowledged: float = 0.0
    diagnosis: str = ""  # what it is likely to be, in words; empty while nothing is known of that
    remedy: str = ""  # what to do about that
    ranked: list[Map] = field(default_factory=list)  # causes with their probabilities, the likeliest first

    @property
    def text(self) -> str:
        """The sentence about it, the same for all readers."""
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
        """The record as a map of the stream."""
        names = {"before": "from", "before_deviation": "from_deviation", "now": "to", "now_deviation": "to_deviation"}
        return {names.get(key, key): value for key, value in asdict(self).items()} | {"text": self.text}


def change_state_name(joint: str) -> str:
    """The name of a joint's records in the checkpoint; it cannot be a joint's, whose name has no dot."""
    return f"{joint}.changes"


class ChangeRecords:
    """All records of one joint, and its messages about them."""

    def __init__(self, publication: Publication, units: Mapping[str, str]) -> None:
        """units: of each parameter."""
        self._publication, self._units = publication, units
        self.records: list[ChangeRecord] = []
        self.reference = 0.0  # Unix s at which a baseline was set that changes are measured against; 0: none
        self._within: dict[str, float] = {}  # parameter → Unix s at which it was within its limits last
        self._alarm = 0.0  # Unix s of the first row of the last alarm
        self._gradual = 0.0  # Unix s since when a change goes on that was reported as gradual
        self._said: tuple[Any, ...] = ()  # what the last message said, but for its numbers
        self._due = 0.0  # Unix s from which new numbers are worth a message

    def note_alarm(self, begin: float) -> None:
        """An alarm has come. begin: Unix s of its first row."""
        self._alarm, self._gradual = begin, 0.0

    def note_gradual(self, begin: float) -> None:
        """What alarms have begun goes on gradually. begin: Unix s of the first row of the first of them."""
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
        """Follow one comparison; returns the message that is due.

        drift: what `drift/<joint>` says; leaving, returning: parameters that are or may be beyond their limits now, or
        are within them again, for however short a time; deviations: of the reference; timestamp: Unix s of the
        estimate.
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
        """Follow a measurement that is no parameter and has its own reference; returns the message that is due.

        found: how it has changed, None where it has not; timestamp: Unix s.
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
        """Follow the wear that the history has found (fields of `wear/<joint>`); returns the message that is due."""
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
        """Say of all that has changed what it is likely to be; returns the message that is due.

        found: None where the joint's signature is as it was; unit: of torque; epoch: s to add to the rows' clock for
        Unix time; timestamp: Unix s.
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
        """Those of the named parameters whose change is not over."""
        return {record.parameter for record in self.records if not record.over and record.parameter in names}

    def acknowledge(self, timestamp: float) -> list[tuple[bytes, bytes]]:
        """A person has seen all of them. timestamp: Unix s. Returns the message."""
        for record in self.records:
            record.acknowledged = record.acknowledged or timestamp
        return self._message_due(timestamp)

    def refer(self, reference: float, timestamp: float) -> list[tuple[bytes, bytes]]:
        """Changes are measured against the reference of this Unix s; another one than before settles what had changed.

        Returns the message that is due.
        """
        if reference == self.reference:
            return []
        self.reference = reference
        for record in self.records:
            record.over = record.over or timestamp
        self._within.clear()
        return self.acknowledge(timestamp)

    def settle(self, parameters: Collection[str], timestamp: float) -> list[tuple[bytes, bytes]]:
        """Another reference settles what has changed of these parameters; returns the message that is due."""
        for record in self.records:
            if record.parameter in parameters and not record.over:
                record.over, record.acknowledged = timestamp, record.acknowledged or timestamp
        return self._message_due(timestamp)

    def keep(self) -> Map:
        """All records as plain data."""
        return {"reference": self.reference, "records": [asdict(record) for record in self.records]}

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Continue from saved records. Raises TypeError or KeyError where they are of another kind."""
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
        """One more; the oldest that is settled goes, where there are too many."""
        self.records.append(record)
        if len(self.records) > KEPT:
            settled = next((one for one in self.records if one.acknowledged and one.over), self.records[0])
            self.records.remove(settled)

    def _message_due(self, timestamp: float) -> list[tuple[bytes, bytes]]:
        """The message, if its text is new or new numbers of an open record are due; otherwise none."""
        said = tuple(
            (one.parameter, one.told, bool(one.over), bool(one.acknowledged), one.remedy) for one in self.records
        )
        moving = any(not one.over and not one.acknowledged for one in self.records)
        if said == self._said and not (moving and timestamp >= self._due):
            return []
        self._said, self._due = said, timestamp + REPEAT
        body = self._publication.head("change", timestamp) | {"records": [one.plain() for one in self.records]}
        return [(f"change/{self._publication.joint}".encode(), msgpack.packb(body))]
