"""Whether a joint moves faster than its kernel can follow, which is as wide as the encoder's steps require.

Of blocks of samples two mean squares of speed are compared: that of differences over USUAL, less what steps Δ add to
them, Δ²/(6 USUAL²), and that of speed under the kernel. Their ratio is the square of the share that gets through, of a
swing of one frequency its frequency response: ½ at half a cycle a half width (Hann).
"""

from typing import Final

import numpy as np

from estimators.conditioning.conditioner import USUAL
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason

#: s, argued: Samples that are compared at once; a slow motion has some of its acceleration in them.
BLOCK: Final = 4.0
#: 1, argued: Weight of the past after a block: five blocks count.
FADE: Final = 0.8
#: 1, argued: Share of the acceleration, rms, below which a kernel is reported as too wide (decision 014, point 7).
HALF: Final = 0.5
#: 1, argued: Share of the acceleration from which a kernel is no longer too wide (hysteresis to HALF).
MOST: Final = 0.7
#: 1, argued: Times the mean square that encoder steps alone give, which a motion must have to be judged.
CLEAR: Final = 4.0


class BandwidthCheck:
    """The bandwidth check of one position under one kernel; how samples are cut does not matter."""

    def __init__(self, channel: str, taps: Floats, period: float, step: float) -> None:
        """channel: its role; taps: of the kernel; period: s between samples; step: rad (m), of the encoder."""
        self._channel = channel
        self.share = 1.0  # of the motion that gets through, rms
        self.lost = False  # whether it is too little
        self._taps, self._period = taps, period
        self._half_width = 0.5 * period * (len(taps) + 1)
        self._over = max(1, round(USUAL / period))
        self._noise = step**2 / (6.0 * (self._over * period) ** 2)
        self._block = np.empty(max(round(BLOCK / period), 4 * len(taps)))
        self._filled = 0
        self._sums = np.zeros(2)

    def absorb(self, time: Nanoseconds, column: Floats) -> list[tuple[int, str]]:
        """Look at samples (n,); wherever the verdict changes: the instant, ns, and what to say."""
        changed = []
        while len(column):
            count = min(len(column), len(self._block) - self._filled)
            self._block[self._filled : self._filled + count] = column[:count]
            self._filled += count
            if self._filled == len(self._block):
                self._filled = 0
                if self._judge():
                    changed.append((int(time[count - 1]), self.words))
            time, column = time[count:], column[count:]
        return changed

    @property
    def words(self) -> str:
        """The share of the motion that the kernel lets pass, in words."""
        if self.lost:
            return str(self.reason)
        seen = f"{self._channel}: the kernel that its steps need, {self._half_width:.2g} s"
        return f"{seen}, lets {100.0 * self.share:.0f} % of the motion pass"

    @property
    def reason(self) -> Reason:
        """Why values are less certain where too little is left."""
        numbers = {"half_width": self._half_width, "percent": 100.0 * self.share}
        return Reason("kernel_too_wide", self._channel, numbers)

    def _judge(self) -> bool:
        """The end of a block; whether the verdict is another one."""
        x, over = self._block, self._over
        if not np.isfinite(x).all():
            return False
        spread = (x[over:] - x[:-over]) / (over * self._period)
        smoothed = np.convolve(x, self._taps, "valid")
        both = np.array([np.mean(np.diff(smoothed) ** 2) / self._period**2, np.mean(spread**2) - self._noise])
        if both[1] < CLEAR * self._noise:
            return False
        self._sums = FADE * self._sums + both
        self.share = float(np.sqrt(min(1.0, self._sums[0] / self._sums[1])))
        before, self.lost = self.lost, self.share < (MOST if self.lost else HALF)
        return self.lost != before
