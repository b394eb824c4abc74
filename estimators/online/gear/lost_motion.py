"""Lost motion, stiffness and error of a gear, live, beside whatever else a joint with two encoders identifies.

Equation: estimators/models/joints/lost_motion.py. Angles are differenced exactly, as τ' needs them; what only decides a
sign is smoothed first by a symmetric window, and all columns then pass one causal low pass and are thinned out. A row
is used when direction and load's sign were both known for as long as the low pass remembers. Rows go into blocks, the
last blocks are the window, and the window says a number only when

- it is whole, and the load changed its sign at least REVERSALS times in it, the rarer sign having RAREST of its rows
- nothing else imitates that sign (R² < IMITATED); without this gate a one-sided load gives "905 ± 8 µrad"

else it says what was missing; the stiffness beside it is then that of whatever the load's sign leaves it. Growth of the
last third of the window against what the first whole window said is told as an event, when it is more than `growth` and
more than SIGNIFICANT standard deviations in CONFIRMED blocks one after the other.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.base import Event
from estimators.models.joints.lost_motion import (
    COLUMNS,
    COS1,
    COS2,
    FRICTION,
    GAP,
    LOST_MOTION,
    ONE,
    PARAMETERS,
    SIN1,
    SIN2,
    SPEED,
    STIFFNESS,
    TORQUE,
    LostMotionSettings,
    physical,
)
from estimators.numerics.jit import kernel
from estimators.online import checkpoint
from estimators.quantities import Floats, Nanoseconds
from estimators.recursive.blocks import Blocks, spread

REVERSALS: Final = 10
RAREST: Final = 0.1
IMITATED: Final = 0.9
SIGNIFICANT: Final = 5.0
CONFIRMED: Final = 3
RECENT: Final = 1.0 / 3.0  # of the window's blocks, whose growth is watched
LEAST: Final = 10  # blocks for a spread
SMOOTHING: Final = 0.025  # s, half the window that smooths what decides a sign
MEMORY: Final = 0.05  # s that the low pass remembers to a few per cent, at 20 Hz

# the flat state: scalars, then A (COLUMNS²), c (COLUMNS), filters (4 per column and one for y), ring of raw samples
SEEN, USED, POSITIVE, TURNS, SIGN, GOOD, PHASE, LEARNT = range(8)
HEADER: Final = 8
CHANNELS: Final = 4


class Report(NamedTuple):
    """What is known now; never learns."""

    values: Floats  # (PARAMETERS,) NaN where nothing can be said
    deviations: Floats  # (PARAMETERS,)
    reasons: tuple[str, ...]  # why there is no lost motion, in words; empty when there is
    reversals: int  # of the load, in the window
    rarer: float  # share of the rarer sign of the load in the window
    imitated: float  # R² of that sign by the other columns
    progress: float  # of the first window, per cent


@dataclass(slots=True)
class LostMotionKept:
    """What LostMotion keeps beside its blocks."""

    VERSION: ClassVar[int] = 1

    tallies: Floats  # (blocks, 3): rows, rows of positive load, reversals of each block
    reference: tuple[float, float] = (math.nan, math.nan)  # lost motion of the first whole window, its deviation
    above: int = 0  # blocks one after the other beyond the limit
    told: bool = False  # that it has grown


class LostMotion:
    """One gear. `absorb` learns, `report` tells, `events` what happened."""

    names = tuple(parameter.name for parameter in PARAMETERS)

    def __init__(self, settings: LostMotionSettings, period: float) -> None:
        """period: s between samples. Raises ValueError when it is too long for the settings."""
        if period * settings.rows > 1.0:
            raise ValueError(f"expected samples at {settings.rows:g} Hz at least, found {1.0 / period:g} Hz")
        self.settings, self.period, self.channels = settings, period, settings.channels()
        self._every = max(1, round(1.0 / (period * settings.rows)))
        half = max(2, round(SMOOTHING / period))
        self._windows = _windows(half, period)
        self._constants = np.array(
            [
                settings.inertia_motor,
                settings.inertia_link,
                settings.gravity,
                settings.ratio,
                settings.band,
                settings.still,
                MEMORY * 20.0 / settings.cutoff / period,
                self._every,
                float(settings.load),
                period,
                *_butterworth(settings.cutoff, period),
            ]
        )
        rows = max(COLUMNS, round(settings.block / (period * self._every)))
        self._rows = rows
        self.blocks = Blocks(COLUMNS, settings.blocks, rows)
        width = COLUMNS * COLUMNS + COLUMNS + 4 * (COLUMNS + 1)
        self.state = np.zeros(HEADER + width + CHANNELS * (2 * half + 1))
        self.kept = LostMotionKept(np.zeros((settings.blocks, 3)))
        self._last = 0  # ns, the last sample's
        self._events: list[Event] = []
        self._report: Report | None = None

    def absorb(self, time: Nanoseconds, values: Floats) -> None:
        """Learn from equidistant samples. time: (rows,) ns; values: (rows, channels) SI; a NaN leaves rows out."""
        if not len(time):
            return
        values = np.ascontiguousarray(values)
        step = self.period * 1e9
        steps = np.diff(time, prepend=self._last or time[0] - round(step))
        breaks = np.flatnonzero(np.abs(steps - step) > 0.5 * step)
        self._last = int(time[-1])
        for first, last in zip([0, *breaks], [*breaks, len(time)], strict=True):
            if first in breaks:
                self.state[[SEEN, GOOD, PHASE, SIGN]] = 0.0  # what the filters remember is of another time
            self._learn(time[first:last], values[first:last])

    def _learn(self, time: Nanoseconds, values: Floats) -> None:
        """Rows without a break between them."""
        done = 0
        while done < len(values):
            done += int(_absorb(self.state, self._constants, self._windows, values[done:], self._rows))
            if self.state[USED] >= self._rows:
                self._finish(int(time[done - 1]))

    def keep(self) -> dict[str, Any] | None:
        """What another start of the program needs to go on from here; None while there is nothing to go on from."""
        return checkpoint.keep({"lost_motion": self, "blocks": self.blocks}) if self.blocks.filled else None

    def resume(self, kept: Mapping[str, Any]) -> None:
        """Go on from what one with the same settings has kept. Raises NotTheSameError, then not to be used."""
        checkpoint.resume({"lost_motion": self, "blocks": self.blocks}, kept)
        self._report = None

    def _finish(self, now: int) -> None:
        """A block is whole."""
        state = self.state
        end = HEADER + COLUMNS * COLUMNS
        place = self.blocks.filled % self.blocks.blocks
        self.kept.tallies[place] = state[[USED, POSITIVE, TURNS]]
        self.blocks.add(state[HEADER:end].reshape(COLUMNS, COLUMNS), state[end : end + COLUMNS])
        state[HEADER : end + COLUMNS] = 0.0
        state[[USED, POSITIVE, TURNS]] = 0.0
        self._report = None
        if self.blocks.full():
            self._watch(now)

    def _watch(self, now: int) -> None:
        """Growth of the last blocks against the first window; their own spread is that of the first window's blocks."""
        first, deviation = self.kept.reference
        if not math.isfinite(first):
            report = self.report()
            lost, deviation = float(report.values[LOST_MOTION]), float(report.deviations[LOST_MOTION])
            if math.isfinite(lost):
                self.kept.reference = (lost, deviation)
                text = f"lost motion {_micro(lost)} ± {_micro(deviation)} µrad"
                self._events.append(Event(now, "lost_motion_known", text))
            return
        recent = self._judge(self.blocks.last(max(LEAST, round(RECENT * self.blocks.blocks))))
        lost = float(recent.values[LOST_MOTION])
        if not math.isfinite(lost):
            return
        limit = max(self.settings.growth * abs(first), SIGNIFICANT * deviation * math.sqrt(1.0 + 1.0 / RECENT))
        self.kept.above = self.kept.above + 1 if lost - first > limit else 0
        if self.kept.above >= CONFIRMED and not self.kept.told:
            self.kept.told = True
            text = f"lost motion has grown from {_micro(first)} µrad, the last rows say {_micro(lost)}"
            self._events.append(Event(now, "lost_motion_grown", text))
        elif self.kept.told and lost - first < 0.5 * limit:
            self.kept.told = False

    def report(self) -> Report:
        """What the window says."""
        if self._report is None:
            missing = not self.blocks.full()
            report = self._judge(self.blocks.last())
            progress = min(99.9 if missing else 100.0, 100.0 * self.blocks.filled / self.blocks.blocks)
            if missing:
                reason = f"{progress:.0f} % of the rows that a first window takes"
                report = report._replace(values=report.values.copy(), reasons=(reason, *report.reasons))
                report.values[LOST_MOTION] = report.deviations[LOST_MOTION] = np.nan
            self._report = report._replace(progress=progress)
        return self._report

    def _judge(self, which: NDArray[np.int64]) -> Report:
        """What these blocks say."""
        used, positive, turns = self.kept.tallies[which].sum(axis=0)
        share = min(positive, used - positive) / used if used else 0.0
        imitated = self.blocks.imitated(GAP, which)
        needed = REVERSALS * min(1.0, len(which) / self.blocks.blocks)
        reasons = []
        if share < RAREST:
            rarer = f"{100 * share:.0f} % of the rows have the rarer sign, {100 * RAREST:.0f} % are needed"
            reasons.append(f"the load is one-sided: {rarer}")
        if turns < needed:
            reasons.append(f"the load changed its sign {turns:.0f} times, {needed:.0f} are needed")
        if imitated >= IMITATED:
            reasons.append(f"other columns imitate the load's sign (R² {imitated:.3f}, below {IMITATED:g} is needed)")
        values, deviations = np.full((2, len(PARAMETERS)), np.nan)
        if len(which) >= LEAST:
            theta, left_out = self.blocks.solve(which)
            values, deviations = physical(theta), spread(physical(left_out))
            if not values[STIFFNESS] > 2.0 * deviations[STIFFNESS]:
                values[:], deviations[:] = np.nan, np.nan
                reasons.append("the torque does not twist the gear measurably")
            if reasons:
                values[LOST_MOTION] = deviations[LOST_MOTION] = np.nan
        return Report(values, deviations, tuple(reasons), int(turns), float(share), imitated, 0.0)

    def events(self) -> list[Event]:
        """What happened since the last call."""
        told, self._events = self._events, []
        return told


def _micro(angle: float) -> str:
    return f"{1e6 * angle:.1f}"


def _butterworth(cutoff: float, period: float) -> Floats:
    """b0, b1, b2, a1, a2 of the second-order low pass, bilinear with the cut-off kept."""
    k = math.tan(math.pi * min(cutoff * period, 0.45))
    scale = 1.0 / (1.0 + math.sqrt(2.0) * k + k * k)
    return np.array([k * k, 2 * k * k, k * k, 2 * (k * k - 1.0), 1.0 - math.sqrt(2.0) * k + k * k]) * scale


def _windows(half: int, period: float) -> Floats:
    """(3, 2·half + 1): local cubic fit under a Hann window: value, slope (1/s), second derivative (1/s²)."""
    x = np.arange(-half, half + 1) / (half + 1)
    weight = np.cos(0.5 * np.pi * x) ** 2
    powers = np.stack([np.ones_like(x), x, x**2, x**3])
    fitted = np.linalg.solve((powers * weight) @ powers.T, powers * weight)
    unit = (half + 1) * period
    return np.ascontiguousarray(fitted[:3] * np.array([[1.0], [1.0 / unit], [2.0 / unit**2]]))


@kernel("i8(f8[::1], f8[::1], f8[:, ::1], f8[:, ::1], i8)")
def _absorb(state: Floats, constants: Floats, windows: Floats, values: Floats, most: int) -> int:
    """Samples until the end, or until the block has `most` rows; returns how many were taken."""
    J_m, J_l, gravity, N, band, still, memory, every, loaded, dt, b0, b1, b2, a1, a2 = constants
    size = windows.shape[1]
    half = size // 2
    first_c = HEADER + COLUMNS * COLUMNS
    first_filter = first_c + COLUMNS
    first_ring = first_filter + 4 * (COLUMNS + 1)
    channels = values.shape[1]
    column = np.empty(COLUMNS + 1)
    for row in range(len(values)):
        seen = int(state[SEEN])
        finite = True
        for channel in range(channels):
            finite = finite and np.isfinite(values[row, channel])
        place = first_ring + CHANNELS * (seen % size)
        if finite:
            for channel in range(channels):
                state[place + channel] = values[row, channel]
        elif seen > 0:
            before = first_ring + CHANNELS * ((seen - 1) % size)
            for channel in range(channels):
                state[place + channel] = state[before + channel]
            state[GOOD] = -float(size)
        else:
            continue
        state[SEEN] += 1
        if seen + 1 < size:
            continue
        velocity = acceleration = angle = 0.0
        for k in range(size):
            at = first_ring + CHANNELS * ((seen + 1 + k) % size)
            angle += windows[0, k] * state[at + 1]
            velocity += windows[1, k] * state[at]
            acceleration += windows[2, k] * state[at]
        middle = first_ring + CHANNELS * ((seen + 1 + half) % size)
        early = first_ring + CHANNELS * ((seen + half) % size)
        late = first_ring + CHANNELS * ((seen + 2 + half) % size)
        motor = state[middle]
        load = state[middle + 3] if loaded > 0 else J_l * acceleration - gravity * np.sin(angle)
        second = (state[late] - 2.0 * motor + state[early]) / (dt * dt)
        column[ONE] = 1.0
        column[TORQUE] = state[middle + 2] - J_m * second
        column[SPEED] = (state[late] - state[early]) / (2.0 * dt)
        column[FRICTION] = -np.sign(velocity)
        column[COS2], column[SIN2] = np.cos(2 * N * motor), np.sin(2 * N * motor)
        column[COS1], column[SIN1] = np.cos(N * motor), np.sin(N * motor)
        column[GAP] = np.sign(load)
        column[COLUMNS] = motor - state[middle + 1]
        begins = seen + 1 == size
        for j in range(COLUMNS + 1):
            at = first_filter + 4 * j  # x₋₁, x₋₂, y₋₁, y₋₂
            x = column[j]
            if begins:
                state[at : at + 4] = x
            y = b0 * x + b1 * state[at] + b2 * state[at + 1] - a1 * state[at + 2] - a2 * state[at + 3]
            state[at + 1], state[at] = state[at], x
            state[at + 3], state[at + 2] = state[at + 2], y
            column[j] = y
        if abs(load) < band or abs(velocity) < still:
            state[GOOD] = min(state[GOOD], 0.0)
        state[GOOD] += 1.0
        if abs(load) >= band:
            sign = np.sign(load)
            if state[SIGN] * sign < 0.0:
                state[TURNS] += 1.0
            state[SIGN] = sign
        state[PHASE] += 1.0
        if state[PHASE] < every:
            continue
        state[PHASE] = 0.0
        if state[GOOD] <= memory:
            continue
        for i in range(COLUMNS):
            for j in range(COLUMNS):
                state[HEADER + COLUMNS * i + j] += column[i] * column[j]
            state[first_c + i] += column[i] * column[COLUMNS]
        state[USED] += 1.0
        if load > 0.0:
            state[POSITIVE] += 1.0
        state[LEARNT] += 1.0
        if state[USED] >= most:
            return row + 1
    return len(values)
