"""Forgetting laws: how fast each row lets go of the past; memories are in seconds, so the row rate does not matter.

- ``alarm`` (default): rests at a long memory; an alarm by a CUSUM on the squared prior prediction error, in units of
  the start-up's own residual, cuts the memory to almost nothing and lets it grow again with the time since.
- ``variance_ratio``: λ = 1 − g·r/(1 + g·r), r = short/long residual variance − limit.
- ``fortescue``: λ = 1 − e²/((1 + z)·σ²·N₀) (Fortescue, Kershenbaum, Ydstie, Automatica 17:831–835, 1981).
- ``paleologu``: λ = σ_z σ_v/|σ_e − σ_v| (Paleologu, Benesty, Ciochină, IEEE Signal Process. Lett. 15:597–600, 2008).
- ``fixed``: one λ.
- ``random_walk``: no forgetting; the parameters walk, P += Q (Kalman filter).

Why the default is the default: docs/decisions/001-forgetting.md.
"""

import math
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from estimators.numerics.jit import inline
from estimators.quantities import Settings
from estimators.recursive.state import RecursiveState

FIXED: Final = 0
ALARM: Final = 1
VARIANCE_RATIO: Final = 2
FORTESCUE: Final = 3
PALEOLOGU: Final = 4
RANDOM_WALK: Final = 5

SATURATION: Final = 12.0  # one row counts at most this many v₀ in the CUSUM, so no single outlier is an alarm

Seconds = Annotated[float, Field(gt=0)]


class Threshold(NamedTuple):
    """The CUSUM's constants, calibrated by cusum.py."""

    noise: float  # v₀, whitened
    allowance: float  # k
    limit: float  # h


class Alarm(Settings):
    """Long memory at rest, almost none after an alarm."""

    kind: Literal["alarm"] = "alarm"
    memory: Seconds = 60.0  # s of motion; raised to two motion periods where the start-up finds a period
    restart: Seconds = 0.005  # s, memory right after an alarm
    growth: Annotated[float, Field(gt=1)] = 2.0  # memory = time since the alarm / growth, until it is `memory` again

    def pack(self, state: RecursiveState, period: float) -> None:
        """Write the law's constants into a state."""
        state.law = ALARM
        state.resting, state.growth = self.memory / period, 1.0 / self.growth
        state.restart, state.memory = max(self.restart / period, 1.0), state.resting


class VarianceRatio(Settings):
    """Forget while the recent residual variance exceeds the usual one."""

    kind: Literal["variance_ratio"] = "variance_ratio"
    limit: Annotated[float, Field(gt=1)] = 1.6
    gain: Annotated[float, Field(gt=0)] = 0.02
    memory: Seconds = 0.05  # s, the shortest

    def pack(self, state: RecursiveState, period: float) -> None:
        """Write the law's constants into a state."""
        state.law = VARIANCE_RATIO
        rows = max(self.memory / period, 2.0)
        state.ratio, state.sharpness, state.least_forgetting = self.limit, self.gain * 50.0 / rows, 1.0 - 1.0 / rows


class Fortescue(Settings):
    """Keep the information content constant."""

    kind: Literal["fortescue"] = "fortescue"
    memory: Seconds = 1.0  # s, N₀
    shortest: Seconds = 0.05  # s

    def pack(self, state: RecursiveState, period: float) -> None:
        """Write the law's constants into a state."""
        state.law = FORTESCUE
        state.information, state.least_forgetting = period / self.memory, _rate(self.shortest, period)


class Paleologu(Settings):
    """Forget as much as the excess of the prediction error over the noise explains."""

    kind: Literal["paleologu"] = "paleologu"
    short: Seconds = 0.1  # s, averaging of e² and z²
    long: Seconds = 1.0  # s, averaging of the noise
    excess: Annotated[float, Field(gt=1)] = 1.5  # γ: σ_e below γ·σ_v is noise
    shortest: Seconds = 0.05  # s

    def pack(self, state: RecursiveState, period: float) -> None:
        """Write the law's constants into a state."""
        state.law, state.excess = PALEOLOGU, self.excess
        state.rate_power, state.rate_noise = min(period / self.short, 0.5), min(period / self.long, 0.25)
        state.least_forgetting = _rate(self.shortest, period)


class Fixed(Settings):
    """One memory, always."""

    kind: Literal["fixed"] = "fixed"
    memory: Seconds = 20.0  # s

    def pack(self, state: RecursiveState, period: float) -> None:
        """Write the law's constants into a state."""
        state.law, state.least_forgetting = FIXED, _rate(self.memory, period)


class RandomWalk(Settings):
    """Let the parameters walk as fast as gives this memory under typical excitation."""

    kind: Literal["random_walk"] = "random_walk"
    memory: Seconds = 20.0  # s

    def pack(self, state: RecursiveState, period: float) -> None:
        """Write the law's constants into a state."""
        state.law = RANDOM_WALK
        # steady state of P⁻¹ gain 1 and Q: P² = Q, and P = 1/N for a memory of N rows
        state.walk = (period / self.memory) ** 2


Forgetting = Annotated[Alarm | VarianceRatio | Fortescue | Paleologu | Fixed | RandomWalk, Field(discriminator="kind")]


def _rate(memory: float, period: float) -> float:
    """λ of an exponential memory, s, at a row period, s; never below 0.5."""
    return 1.0 - min(period / memory, 0.5)


def arm(state: RecursiveState, threshold: Threshold, memory: float) -> None:
    """Tell a law what the start-up found. memory: rows that a resting memory reaches at least."""
    state.alarm_noise, state.allowance, state.limit = threshold
    state.cusum = 0.0
    if state.law == ALARM:
        state.memory = state.resting = max(state.resting, memory)


@inline
def _alarm(state: RecursiveState, q: float) -> float:
    """λ of the next row under the alarm law; q: the row's mean e²/(r + z)."""
    g = 0.0
    if state.alarm_noise > 0.0:
        s = q / state.alarm_noise
        if not s < SATURATION:
            s = SATURATION
        g = state.cusum + s - state.allowance
        state.climbing += 1
        if g <= 0.0:
            g = 0.0
            state.climbing = 0
        if g > state.excursion:
            state.excursion = g
    state.since += 1
    memory = state.memory + state.growth
    if memory > state.resting:
        memory = state.resting
    if g > state.limit:
        g = 0.0
        state.onset, state.climbing = state.climbing, 0
        state.alarms += 1
        state.since = 0
        memory = state.restart
    state.cusum = g
    state.memory = memory
    return float(1.0 - 1.0 / (1.0 + memory))


@inline
def _paleologu(state: RecursiveState, e: float, z: float) -> float:
    """λ of the next row after Paleologu; e: the row's mean e²/r after clipping; z: mean z/r."""
    state.power += state.rate_power * (e - state.power)
    state.regressor_power += state.rate_power * (z * z - state.regressor_power)
    state.noise_power += state.rate_noise * (e - state.noise_power)
    sigma_e, sigma_v = math.sqrt(state.power), math.sqrt(state.noise_power)
    if sigma_e <= state.excess * sigma_v:
        return 1.0
    wanted = math.sqrt(state.regressor_power) * sigma_v / (sigma_e - sigma_v)
    return float(min(max(wanted, state.least_forgetting), 1.0))


@inline
def next_lambda(
    state: RecursiveState, long: float, short: float, q: float, clipped: float, e: float, z: float
) -> float:
    """λ of the next row.

    long, short: mean residual variances over the outputs; q: the row's mean e²/(r + z); clipped: the same after
    clipping; e: mean e²/r after clipping; z: mean z/r.
    """
    if state.law == ALARM:
        return _alarm(state, q)
    if state.law == VARIANCE_RATIO:
        r = short - state.ratio * long
        if not r > 0.0:
            return 1.0
        return float(max(1.0 / (1.0 + state.sharpness * r / long), state.least_forgetting))
    if state.law == FORTESCUE:
        level = state.alarm_noise if state.alarm_noise > 0.0 else long
        return float(max(1.0 - clipped / level * state.information, state.least_forgetting))
    if state.law == PALEOLOGU:
        return _paleologu(state, e, z)
    if state.law == RANDOM_WALK:
        return 1.0
    return float(state.least_forgetting)
