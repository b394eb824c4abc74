"""Steps of encoders in recordings, for a service whose readings were interpolated and so show none.

Samples that are not evenly apart are put on even ticks by splines before they are played. That makes more of the
readings' noise the more the steps of time differ. So the steps are stated as those of evenly sampled encoders whose
noise is as large in the acceleration.
"""

from typing import Final

import numpy as np

from estimators.numerics.causal_low_pass import CausalLowPass
from estimators.numerics.splines import cubic_spline
from estimators.quantisation.encoder_steps import EncoderSteps
from estimators.quantities import Floats

#: 1, argued: Cut-off of the low-pass under which noise is compared, over the rate: what samples hold is ten times that.
CUTOFF: Final = 0.05
#: samples, derived: Noise that is drawn, at most: its variance under the low-pass is known to 2 %.
DRAWN: Final = 60_000


class RecordedSteps:
    """Finds the steps of n encoders."""

    def __init__(self, joints: int) -> None:
        self._encoders = [EncoderSteps() for _ in range(joints)]
        self._factor = 0.0  # of the variance of their noise

    def absorb(self, time: Floats, q: Floats) -> None:
        """Look at a recording: time (rows,) s, rising; q (rows, n)."""
        ticks = np.round(1e9 * time).astype(np.int64)
        for one, column in zip(self._encoders, q.T, strict=True):
            one.absorb(ticks, column)
        self._factor = max(self._factor, _by_interpolation(time[:DRAWN]))

    @property
    def steps(self) -> Floats:
        """Δ (n,) of encoders with as much noise, 0 where there are none."""
        return np.asarray(np.sqrt(self._factor) * np.array([one.step for one in self._encoders]))


def _by_interpolation(time: Floats) -> float:
    """How much more variance noise has in the acceleration than if its samples (rows,) s were evenly apart."""
    noise, rate = np.random.default_rng(0).standard_normal(len(time)), (len(time) - 1) / (time[-1] - time[0])
    even = cubic_spline(time, noise)(np.linspace(time[0], time[-1], len(time)))
    passed = [CausalLowPass(1, CUTOFF * rate, 1.0 / rate).absorb(one[:, np.newaxis])[2] for one in (even, noise)]
    return float(passed[0].var() / passed[1].var())
