"""Residual torque against each joint's threshold: contact, told within a few hundredths of a second.

    T_j = max(1.5 · max|r_j| of what was undisturbed,  4.75 ν_j)

A joint that hardly moves may hold any torque up to its friction: there the friction is added to the threshold.
ν is the noise: what of the residual is white before the low-passes, from how it changes within 10 ms. Gaussian noise
behind them crosses 4.75 ν 1.3e-4 times a second and joint, for 16 ms on average; lasting 30 ms makes that less than
once an hour for seven joints. What else the model does not explain is slower, is bounded and has been seen: the
factor 1.5 is for it. Reference: whole-robot.md §6.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.quantities import Floats

MARGIN: Final = 1.5
GAUSSIAN: Final = 4.75
ROUGH: Final = 0.0205  # s: white noise behind both low-passes, its deviation over that of its change within this time
MEDIAN: Final = 0.455  # of the square of a Gaussian number of variance 1
OUTLIER: Final = 8.0  # robust deviations, beyond which a residual of the start is none
LASTING: Final = 3  # chunks in a row above the threshold
RELEASE: Final = 0.7  # of the threshold
QUIET: Final = 0.2  # s below it
SLOW: Final = 0.02  # rad/s (m/s), below which friction is any torque up to its size
SETTLING: Final = 0.1  # s until the low-passes have forgotten that


class ContactWatch:
    """Thresholds, how they came about, and which joints are beyond them."""

    def __init__(self, peaks: Floats | None, deviations: Floats, chunk: float) -> None:
        """peaks: (n,) largest residual of teaching, if known; deviations: (n,); chunk: s."""
        n = len(deviations)
        self._taught = np.zeros(n) if peaks is None else peaks
        self.deviations = deviations
        self.thresholds = np.full(n, np.nan)
        if peaks is not None:
            self.thresholds = np.maximum(MARGIN * peaks, GAUSSIAN * deviations)
        self.beyond: NDArray[np.bool_] = np.zeros(n, np.bool_)
        self._above, self._below = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._quiet, self._settling = QUIET / chunk, SETTLING / chunk
        self._moved = np.zeros(n)  # chunks since it was slow
        self._roughness = ROUGH / chunk
        self._mean = np.full(n, np.nan)  # of the last chunk's residual, where the joint moved
        self._changes: list[Floats] = []
        self._peaks: list[Floats] = []
        self._squares: list[Floats] = []

    @property
    def ready(self) -> bool:
        """Whether thresholds stand."""
        return bool(np.isfinite(self.thresholds).all())

    @property
    def moving(self) -> NDArray[np.bool_]:
        """Joints whose friction is that of motion, (n,)."""
        return np.asarray(self._moved > self._settling)

    def explained(self) -> None:
        """What was beyond has found its cause: it is judged anew."""
        self.beyond[:] = False
        self._above[:], self._below[:] = 0, 0

    def notice(self, dq: Floats) -> None:
        """Speeds of the chunk that comes next, (rows, n)."""
        self._moved = np.where((np.abs(dq) < SLOW).any(axis=0), 0.0, self._moved + 1.0)

    def gather(self, residual: Floats) -> None:
        """A chunk (rows, n) of the start; joints that hardly move say nothing."""
        moves = self.moving
        mean = np.where(moves, residual.mean(axis=0), np.nan)
        self._changes.append((mean - self._mean) ** 2)
        self._mean = mean
        self._peaks.append(np.where(moves, np.abs(residual).max(axis=0), np.nan))
        self._squares.append(np.where(moves, (residual**2).mean(axis=0), np.nan))

    def gathered(self) -> tuple[Floats, Floats]:
        """Of the start so far: largest residual and root mean square, (n,) each, outliers apart. ValueError if none."""
        peaks, squares = np.array(self._peaks), np.array(self._squares)
        moved = np.isfinite(peaks).any(axis=0) if len(peaks) else np.zeros(0, np.bool_)
        if not moved.any():
            raise ValueError("nothing has moved since the start")
        typical = np.array([np.median(one[np.isfinite(one)]) if np.isfinite(one).any() else 0.0 for one in squares.T])
        usual = peaks < OUTLIER * (np.sqrt(typical) + 1e-12)
        deviations = np.sqrt(np.where(usual, squares, 0.0).sum(axis=0) / np.maximum(usual.sum(axis=0), 1))
        peaks = np.where(usual, peaks, 0.0).max(axis=0)
        return np.where(moved, peaks, self._taught), np.where(moved, deviations, self.deviations)

    def settle(self) -> None:
        """The start has ended: thresholds from it and from what was taught."""
        peaks, self.deviations = self.gathered()
        self.thresholds = np.maximum(MARGIN * np.maximum(peaks, self._taught), GAUSSIAN * self._noise())
        self._peaks, self._squares, self._changes = [], [], []

    def _noise(self) -> Floats:
        """Of the residual, (n,): from the median, which no step that came meanwhile moves."""
        changes = np.array(self._changes)
        typical = [np.median(one[np.isfinite(one)]) if np.isfinite(one).any() else np.nan for one in changes.T]
        noise = self._roughness * np.sqrt(np.array(typical) / MEDIAN)
        return np.where(np.isfinite(noise), np.minimum(noise, self.deviations), self.deviations)

    def look(self, residual: Floats, friction: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Joints that have just gone beyond their threshold, and those that came back, (n,) each.

        residual: (rows, n) of the chunk; friction: (n,) torque that a joint may hold at rest.
        """
        size = np.abs(residual).mean(axis=0)
        limits = self.thresholds + np.where(self.moving, 0.0, friction)
        self._above = np.where(size > limits, self._above + 1, 0)
        self._below = np.where(size < RELEASE * limits, self._below + 1, 0)
        fresh = (self._above >= LASTING) & ~self.beyond
        over = self.beyond & (self._below >= self._quiet)
        self.beyond = (self.beyond | fresh) & ~over
        return fresh, over
