"""Lost motion, stiffness and error of a gear between two encoders, live.

The equation is that of estimators/models/joints/lost_motion.py. τ' needs exact differences of the angles; a signal that
only decides a sign is smoothed by a symmetric window. Then all columns pass one causal low pass and are decimated. A
row is used when direction and load's sign were known for as long as the low pass remembers. Rows go into blocks, the
last blocks are the window, and the window gives a lost motion only when

- it is whole, and the load changed its sign at least REVERSALS times in it, the rarer sign having RAREST of its rows
- no other column imitates that sign (R² < IMITATED); without this gate a one-sided load gives "905 ± 8 µrad"

Otherwise it reports what was missing. Growth of the last third of the window against the first whole window is reported
as an event when it is more than `growth` and more than LASTING_CHANGE standard deviations in CONFIRMED consecutive
blocks.

The friction of the link decides which rows are used, and is itself learnt from them. When it exceeds the assumed
friction by CERTAIN deviations, MARGIN times its value is assumed, and the window begins anew.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.base import Event
from estimators.models.joints.lost_motion import (
    BY_LOAD,
    BY_TORQUE,
    COLUMNS,
    GAP,
    LINK_FRICTION,
    LOST_MOTION,
    PARAMETERS,
    SPEED,
    STIFFNESS,
    TORQUE,
    WITH_NEAR,
    LostMotionSettings,
    physical,
)
from estimators.numerics.local_cubic import windows
from estimators.online import checkpoint
from estimators.online.gear.rows import (
    CHANNELS,
    MEMORY,
    MEMORY_CUTOFF,
    SMOOTHING,
    GearState,
    absorb,
    butterworth,
    unbroken,
)
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason
from estimators.recursive.blocks import Blocks, spread
from estimators.thresholds import IMITATED, LASTING_CHANGE

#: reversals, argued: Changes of the load's sign in a window without which its lost motion is not reported.
REVERSALS: Final = 10
#: 1, argued: Share of the rows that the rarer sign of the load must have.
RAREST: Final = 0.1
#: blocks, argued: Blocks in a row beyond the limit before growth is reported.
CONFIRMED: Final = 3
#: 1, argued: Share of a window's blocks whose growth is watched.
RECENT: Final = 1.0 / 3.0
#: blocks, argued: Blocks that give a spread at least.
LEAST: Final = 10
#: deviations, argued: Deviations by which the link's friction must exceed the assumed one.
CERTAIN: Final = 2.0
#: 1, argued: Factor from the friction found to the assumed one: friction changes with load and temperature.
MARGIN: Final = 1.25
#: 1, argued: Share of the lost motion that small loads may hide; less is within its own uncertainty.
SOFTER: Final = 0.1


class GearReport(NamedTuple):
    """Report of a gear."""

    values: Floats  # (PARAMETERS,) NaN where no value is known
    deviations: Floats  # (PARAMETERS,)
    reasons: tuple[Reason, ...]  # why there is no lost motion; empty when there is
    reversals: int  # of the load, in the window
    rarer: float  # share of the rarer sign of the load in the window
    imitated: float  # R² of that sign by the other columns
    soft: bool  # small loads show less of it: besides the gap, the spring is soft at first
    viscous: tuple[float, float]  # N·m·s/rad of both sides, its deviation
    progress: float  # of the first window, per cent


@dataclass(slots=True)
class LostMotionState:
    """State of LostMotion except for its blocks."""

    VERSION: ClassVar[int] = 3

    tallies: Floats  # (blocks, 3): rows, rows of positive load, reversals of each block
    dry: float = 0.0  # N·m, N·m·s/rad: assumed friction of the link
    viscous: float = 0.0
    reference: tuple[float, float] = (math.nan, math.nan)  # lost motion of the first whole window, its deviation
    above: int = 0  # blocks one after the other beyond the limit
    reported: bool = False  # whether its growth has been reported


class LostMotion:
    """Watches one gear: `absorb` learns, `report` reports, `events` lists what happened."""

    names = tuple(parameter.name for parameter in PARAMETERS)

    def __init__(self, settings: LostMotionSettings, period: float) -> None:
        """period: s between samples. Raises ValueError when it is too long for the settings."""
        if period * settings.rows > 1.0:
            raise ValueError(f"expected samples at {settings.rows:g} Hz at least, found {1.0 / period:g} Hz")
        self.settings, self.period, self.channels = settings, period, settings.channels()
        every = max(1, round(1.0 / (period * settings.rows)))
        fit = windows(max(2, round(SMOOTHING / period)), period)
        self._rows = max(COLUMNS, round(settings.block / (period * every)))
        self.blocks = Blocks(COLUMNS, settings.blocks, self._rows)
        self.block_state = GearState.zeros(
            inertia_motor=settings.inertia_motor,
            inertia_link=settings.inertia_link,
            gravity=settings.gravity,
            ratio=settings.ratio,
            band=settings.band,
            small=settings.small,
            still=settings.still,
            memory=MEMORY * MEMORY_CUTOFF / settings.cutoff / period,
            every=every,
            loaded=settings.load,
            period=period,
            low_pass=butterworth(settings.cutoff, period),
            windows=fit,
            samples=np.zeros((fit.shape[1], CHANNELS)),
            filters=np.zeros((COLUMNS + 1, 4)),
            columns=COLUMNS,
        )
        self.state = LostMotionState(np.zeros((settings.blocks, 3)))
        self._last = 0  # ns, the last sample's
        self._events: list[Event] = []
        self._report: GearReport | None = None

    def absorb(self, time: Nanoseconds, values: Floats) -> None:
        """Learn from equidistant samples. time: (rows,) ns; values: (rows, channels) SI; a NaN leaves rows out."""
        if not len(time):
            return
        values = np.ascontiguousarray(values)
        step, last = self.period * 1e9, 0
        while last < len(time):
            first, last = last, int(unbroken(time, last, self._last, step))
            if last == first:
                self.block_state.restart()
                self._last = 0
            else:
                self._learn(time[first:last], values[first:last])
                self._last = int(time[last - 1])

    def _learn(self, time: Nanoseconds, values: Floats) -> None:
        """Learn from rows without a break between them."""
        done = 0
        while done < len(values):
            done += absorb(values[done:], self._rows, self.block_state)
            if self.block_state.used >= self._rows:
                self._finish(int(time[done - 1]))

    def keep(self) -> dict[str, Any] | None:
        """State for another start of the program; None while there is no whole block."""
        return checkpoint.keep({"lost_motion": self, "blocks": self.blocks}) if self.blocks.filled else None

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Go on from a state of the same settings. Raises NotTheSameError; this object is unusable then."""
        checkpoint.resume({"lost_motion": self, "blocks": self.blocks}, saved)
        self.block_state.dry, self.block_state.viscous = self.state.dry, self.state.viscous
        self._report = None

    def _finish(self, now: int) -> None:
        """End a block."""
        state = self.block_state
        place = self.blocks.filled % self.blocks.blocks
        self.state.tallies[place] = state.used, state.positive, state.turns
        self.blocks.add(state.information, state.moments)
        state.begin_block()
        self._report = None
        if self.blocks.filled >= LEAST and not self.settings.load:
            self._allow()
        if self.blocks.full():
            self._watch(now)

    def _allow(self) -> None:
        """Assume a larger friction of the link, if it is certainly larger than assumed so far."""
        report, state = self.report(), self.state
        dry = float(report.values[LINK_FRICTION])
        more = dry - CERTAIN * float(report.deviations[LINK_FRICTION]) > state.dry
        if more or report.viscous[0] - CERTAIN * report.viscous[1] > state.viscous:
            state.dry, state.viscous = max(state.dry, MARGIN * dry), max(state.viscous, MARGIN * report.viscous[0])
            self.block_state.dry, self.block_state.viscous = state.dry, state.viscous
            state.above = 0
            self.blocks.forget()
            self._report = None

    def _watch(self, now: int) -> None:
        """Look for growth of the last blocks against the first window, whose spread counts for both."""
        first, deviation = self.state.reference
        if not math.isfinite(first):
            report = self.report()
            lost, deviation = float(report.values[LOST_MOTION]), float(report.deviations[LOST_MOTION])
            if math.isfinite(lost):
                self.state.reference = (lost, deviation)
                text = f"lost motion {_micro(lost)} ± {_micro(deviation)} µrad"
                self._events.append(Event(now, "lost_motion_known", text))
            return
        recent = self._judge(self.blocks.last(max(LEAST, round(RECENT * self.blocks.blocks))))
        lost = float(recent.values[LOST_MOTION])
        if not math.isfinite(lost):
            return
        limit = max(self.settings.growth * abs(first), LASTING_CHANGE * deviation * math.sqrt(1.0 + 1.0 / RECENT))
        self.state.above = self.state.above + 1 if lost - first > limit else 0
        if self.state.above >= CONFIRMED and not self.state.reported:
            self.state.reported = True
            text = f"lost motion has grown from {_micro(first)} µrad, the last rows say {_micro(lost)}"
            self._events.append(Event(now, "lost_motion_grown", text))
        elif self.state.reported and lost - first < 0.5 * limit:
            self.state.reported = False

    def report(self) -> GearReport:
        """Report the results of the window; never learns."""
        if self._report is None:
            missing = not self.blocks.full()
            report = self._judge(self.blocks.last())
            progress = min(100.0, 100.0 * self.blocks.filled / self.blocks.blocks)
            if missing:
                reason = Reason("gear_window_filling", None, {"percent": progress})
                report = report._replace(values=report.values.copy(), reasons=(reason, *report.reasons))
                report.values[LOST_MOTION] = report.deviations[LOST_MOTION] = np.nan
            self._report = report._replace(progress=progress)
        return self._report

    def _judge(self, which: NDArray[np.int64]) -> GearReport:
        """Report the results of these blocks."""
        used, positive, turns = self.state.tallies[which].sum(axis=0)
        share = min(positive, used - positive) / used if used else 0.0
        imitated = self.blocks.imitated(GAP, which, BY_TORQUE[:-1])
        needed = REVERSALS * (len(which) / self.blocks.blocks)
        reasons = []
        if share < RAREST:
            numbers = {"percent": 100.0 * float(share), "needed": 100.0 * RAREST}
            reasons.append(Reason("gear_load_one_sided", None, numbers))
        if turns < needed:
            reasons.append(Reason("gear_few_reversals", None, {"reversals": float(turns), "needed": needed}))
        if imitated >= IMITATED:
            reasons.append(Reason("gear_sign_imitated", None, {"r2": float(imitated), "limit": IMITATED}))
        values, deviations, soft, viscous = *np.full((2, len(PARAMETERS)), np.nan), False, (math.nan, math.nan)
        if len(which) >= LEAST:
            values, deviations, viscous = self._fit(which)
            if not values[STIFFNESS] > 2.0 * deviations[STIFFNESS]:
                values[:], deviations[:] = np.nan, np.nan
                reasons.append(Reason("gear_twist_small"))
            if reasons:
                values[LOST_MOTION] = deviations[LOST_MOTION] = np.nan
            else:
                soft = self._soft(which, float(values[LOST_MOTION]))
        return GearReport(values, deviations, tuple(reasons), int(turns), float(share), imitated, soft, viscous, 0.0)

    def _fit(self, which: NDArray[np.int64]) -> tuple[Floats, Floats, tuple[float, float]]:
        """Return values and deviations (PARAMETERS,), and viscous friction of both sides with its deviation."""
        (theta, left_out), (other, others) = (self.blocks.solve(which, one) for one in (BY_TORQUE, BY_LOAD))
        viscous, each = (
            (b[..., SPEED] - a[..., SPEED]) / a[..., TORQUE] for a, b in ((theta, other), (left_out, others))
        )
        return physical(theta, other), spread(physical(left_out, others)), (float(viscous), float(spread(each)))

    def _soft(self, which: NDArray[np.int64], lost: float) -> bool:
        """Whether small loads show significantly less lost motion than others: then a spring is soft at first."""
        theta, left_out = self.blocks.solve(which, WITH_NEAR)
        less, deviation = -2.0 * float(theta[-1]), 2.0 * float(spread(left_out)[-1])
        return less > LASTING_CHANGE * deviation and less > SOFTER * lost

    def events(self) -> list[Event]:
        """What happened since the last call."""
        events, self._events = self._events, []
        return events


def _micro(angle: float) -> str:
    return f"{1e6 * angle:.1f}"
