"""Watches the clearance of one bearing by an encoder on either side of it: its value, and its growth.

Every ten milliseconds, the last 50 ms of both encoders and of the torque become one row: the joint's motion, and the
difference between ring and motor (models/mechanisms/ring.py). The window is the last minute of rows; it is judged every
four seconds. Both halves of a window must show the same clearance.
"""

import math
from typing import ClassVar, Final

import numpy as np

from estimators.models.mechanisms.bearing import SLOWEST, RingBearingSettings
from estimators.models.mechanisms.pin_circle import ARC
from estimators.models.mechanisms.ring import (
    LATE,
    LOOSE,
    SWINGS,
    TWIST,
    RingClearance,
    RingRows,
    load_direction,
    ring_clearance,
)
from estimators.numerics.local_cubic import windows
from estimators.online.clearance.bearing import (
    AGREE,
    IMPLAUSIBLE,
    NOTHING,
    BearingWatch,
    ClearanceReport,
    changing,
    nothing,
)
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason
from estimators.thresholds import GAP

#: s, argued: Between two rows: the load changes side in tenths of a second.
APART: Final = 0.01
#: s, argued: Half of what is smoothed for a row: the pin swings on its circle at 25 to 80 Hz.
SMOOTHING: Final = 0.025
#: rows, argued: Rows of a window: a minute, in which a working joint changes the side of its load many times.
POINTS: Final = 6000
#: rows, argued: Rows between two judgements, which take milliseconds: four seconds.
EVERY: Final = 400


class RingWatch(BearingWatch):
    """Watches one bearing by the encoders on either side of it."""

    way: ClassVar[str] = "link ring"

    def __init__(self, settings: RingBearingSettings, period: float) -> None:
        """period: s between samples. Raises ValueError when it is too long."""
        if period * SLOWEST > 1.0:
            raise ValueError(f"expected samples at {SLOWEST:g} Hz at least, found {1.0 / period:g} Hz")
        super().__init__()
        self._settings, self._step = settings, period * 1e9  # ns
        self._windows, self._stride = ring_windows(period)
        self._before = np.empty((0, 3))  # samples that further rows need
        self._last = 0  # ns
        self._rows = np.full((POINTS, len(RingRows._fields)), np.nan)
        self._count = 0  # rows ever taken

    def absorb(self, time: Nanoseconds, values: Floats) -> None:
        """Take samples: (rows,) ns, (rows, 3) rad, rad, N·m of motor, link and torque; a missing one is NaN."""
        if not len(time):
            return
        apart = np.diff(time, prepend=self._last)
        if (np.abs(apart - self._step) > GAP * self._step).any():
            self._before = np.empty((0, 3))  # no row over a gap
        self._last = int(time[-1])
        samples = np.concatenate([self._before, values])
        rows, taken = ring_rows(samples, self._settings.ring_radius, self._windows, self._stride)
        self._before = samples[taken:]
        for row in rows[np.isfinite(rows).all(axis=1)]:
            self._rows[self._count % POINTS] = row
            self._count += 1
            if self._count % EVERY == 0:
                self._look(self._last)

    def _look(self, now: int) -> None:
        progress = min(100.0, 100.0 * self._count / POINTS)
        if self._count < POINTS:
            self.fill(progress)
            return
        bearing, rows = self._settings, RingRows(*np.roll(self._rows, -(self._count % POINTS), axis=0).T)
        found, reasons = judged(rows, load_direction(rows, bearing.pull, bearing.upright), bearing.ring_radius)
        self.publish(now, ClearanceReport(found.clearance, found.deviation, reasons, progress, found.arc, math.nan))


def ring_windows(period: float) -> tuple[Floats, int]:
    """The smoothing of samples into rows, and samples between two rows. period: s between samples."""
    return windows(max(2, round(SMOOTHING / period)), period), max(1, round(APART / period))


def ring_rows(samples: Floats, radius: float, smooth: Floats, stride: int) -> tuple[Floats, int]:
    """Rows (rows, 5) in the order of RingRows, and how many of the samples no further row needs.

    samples: (samples, 3) motor, link (rad), torque (N·m); radius: m; smooth, stride: of ring_windows.
    """
    size = smooth.shape[1]
    if len(samples) < size:
        return np.empty((0, len(RingRows._fields))), 0
    parts = np.lib.stride_tricks.sliding_window_view(samples, size, axis=0)[::stride]  # (rows, 3, size)
    motor = parts[:, 0] @ smooth.T
    rows = np.column_stack([motor, radius * (parts[:, 1] - parts[:, 0]) @ smooth[0], parts[:, 2] @ smooth[0]])
    return rows, len(parts) * stride


def judged(rows: RingRows, direction: Floats, radius: float) -> tuple[RingClearance, tuple[Reason, ...]]:
    """The clearance that rows show, or why they show none. direction: (rows, 2) of the load; radius: m."""
    found = ring_clearance(rows, direction, radius)
    older, newer = found.halves
    if not math.isfinite(older):
        middle = len(rows.angle) // 2
        parts = [
            (RingRows(*(one[cut] for one in rows)), direction[cut]) for cut in (slice(middle), slice(middle, None))
        ]
        older, newer = (ring_clearance(*part, radius).clearance for part in parts)
    reasons = []
    if found.arc < ARC:
        reasons.append(Reason("clearance_arc", None, {"arc": math.degrees(found.arc), "needed": math.degrees(ARC)}))
    elif not found.enough:
        numbers = {
            "reversals": found.swings,
            "needed": SWINGS,
            "percent": 100.0 * found.explained,
            "limit": 100.0 * LOOSE,
        }
        reasons.append(Reason("clearance_swings", None, numbers))
    elif found.late > LATE * found.clearance:
        reasons.append(Reason("clearance_skew", None, {"milliseconds": 1e3 * found.skew}))
    elif found.grows > TWIST:
        reasons.append(Reason("clearance_twist", None, {"percent": 100.0 * found.grows, "limit": 100.0 * TWIST}))
    elif abs(newer - older) > AGREE * 2.0 * found.deviation:
        reasons.append(changing(older, newer))
    if not reasons and not NOTHING * found.deviation < found.clearance < IMPLAUSIBLE:
        reasons.append(nothing(found.clearance, found.deviation))
    return found, tuple(reasons)
