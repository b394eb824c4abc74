"""Residual torque against each joint's threshold: contact, told within a few hundredths of a second.

    T_j = max(1.5 · max|r_j| of what was undisturbed,  4.75 σ_j)

Gaussian noise behind the 10 Hz low-pass crosses 4.75 σ 1.3e-4 times a second and joint, for 16 ms on average; lasting
30 ms makes that less than once an hour for seven joints. Reference: whole-robot.md §6.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.quantities import Floats

MARGIN: Final = 1.5
GAUSSIAN: Final = 4.75
OUTLIER: Final = 8.0  # robust deviations, beyond which a residual of the start is none
LASTING: Final = 3  # chunks in a row above the threshold
RELEASE: Final = 0.7  # of the threshold
QUIET: Final = 0.2  # s below it


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
        self._quiet = QUIET / chunk
        self._peaks: list[Floats] = []
        self._squares: list[Floats] = []

    @property
    def ready(self) -> bool:
        """Whether thresholds stand."""
        return bool(np.isfinite(self.thresholds).all())

    def gather(self, residual: Floats) -> None:
        """A chunk (rows, n) of the start, in motion."""
        self._peaks.append(np.abs(residual).max(axis=0))
        self._squares.append((residual**2).mean(axis=0))

    def gathered(self) -> tuple[Floats, Floats]:
        """Of the start so far: largest residual and root mean square, (n,) each, outliers apart. ValueError if none."""
        if not self._peaks:
            raise ValueError("nothing has moved since the start")
        peaks, squares = np.array(self._peaks), np.array(self._squares)
        usual = peaks < OUTLIER * (np.sqrt(np.median(squares, axis=0)) + 1e-12)
        deviations = np.sqrt(np.where(usual, squares, 0.0).sum(axis=0) / np.maximum(usual.sum(axis=0), 1))
        return np.where(usual, peaks, 0.0).max(axis=0), deviations

    def settle(self) -> None:
        """The start has ended: thresholds from it and from what was taught."""
        peaks, self.deviations = self.gathered()
        self.thresholds = np.maximum(MARGIN * np.maximum(peaks, self._taught), GAUSSIAN * self.deviations)
        self._peaks, self._squares = [], []

    def look(self, residual: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """A chunk (rows, n): joints that have just gone beyond their threshold, and those that came back, (n,) each."""
        size = np.abs(residual).mean(axis=0)
        self._above = np.where(size > self.thresholds, self._above + 1, 0)
        self._below = np.where(size < RELEASE * self.thresholds, self._below + 1, 0)
        fresh = (self._above >= LASTING) & ~self.beyond
        over = self.beyond & (self._below >= self._quiet)
        self.beyond = (self.beyond | fresh) & ~over
        return fresh, over
