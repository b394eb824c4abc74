"""Compares a joint with its commissioning baseline: the change of every parameter, and which changes exceed limits.

    change = estimate − baseline    z = change / √(σ² + σ₀²)    (two independent estimates)

A parameter has drifted when |z| and |change| / |baseline| have both exceeded their limits for the time `hold`. A small
change is not drift even if it is certain, and a large change is not drift if it is uncertain. It has recovered when one
of the two has stayed below `release` times its limit for `hold`. If the baseline is not significantly different from
zero, there is no percentage, and z alone decides.

If all parameters that scale with the torque have changed by one common factor, they share one cause
(numerics/one_factor.py). A single event reports it, and parameters that drift later for the same cause get no event.

A joint without a baseline is compared with the values of its own start after half a minute of trusted estimates;
`change_records.py` keeps the changes.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from daq.config.sections import DriftSettings
from daq.core.changes.change_records import ChangeRecords
from daq.state.baselines import JUDGED, Baseline
from daq.stream.update import Map, Publication
from estimators.base import Estimate, Status
from estimators.causes.watch import CauseWatch
from estimators.numerics.one_factor import one_factor
from estimators.quantities import Floats

#: ns, argued: Time between two comparisons with the baseline.
EVERY: Final = 1_000_000_000
UNSCALED: Final = ("offset", "omega_")  # in names that do not scale with torque
#: deviations, argued: A baseline value below this cannot be distinguished from zero, and has no percentage.
NOTHING: Final = 2.0
#: 1, argued: Comparisons, one a second, over which the values of a start may still become the reference: half of the
#: minute of motion that an estimate remembers, so the reference is about as certain as what is compared with it.
SETTLING: Final = 30


class DriftChange(NamedTuple):
    """The event that a parameter has exceeded its limits, or is within them again."""

    kind: str  # drift, recovered
    text: str


@dataclass(slots=True)
class Drift:
    """The comparison of one joint with one baseline."""

    settings: DriftSettings
    baseline: Baseline
    drifted: set[str] = field(default_factory=set)
    cause: str = ""  # the common cause of all drifted parameters, if there is one
    usual: Mapping[str, Sequence[float]] = field(default_factory=dict)  # parameter → range that heat and load explain
    unsure: set[str] = field(default_factory=set)  # parameters that have changed by more than the limit, but not surely
    _since: dict[str, int] = field(default_factory=dict)  # parameter → ns since when it crosses its limits

    def fits(self, model: str, friction: Mapping[str, Any], names: tuple[str, ...]) -> bool:
        """Whether the baseline has the same model, law and parameters; otherwise its values cannot be compared."""
        theirs = self.baseline
        named = set(names) == theirs.values.keys() == theirs.deviations.keys()
        return theirs.model == model and theirs.friction in (None, friction) and named

    @property
    def leaving(self) -> set[str]:
        """Parameters that are beyond their limits now, for however short a time."""
        return self.drifted | self._since.keys()

    @property
    def returning(self) -> set[str]:
        """Drifted parameters that are within their limits, but not yet for long enough."""
        return self.drifted & self._since.keys()

    def update(self, estimate: Estimate) -> tuple[Map, list[DriftChange]]:
        """Compare a trusted estimate; returns the message content, and the parameters that crossed their limits."""
        names = estimate.names
        before = np.array([self.baseline.values[name] for name in names])
        uncertain = np.array([self.baseline.deviations[name] for name in names])
        change, percent, z = compare(estimate.values, estimate.deviations, before, uncertain)
        z = np.where(self._known(estimate), z, 0.0)  # unknown values cannot be compared
        beyond = np.array(
            [
                self._unexplained(name, value, then)
                for name, value, then in zip(names, estimate.values, before, strict=True)
            ]
        )
        crossing = [
            (name, float(percent[index]), float(z[index]))
            for index, name in enumerate(names)
            if self._crosses(
                name, float(percent[index] * beyond[index]), float(z[index] * beyond[index]), estimate.time
            )
        ]
        large = np.abs(percent * beyond) >= self.settings.percent
        self.unsure = {name for name, one in zip(names, large, strict=True) if one} - self.leaving
        before_that = self.cause
        if crossing or before_that:
            scales = np.array([not any(part in name for part in UNSCALED) for name in names])
            factor = one_factor(before, uncertain, estimate.values, estimate.deviations, scales)
            self.cause = str(factor) if factor is not None else ""
        crossed = [self._cross(*one) for one in crossing]
        changes = [one for one in crossed if one.kind != "drift" or not self.cause]
        drifted = [name for name in names if name in self.drifted]
        if self.cause and not before_that and drifted:
            changes.append(DriftChange("drift", self.cause))
        self.cause = self.cause if drifted else ""
        columns = {"baseline": before, "change": change, "percent": percent, "z": z}
        named = {key: dict(zip(names, column.tolist(), strict=True)) for key, column in columns.items()}
        return {"since": self.baseline.since, "drifted": drifted, "cause": self.cause, **named}, changes

    def _unexplained(self, name: str, value: float, before: float) -> float:
        """Return the share of a parameter's change that heat and load do not explain."""
        low, high = self.usual.get(name, (before, before))
        change = value - before
        nearest = min(max(value, min(low, before)), max(high, before))
        return (value - nearest) / change if change else 1.0

    def _known(self, estimate: Estimate) -> NDArray[np.bool_]:
        """Return which parameters are known in both estimate and baseline: (parameters,)."""
        then = self.baseline.known
        both = zip(estimate.names, estimate.known, strict=True)
        return np.array([known and (then is None or name in then) for name, known in both], np.bool_)

    def _crosses(self, name: str, percent: float, z: float, time: int) -> bool:
        """Whether a parameter has been on the other side of its limits for `hold`."""
        share = self.settings.release if name in self.drifted else 1.0
        enough = math.isnan(percent) or abs(percent) >= share * self.settings.percent
        if (enough and abs(z) >= share * self.settings.z) is (name in self.drifted):
            self._since.pop(name, None)
            return False
        since = self._since.setdefault(name, time)
        return time - since >= self.settings.hold * 1e9

    def _cross(self, name: str, percent: float, z: float) -> DriftChange:
        del self._since[name]
        self.drifted ^= {name}
        words = "" if math.isnan(percent) else f"{percent:+.1f} %, "
        words += f"{abs(z):.1f} standard deviations".replace("inf", "∞")
        if name in self.drifted:
            return DriftChange("drift", f"{name} has drifted: {words}")
        return DriftChange("recovered", f"{name} is within its limits again: {words}")


class Comparison:
    """Compares one joint, or the robot, once a second with its reference, and makes the messages.

    The reference is the baseline. A joint without one is compared with the values of its own start, and its changes are
    recorded; the whole robot is compared with a baseline only.
    """

    def __init__(
        self, model: str, settings: DriftSettings, publication: Publication, units: Mapping[str, str] | None = None
    ) -> None:
        """model: its kind, which must be the baseline's as well; units: of a joint's parameters; None: the robot."""
        self._model, self._settings, self._publication = model, settings, publication
        self._baseline: Baseline | None = None  # the baseline, whether it fits the model or not
        self._own = False  # whether the reference is the values of the joint's own start
        self._settling = 0  # comparisons during which these may still be replaced
        self._drift: Drift | None = None
        self._friction: Map = {}  # the friction law at the last comparison
        self._looked = -1  # s on the clock of the rows, time of the last comparison
        self._wear: Map = {}  # wear as the history has judged it
        self.records = None if units is None else ChangeRecords(publication, units)
        self.causes: CauseWatch | None = None  # only if the joint has torque and position

    def set_baseline(self, baseline: Baseline) -> None:
        """Compare with this baseline from now on."""
        if baseline != self._baseline:
            self._baseline, self._own, self._drift, self._looked = baseline, False, None, -1
            if self.causes is not None and self.causes.healthy is None:
                self.causes.begin_reference()

    def due(self, time: int) -> bool:
        """Whether an estimate at this time (ns) would be compared."""
        return (self._baseline is not None or self.records is not None) and time // EVERY != self._looked

    def next_due(self, time: int) -> int:
        """Return the time (ns) from which an estimate after the given time (ns) may be compared; 0: at any time."""
        return 0 if self.due(time) else (time // EVERY + 1) * EVERY

    def compare(
        self,
        estimate: Estimate,
        friction: Callable[[], Map],
        timestamp: float,
        extend: Callable[[Estimate, Baseline], Estimate] | None = None,
    ) -> list[tuple[bytes, bytes]]:
        """Compare an estimate if a comparison is due, and return the messages.

        friction: the friction law in use; timestamp: Unix s of the estimate; extend: appends parameters that come from
        another source than the estimate.
        """
        judged = estimate.status in JUDGED
        if not self.due(estimate.time) or not (judged or extend):
            return []
        law = friction()
        self._begin_from_start(estimate, law, timestamp)
        if self._baseline is None:
            return []
        own = len(estimate.names)
        if extend is not None:
            estimate = extend(estimate, self._baseline)
        if not judged:  # the appended parameters are compared even if the estimate itself is not trusted
            if self._drift is None or law != self._friction or len(estimate.names) == own:
                return []
            estimate = _from(estimate, own)
        fresh, self._looked = self._looked < 0 or law != self._friction, estimate.time // EVERY
        self._friction = law
        messages = self._begin(law, estimate.names, timestamp) if fresh else []
        if self._drift is not None:
            self._drift.usual = self._wear.get("usual", {})
            compared, changes = self._drift.update(estimate)
            compared["reference"] = "start" if self._own else "baseline"
            messages.append(self._publication.drift(compared, timestamp))
            messages += [self._publication.event(change.kind, change.text, timestamp) for change in changes]
            if self.records is not None:
                known = self._baseline.deviations
                going = (self._drift.leaving | self._drift.unsure, self._drift.returning)
                messages += self.records.update(compared, *going, estimate, known, timestamp)
        return messages

    def note_alarm(self, begin: float) -> None:
        """Note an alarm: later values cannot become the reference of a start. begin: Unix s of its first row."""
        self._settling = 0
        if self.causes is not None and self.causes.healthy is None:
            self.causes.begin_reference()  # the joint has not been healthy for as long as a reference takes
        if self.records is not None:
            self.records.note_alarm(begin)

    def set_wear(self, wear: Map) -> list[tuple[bytes, bytes]]:
        """Take the wear that the history has judged: friction counts as drift if heat and load do not explain it.

        wear: the fields of `wear/<joint>`, with its `timestamp`, Unix s. Returns the messages about it.
        """
        self._wear = wear
        body = {key: one for key, one in wear.items() if key != "timestamp"}
        messages = [self._publication.wear(body, wear["timestamp"])]
        return messages if self.records is None else messages + self.records.note_wear(wear)

    def diagnose(self, unit: str, epoch: int, timestamp: float) -> list[tuple[bytes, bytes]]:
        """Write the cause that the watch of causes has just found into the records; returns the due messages."""
        if self.causes is None or self.records is None:
            return []
        return self.records.diagnose(self.causes.diagnosis, unit, epoch / 1e9, timestamp)

    def acknowledge(self, timestamp: float) -> list[tuple[bytes, bytes]]:
        """Acknowledge all changes for a person; without a baseline the present values become the reference.

        timestamp: Unix s. Returns the message about it.
        """
        if self.records is None:
            return []
        if self.causes is not None:
            self.causes.begin_reference()
        if not self._own:
            return self.records.acknowledge(timestamp)
        self._baseline, self._own, self._drift, self._looked = None, False, None, -1
        return self.records.refer(timestamp, timestamp)

    def keep(self) -> Map | None:
        """Return the state that outlives a restart: reference from the start, and records; None if there is none."""
        if self.records is None or not (self._own or self.records.records):
            return None
        own = self._baseline.model_dump() if self._own and self._baseline is not None else None
        signature = None if self.causes is None else self.causes.keep()
        return {"start": own, "settling": self._settling, "signature": signature, **self.records.keep()}

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Continue from a state of `keep`. Raises TypeError, KeyError or ValueError if it has another form."""
        assert self.records is not None
        if saved["start"] is not None and self._baseline is None:
            self._baseline, self._own = Baseline.model_validate(saved["start"]), True
            self._settling = int(saved["settling"])
        self.records.resume(saved)
        if self.causes is not None and saved.get("signature") is not None:
            self.causes.resume(saved["signature"])

    def _begin(self, law: Map, names: tuple[str, ...], timestamp: float) -> list[tuple[bytes, bytes]]:
        """Begin to compare with the present reference; an event reports a baseline."""
        assert self._baseline is not None
        drift = Drift(self._settings, self._baseline)
        self._drift = drift if drift.fits(self._model, law, names) else None
        settled: list[tuple[bytes, bytes]] = []
        if self.records is not None:
            settled = [] if self._own else self.records.refer(self._baseline.since, timestamp)
            drift.drifted |= self.records.standing(names)
        if self._own:
            return settled
        since = datetime.fromtimestamp(self._baseline.since, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        text = f"drift is measured against the baseline of {since}"
        if self._drift is None:
            text = f"the baseline of {since} is of another model or friction law: set a new one"
        return [self._publication.event("baseline", text, timestamp), *settled]

    def _begin_from_start(self, estimate: Estimate, law: Map, timestamp: float) -> None:
        """Take trusted values as the reference of a joint without a baseline, while its start settles."""
        if self.records is None or estimate.status is not Status.VALID or not (self._own or self._baseline is None):
            return
        if self._baseline is not None and not Drift(self._settings, self._baseline).fits(
            self._model, law, estimate.names
        ):
            self._baseline, self._looked = None, -1  # another friction law: its values cannot be compared
        if self._baseline is None:
            self._settling, self._drift = SETTLING, None
        if self._settling <= 0 or (self._drift is not None and self._drift.leaving):
            return
        try:
            found = Baseline.of(estimate, timestamp, self._model, dict(law))
        except ValidationError:
            return  # a value is not finite
        self._settling -= 1
        self._baseline, self._own = found, True
        if self._drift is not None:
            self._drift = Drift(self._settings, found)


def compare(values: Floats, deviations: Floats, before: Floats, uncertain: Floats) -> tuple[Floats, Floats, Floats]:
    """Return change, percentage and z of values ± deviations against before ± uncertain, all (parameters,).

    An entry is NaN if there is nothing to compare, or if the baseline is too close to zero for a percentage.
    """
    change = values - before
    sigma = np.hypot(deviations, uncertain)
    significant = np.abs(before) > NOTHING * uncertain
    nothing = np.full(len(values), np.nan)
    percent = np.divide(100.0 * change, np.abs(before), out=nothing.copy(), where=significant & (before != 0))
    known = (sigma > 0) & np.isfinite(sigma)
    z = np.divide(change, sigma, out=np.where(np.isfinite(sigma), nothing, 0.0), where=known)
    return change, percent, np.where(np.isnan(change), np.nan, z)


def _from(estimate: Estimate, first: int) -> Estimate:
    """Return the estimate of the parameters from index `first` on."""
    part = slice(first, None)
    values, deviations = estimate.values[part], estimate.deviations[part]
    states = estimate.states[part]
    return estimate._replace(
        names=estimate.names[part], values=values, deviations=deviations, states=states, uncertainty=None
    )
