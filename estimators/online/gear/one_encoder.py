"""Lost motion of a gear whose link has no encoder, live: from position and current of the motor.

Each change of the gear load's sign is one event (reversals.py). The share of the friction that is the motor's, and
so the zero of the gear's torque, is not known: LEVELS of it are followed, and the one with the smallest residual
counts. Lost motion is reported only where its deviation is at most the share CERTAIN of it, so that ±20 % are two
deviations. The deviation combines the spread of the events (jackknife) with the differences between levels that fit
equally well. So small gaps, low rates and heavy friction give no number rather than a wrong one. Growth is reported as
in lost_motion.py.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from estimators.base import Event
from estimators.models.joints.lost_motion import LOST_MOTION, PARAMETERS, STIFFNESS, OneEncoderSettings
from estimators.online import checkpoint
from estimators.online.gear.lost_motion import CONFIRMED, GearReport
from estimators.online.gear.reversals import (
    COMMON,
    SMOOTH,
    STILL,
    SUMS,
    WINDOW,
    ReversalFriction,
    columns_of,
    events_of,
)
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason
from estimators.thresholds import LASTING_CHANGE

#: 1, argued: Shares of the joint's friction that may be the motor's.
LEVELS: Final = (0.4, 0.55, 0.7, 0.85, 1.0)
#: events, argued: Newest events that are kept, from whose spread the deviation is estimated.
EVENTS: Final = 40
#: events, argued: Least number of events for a report: fewer determine neither their spread nor the level.
LEAST: Final = 30
#: events, argued: Newest events from which growth is judged: half of those that are kept.
LATELY: Final = 20
#: 1, derived: Deviation over the lost motion at most: ±20 % are two of them.
CERTAIN: Final = 0.1
#: 1, argued: Times the least residual variance within which a level may be the right one: an F ratio of forty events.
AS_GOOD: Final = 1.25
#: s, argued: Length of the samples that are processed together.
STEP: Final = 0.5
#: 1, argued: Relative change of friction since the first event from which events are dropped: less than a level's step.
MOVED: Final = 0.1
#: 1, argued: Forgetting factor of the friction for each STEP: three minutes count, as friction follows temperature.
FADE: Final = 0.997
#: columns, derived: Columns of the joint's torque: acceleration, gravity (2), friction (2), an offset.
DRIVES: Final = 6


@dataclass(slots=True)
class OneEncoderState:
    """State that a restart keeps."""

    VERSION: ClassVar[int] = 2

    sums: Floats  # (LEVELS, EVENTS, SUMS)
    counts: Floats  # (LEVELS,) events so far
    information: Floats  # (DRIVES, DRIVES) normal matrix of the joint's torque, for its friction
    moments: Floats  # (DRIVES,)
    friction: Floats  # (2,) dry, viscous, by which the events were formed
    reference: tuple[float, float] = (math.nan, math.nan)  # the first lost motion that was reported, its deviation
    above: int = 0  # successive events beyond the limit
    reported: bool = False  # whether its growth has been reported


class OneEncoder:
    """Watches one gear: `absorb` learns, `report` reports, `events` lists what happened."""

    names = tuple(parameter.name for parameter in PARAMETERS)

    def __init__(self, settings: OneEncoderSettings, period: float) -> None:
        """period: s between samples."""
        self.settings, self.period = settings, period
        self._margin = round((WINDOW + SMOOTH) / period)
        self._step = max(1, round(STEP / period))
        self._samples = np.zeros((0, 2))
        self._last = 0  # ns
        levels = len(LEVELS)
        self.state = OneEncoderState(
            np.zeros((levels, EVENTS, SUMS)), np.zeros(levels), np.zeros((DRIVES, DRIVES)), np.zeros(DRIVES),
            np.zeros(2),
        )  # fmt: skip
        self._events: list[Event] = []
        self._report: GearReport | None = None

    def absorb(self, time: Nanoseconds, values: Floats) -> None:
        """Learn from equidistant samples. time: (rows,) ns; values: (rows, 2) position, torque; a NaN is a break."""
        whole = np.asarray(np.isfinite(values).all(axis=1))
        step = 1e9 * self.period
        steps = np.diff(time, prepend=self._last or time[0] - round(step)) if len(time) else time
        broken = np.logical_or(~whole, np.abs(np.asarray(steps, np.float64) - step) > 0.5 * step)
        starts = np.flatnonzero(broken)
        for first, last in zip([0, *starts], [*starts, len(time)], strict=True):
            if first in starts:
                self._samples = np.zeros((0, 2))
                first += not whole[first]
            self._take(time[first:last], values[first:last])
        if len(time):
            self._last = int(time[-1])

    def _take(self, time: Nanoseconds, values: Floats) -> None:
        """Learn from rows without a break between them and those before."""
        self._samples = np.concatenate([self._samples, values])
        needed = self._step + 2 * self._margin
        while len(self._samples) >= needed:
            left = len(self._samples) - needed
            self._learn(self._samples[:needed], int(time[max(len(time) - 1 - left, 0)]))
            self._samples = self._samples[self._step :]

    def _learn(self, samples: Floats, now: int) -> None:
        settings, state = self.settings, self.state
        columns = columns_of(samples[:, 0], samples[:, 1], settings.inertia_motor, settings.ratio, self.period)
        inner = slice(self._margin, self._margin + self._step)
        speed, place = columns.speed[inner], columns.position[inner]
        second = np.gradient(columns.speed, self.period)[inner]
        X = np.stack([second, np.sin(place), np.cos(place), np.sign(speed), speed, np.ones_like(speed)], axis=1)
        X, y = X[np.abs(speed) > STILL], columns.torque[inner][np.abs(speed) > STILL]
        state.information = FADE * state.information + X.T @ X
        state.moments = FADE * state.moments + X.T @ y
        found = np.maximum(np.linalg.lstsq(state.information, state.moments)[0][3:5], 0.0)
        usual = float(np.abs(speed).mean())
        if abs(found - state.friction) @ (1.0, usual) > MOVED * float(found @ (1.0, usual)):
            state.counts[:], state.friction, self._report = 0.0, found, None
        dry, viscous = state.friction.tolist()
        fresh = False
        for level, share in enumerate(LEVELS):
            friction = ReversalFriction(share * dry, share * viscous)
            for sums in events_of(columns, friction, share, inner.start, inner.stop, self.period):
                state.sums[level, int(state.counts[level]) % EVENTS] = sums
                state.counts[level] += 1
                fresh = True
        if fresh:
            self._report = None
            self._watch(now)

    def keep(self) -> dict[str, Any] | None:
        """State for another start of the program; None while there is no event."""
        return checkpoint.keep({"one_encoder": self}) if self.state.counts.any() else None

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Go on from a state of the same settings. Raises NotTheSameError; this object is unusable then."""
        checkpoint.resume({"one_encoder": self}, saved)
        self._report = None

    def report(self) -> GearReport:
        """Report lost motion from the events so far; learns nothing."""
        if self._report is None:
            self._report = self._judge(EVENTS)
        return self._report

    def events(self) -> list[Event]:
        """Events since the last call."""
        events, self._events = self._events, []
        return events

    def _judge(self, most: int) -> GearReport:
        """Report the results of the last events."""
        values, deviations = np.full((2, len(PARAMETERS)), np.nan)
        counts = np.minimum(self.state.counts, most).astype(np.int64)
        least = min(LEAST, most)
        progress = min(100.0, 100.0 * float(counts.max()) / least)
        if counts.max() < least:
            numbers = {"reversals": float(counts.max()), "needed": float(least)}
            few = Reason("gear_few_reversals", None, numbers)
            return GearReport(values, deviations, (few,), int(counts.max()), 0.5, 0.0, False, (np.nan,) * 2, progress)
        fits = [self._fit(level, int(count)) for level, count in enumerate(counts) if count >= least]
        best = min(fits, key=lambda one: one[2])
        alike = [one[0] for one in fits if one[2] <= AS_GOOD * best[2]]
        theta, spread = best[0], np.hypot(best[1], np.std(alike, axis=0))
        lost, deviation, reasons = 2.0 * float(theta[0]), 2.0 * float(spread[0]), list[Reason]()
        if theta[1] > 2.0 * spread[1]:
            values[STIFFNESS], deviations[STIFFNESS] = 1.0 / theta[1], spread[1] / theta[1] ** 2
        if lost > 0.0 and deviation <= CERTAIN * lost:
            values[LOST_MOTION], deviations[LOST_MOTION] = lost, deviation
        else:
            numbers = {"lost": 1e6 * lost, "deviation": 1e6 * deviation}
            reasons.append(Reason("gear_gap_uncertain", None, numbers))
        return GearReport(
            values, deviations, tuple(reasons), int(counts.max()), 0.5, 0.0, False, (np.nan,) * 2, progress
        )

    def _fit(self, level: int, count: int) -> tuple[Floats, Floats, float]:
        """Unknowns (COMMON,), their deviations by leaving each event out, and the residual's variance."""
        at = (int(self.state.counts[level]) - 1 - np.arange(count)) % EVENTS
        every = self.state.sums[level, at]
        A, d = every[:, : COMMON**2].reshape(-1, COMMON, COMMON), every[:, COMMON**2 : -2]
        whole, moments = A.sum(axis=0), d.sum(axis=0)
        theta = np.linalg.solve(whole, moments)
        without = np.linalg.solve(whole - A, (moments - d)[:, :, None])[:, :, 0]
        spread = np.sqrt((count - 1) / count * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
        return theta, spread, float((every[:, -2].sum() - moments @ theta) / every[:, -1].sum())

    def _watch(self, now: int) -> None:
        """Compare the newest events with the first reported value, and report growth."""
        state, (first, deviation) = self.state, self.state.reference
        if not math.isfinite(first):
            report = self.report()
            lost, deviation = float(report.values[LOST_MOTION]), float(report.deviations[LOST_MOTION])
            if math.isfinite(lost):
                state.reference = (lost, deviation)
                text = f"lost motion {1e6 * lost:.1f} ± {1e6 * deviation:.1f} µrad, from the motor alone"
                self._events.append(Event(now, "lost_motion_known", text))
            return
        recent = self._judge(LATELY)
        lost = float(recent.values[LOST_MOTION])
        if not math.isfinite(lost):
            return
        limit = max(
            self.settings.growth * first, LASTING_CHANGE * math.hypot(deviation, recent.deviations[LOST_MOTION])
        )
        state.above = state.above + 1 if lost - first > limit else 0
        if state.above >= CONFIRMED and not state.reported:
            state.reported = True
            text = f"lost motion has grown from {1e6 * first:.1f} µrad to {1e6 * lost:.1f}, from the last reversals"
            self._events.append(Event(now, "lost_motion_grown", text))
        elif state.reported and lost - first < 0.5 * limit:
            state.reported = False
