"""A joint against its commissioning baseline: the change of every parameter, and which are beyond their limits.

    change = estimate − baseline    z = change / √(σ² + σ₀²)    (two independent estimates)

Beyond: |z| and |change| / |baseline| are both at their limits for as long as `hold`; a change that is certain but small
is no drift, nor is a large one that is not certain. Within again: one of them below `release` times its limit for as
long. A baseline that cannot be told from zero has no percentage, and z decides alone.

Where all that scales with the torque has changed by one factor, that is one cause (numerics/one_factor.py): one event
says it, and what drifts for the same cause later has none of its own.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import numpy as np

from daq.config.drift_limits import DriftSettings
from daq.state.baselines import JUDGED, Baseline
from daq.stream.update import Map, Publication
from estimators.base import Estimate
from estimators.numerics.one_factor import one_factor
from estimators.quantities import Floats

EVERY: Final = 1_000_000_000  # ns between two looks
UNSCALED: Final = ("offset", "omega_")  # parts of names that no torque scales, or that a sensor's own zero may move
NOTHING: Final = 2.0  # σ₀, below which a baseline cannot be told from zero


class DriftChange(NamedTuple):
    """A parameter that has left its limits, or is within them again."""

    kind: str  # drift, recovered
    text: str


@dataclass(slots=True)
class Drift:
    """Follows one joint against one baseline."""

    settings: DriftSettings
    baseline: Baseline
    drifted: set[str] = field(default_factory=set)
    cause: str = ""  # of all that has drifted, where it is one
    _since: dict[str, int] = field(default_factory=dict)  # parameter → ns since which it wants to change sides

    def fits(self, model: str, friction: Mapping[str, Any], names: tuple[str, ...]) -> bool:
        """Whether the baseline is of such a joint at all: with another friction law its values mean something else."""
        theirs = self.baseline
        named = set(names) == theirs.values.keys() == theirs.deviations.keys()
        return theirs.model == model and theirs.friction in (None, friction) and named

    def look(self, estimate: Estimate) -> tuple[Map, list[DriftChange]]:
        """What is published of an estimate that can be trusted, and what has changed."""
        names = estimate.names
        before = np.array([self.baseline.values[name] for name in names])
        uncertain = np.array([self.baseline.deviations[name] for name in names])
        change, percent, z = compare(estimate.values, estimate.deviations, before, uncertain)
        crossing = [
            (name, float(percent[index]), float(z[index]))
            for index, name in enumerate(names)
            if self._crosses(name, float(percent[index]), float(z[index]), estimate.time)
        ]
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

    def _crosses(self, name: str, percent: float, z: float, time: int) -> bool:
        """Whether a parameter has wanted to change sides for long enough."""
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
        words = "" if math.isnan(percent) else f"{percent:+.1f} % of its baseline, "
        words += f"{abs(z):.1f} standard deviations".replace("inf", "∞")
        if name in self.drifted:
            return DriftChange("drift", f"{name} has drifted: {words}")
        return DriftChange("recovered", f"{name} is within its limits again: {words}")


class Comparison:
    """What is published once a second of one joint, or of the robot, against the baseline that it has, if any."""

    def __init__(self, model: str, settings: DriftSettings, publication: Publication) -> None:
        """model: kind of it, which a baseline must share."""
        self._model, self._settings, self._publication = model, settings, publication
        self._baseline: Baseline | None = None  # what is to be compared with, told or not
        self._drift: Drift | None = None
        self._friction: Map = {}  # the law that was in use when it was compared last
        self._looked = -1  # s of the rows' clock

    def set_baseline(self, baseline: Baseline) -> None:
        """What drift is measured against from the next look on."""
        if baseline != self._baseline:
            self._baseline, self._drift, self._looked = baseline, None, -1

    def due(self, time: int) -> bool:
        """Whether an estimate of this instant (ns) would be looked at."""
        return self._baseline is not None and time // EVERY != self._looked

    def look(
        self,
        estimate: Estimate,
        friction: Callable[[], Map],
        timestamp: float,
        beside: Callable[[Estimate, Baseline], Estimate] | None = None,
    ) -> list[tuple[bytes, bytes]]:
        """The messages that an estimate makes due.

        friction: the law in use; timestamp: Unix s of the estimate; beside: puts beside it what else is known.
        """
        judged = estimate.status in JUDGED
        if self._baseline is None or estimate.time // EVERY == self._looked or not (judged or beside):
            return []
        own, law = len(estimate.names), friction()
        if beside is not None:
            estimate = beside(estimate, self._baseline)
        if not judged:  # what is beside it is known for itself
            if self._drift is None or law != self._friction or len(estimate.names) == own:
                return []
            estimate = _from(estimate, own)
        fresh, self._looked = self._looked < 0 or law != self._friction, estimate.time // EVERY
        self._friction = law
        messages = []
        if fresh:
            drift = Drift(self._settings, self._baseline)
            self._drift = drift if drift.fits(self._model, law, estimate.names) else None
            since = datetime.fromtimestamp(self._baseline.since, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
            text = f"drift is measured against that of {since}"
            if self._drift is None:
                text = "it is of another model or friction law: set it anew"
            messages.append(self._publication.event("baseline", text, timestamp))
        if self._drift is not None:
            told, changes = self._drift.look(estimate)
            messages.append(self._publication.drift(told, timestamp))
            messages += [self._publication.event(change.kind, change.text, timestamp) for change in changes]
        return messages


def compare(values: Floats, deviations: Floats, before: Floats, uncertain: Floats) -> tuple[Floats, Floats, Floats]:
    """Change, percent and z of values ± deviations against before ± uncertain, all (parameters,).

    NaN where there is nothing to compare, or no percentage.
    """
    change = values - before
    sigma = np.hypot(deviations, uncertain)
    told = np.abs(before) > NOTHING * uncertain
    nothing = np.full(len(values), np.nan)
    percent = np.divide(100.0 * change, np.abs(before), out=nothing.copy(), where=told & (before != 0))
    known = (sigma > 0) & np.isfinite(sigma)
    z = np.divide(change, sigma, out=np.where(np.isfinite(sigma), nothing, 0.0), where=known)
    return change, percent, np.where(np.isnan(change), np.nan, z)


def _from(estimate: Estimate, first: int) -> Estimate:
    """The same of the parameters from that one on."""
    part = slice(first, None)
    values, deviations = estimate.values[part], estimate.deviations[part]
    return estimate._replace(names=estimate.names[part], values=values, deviations=deviations)
