"""Standstill: finds the speed below which a joint rests from its motion, as no single number suits all joints.

    ω_noise = max(ω_step, SURELY·ω_least)
    ω = min(ω₀, SHARE·ω_top) where ω_top > CLEAR·ω_noise, else ω₀; at least ω_noise as far as that is below MOST·ω_top

ω₀: USUAL; ω_step: speed of a row in which the encoder moves by one step, as may happen at rest on an edge;
ω_top, ω_least: highest and lowest speed of the windows in which the joint has travelled (a drive that hunts about one
place has not). A joint sticks where it turns, and the slower it is the longer; SHARE is large, so that such rows count
as rest. Limits change at rows that are known beforehand, so results do not depend on how rows are cut.
"""

import math
from typing import Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.online.judgement.events import EventLog
from estimators.online.judgement.gate import Gate
from estimators.quantities import Axis
from estimators.thresholds import ENDLESS, NEVER
from jointwatch_numba.layout import Layout

#: rad/s (m/s), tuned: Standstill speed unless the data say otherwise; the rows of `bench truth` (decision 013).
USUAL: Final = 0.005
#: 1, tuned: Share of the highest speed of a slow joint; at 5 % viscous friction ended 50 % off (decision 013).
SHARE: Final = 0.15
#: 1, argued: Share of the highest speed within which a reversal is not yet taken for rest.
MOST: Final = 0.05
#: 1, tuned: Times the speed of one encoder step; slower motion gave values 4 of their deviations off (decision 013).
CLEAR: Final = 20.0
#: 1, argued: Factor from the least measured speed to one that noise does not reach.
SURELY: Final = 3.0
#: 1, argued: Factor from the speed of one encoder step to one that rest on the edge of a step does not reach.
STEPS: Final = 1.5
#: s, argued: Time over which the highest and the least speed are taken.
WINDOW: Final = 20.0
#: s, argued: A joint must have travelled for this long at the window's highest speed; less is a vibration.
TRAVEL: Final = 0.5
#: 1, argued: Relative change of the standstill speed below which the one in force stays.
NEWS: Final = 0.2


class MotionRange(Layout):
    """Range of speed and position in a window of rows, and when the limits of standstill may change."""

    slow: float = math.inf  # rad/s (m/s), least speed
    fast: float = 0.0  # rad/s (m/s), highest speed
    lowest: float = math.inf  # rad (m), position
    highest: float = -math.inf
    rows_left: int = ENDLESS  # rows until the window is full
    steps_due: int = NEVER  # ns, of the rows from which on an encoder's steps count


class Standstill:
    """Sets the limits of a gate of one joint."""

    def __init__(self, gate: Gate, row: float, log: EventLog, axis: Axis) -> None:
        """row: s between rows."""
        self._gate, self._log, self._unit = gate, log, f"{axis.length}/s"
        self._window = max(2, round(WINDOW / row))
        self._least, self._top = np.inf, 0.0  # of all windows with travel
        self._step = 0.0  # rad/s (m/s)
        self._coming: list[tuple[int, float]] = []  # ns, rad/s (m/s): steps that are not due yet
        self.motion_range = MotionRange(rows_left=self._window)

    def set_encoder_step(self, since: int, speed: float) -> None:
        """Note the speed (rad/s, m/s) that one step of an encoder gives, known from this instant (ns)."""
        self._coming.append((since, STEPS * speed))
        self.motion_range.steps_due = self._coming[0][0]

    def decide(self) -> None:
        """Set the limits when a window is full, or when an encoder's steps begin to count."""
        motion_range = self.motion_range
        if motion_range.rows_left == 0:
            self._close(motion_range)
            motion_range.rows_left = self._window
        elif self._coming:
            self._step = max(self._step, self._coming.pop(0)[1])
            self._set()
            motion_range.steps_due = self._coming[0][0] if self._coming else NEVER

    def _close(self, motion_range: MotionRange) -> None:
        """End a window."""
        if 0.0 < TRAVEL * motion_range.fast <= motion_range.highest - motion_range.lowest:
            self._top, self._least = max(self._top, motion_range.fast), min(self._least, motion_range.slow)
            self._set()
        motion_range.slow, motion_range.fast = math.inf, 0.0
        motion_range.lowest, motion_range.highest = math.inf, -math.inf

    def _set(self) -> None:
        noise = max(self._step, min(USUAL, SURELY * self._least) if self._top > 0.0 else 0.0)
        slow = self._top > CLEAR * noise
        found = min(USUAL, SHARE * self._top) if slow else USUAL
        found = max(found, min(noise, max(USUAL, MOST * self._top) if self._top > 0.0 else noise))
        now = self._gate.standstill
        if abs(found - now) > NEWS * now:
            self._gate.standstill = found
            cause = "one step of the encoder" if found > USUAL else "its motion" if found < USUAL else "as is usual"
            self._log.add_event("standstill", f"at rest below {found:.2g} {self._unit}, was {now:.2g}: {cause}")


@inline
def widen_range(speed: float, place: float, motion_range: MotionRange) -> None:
    """Widen the range by one row. A value that is not a number stays in it until the window ends."""
    if speed < motion_range.slow or np.isnan(speed):
        motion_range.slow = speed
    if speed > motion_range.fast or np.isnan(speed):
        motion_range.fast = speed
    if place < motion_range.lowest or np.isnan(place):
        motion_range.lowest = place
    if place > motion_range.highest or np.isnan(place):
        motion_range.highest = place
