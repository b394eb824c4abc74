"""The input of a friction law for a row: speeds and positions before the slow low-pass, and the taps that form the row.

A live row holds the slow low-pass of the friction, which is not the friction of the low-passed speed: at a reversal the
two differ by several per cent of dry friction, and η found from the latter is off by as much.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from estimators.numerics.causal_low_pass import CausalLowPass
from estimators.numerics.nnls import Integers
from estimators.online.robot.block import BLOCK
from estimators.quantities import Floats

#: s, argued: Time between two samples at most: a fifth of the time constant of the quick low-pass's speed, so that
#: columns are straight between them.
SPACING: Final = 0.005
#: 1, argued: Share of the low-pass's response that the taps omit: less than any noise of a joint's torque.
LEFT_OUT: Final = 1e-4
#: 1, derived: Periods of the cut-off after which less than that is left of the low-pass, √2 e^(−√2 π t).
FORGOTTEN: Final = 2.2


class RowSamples(NamedTuple):
    """Samples of one joint under the taps of some rows."""

    stretch: Floats  # (2, samples) speed, position
    first: Integers  # (rows,) index of each row's first sample


class QuickSamples:
    """Keeps the samples of all joints from which the rows of the present and of earlier blocks are formed."""

    def __init__(self, joints: int, stride: int, period: float, slow: float) -> None:
        """stride: samples between rows; period: s between samples; slow: Hz, cut-off of the low-pass after them."""
        fitting = [step for step in range(1, stride + 1) if stride % step == 0 and step * period <= SPACING]
        self._step = max(fitting, default=1)
        self.taps = _taps(slow, period, self._step)
        length = 2 * BLOCK * (stride // self._step) + len(self.taps)  # twice, for rows that are missing
        self._kept = np.zeros((length, 2, joints))
        self._filled = 0
        self._latest = 0  # number of the last sample that was kept

    def absorb(self, speed: Floats, position: Floats, samples: int) -> None:
        """Take the samples of a chunk, (rows, n) each, after the quick low-pass; samples: how many were before it."""
        at = -samples % self._step
        new = np.stack([speed[at :: self._step], position[at :: self._step]], axis=1)  # by VELOCITY, POSITION
        if len(new):
            self._kept = np.concatenate([self._kept, new])[len(new) :]
            self._filled = min(self._filled + len(new), len(self._kept))
            self._latest = samples + at + (len(new) - 1) * self._step

    def complete(self, sample: Integers) -> Integers:
        """Which of these rows have all their samples here; sample: (rows,) number of each row's own."""
        return np.flatnonzero(self._first(sample) >= len(self._kept) - self._filled)

    def of(self, joint: int, sample: Integers) -> RowSamples:
        """The samples under the rows of these numbers, which must be complete."""
        if not len(sample):
            return RowSamples(np.zeros((2, 0)), np.zeros(0, np.int64))
        first = self._first(sample)
        low, high = int(first.min()), int(first.max()) + len(self.taps)
        return RowSamples(self._kept[low:high, :, joint].T.copy(), first - low)

    def _first(self, sample: Integers) -> Integers:
        last = len(self._kept) - 1 - (self._latest - sample) // self._step
        return np.asarray(last - len(self.taps) + 1, np.int64)


def joined(parts: Sequence[RowSamples]) -> RowSamples:
    """The samples of several blocks as one stretch."""
    lengths = [part.stretch.shape[1] for part in parts]
    starts = np.cumsum([0, *lengths[:-1]])
    return RowSamples(
        np.concatenate([part.stretch for part in parts], axis=1),
        np.concatenate([part.first + start for part, start in zip(parts, starts, strict=True)]),
    )


def _taps(slow: float, period: float, step: int) -> Floats:
    """Weights (taps,) of samples `step` periods apart in the low-pass's value at the last one, the oldest first.

    Between two samples the signal counts as straight; the weights add up to one.
    """
    count = max(1, round(FORGOTTEN / (slow * period * step)))
    impulse = np.zeros((1 + (count + 1) * step, 1))
    impulse[1] = 1.0
    response = CausalLowPass(1, slow, period).absorb(impulse)[0][1:, 0]  # begins at rest at the first row
    lags = np.arange(len(response)) / step
    hats = np.maximum(0.0, 1.0 - np.abs(lags - np.arange(count)[:, np.newaxis]))
    weights = hats @ response
    left = np.abs(1.0 - np.cumsum(weights) / weights.sum())
    kept = weights[: int(np.flatnonzero(left > LEFT_OUT)[-1]) + 2]
    return np.ascontiguousarray(kept[::-1] / kept.sum())
