"""Compares a joint with its commissioning baseline: the change of every parameter, and which exceed their limits.

    change = estimate − baseline    z = change / √(σ² + σ₀²)    (two independent estimates)

A parameter has drifted when |z| and |change| / |baseline| have both exceeded their limits for the time `hold`: a change
that is certain but small is no drift, and neither is a large change that is uncertain. It has recovered when one of the
two has stayed below `release` times its limit for `hold`. A baseline that is not significantly different from zero has
no percentage; then z decides alone.

Where all parameters that scale with the torque have changed by one common factor, they share one cause
(numerics/one_factor.py): a single event reports it, and parameters that drift later for the same cause get no event.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from daq.config.drift_limits import DriftSettings
from daq.state.baselines import JUDGED, Baseline
from daq.stream.update import Map, Publication
from estimators.base import Estimate
from estimators.numerics.one_factor import one_factor
from estimators.quantities import Floats

#: ns, argued: Time between two comparisons with the baseline.
EVERY: Final = 1_000_000_000
UNSCALED: Final = ("offset", "omega_")  # parts of names that no torque scales, or that a sensor's own zero may move
#: deviations, argued: A baseline value below this cannot be told from zero, and gets no per cent.
NOTHING: Final = 2.0


class DriftChange(NamedTuple):
    """The event of a parameter that has exceeded its limits, or is within them again."""

    kind: str  # drift, recovered
    text: str


@dataclass(slots=True)
class Drift:
    """The comparison of one joint with one baseline."""

    settings: DriftSettings
    baseline: Baseline
    drifted: set[str] = field(default_factory=set)
    cause: str = ""  # the common cause of all drifted parameters, where there is one
    _since: dict[str, int] = field(default_factory=dict)  # parameter → ns since when it crosses its limits

    def fits(self, model: str, friction: Mapping[str, Any], names: tuple[str, ...]) -> bool:
        """Whether the baseline has the same model, law and parameters; otherwise its values mean something else."""
        theirs = self.baseline
        named = set(names) == theirs.values.keys() == theirs.deviations.keys()
        return theirs.model == model and theirs.friction in (None, friction) and named

    def update(self, estimate: Estimate) -> tuple[Map, list[DriftChange]]:
        """Compare a trusted estimate; returns what is published, and the parameters that crossed their limits."""
        names = estimate.names
        before = np.array([self.baseline.values[name] for name in names])
        uncertain = np.array([self.baseline.deviations[name] for name in names])
        change, percent, z = compare(estimate.values, estimate.deviations, before, uncertain)
        z = np.where(self._known(estimate), z, 0.0)  # of values that are not known, now or then, nothing can be said
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

    def _known(self, estimate: Estimate) -> NDArray[np.bool_]:
        """Which parameters are known in both: (parameters,)."""
        then = self.baseline.known
        return np.array(estimate.known) & np.array([then is None or name in then for name in estimate.names])

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
        words = "" if math.isnan(percent) else f"{percent:+.1f} % of its baseline, "
        words += f"{abs(z):.1f} standard deviations".replace("inf", "∞")
        if name in self.drifted:
            return DriftChange("drift", f"{name} has drifted: {words}")
        return DriftChange("recovered", f"{name} is within its limits again: {words}")


class Comparison:
    """Compares one joint, or the robot, once a second with its baseline, where it has one, and makes the messages."""

    def __init__(self, model: str, settings: DriftSettings, publication: Publication) -> None:
        """model: its kind, which must be the baseline's as well."""
        self._model, self._settings, self._publication = model, settings, publication
        self._baseline: Baseline | None = None  # to compare with, whether it fits or not
        self._drift: Drift | None = None
        self._friction: Map = {}  # the friction law at the last comparison
        self._looked = -1  # s of the rows' clock, of the last comparison

    def set_baseline(self, baseline: Baseline) -> None:
        """Compare with this baseline from now on."""
        if baseline != self._baseline:
            self._baseline, self._drift, self._looked = baseline, None, -1

    def due(self, time: int) -> bool:
        """Whether an estimate of this time (ns) would be compared."""
        return self._baseline is not None and time // EVERY != self._looked

    def compare(
        self,
        estimate: Estimate,
        friction: Callable[[], Map],
        timestamp: float,
        extend: Callable[[Estimate, Baseline], Estimate] | None = None,
    ) -> list[tuple[bytes, bytes]]:
        """Compare an estimate when that is due, and return the messages.

        friction: the law in use; timestamp: Unix s of the estimate; extend: appends parameters that are known apart
        from the estimate.
        """
        judged = estimate.status in JUDGED
        if self._baseline is None or estimate.time // EVERY == self._looked or not (judged or extend):
            return []
        own, law = len(estimate.names), friction()
        if extend is not None:
            estimate = extend(estimate, self._baseline)
        if not judged:  # the appended parameters count even where the estimate itself is not trusted
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
            text = f"drift is measured against the baseline of {since}"
            if self._drift is None:
                text = f"the baseline of {since} is of another model or friction law: set a new one"
            messages.append(self._publication.event("baseline", text, timestamp))
        if self._drift is not None:
            compared, changes = self._drift.update(estimate)
            messages.append(self._publication.drift(compared, timestamp))
            messages += [self._publication.event(change.kind, change.text, timestamp) for change in changes]
        return messages


def compare(values: Floats, deviations: Floats, before: Floats, uncertain: Floats) -> tuple[Floats, Floats, Floats]:
    """Change, percent and z of values ± deviations against before ± uncertain, all (parameters,).

    NaN where there is nothing to compare, or where the baseline is too close to zero for a percentage.
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
    """The estimate of the parameters from index `first` on."""
    part = slice(first, None)
    values, deviations = estimate.values[part], estimate.deviations[part]
    states = estimate.states[part]
    return estimate._replace(
        names=estimate.names[part], values=values, deviations=deviations, states=states, uncertainty=None
    )
